use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::{Millis, Slots, Time};

/// When, in which order, and in which slot the event itself is: what the heap moves about is small, and its code the
/// same for all events.
type Entry = Reverse<(Time, u64, u32)>;

/// Instants ahead, in milliseconds, whose events wait in the wheel; most events are due within a few.
const SPAN: u64 = 64;

/// What is going to happen, in order of time; events at one instant keep the order they were scheduled in.
///
/// What is due soon lies in a wheel with one list an instant, where putting in and taking out costs nothing; the rest
/// lies in a heap, and moves to the wheel before anything else could be scheduled for the same instant there.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    /// By instant modulo the span, from now to the end of the span.
    wheel: [VecDeque<u32>; SPAN as usize],
    /// A bit for each list of the wheel that is not empty.
    filled: u64,
    heap: BinaryHeap<Entry>,
    events: Slots<E>,
    now: Time,
    scheduled: u64,
    len: usize,
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self {
            wheel: std::array::from_fn(|_| VecDeque::new()),
            filled: 0,
            heap: BinaryHeap::new(),
            events: Slots::default(),
            now: Time::default(),
            scheduled: 0,
            len: 0,
        }
    }
}

impl<E: Clone> EventQueue<E> {
    pub fn now(&self) -> Time {
        self.now
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn after(&mut self, delay: Millis, event: E) {
        self.at(self.now + delay, event);
    }

    /// Schedules an event; an instant in the past counts as now.
    pub fn at(&mut self, at: Time, event: E) {
        self.len += 1;
        let slot = self.events.add(event);
        self.file(at.max(self.now), slot);
    }

    fn file(&mut self, at: Time, slot: u32) {
        if at.0 - self.now.0 < SPAN {
            self.turn_in(at, slot);
        } else {
            self.scheduled += 1;
            self.heap.push(Reverse((at, self.scheduled, slot)));
        }
    }

    fn turn_in(&mut self, at: Time, slot: u32) {
        let place = at.0 % SPAN;
        self.filled |= 1 << place;
        self.wheel[place as usize].push_back(slot);
    }

    pub fn next_at(&self) -> Option<Time> {
        if self.filled == 0 {
            return self.heap.peek().map(|Reverse((at, ..))| *at);
        }
        let ahead = self.filled.rotate_right((self.now.0 % SPAN) as u32).trailing_zeros();
        Some(Time(self.now.0 + u64::from(ahead)))
    }

    /// Takes the next event and moves the clock to it.
    pub fn pop(&mut self) -> Option<E> {
        let at = self.next_at()?;
        self.move_to(at);
        let place = at.0 % SPAN;
        let list = &mut self.wheel[place as usize];
        let slot = list.pop_front()?;
        if list.is_empty() {
            self.filled &= !(1 << place);
        }
        self.len -= 1;
        self.events.take(slot)
    }

    fn move_to(&mut self, now: Time) {
        self.now = now;
        while let Some(Reverse((at, _, slot))) = self.heap.peek().copied()
            && at.0 - now.0 < SPAN
        {
            self.heap.pop();
            self.turn_in(at, slot);
        }
    }

    /// All that is going to happen, in its order, with the place where it is kept until it does.
    #[cfg(feature = "interleavings")]
    pub fn pending(&self) -> Vec<(Time, u32, &E)> {
        let mut far: Vec<_> = self.heap.iter().map(|Reverse(entry)| *entry).collect();
        far.sort_unstable();
        let near = (self.now.0..self.now.0 + SPAN).flat_map(|at| {
            let list = &self.wheel[(at % SPAN) as usize];
            list.iter().map(move |slot| (Time(at), *slot))
        });
        let all = near.chain(far.into_iter().map(|(at, _, slot)| (at, slot)));
        all.filter_map(|(at, slot)| Some((at, slot, self.events.get(slot)?))).collect()
    }

    /// Takes an event out of its turn, with the clock at `now` or where it is. What should have come before it comes after
    /// it, in the order that it had.
    #[cfg(feature = "interleavings")]
    pub fn pick(&mut self, slot: u32, now: Time) -> Option<E> {
        let rest: Vec<(Time, u32)> =
            self.pending().into_iter().map(|(at, slot, _)| (at, slot)).filter(|it| it.1 != slot).collect();
        self.wheel.iter_mut().for_each(VecDeque::clear);
        self.heap.clear();
        self.filled = 0;
        self.now = self.now.max(now);
        self.len = rest.len();
        for (at, slot) in rest {
            self.file(at.max(self.now), slot);
        }
        self.events.take(slot)
    }

    /// Moves the clock forward to an instant at which nothing happens.
    pub fn advance_to(&mut self, at: Time) {
        debug_assert!(self.next_at().is_none_or(|next| next >= at), "an event would be skipped");
        if at > self.now {
            self.move_to(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn near_and_far_events_come_in_order(deeds in prop::collection::vec((any::<bool>(), 0..300_u64), 0..200)) {
            let mut queue = EventQueue::default();
            let mut model: Vec<(Time, usize)> = Vec::new();
            for (number, (is_new, delay)) in deeds.into_iter().enumerate() {
                if is_new {
                    queue.after(Millis(delay), number);
                    model.push((queue.now() + Millis(delay), number));
                } else {
                    model.sort();
                    let next = (!model.is_empty()).then(|| model.remove(0));
                    prop_assert_eq!(queue.next_at(), next.map(|(at, _)| at));
                    prop_assert_eq!(queue.pop(), next.map(|(_, number)| number));
                }
                prop_assert_eq!(queue.len(), model.len());
            }
        }
    }

    #[cfg(feature = "interleavings")]
    #[test]
    fn an_event_that_is_picked_makes_those_before_it_late_and_keeps_their_order() {
        let mut queue = EventQueue::default();
        for (at, event) in [(1, "a"), (1, "b"), (5, "c"), (90, "d"), (300, "e"), (300, "f")] {
            queue.at(Time(at), event);
        }
        let place = |queue: &EventQueue<&'static str>, event| {
            queue.pending().into_iter().find(|it| *it.2 == event).map(|it| it.1).expect("it is there")
        };
        let (d, c) = (place(&queue, "d"), place(&queue, "c"));
        assert_eq!((queue.pick(d, Time(90)), queue.now(), queue.len()), (Some("d"), Time(90), 5));
        assert_eq!(queue.pick(c, Time(0)), Some("c"));
        assert_eq!(queue.pending().into_iter().map(|it| it.0.0).collect::<Vec<_>>(), [90, 90, 300, 300]);
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, ["a", "b", "e", "f"]);
    }

    #[test]
    fn an_event_scheduled_in_the_past_happens_now() {
        let mut queue = EventQueue::default();
        queue.advance_to(Time(10));
        queue.at(Time(3), ());
        assert_eq!(queue.next_at(), Some(Time(10)));
    }
}
