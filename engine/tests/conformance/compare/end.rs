//! The state at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value;

use super::super::names::Names;
use super::super::player::{Run, text};
use super::super::recording::{Change, ChangeType, Recording};
use super::Fields;

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
fn comparable(recording: &Recording, kind: &str, fields: &Fields, names: &Names) -> Value {
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
    if kind == "Pod" && recording.has_nodes_that_return() {
        // See `Recording::has_nodes_that_return`.
        let conditions = told.get_mut("conditions").and_then(Value::as_array_mut).into_iter().flatten();
        for condition in conditions.filter(|it| it["status"] == "False" && it["reason"] == "ContainersNotReady") {
            condition
                .as_object_mut()
                .expect("a condition")
                .retain(|name, _| matches!(name.as_str(), "type" | "status"));
        }
        told.as_object_mut().expect("a pod").remove("containers");
        let ready = told["conditions"].as_array().into_iter().flatten().find(|it| it["type"] == "Ready").cloned();
        if let Some(conditions) = told.get_mut("conditions").and_then(Value::as_array_mut) {
            conditions
                .retain(|it| it["type"] != "ContainersReady" || ready.as_ref().is_none_or(|it| it["status"] == "True"));
        }
    }
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
            // The time of the last probe, which only Jobs have, is left out here: it is that of the last transition.
            for name in
                ["lastUpdateMs", "lastTransitionMs", "lastHeartbeatMs", "timeAddedMs", "lastScaleMs", "lastProbeTime"]
            {
                map.remove(name);
            }
            for name in ["startTime", "completionTime", "lastTransitionTime"] {
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
fn ends(recording: &Recording, changes: &[Change], names: &Names) -> BTreeMap<String, Vec<Value>> {
    let mut all: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for ((kind, name), fields) in last_states(changes) {
        all.entry(names.group(&kind, &name)).or_default().push(comparable(recording, &kind, &fields, names));
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

/// What is there, and how, when the recording ends.
pub fn differences(recording: &Recording, run: &Run) -> Vec<String> {
    let recorded = ends(recording, &recording.trace, &Names::of(&recording.trace, &recording.namespace));
    let ours = ends(recording, &run.changes, &Names::of(&run.changes, &recording.namespace));
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
