//! The event list and the walk along causes.

use super::words::{as_cause, describe};
use super::{CauseLink, EventRow};
use crate::api::ObjectKey;
use crate::client::{TurnPhase, What};
use crate::sim::{Seq, Time, TraceEvent};
use crate::world::Simulation;

/// Links shown at the most; of a longer chain the newest.
const MAX_LINKS: usize = 40;

fn row(simulation: &Simulation, event: &TraceEvent<What>) -> EventRow {
    let (who, text, mark) = describe(simulation, &event.what);
    EventRow {
        seq: event.seq.0,
        number: simulation.trace().number(event.seq),
        time_ms: event.at.0,
        who,
        text,
        mark,
        cause: event.cause.map(|cause| cause.0),
        cause_number: event.cause.and_then(|cause| simulation.trace().number(cause)),
        is_yours: simulation.is_yours(event.seq),
    }
}

/// The newest events, oldest first; heartbeats and what only follows from them are left out.
pub fn events(simulation: &Simulation, newest: usize) -> Vec<EventRow> {
    let mut rows: Vec<EventRow> =
        simulation.trace().events().rev().take(newest).map(|event| row(simulation, &event)).collect();
    rows.reverse();
    rows
}

/// One event, while it is kept.
pub fn event(simulation: &Simulation, seq: u64) -> Option<EventRow> {
    simulation.trace().get(Seq(seq)).map(|event| row(simulation, &event))
}

/// The object that an event is about, whether or not it is still there.
pub fn subject(simulation: &Simulation, seq: u64) -> Option<ObjectKey> {
    match simulation.trace().get(Seq(seq))?.what {
        What::Told { key, .. }
        | What::Reached { key, .. }
        | What::Wrote { key, .. }
        | What::Refused { key, .. }
        | What::Failed { key, .. } => Some(key),
        What::Happened { pod, .. } => Some(pod),
        What::Announced { event, .. } => Some(event.about.clone()),
        What::Began
        | What::Commanded(_)
        | What::Ticked(_)
        | What::Resynced
        | What::Faulted(_)
        | What::Outside { .. } => None,
    }
}

/// Events between a request and what its sender made of the answer that are looked at.
const MOST_BETWEEN: usize = 256;

/// What the API server refused of an act, where an event is what came of that: the loop goes on from its answers.
fn refusal(simulation: &Simulation, event: &TraceEvent<What>) -> Option<TraceEvent<What>> {
    let follows = match &event.what {
        What::Reached { .. } | What::Failed { .. } => true,
        What::Announced { event, .. } => event.is_warning,
        _ => false,
    };
    let trace = simulation.trace();
    let act = trace.get(event.cause.filter(|_| follows)?)?;
    let between = (act.seq.0 + 1..event.seq.0).take(MOST_BETWEEN).filter_map(|seq| trace.get(Seq(seq)));
    let refused: Vec<TraceEvent<What>> =
        between.filter(|it| it.cause == Some(act.seq) && matches!(it.what, What::Refused { .. })).collect();
    // Of several pods the one that the Event names.
    let is_meant = |it: &TraceEvent<What>| match (&it.what, &event.what) {
        (What::Refused { message, .. }, What::Announced { event, .. }) => event.message.ends_with(message.as_str()),
        _ => false,
    };
    let at = refused.iter().position(is_meant).unwrap_or(0);
    refused.into_iter().nth(at)
}

/// Why an event happened: the chain of causes up to it, oldest first. What a loop observed is left out where its
/// decision follows, so that each link says something new. What the API server refused stands between a request and what
/// became of it.
///
/// Every chain begins with a person's command, the clock or the beginning. Where events between are no longer kept, or
/// are too many, the first link says so.
pub fn why(simulation: &Simulation, seq: u64) -> Vec<CauseLink> {
    let trace = simulation.trace();
    let mut chain = Vec::new();
    let mut next = Some(Seq(seq));
    let mut root = trace.known_root(Seq(seq));
    while let Some(event) = next.and_then(|seq| trace.get(seq)) {
        let is_observation = matches!(event.what, What::Reached { phase: TurnPhase::Observe, .. });
        next = event.cause;
        root = event.root;
        let refused = refusal(simulation, &event);
        if !is_observation || chain.is_empty() {
            chain.push(event);
        }
        chain.extend(refused);
        if chain.len() >= MAX_LINKS {
            break;
        }
    }
    let mut links = Vec::new();
    let mut before = None;
    if next.is_some() {
        links.extend(first(simulation, root, chain.last().map_or(Time(0), |event| event.at)));
        before = links.last().map(|link| Time(link.at_ms));
    }
    for event in chain.into_iter().rev() {
        links.push(CauseLink {
            seq: event.seq.0,
            number: simulation.trace().number(event.seq),
            at_ms: event.at.0,
            text: as_cause(simulation, &event.what),
            after_ms: before.replace(event.at).map(|before| event.at.since(before).0),
            is_you: matches!(event.what, What::Commanded(_)),
            is_yours: simulation.is_yours(event.seq),
            is_gap_after: false,
        });
    }
    links
}

/// What a chain begins with whose next links are missing; the first of those that are there is of the given time.
fn first(simulation: &Simulation, root: Seq, next_at: Time) -> Option<CauseLink> {
    let (at, text) = match simulation.command_of(root) {
        Some((entry, words)) => (entry.at, as_cause(simulation, &What::Commanded(words))),
        None if root == Seq(1) => (Time(0), as_cause(simulation, &What::Began)),
        None => match simulation.trace().get(root) {
            Some(event) => (event.at, as_cause(simulation, &event.what)),
            // Only clocks are of the background and begin something.
            None => (next_at, "A clock woke a loop, which is no longer kept".to_owned()),
        },
    };
    let is_you = simulation.command_of(root).is_some();
    let (seq, at_ms) = (root.0, at.0);
    let number = simulation.trace().number(root);
    Some(CauseLink { seq, number, at_ms, text, after_ms: None, is_you, is_yours: is_you, is_gap_after: true })
}
