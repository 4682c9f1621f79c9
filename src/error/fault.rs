//! We broke, or the machine did: a message for the operator's diagnostics, never for the client.

use std::error::Error;
use std::fmt;

use super::codes::Code;
use super::refusal::Refusal;

/// A failure of our own or of the system. The client only ever sees its code.
#[derive(Debug)]
pub struct Fault {
    code: Code,
    what: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl Fault {
    /// A fault with a message for the operator. The message must hold no secret and no page text.
    #[must_use]
    pub fn new(code: Code, what: impl Into<String>) -> Self {
        Self {
            code,
            what: what.into(),
            source: None,
        }
    }

    /// An internal fault.
    #[must_use]
    pub fn internal(what: impl Into<String>) -> Self {
        Self::new(Code::Internal, what)
    }

    /// The same with its cause.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The code a client sees.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.code
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if let Some(source) = &self.source {
            write!(f, ": {source}")?;
        }
        Ok(())
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        tracing::error!(code = %fault.code, "{fault}");
        Self::new(fault.code)
    }
}
