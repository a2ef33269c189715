use std::collections::VecDeque;
use std::rc::Rc;

use crate::api::{Object, ObjectKey};
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
    pub key: ObjectKey,
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
    changes: VecDeque<Rc<Change>>,
    /// From this version on somebody who does not listen now will ask.
    held: Option<u64>,
}

impl WatchLog {
    /// Writes kept.
    pub const LIMIT: usize = 4_096;
    /// So many are kept however long ago all watchers have heard of them.
    pub const HEARD: usize = 256;

    /// Adds a write. What was written before `heard` no watcher will ask for any more.
    pub fn push(&mut self, change: Change, heard: Time) {
        let is_over = |it: &Self| it.changes.len() >= Self::LIMIT;
        let is_heard = |it: &Self| {
            it.changes.len() >= Self::HEARD && it.changes.front().is_some_and(|old| it.is_heard(old, heard))
        };
        while is_over(self) || is_heard(self) {
            self.changes.pop_front();
        }
        self.changes.push_back(Rc::new(change));
    }

    /// Lets go of what was written before `heard`, but for the newest write.
    pub fn forget(&mut self, heard: Time) {
        let old = self.changes.iter().take_while(|old| self.is_heard(old, heard)).count();
        self.changes.drain(..old.min(self.changes.len().saturating_sub(1)));
        self.changes.shrink_to_fit();
    }

    fn is_heard(&self, change: &Change, heard: Time) -> bool {
        change.at < heard && self.held.is_none_or(|from| change.version < from)
    }

    /// Keeps all from a version on, as far as it keeps anything.
    pub fn hold(&mut self, from: Option<u64>) {
        self.held = from;
    }

    /// The first write that not everybody has heard of, if there is one.
    pub fn first_unheard(&self, heard: Time) -> Option<u64> {
        self.changes.iter().find(|it| it.at >= heard).map(|it| it.version)
    }

    /// The write of a version; nothing where it is no longer kept.
    pub fn get(&self, version: u64) -> Option<&Rc<Change>> {
        // Every write has a version of its own, one after the other.
        let first = self.changes.front()?.version;
        let index = usize::try_from(version.checked_sub(first)?).ok()?;
        self.changes.get(index)
    }
}
