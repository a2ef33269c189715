use std::hash::Hash;
use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

use super::ring::{Ring, Roots};
use super::{Logged, Time, TraceDigest};

/// The number of a trace event, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

/// An event without what happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub seq: Seq,
    pub root: Seq,
    pub cause: Option<Seq>,
    pub at: Time,
}

/// Everything that happened, the newest part of it kept.
///
/// Background events have a ring of their own, so that heartbeats never push out what a person looks for.
#[derive(Clone, Debug)]
pub struct Trace<P> {
    kept: Ring,
    background: Ring,
    of: PhantomData<P>,
    last: u64,
    visible: u64,
    digest: TraceDigest,
    roots: Roots,
}

impl<P> Default for Trace<P> {
    fn default() -> Self {
        Self {
            kept: Ring::default(),
            background: Ring::default(),
            of: PhantomData,
            last: 0,
            visible: 0,
            digest: TraceDigest::default(),
            roots: Roots::default(),
        }
    }
}

impl<P: Hash + Logged> Trace<P> {
    /// Events kept for reading; older ones are dropped, the digest still covers them.
    pub const LIMIT: usize = 20_000;
    pub const BACKGROUND_LIMIT: usize = 2_000;

    /// Records an event and returns its number.
    pub fn record(&mut self, at: Time, cause: Option<Seq>, is_background: bool, what: P) -> Seq {
        self.last += 1;
        let seq = Seq(self.last);
        debug_assert!(cause.map_or(what.may_begin(), |it| it < seq && it.0 > 0), "event {} has no cause", self.last);
        let root = cause.map_or(seq, |cause| self.root_of(cause));
        self.roots.note(seq, root);
        let event = TraceEvent { seq, at, cause, root, is_background, what };
        event.hash(&mut self.digest);
        let (ring, limit) = if is_background {
            (&mut self.background, Self::BACKGROUND_LIMIT)
        } else {
            self.visible += 1;
            (&mut self.kept, Self::LIMIT)
        };
        ring.push(&event, limit);
        seq
    }

    /// The event that an event's chain of causes begins with, whether or not it is kept; of one too old to be known,
    /// itself.
    pub fn known_root(&self, seq: Seq) -> Seq {
        self.root_of(seq)
    }

    /// Number, time, cause and root of the kept events after one, in order, heartbeats among them.
    pub fn heads_after(&self, seq: Seq) -> impl Iterator<Item = Head> {
        let (mut kept, mut background) =
            (self.kept.heads_after(seq).peekable(), self.background.heads_after(seq).peekable());
        std::iter::from_fn(move || match (kept.peek(), background.peek()) {
            (Some(a), Some(b)) if a.seq < b.seq => kept.next(),
            (_, Some(_)) => background.next(),
            _ => kept.next(),
        })
    }

    /// The root of the newest event.
    pub fn newest_root(&self) -> Seq {
        self.root_of(Seq(self.last))
    }

    /// The root of an event; of one too old to be known, itself.
    fn root_of(&self, seq: Seq) -> Seq {
        let is_known = seq.0 > 0 && seq.0 <= self.last && self.last - seq.0 < Roots::LEN;
        self.roots.get(seq).filter(|_| is_known).unwrap_or(seq)
    }

    pub fn get(&self, seq: Seq) -> Option<TraceEvent<P>> {
        let kept = self.kept.find(seq).and_then(|index| self.kept.read(index, false));
        kept.or_else(|| self.background.read(self.background.find(seq)?, true))
    }

    /// The event that an event's chain of causes begins with, while the event is kept.
    pub fn root(&self, seq: Seq) -> Option<Seq> {
        let root = |ring: &Ring| ring.root(ring.find(seq)?);
        root(&self.kept).or_else(|| root(&self.background))
    }

    /// The kept events that are not background, oldest first.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = TraceEvent<P>> {
        (0..self.kept.len()).filter_map(|index| self.kept.read(index, false))
    }

    /// All kept events, in order.
    pub fn all_events(&self) -> impl Iterator<Item = TraceEvent<P>> {
        let background = (0..self.background.len()).filter_map(|index| self.background.read(index, true));
        let (mut kept, mut background) = (self.events().peekable(), background.peekable());
        std::iter::from_fn(move || match (kept.peek(), background.peek()) {
            (Some(a), Some(b)) if a.seq < b.seq => kept.next(),
            (_, Some(_)) => background.next(),
            _ => kept.next(),
        })
    }

    pub fn last(&self) -> Option<TraceEvent<P>> {
        self.kept.read(self.kept.len().checked_sub(1)?, false)
    }

    /// The oldest kept event that is not background.
    pub fn oldest_seq(&self) -> Seq {
        self.kept.first().unwrap_or(Seq(0))
    }

    pub fn last_seq(&self) -> Seq {
        Seq(self.last)
    }

    /// The place of a kept event among those that are not background, counted from 1: what a person follows.
    pub fn number(&self, seq: Seq) -> Option<u64> {
        self.kept.find(seq).map(|index| (self.kept.dropped() + index) as u64 + 1)
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
    use super::super::{Log, LogReader};
    use super::*;

    impl Logged for &'static str {
        fn write(&self, log: &mut Log) {
            log.word(self);
        }

        fn read(from: &mut LogReader<'_>) -> Self {
            from.word()
        }
    }

    impl Logged for u64 {
        fn write(&self, log: &mut Log) {
            log.number(*self);
        }

        fn read(from: &mut LogReader<'_>) -> Self {
            from.number()
        }
    }

    #[test]
    fn the_newest_events_are_kept_and_older_ones_dropped_one_by_one() {
        let mut trace = Trace::default();
        let limit = Trace::<u64>::BACKGROUND_LIMIT as u64;
        for number in 1..=3 * limit {
            trace.record(Time(number), None, true, number * 1_000);
            let (first, last) = (number.saturating_sub(limit) + 1, trace.get(Seq(number)));
            assert_eq!(last.map(|event| event.what), Some(number * 1_000));
            assert_eq!(trace.get(Seq(first)).map(|event| event.what), Some(first * 1_000));
            assert_eq!(trace.get(Seq(first - 1)), None);
        }
        assert!(trace.all_events().map(|event| event.what).eq((2 * limit + 1..=3 * limit).map(|it| it * 1_000)));
    }

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
    fn events_are_numbered_without_gaps_whatever_is_background_or_dropped() {
        let mut trace = Trace::default();
        let limit = Trace::<u64>::LIMIT as u64;
        for round in 1..=limit + 600 {
            let hum = trace.record(Time(round), None, true, 0_u64);
            let seq = trace.record(Time(round), Some(hum), false, round);
            assert_eq!((trace.number(seq), trace.number(hum)), (Some(round), None));
        }
        assert!(trace.events().map(|it| trace.number(it.seq)).eq((601..=limit + 600).map(Some)));
    }

    #[test]
    fn the_digest_depends_on_order() {
        let (mut a, mut b) = (Trace::default(), Trace::default());
        a.record(Time(0), None, false, 1_u64);
        a.record(Time(0), None, false, 2_u64);
        b.record(Time(0), None, false, 2_u64);
        b.record(Time(0), None, false, 1_u64);
        assert_ne!(a.digest(), b.digest());
    }
}
