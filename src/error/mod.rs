//! The one table of codes, and the two ways a call can fail: a check said no ([`Refusal`]), or we broke ([`Fault`]).

mod codes;
mod fault;
mod refusal;

pub use codes::{Code, Family};
pub use fault::Fault;
pub use refusal::{Detail, Effect, Refusal};
