use std::hash::Hash;
use std::rc::Rc;

use crate::api::{Name, ObjectKey};
use crate::sim::{Digest, Digested, Millis, Seq, Time, TraceDigest};

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
    events: Digested<KubeEvent>,
    similar: Digested<Similar>,
    /// Until when each object's allowance of Events is used up.
    spent: Digested<Time>,
}

/// Events of one reason about one object.
#[derive(Clone, Debug, Default)]
struct Similar {
    /// Digests of their messages, of which there is mostly one.
    first: Option<u64>,
    others: Vec<u64>,
    last: Time,
}

/// What many similar Events are told as (`EventAggregatorByReasonMessageFunc`).
const COMBINED: &str = "(combined from similar events): ";
/// So many different messages are told one by one, unless there was none of them for so long
/// (`client-go/tools/record/events_cache.go`, v1.36).
const MOST_SIMILAR: usize = 10;
const SIMILAR_FOR: Millis = Millis(600_000);
/// So many Events about one object are sent at once, and one more every five minutes; others are dropped
/// (`EventSourceObjectSpamFilter`).
const BURST: u64 = 25;
const REFILL: Millis = Millis(300_000);
/// Of so many objects and reasons a recorder knows (`maxLruCacheEntries`).
const MOST_KNOWN: usize = 4_096;

impl EventLog {
    pub const LIMIT: usize = 5_000;

    /// What becomes of an Event at its recorder: the tenth of many similar ones, and all later ones, are combined; what
    /// is too much is dropped.
    pub fn correlate(&mut self, mut draft: EventDraft, now: Time) -> Option<EventDraft> {
        // The scheduler's recorder is of another make (`client-go/tools/events`).
        if draft.component == "default-scheduler" {
            return Some(draft);
        }
        let mut key = Digest::default();
        for part in [draft.component, draft.about.kind.name(), &draft.about.namespace, &draft.about.name] {
            key.bytes(part.as_bytes());
            key.bytes(b"/");
        }
        let object = key.value();
        key.bytes(draft.reason.as_bytes());
        let mut message = Digest::default();
        message.bytes(draft.message.as_bytes());
        if self.similar.len() >= MOST_KNOWN {
            (self.similar, self.spent) = Default::default();
        }
        let known = self.similar.or_default(key.value());
        if now.since(known.last) > SIMILAR_FOR {
            (known.first, known.others) = Default::default();
        }
        known.last = now;
        if *known.first.get_or_insert(message.value()) != message.value() && !known.others.contains(&message.value()) {
            known.others.push(message.value());
        }
        if known.others.len() + 1 >= MOST_SIMILAR {
            known.others.pop();
            draft.message.insert_str(0, COMBINED);
        }
        // A kubelet's are told apart by more than the object; the recordings show no such limit.
        if draft.component == "kubelet" {
            return Some(draft);
        }
        let spent = self.spent.or_default(object);
        let from = (*spent).max(now);
        if from.since(now).0 > (BURST - 1) * REFILL.0 {
            return None;
        }
        *spent = from + REFILL;
        Some(draft)
    }

    /// The recorders' memory goes with their process.
    pub fn forget(&mut self) {
        (self.similar, self.spent) = Default::default();
    }

    pub fn record(&mut self, draft: Rc<EventDraft>, at: Time, seq: Seq) {
        let digest = digest(&draft);
        if let Some(known) = self.events.get_mut(digest).filter(|event| is_same(&event.draft, &draft)) {
            *known = KubeEvent { draft, count: known.count + 1, first: known.first, last: at, seq };
            return;
        }
        if self.events.len() == Self::LIMIT {
            self.events.pop_front();
        }
        self.events.push(digest, KubeEvent { draft, count: 1, first: at, last: at, seq });
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

impl EventDraft {
    fn is_combined(&self) -> bool {
        self.message.starts_with(COMBINED)
    }
}

/// Whether an Event only counts another one up: combined ones do whatever they say.
fn is_same(known: &EventDraft, draft: &EventDraft) -> bool {
    let is_like = || known.about == draft.about && known.reason == draft.reason;
    *known == *draft || known.is_combined() && draft.is_combined() && is_like()
}

/// The same for Events that are the same.
fn digest(draft: &EventDraft) -> u64 {
    let mut digest = TraceDigest::default();
    match draft.is_combined() {
        true => (&draft.about, draft.reason, COMBINED).hash(&mut digest),
        false => draft.hash(&mut digest),
    }
    digest.value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Kind;

    fn told(log: &mut EventLog, number: usize, at: u64) -> Option<String> {
        let about = ObjectKey::new(Kind::ReplicaSet, "default", "web");
        let (reason, component) = ("SuccessfulCreate", "replicaset-controller");
        let message = format!("Created pod: web-{number}");
        let draft = EventDraft { about, is_warning: false, reason, message, component };
        let draft = log.correlate(draft, Time(at))?;
        log.record(Rc::new(draft.clone()), Time(at), Seq(1));
        Some(draft.message)
    }

    /// Recordings `d1_rolling_10_default` (ten creations) and `g_proportional_scaling` (25 Events of one ReplicaSet).
    #[test]
    fn the_tenth_of_its_like_is_combined_and_the_26th_about_an_object_is_dropped() {
        let mut log = EventLog::default();
        let told_now: Vec<Option<String>> = (1..=26).map(|number| told(&mut log, number, 0)).collect();
        assert_eq!(told_now[8].as_deref(), Some("Created pod: web-9"));
        assert_eq!(told_now[9].as_deref(), Some("(combined from similar events): Created pod: web-10"));
        assert_eq!(told_now[24].as_deref(), Some("(combined from similar events): Created pod: web-25"));
        assert_eq!(told_now[25], None);
        assert_eq!(log.iter().map(|event| event.count).collect::<Vec<_>>(), [1, 1, 1, 1, 1, 1, 1, 1, 1, 16]);
        assert_eq!(told(&mut log, 1, 700_000).as_deref(), Some("Created pod: web-1"), "after ten quiet minutes");
    }
}
