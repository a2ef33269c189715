//! Which fields changed hands: the newest changes of what is asked of objects, field by field, for those who want to
//! see two writers fight.

use std::collections::VecDeque;
use std::rc::Rc;

use serde_json::Value;

use crate::api::{Kind, ManagerId, Name, ObjectKey};
use crate::sim::{Seq, Time};

/// One field's change by one write.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldWrite {
    pub key: ObjectKey,
    /// As in [`crate::api::FieldSet`].
    pub path: Name,
    pub by: ManagerId,
    pub at: Time,
    /// The trace event of the write.
    pub seq: Seq,
    /// Null where the field was not there.
    pub from: Value,
    /// Null where it went.
    pub to: Value,
}

/// The newest changes, oldest first. Copies share them.
#[derive(Clone, Debug, Default)]
pub struct FieldLog(VecDeque<Rc<FieldWrite>>);

impl FieldLog {
    /// Changes kept.
    pub const LIMIT: usize = 1_000;

    /// Whether changes of a kind's fields are kept: what people and several programs write.
    pub fn covers(kind: Kind) -> bool {
        !matches!(kind, Kind::Pod | Kind::Node | Kind::Lease | Kind::EndpointSlice | Kind::Endpoints | Kind::Event)
    }

    pub(super) fn note(&mut self, write: FieldWrite) {
        if self.0.len() == Self::LIMIT {
            self.0.pop_front();
        }
        self.0.push_back(Rc::new(write));
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &FieldWrite> {
        self.0.iter().map(|it| &**it)
    }
}
