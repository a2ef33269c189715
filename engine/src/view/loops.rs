//! The loops as rows, the sentence of now, the API server's bar.

use super::words::{as_cause, describe, loop_name, short};
use super::{CacheLag, Chip, ChipState, Countdown, LoopId, LoopRow, NowLine, Phase, PhaseCell, StoreView};
use crate::api::{Kind, ObjectKey};
use crate::client::{LoopIndex, TurnPhase, What};
use crate::controllers::horizontal_pod_autoscaler::NAME as AUTOSCALER;
use crate::controllers::thermostat::NAME as THERMOSTAT;
use crate::sim::{Seq, Time, TraceEvent, sort_by};
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
    let lags = lags(simulation);
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
        Some(loop_row(simulation, id, it, lags.get(it.process).copied().unwrap_or_default(), newest == Some(id)))
    });
    let mut rows: Vec<LoopRow> = rows.collect();
    // In the order in which work flows; those that watch over the rest come last.
    sort_by(&mut rows, |a, b| is_watcher(&a.name).cmp(&is_watcher(&b.name)));
    rows
}

/// Loops that watch over the rest come after those that the work flows through.
pub fn is_watcher(name: &str) -> bool {
    WATCHERS.contains(&name)
}

/// Loops that have a row once they had something to do.
pub fn is_extra(name: &str) -> bool {
    matches!(name, "StatefulSet" | "DaemonSet" | "Job" | "Finished Jobs" | "EndpointSlice" | "Pod collector")
        || name == AUTOSCALER
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

/// How far each process's cache is behind. A cache that is told of everything it watches is as new as the store, even
/// where the newest writes were none of its business: a watch's bookmarks say so.
fn lags(simulation: &Simulation) -> Vec<CacheLag> {
    let store = simulation.api().version();
    let all = simulation.processes().iter().map(|it| {
        let seen = if it.is_cut { it.version } else { store };
        CacheLag { seen, store, behind: 0, is_cut: it.is_cut }
    });
    let mut lags: Vec<CacheLag> = all.collect();
    for (process, change) in simulation.deliveries() {
        if let Some(lag) = lags.get_mut(process) {
            (lag.seen, lag.behind) = (change.version.saturating_sub(1), lag.behind + 1);
        }
    }
    lags
}

fn loop_row(simulation: &Simulation, id: LoopIndex, it: &Loop, cache: CacheLag, is_current: bool) -> LoopRow {
    let is_up = simulation.processes()[it.process].is_up;
    let shown = it.shown.as_ref().and_then(|key| it.active.get(key)).filter(|turn| !turn.is_background);
    let any = || it.active.values().find(|turn| !turn.is_background && turn.phase.is_some());
    let lit = shown.or_else(any).and_then(|turn| turn.phase).map(|phase| match phase {
        TurnPhase::Observe => Phase::Observe,
        TurnPhase::Diff => Phase::Diff,
        TurnPhase::Act => Phase::Act,
    });
    let (queue, more) = chips(simulation, it);
    let is_in_flight = shown.is_some_and(|turn| turn.awaiting > 0);
    let cell = |phase: TurnPhase| {
        it.cells[phase as usize].as_ref().map(|cell| phase_cell(cell, is_in_flight && phase == TurnPhase::Act))
    };
    LoopRow {
        id: LoopId(id.0),
        name: it.name.to_string(),
        waits: waits(simulation.now(), it, is_up),
        watches: watches(&it.name),
        cache,
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

fn chips(simulation: &Simulation, it: &Loop) -> (Vec<Chip>, usize) {
    let chip = |key: &ObjectKey, state| Chip { text: chip_text(key), state, left: None, wait: String::new() };
    let is_heartbeat = |key: &&ObjectKey| !it.active.get(*key).is_some_and(|turn| turn.is_background);
    let running = it.active.iter().filter(|(key, _)| is_heartbeat(key)).map(|(key, turn)| {
        let state = match (it.queue.runs_again(key), turn.awaiting > 0) {
            (true, _) => ChipState::Dirty,
            (_, true) => ChipState::InFlight,
            _ => ChipState::Running,
        };
        chip(key, state)
    });
    let waiting = it.queue.waiting().map(|key| chip(key, ChipState::Waiting));
    let mut delayed: Vec<(&ObjectKey, Time)> = it.queue.delayed().filter(|(key, _)| !it.queue.holds(key)).collect();
    sort_by(&mut delayed, |a, b| a.1.cmp(&b.1));
    let n = it.active.len() + it.queue.waiting().count() + delayed.len();
    // One of them, so that there is room for its name and its time.
    let delayed = delayed.iter().take(1).map(|(key, at)| delayed_chip(simulation, it, key, *at));
    let mut all: Vec<Chip> = running.chain(waiting).chain(delayed).take(MAX_CHIPS).collect();
    let hidden = it.active.keys().filter(|key| !is_heartbeat(key)).count();
    all.truncate(MAX_CHIPS);
    let more = (n - hidden).saturating_sub(all.len());
    (all, more)
}

/// A key that waits for its time: how long still, of how long in all.
fn delayed_chip(simulation: &Simulation, it: &Loop, key: &ObjectKey, at: Time) -> Chip {
    let left = at.since(simulation.now()).0;
    let asked = it.queue.delay_reason(key).and_then(|seq| simulation.trace().get(seq)).map(|event| event.at);
    let total = asked.map_or(left, |asked| at.since(asked).0).max(left);
    let round = |ms: u64| if ms < 1_000 { ms } else { ms / 100 * 100 };
    let state = if it.queue.failures(key) > 0 { ChipState::BackOff } else { ChipState::Delayed };
    let left_ms = round(left);
    Chip { text: chip_text(key), state, left: Some(Countdown { left_ms, total_ms: total }), wait: seconds(left_ms) }
}

/// What brings a loop its work, as far as it is simulated.
fn watches(name: &str) -> &'static str {
    match name {
        "Deployment" => "deployments, replicasets, pods",
        "ReplicaSet" => "replicasets, pods",
        "StatefulSet" => "statefulsets, pods",
        "DaemonSet" => "daemonsets, pods, nodes",
        "Job" => "jobs, pods",
        "Finished Jobs" => "jobs",
        "EndpointSlice" => "services, endpointslices, pods",
        AUTOSCALER => "autoscalers, their targets, pods",
        "Node lifecycle" => "nodes, leases, pods",
        "Taint eviction" => "nodes, pods",
        "Garbage collector" => "every kind",
        "Namespaces" => "namespaces",
        "Disruption budgets" => "poddisruptionbudgets, pods",
        "Resource quotas" => "resourcequotas, pods",
        "Pod collector" => "pods, nodes",
        "Scheduler" => "pods, nodes",
        THERMOSTAT => "its room's wishes, its sensor",
        _ if name.starts_with("Script of ") => "nothing",
        _ => "its node's pods, its node, its lease",
    }
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

pub fn seconds(ms: u64) -> String {
    match ms {
        0..=999 => format!("{ms} ms"),
        1000..=9_999 => format!("{}.{} s", ms / 1000, ms / 100 % 10),
        _ => format!("{} s", ms / 1000),
    }
}

/// The newest act that is no heartbeat: its trace event, the loop, and the object whose turn it is.
pub fn newest_act(simulation: &Simulation) -> Option<(u64, LoopId, ObjectKey)> {
    let acts = simulation.loops().iter().enumerate().filter_map(|(index, it)| {
        let act = it.cells[TurnPhase::Act as usize].as_ref()?;
        Some((act.seq.0, LoopId(u32::try_from(index).ok()?), it.shown.clone()?))
    });
    acts.reduce(|a, b| if b.0 > a.0 { b } else { a })
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
    let because = newest_command(simulation, &event)
        .map(|root| {
            let said = as_cause(simulation, &root.what);
            let said = said.strip_prefix("You ").unwrap_or(&said).to_string();
            format!("because you {said}, {} before", seconds(event.at.since(root.at).0))
        })
        .unwrap_or_default();
    Some(NowLine { text: text.into(), because, seq: event.seq.0 })
}

/// Causes that are walked, and events between two of them that are looked at, at the most.
const MAX_WALK: usize = 40;
const MOST_BETWEEN: u64 = 256;

/// The command that an event follows from. A turn begins for what its loop was told first, and observes what is so by
/// then: where the loop was told of the object again before it looked, it is the last of these that counts.
fn newest_command(simulation: &Simulation, event: &TraceEvent<What>) -> Option<TraceEvent<What>> {
    let trace = simulation.trace();
    let mut seen = event.clone();
    for _ in 0..MAX_WALK {
        let cause = trace.get(seen.cause?)?;
        let is_observation = matches!(seen.what, What::Reached { phase: TurnPhase::Observe, .. });
        seen = match &cause.what {
            What::Commanded(_) => return Some(cause),
            What::Told { to, key, .. } if is_observation => {
                let first = cause.seq.0.max(seen.seq.0.saturating_sub(MOST_BETWEEN)) + 1;
                let again =
                    |it: &TraceEvent<What>| matches!(&it.what, What::Told { to: t, key: k, .. } if (t, k) == (to, key));
                (first..seen.seq.0).rev().filter_map(|seq| trace.get(Seq(seq))).find(again).unwrap_or(cause)
            }
            _ => cause,
        };
    }
    trace.get(event.root).filter(|root| matches!(root.what, What::Commanded(_)))
}

pub fn store(simulation: &Simulation) -> StoreView {
    let watches = simulation.processes().iter().filter(|process| process.is_up).map(|process| match process.kind {
        ProcessKind::ControllerManager => 5,
        ProcessKind::Scheduler | ProcessKind::Kubelet(_) => 2,
        ProcessKind::Thermostat | ProcessKind::GitOps(_) => 1,
        ProcessKind::Script(_) | ProcessKind::Runner { .. } => 0,
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
