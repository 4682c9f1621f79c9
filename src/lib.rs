//! countersign: the gateway between an assistant and a person's own logged-in browser.
//!
//! Read `flow/act.rs` first; it is the whole product in one file. Imports run one way, in the order of this list
//! (`tests/it/layers.rs` holds the table).

#![deny(unsafe_code)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic
    )
)]

/// The words of the trade: marks, sites, texts, actions.
pub mod domain;

/// The table of codes; refusals and faults.
pub mod error;

/// Points at which a debug build can be made to die, for the tests.
pub mod checkpoint;

/// The operator's profile and the shipped floor.
pub mod policy;

/// The connection to the operator's browser.
pub mod browser;

/// Looks, numbered, written down, drawn and kept.
pub mod snapshot;

/// The checks of the straight line, each with its proof.
pub mod gate;

/// The window that only the person can answer.
pub mod confirm;

/// The encrypted, chained journal.
pub mod journal;

/// The guarded gesture.
pub mod gesture;

/// The only exit for what a page wrote.
pub mod reply;

/// The straight line itself. Start here.
pub mod flow;

/// MCP over standard input and output.
pub mod server;

/// The operator's commands.
pub mod cli;
