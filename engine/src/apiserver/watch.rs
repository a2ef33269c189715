use std::collections::VecDeque;

use crate::api::Object;
use crate::sim::{Seq, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

/// One write, as watchers hear of it.
#[derive(Clone, Debug)]
pub struct Change {
    pub version: u64,
    pub kind: ChangeKind,
    /// The object after the write; its last state where it was deleted.
    pub object: Object,
    /// The object before the write.
    pub old: Option<Object>,
    pub at: Time,
    /// The trace event of the write.
    pub cause: Seq,
}

/// The newest writes, in order. Watchers that fall behind its start must list again (410 Gone).
#[derive(Clone, Debug, Default)]
pub struct WatchLog {
    changes: VecDeque<Change>,
}

impl WatchLog {
    /// Writes kept.
    pub const LIMIT: usize = 4_096;

    pub fn push(&mut self, change: Change) {
        if self.changes.len() == Self::LIMIT {
            self.changes.pop_front();
        }
        self.changes.push_back(change);
    }

    /// The write of a version; nothing where it is no longer kept.
    pub fn get(&self, version: u64) -> Option<&Change> {
        let index = self.changes.binary_search_by_key(&version, |change| change.version).ok()?;
        self.changes.get(index)
    }
}
