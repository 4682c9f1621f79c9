//! The checks of the straight line, one leaf file each. Each takes the proof before it and returns its own; fields are
//! private, so a check that was skipped does not compile. Nothing in here waits but the person's answer.

pub mod admit;
pub mod aim;
pub mod clear;
pub mod consent;
pub mod identity;
pub mod lock;
pub mod site;
