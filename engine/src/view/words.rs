//! Trace events and other facts as sentences.

use super::{Mark, Phrase};
use crate::api::{Kind, ObjectKey};
use crate::apiserver::{ChangeKind, Effect};
use crate::client::{Arg, Changed, Field, LoopIndex, TurnPhase, What, short_name};
use crate::world::Simulation;

/// A pod's name as its own five letters, any other name whole.
pub fn short(key: &ObjectKey) -> &str {
    if key.kind == Kind::Pod { short_name(&key.name) } else { &key.name }
}

pub fn loop_name(simulation: &Simulation, at: LoopIndex) -> String {
    simulation.loops().get(at.0 as usize).map_or_else(String::new, |it| it.name.to_string())
}

/// `pod 4kx7m`, `ReplicaSet web-6d4cf56db6`
pub fn named(key: &ObjectKey) -> String {
    match key.kind {
        Kind::Pod => format!("pod {}", short(key)).trim_end().to_owned(),
        Kind::Node => key.name.to_string(),
        kind => format!("{} {}", kind.name(), key.name).trim_end().to_owned(),
    }
}

/// Who did it, what, and how it is marked.
pub fn describe(simulation: &Simulation, what: &What) -> (String, Phrase, Mark) {
    let name = |at: &LoopIndex| loop_name(simulation, *at);
    match what {
        What::Began => ("Scenario".into(), format!("{} begins", simulation.scenario().name).into(), Mark::World),
        What::Commanded(note) => ("You".into(), note.to_string().into(), Mark::You),
        What::Resynced => ("Informers".into(), "told again of all they know".into(), Mark::Clock),
        What::Ticked(at) => (name(at), "its own clock came round".into(), Mark::Clock),
        What::Told { to, key, change, .. } => {
            let happened = match change {
                ChangeKind::Added => "is new",
                ChangeKind::Modified => "has changed",
                ChangeKind::Deleted => "is gone",
            };
            (name(to), format!("hears that {} {happened}", named(key)).into(), Mark::Watch)
        }
        What::Reached { by, phase, facts, .. } => {
            let mark = match phase {
                TurnPhase::Observe => Mark::Observe,
                TurnPhase::Diff => Mark::Diff,
                TurnPhase::Act => Mark::Act,
            };
            (name(by), facts.text.to_string().into(), mark)
        }
        What::Wrote { key, effect, version, subresource, changed, .. } => {
            let part = if subresource.is_empty() { String::new() } else { format!(" {subresource}") };
            let changes = if changed.is_empty() { String::new() } else { [": ", &changes(changed)].concat() };
            let text = match effect {
                Effect::Created => format!("**{}** created, rv {version}", named(key)),
                Effect::Configured => format!("**{}**{part} written, rv {version}{changes}", named(key)),
                Effect::Unchanged => format!("**{}** is already so, nothing written", named(key)),
                Effect::Deleting => format!("**{}** is to go, its grace period begins", named(key)),
                Effect::Deleted => format!("**{}** is gone", named(key)),
            };
            ("API server".into(), text.into(), Mark::Write)
        }
        What::Refused { key, code, message, .. } => {
            ("API server".into(), format!("**{code}** {}: {message}", named(key)).into(), Mark::Error)
        }
        What::Failed { by, error, retry, .. } => {
            (name(by), format!("tries again in {}: {error}", Arg::Millis(retry.0)).into(), Mark::Error)
        }
        What::Outside { place, note } => (place.to_string(), note.to_string().into(), Mark::World),
        What::Happened { node, note, .. } => (node.to_string(), note.to_string().into(), Mark::World),
        What::Announced { by, event } => {
            let mark = if event.is_warning { Mark::Error } else { Mark::World };
            (name(by), format!("Event **{}**: {}", event.reason, event.message).into(), mark)
        }
        What::Faulted(note) => ("Fault".into(), note.to_string().into(), Mark::Error),
    }
}

/// So many changes of one write are told.
const MOST_CHANGES: usize = 3;

/// `readyReplicas 2 → 3, Available False → True`
fn changes(all: &[Changed]) -> String {
    let mut text = String::new();
    // Of many conditions this one says most.
    let is_ready = |it: &&Changed| it.field == Field::Condition("Ready".into());
    let (first, rest) = (all.iter().filter(is_ready), all.iter().filter(|it| !is_ready(it)));
    for it in first.chain(rest).take(MOST_CHANGES) {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(&change(it));
    }
    if all.len() > MOST_CHANGES {
        text.push_str(", …");
    }
    text
}

fn change(it: &Changed) -> String {
    let (from, to) = (it.from.to_string(), it.to.to_string());
    let field = match &it.field {
        Field::Condition(kind) | Field::Reason(kind) => kind.as_str(),
        Field::Container(name) => name,
        Field::Of(field) => field.rsplit('.').next().unwrap_or(field),
    };
    if from.is_empty() { [field, " ", &to].concat() } else { [field, " ", &from, " → ", &to].concat() }
}

/// Loops' own clocks have keys that are no objects.
fn is_object(key: &ObjectKey) -> bool {
    !key.name.is_empty() && !key.name.contains(' ')
}

/// The event as one sentence in a chain of causes, with its subject and its object.
pub fn as_cause(simulation: &Simulation, what: &What) -> String {
    let (who, text, _) = describe(simulation, what);
    let text = text.plain();
    match what {
        What::Commanded(_) => ["You ", &text].concat(),
        What::Told { key, change, .. } => {
            let happened = match change {
                ChangeKind::Added => " appeared",
                ChangeKind::Modified => " changed",
                ChangeKind::Deleted => " vanished",
            };
            ["The watch told ", &who, " that ", &named(key), happened].concat()
        }
        What::Reached { key, phase, .. } if is_object(key) => {
            let verb = match phase {
                TurnPhase::Observe => " observed ",
                TurnPhase::Diff => " compared ",
                TurnPhase::Act => " acted on ",
            };
            let object = named(key);
            // `ReplicaSet compared web-6d4cf56db6`
            let object = object.strip_prefix(&*who).map_or(&*object, str::trim_start);
            [&who, verb, object, ": ", &text].concat()
        }
        What::Ticked(_) => [&who, "'s own clock came round"].concat(),
        What::Resynced => [&who, " told again of all they know"].concat(),
        What::Began | What::Wrote { .. } => text,
        What::Refused { .. } => ["The API server refused: ", &text].concat(),
        What::Failed { key, .. } if is_object(key) => [&who, ", ", &named(key), ": ", &text].concat(),
        _ => [&who, ": ", &text].concat(),
    }
}

/// An age as kubectl writes it.
pub fn age(ms: u64) -> String {
    crate::kubectl::human_duration(i64::try_from(ms).unwrap_or(i64::MAX))
}
