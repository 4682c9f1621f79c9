//! Words of the trade: the types every other room speaks, without I/O and without a decision.

pub mod action;
pub mod digest;
pub mod epoch;
pub mod key;
pub mod lock;
pub mod mark;
pub mod question;
pub mod secret;
pub mod site;
pub mod text;
pub mod tier;
