//! Snapshots: what a look becomes: numbers, compact text, a masked and marked picture, kept on a shelf by id.

pub mod draw;
pub mod find;
pub mod number;
pub mod shelf;
pub mod tree;
