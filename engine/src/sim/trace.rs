use std::collections::VecDeque;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use super::{Time, TraceDigest};

/// The number of a trace event, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Seq(pub u64);

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct TraceEvent<P> {
    pub seq: Seq,
    pub at: Time,
    /// The event this one follows from; none for what begins a chain: a command, a fault, the clock.
    pub cause: Option<Seq>,
    /// The event that the chain of causes begins with; the event itself where it begins one.
    pub root: Seq,
    /// Part of the steady hum (heartbeats and what follows from them) that lists leave out.
    pub is_background: bool,
    pub what: P,
}

/// Everything that happened, the newest part of it kept.
///
/// Background events have a ring of their own, so that heartbeats never push out what a person looks for.
#[derive(Clone, Debug)]
pub struct Trace<P> {
    kept: VecDeque<TraceEvent<P>>,
    background: VecDeque<TraceEvent<P>>,
    last: u64,
    visible: u64,
    digest: TraceDigest,
    /// The root of each of the newest events, at its number modulo the length.
    roots: Vec<Seq>,
}

impl<P> Default for Trace<P> {
    fn default() -> Self {
        Self {
            kept: VecDeque::new(),
            background: VecDeque::new(),
            last: 0,
            visible: 0,
            digest: TraceDigest::default(),
            roots: Vec::new(),
        }
    }
}

impl<P: Hash> Trace<P> {
    /// Events kept for reading; older ones are dropped, the digest still covers them.
    pub const LIMIT: usize = 20_000;
    pub const BACKGROUND_LIMIT: usize = 2_000;
    /// Events back to which roots are known.
    const ROOTS: usize = 1 << 16;

    /// Records an event and returns its number.
    pub fn record(&mut self, at: Time, cause: Option<Seq>, is_background: bool, what: P) -> Seq {
        self.last += 1;
        let seq = Seq(self.last);
        let root = cause.map_or(seq, |cause| self.root_of(cause));
        self.note_root(seq, root);
        let event = TraceEvent { seq, at, cause, root, is_background, what };
        event.hash(&mut self.digest);
        let (ring, limit) = if is_background {
            (&mut self.background, Self::BACKGROUND_LIMIT)
        } else {
            self.visible += 1;
            (&mut self.kept, Self::LIMIT)
        };
        if ring.len() == limit {
            ring.pop_front();
        }
        ring.push_back(event);
        seq
    }

    fn note_root(&mut self, seq: Seq, root: Seq) {
        let slot = (seq.0 % Self::ROOTS as u64) as usize;
        if slot == self.roots.len() {
            self.roots.push(root);
        } else if let Some(known) = self.roots.get_mut(slot) {
            *known = root;
        } else {
            // The first event has number 1.
            self.roots.resize(slot, Seq(0));
            self.roots.push(root);
        }
    }

    /// The root of an event; of one too old to be known, itself.
    fn root_of(&self, seq: Seq) -> Seq {
        let is_known = seq.0 <= self.last && self.last - seq.0 < Self::ROOTS as u64;
        let root = self.roots.get((seq.0 % Self::ROOTS as u64) as usize);
        root.copied().filter(|_| is_known && seq.0 > 0).unwrap_or(seq)
    }

    pub fn get(&self, seq: Seq) -> Option<&TraceEvent<P>> {
        let find = |ring: &VecDeque<TraceEvent<P>>| ring.binary_search_by_key(&seq, |event| event.seq).ok();
        find(&self.kept)
            .map(|index| &self.kept[index])
            .or_else(|| find(&self.background).map(|index| &self.background[index]))
    }

    /// The kept events that are not background, oldest first.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = &TraceEvent<P>> {
        self.kept.iter()
    }

    /// All kept events, in order.
    pub fn all_events(&self) -> impl Iterator<Item = &TraceEvent<P>> {
        let (mut kept, mut background) = (self.kept.iter().peekable(), self.background.iter().peekable());
        std::iter::from_fn(move || match (kept.peek(), background.peek()) {
            (Some(a), Some(b)) if a.seq < b.seq => kept.next(),
            (_, Some(_)) => background.next(),
            _ => kept.next(),
        })
    }

    pub fn last(&self) -> Option<&TraceEvent<P>> {
        self.kept.back()
    }

    pub fn last_seq(&self) -> Seq {
        Seq(self.last)
    }

    /// How many events so far are not background.
    pub fn visible_count(&self) -> u64 {
        self.visible
    }

    /// A number over every event so far: equal traces have equal digests, on every platform.
    pub fn digest(&self) -> u64 {
        self.digest.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_knows_the_root_of_its_chain() {
        let mut trace = Trace::default();
        let command = trace.record(Time(0), None, false, "command");
        let write = trace.record(Time(1), Some(command), false, "write");
        trace.record(Time(1), None, true, "clock");
        let watch = trace.record(Time(2), Some(write), false, "watch");
        assert_eq!(trace.get(watch).map(|event| event.root), Some(command));
        assert_eq!(
            trace.all_events().map(|event| event.what).collect::<Vec<_>>(),
            ["command", "write", "clock", "watch"]
        );
        assert_eq!(trace.visible_count(), 3);
    }

    #[test]
    fn the_digest_depends_on_order() {
        let (mut a, mut b) = (Trace::default(), Trace::default());
        a.record(Time(0), None, false, 1);
        a.record(Time(0), None, false, 2);
        b.record(Time(0), None, false, 2);
        b.record(Time(0), None, false, 1);
        assert_ne!(a.digest(), b.digest());
    }
}
