//! The commands people type.

pub mod policy;
