//! Keeps the last snapshots of each tab by id, so that a mark means what it meant when it was read.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use super::tree::Line;
use crate::browser::probe::{ElementKey, FarKeys, FarPrint, Print};
use crate::domain::mark::{Mark, SnapshotId, TabId};
use crate::domain::site::Origin;
use crate::domain::text::Untrusted;

/// What a mark stands for, as it was when the model read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// Which node.
    pub key: ElementKey,
    /// What it is known again by.
    pub known: Known,
}

/// What an element is known again by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// It was in sight.
    Seen {
        /// What identified it then.
        print: Print,
        /// Its role in the accessibility tree.
        role: String,
        /// Its accessible name.
        name: Untrusted,
    },
    /// It was out of sight.
    Far {
        /// What identified it then.
        print: FarPrint,
        /// The words that stood for it.
        words: String,
    },
}

/// One look at one tab.
#[derive(Debug)]
pub struct Snapshot {
    /// Its name.
    pub id: SnapshotId,
    /// The tab.
    pub tab: TabId,
    /// The origin of the top document.
    pub origin: Origin,
    /// The origins of all documents that were read.
    pub origins: Vec<Origin>,
    /// The marks that are valid with it.
    pub marks: BTreeMap<Mark, Remembered>,
    /// The lines the model was given, for telling what changed.
    pub lines: Vec<String>,
    /// What was in sight.
    pub near: Vec<Line>,
    /// What was out of sight: see [`super::tree::whole`].
    pub far: Arc<str>,
    /// Makes the keys of its elements.
    pub keys: FarKeys,
    /// The document's address.
    pub url: String,
    /// Its title, as it was told.
    pub title: String,
}

/// The snapshots of a session.
#[derive(Debug, Default)]
pub struct Shelf {
    kept: HashMap<SnapshotId, Snapshot>,
    order: HashMap<TabId, VecDeque<SnapshotId>>,
    last: u32,
}

/// How many snapshots of one tab are kept (contract: 16).
const KEPT: usize = 16;

impl Shelf {
    /// The name of the next snapshot.
    pub fn next_id(&mut self) -> SnapshotId {
        self.last = self.last.saturating_add(1);
        SnapshotId::new(self.last)
    }

    /// Puts a snapshot on the shelf; the oldest of its tab makes room. Much of a page stays as it was from one look to the
    /// next: what is out of sight is kept once.
    pub fn put(&mut self, mut snapshot: Snapshot) {
        if let Some(before) = self.newest(snapshot.tab)
            && before.far == snapshot.far
        {
            snapshot.far = Arc::clone(&before.far);
        }
        let order = self.order.entry(snapshot.tab).or_default();
        order.push_back(snapshot.id);
        while order.len() > KEPT {
            if let Some(old) = order.pop_front() {
                self.kept.remove(&old);
            }
        }
        self.kept.insert(snapshot.id, snapshot);
    }

    /// A snapshot that is still kept.
    #[must_use]
    pub fn get(&self, id: SnapshotId) -> Option<&Snapshot> {
        self.kept.get(&id)
    }

    /// Remembers an element that was out of sight and has been given a number now.
    pub fn remember(&mut self, id: SnapshotId, mark: Mark, remembered: Remembered) {
        if let Some(snapshot) = self.kept.get_mut(&id) {
            snapshot.marks.entry(mark).or_insert(remembered);
        }
    }

    /// The newest snapshot of a tab.
    #[must_use]
    pub fn newest(&self, tab: TabId) -> Option<&Snapshot> {
        self.order
            .get(&tab)
            .and_then(VecDeque::back)
            .and_then(|id| self.kept.get(id))
    }

    /// Drops every snapshot: after a lost connection nothing of before means anything.
    pub fn clear(&mut self) {
        self.kept.clear();
        self.order.clear();
    }
}
