//! Which events of the trace are meant.

use std::rc::Rc;

use crate::api::{Kind, Object, ObjectKey, Pod};
use crate::apiserver::Effect;
use crate::client::{Author, TurnPhase, What};
use crate::sim::{Seq, Time, TraceEvent};
use crate::view;
use crate::world::Simulation;

use super::goal::read_key;

/// The objects that an event may be about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    Anything,
    Kind(Kind),
    Object(ObjectKey),
}

impl About {
    /// Reads `pod` or `deployment/web`.
    pub fn read(text: &str) -> Option<Self> {
        match text.contains('/') {
            true => read_key(text).map(Self::Object),
            false => super::goal::read_kind(text).map(Self::Kind),
        }
    }

    fn is(&self, key: Option<&ObjectKey>) -> bool {
        match self {
            Self::Anything => true,
            Self::Kind(kind) => key.is_some_and(|it| it.kind == *kind),
            Self::Object(it) => key == Some(it),
        }
    }
}

/// Events of a kind, by somebody, about something, that say something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// One of [`EVENTS`](super::table::EVENTS).
    pub kind: String,
    /// The loop, or `you`; anybody where nothing is given.
    pub by: String,
    pub about: About,
    /// What the event's sentence has in it.
    pub text: String,
}

impl Match {
    fn is_kind(&self, what: &What) -> bool {
        let phase = |wanted: TurnPhase| matches!(what, What::Reached { phase, .. } if *phase == wanted);
        let effect = |wanted: Effect| matches!(what, What::Wrote { effect, .. } if *effect == wanted);
        match self.kind.as_str() {
            "command" => matches!(what, What::Commanded(_)),
            "observe" => phase(TurnPhase::Observe),
            "diff" => phase(TurnPhase::Diff),
            "act" => phase(TurnPhase::Act),
            "write" => matches!(what, What::Wrote { effect, .. } if *effect != Effect::Unchanged),
            "create" => effect(Effect::Created),
            "delete" => effect(Effect::Deleting) || effect(Effect::Deleted),
            "refuse" => matches!(what, What::Refused { .. }),
            "conflict" => matches!(what, What::Refused { code: 409, .. }),
            "fail" => matches!(what, What::Failed { .. }),
            "event" => matches!(what, What::Announced { .. }),
            "node" => matches!(what, What::Happened { .. }),
            "fault" => matches!(what, What::Faulted(_)),
            "outside" => matches!(what, What::Outside { .. }),
            _ => false,
        }
    }

    fn is_by(&self, simulation: &Simulation, what: &What) -> bool {
        if self.by.is_empty() {
            return true;
        }
        let by = match what {
            What::Reached { by, .. } | What::Failed { by, .. } | What::Announced { by, .. } => Some(*by),
            What::Wrote { author, .. } | What::Refused { author, .. } => match author {
                Author::You => None,
                Author::Loop(at) => Some(*at),
            },
            What::Commanded(_) => None,
            _ => return false,
        };
        match by.and_then(|at| simulation.loops().get(at.0 as usize)) {
            Some(it) => it.name.eq_ignore_ascii_case(&self.by),
            None => self.by == "you",
        }
    }

    pub fn is(&self, simulation: &Simulation, event: &TraceEvent<What>) -> bool {
        let what = &event.what;
        let key = match what {
            What::Reached { key, .. }
            | What::Failed { key, .. }
            | What::Wrote { key, .. }
            | What::Refused { key, .. } => Some(key),
            What::Happened { pod, .. } => Some(pod),
            What::Announced { event, .. } => Some(&event.about),
            _ => None,
        };
        if !self.is_kind(what) || !self.about.is(key) || !self.is_by(simulation, what) {
            return false;
        }
        self.text.is_empty()
            || view::event(simulation, event.seq.0).is_some_and(|row| row.text.plain().contains(self.text.as_str()))
    }

    /// How many there are after an event that are still kept, or after the newest that `since` means: then it says so.
    pub fn count(&self, simulation: &Simulation, after: Seq, since: Option<&Match>) -> (usize, bool) {
        let mut n = 0;
        for event in newer(simulation, after) {
            if since.is_some_and(|it| it.is(simulation, &event)) {
                return (n, true);
            }
            n += usize::from(self.is(simulation, &event));
        }
        (n, false)
    }

    /// The first one after an event.
    pub fn first(&self, simulation: &Simulation, after: Seq) -> Option<(Seq, Time)> {
        let found = newer(simulation, after).filter(|event| self.is(simulation, event)).last();
        found.map(|event| (event.seq, event.at))
    }
}

/// The events after one of them that lists show, the newest first.
fn newer(simulation: &Simulation, after: Seq) -> impl Iterator<Item = TraceEvent<What>> {
    simulation.trace().events().rev().take_while(move |event| event.seq > after)
}

/// The most pods whose names begin with something that there were at once since an event: of those there are now, what
/// was created since is taken away and what went is added again. Pods that stop count until they are gone, unless only
/// active ones are asked for.
pub fn most_at_once(simulation: &Simulation, prefix: &str, is_active: bool, after: Seq) -> i64 {
    let is_meant = |key: &ObjectKey| key.kind == Kind::Pod && key.name.starts_with(prefix);
    let pods = simulation.api().objects().of_kind(Kind::Pod).filter_map(Object::as_pod);
    let counts = |pod: &&Rc<Pod>| pod.metadata.name.starts_with(prefix) && (!is_active || pod.is_active());
    let mut n = pods.filter(counts).count() as i64;
    let mut most = n;
    // Walked back from now: who is gone may have begun to stop before.
    let mut gone: Vec<ObjectKey> = Vec::new();
    for event in newer(simulation, after) {
        let What::Wrote { key, effect, .. } = &event.what else { continue };
        if !is_meant(key) {
            continue;
        }
        match effect {
            Effect::Created => n -= i64::from(!gone.iter().any(|it| it == key)),
            Effect::Deleted if is_active => gone.push(key.clone()),
            Effect::Deleted => n += 1,
            Effect::Deleting if is_active => {
                gone.retain(|it| it != key);
                n += 1;
            }
            _ => {}
        }
        most = most.max(n);
    }
    most
}
