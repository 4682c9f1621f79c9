//! The operator's side: what a person types, and what the program answers.

/// `countersign audit`: the journal, read and verified.
pub mod audit;
/// `countersign browser`: starts the dedicated profile.
pub mod browser;
/// The checks of `doctor` that need the other rooms.
pub mod checkup;
/// The bundled bank and shop, and the walk through them.
#[cfg(feature = "demo")]
pub mod demo;
/// The operator's diagnostics.
pub mod diagnostics;
/// From the command line to the command.
pub mod dispatch;
/// `countersign doctor`: what is in order, and the way out where something is not.
pub mod doctor;
/// Every way the program can end.
pub mod exit;
/// The first thing in main.
pub mod harden;
/// The journal's keys, at setup.
pub mod keys;
/// Where everything is kept.
pub mod places;
/// `countersign policy`: what the profile allows.
pub mod policy;
/// `countersign serve`: what a client starts.
pub mod serve;
/// `countersign setup`: the first hour.
pub mod setup;
/// `countersign shell`: a person drives the same server.
pub mod shell;
