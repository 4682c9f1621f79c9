//! An unfinished end of the journal, left by a crash: found, kept aside, recorded; never deleted and never fatal.
//!
//! The steps are ordered so that a crash between any two of them loses nothing (security J5):
//! 1. the tail is copied to `torn-….part`, made durable and renamed to `torn-….new`;
//! 2. the journal is cut back to its last whole line;
//! 3. the new segment records every `.new` file in a `recovered` entry;
//! 4. the file is renamed to `torn-….kept`.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use super::chain::{self, Anchor, LONGEST_LINE, Line};
use super::directory::{Directory, FileName};
use super::entry::Recovered;
use crate::domain::digest::Digest;
use crate::error::{Code, Fault};

const NEW: &str = ".new";
const KEPT: &str = ".kept";
const PREFIX: &str = "torn-";

/// Where the journal ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct End {
    /// The last whole line.
    pub(super) head: Option<Anchor>,
    /// The length up to and with its newline.
    pub(super) length: u64,
}

/// Cuts the journal back to its last whole line, keeping what comes after it in a file of its own.
pub(super) fn cut(directory: &Directory, file: &File) -> Result<End, Fault> {
    let size = file.metadata().map_err(failed)?.len();
    let end = find_end(file, size)?;
    if end.length < size {
        keep_aside(directory, file, &end, size)?;
        rustix::fs::ftruncate(file, end.length).map_err(failed)?;
        rustix::fs::fsync(file).map_err(failed)?;
    }
    Ok(end)
}

/// The last line that is one. Looked for from the end; anything damaged further up is for `audit verify` to name.
fn find_end(file: &File, size: u64) -> Result<End, Fault> {
    let mut window = 64 * 1024_u64;
    loop {
        let start = size.saturating_sub(window);
        let bytes = read_range(file, start, size)?;
        // A line in the window counts only if its beginning is in it too.
        let mut end_of_line = bytes.iter().rposition(|b| *b == b'\n');
        while let Some(end) = end_of_line {
            let before = bytes.get(..end).unwrap_or_default();
            let begin = before.iter().rposition(|b| *b == b'\n').map(|at| at + 1);
            let Some(begin) = begin.or((start == 0).then_some(0)) else {
                break;
            };
            let text = before.get(begin..).unwrap_or_default();
            if text.len() < LONGEST_LINE
                && let Ok(line) = Line::parse(text)
            {
                return Ok(End {
                    head: Some(Anchor {
                        sequence: line.sequence,
                        head: chain::hash(text),
                    }),
                    length: start + end as u64 + 1,
                });
            }
            end_of_line = begin.checked_sub(1);
        }
        if start == 0 {
            return Ok(End {
                head: None,
                length: 0,
            });
        }
        window = window.saturating_mul(4);
    }
}

fn keep_aside(directory: &Directory, file: &File, end: &End, size: u64) -> Result<(), Fault> {
    let tail = read_range(file, end.length, size)?;
    let digest = Digest::of(&tail).hex();
    let next = end.head.map_or(1, |head| head.sequence.saturating_add(1));
    let stem = format!("{PREFIX}{next}-{}", digest.get(..16).unwrap_or_default());
    let (part, new) = (
        name(&format!("{stem}.part"))?,
        name(&format!("{stem}{NEW}"))?,
    );
    // A half-written copy of an earlier try may be there; its original is still in the journal.
    directory.write_over(&part, &tail)?;
    directory.rename(&part, &new)
}

/// The tails that no entry records yet, each with the entry to write for it.
pub(super) fn unrecorded(directory: &Directory) -> Result<Vec<(FileName, Recovered)>, Fault> {
    let mut found = Vec::new();
    for new in directory.names()? {
        let Some(stem) = new
            .as_str()
            .strip_prefix(PREFIX)
            .and_then(|rest| rest.strip_suffix(NEW))
        else {
            continue;
        };
        let kept = name(&format!("{PREFIX}{stem}{KEPT}"))?;
        let Some(bytes) = directory.read(&new, u64::MAX - 1)? else {
            continue;
        };
        let recovered = Recovered {
            kept,
            sha256: Digest::of(&bytes),
            bytes: bytes.len() as u64,
        };
        found.push((new, recovered));
    }
    Ok(found)
}

/// Marks a tail as recorded.
pub(super) fn recorded(
    directory: &Directory,
    new: &FileName,
    entry: &Recovered,
) -> Result<(), Fault> {
    directory.rename(new, &entry.kept)
}

/// The name a kept file has between its entry and its last rename.
pub(super) fn name_before_rename(kept: &FileName) -> Option<FileName> {
    let stem = kept.as_str().strip_suffix(KEPT)?;
    FileName::parse(&format!("{stem}{NEW}")).ok()
}

fn read_range(file: &File, from: u64, to: u64) -> Result<Vec<u8>, Fault> {
    let length = usize::try_from(to.saturating_sub(from))
        .map_err(|_| Fault::internal("the journal's tail is too long"))?;
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, from).map_err(failed)?;
    Ok(bytes)
}

fn name(text: &str) -> Result<FileName, Fault> {
    FileName::parse(text).map_err(Fault::internal)
}

fn failed(error: impl Into<std::io::Error>) -> Fault {
    Fault::new(
        Code::JournalNotWritable,
        "the end of the journal cannot be examined",
    )
    .because(error.into())
}
