//! Every way the program can end, as the number a script sees.

use std::process::ExitCode;

/// The exit codes. A number is never reused for something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// What was asked for was done.
    Ok = 0,
    /// Something failed inside countersign or the machine.
    Fault = 1,
    /// The command line, the profile or another file of the operator's is not what it should be.
    Usage = 2,
    /// The command ran, and what it checked is not in order (`doctor`, `audit verify`, `policy check`).
    CheckFailed = 3,
    /// What was asked about cannot be opened or does not exist.
    CannotOpen = 4,
    /// A safety check said no: nothing was done.
    Refused = 5,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
