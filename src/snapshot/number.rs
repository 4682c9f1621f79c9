//! Gives marks their numbers: one node, one number, for the whole session.

use std::collections::HashMap;

use crate::browser::probe::ElementKey;
use crate::domain::mark::Mark;

/// The numbers given so far. A number is never given to another node.
#[derive(Debug, Default)]
pub struct Numbers {
    given: HashMap<ElementKey, Mark>,
    last: u32,
}

impl Numbers {
    /// The mark of this node: the one it had, or the next.
    pub fn mark(&mut self, key: &ElementKey) -> Mark {
        if let Some(mark) = self.given.get(key) {
            return *mark;
        }
        self.last = self.last.saturating_add(1);
        let mark = Mark::new(self.last);
        self.given.insert(key.clone(), mark);
        mark
    }

    /// The mark this node has, if it was ever given one.
    #[must_use]
    pub fn known(&self, key: &ElementKey) -> Option<Mark> {
        self.given.get(key).copied()
    }

    /// Forgets the nodes of documents that cannot come back; their numbers stay used.
    pub fn forget(&mut self, gone: impl Fn(&ElementKey) -> bool) {
        self.given.retain(|key, _| !gone(key));
    }
}
