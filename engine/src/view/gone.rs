//! An inspected object that no longer exists.

use super::causes::why;
use super::{Gone, Inspection};
use crate::api::{Kind, Object, ObjectKey};
use crate::apiserver::Effect;
use crate::client::What;
use crate::sim::Seq;
use crate::world::Simulation;

/// Links of a chain of causes that are looked at.
const MAX_LINKS: usize = 40;

/// What was last known of an object that is gone: since when, and what took its place. Nothing can be done to it.
pub fn gone(simulation: &Simulation, mut last: Inspection) -> Inspection {
    let now = simulation.now().0;
    // What is known of an end that is yet to come does not hold any more.
    let known = last.gone.take().filter(|it| it.at_ms <= now);
    let mut gone = known.unwrap_or_else(|| first_look(simulation, &last));
    gone.since = match now.saturating_sub(gone.at_ms) / 1_000 {
        _ if gone.seq == 0 => String::new(),
        s @ 0..600 => format!("{s} s"),
        s => format!("{} min", s / 60),
    };
    gone.owner = owner(&last).filter(|it| simulation.api().objects().get(it).is_some());
    gone.replaced_by = replacements(simulation, &last.key, gone.owner.as_ref());
    if gone.seq > 0 {
        last.why = why(simulation, gone.seq);
    }
    for row in &mut last.rows {
        row.edit = None;
    }
    (last.can_delete, last.can_roll_back, last.faults) = (false, false, None);
    last.containers.clear();
    last.programs.clear();
    last.gone = Some(gone);
    last
}

/// The write with which it went.
fn first_look(simulation: &Simulation, last: &Inspection) -> Gone {
    let ends = |what: &What| matches!(what, What::Wrote { key, effect: Effect::Deleted, .. } if *key == last.key);
    let found = simulation.trace().events().rev().find(|event| ends(&event.what));
    let (seq, at_ms) = found.map_or((0, simulation.now().0), |event| (event.seq.0, event.at.0));
    Gone { seq, at_ms, since: String::new(), replaced_by: Vec::new(), owner: None }
}

fn owner(last: &Inspection) -> Option<ObjectKey> {
    let at = last.kin.iter().position(|it| it.is_self)?;
    Some(last.kin.get(at.checked_sub(1)?)?.key.clone())
}

/// The pods of the same owner that were made because this one was deleted.
fn replacements(simulation: &Simulation, key: &ObjectKey, owner: Option<&ObjectKey>) -> Vec<ObjectKey> {
    let objects = simulation.api().objects();
    let Some(owner) = owner.and_then(|it| objects.get(it)).filter(|_| key.kind == Kind::Pod) else { return Vec::new() };
    let siblings = objects.controlled_by(owner.meta().uid).map(Object::key);
    siblings.filter(|it| simulation.origin(it).is_some_and(|seq| stems_from(simulation, seq, key))).collect()
}

fn stems_from(simulation: &Simulation, seq: Seq, key: &ObjectKey) -> bool {
    let mut next = Some(seq);
    for _ in 0..MAX_LINKS {
        let Some(event) = next.and_then(|seq| simulation.trace().get(seq)) else { return false };
        if matches!(&event.what, What::Wrote { key: written, .. } if written == key) {
            return true;
        }
        next = event.cause;
    }
    false
}
