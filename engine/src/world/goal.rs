use crate::api::{Kind, ObjectKey};
use crate::client::{Arg, Changed, Field, LoopIndex, TurnPhase, What};
use crate::controllers::replicaset::is_report;
use crate::sim::TraceEvent;

/// Which objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of {
    Object(ObjectKey),
    /// Any of a kind.
    Kind(Kind),
}

impl Of {
    fn includes(&self, key: &ObjectKey) -> bool {
        match self {
            Self::Object(it) => it == key,
            Self::Kind(kind) => *kind == key.kind,
        }
    }
}

/// What a step leads to, or what play stops at. Heartbeats never count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Anything that a list shows.
    Event,
    /// A loop sends a request.
    Act,
    /// This loop sends one.
    ActOf(LoopIndex),
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
    /// A request is refused since it is about an older version of its object: 409 Conflict.
    Conflict,
    /// The condition of a type gets a status: `Ready`, `False`.
    Condition { of: Of, kind: String, status: String },
    /// Whichever comes first.
    Any(Vec<Goal>),
}

impl Goal {
    pub fn is_met(&self, event: &TraceEvent<What>) -> bool {
        !event.is_background && self.is_met_by(&event.what)
    }

    fn is_met_by(&self, what: &What) -> bool {
        match (self, what) {
            (Self::Event, _) => true,
            (Self::Act, What::Reached { phase, .. }) => *phase == TurnPhase::Act,
            (Self::ActOf(at), What::Reached { by, phase, .. }) => *phase == TurnPhase::Act && by == at,
            (Self::StepOf(of), What::Reached { by, phase: TurnPhase::Act, facts, .. }) => of == by && !is_report(facts),
            (Self::Turn, What::Reached { phase, .. }) => *phase == TurnPhase::Observe,
            (Self::Write, What::Wrote { .. }) | (Self::Refusal, What::Refused { .. }) => true,
            (Self::Conflict, What::Refused { code, .. }) => *code == 409,
            (Self::Change(key), What::Wrote { key: changed, .. } | What::Refused { key: changed, .. }) => {
                key == changed
            }
            (Self::Condition { of, kind, status }, What::Wrote { key, changed, .. }) => {
                of.includes(key) && changed.iter().any(|it| becomes(it, kind, status))
            }
            (Self::Any(all), what) => all.iter().any(|it| it.is_met_by(what)),
            _ => false,
        }
    }
}

fn becomes(changed: &Changed, kind: &str, status: &str) -> bool {
    let to = match &changed.to {
        Arg::Word(word) => word,
        Arg::Text(text) => &**text,
        _ => return false,
    };
    matches!(&changed.field, Field::Condition(it) if it == kind) && to == status
}
