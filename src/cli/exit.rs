//! Exit codes, documented for scripts.

use std::process::ExitCode;

/// How a command ended. [`Exit::code`] gives the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It did what was asked, and what was checked holds.
    Done,
    /// Verification found that the journal is not sound, or an entry that was asked for cannot be read.
    VerificationFailed,
    /// The journal, its identity or the passphrase could not be opened or read.
    CannotOpen,
}

impl Exit {
    /// The number.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::VerificationFailed => 3,
            Self::CannotOpen => 4,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
