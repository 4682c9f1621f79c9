//! What a person is asked, and how asking can end.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::digest::Digest;
use super::lock::LockClass;
use super::text::Shown;

/// One line of the window: a label of ours and a value read from the live page, escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// A constant of ours.
    pub label: &'static str,
    /// What was read, or why it could not be read, in words (security C3).
    pub value: Shown,
    /// Critical facts are never scrolled out of sight or left out.
    pub critical: bool,
}

/// The question put to the person. Every text in it is [`Shown`]: escaped and capped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The class that locked the action.
    pub class: LockClass,
    /// What would happen, in one sentence of ours.
    pub headline: &'static str,
    /// The host in ASCII form, without its registrable part (`login.`), possibly empty.
    pub host_prefix: Shown,
    /// The registrable domain, or the whole host where there is none.
    pub host_registrable: Shown,
    /// Scheme and port where they are not https and 443.
    pub host_note: Shown,
    /// What was read from the page, in a fixed order.
    pub facts: Vec<Fact>,
    /// Words of the model, shown in one quoted field labelled as the model's.
    pub model_says: Option<Shown>,
    /// The journal's number of the entry that recorded this question.
    pub journal_number: u64,
    /// The digest the answer is bound to.
    pub digest: Digest,
    /// How long the person has.
    pub deadline: Duration,
}

/// Every way a question can end. Only [`Ending::Allowed`] lets the action go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// The person chose to allow it.
    Allowed,
    /// The person refused, or closed the window.
    Denied,
    /// Nobody answered before the deadline.
    Timeout,
    /// The caller went away.
    Cancelled,
    /// No window could be shown.
    Undeliverable,
    /// The window's program ended in any other way, or said anything but one exact answer.
    Crashed,
}

impl Ending {
    /// The name in the journal and in refusals.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Undeliverable => "undeliverable",
            Self::Crashed => "crashed",
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// By what means the person was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Means {
    /// The window of our own.
    Window,
    /// The basic dialog, where our window or its libraries are missing.
    Basic,
    /// Nothing could be shown.
    Nothing,
}

impl Means {
    /// The name in `status`, `doctor` and the journal.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Basic => "basic",
            Self::Nothing => "none",
        }
    }
}
