use std::collections::VecDeque;

use crate::api::ObjectKey;
use crate::sim::{Map, Millis, Seq, Set, Time};

/// A work queue with one slot for each key (`client-go/util/workqueue`, v1.36).
///
/// A key that is added while it waits is not added twice; one added while it is worked on runs again afterwards.
/// The first reason for a key's turn is kept for the trace; the reconciler never sees it.
#[derive(Clone, Debug, Default)]
pub struct WorkQueue {
    ready: VecDeque<ObjectKey>,
    /// Keys in `ready`, and keys that changed while being worked on.
    dirty: Map<ObjectKey, Seq>,
    running: Set<ObjectKey>,
    delayed: Map<ObjectKey, (Time, Seq)>,
    failures: Map<ObjectKey, u32>,
}

impl WorkQueue {
    /// Base and cap of the back-off after failures (`DefaultTypedControllerRateLimiter`).
    const BACKOFF_BASE: Millis = Millis(5);
    const BACKOFF_CAP: Millis = Millis(1_000_000);

    /// Asks for a turn of a key. Returns whether the queue did not already hold it.
    pub fn add(&mut self, key: ObjectKey, reason: Seq) -> bool {
        if self.dirty.contains_key(&key) {
            return false;
        }
        self.dirty.insert(key.clone(), reason);
        if !self.running.contains(&key) {
            self.ready.push_back(key);
        }
        true
    }

    /// Asks for a turn later. An earlier one that was asked for before stays.
    pub fn add_at(&mut self, key: ObjectKey, at: Time, reason: Seq) -> bool {
        match self.delayed.get(&key) {
            Some((known, _)) if *known <= at => false,
            _ => {
                self.delayed.insert(key, (at, reason));
                true
            }
        }
    }

    /// Moves a delayed key whose time has come into the queue.
    pub fn release(&mut self, key: &ObjectKey, now: Time) -> bool {
        match self.delayed.get(key) {
            Some((at, reason)) if *at <= now => {
                let reason = *reason;
                self.delayed.remove(key);
                self.add(key.clone(), reason)
            }
            _ => false,
        }
    }

    /// Takes the next key to work on, with the reason for its turn.
    pub fn take(&mut self) -> Option<(ObjectKey, Seq)> {
        let key = self.ready.pop_front()?;
        let reason = self.dirty.remove(&key).unwrap_or(Seq(0));
        self.running.add(key.clone());
        Some((key, reason))
    }

    /// Ends a key's turn. Returns whether it must run again.
    pub fn done(&mut self, key: &ObjectKey) -> bool {
        self.running.remove(key);
        let again = self.dirty.contains_key(key);
        if again {
            self.ready.push_back(key.clone());
        }
        again
    }

    /// Notes a failure and says how long to wait before the next try.
    pub fn backoff(&mut self, key: &ObjectKey) -> Millis {
        let failures = self.failures.or_default(key.clone());
        let delay = Self::BACKOFF_BASE.0.checked_shl(*failures).unwrap_or(u64::MAX).min(Self::BACKOFF_CAP.0);
        *failures = (*failures + 1).min(40);
        Millis(delay)
    }

    pub fn forget(&mut self, key: &ObjectKey) {
        self.failures.remove(key);
    }

    pub fn waiting(&self) -> impl Iterator<Item = &ObjectKey> {
        self.ready.iter()
    }

    pub fn running(&self) -> impl Iterator<Item = &ObjectKey> {
        self.running.keys()
    }

    /// Keys that changed while being worked on.
    pub fn again(&self) -> impl Iterator<Item = &ObjectKey> {
        self.running.keys().filter(|key| self.dirty.contains_key(*key))
    }

    pub fn delayed(&self) -> impl Iterator<Item = (&ObjectKey, Time)> {
        self.delayed.iter().map(|(key, (at, _))| (key, *at))
    }

    pub fn n_running(&self) -> usize {
        self.running.len()
    }

    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Forgets everything, as a crashed process does.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Kind;

    fn key(name: &str) -> ObjectKey {
        ObjectKey::new(Kind::Pod, "default", name)
    }

    #[test]
    fn a_key_that_waits_is_not_added_twice() {
        let mut queue = WorkQueue::default();
        assert!(queue.add(key("a"), Seq(1)));
        assert!(!queue.add(key("a"), Seq(2)));
        assert_eq!(queue.take(), Some((key("a"), Seq(1))));
        assert_eq!(queue.take(), None);
    }

    #[test]
    fn a_key_added_while_it_is_worked_on_runs_again() {
        let mut queue = WorkQueue::default();
        queue.add(key("a"), Seq(1));
        queue.take();
        assert!(queue.add(key("a"), Seq(2)));
        assert_eq!(queue.take(), None);
        assert!(queue.done(&key("a")));
        assert_eq!(queue.take(), Some((key("a"), Seq(2))));
    }

    #[test]
    fn failures_double_the_wait_up_to_a_thousand_seconds() {
        let mut queue = WorkQueue::default();
        let waits: Vec<u64> = (0..4).map(|_| queue.backoff(&key("a")).0).collect();
        assert_eq!(waits, [5, 10, 20, 40]);
        let last = (0..60).map(|_| queue.backoff(&key("a")).0).last();
        assert_eq!(last, Some(1_000_000));
        queue.forget(&key("a"));
        assert_eq!(queue.backoff(&key("a")), Millis(5));
    }

    #[test]
    fn of_two_delays_the_earlier_counts() {
        let mut queue = WorkQueue::default();
        assert!(queue.add_at(key("a"), Time(100), Seq(1)));
        assert!(!queue.add_at(key("a"), Time(200), Seq(2)));
        assert!(queue.add_at(key("a"), Time(50), Seq(3)));
        assert!(!queue.release(&key("a"), Time(49)));
        assert!(queue.release(&key("a"), Time(50)));
        assert_eq!(queue.take(), Some((key("a"), Seq(3))));
    }
}
