//! What verification found, for people (Display) and for scripts (Serialize).

use std::fmt;

use serde::Serialize;

use super::chain::Anchor;
use super::directory::FileName;
use super::seal::Damage;
use super::writer::HEARTBEAT_LIMIT;

/// How deep the journal was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// Form, numbers and links, without any key.
    Chain,
    /// Everything, with the auditor's identity.
    Full,
}

/// Why the journal is not sound. The first one found ends the walk: nothing after it is vouched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// A line is not in the journal's form.
    Malformed {
        /// The entry that should be there.
        at: u64,
    },
    /// A line is of a version this program does not know.
    Version {
        /// The entry that should be there.
        at: u64,
        /// What the line says.
        found: u64,
    },
    /// A number is missing, comes twice or is out of order.
    Sequence {
        /// The entry that should be there.
        at: u64,
        /// The number that is.
        found: u64,
    },
    /// An entry does not name the hash of the one before it.
    Link {
        /// The entry.
        at: u64,
    },
    /// The MAC does not fit the entry.
    Mac {
        /// The entry.
        at: u64,
    },
    /// No segment has begun, so nothing can vouch for the entry.
    NoSegment {
        /// The entry.
        at: u64,
    },
    /// The payload cannot be opened with this identity, or is no entry.
    Payload {
        /// The entry.
        at: u64,
    },
    /// What the payload says does not fit its place.
    Inconsistent {
        /// The entry.
        at: u64,
        /// What does not fit.
        what: &'static str,
    },
}

impl Problem {
    /// The first bad entry.
    #[must_use]
    pub const fn at(&self) -> u64 {
        match self {
            Self::Malformed { at }
            | Self::Version { at, .. }
            | Self::Sequence { at, .. }
            | Self::Link { at }
            | Self::Mac { at }
            | Self::NoSegment { at }
            | Self::Payload { at }
            | Self::Inconsistent { at, .. } => *at,
        }
    }

    /// In a few words, as test vectors state it: `broken link at 4`.
    #[must_use]
    pub fn name(&self) -> String {
        let word = match self {
            Self::Malformed { .. } => "malformed",
            Self::Version { .. } => "unknown version",
            Self::Sequence { .. } => "broken sequence",
            Self::Link { .. } => "broken link",
            Self::Mac { .. } => "wrong mac",
            Self::NoSegment { .. } => "no segment",
            Self::Payload { .. } => "unreadable payload",
            Self::Inconsistent { .. } => "inconsistent",
        };
        format!("{word} at {}", self.at())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name())?;
        match self {
            Self::Malformed { .. } => f.write_str("what stands there is not a line of the journal"),
            Self::Version { found, .. } => write!(
                f,
                "the line says version {found}, which this program does not know"
            ),
            Self::Sequence { at, found } if found > at => write!(
                f,
                "entry {found} stands there, so something was removed or moved"
            ),
            Self::Sequence { found, .. } => write!(
                f,
                "entry {found} stands there, so something was repeated or moved"
            ),
            Self::Link { at: 1 } => f.write_str(
                "the first entry names one before it, so the beginning was cut off or changed",
            ),
            Self::Link { at } => write!(
                f,
                "it does not follow from entry {} as that stands: one of the two was changed",
                at.saturating_sub(1)
            ),
            Self::Mac { .. } => f.write_str("it was changed, or not written by the server"),
            Self::NoSegment { .. } => {
                f.write_str("the journal does not begin with the start of a server")
            }
            Self::Payload { at: 1 } => {
                f.write_str("it cannot be opened: is this the identity of this journal?")
            }
            Self::Payload { .. } => {
                f.write_str("it cannot be opened, or is no entry that this program knows")
            }
            Self::Inconsistent { what, .. } => f.write_str(what),
        }
    }
}

impl Serialize for Problem {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Form {
            at: u64,
            name: String,
            text: String,
        }
        Form {
            at: self.at(),
            name: self.name(),
            text: self.to_string(),
        }
        .serialize(out)
    }
}

/// A file the journal names that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileDamage {
    /// The entry that names it.
    pub at: u64,
    /// The file.
    pub file: FileName,
    /// What is wrong.
    pub damage: Damage,
}

impl fmt::Display for FileDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "entry {}: the file {} {}",
            self.at, self.file, self.damage
        )
    }
}

/// Something a reader should know which does not make the journal unsound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "notice", rename_all = "snake_case")]
pub enum Notice {
    /// Bytes without a newline at the end.
    UnfinishedTail {
        /// The last whole entry.
        after: u64,
        /// How many bytes.
        bytes: u64,
    },
    /// An unfinished tail was kept aside at a start.
    Recovered {
        /// The entry that says so.
        at: u64,
        /// How many bytes.
        bytes: u64,
        /// The file they are in.
        file: FileName,
    },
    /// A segment has no closing entry.
    NotClosed {
        /// Its first entry.
        from: u64,
        /// Its last entry.
        last: u64,
        /// Whether it is the newest segment, which may still be written.
        newest: bool,
    },
    /// A serving journal was silent for too long.
    Gap {
        /// The entry after the silence.
        at: u64,
        /// How long, in milliseconds of the monotonic clock.
        silent_ms: u64,
    },
    /// The wall clock went back.
    ClockBack {
        /// The entry after it.
        at: u64,
        /// By how much, in milliseconds.
        by_ms: u64,
    },
    /// The wall clock went on while the monotonic one stood still: the machine slept, or the clock was set forward.
    ClockAhead {
        /// The entry after it.
        at: u64,
        /// By how much, in milliseconds.
        by_ms: u64,
    },
    /// An intent has no outcome: the action may have been done.
    OpenIntent {
        /// The intent.
        at: u64,
        /// Always `possible`.
        effect: &'static str,
    },
    /// Files beside the journal that no entry names.
    UnnamedCaptures {
        /// How many.
        count: u64,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnfinishedTail { after, bytes } => write!(
                f,
                "after entry {after}: {bytes} bytes of an unfinished line, being written now or left by a crash; the next start keeps them aside"
            ),
            Self::Recovered { at, bytes, file } => {
                write!(
                    f,
                    "entry {at}: an unfinished tail of {bytes} bytes was found at the start and kept in {file}"
                )
            }
            Self::NotClosed {
                from, newest: true, ..
            } => write!(
                f,
                "entry {from}: the newest session has no closing entry: it is still running, was killed, or its end was removed"
            ),
            Self::NotClosed {
                from,
                last,
                newest: false,
            } => write!(
                f,
                "entry {from}: this session has no closing entry after {last}: it was killed, or its end was removed"
            ),
            Self::Gap { at, silent_ms } => write!(
                f,
                "entry {at}: nothing was written for {} before it; a serving journal is never silent for more than {} minutes",
                span(*silent_ms),
                HEARTBEAT_LIMIT.as_secs() / 60
            ),
            Self::ClockBack { at, by_ms } => write!(
                f,
                "entry {at}: the wall clock was set back by {} before it",
                span(*by_ms)
            ),
            Self::ClockAhead { at, by_ms } => write!(
                f,
                "entry {at}: the wall clock gained {} on the monotonic one before it: the machine slept, or the clock was set forward",
                span(*by_ms)
            ),
            Self::OpenIntent { at, effect } => {
                write!(
                    f,
                    "entry {at}: this intent has no outcome: the action may have been done (effect: {effect})"
                )
            }
            Self::UnnamedCaptures { count } => write!(
                f,
                "{count} sealed files are named by no entry (a crash between a capture and its entry leaves one)"
            ),
        }
    }
}

fn span(ms: u64) -> String {
    let seconds = ms / 1000;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0) => format!("{ms} ms"),
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// What became of a receipt given to the verifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum AnchorState {
    /// The journal contains it.
    Found {
        /// The receipt.
        receipt: Anchor,
    },
    /// The entry of that number is another one: it was rewritten.
    Differs {
        /// The receipt.
        receipt: Anchor,
    },
    /// The journal ends, or is broken, before that entry.
    Absent {
        /// The receipt.
        receipt: Anchor,
    },
}

impl fmt::Display for AnchorState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found { receipt } => {
                write!(f, "receipt {}: the journal contains it", receipt.sequence)
            }
            Self::Differs { receipt } => {
                write!(
                    f,
                    "receipt {}: the journal holds another entry of this number, so it was rewritten",
                    receipt.sequence
                )
            }
            Self::Absent { receipt } => {
                write!(
                    f,
                    "receipt {}: the journal does not reach that entry, so its end was removed",
                    receipt.sequence
                )
            }
        }
    }
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// How deep.
    pub depth: Depth,
    /// How many entries are vouched for, from the first.
    pub entries: u64,
    /// The last of them.
    pub head: Option<Anchor>,
    /// How many starts of a server there are (with the identity only).
    pub segments: u64,
    /// How many files named by entries are there and unchanged (with the identity only).
    pub files_sound: u64,
    /// What ended the walk.
    pub problem: Option<Problem>,
    /// Files that are not as the journal says.
    pub damage: Vec<FileDamage>,
    /// What a reader should know.
    pub notices: Vec<Notice>,
    /// What became of the receipts.
    pub receipts: Vec<AnchorState>,
}

impl Report {
    /// Whether everything that was checked holds. Notices do not count against it.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.problem.is_none()
            && self.damage.is_empty()
            && self
                .receipts
                .iter()
                .all(|state| matches!(state, AnchorState::Found { .. }))
    }

    /// What this verification cannot know, in words (security J7).
    #[must_use]
    pub fn limits(&self) -> String {
        let last = self.entries;
        let anchored = self
            .receipts
            .iter()
            .filter_map(|state| match state {
                AnchorState::Found { receipt } => Some(receipt.sequence),
                AnchorState::Differs { .. } | AnchorState::Absent { .. } => None,
            })
            .max();
        let mut text = match anchored {
            None => format!(
                "No receipt was given: whether entries were removed after entry {last}, or the whole journal was replaced, cannot be detected. Give a reply's receipt with --receipt."
            ),
            Some(at) => format!(
                "A receipt vouches for everything up to entry {at}; whether entries were removed after entry {last} cannot be detected."
            ),
        };
        if self.depth == Depth::Chain {
            text.push_str(
                " Without the identity, who wrote the entries, the last entry's content, times, outcomes and sealed files were not checked.",
            );
        }
        text
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_sound() {
            write!(f, "Sound: {} entries", self.entries)?;
        } else {
            write!(f, "NOT SOUND; {} entries hold", self.entries)?;
        }
        match self.depth {
            Depth::Chain => writeln!(f, " (chain only).")?,
            Depth::Full => writeln!(
                f,
                " in {} sessions, {} sealed files.",
                self.segments, self.files_sound
            )?,
        }
        if let Some(head) = &self.head {
            writeln!(f, "Head: {head}")?;
        }
        if let Some(problem) = &self.problem {
            writeln!(f, "Problem: {problem}")?;
        }
        for damage in &self.damage {
            writeln!(f, "Problem: {damage}")?;
        }
        for state in &self.receipts {
            writeln!(
                f,
                "Receipt: {}",
                state.to_string().trim_start_matches("receipt ")
            )?;
        }
        for notice in &self.notices {
            writeln!(f, "Note: {notice}")?;
        }
        writeln!(f, "{}", self.limits())
    }
}
