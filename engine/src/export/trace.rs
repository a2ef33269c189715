//! The trace in a format of its own: everything that is known of each event.

use super::json::{To, item, text};
use crate::client::{TurnPhase, What};
use crate::share::state_words;
use crate::view;
use crate::world::Simulation;

/// What sort of event it is.
fn kind(what: &What) -> &'static str {
    match what {
        What::Began => "began",
        What::Commanded(_) => "command",
        What::Ticked(_) => "clock",
        What::Resynced => "resync",
        What::Told { .. } => "watch",
        What::Reached { phase, .. } => phase_name(*phase),
        What::Wrote { .. } => "write",
        What::Refused { .. } => "refused",
        What::Failed { .. } => "failed",
        What::Happened { .. } => "machine",
        What::Outside { .. } => "outside",
        What::Announced { .. } => "event",
        What::Faulted(_) => "fault",
    }
}

fn phase_name(phase: TurnPhase) -> &'static str {
    match phase {
        TurnPhase::Observe => "observe",
        TurnPhase::Diff => "diff",
        TurnPhase::Act => "act",
    }
}

/// The kept events as JSON: `{"loopscope": "trace/1", …, "events": [{"seq", "atMs", "cause", "root", "who", "kind",
/// "text"}]}`.
///
/// `digest` covers all events, those that are not kept any more too; `events` says how many there were in all.
pub fn trace_json(simulation: &Simulation) -> String {
    let (scenario, trace) = (simulation.scenario(), simulation.trace());
    let mut out = String::from("{\"loopscope\":\"trace/1\",\"scenario\":");
    text(&mut out, &scenario.name);
    let (seed, now, last) = (scenario.seed.to_string(), simulation.now().0.to_string(), trace.last_seq().0.to_string());
    out += &[",\"seed\":\"", &seed, "\",\"atMs\":", &now, ",\"happened\":", &last, ",\"state\":\""].concat();
    out += &[&state_words(trace.digest()), "\",\"events\":["].concat();
    for event in trace.all_events() {
        let Some(row) = view::event(simulation, event.seq.0) else { continue };
        let mut fields = vec![
            ("seq", To::Number(event.seq.0)),
            ("atMs", To::Number(event.at.0)),
            ("root", To::Number(event.root.0)),
            ("who", To::Text(&row.who)),
            ("kind", To::Text(kind(&event.what))),
        ];
        if let Some(cause) = event.cause {
            fields.push(("cause", To::Number(cause.0)));
        }
        if event.is_background {
            fields.push(("isBackground", To::Json("true")));
        }
        let words = row.text.plain();
        fields.push(("text", To::Text(&words)));
        item(&mut out, &fields);
    }
    out + "\n]}\n"
}
