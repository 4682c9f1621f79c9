//! Everything that runs against the real thing: one crate, one link.

mod endpoint;
