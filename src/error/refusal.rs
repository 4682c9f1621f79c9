//! A check said no.

use std::fmt;

use serde::Serialize;

use super::codes::Code;
use crate::domain::mark::Mark;
use crate::domain::site::Site;
use crate::domain::text::Untrusted;

/// What is known about effects in the browser when a call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Nothing was done.
    None,
    /// Something may have been done.
    Possible,
    /// It was done.
    Done,
}

impl Effect {
    /// The name in replies and in the journal.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Possible => "possible",
            Self::Done => "done",
        }
    }
}

/// What a refusal adds to its code. Text of the page travels in `Options` alone and leaves as page content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail {
    /// Which argument, and a constant that says what it should be.
    Argument(&'static str, &'static str),
    /// When to call again.
    RetryAfterMs(u64),
    /// The mark of what is in the way.
    CoveredBy(Mark),
    /// The site that was refused.
    Site(Site),
    /// A constant reason.
    Reason(&'static str),
    /// The options that exist: label and value.
    Options(Vec<(Untrusted, Untrusted)>),
}

/// A refusal: a code, what is known about the effect, and at most one detail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    code: Code,
    effect: Effect,
    detail: Option<Detail>,
}

impl Refusal {
    /// A refusal before anything was done.
    #[must_use]
    pub const fn new(code: Code) -> Self {
        Self {
            code,
            effect: Effect::None,
            detail: None,
        }
    }

    /// The same with a detail.
    #[must_use]
    pub fn with(mut self, detail: Detail) -> Self {
        self.detail = Some(detail);
        self
    }

    /// The same with another effect.
    #[must_use]
    pub const fn having(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// The code.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.code
    }

    /// What is known about the effect.
    #[must_use]
    pub const fn effect(&self) -> Effect {
        self.effect
    }

    /// The detail.
    #[must_use]
    pub const fn detail(&self) -> Option<&Detail> {
        self.detail.as_ref()
    }
}

impl From<Code> for Refusal {
    fn from(code: Code) -> Self {
        Self::new(code)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.code.message())
    }
}

impl std::error::Error for Refusal {}
