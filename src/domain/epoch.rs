//! Which life of the browser and of a document something was seen in.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One unbroken connection to the browser. A lost connection starts the next; marks and answers of an old one are void.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Generation(u32);

impl Generation {
    /// The first connection of a session.
    pub const FIRST: Self = Self(1);

    /// The connection after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The browser's own name for one document: it changes with every navigation that makes a new document.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DocumentId(String);

impl DocumentId {
    /// Takes the browser's loader id.
    #[must_use]
    pub fn new(loader: impl Into<String>) -> Self {
        Self(loader.into())
    }

    /// The loader id as the browser spells it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
