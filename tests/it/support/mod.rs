//! What several rooms of tests need.

pub(crate) mod x;
