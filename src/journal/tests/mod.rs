//! The journal as a whole: what it must keep, notice and refuse.

#![allow(
    unused_must_use,
    reason = "tests write many an entry for what it leaves on the disk"
)]

mod crash;
mod entries;
mod files;
mod hand;
mod tamper;
mod times;
mod vectors;

use std::path::PathBuf;

use age::secrecy::ExposeSecret as _;

use super::stamp::Clock;
use super::*;
use crate::domain::digest::Digest;
use crate::domain::lock::LockClass;
use crate::domain::mark::{Mark, SnapshotId, TabId};
use crate::domain::question::{Ending, Means};
use crate::domain::site::Site;
use crate::error::{Code, Effect};

/// A journal's directory of its own, with a key pair.
pub(super) struct Scratch {
    root: tempfile::TempDir,
    identity: String,
}

impl Scratch {
    pub(super) fn new() -> Self {
        let scratch = Self {
            root: tempfile::tempdir().unwrap(),
            identity: new_identity(),
        };
        Directory::create(&scratch.path()).unwrap();
        scratch
    }

    pub(super) fn path(&self) -> PathBuf {
        self.root.path().join("journal")
    }

    pub(super) fn file(&self) -> PathBuf {
        self.path().join(JOURNAL_FILE.as_str())
    }

    pub(super) fn directory(&self) -> Directory {
        Directory::open(&self.path()).unwrap()
    }

    pub(super) fn identity(&self) -> Identity {
        Identity::parse(&self.identity).unwrap()
    }

    pub(super) fn open(&self) -> Journal {
        self.try_open().unwrap()
    }

    pub(super) fn try_open(&self) -> Result<Journal, crate::error::Fault> {
        Journal::open(self.directory(), self.identity().recipient(), opening())
    }

    pub(super) fn open_with(&self, clock: Clock) -> Journal {
        Journal::open_with(
            self.directory(),
            self.identity().recipient(),
            opening(),
            clock,
        )
        .unwrap()
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.file()).unwrap()
    }

    pub(super) fn verify(&self, receipts: &[Anchor]) -> Report {
        verify_directory(&self.directory(), Some(&self.identity()), receipts).unwrap()
    }

    /// All entries, in order.
    pub(super) fn records(&self) -> Vec<Record> {
        let mut lines = open(&self.directory()).unwrap();
        let mut records = Vec::new();
        while let Some(Piece::Whole(bytes)) = next(&mut lines).unwrap() {
            records.push(record(&Line::parse(&bytes).unwrap(), &self.identity()).unwrap());
        }
        records
    }
}

pub(super) fn new_identity() -> String {
    age::x25519::Identity::generate()
        .to_string()
        .expose_secret()
        .to_owned()
}

pub(super) fn opening() -> Opening {
    Opening {
        session: SessionId::generate().unwrap(),
        profile: Digest::of(b"profile"),
        program: "countersign test".to_owned(),
    }
}

pub(super) fn anchor(receipt: &Receipt) -> Anchor {
    Anchor {
        sequence: receipt.sequence(),
        head: *receipt.head(),
    }
}

pub(super) fn site() -> Site {
    Site::parse("https://bank.test").unwrap()
}

pub(super) fn click() -> CallRecord {
    CallRecord {
        mark: Some(Mark::new(7)),
        ..CallRecord::new("click")
    }
    .in_tab(TabId::new(1))
    .on(site())
    .element("button", "Pay 12.00 €")
}

pub(super) fn look() -> Entry {
    Entry::Read(Look {
        tool: "observe".to_owned(),
        tab: TabId::new(1),
        snapshot: SnapshotId::new(1),
        site: site(),
        image: Some(Digest::of(b"png")),
    })
}

pub(super) fn asked() -> Entry {
    Entry::Asked(Asked {
        call: click(),
        class: LockClass::Payment,
        facts: vec![("Amount".to_owned(), "12.00 €".to_owned())],
        digest: Digest::of(b"question"),
        before: None,
        means: Means::Window,
    })
}

pub(super) fn answered(asked: u64, ending: Ending) -> Entry {
    Entry::Answered(Answered {
        asked,
        ending,
        means: Means::Window,
        waited_ms: 2_400,
    })
}

pub(super) fn intent(answered: Option<u64>) -> Entry {
    Entry::Intent(Intent {
        call: click(),
        answered,
        before: None,
        snapshot: Some(SnapshotId::new(1)),
    })
}

pub(super) fn outcome(intent: u64) -> Entry {
    Entry::Outcome(Outcome {
        intent,
        outcome: "done".to_owned(),
        effect: Effect::Done,
        code: None,
        changes: vec!["1 element appeared".to_owned()],
        after: None,
    })
}

pub(super) fn refused() -> Entry {
    Entry::Refused(Refused {
        call: click(),
        code: Code::Denied.into(),
        effect: Effect::None,
        asked: None,
    })
}

/// Two sessions of thirteen entries in all, with most kinds.
pub(super) fn write_story(scratch: &Scratch) -> Vec<Anchor> {
    write_story_in(|| scratch.open())
}

pub(super) fn write_story_in(open: impl Fn() -> Journal) -> Vec<Anchor> {
    let mut anchors = Vec::new();
    let mut journal = open();
    anchors.push(Anchor {
        sequence: journal.head().0,
        head: journal.head().1,
    });
    for entry in [
        look(),
        asked(),
        answered(3, Ending::Allowed),
        intent(Some(4)),
        outcome(5),
        refused(),
    ] {
        anchors.push(anchor(&journal.append(&entry).unwrap()));
    }
    anchors.push(anchor(&journal.heartbeat().unwrap()));
    anchors.push(anchor(&journal.close(Closing::EndOfInput).unwrap()));
    let mut journal = open();
    anchors.push(Anchor {
        sequence: journal.head().0,
        head: journal.head().1,
    });
    for entry in [look(), intent(None), outcome(12)] {
        anchors.push(anchor(&journal.append(&entry).unwrap()));
    }
    anchors
}
