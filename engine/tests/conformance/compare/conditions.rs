//! The courses of conditions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::names::Names;
use super::super::player::{Run, text};
use super::super::recording::{Change, ChangeType, KubeletKind, Recording};

/// For each object and type of condition: what it said, one after the other.
fn courses(recording: &Recording, changes: &[Change], names: &Names) -> BTreeMap<String, Vec<Vec<String>>> {
    let mut single: BTreeMap<(String, String, String), Vec<String>> = BTreeMap::new();
    for change in changes.iter().filter(|it| it.change != ChangeType::Deleted) {
        let own = change.fields.get("conditions");
        let list = own.or_else(|| change.fields.get("status")?.get("conditions"));
        for it in list.and_then(Value::as_array).into_iter().flatten() {
            let kind = text(&it["type"]);
            let Some(told) = tell(recording, change, it) else { continue };
            let told = names.text(&told);
            let course = single.entry((change.kind.clone(), change.name.clone(), kind)).or_default();
            let is_again = course.last() == Some(&told) || is_silence(recording, change, course, &told);
            if !is_again {
                course.push(told);
            }
        }
    }
    let mut all: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for ((kind, name, condition), course) in single {
        if recording.kubelet.kind == KubeletKind::Fake && is_unborn(&kind, &course) {
            continue;
        }
        all.entry(format!("{} {condition}", names.group(&kind, &name))).or_default().push(course);
    }
    for courses in all.values_mut() {
        courses.sort();
    }
    all
}

/// What a condition says; nothing where that is a matter of the recorder's own kubelet.
fn tell(recording: &Recording, change: &Change, condition: &Value) -> Option<String> {
    let kind = text(&condition["type"]);
    let is_fake = recording.kubelet.kind == KubeletKind::Fake;
    let is_asked = match change.kind.as_str() {
        // What it says of a pod's sandbox.
        "Pod" => !is_fake || matches!(kind.as_str(), "Ready" | "PodScheduled" | "DisruptionTarget"),
        // It creates a node bare and says in a second write that it is ready; a kubelet says first that it is not.
        "Node" => !recording.is_joined(&change.name) || condition["reason"] != "KubeletNotReady",
        _ => true,
    };
    let message = text(&condition["message"]);
    if !is_asked || recording.is_bareness(&message) {
        return None;
    }
    // Why a kubelet says that its node is not ready is made up.
    let is_made_up = condition["reason"] == "KubeletNotReady" && recording.tells_of(&change.name);
    let told = format!(
        "{} {} {}",
        text(&condition["status"]),
        text(&condition["reason"]),
        if is_made_up { "" } else { &message }
    );
    Some(told.trim_end().to_string())
}

/// The recorder's kubelet says nothing more of a pod that the node controller called unready; ours says why it is.
fn is_silence(recording: &Recording, change: &Change, course: &[String], told: &str) -> bool {
    let is_known = course.last().is_some_and(|it| it == "False");
    change.kind == "Pod"
        && recording.has_nodes_that_return()
        && is_known
        && told.starts_with("False ContainersNotReady")
}

/// Which pods were deleted before anything ran in them is a matter of milliseconds, and how the recorder's kubelet ends
/// them one of that kubelet.
fn is_unborn(kind: &str, course: &[String]) -> bool {
    kind == "Pod" && course.last().is_some_and(|it| it == "False PodFailed") && !course.iter().any(|it| it == "True")
}

/// What a Deployment's condition may skip. "A new ReplicaSet was created" goes with a status write that is refused where
/// the cache does not know the last one yet, and is not tried again; and "it is progressing" is judged by the last status
/// written, be it from before or after the template changed.
const SKIPPABLE: [&str; 2] = ["True NewReplicaSetCreated", "True ReplicaSetUpdated"];

fn without_skippable(courses: &[Vec<String>]) -> Vec<Vec<String>> {
    let is_sure = |it: &&String| !SKIPPABLE.iter().any(|skippable| it.starts_with(skippable));
    let rest = |course: &Vec<String>| {
        let mut rest: Vec<String> = course.iter().filter(is_sure).cloned().collect();
        rest.dedup();
        rest
    };
    courses.iter().map(rest).collect()
}

/// What objects said of themselves, one after the other.
pub fn differences(recording: &Recording, run: &Run) -> Vec<String> {
    let recorded = courses(recording, &recording.trace, &Names::of(&recording.trace, &recording.namespace));
    let ours = courses(recording, &run.changes, &Names::of(&run.changes, &recording.namespace));
    let has_conflicts = recording.writes.iter().any(|it| it.resource == "deployments/status" && it.code == 409);
    let mut told = Vec::new();
    for (what, recorded) in &recorded {
        let none = Vec::new();
        let ours = ours.get(what).unwrap_or(&none);
        // Which pods come and go, and how many, follows the sizes; what any of them goes through does not.
        let is_many = what.contains("/*");
        let (mut a, mut b) =
            if is_many { (distinct(ours), distinct(recorded)) } else { (ours.clone(), recorded.clone()) };
        if has_conflicts && what.ends_with("Progressing") && a != b {
            (a, b) = (without_skippable(&a), without_skippable(&b));
        }
        // A real kubelet that may send five requests a second leaves out what lasts a moment.
        if recording.kubelet.kind == KubeletKind::Real && what.starts_with("Pod ") {
            b.retain(|course| !a.iter().any(|it| is_within(course, it)));
            if b.is_empty() {
                continue;
            }
        }
        if a != b {
            told.push(format!("conditions {what}: {}", first_difference(&a, &b)));
        }
    }
    let is_odd = |what: &&String| !recorded.contains_key(*what) && !what.starts_with("Node ");
    told.extend(ours.keys().filter(is_odd).map(|what| format!("conditions {what}: there (not recorded)")));
    told
}

/// Where two courses part, or a course that the other side has not.
fn first_difference(ours: &[Vec<String>], recorded: &[Vec<String>]) -> String {
    if let ([ours], [recorded]) = (ours, recorded) {
        let at = (0..).find(|at| ours.get(*at) != recorded.get(*at)).unwrap_or(0);
        let step = |it: &[String]| it.get(at).map_or("nothing more".into(), |it| format!("\"{it}\""));
        return format!("step {at} is {} (recorded {})", step(ours), step(recorded));
    }
    let other = |these: &[Vec<String>], those: &[Vec<String>]| {
        let odd = these.iter().find(|it| !those.contains(it));
        odd.map_or("nothing else".into(), |it| it.join(" > "))
    };
    format!("{} (recorded {})", other(ours, recorded), other(recorded, ours))
}

/// Whether a course comes out of another by leaving something out.
fn is_within(course: &[String], other: &[String]) -> bool {
    let mut rest = other.iter();
    course.iter().all(|it| rest.any(|there| there == it))
}

fn distinct(courses: &[Vec<String>]) -> Vec<Vec<String>> {
    let all: BTreeSet<&Vec<String>> = courses.iter().collect();
    all.into_iter().cloned().collect()
}
