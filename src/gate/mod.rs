//! The checks, one leaf file each: each takes the proof before it and returns its own.

pub mod consent;
