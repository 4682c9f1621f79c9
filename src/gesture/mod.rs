//! The gesture: does what the journal says is about to be done, guards it, and says what came of it.

mod click;
mod field;
pub mod perform;
pub mod settle;
mod travel;
