//! Whether what a recording calls milestones came within their windows.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::marks::{self, Mark};
use super::names::Names;
use super::player::{Done, Run};
use super::recording::{Milestone, Op, Recording};

/// Milestones that are alike: name, objects and value, and the action they follow.
type Key = (String, String, String, usize);

/// What of a milestone can be the same in another run.
fn key(milestone: &Milestone, names: &Names) -> Key {
    let (kind, name) = milestone.object.split_once('/').unwrap_or_default();
    // All slices of a namespace are counted together, and any pod may be the first of its node to go.
    let group = match milestone.name.as_str() {
        "endpoints_ready" | "first_eviction" => kind.to_string(),
        _ => names.group(kind, name),
    };
    let value = match milestone.name.as_str() {
        // Which pod and which node it was is a matter of names and of placement.
        "replacement_created" | "first_eviction" | "nominated" => String::new(),
        _ => names.value(&milestone.value).to_string(),
    };
    (milestone.name.clone(), group, value, milestone.after)
}

/// The action that was about the very object that a milestone is about, its cause or a later one. Then that object's
/// mark is meant, whichever number it has among its like.
fn own_action(recording: &Recording, milestone: &Milestone) -> Option<usize> {
    let is_about = |index: &usize| {
        let action = &recording.actions[*index];
        let target = match &action.op {
            Op::Delete { target, .. } | Op::Patch { target, .. } => format!("{}/{}", target.kind, target.name),
            _ => return false,
        };
        action.t <= milestone.t && target == milestone.object
    };
    (milestone.after..recording.actions.len()).find(is_about)
}

/// What a milestone is in terms of marks.
fn mark_name(milestone: &str) -> &str {
    match milestone {
        "first_pod_created" | "replacement_created" => "pod_created",
        "first_pod_bound" => "pod_bound",
        "first_pod_ready" => "pod_ready",
        "first_pod_unschedulable" => "pod_unschedulable",
        other => other,
    }
}

fn is_same(key: &Key, mark: &Mark) -> bool {
    let (name, group, value, _) = key;
    let is_it = mark.group == *group || mark.group.split(' ').next() == Some(group);
    mark_name(name) == mark.name && is_it && says(name, value, &mark.value)
}

/// Whether a mark's value is the milestone's. The runtime of the recorded kubelets gave no reason for an end that was
/// asked for.
fn says(name: &str, value: &str, found: &Value) -> bool {
    let is_first_pod = name.starts_with("first_pod") && name != "first_pod_unschedulable";
    if value.is_empty() || is_first_pod {
        return true;
    }
    let whole = found.to_string();
    let mut found = found.clone();
    found.as_object_mut().and_then(|it| it.remove("reason"));
    let without_reason = found.to_string();
    value == whole || value == without_reason
}

/// Whether which sizes there are in between depends on which pods were ready when a Deployment was synced. Then only
/// the first size of an action and the one to 0 are asked for, whatever the others were.
fn is_racy(milestone: &Milestone, recording: &Recording) -> bool {
    let is_racy = recording.racy.iter().any(|it| it.starts_with("replicaSetSpecSteps"));
    is_racy && matches!(milestone.name.as_str(), "rs_scaled" | "rs_all_ready")
}

/// Every milestone outside its window, in one line each.
pub fn differences(recording: &Recording, run: &Run) -> Vec<String> {
    let recorded = Names::of(&recording.trace, &recording.namespace);
    let names = Names::of(&run.changes, &recording.namespace);
    let marks = marks::find(&run.changes, &names);
    let mut counts: BTreeMap<Key, usize> = BTreeMap::new();
    let mut found: Vec<Option<u64>> = Vec::new();
    let mut firsts = BTreeSet::new();
    let mut told = Vec::new();
    for (index, milestone) in recording.milestones.iter().enumerate() {
        let later = &recording.milestones[index + 1..];
        let key = key(milestone, &recorded);
        let own_key = (key.0.clone(), milestone.object.clone(), key.2.clone(), key.3);
        let own = own_action(recording, milestone);
        let nth = counts.entry(if own.is_some() { own_key } else { key.clone() }).or_default();
        let nothing = Done { t: 0, version: 0, target: None };
        let action = run.actions.get(milestone.after).unwrap_or(&nothing);
        let from = action.t;
        let own = own.and_then(|own| run.actions.get(own)?.target.as_ref());
        let mut same = marks
            .iter()
            .filter(|it| it.rv > action.version && is_same(&key, it) && own.is_none_or(|own| *own == it.object));
        let mut mark = same.nth(*nth).map(|it| it.t);
        let is_first = firsts.insert((key.0.clone(), key.1.clone(), milestone.after));
        if mark.is_none() && is_racy(milestone, recording) {
            mark = first_size(&marks, &key, action).filter(|_| is_first || key.2.ends_with(",0]"));
            if mark.is_none() {
                found.push(None);
                continue;
            }
        }
        *nth += 1;
        found.push(mark);
        let is_last = !later
            .iter()
            .any(|it| it.name == milestone.name && it.object == milestone.object && it.after == milestone.after);
        if is_racy(milestone, recording) && !is_first && !is_last {
            continue;
        }
        if !is_asked(recording, milestone) {
            continue;
        }
        told.extend(outside(recording, milestone, &key, mark.map(|at| at - from), &found, from));
    }
    told
}

/// The first size that an action led to, and the one to 0.
fn first_size(marks: &[Mark], key: &Key, action: &Done) -> Option<u64> {
    let (name, group, value, _) = key;
    let to_none = |value: &str| value.ends_with(",0]");
    let mut same = marks.iter().filter(|it| it.rv > action.version && it.name == name && it.group == *group);
    same.find(|it| name == "rs_scaled" && to_none(value) == to_none(&it.value.to_string())).map(|it| it.t)
}

/// Whether a milestone is asked for at all.
fn is_asked(recording: &Recording, milestone: &Milestone) -> bool {
    let value = milestone.value.as_str().unwrap_or_default();
    !recording.is_bareness(value)
}

/// By how much a run may be early: by what the recorder was late with its own request, by the time of its API server's
/// answers, and where its kubelet has the word by what that was late.
fn leeway(recording: &Recording, milestone: &Milestone) -> i64 {
    let is_kubelets = milestone.phase.as_deref() == Some("kubelet");
    let kubelet = if is_kubelets { recording.word_late_ms } else { 0 };
    if milestone.name == "object_gone" && !recording.ever_ran(&milestone.object) {
        // A pod of which nothing ever ran goes at once; the recorder's kubelet waits as long as for one that ran.
        return i64::MAX / 2;
    }
    lateness(recording, milestone.after) + (recording.answer_ms + kubelet) as i64
}

/// From an action's time until its request reached the API server.
fn lateness(recording: &Recording, action: usize) -> i64 {
    let Some(action) = recording.actions.get(action) else { return 0 };
    let version = action.result.and_then(|it| it.rv);
    let request = recording.writes.iter().find(|it| version.is_some() && it.rv == version && it.by == "admin");
    request.map_or(0, |it| it.t.saturating_sub(action.t) as i64)
}

fn outside(
    recording: &Recording,
    milestone: &Milestone,
    key: &Key,
    ms: Option<u64>,
    found: &[Option<u64>],
    from: u64,
) -> Option<String> {
    let what = format!("{} {} {}", milestone.name, key.1, milestone.value);
    let Some(ms) = ms else {
        return Some(format!("milestone {what}: never came after action {}", milestone.after));
    };
    let is_within = |ms: i64, (lo, hi): (i64, i64)| (lo..=hi).contains(&ms);
    let (ms, (lo, hi)) = (ms as i64, milestone.window_ms);
    let window = (lo - leeway(recording, milestone), hi);
    if !is_within(ms, window) {
        return Some(format!(
            "milestone {what}: {ms} ms after action {} (recorded {}, allowed {lo} to {hi})",
            milestone.after,
            milestone.t - recording.actions.get(milestone.after).map_or(0, |it| it.t)
        ));
    }
    let (of, (lo, hi)) = (milestone.rel_to?, milestone.rel_window_ms?);
    if milestone.name == "object_gone" && matches!(recording.actions[milestone.after].op, Op::NodeBack { .. }) {
        // Pods go when their kubelet is back, not with the taint that the recorder takes for the cause.
        return None;
    }
    let since = found.get(of).copied().flatten()?;
    let after = from as i64 + ms - since as i64;
    // What may come at the same time may come in the other order: the index says what came before, not what it waits for.
    let window = if lo == 0 { (-hi, hi) } else { (lo, hi) };
    (!is_within(after, window))
        .then(|| format!("milestone {what}: {after} ms after milestone {of} (allowed {lo} to {hi})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::folder::Folder;

    /// What is looked for is what the recorder meant: every milestone is found in its own recording, in the very write.
    #[test]
    fn every_milestone_is_found_in_its_own_recording() {
        let folder = Folder::own();
        let mut missed = Vec::new();
        for name in folder.traces().iter().filter(|name| !name.starts_with(['p', 'n'])) {
            let Ok(recording) = folder.trace(name).and_then(|text| Recording::read(&text)) else { continue };
            let names = Names::of(&recording.trace, &recording.namespace);
            let marks = marks::find(&recording.trace, &names);
            for milestone in &recording.milestones {
                let key = key(milestone, &names);
                if !marks.iter().any(|mark| mark.rv == milestone.rv && is_same(&key, mark)) {
                    missed.push(format!("{name}: {milestone:?} {key:?}"));
                }
            }
        }
        assert!(missed.is_empty(), "{} missed: {}", missed.len(), missed.join("\n"));
    }
}
