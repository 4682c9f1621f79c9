//! Captures beside the journal: one age file each, durable before an entry names it.

use std::fmt;
use std::io::Read as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::directory::{Directory, FileName};
use super::entry::SessionId;
use super::form::hex;
use super::keys::Recipient;
use crate::domain::digest::Digest;
use crate::error::Fault;

/// The directory of the captures, inside the journal's.
pub const CAPTURES: FileName = FileName::constant("captures");

/// What a capture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealKind {
    /// The page before an action.
    Before,
    /// The page after it.
    After,
}

impl SealKind {
    /// The word in the file's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

/// A capture that was sealed: the file it is in, and what the file must hash to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sealed {
    name: FileName,
    #[serde(with = "hex")]
    sha256: Digest,
    bytes: u64,
}

impl Sealed {
    /// The file's name in [`CAPTURES`].
    #[must_use]
    pub const fn name(&self) -> &FileName {
        &self.name
    }

    /// The SHA-256 of the sealed file, as `sha256sum` gives it.
    #[must_use]
    pub const fn sha256(&self) -> &Digest {
        &self.sha256
    }

    /// The length of the sealed file in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Encrypts and writes one capture. On return the file and its name are durable.
pub(super) fn seal(
    captures: &Directory,
    recipient: &Recipient,
    session: &SessionId,
    number: u64,
    kind: SealKind,
    plaintext: &[u8],
) -> Result<Sealed, Fault> {
    let file = recipient.encrypt(plaintext)?;
    let name = FileName::parse(&format!("{session}-{number:06}-{}.age", kind.name()))
        .map_err(Fault::internal)?;
    captures.write_new(&name, &file)?;
    Ok(Sealed {
        name,
        sha256: Digest::of(&file),
        bytes: file.len() as u64,
    })
}

/// What is wrong with a file the journal names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Damage {
    /// It is not there.
    Missing,
    /// It is there and says something else.
    Changed,
    /// It is no regular file of ours that only we can read, or cannot be read.
    Unreadable,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "is missing",
            Self::Changed => "has been changed",
            Self::Unreadable => "cannot be read, or is not ours alone",
        })
    }
}

/// Compares a file with what the journal says of it.
pub(super) fn compare(
    directory: &Directory,
    name: &FileName,
    sha256: &Digest,
    bytes: u64,
) -> Result<(), Damage> {
    let mut file = match directory.open_existing(name) {
        Ok(Some(file)) => file.take(bytes.saturating_add(1)),
        Ok(None) => return Err(Damage::Missing),
        Err(_) => return Err(Damage::Unreadable),
    };
    let (mut hash, mut length, mut buffer) = (Sha256::new(), 0_u64, vec![0_u8; 64 * 1024]);
    loop {
        let read = file.read(&mut buffer).map_err(|_| Damage::Unreadable)?;
        let Some(part) = buffer.get(..read).filter(|part| !part.is_empty()) else {
            break;
        };
        hash.update(part);
        length += read as u64;
    }
    if length == bytes && Digest::from_bytes(hash.finalize().into()) == *sha256 {
        Ok(())
    } else {
        Err(Damage::Changed)
    }
}
