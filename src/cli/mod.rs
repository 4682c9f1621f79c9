//! The operator's side: the commands a person types.

#[cfg(feature = "demo")]
pub mod demo;
