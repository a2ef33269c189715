//! What a run and a recording must have in common.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Map, Value};

use super::names::Names;
use super::player::{Run, text};
use super::recording::{Change, ChangeType, KubeletKind, Recording};

type Fields = Map<String, Value>;

/// Sizes of ReplicaSets in their order: `web#0 5`.
fn size_writes(changes: &[Change], names: &Names) -> Vec<String> {
    let mut known: BTreeMap<&str, i64> = BTreeMap::new();
    let mut writes = Vec::new();
    for change in changes.iter().filter(|it| it.kind == "ReplicaSet") {
        if change.change == ChangeType::Deleted {
            known.remove(change.name.as_str());
            continue;
        }
        let size = change.fields["spec"]["replicas"].as_i64().unwrap_or(0);
        if known.insert(change.name.as_str(), size) != Some(size) {
            writes
                .push(format!("{} {size}", names.object("ReplicaSet", &change.name).trim_start_matches("ReplicaSet ")));
        }
    }
    writes
}

/// The sizes that ReplicaSets were given: equal as far as nothing waits for readiness, afterwards within the bounds
/// that a rolling update promises.
pub fn steps(recording: &Recording, run: &Run) -> Vec<String> {
    let recorded = size_writes(&recording.trace, &Names::of(&recording.trace, &recording.namespace));
    let ours = size_writes(&run.changes, &Names::of(&run.changes, &recording.namespace));
    let asked = recording.deterministic_prefix.min(recorded.len());
    let differs = (0..asked).find(|at| recorded.get(*at) != ours.get(*at));
    let mut told = Vec::new();
    if let Some(at) = differs {
        let none = "nothing".to_string();
        told.push(format!(
            "size write {at}: {} (recorded {})",
            ours.get(at).unwrap_or(&none),
            recorded.get(at).unwrap_or(&none)
        ));
    } else if asked == recorded.len() && ours.len() > asked {
        told.push(format!("size write {asked}: {} (recorded nothing more)", ours[asked]));
    }
    told.extend(bounds(&run.changes));
    told
}

/// No ReplicaSet grows while all of its Deployment's together are at replicas + maxSurge already.
fn bounds(changes: &[Change]) -> Vec<String> {
    let mut deployments: BTreeMap<&str, Rc<Fields>> = BTreeMap::new();
    let mut sizes: BTreeMap<(String, &str), i64> = BTreeMap::new();
    let mut told = Vec::new();
    for change in changes {
        match change.kind.as_str() {
            "Deployment" => {
                deployments.insert(&change.name, Rc::clone(&change.fields));
            }
            "ReplicaSet" => {
                let Some((_, owner)) = super::recording::controller(&change.fields) else { continue };
                let key = (owner.clone(), change.name.as_str());
                if change.change == ChangeType::Deleted {
                    sizes.remove(&key);
                    continue;
                }
                let size = change.fields["spec"]["replicas"].as_i64().unwrap_or(0);
                let grows = size > sizes.insert(key, size).unwrap_or(0);
                let total: i64 = sizes.iter().filter(|((of, _), _)| *of == owner).map(|(_, size)| size).sum();
                let most = deployments.get(owner.as_str()).map_or(i64::MAX, |it| most(it));
                if grows && total > most {
                    told.push(format!("{} at {} ms: {owner} has {total} in all (bound {most})", change.name, change.t));
                }
            }
            _ => {}
        }
    }
    told
}

/// replicas + maxSurge, rounded up.
fn most(deployment: &Fields) -> i64 {
    let replicas = deployment["spec"]["replicas"].as_i64().unwrap_or(1);
    let surge = &deployment["spec"]["strategy"]["rollingUpdate"]["maxSurge"];
    let percent = surge.as_str().and_then(|text| text.strip_suffix('%')?.parse::<i64>().ok());
    replicas + percent.map_or(surge.as_i64().unwrap_or(0), |percent| (replicas * percent + 99) / 100)
}

fn last_states(changes: &[Change]) -> BTreeMap<(String, String), Rc<Fields>> {
    let mut states = BTreeMap::new();
    for change in changes {
        let key = (change.kind.clone(), change.name.clone());
        match change.change {
            ChangeType::Deleted => states.remove(&key),
            _ => states.insert(key, Rc::clone(&change.fields)),
        };
    }
    states
}

/// Without what is a matter of time, of chance or of placement.
fn comparable(kind: &str, fields: &Fields, names: &Names) -> Value {
    let mut told = fields.clone();
    for name in ["uid", "createdMs"] {
        told.remove(name);
    }
    for name in ["deletionMs", "podIP", "startMs", "nodeName", "nominatedNodeName"] {
        if let Some(value) = told.get_mut(name) {
            *value = "some".into();
        }
    }
    if matches!(kind, "ReplicaSet" | "EndpointSlice") {
        // Counts writes, and how many there are depends on what is taken together.
        let generation = told.remove("generation").unwrap_or_default();
        if let Some(observed) = told.get_mut("status").and_then(|it| it.get_mut("observedGeneration")) {
            *observed = (*observed == generation).into();
        }
    }
    match kind {
        "Node" => {
            told.remove("annotations");
            told.remove("labels");
        }
        "EndpointSlice" => {
            told.remove("annotations");
        }
        "Service" => {
            told.get_mut("spec").and_then(Value::as_object_mut).map(|spec| spec.remove("clusterIP"));
        }
        "Job" => {
            // The template as a whole is nothing that a controller decides.
            told.get_mut("spec").and_then(Value::as_object_mut).map(|spec| spec.remove("template"));
        }
        _ => {}
    }
    let mut told = names.value(&Value::Object(told));
    timeless(&mut told);
    if let Some(endpoints) = told.get_mut("endpoints").and_then(Value::as_array_mut) {
        for endpoint in endpoints.iter_mut() {
            let all = endpoint.as_object_mut().expect("an endpoint");
            all.retain(|name, _| matches!(name.as_str(), "conditions" | "pod"));
        }
        endpoints.sort_by_key(Value::to_string);
    }
    if let Some(tolerations) = told.get_mut("tolerations").and_then(Value::as_array_mut) {
        tolerations.sort_by_key(Value::to_string);
    }
    told
}

/// Takes times out, and sorts conditions by type.
fn timeless(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(timeless),
        Value::Object(map) => {
            for name in ["lastUpdateMs", "lastTransitionMs", "lastHeartbeatMs", "timeAddedMs"] {
                map.remove(name);
            }
            for name in ["startTime", "completionTime", "lastProbeTime"] {
                if let Some(time) = map.get_mut(name) {
                    *time = "some".into();
                }
            }
            if let Some(conditions) = map.get_mut("conditions").and_then(Value::as_array_mut) {
                conditions.sort_by_key(|it| text(&it["type"]));
            }
            map.values_mut().for_each(timeless);
        }
        _ => {}
    }
}

/// The state at the end, by what objects are called; pods of one owner together.
fn ends(changes: &[Change], names: &Names) -> BTreeMap<String, Vec<Value>> {
    let mut all: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for ((kind, name), fields) in last_states(changes) {
        all.entry(names.group(&kind, &name)).or_default().push(comparable(&kind, &fields, names));
    }
    all.values_mut().for_each(|list| list.sort_by_key(Value::to_string));
    all
}

/// The fields of one value that another has not or has otherwise: `status.replicas 3 (recorded 4)`.
fn first_difference(ours: &Value, recorded: &Value, path: &str) -> Option<String> {
    match (ours, recorded) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            keys.into_iter().find_map(|key| {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let none = &Value::Null;
                first_difference(a.get(key).unwrap_or(none), b.get(key).unwrap_or(none), &path)
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(at, (a, b))| first_difference(a, b, &format!("{path}[{at}]")))
        }
        _ if ours == recorded => None,
        _ => Some(format!("{path} {ours} (recorded {recorded})")),
    }
}

pub fn end(recording: &Recording, run: &Run) -> Vec<String> {
    let recorded = ends(&recording.trace, &Names::of(&recording.trace, &recording.namespace));
    let ours = ends(&run.changes, &Names::of(&run.changes, &recording.namespace));
    let mut told = Vec::new();
    for (called, recorded) in &recorded {
        let none = Vec::new();
        let ours = ours.get(called).unwrap_or(&none);
        if ours.len() != recorded.len() {
            told.push(format!("end {called}: {} (recorded {})", ours.len(), recorded.len()));
            continue;
        }
        let pairs = ours.iter().zip(recorded);
        told.extend(pairs.filter_map(|(a, b)| first_difference(a, b, "")).map(|it| format!("end {called}: {it}")));
    }
    // A recording tells of nodes only where they play a part.
    let is_odd = |called: &&String| !recorded.contains_key(*called) && !called.starts_with("Node ");
    told.extend(ours.keys().filter(is_odd).map(|called| format!("end {called}: there (not recorded)")));
    told
}

/// For each object and type of condition: what it said, one after the other.
fn courses(recording: &Recording, changes: &[Change], names: &Names) -> BTreeMap<String, Vec<Vec<String>>> {
    let mut single: BTreeMap<(String, String, String), Vec<String>> = BTreeMap::new();
    for change in changes.iter().filter(|it| it.change != ChangeType::Deleted) {
        let own = change.fields.get("conditions");
        let list = own.or_else(|| change.fields.get("status")?.get("conditions"));
        for it in list.and_then(Value::as_array).into_iter().flatten() {
            let kind = text(&it["type"]);
            // What the recorder's own kubelet says of a pod's sandbox is a matter of that kubelet.
            let is_own = recording.kubelet.kind == KubeletKind::Fake && change.kind == "Pod";
            if is_own && !matches!(kind.as_str(), "Ready" | "PodScheduled" | "DisruptionTarget") {
                continue;
            }
            let told = [&it["status"], &it["reason"], &it["message"]].map(text).join(" ");
            let told = names.text(told.trim_end());
            let course = single.entry((change.kind.clone(), change.name.clone(), kind)).or_default();
            if course.last() != Some(&told) {
                course.push(told);
            }
        }
    }
    let mut all: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for ((kind, name, condition), course) in single {
        all.entry(format!("{} {condition}", names.group(&kind, &name))).or_default().push(course);
    }
    for courses in all.values_mut() {
        courses.sort();
    }
    all
}

/// What a Deployment's condition may skip. "A new ReplicaSet was created" goes with a status write that is refused where
/// the cache does not know the last one yet, and is not tried again; and "it is progressing" is judged by the last status
/// written, be it from before or after the template changed.
const SKIPPABLE: [&str; 2] = ["True NewReplicaSetCreated", "True ReplicaSetUpdated"];

fn without_skippable(courses: &[Vec<String>]) -> Vec<Vec<String>> {
    let is_sure = |it: &&String| !SKIPPABLE.iter().any(|skippable| it.starts_with(skippable));
    courses.iter().map(|course| course.iter().filter(is_sure).cloned().collect()).collect()
}

pub fn conditions(recording: &Recording, run: &Run) -> Vec<String> {
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
            let odd = a.iter().find(|it| !b.contains(it));
            let missing = b.iter().find(|it| !a.contains(it));
            let list = |it: Option<&Vec<String>>| it.map_or("nothing else".into(), |it| it.join(" > "));
            told.push(format!("conditions {what}: {} (recorded {})", list(odd), list(missing)));
        }
    }
    told
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

/// How often each Event was told, names normalised.
fn told_events(events: impl Iterator<Item = [String; 5]>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for event in events {
        *counts.entry(event.join(" ")).or_default() += 1;
    }
    counts
}

/// Where a pod went is a matter of placement, whether an image was there already one of what ran before.
fn plain(message: String) -> String {
    if message.starts_with("Successfully pulled image") || message.starts_with("Container image") {
        return message.split('"').nth(1).unwrap_or_default().into();
    }
    match message.strip_prefix("Successfully assigned ").and_then(|it| it.rsplit_once(" to ")) {
        Some((pod, _)) => format!("Successfully assigned {pod} to NODE"),
        None => message,
    }
}

pub fn events(recording: &Recording, run: &Run) -> Vec<String> {
    let recorded_names = Names::of(&recording.trace, &recording.namespace);
    let names = Names::of(&run.changes, &recording.namespace);
    let is_real = recording.kubelet.kind == KubeletKind::Real;
    // The recorder's own kubelet tells nothing; of nodes a recording tells only where they play a part.
    let has_node = |name: &str| recording.trace.iter().any(|it| it.kind == "Node" && it.name == name);
    let counts = |component: &str, reason: &str, kind: &str, name: &str| {
        if reason == "Pulling" {
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
        // A kubelet drops Events by a rule of its own; how often a pod is tried in vain is a matter of milliseconds.
        let is_free = what.starts_with("kubelet ") || what.contains(" FailedScheduling ");
        let is_loose = is_racy && !what.contains("ScalingReplicaSet") || is_free;
        let is_same = if is_loose { (ours > 0) == (recorded > 0) } else { ours == recorded };
        let is_asked = !(is_racy && what.contains("ScalingReplicaSet"));
        if is_asked && !is_same {
            told.push(format!("event {what}: {ours} times (recorded {recorded})"));
        }
    }
    told
}
