use std::collections::VecDeque;
use std::hash::Hash;
use std::rc::Rc;

use crate::api::{Name, ObjectKey};
use crate::sim::{Map, Seq, Time, TraceDigest};

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
    /// How many were dropped from the front.
    dropped: usize,
    /// The number of the newest Event with a digest, counted from the very first.
    known: Map<u64, usize>,
}

impl EventLog {
    pub const LIMIT: usize = 5_000;
    pub fn record(&mut self, draft: Rc<EventDraft>, at: Time, seq: Seq) {
        let digest = digest(&draft);
        let known = self.known.get(&digest).and_then(|number| number.checked_sub(self.dropped));
        let known = known.and_then(|index| self.events.get_mut(index));
        if let Some(known) = known.filter(|event| event.draft == draft) {
            (known.count, known.last, known.seq) = (known.count + 1, at, seq);
            return;
        }
        if self.events.len() == Self::LIMIT {
            self.drop_first();
        }
        self.known.insert(digest, self.dropped + self.events.len());
        self.events.push_back(KubeEvent { draft, count: 1, first: at, last: at, seq });
    }

    fn drop_first(&mut self) {
        let Some(first) = self.events.pop_front() else { return };
        let digest = digest(&first.draft);
        if self.known.get(&digest) == Some(&self.dropped) {
            self.known.remove(&digest);
        }
        self.dropped += 1;
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

fn digest(draft: &EventDraft) -> u64 {
    let mut digest = TraceDigest::default();
    draft.hash(&mut digest);
    digest.value()
}
