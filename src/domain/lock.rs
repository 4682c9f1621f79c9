//! The classes of action a person decides about.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why an action is locked. Declared strictest first: where several apply, the first one names the window.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum LockClass {
    /// Money moves.
    Payment,
    /// Something is lost for good.
    Deletion,
    /// A password, key or second factor changes.
    Secret,
    /// Access is given to somebody or something.
    Grant,
    /// Something binding is signed or accepted.
    Legal,
    /// An account is closed, moved or cancelled.
    Account,
    /// A message or post goes out in the person's name.
    Send,
    /// A file leaves this machine.
    Upload,
    /// A value of one site goes to another.
    CrossSite,
    /// A page's own question is answered.
    PageDialog,
    /// A stored credential is used for the first time in a session.
    Credential,
}

impl LockClass {
    /// All classes, strictest first.
    pub const ALL: [Self; 11] = [
        Self::Payment,
        Self::Deletion,
        Self::Secret,
        Self::Grant,
        Self::Legal,
        Self::Account,
        Self::Send,
        Self::Upload,
        Self::CrossSite,
        Self::PageDialog,
        Self::Credential,
    ];

    /// The name used in profiles, vocabularies, tool arguments and the journal.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Payment => "payment",
            Self::Deletion => "deletion",
            Self::Secret => "secret",
            Self::Grant => "grant",
            Self::Legal => "legal",
            Self::Account => "account",
            Self::Send => "send",
            Self::Upload => "upload",
            Self::CrossSite => "cross_site",
            Self::PageDialog => "page_dialog",
            Self::Credential => "credential",
        }
    }
}

impl fmt::Display for LockClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
