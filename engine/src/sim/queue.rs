use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Millis, Time};

#[derive(Clone, Debug)]
struct Entry<E> {
    at: Time,
    order: u64,
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.order) == (other.at, other.order)
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

/// What is going to happen, in order of time; events at one instant keep the order they were scheduled in.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    now: Time,
    scheduled: u64,
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), now: Time::default(), scheduled: 0 }
    }
}

impl<E> EventQueue<E> {
    pub fn now(&self) -> Time {
        self.now
    }

    pub fn len(&self) -> usize {
        self.heap.len()
    }

    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    pub fn after(&mut self, delay: Millis, event: E) {
        self.at(self.now + delay, event);
    }

    /// Schedules an event; an instant in the past counts as now.
    pub fn at(&mut self, at: Time, event: E) {
        self.scheduled += 1;
        self.heap.push(Reverse(Entry { at: at.max(self.now), order: self.scheduled, event }));
    }

    pub fn next_at(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// Takes the next event and moves the clock to it.
    pub fn pop(&mut self) -> Option<E> {
        let Reverse(entry) = self.heap.pop()?;
        self.now = entry.at;
        Some(entry.event)
    }

    /// Moves the clock forward to an instant at which nothing happens.
    pub fn advance_to(&mut self, at: Time) {
        debug_assert!(self.next_at().is_none_or(|next| next >= at), "an event would be skipped");
        self.now = self.now.max(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_at_one_instant_keep_their_order() {
        let mut queue = EventQueue::default();
        queue.at(Time(5), "b");
        queue.at(Time(1), "a");
        queue.at(Time(5), "c");
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, ["a", "b", "c"]);
        assert_eq!(queue.now(), Time(5));
    }

    #[test]
    fn an_event_scheduled_in_the_past_happens_now() {
        let mut queue = EventQueue::default();
        queue.advance_to(Time(10));
        queue.at(Time(3), ());
        assert_eq!(queue.next_at(), Some(Time(10)));
    }
}
