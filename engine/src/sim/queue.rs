use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Millis, Time};

/// When, in which order, and in which slot the event itself is: what the heap moves about is small, and its code the
/// same for all events.
type Entry = Reverse<(Time, u64, u32)>;

/// What is going to happen, in order of time; events at one instant keep the order they were scheduled in.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Entry>,
    events: Vec<Option<E>>,
    free: Vec<u32>,
    now: Time,
    scheduled: u64,
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), events: Vec::new(), free: Vec::new(), now: Time::default(), scheduled: 0 }
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
        let slot = self.free.pop().unwrap_or_else(|| {
            self.events.push(None);
            u32::try_from(self.events.len() - 1).unwrap_or(u32::MAX)
        });
        if let Some(place) = self.events.get_mut(slot as usize) {
            *place = Some(event);
        }
        self.heap.push(Reverse((at.max(self.now), self.scheduled, slot)));
    }

    pub fn next_at(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// Takes the next event and moves the clock to it.
    pub fn pop(&mut self) -> Option<E> {
        let Reverse((at, _, slot)) = self.heap.pop()?;
        self.now = at;
        self.free.push(slot);
        self.events.get_mut(slot as usize)?.take()
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
