//! Reading the journal line by line, and opening an entry with the auditor's identity.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};

use zeroize::Zeroizing;

use super::chain::{LONGEST_LINE, Line, NotALine};
use super::directory::Directory;
use super::entry::{Body, Own, Record};
use super::keys::{Identity, Unopened};
use super::ratchet::Ratchet;
use super::writer::JOURNAL_FILE;
use crate::error::{Code, Fault};

/// Opens the journal's file for reading.
///
/// # Errors
/// Where it is missing or unsafe.
pub fn open(directory: &Directory) -> Result<BufReader<File>, Fault> {
    directory
        .open_existing(&JOURNAL_FILE)?
        .map(BufReader::new)
        .ok_or_else(|| {
            directory.fault(&JOURNAL_FILE, "is missing; nothing was journalled here yet")
        })
}

/// What lies between two newlines, or after the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A line, without its newline.
    Whole(Vec<u8>),
    /// A line longer than any can be. It is skipped, not held.
    TooLong,
    /// Bytes at the end without a newline: being written just now, or left by a crash.
    Unfinished(u64),
}

/// The next piece; `None` at the end.
///
/// # Errors
/// Where the file cannot be read.
pub fn next(lines: &mut impl BufRead) -> Result<Option<Piece>, Fault> {
    let failed =
        |e: std::io::Error| Fault::new(Code::Internal, "the journal cannot be read").because(e);
    let mut bytes = Vec::new();
    lines
        .by_ref()
        .take(LONGEST_LINE as u64)
        .read_until(b'\n', &mut bytes)
        .map_err(failed)?;
    if bytes.pop_if(|last| *last == b'\n').is_some() {
        return Ok(Some(Piece::Whole(bytes)));
    }
    if bytes.len() < LONGEST_LINE {
        return Ok((!bytes.is_empty()).then_some(Piece::Unfinished(bytes.len() as u64)));
    }
    let mut length = bytes.len() as u64;
    loop {
        bytes.clear();
        let read = lines
            .by_ref()
            .take(LONGEST_LINE as u64)
            .read_until(b'\n', &mut bytes)
            .map_err(failed)?;
        if bytes.last() == Some(&b'\n') {
            return Ok(Some(Piece::TooLong));
        }
        if read == 0 {
            return Ok(Some(Piece::Unfinished(length)));
        }
        length += read as u64;
    }
}

/// An entry, opened. The segment's key is apart from what may be shown.
pub(super) struct Opened {
    pub(super) record: Record,
    pub(super) key: Option<Ratchet>,
}

/// Why an entry cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// The line is none of the journal's.
    Line(NotALine),
    /// It was written to another key.
    AnotherKey,
    /// The payload is no whole age file.
    Damaged,
    /// The plaintext is not an entry this version knows.
    Unknown,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(NotALine::Form) => f.write_str("not a line of the journal"),
            Self::Line(NotALine::Version(v)) => write!(
                f,
                "a line of format version {v}, which this program does not know"
            ),
            Self::AnotherKey => f.write_str("written to another key"),
            Self::Damaged => f.write_str("the payload is damaged"),
            Self::Unknown => f.write_str("the payload is not an entry that this program knows"),
        }
    }
}

/// Reads what an entry says. This checks nothing but the payload itself.
///
/// # Errors
/// Where the payload cannot be opened or is no entry.
pub fn record(line: &Line, identity: &Identity) -> Result<Record, Unreadable> {
    open_entry(line, identity).map(|opened| opened.record)
}

pub(super) fn open_entry(line: &Line, identity: &Identity) -> Result<Opened, Unreadable> {
    let plaintext = identity.decrypt(&line.payload).map_err(|why| match why {
        Unopened::AnotherKey => Unreadable::AnotherKey,
        Unopened::Damaged => Unreadable::Damaged,
    })?;
    let mut value: serde_json::Value =
        serde_json::from_slice(&plaintext).map_err(|_| Unreadable::Unknown)?;
    let key = match value
        .as_object_mut()
        .and_then(|object| object.remove("key"))
    {
        Some(serde_json::Value::String(text)) => {
            let text = Zeroizing::new(text);
            Some(Ratchet::from_hex(&text).ok_or(Unreadable::Unknown)?)
        }
        Some(_) => return Err(Unreadable::Unknown),
        None => None,
    };
    let record: Record = serde_json::from_value(value).map_err(|_| Unreadable::Unknown)?;
    let starts = matches!(record.entry, Body::Own(Own::Started(_)));
    if starts == key.is_some() {
        Ok(Opened { record, key })
    } else {
        Err(Unreadable::Unknown)
    }
}
