//! Everything that runs against the real thing: one crate, one link.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout
)]

mod attacks;
mod clients;
mod compile_fail;
mod demo;
mod endpoint;
mod frames;
mod gesture;
mod harness;
mod layers;
mod locks;
mod look;
mod masks;
mod reading;
mod serve;
mod shell;
mod sites;
mod support;
mod window;
