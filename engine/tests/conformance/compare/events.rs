//! Events.

use std::collections::{BTreeMap, BTreeSet};

use super::super::names::Names;
use super::super::player::Run;
use super::super::recording::{KubeletKind, Recording};

/// How often each Event was told, names normalised.
fn told_events(events: impl Iterator<Item = [String; 5]>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for event in events {
        *counts.entry(event.join(" ")).or_default() += 1;
    }
    counts
}

/// Controllers that are not there, whose Events are not asked for.
const NOT_SIMULATED: [&str; 1] = ["ipallocator-repair-controller"];

/// How often these are told is a matter of milliseconds: how often a pod is tried in vain, and how many syncs meet the
/// pods of a node that is gone.
const UNCOUNTED: [&str; 2] = [" FailedScheduling ", " FailedToUpdateEndpointSlices "];

/// Where a pod went is a matter of placement, whether an image was there already one of what ran before.
fn plain(message: String) -> String {
    if message.starts_with("Successfully pulled image") || message.starts_with("Container image") {
        return message.split('"').nth(1).unwrap_or_default().into();
    }
    if let Some((by, _)) = message.split_once(" on node ").filter(|_| message.starts_with("Preempted by ")) {
        return format!("{by} on node NODE");
    }
    // Of several pods without a request any may be named.
    if let Some((why, _)) = message.split_once(" of Pod ").filter(|_| message.contains("missing request")) {
        return why.into();
    }
    match message.strip_prefix("Successfully assigned ").and_then(|it| it.rsplit_once(" to ")) {
        Some((pod, _)) => format!("Successfully assigned {pod} to NODE"),
        None => message,
    }
}

/// Events by reason and object.
pub fn differences(recording: &Recording, run: &Run) -> Vec<String> {
    let recorded_names = Names::of(&recording.trace, &recording.namespace);
    let names = Names::of(&run.changes, &recording.namespace);
    let is_real = recording.kubelet.kind == KubeletKind::Real;
    // The recorder's own kubelet tells nothing; of nodes a recording tells only where they play a part.
    let has_node = |name: &str| recording.trace.iter().any(|it| it.kind == "Node" && it.name == name);
    let counts = |component: &str, reason: &str, kind: &str, name: &str| {
        if reason == "Pulling" || NOT_SIMULATED.contains(&component) {
            return false;
        }
        if kind == "Node" { has_node(name) && component != "kubelet" } else { component != "kubelet" || is_real }
    };
    let recorded = told_events(recording.events.iter().filter_map(|it| {
        let (kind, name) = it.about.split_once('/').unwrap_or_default();
        if !counts(&it.component, &it.reason, kind, name) {
            return None;
        }
        let about = recorded_names.group(kind, name);
        let message = plain(recorded_names.text(&it.message));
        Some([it.component.clone(), it.kind.clone(), it.reason.clone(), about, message])
    }));
    let ours = told_events(
        run.events.iter().filter(|it| counts(&it.component, &it.reason, &it.about.0, &it.about.1)).map(|it| {
            let about = names.group(&it.about.0, &it.about.1);
            let message = plain(names.text(&it.message));
            [it.component.clone(), it.kind.into(), it.reason.clone(), about, message]
        }),
    );
    let is_racy = recording.racy.iter().any(|it| it.starts_with("replicaSetSpecSteps"));
    let all: BTreeSet<&String> = recorded.keys().chain(ours.keys()).collect();
    let mut told = Vec::new();
    for what in all {
        let (ours, recorded) = (ours.get(what).copied().unwrap_or(0), recorded.get(what).copied().unwrap_or(0));
        // Where sizes depend on readiness, so does how often they are told.
        // A kubelet drops Events by a rule of its own, warnings first.
        let is_kubelet = what.starts_with("kubelet ");
        if is_kubelet && what.contains(" Warning ") && recorded == 0 || recording.is_bareness(what) {
            continue;
        }
        let is_free = is_kubelet || UNCOUNTED.iter().any(|it| what.contains(it));
        let is_loose = is_racy && !what.contains("ScalingReplicaSet") || is_free;
        let is_same = if is_loose { (ours > 0) == (recorded > 0) } else { ours == recorded };
        let is_asked = !(is_racy && what.contains("ScalingReplicaSet"));
        if is_asked && !is_same {
            told.push(format!("event {what}: {ours} times (recorded {recorded})"));
        }
    }
    told
}
