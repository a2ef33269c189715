//! Running until something happens.

use super::{Goal, Instant, Simulation};
use crate::sim::Seq;

/// How far a run has come that watches out for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// To where it was to go.
    There,
    /// Not so far, since enough has happened for once.
    OnTheWay,
    /// To what it watches out for.
    Met,
}

impl Simulation {
    /// Runs until a goal is met, an instant is reached without its commands, or so much has happened. What was recorded
    /// after an event counts as well.
    pub fn run_watching(&mut self, to: Instant, max_events: usize, goal: &Goal, after: Seq) -> Ran {
        let mut seen = after;
        for _ in 0..max_events {
            if self.first_met(goal, seen).is_some() {
                return Ran::Met;
            }
            seen = self.trace.last_seq();
            if self.run_to(to, 1) {
                return Ran::There;
            }
        }
        if self.first_met(goal, seen).is_some() { Ran::Met } else { Ran::OnTheWay }
    }

    /// The first event after another that meets a goal, while it is kept.
    pub fn first_met(&self, goal: &Goal, after: Seq) -> Option<Seq> {
        if self.trace.last_seq() <= after {
            return None;
        }
        let new = self.trace.events().rev().take_while(|event| event.seq > after);
        new.filter(|event| goal.is_met(event)).map(|event| event.seq).last()
    }
}
