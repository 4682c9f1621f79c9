//! What leaves: a capture, redacted at the only exit, joined with its receipt.

pub mod capture;
pub mod redact;
#[allow(
    clippy::module_inception,
    reason = "the room is named by what it makes"
)]
pub mod reply;
