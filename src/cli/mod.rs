//! The command line, for the operator and the auditor.

pub mod audit;
pub mod exit;
