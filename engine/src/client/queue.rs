use std::collections::VecDeque;

use super::TokenBucket;
use crate::api::ObjectKey;
use crate::sim::{Map, Millis, Seq, Time};

/// A work queue with one slot for each key (`client-go/util/workqueue`, v1.36).
///
/// A key that is added while it waits is not added twice; one added while it is worked on runs again afterwards.
/// The first reason for a key's turn is kept for the trace; the reconciler never sees it.
#[derive(Clone, Debug, Default)]
pub struct WorkQueue {
    /// Higher ranks first, then in order of arrival.
    ready: VecDeque<(i64, ObjectKey)>,
    /// Keys in `ready`, and keys that are worked on.
    held: Map<ObjectKey, Held>,
    n_running: usize,
    delayed: Map<ObjectKey, (Time, Seq)>,
    failures: Map<ObjectKey, u32>,
    retries: TokenBucket,
}

#[derive(Clone, Copy, Debug, Default)]
struct Held {
    /// The rank and the reason of the turn that it waits for; of one that is worked on, the turn after.
    waits: Option<(i64, Seq)>,
    is_running: bool,
}

impl WorkQueue {
    /// Base and cap of the back-off after failures (`DefaultTypedControllerRateLimiter`).
    pub const BACKOFF: (Millis, Millis) = (Millis(5), Millis(1_000_000));
    /// All keys together are tried again 10 times a second, 100 at once.
    const RETRY_INTERVAL: Millis = Millis(100);
    const RETRY_BURST: u32 = 100;

    /// Asks for a turn of a key. Returns whether the queue did not already hold it.
    pub fn add(&mut self, key: ObjectKey, reason: Seq) -> bool {
        self.add_ranked(key, reason, 0)
    }

    /// As [`WorkQueue::add`], ahead of all keys of lower rank.
    pub fn add_ranked(&mut self, key: ObjectKey, reason: Seq, rank: i64) -> bool {
        let held = self.held.or_default(key.clone());
        if held.waits.is_some() {
            return false;
        }
        held.waits = Some((rank, reason));
        if !held.is_running {
            self.push(rank, key);
        }
        true
    }

    fn push(&mut self, rank: i64, key: ObjectKey) {
        if self.ready.back().is_none_or(|(last, _)| *last >= rank) {
            self.ready.push_back((rank, key));
        } else {
            let at = self.ready.partition_point(|(other, _)| *other >= rank);
            self.ready.insert(at, (rank, key));
        }
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
    pub fn release(&mut self, key: &ObjectKey, now: Time, rank: i64) -> bool {
        match self.delayed.get(key) {
            Some((at, reason)) if *at <= now => {
                let reason = *reason;
                self.delayed.remove(key);
                self.add_ranked(key.clone(), reason, rank)
            }
            _ => false,
        }
    }

    /// Takes the next key to work on, with the reason for its turn.
    pub fn take(&mut self) -> Option<(ObjectKey, Seq)> {
        let (_, key) = self.ready.pop_front()?;
        let held = self.held.get_mut(&key)?;
        held.is_running = true;
        self.n_running += 1;
        let (_, reason) = held.waits.take()?;
        Some((key, reason))
    }

    /// Ends a key's turn. Returns whether it must run again.
    pub fn done(&mut self, key: &ObjectKey) -> bool {
        let Some(held) = self.held.get_mut(key) else { return false };
        self.n_running -= usize::from(held.is_running);
        held.is_running = false;
        match held.waits {
            Some((rank, _)) => self.push(rank, key.clone()),
            None => {
                self.held.remove(key);
                self.held.tidy();
                return false;
            }
        }
        true
    }

    /// Notes a failure and says how long to wait before the next try: the key's own back-off, from a base on and up to
    /// a cap, or the overall limit where that is longer.
    pub fn backoff(&mut self, key: &ObjectKey, (base, cap): (Millis, Millis), now: Time) -> Millis {
        let failures = self.failures.or_default(key.clone());
        let delay = base.0.checked_shl(*failures).unwrap_or(u64::MAX).min(cap.0);
        *failures = (*failures + 1).min(40);
        Millis(delay).max(self.retries.take(now, Self::RETRY_INTERVAL, Self::RETRY_BURST))
    }

    /// How long a key waits that asks for another turn of its own accord: that is no failure, so only the overall limit
    /// ever makes it longer.
    pub fn rate_limited(&mut self, key: &ObjectKey, backoff: (Millis, Millis), now: Time) -> Millis {
        let delay = self.backoff(key, backoff, now);
        self.forget(key);
        delay
    }

    pub fn forget(&mut self, key: &ObjectKey) {
        if !self.failures.is_empty() {
            self.failures.remove(key);
        }
    }

    pub fn waiting(&self) -> impl Iterator<Item = &ObjectKey> {
        self.ready.iter().map(|(_, key)| key)
    }

    /// Whether a key that is worked on has changed meanwhile.
    pub fn runs_again(&self, key: &ObjectKey) -> bool {
        self.held.get(key).is_some_and(|held| held.is_running && held.waits.is_some())
    }

    /// The key waits without a delay, or is worked on.
    pub fn holds(&self, key: &ObjectKey) -> bool {
        self.held.contains_key(key)
    }

    pub fn delayed(&self) -> impl Iterator<Item = (&ObjectKey, Time)> {
        self.delayed.iter().map(|(key, (at, _))| (key, *at))
    }

    /// Why a delayed key is to run.
    pub fn delay_reason(&self, key: &ObjectKey) -> Option<Seq> {
        self.delayed.get(key).map(|(_, reason)| *reason)
    }

    /// How often in a row a key's turn has failed.
    pub fn failures(&self, key: &ObjectKey) -> u32 {
        self.failures.get(key).copied().unwrap_or(0)
    }

    pub fn n_running(&self) -> usize {
        self.n_running
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
        let waits: Vec<u64> = (0..4).map(|_| queue.backoff(&key("a"), WorkQueue::BACKOFF, Time(0)).0).collect();
        assert_eq!(waits, [5, 10, 20, 40]);
        let last = (0..60).map(|_| queue.backoff(&key("a"), WorkQueue::BACKOFF, Time(0)).0).last();
        assert_eq!(last, Some(1_000_000));
        queue.forget(&key("a"));
        assert_eq!(queue.backoff(&key("a"), WorkQueue::BACKOFF, Time(0)), Millis(5));
    }

    #[test]
    fn many_failing_keys_share_ten_retries_a_second() {
        let mut queue = WorkQueue::default();
        let waits: Vec<u64> =
            (0..103).map(|n| queue.backoff(&key(&n.to_string()), WorkQueue::BACKOFF, Time(0)).0).collect();
        assert_eq!(waits[..100], [5; 100]);
        assert_eq!(waits[100..], [100, 200, 300]);
    }

    #[test]
    fn a_key_that_asks_again_and_again_gets_ten_turns_a_second() {
        let mut queue = WorkQueue::default();
        let mut now = Time(0);
        let mut due = || {
            now = now + queue.rate_limited(&key("a"), WorkQueue::BACKOFF, now);
            now.0
        };
        let turns: Vec<u64> = (0..400).map(|_| due()).collect();
        assert_eq!(turns[..3], [5, 10, 15]);
        assert_eq!(turns[399] - turns[389], 1_000);
        assert_eq!(queue.failures(&key("a")), 0);
    }

    #[test]
    fn a_higher_rank_goes_first_and_equals_in_their_order() {
        let mut queue = WorkQueue::default();
        for (name, rank) in [("a", 0), ("b", 0), ("c", 5), ("d", -1), ("e", 5), ("f", 0)] {
            queue.add_ranked(key(name), Seq(1), rank);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.take()).map(|(key, _)| key.name.to_string()).collect();
        assert_eq!(order, ["c", "e", "a", "b", "f", "d"]);
    }

    #[test]
    fn of_two_delays_the_earlier_counts() {
        let mut queue = WorkQueue::default();
        assert!(queue.add_at(key("a"), Time(100), Seq(1)));
        assert!(!queue.add_at(key("a"), Time(200), Seq(2)));
        assert!(queue.add_at(key("a"), Time(50), Seq(3)));
        assert!(!queue.release(&key("a"), Time(49), 0));
        assert!(queue.release(&key("a"), Time(50), 0));
        assert_eq!(queue.take(), Some((key("a"), Seq(3))));
    }
}
