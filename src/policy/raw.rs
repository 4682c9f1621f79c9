//! The profile's file as written, before anything is checked: for the TOML reader and for the JSON schema.

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::limits::RawLimits;
use super::profile::{HiddenText, TypedText};
use crate::domain::lock::LockClass;
use crate::domain::tier::Tier;

/// What countersign may do, where, and how much of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Profile")]
#[expect(
    dead_code,
    reason = "the schema is made from it; sections are read one by one, to tell of every error"
)]
pub(super) struct RawProfile {
    /// The version of this form: 1.
    pub(super) version: i64,
    /// The sites that may be used. At least one.
    #[schemars(length(min = 1))]
    pub(super) site: Vec<RawSite>,
    /// The operator's browser.
    pub(super) browser: Option<RawBrowser>,
    /// Numbers that bound a session.
    pub(super) limits: Option<RawLimits>,
    /// The window that asks the person.
    pub(super) confirm: Option<RawConfirm>,
    /// Words of the operator's own that lock an action.
    pub(super) lock: Option<Vec<RawLock>>,
    /// The journal.
    pub(super) journal: Option<RawJournal>,
    /// What the model is given of a page's text.
    pub(super) text: Option<RawText>,
}

/// One site, or the subdomains of one name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Site")]
pub(super) struct RawSite {
    /// `https://host`, `https://host:port`, or `https://*.host` for its subdomains.
    #[schemars(with = "String")]
    pub(super) origin: Spanned<String>,
    /// What may be done there. Left out: read, navigate, act. Transfer has to be named.
    #[schemars(with = "Option<Vec<Tier>>")]
    pub(super) tiers: Option<Spanned<Vec<Tier>>>,
}

/// The operator's browser.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Browser")]
pub(super) struct RawBrowser {
    /// The browser's own profile directory, an absolute path. Left out: countersign/browser in the data directory.
    #[schemars(with = "Option<String>")]
    pub(super) profile_dir: Option<Spanned<String>>,
    /// The programs that may run as the browser, absolute paths. Left out: where Debian, Ubuntu and Fedora put Chromium and Chrome.
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) executables: Option<Spanned<Vec<Spanned<String>>>>,
    /// Whether a browser started with `--no-sandbox` is accepted. For containers and tests.
    pub(super) allow_no_sandbox: Option<bool>,
}

/// The window that asks the person.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Confirm")]
pub(super) struct RawConfirm {
    /// Seconds until an unanswered window counts as refused, 1 to 90.
    #[schemars(with = "Option<i64>", range(min = 1, max = 90))]
    pub(super) deadline_seconds: Option<Spanned<i64>>,
}

/// Words that lock an action.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Lock")]
pub(super) struct RawLock {
    /// The class the words lock as.
    #[schemars(with = "LockClass")]
    pub(super) class: Spanned<LockClass>,
    /// Word patterns, such as `release (the|) dam`.
    #[schemars(with = "Vec<String>", length(min = 1))]
    pub(super) words: Spanned<Vec<Spanned<String>>>,
    /// The language of the words, for the reader.
    #[schemars(with = "Option<String>")]
    pub(super) language: Option<Spanned<String>>,
}

/// The journal.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Journal")]
pub(super) struct RawJournal {
    /// Whether typed text is kept as its length or in full. Sensitive fields are never kept.
    pub(super) typed_text: Option<TypedText>,
}

/// What the model is given of a page's text.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Text")]
pub(super) struct RawText {
    /// Whether text that a person could not see is withheld, or given and marked.
    pub(super) hidden: Option<HiddenText>,
}
