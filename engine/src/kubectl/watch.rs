//! Waiting for changes: `get -w`, and the watch log for all who wait.

use super::get::Look;
use super::selector::Selector;
use super::tab::Table;
use super::{Cluster, Output, Waiting, reference};
use crate::api::{Kind, Name, Object, ObjectKey};
use crate::apiserver::{Change, ChangeKind};

/// How far a watcher has read the log.
#[derive(Clone, Copy, Debug)]
pub struct Place(u64);

impl Place {
    /// From now on.
    pub fn now(cluster: &dyn Cluster) -> Self {
        Self(cluster.api().version())
    }

    /// The next write that is in the log; those that have fallen out of it are passed over.
    pub fn next(&mut self, cluster: &dyn Cluster) -> Option<std::rc::Rc<Change>> {
        let newest = cluster.api().version();
        while self.0 < newest {
            self.0 += 1;
            if let Some(change) = cluster.api().change(self.0) {
                return Some(std::rc::Rc::clone(change));
            }
        }
        None
    }
}

/// `kubectl get -w`: a row for every change.
pub struct Watch {
    kind: Kind,
    key: Option<ObjectKey>,
    space: Option<Name>,
    selector: Selector,
    look: Look,
    table: Table,
    has_header: bool,
    place: Place,
    pub names_only: bool,
    /// When the request ends, in milliseconds since 1970: `--request-timeout`.
    pub until: Option<i64>,
}

impl Watch {
    pub fn new(
        cluster: &dyn Cluster,
        kind: Kind,
        key: Option<ObjectKey>,
        space: Option<Name>,
        selector: Selector,
        look: Look,
    ) -> Self {
        let place = Place::now(cluster);
        let table = Table::default();
        Self { kind, key, space, selector, look, table, has_header: false, place, names_only: false, until: None }
    }

    pub fn print(&mut self, objects: &[Object], now: i64, out: &mut Output) {
        if objects.is_empty() {
            return;
        }
        if self.names_only {
            for object in objects {
                out.out(&[&reference(&object.key()), "\n"].concat());
            }
            return;
        }
        let rows = self.look.rows(self.kind, objects, now, !self.has_header);
        self.has_header = true;
        out.out(&self.table.print(&rows));
    }

    fn is_meant(&self, object: &Object) -> bool {
        self.selector.matches(object)
            && self.key.as_ref().is_none_or(|key| *key == object.key())
            && self.space.as_ref().is_none_or(|space| *space == object.meta().namespace)
    }
}

impl Waiting for Watch {
    fn look(&mut self, cluster: &mut dyn Cluster, out: &mut Output) -> Option<i32> {
        while let Some(change) = self.place.next(cluster) {
            if change.key.kind != self.kind {
                continue;
            }
            let now = cluster.wall_of(change.at);
            let was_meant = change.old.as_ref().is_some_and(|old| self.is_meant(old));
            if self.is_meant(&change.object) || (was_meant && change.kind != ChangeKind::Added) {
                self.print(std::slice::from_ref(&change.object), now, out);
            }
        }
        // kubectl says nothing of that end, and takes it for a good one.
        self.until.filter(|until| cluster.wall_millis() >= *until).map(|_| 0)
    }

    fn due(&self) -> Option<i64> {
        self.until
    }
}
