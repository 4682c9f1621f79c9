//! The straight line, once for acting and once for reading. Start with `act`.

pub mod act;
pub mod look;
pub mod session;
