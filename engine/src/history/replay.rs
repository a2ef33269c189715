use std::rc::Rc;

use crate::world::{Goal, Instant, JournalEntry, Simulation};

/// A simulation on its way to an instant. It can be left and taken up again, so that a long way does not hold up a page.
pub struct Replay {
    simulation: Simulation,
    /// The commands that are still to come, the last first.
    to_come: Vec<Rc<JournalEntry>>,
    to: Instant,
    /// Trace events at the start.
    from: u64,
}

impl Replay {
    pub(super) fn new(simulation: Simulation, steps: &[Rc<JournalEntry>], to: Instant) -> Self {
        let to_come = steps.get(simulation.journal().len()..).unwrap_or_default().iter().rev().cloned().collect();
        let from = simulation.trace().last_seq().0;
        Self { simulation, to_come, to, from }
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
            if !self.simulation.run_to(stop.unwrap_or(self.to), max_events) {
                return false;
            }
            if stop.is_none() {
                return true;
            }
            self.take_next();
        }
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

    /// How many trace events were replayed so far.
    pub fn n_replayed(&self) -> u64 {
        self.simulation.trace().last_seq().0 - self.from
    }

    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    pub(super) fn into_simulation(self) -> Simulation {
        self.simulation
    }
}
