<<<<<<< HEAD
<<<<<<< HEAD
//! Everything that runs against the real thing: one crate, one link.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout
)]

mod endpoint;
=======
//! The one integration-test crate.

#![allow(
=======
//! The one integration-test crate.

#![allow(
>>>>>>> bootstrap
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

<<<<<<< HEAD
mod support;
mod window;
>>>>>>> window
=======
mod harness;
mod support;
>>>>>>> bootstrap
