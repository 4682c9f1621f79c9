//! What an entry says. All of it is inside the encrypted payload.
//!
//! Text that came from a page is stored as it is given here: redacted by the caller, and escaped only when it is shown
//! to a person. A call has no field for typed text (security J8).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::call::CallRecord;
use super::chain::Anchor;
use super::directory::FileName;
use super::form::{CodeName, effect, hex, optional_hex};
use super::seal::Sealed;
use super::stamp::Stamp;
use crate::domain::digest::Digest;
use crate::domain::lock::LockClass;
use crate::domain::mark::{SnapshotId, TabId};
use crate::domain::question::{Ending, Means};
use crate::domain::site::Site;
use crate::error::{Effect, Fault};

/// What a running server may write. The entries about the journal itself are [`Own`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    /// A locked action is about to be put to the person.
    Asked(Asked),
    /// How the question ended.
    Answered(Answered),
    /// An action is about to be done.
    Intent(Intent),
    /// What came of an intent.
    Outcome(Outcome),
    /// A check said no.
    Refused(Refused),
    /// A page was looked at.
    Read(Look),
    /// A foreign program on the browser's port, or the operator's word that it is gone.
    Peer(Peer),
}

/// What the journal writes about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Own {
    /// A server started: the first entry of a segment. Its payload also holds the segment's first MAC key.
    Started(Started),
    /// An unfinished line was found at the end, and kept aside.
    Recovered(Recovered),
    /// The server is alive.
    Heartbeat(Heartbeat),
    /// The server ended in order: the last entry of a segment.
    Closed(Closed),
}

/// What an entry says, of either sort.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[allow(
    clippy::large_enum_variant,
    reason = "one at a time is in memory, and most are entries"
)]
pub enum Body {
    /// Of the server.
    Entry(Entry),
    /// Of the journal itself.
    Own(Own),
}

impl Body {
    /// The kind's name.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Entry(Entry::Asked(_)) => "asked",
            Self::Entry(Entry::Answered(_)) => "answered",
            Self::Entry(Entry::Intent(_)) => "intent",
            Self::Entry(Entry::Outcome(_)) => "outcome",
            Self::Entry(Entry::Refused(_)) => "refused",
            Self::Entry(Entry::Read(_)) => "read",
            Self::Entry(Entry::Peer(_)) => "peer",
            Self::Own(Own::Started(_)) => "started",
            Self::Own(Own::Recovered(_)) => "recovered",
            Self::Own(Own::Heartbeat(_)) => "heartbeat",
            Self::Own(Own::Closed(_)) => "closed",
        }
    }

    /// The sealed files it names.
    pub fn sealed(&self) -> impl Iterator<Item = &Sealed> {
        match self {
            Self::Entry(
                Entry::Asked(Asked { before, .. }) | Entry::Intent(Intent { before, .. }),
            ) => before.as_ref(),
            Self::Entry(Entry::Outcome(Outcome { after, .. })) => after.as_ref(),
            Self::Entry(
                Entry::Answered(_) | Entry::Refused(_) | Entry::Read(_) | Entry::Peer(_),
            )
            | Self::Own(_) => None,
        }
        .into_iter()
    }
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // By hand, since `untagged` would hide what is wrong behind "matched no variant".
        let value = serde_json::Value::deserialize(deserializer)?;
        let own = matches!(
            value.get("kind").and_then(serde_json::Value::as_str),
            Some("started" | "recovered" | "heartbeat" | "closed")
        );
        let body = if own {
            serde_json::from_value(value).map(Self::Own)
        } else {
            serde_json::from_value(value).map(Self::Entry)
        };
        body.map_err(serde::de::Error::custom)
    }
}

/// The whole plaintext of an entry, but for the key in a `started` one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The version of the line's form.
    pub v: u64,
    /// The entry's number, the same as on the line.
    pub seq: u64,
    /// When it was written.
    pub time: Stamp,
    /// The session that wrote it.
    pub session: SessionId,
    /// The digest of the profile in force.
    #[serde(with = "hex")]
    pub profile: Digest,
    /// Program and version, for example `countersign 0.1.0`.
    pub program: String,
    /// What it says.
    pub entry: Body,
}

/// The random name of one run of the server, 32 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    /// A new one.
    ///
    /// # Errors
    /// Where the system gives no randomness.
    pub fn generate() -> Result<Self, Fault> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes)
            .map_err(|e| Fault::internal("no randomness for a session id").because(e))?;
        Ok(Self(
            bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        ))
    }

    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

impl TryFrom<String> for SessionId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            Ok(Self(text))
        } else {
            Err("expected 32 lower-case hexadecimal digits")
        }
    }
}

/// A question, before it is put.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The call.
    pub call: CallRecord,
    /// Why it is locked.
    pub class: LockClass,
    /// Label and value of each fact the window shows.
    pub facts: Vec<(String, String)>,
    /// The digest the answer is bound to.
    #[serde(with = "hex")]
    pub digest: Digest,
    /// The page as it looked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub before: Option<Sealed>,
    /// By what means the person is asked.
    pub means: Means,
}

/// How a question ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answered {
    /// The number of the `asked` entry.
    pub asked: u64,
    /// The end.
    pub ending: Ending,
    /// By what means the person was asked in the end.
    pub means: Means,
    /// How long the question was open, in milliseconds.
    pub waited_ms: u64,
}

/// An action that is about to be done. Durable before anything happens in the browser (security J3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intent {
    /// The call.
    pub call: CallRecord,
    /// The number of the `answered` entry that allows it, where it was locked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub answered: Option<u64>,
    /// The page as it looked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub before: Option<Sealed>,
    /// The snapshot the mark was read from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub snapshot: Option<SnapshotId>,
}

/// What came of an intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The number of the `intent` entry.
    pub intent: u64,
    /// The outcome's name, as the reply has it.
    pub outcome: String,
    /// What is known about effects in the browser.
    #[serde(with = "effect")]
    pub effect: Effect,
    /// Why it stopped, where it did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<CodeName>,
    /// What changed, a line each, redacted.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub changes: Vec<String>,
    /// The page as it looked afterwards.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<Sealed>,
}

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    /// The call.
    pub call: CallRecord,
    /// The code.
    pub code: CodeName,
    /// What is known about effects in the browser.
    #[serde(with = "effect")]
    pub effect: Effect,
    /// The number of the `asked` entry, where a question came before it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub asked: Option<u64>,
}

/// A look at a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// The tool.
    pub tool: String,
    /// The tab.
    pub tab: TabId,
    /// The snapshot.
    pub snapshot: SnapshotId,
    /// The page's site.
    pub site: Site,
    /// The digest of the image the model was given, where it was given one.
    #[serde(
        with = "optional_hex",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub image: Option<Digest>,
}

/// A foreign program on the browser's port (security D4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// What happened.
    pub sight: Sight,
    /// Its process id, where it could be found.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pid: Option<u32>,
    /// Its program, where it could be found.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub program: Option<String>,
}

/// What happened about a foreign peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sight {
    /// It was seen.
    Seen,
    /// The operator cleared it.
    Cleared,
}

/// A start of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Started {
    /// The place in the journal it goes on from; nothing for the first start of all.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub continues: Option<Anchor>,
}

/// An unfinished line that was kept aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recovered {
    /// The file it is kept in, beside the journal.
    pub kept: FileName,
    /// The SHA-256 of that file.
    #[serde(with = "hex")]
    pub sha256: Digest,
    /// Its length in bytes.
    pub bytes: u64,
}

/// A sign of life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heartbeat {}

/// An end in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Closed {
    /// Why.
    pub reason: Closing,
}

/// Why a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Closing {
    /// The client closed its end.
    EndOfInput,
    /// A signal asked for it.
    Signal,
    /// The operator asked for it.
    Operator,
    /// Something failed that the server cannot go on after.
    Fault,
}
