//! One line of the journal, and the hash that ties it to the line before.
//!
//! A line is `{"v":1,"seq":N,"prev":"…","mac":"…","payload":"…"}` in exactly this form and ends with a newline. The
//! payload is an age file in base64. A line that says the same in other bytes is malformed: there is one form only, so
//! every byte of the file is covered by a check.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::domain::digest::Digest;

/// The version of the line's form.
pub const FORMAT: u64 = 1;

/// The longest line, its newline included, in bytes.
pub(super) const LONGEST_LINE: usize = 1 << 20;

/// What the first entry names as the one before it.
pub(super) const NOTHING_BEFORE: Digest = Digest::from_bytes([0; 32]);

const MAC_LABEL: &[u8] = b"countersign journal v1 entry";

/// One line, taken apart. What it says is still to be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The entry's number: 1 for the first, then one more each.
    pub sequence: u64,
    /// The hash of the line before.
    pub previous: Digest,
    /// The MAC over version, sequence, previous hash and payload.
    pub mac: Digest,
    /// The age file.
    pub payload: Vec<u8>,
}

/// Why bytes are no line of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotALine {
    /// The line says another version.
    Version(u64),
    /// Anything else.
    Form,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    v: u64,
    seq: u64,
    prev: String,
    mac: String,
    payload: String,
}

#[derive(Deserialize)]
struct VersionOnly {
    v: u64,
}

impl Line {
    /// Reads a line without its newline.
    ///
    /// # Errors
    /// Where the bytes are not exactly what [`Line::format`] would write.
    pub fn parse(bytes: &[u8]) -> Result<Self, NotALine> {
        let Ok(written) = serde_json::from_slice::<Written>(bytes) else {
            return Err(match serde_json::from_slice::<VersionOnly>(bytes) {
                Ok(VersionOnly { v }) if v != FORMAT => NotALine::Version(v),
                Ok(_) | Err(_) => NotALine::Form,
            });
        };
        if written.v != FORMAT {
            return Err(NotALine::Version(written.v));
        }
        let line = Self {
            sequence: written.seq,
            previous: Digest::from_hex(&written.prev).ok_or(NotALine::Form)?,
            mac: Digest::from_hex(&written.mac).ok_or(NotALine::Form)?,
            payload: STANDARD
                .decode(&written.payload)
                .map_err(|_| NotALine::Form)?,
        };
        if line.format().as_bytes() == bytes {
            Ok(line)
        } else {
            Err(NotALine::Form)
        }
    }

    /// The line without its newline.
    #[must_use]
    pub fn format(&self) -> String {
        format!(
            r#"{{"v":{FORMAT},"seq":{},"prev":"{}","mac":"{}","payload":"{}"}}"#,
            self.sequence,
            self.previous,
            self.mac,
            STANDARD.encode(&self.payload)
        )
    }

    pub(super) fn unsigned(&self) -> Unsigned<'_> {
        Unsigned {
            sequence: self.sequence,
            previous: &self.previous,
            payload: &self.payload,
        }
    }
}

/// The hash of a line: SHA-256 over its bytes without the newline. It covers the ciphertext, so the chain can be
/// checked without any key.
#[must_use]
pub fn hash(line: &[u8]) -> Digest {
    Digest::of(line)
}

/// What the MAC of an entry covers.
pub(super) struct Unsigned<'a> {
    pub(super) sequence: u64,
    pub(super) previous: &'a Digest,
    pub(super) payload: &'a [u8],
}

impl Unsigned<'_> {
    /// Hands over the bytes: every part but the last has a fixed length, so none can run into another.
    pub(super) fn feed(&self, mut update: impl FnMut(&[u8])) {
        update(MAC_LABEL);
        update(&FORMAT.to_be_bytes());
        update(&self.sequence.to_be_bytes());
        update(self.previous.as_bytes());
        update(self.payload);
    }
}

/// A place in the journal: an entry's number and the hash of its line. Written `SEQUENCE:HASH`; a reply's receipt
/// carries it, so that a client's transcript anchors the journal (security J7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Anchor {
    /// The entry's number.
    pub sequence: u64,
    /// The hash of its line.
    pub head: Digest,
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.sequence, self.head)
    }
}

impl FromStr for Anchor {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.split_once(':')
            .and_then(|(sequence, head)| {
                let sequence: u64 = sequence.parse().ok().filter(|n| *n > 0)?;
                Some(Self {
                    sequence,
                    head: Digest::from_hex(head)?,
                })
            })
            .filter(|anchor| anchor.to_string() == text)
            .ok_or("expected an entry's number, a colon and 64 lower-case hexadecimal digits")
    }
}

impl From<Anchor> for String {
    fn from(anchor: Anchor) -> Self {
        anchor.to_string()
    }
}

impl TryFrom<String> for Anchor {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line() -> Line {
        Line {
            sequence: 7,
            previous: Digest::of(b"before"),
            mac: Digest::of(b"mac"),
            payload: b"age-encryption.org/v1\n".to_vec(),
        }
    }

    #[test]
    fn a_line_has_one_form_only() {
        let text = line().format();
        assert_eq!(Line::parse(text.as_bytes()), Ok(line()));
        for other in [
            text.replace("\"v\":1", "\"v\": 1"),
            text.replace("\"v\":1,\"seq\":7", "\"seq\":7,\"v\":1"),
            text.replace(":7,", ":7.0,"),
            text.replace("prev", "Prev"),
            text.replace('}', ",\"x\":1}"),
            format!("{text} "),
            format!("{text}\n"),
            text.to_uppercase(),
            String::new(),
        ] {
            assert_eq!(
                Line::parse(other.as_bytes()),
                Err(NotALine::Form),
                "{other}"
            );
        }
        let newer = text.replace("\"v\":1", "\"v\":2");
        assert_eq!(Line::parse(newer.as_bytes()), Err(NotALine::Version(2)));
        assert_eq!(
            Line::parse(br#"{"v":3,"body":{}}"#),
            Err(NotALine::Version(3))
        );
    }

    #[test]
    fn an_anchor_has_one_form_only() {
        let anchor = Anchor {
            sequence: 12,
            head: Digest::of(b"x"),
        };
        assert_eq!(anchor.to_string().parse(), Ok(anchor));
        for other in [
            format!("0{anchor}"),
            format!("+{anchor}"),
            format!(" {anchor}"),
            "12".to_owned(),
            "12:".to_owned(),
        ] {
            assert!(other.parse::<Anchor>().is_err(), "{other}");
        }
    }

    proptest! {
        #[test]
        fn any_line_round_trips(sequence in any::<u64>(), payload in prop::collection::vec(any::<u8>(), 0..200)) {
            let line = Line { sequence, previous: Digest::of(&payload), mac: Digest::of(b"m"), payload };
            prop_assert_eq!(Line::parse(line.format().as_bytes()), Ok(line));
        }

        #[test]
        fn foreign_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            prop_assert!(Line::parse(&bytes).is_err());
        }
    }
}
