//! How far a person has come in a step.

use super::goal::Found;
use super::matching::Match;
use super::{Explain, Prediction, Step};
use crate::sim::{Millis, Seq, Time};
use crate::world::Simulation;

/// What has to be known of a step to say whether its goal is met: when it began, and since when what must last has been
/// so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    pub began: Time,
    /// The newest trace event before the step.
    pub seq: Seq,
    since: Vec<Option<Time>>,
    /// Events counted so far, and up to which.
    counted: Vec<(Seq, usize)>,
}

impl Memory {
    pub fn from_now(simulation: &Simulation) -> Self {
        Self { began: simulation.now(), seq: simulation.trace().last_seq(), since: Vec::new(), counted: Vec::new() }
    }

    /// How many events there were since the step began, or since the newest of others: only those that are new are looked at, unless the clock was put
    /// back.
    pub(super) fn counts(&mut self, slot: usize, simulation: &Simulation, of: &Match, since: Option<&Match>) -> usize {
        if self.counted.len() <= slot {
            self.counted.resize(slot + 1, (self.seq, 0));
        }
        let Some((seen, n)) = self.counted.get_mut(slot) else { return 0 };
        let last = simulation.trace().last_seq();
        if last < *seen {
            (*seen, *n) = (self.seq, 0);
        }
        let (fresh, is_anew) = of.count(simulation, *seen, since);
        *n = if is_anew { fresh } else { *n + fresh };
        *seen = last;
        *n
    }

    /// Takes down that something is so, or not any more. Returns since when.
    pub(super) fn lasts(&mut self, slot: usize, now: Option<Time>) -> Option<Time> {
        if self.since.len() <= slot {
            self.since.resize(slot + 1, None);
        }
        let since = self.since.get_mut(slot)?;
        // After a step back in time it has to last anew.
        *since = now.map(|now| since.map_or(now, |it| it.min(now)));
        *since
    }
}

/// How a step stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// So much of its time is left.
    Waiting(Millis),
    /// Its goal was met at that time.
    Met(Time),
    /// Its time is over, and its goal was not met. It can still be.
    Late,
    /// The clock shows a time before the step began.
    Before,
}

/// A step that somebody is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub memory: Memory,
    met: Option<Time>,
}

impl Progress {
    /// Begins a step now.
    pub fn begin(simulation: &Simulation) -> Self {
        Self { memory: Memory::from_now(simulation), met: None }
    }

    /// A step that began at a time, after an event of the trace.
    pub fn since(began: Time, seq: Seq) -> Self {
        Self { memory: Memory { began, seq, ..Memory::default() }, met: None }
    }

    /// Looks whether the goal is met; once it is, it stays so unless the clock goes back before that.
    pub fn look(&mut self, step: &Step, simulation: &Simulation) -> Standing {
        let now = simulation.now();
        if now < self.memory.began {
            return Standing::Before;
        }
        self.met = self.met.filter(|met| *met <= now);
        if self.met.is_none() && step.goal.as_ref().is_none_or(|it| it.is_met(simulation, &mut self.memory)) {
            self.met = Some(now);
        }
        let passed = now.since(self.memory.began).0;
        match self.met {
            Some(met) => Standing::Met(met),
            None if passed >= step.within.0 => Standing::Late,
            None => Standing::Waiting(Millis(step.within.0 - passed)),
        }
    }

    /// The answer to a prediction as the engine has it now, to be asked once the goal is met: a number in thousandths, or
    /// the place of the choice that came true, from 1, as thousandths too.
    pub fn answer(&self, prediction: &Prediction, simulation: &Simulation) -> Option<i64> {
        let mut memory = self.memory.clone();
        if let Some(measure) = &prediction.measure {
            return match measure.find(simulation, &mut memory) {
                Found::Number(it) => Some(it),
                Found::Text(text) => super::shape::decimal(&text),
                _ => None,
            };
        }
        let mut came_true = prediction
            .choices
            .iter()
            .map(|it| it.when.as_ref().is_some_and(|when| when.is_met(simulation, &mut memory)));
        came_true.position(|it| it).map(|at| (at as i64 + 1) * 1_000)
    }

    /// The number of the trace event that explains what happened, while it is kept.
    pub fn explain(&self, explain: &Explain, simulation: &Simulation) -> Option<u64> {
        explain.event.first(simulation, self.memory.seq).map(|(seq, _)| seq.0)
    }
}
