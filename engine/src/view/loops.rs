//! The loops as rows, the sentence of now, the API server's bar.

use super::words::{as_cause, describe, loop_name, short};
use super::{Chip, ChipState, LoopId, LoopRow, NowLine, Phase, PhaseCell, StoreView};
use crate::api::{Kind, ObjectKey};
use crate::client::{LoopIndex, TurnPhase, What};
use crate::sim::{Time, sort_by};
use crate::world::{Cell, Loop, ProcessKind, Simulation};

/// Chips shown in a queue.
const MAX_CHIPS: usize = 2;
/// With more kubelets than this, only those at work have a row.
const MAX_KUBELETS: usize = 8;
/// Loops that watch over what the others do.
const WATCHERS: [&str; 6] =
    ["Node lifecycle", "Taint eviction", "Garbage collector", "Namespaces", "Disruption budgets", "Resource quotas"];
/// How long a kubelet counts as being at work after its last step, in ms.
const RECENT_MS: u64 = 2_000;

pub fn loop_rows(simulation: &Simulation) -> Vec<LoopRow> {
    let newest = simulation.trace().last().and_then(|event| actor(&event.what));
    let kubelets = simulation.processes().iter().filter(|it| matches!(it.kind, ProcessKind::Kubelet(_))).count();
    let mut n_kubelets = 0;
    let rows = simulation.loops().iter().enumerate().filter_map(|(index, it)| {
        let process = &simulation.processes()[it.process];
        if matches!(process.kind, ProcessKind::Kubelet(_)) && kubelets > MAX_KUBELETS {
            let is_recent = it.last_active.is_some_and(|at| simulation.now().since(at).0 < RECENT_MS);
            if !is_recent || n_kubelets == MAX_KUBELETS {
                return None;
            }
            n_kubelets += 1;
        }
        if is_extra(&it.name) && it.turns == 0 && it.cells.iter().all(Option::is_none) {
            return None;
        }
        let id = LoopIndex(u32::try_from(index).ok()?);
        Some(loop_row(simulation, id, it, process.is_up, newest == Some(id)))
    });
    let mut rows: Vec<LoopRow> = rows.collect();
    // In the order in which work flows; those that watch over the rest come last.
    let is_watcher = |row: &LoopRow| WATCHERS.contains(&row.name.as_str());
    sort_by(&mut rows, |a, b| is_watcher(a).cmp(&is_watcher(b)));
    rows
}

/// Loops that have a row once they had something to do.
fn is_extra(name: &str) -> bool {
    matches!(name, "StatefulSet" | "DaemonSet" | "Job" | "Finished Jobs" | "EndpointSlice" | "Pod collector")
}

/// The loop that an event is about.
fn actor(what: &What) -> Option<LoopIndex> {
    match what {
        What::Told { to: at, .. }
        | What::Ticked(at)
        | What::Reached { by: at, .. }
        | What::Failed { by: at, .. }
        | What::Announced { by: at, .. }
        | What::Wrote { author: crate::client::Author::Loop(at), .. }
        | What::Refused { author: crate::client::Author::Loop(at), .. } => Some(*at),
        _ => None,
    }
}

fn loop_row(simulation: &Simulation, id: LoopIndex, it: &Loop, is_up: bool, is_current: bool) -> LoopRow {
    let shown = it.shown.as_ref().and_then(|key| it.active.get(key)).filter(|turn| !turn.is_background);
    let any = || it.active.values().find(|turn| !turn.is_background && turn.phase.is_some());
    let lit = shown.or_else(any).and_then(|turn| turn.phase).map(|phase| match phase {
        TurnPhase::Observe => Phase::Observe,
        TurnPhase::Diff => Phase::Diff,
        TurnPhase::Act => Phase::Act,
    });
    let (queue, more) = chips(it);
    let is_in_flight = shown.is_some_and(|turn| turn.awaiting > 0);
    let cell = |phase: TurnPhase| {
        it.cells[phase as usize].as_ref().map(|cell| phase_cell(cell, is_in_flight && phase == TurnPhase::Act))
    };
    LoopRow {
        id: LoopId(id.0),
        name: it.name.to_string(),
        waits: waits(simulation.now(), it, is_up),
        queue,
        more,
        cells: [cell(TurnPhase::Observe), cell(TurnPhase::Diff), cell(TurnPhase::Act)],
        lit,
        is_current,
        turns: it.turns,
        retries: it.retries,
        last_active_ms: it.last_active.map(|at| at.0),
        is_down: !is_up,
    }
}

pub fn phase_cell(cell: &Cell, is_in_flight: bool) -> PhaseCell {
    let mut detail = cell.facts.detail.as_ref().map(ToString::to_string).unwrap_or_default();
    let mut append = |text: &str| {
        if !detail.is_empty() {
            detail.push_str(", ");
        }
        detail.push_str(text);
    };
    match cell.answer {
        Some(answer) if !is_in_flight => {
            append(&answer.code.to_string());
            if answer.version > 0 {
                append(&format!("rv {}", answer.version));
            }
        }
        _ if is_in_flight => append("in flight"),
        _ => {}
    }
    let failed = cell.answer.is_some_and(|answer| answer.failed);
    PhaseCell { text: cell.facts.text.to_string().into(), detail, seq: cell.seq.0, failed }
}

/// A key as a chip shows it: `web…qk5ms`, `web-6d4cf56db6`.
fn chip_text(key: &ObjectKey) -> String {
    if key.kind != Kind::Pod {
        return key.name.to_string();
    }
    let (stem, tail) = super::pods::split_name(&key.name);
    format!("{stem}{tail}")
}

fn chips(it: &Loop) -> (Vec<Chip>, usize) {
    let chip = |key: &ObjectKey, state| Chip { text: chip_text(key), state };
    let is_shown = |key: &&ObjectKey| !it.active.get(*key).is_some_and(|turn| turn.is_background);
    let running = it.active.keys().filter(is_shown).map(|key| {
        let state = if it.queue.runs_again(key) { ChipState::Dirty } else { ChipState::Running };
        chip(key, state)
    });
    let waiting = it.queue.waiting().map(|key| chip(key, ChipState::Waiting));
    let is_waiting = |(key, _): &(&ObjectKey, Time)| !it.queue.holds(key);
    let delayed = it.queue.delayed().filter(is_waiting).map(|(key, _)| chip(key, ChipState::Delayed));
    // Thousands may wait in a crowd: only those that are shown are put into words.
    let all: Vec<Chip> = running.chain(waiting).chain(delayed).take(MAX_CHIPS).collect();
    let n_delayed = it.queue.delayed().filter(is_waiting).count();
    let n = it.active.keys().filter(is_shown).count() + it.queue.waiting().count() + n_delayed;
    let more = n - all.len();
    (all, more)
}

fn waits(now: Time, it: &Loop, is_up: bool) -> String {
    if !is_up {
        return "stopped".into();
    }
    if it.active.keys().any(|key| it.queue.runs_again(key)) {
        return "runs again next".into();
    }
    let busy = it.active.iter().find(|(_, turn)| !turn.is_background && turn.phase.is_some());
    if let Some((key, _)) = busy {
        return format!("works on {}", short(key));
    }
    match it.queue.delayed().map(|(_, at)| at).min() {
        Some(at) => format!("wakes in {}", seconds(at.since(now).0)),
        None => "waits for events".into(),
    }
}

fn seconds(ms: u64) -> String {
    match ms {
        0..=999 => format!("{ms} ms"),
        1000..=9_999 => format!("{}.{} s", ms / 1000, ms / 100 % 10),
        _ => format!("{} s", ms / 1000),
    }
}

/// What the newest event says, and what it follows from.
pub fn now_line(simulation: &Simulation) -> Option<NowLine> {
    let event = simulation.trace().last()?;
    let (who, text, _) = describe(simulation, &event.what);
    let text = match &event.what {
        What::Commanded(_) => format!("**You** {}", text.0),
        What::Reached { by, phase, .. } => {
            let verb = match phase {
                TurnPhase::Observe => "observes",
                TurnPhase::Diff => "compares",
                TurnPhase::Act => "acts",
            };
            format!("**{} {verb}**: {}", loop_name(simulation, *by), text.plain())
        }
        What::Told { .. } => format!("**{who}** {}", text.plain()),
        _ => format!("**{who}**: {}", text.plain()),
    };
    let root = simulation.trace().get(event.root).filter(|root| root.seq != event.seq);
    let because = root
        .filter(|root| matches!(root.what, What::Commanded(_)))
        .map(|root| {
            let said = as_cause(simulation, &root.what);
            let said = said.strip_prefix("You ").unwrap_or(&said).to_string();
            format!("because you {said}, {} ago", seconds(event.at.since(root.at).0))
        })
        .unwrap_or_default();
    Some(NowLine { text: text.into(), because, seq: event.seq.0 })
}

pub fn store(simulation: &Simulation) -> StoreView {
    let watches = simulation.processes().iter().filter(|process| process.is_up).map(|process| match process.kind {
        ProcessKind::ControllerManager => 5,
        ProcessKind::Scheduler | ProcessKind::Kubelet(_) => 2,
    });
    let in_flight = simulation.requests_in_flight().filter(|(_, request)| !request.is_background).last();
    let in_flight = in_flight.map(|(by, request)| {
        let (method, subresource) = request.method();
        let key = request.key();
        let mut text = format!("{method} {}", key.kind.plural());
        for part in [&*key.name, subresource] {
            if !part.is_empty() {
                text.push('/');
                text.push_str(part);
            }
        }
        (LoopId(by.0), text)
    });
    let is_up = |kind| simulation.processes().iter().any(|process| process.kind == kind && process.is_up);
    let are_up = [is_up(ProcessKind::ControllerManager), is_up(ProcessKind::Scheduler)];
    StoreView { resource_version: simulation.api().version(), watches: watches.sum(), in_flight, are_up }
}
