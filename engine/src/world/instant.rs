use crate::api::ObjectKey;
use crate::client::{LoopIndex, TurnPhase, What};
use crate::controllers::replicaset::is_report;
use crate::sim::{Time, TraceEvent};

use super::JournalEntry;

/// A place in a run: so much virtual time, so many commands given, and so many of the things that happen at just that
/// time. Along one run all three only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    pub at: Time,
    pub commands: u32,
    pub nth: u32,
}

impl Instant {
    /// After all that happens, and all that is commanded, at a time.
    pub fn end_of(at: Time) -> Self {
        Self { at, commands: u32::MAX, nth: u32::MAX }
    }

    /// Just before a command, given with its index.
    pub fn before(index: usize, command: &JournalEntry) -> Self {
        Self { at: command.at, commands: index as u32, nth: command.nth.unwrap_or(u32::MAX) }
    }

    /// Whether a command, given with its index, is among those before this instant.
    pub fn includes(self, index: usize, command: &JournalEntry) -> bool {
        index < self.commands as usize && command.at <= self.at
    }
}

/// What a step leads to. Heartbeats never count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Anything that a list shows.
    Event,
    /// A loop sends a request.
    Act,
    /// This loop takes a step towards what is wanted: a request that does more than say how things are.
    StepOf(LoopIndex),
    /// A turn of a loop begins.
    Turn,
    /// An object changes.
    Write,
    /// This object changes, or a request for it is refused.
    Change(ObjectKey),
    /// A request is refused.
    Refusal,
}

impl Goal {
    pub fn is_met(&self, event: &TraceEvent<What>) -> bool {
        if event.is_background {
            return false;
        }
        match (self, &event.what) {
            (Self::Event, _) => true,
            (Self::Act, What::Reached { phase, .. }) => *phase == TurnPhase::Act,
            (Self::StepOf(of), What::Reached { by, phase: TurnPhase::Act, facts, .. }) => of == by && !is_report(facts),
            (Self::Turn, What::Reached { phase, .. }) => *phase == TurnPhase::Observe,
            (Self::Write, What::Wrote { .. }) | (Self::Refusal, What::Refused { .. }) => true,
            (Self::Change(key), What::Wrote { key: changed, .. } | What::Refused { key: changed, .. }) => {
                key == changed
            }
            _ => false,
        }
    }
}
