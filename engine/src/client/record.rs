use std::rc::Rc;

use super::{Changed, Facts, Note};
use crate::api::{Name, ObjectKey};
use crate::apiserver::{ChangeKind, Effect, EventDraft};
use crate::sim::Millis;

/// A loop's number in the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoopIndex(pub u32);

/// The phases of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TurnPhase {
    Observe,
    Diff,
    Act,
}

/// Who wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Author {
    You,
    Loop(LoopIndex),
}

/// What a trace event says happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// The simulation began.
    Began,
    /// The person did something: words without the subject, such as `deleted pod web-6d4-x2k9p`.
    Commanded(Note),
    /// A loop's own clock came round: the node monitor, a heartbeat.
    Ticked(LoopIndex),
    /// The controller manager's informers told again of all they know.
    Resynced,
    /// A watch told a loop of a change that concerns it.
    Told { to: LoopIndex, key: ObjectKey, change: ChangeKind, version: u64 },
    /// A loop reached a phase of its turn for a key.
    Reached { by: LoopIndex, key: ObjectKey, phase: TurnPhase, facts: Rc<Facts> },
    /// The API server wrote an object.
    Wrote {
        author: Author,
        key: ObjectKey,
        method: &'static str,
        subresource: &'static str,
        effect: Effect,
        version: u64,
        changed: Vec<Changed>,
    },
    /// The API server refused a request.
    Refused {
        author: Author,
        key: ObjectKey,
        method: &'static str,
        subresource: &'static str,
        code: u16,
        message: String,
    },
    /// A turn failed and is tried again.
    Failed { by: LoopIndex, key: ObjectKey, error: String, retry: Millis },
    /// Something happened on a node: an image arrived, a process came up.
    Happened { node: Name, pod: ObjectKey, note: Note },
    /// A Kubernetes Event was published.
    Announced { by: LoopIndex, event: Rc<EventDraft> },
    /// A fault that a person switched on did its work: an event was lost, a process crashed between two requests.
    Faulted(Note),
    /// Something happened outside the cluster: in the cloud, or by the tool that provisions it.
    Outside { place: Name, note: Note },
}
