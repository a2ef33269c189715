use serde::Serialize;

use super::{TurnPhase, What};

/// How an event is marked in lists and on lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Mark {
    You,
    Observe,
    Diff,
    Act,
    Write,
    Watch,
    World,
    Clock,
    Error,
}

impl Mark {
    /// Which of several marks stands for all of them where there is room for one: the highest.
    pub fn weight(self) -> u8 {
        match self {
            Mark::Error => 8,
            Mark::You => 7,
            Mark::Act => 6,
            Mark::Write => 5,
            Mark::Diff => 4,
            Mark::Observe => 3,
            Mark::World => 2,
            Mark::Clock => 1,
            Mark::Watch => 0,
        }
    }
}

impl What {
    pub fn mark(&self) -> Mark {
        match self {
            What::Commanded(_) => Mark::You,
            What::Resynced | What::Ticked(_) => Mark::Clock,
            What::Told { .. } => Mark::Watch,
            What::Reached { phase: TurnPhase::Observe, .. } => Mark::Observe,
            What::Reached { phase: TurnPhase::Diff, .. } => Mark::Diff,
            What::Reached { phase: TurnPhase::Act, .. } => Mark::Act,
            What::Wrote { .. } => Mark::Write,
            What::Refused { .. } | What::Failed { .. } | What::Faulted(_) => Mark::Error,
            What::Announced { event, .. } if event.is_warning => Mark::Error,
            What::Began | What::Outside { .. } | What::Happened { .. } | What::Announced { .. } => Mark::World,
        }
    }
}
