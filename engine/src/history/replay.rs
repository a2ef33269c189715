use std::rc::Rc;

use crate::sim::Seq;
use crate::world::{Goal, Instant, JournalEntry, Simulation};

/// A simulation on its way to an instant. It can be left and taken up again, so that a long way does not hold up a page.
pub struct Replay {
    simulation: Simulation,
    /// The commands that are still to come, the last first.
    to_come: Vec<Rc<JournalEntry>>,
    to: Instant,
    /// The trace event to stop at, where it comes earlier.
    until: Option<Seq>,
    from: Progress,
}

/// Where a replay began.
struct Progress {
    at: Instant,
    /// Trace events.
    events: u64,
}

impl Replay {
    pub(super) fn new(simulation: Simulation, steps: &[Rc<JournalEntry>], to: Instant) -> Self {
        let to_come = steps.get(simulation.journal().len()..).unwrap_or_default().iter().rev().cloned().collect();
        let from = Progress { at: simulation.instant(), events: simulation.trace().last_seq().0 };
        Self { simulation, to_come, to, until: None, from }
    }

    pub(super) fn until(self, seq: Seq) -> Self {
        Self { until: Some(seq), ..self }
    }

    fn is_found(&self) -> bool {
        self.until.is_some_and(|seq| self.simulation.trace().last_seq() >= seq)
    }

    fn next_stop(&self) -> Option<Instant> {
        let index = self.simulation.journal().len();
        self.to_come.last().filter(|it| self.to.includes(index, it)).map(|it| Instant::before(index, it))
    }

    fn take_next(&mut self) {
        if let Some(step) = self.to_come.pop() {
            self.simulation.dispatch(step.command.clone());
        }
    }

    /// Goes on until the instant is reached or so much has happened. Returns whether it was reached.
    pub fn run(&mut self, max_events: usize) -> bool {
        loop {
            let stop = self.next_stop();
            if !self.advance(stop.unwrap_or(self.to), max_events) {
                return self.is_found();
            }
            if stop.is_none() || self.is_found() {
                return true;
            }
            self.take_next();
        }
    }

    /// Returns whether the instant was reached before so much had happened; an event that is looked for may come first.
    fn advance(&mut self, to: Instant, max_events: usize) -> bool {
        if self.until.is_none() {
            return self.simulation.run_to(to, max_events);
        }
        (0..max_events).any(|_| self.is_found() || self.simulation.run_to(to, 1))
    }

    /// The last instant before another at which a goal was met on the way.
    pub(super) fn last_met(&mut self, goal: &Goal, before: Instant) -> Option<Instant> {
        let mut found = None;
        loop {
            let stop = self.next_stop();
            if !self.simulation.step_to(goal, stop.unwrap_or(self.to)) {
                let Some(at) = stop else { return found };
                while !self.simulation.run_to(at, usize::MAX) {}
                self.take_next();
            }
            let now = self.simulation.instant();
            if now >= before {
                return found;
            }
            found = Some(now);
        }
    }

    /// Whether an instant is yet to come.
    pub fn can_go_on_to(&self, to: Instant) -> bool {
        self.simulation.instant() <= to
    }

    /// Makes another instant the end of the way: one that is yet to come.
    pub fn go_on_to(&mut self, to: Instant) {
        self.to = to;
    }

    /// Where it leads to.
    pub fn to(&self) -> Instant {
        self.to
    }

    /// How many trace events were replayed so far.
    pub fn n_replayed(&self) -> u64 {
        self.simulation.trace().last_seq().0 - self.from.events
    }

    /// How much of the way is behind it, of a hundred parts: by virtual time.
    pub fn percent(&self) -> u64 {
        let (from, to) = (self.from.at.at.0, self.to.at.0);
        let here = self.simulation.now().0;
        (here.saturating_sub(from) * 100).checked_div(to.saturating_sub(from)).unwrap_or(100).min(100)
    }

    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    pub(super) fn into_simulation(self) -> Simulation {
        self.simulation
    }
}
