//! The person's window: its words, the process that shows it, and the reading of its answer.

mod alphabet;
pub mod basic;
pub mod child;
pub mod program;
pub mod protocol;
pub mod window;
pub mod words;
