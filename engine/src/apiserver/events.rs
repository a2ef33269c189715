use std::collections::VecDeque;
use std::rc::Rc;

use crate::api::{Name, ObjectKey};
use crate::sim::{Seq, Time};

/// A Kubernetes Event as its recorder hands it over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EventDraft {
    pub about: ObjectKey,
    pub is_warning: bool,
    pub reason: &'static str,
    pub message: String,
    pub component: &'static str,
}

/// An Event as the API server keeps it; the same message again only raises the count.
#[derive(Clone, Debug, PartialEq)]
pub struct KubeEvent {
    pub draft: Rc<EventDraft>,
    pub count: u32,
    pub first: Time,
    pub last: Time,
    pub seq: Seq,
}

/// The newest Events. The real API server keeps them for an hour; here their number is limited as well.
#[derive(Clone, Debug, Default)]
pub struct EventLog {
    events: VecDeque<KubeEvent>,
}

impl EventLog {
    pub const LIMIT: usize = 5_000;
    /// How far back a repeated message is looked for, which keeps recording cheap in bursts.
    const RECENT: usize = 64;

    pub fn record(&mut self, draft: Rc<EventDraft>, at: Time, seq: Seq) {
        if let Some(known) = self.events.iter_mut().rev().take(Self::RECENT).find(|event| event.draft == draft) {
            known.count += 1;
            known.last = at;
            known.seq = seq;
            return;
        }
        if self.events.len() == Self::LIMIT {
            self.events.pop_front();
        }
        self.events.push_back(KubeEvent { draft, count: 1, first: at, last: at, seq });
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &KubeEvent> {
        self.events.iter()
    }

    pub fn about<'a>(
        &'a self,
        kind: crate::api::Kind,
        namespace: &'a Name,
        name: &'a Name,
    ) -> impl Iterator<Item = &'a KubeEvent> {
        self.events.iter().filter(move |event| {
            event.draft.about.name == *name
                && event.draft.about.kind == kind
                && event.draft.about.namespace == *namespace
        })
    }
}
