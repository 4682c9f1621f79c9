//! The operator's side: what a person types, and what the program answers.

/// `countersign browser`: starts the dedicated profile.
pub mod browser;
/// `countersign doctor`: what is in order, and the way out where something is not.
pub mod doctor;
/// Every way the program can end.
pub mod exit;
/// The first thing in main.
pub mod harden;
/// Where everything is kept.
pub mod places;
/// `countersign setup`: the first hour.
pub mod setup;
