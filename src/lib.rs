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

/// The operator's side: the commands a person types.
pub mod cli;
/// The words of the trade: marks, sites, texts, actions.
pub mod domain;
/// The table of codes; refusals and faults.
pub mod error;
/// The checks of the straight line, each with its proof.
pub mod gate;
