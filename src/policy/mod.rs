//! What the operator allows and what is locked whatever the operator allows: profile, shipped vocabulary, sensitive fields.

mod address;
pub mod amount;
mod describe;
pub mod echo;
pub mod floor;
pub mod limits;
pub mod lock;
mod matcher;
mod normalise;
mod parse;
mod pattern;
mod problem;
pub mod profile;
mod raw;
pub mod rule;
pub mod sensitive;
pub mod starter;
pub mod store;
pub mod values;

pub use pattern::PatternError;
pub use problem::{Problem, Problems};
