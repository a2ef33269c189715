//! The event list and the walk along causes.

use super::words::{as_cause, describe};
use super::{CauseLink, EventRow};
use crate::client::{TurnPhase, What};
use crate::sim::{Seq, TraceEvent};
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
pub fn why(simulation: &Simulation, seq: u64) -> Vec<CauseLink> {
    let mut chain = Vec::new();
    let mut next = Some(Seq(seq));
    while let Some(event) = next.and_then(|seq| simulation.trace().get(seq)) {
        let is_observation = matches!(event.what, What::Reached { phase: TurnPhase::Observe, .. });
        next = event.cause;
        let refused = refusal(simulation, &event);
        if !is_observation || chain.is_empty() {
            chain.push(event);
        }
        chain.extend(refused);
        if chain.len() >= MAX_LINKS {
            break;
        }
    }
    chain.reverse();
    let mut before = None;
    chain
        .into_iter()
        .map(|event| {
            let after_ms = before.replace(event.at).map(|before| event.at.since(before).0);
            CauseLink {
                seq: event.seq.0,
                number: simulation.trace().number(event.seq),
                text: as_cause(simulation, &event.what),
                after_ms,
                is_you: matches!(event.what, What::Commanded(_)),
                is_yours: simulation.is_yours(event.seq),
            }
        })
        .collect()
}
