//! The writer: appends an entry, and says so only when it is durable.

use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::time::Duration;

use serde::{Serialize, Serializer};
use zeroize::Zeroizing;

use super::chain::{self, Anchor, FORMAT, LONGEST_LINE, Line, NOTHING_BEFORE, Unsigned};
use super::directory::{Directory, FileName, WriterLock};
use super::entry::{Body, Closed, Closing, Entry, Heartbeat, Own, Record, SessionId, Started};
use super::keys::Recipient;
use super::ratchet::Ratchet;
use super::recover;
use super::seal::{self, CAPTURES, SealKind, Sealed};
use super::stamp::{self, Clock};
use crate::domain::digest::Digest;
use crate::error::{Code, Fault};
use crate::policy::profile::TypedText;

/// The journal's file.
pub const JOURNAL_FILE: FileName = FileName::constant("journal.jsonl");

/// How often the server writes a heartbeat; well below [`HEARTBEAT_LIMIT`].
pub const HEARTBEAT_EVERY: Duration = Duration::from_secs(10 * 60);

/// The longest silence of a serving journal that is not reported (security J6).
pub const HEARTBEAT_LIMIT: Duration = Duration::from_secs(15 * 60);

/// What stays the same for a whole session.
#[derive(Debug, Clone)]
pub struct Opening {
    /// The session.
    pub session: SessionId,
    /// The digest of the profile in force.
    pub profile: Digest,
    /// Program and version, for example `countersign 0.1.0`.
    pub program: String,
}

/// Proof that an entry is durable. Only [`Journal`] makes one.
#[must_use = "a receipt belongs into the reply"]
#[derive(Debug, PartialEq, Eq)]
pub struct Receipt(Anchor);

impl Receipt {
    /// The entry's number.
    #[must_use]
    pub const fn sequence(&self) -> u64 {
        self.0.sequence
    }

    /// The hash of the entry's line.
    #[must_use]
    pub const fn head(&self) -> &Digest {
        &self.0.head
    }
}

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Receipt {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

/// The open journal: the one writer of its directory.
pub struct Journal {
    directory: Directory,
    captures: Directory,
    file: File,
    recipient: Recipient,
    opening: Opening,
    clock: Clock,
    /// Makes what was written durable; a field so that a test can see it fail.
    sync: fn(&File) -> std::io::Result<()>,
    typed_text: TypedText,
    /// The last durable entry; `None` before the first one of all.
    head: Option<Anchor>,
    state: State,
    /// Held until the journal is closed.
    lock: Option<WriterLock>,
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal")
            .field("head", &self.head)
            .finish_non_exhaustive()
    }
}

enum State {
    Writing(Writing),
    /// A write failed. What is on the disk after a failed fsync is unknown, so nothing is tried again (security J3).
    Ended,
}

struct Writing {
    ratchet: Ratchet,
    /// The file's length after the last durable entry.
    length: u64,
    /// Captures sealed in this session.
    sealed: u64,
}

impl Journal {
    /// How typed text is kept from now on, as the operator's profile says. Until it is told: by its length and kind.
    pub const fn keep_typed_text(&mut self, how: TypedText) {
        self.typed_text = how;
    }

    pub(super) const fn typed_text(&self) -> TypedText {
        self.typed_text
    }

    /// Opens the journal for writing: takes the lock, keeps an unfinished tail aside, and begins a new segment with its
    /// own key, linked to the entry before it.
    ///
    /// # Errors
    /// Where another process writes it, the directory or a file in it is unsafe, or it cannot be written.
    pub fn open(
        directory: Directory,
        recipient: Recipient,
        opening: Opening,
    ) -> Result<Self, Fault> {
        Self::open_with(directory, recipient, opening, stamp::system()?)
    }

    pub(super) fn open_with(
        directory: Directory,
        recipient: Recipient,
        opening: Opening,
        clock: Clock,
    ) -> Result<Self, Fault> {
        let lock = directory.lock()?;
        let captures = directory.subdirectory(&CAPTURES)?;
        let file = directory.open_or_create(&JOURNAL_FILE)?;
        let end = recover::cut(&directory, &file)?;
        let mut journal = Self {
            directory,
            captures,
            file,
            recipient,
            opening,
            clock,
            typed_text: TypedText::Length,
            sync: |file| Ok(rustix::fs::fdatasync(file)?),
            head: end.head,
            state: State::Writing(Writing {
                ratchet: Ratchet::begin()?,
                length: end.length,
                sealed: 0,
            }),
            lock: Some(lock),
        };
        journal.write(Body::Own(Own::Started(Started {
            continues: end.head,
        })))?;
        for (file, entry) in recover::unrecorded(&journal.directory)? {
            journal.write(Body::Own(Own::Recovered(entry.clone())))?;
            recover::recorded(&journal.directory, &file, &entry)?;
        }
        Ok(journal)
    }

    /// Appends an entry. It is durable when this returns a receipt; this blocks for as long as the disk takes.
    ///
    /// # Errors
    /// The first failure to write is final: it is [`Code::JournalNotWritable`], and every call after it is
    /// [`Code::JournalEnded`]. An entry too long for a line is refused before anything is written, and ends nothing.
    pub fn append(&mut self, entry: &Entry) -> Result<Receipt, Fault> {
        self.write(Body::Entry(entry.clone())).map(Receipt)
    }

    /// Appends a sign of life.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn heartbeat(&mut self) -> Result<Receipt, Fault> {
        self.write(Body::Own(Own::Heartbeat(Heartbeat {})))
            .map(Receipt)
    }

    /// Appends the closing entry and lets go of the journal.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn close(&mut self, reason: Closing) -> Result<Receipt, Fault> {
        let receipt = self
            .write(Body::Own(Own::Closed(Closed { reason })))
            .map(Receipt)?;
        self.state = State::Ended;
        self.lock = None;
        Ok(receipt)
    }

    /// The receipt of the last durable entry, for replies that write none.
    ///
    /// # Errors
    /// Once the journal has failed or is closed.
    pub fn receipt(&self) -> Result<Receipt, Fault> {
        match (&self.state, self.head) {
            (State::Writing(_), Some(head)) => Ok(Receipt(head)),
            (State::Writing(_) | State::Ended, _) => Err(ended()),
        }
    }

    /// Encrypts a capture into a file beside the journal. It is durable, name and all, when this returns; an entry that
    /// names it is the caller's to write.
    ///
    /// # Errors
    /// As [`Journal::append`]: a failure ends the journal.
    pub fn seal(&mut self, kind: SealKind, bytes: &[u8]) -> Result<Sealed, Fault> {
        let State::Writing(writing) = &mut self.state else {
            return Err(ended());
        };
        writing.sealed += 1;
        let sealed = seal::seal(
            &self.captures,
            &self.recipient,
            &self.opening.session,
            writing.sealed,
            kind,
            bytes,
        );
        if sealed.is_err() {
            self.state = State::Ended;
        }
        sealed
    }

    /// The last durable entry's number and the hash of its line, also after a failure.
    #[must_use]
    pub fn head(&self) -> (u64, Digest) {
        self.head
            .map_or((0, NOTHING_BEFORE), |head| (head.sequence, head.head))
    }

    /// The session that writes.
    #[must_use]
    pub const fn session(&self) -> &SessionId {
        &self.opening.session
    }

    fn write(&mut self, body: Body) -> Result<Anchor, Fault> {
        let State::Writing(writing) = &self.state else {
            return Err(ended());
        };
        let (sequence, previous) = match &self.head {
            Some(head) => (
                head.sequence
                    .checked_add(1)
                    .ok_or_else(|| Fault::internal("the journal is full"))?,
                head.head,
            ),
            None => (1, NOTHING_BEFORE),
        };
        let record = Record {
            v: FORMAT,
            seq: sequence,
            time: (self.clock)(),
            session: self.opening.session.clone(),
            profile: self.opening.profile,
            program: self.opening.program.clone(),
            entry: body,
        };
        let payload = self
            .recipient
            .encrypt(&plaintext(&record, &writing.ratchet)?)?;
        let mac = writing.ratchet.sign(&Unsigned {
            sequence,
            previous: &previous,
            payload: &payload,
        });
        let mut text = Line {
            sequence,
            previous,
            mac,
            payload,
        }
        .format();
        let head = Anchor {
            sequence,
            head: chain::hash(text.as_bytes()),
        };
        text.push('\n');
        if text.len() > LONGEST_LINE {
            return Err(Fault::new(
                Code::JournalNotWritable,
                "an entry is too long for a line of the journal",
            ));
        }
        let length = writing.length;
        match self.make_durable(text.as_bytes(), length) {
            Ok(length) => {
                if let State::Writing(writing) = &mut self.state {
                    writing.ratchet.advance();
                    writing.length = length;
                }
                self.head = Some(head);
                Ok(head)
            }
            Err(fault) => {
                self.state = State::Ended;
                Err(fault)
            }
        }
    }

    fn make_durable(&mut self, line: &[u8], length: u64) -> Result<u64, Fault> {
        self.check_in_place(length)?;
        let failed = |e: std::io::Error| {
            Fault::new(Code::JournalNotWritable, "the journal cannot be written").because(e)
        };
        self.file.write_all(line).map_err(failed)?;
        (self.sync)(&self.file).map_err(failed)?;
        Ok(length + line.len() as u64)
    }

    /// The journal's name must still lead to the file we hold, and it must be as long as we left it: an entry appended
    /// to a file that was moved away, cut or written by another would be acknowledged and then lost.
    fn check_in_place(&self, length: u64) -> Result<(), Fault> {
        let held = rustix::fs::fstat(&self.file).map_err(|e| {
            Fault::new(Code::JournalNotWritable, "the journal cannot be examined").because(e)
        })?;
        let named = self.directory.stat(&JOURNAL_FILE)?;
        let same = (held.st_dev, held.st_ino) == (named.st_dev, named.st_ino);
        if same && u64::try_from(held.st_size) == Ok(length) {
            Ok(())
        } else {
            Err(self.directory.fault(
                &JOURNAL_FILE,
                "was moved, cut or written by another program",
            ))
        }
    }
}

#[derive(Serialize)]
struct Plain<'a> {
    /// The segment's first MAC key, in a `started` entry alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(flatten)]
    record: &'a Record,
}

fn plaintext(record: &Record, ratchet: &Ratchet) -> Result<Zeroizing<Vec<u8>>, Fault> {
    let key = match &record.entry {
        Body::Own(Own::Started(_)) => Some(ratchet.to_hex()),
        Body::Own(Own::Recovered(_) | Own::Heartbeat(_) | Own::Closed(_)) | Body::Entry(_) => None,
    };
    // Room for a whole `started` entry at once: growing would leave copies of the key behind.
    let mut out = Zeroizing::new(Vec::with_capacity(4096));
    serde_json::to_writer(
        &mut *out,
        &Plain {
            key: key.as_ref().map(|k| k.as_str()),
            record,
        },
    )
    .map_err(|e| Fault::internal("an entry cannot be written as JSON").because(e))?;
    Ok(out)
}

fn ended() -> Fault {
    Fault::new(
        Code::JournalEnded,
        "the journal failed before in this session",
    )
}

#[cfg(test)]
impl Journal {
    /// From now on what is synced is a pipe: the write goes through, and the kernel refuses the sync.
    pub(super) fn break_fsync(&mut self) {
        self.sync = |_file| {
            let (_reader, writer) = std::io::pipe()?;
            rustix::fs::fdatasync(&writer)?;
            Ok(())
        };
    }
}
