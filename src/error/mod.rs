//! The one table of codes, and the two ways a call can fail: a check said no ([`Refusal`]), or we broke ([`Fault`]).

mod codes;
mod fault;
mod refusal;

pub use codes::{Code, Family};
pub use fault::Fault;
pub use refusal::{Detail, Effect, Refusal};

/// The tree's files at run time, for tests that compare generated documents.
#[cfg(test)]
pub(crate) fn tree() -> std::path::PathBuf {
    let built = || env!("CARGO_MANIFEST_DIR").into();
    std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(built, Into::into)
}
