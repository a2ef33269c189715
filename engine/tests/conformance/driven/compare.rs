//! An object of ours beside what the recording tells of its own, in the recording's terms.

use loopscope_engine::api::{Object, Timestamp};
use serde_json::{Map, Value, json};

use super::names::Names;

/// API times have whole seconds: an instant just before or after the full second is another.
const SECOND: i64 = 1_000;
/// Annotations of times, which no controller here writes.
const UNKNOWN_ANNOTATIONS: &[&str] = &["endpoints.kubernetes.io/last-change-trigger-time"];

/// Which fields are compared.
#[derive(Clone, Copy, PartialEq)]
pub enum Part {
    All,
    Status,
    Spec,
}

/// How times are told.
#[derive(Clone, Copy)]
pub struct Clock {
    /// The recording's start in ms since 1970.
    pub started_at: i64,
    /// How far two times may lie apart.
    pub slack: i64,
}

/// The first field in which an object differs from what was recorded, with both values.
pub fn difference(
    object: &Object,
    recorded: &Map<String, Value>,
    part: Part,
    names: &Names,
    clock: Clock,
) -> Option<String> {
    let mut ours = names.theirs_in(&shape(object, clock));
    in_order(&mut ours);
    let mut theirs = recorded.clone();
    tidy(&mut theirs);
    let mut theirs = Value::Object(theirs);
    in_order(&mut theirs);
    let theirs = pruned(theirs);
    let ours = pruned(ours);
    let fields: Vec<&str> = match part {
        Part::Status => vec!["status", "annotations"],
        Part::Spec => vec!["spec", "annotations"],
        Part::All => {
            ours.as_object().into_iter().chain(theirs.as_object()).flat_map(Map::keys).map(String::as_str).collect()
        }
    };
    fields.into_iter().find_map(|field| differ(field, &ours[field], &theirs[field], clock))
}

/// Leaves out what is not compared, and puts in order what has none.
fn tidy(theirs: &mut Map<String, Value>) {
    theirs.remove("uid");
    theirs.remove("createdMs");
    theirs.remove("containers");
    if let Some(Value::Object(spec)) = theirs.get_mut("spec") {
        spec.remove("clusterIP");
    }
    if let Some(Value::Array(conditions)) = theirs.get_mut("status").and_then(|it| it.get_mut("conditions")) {
        conditions.iter_mut().filter_map(Value::as_object_mut).for_each(|it| drop(it.remove("lastProbeTime")));
    }
    if let Some(Value::Array(tolerations)) = theirs.get_mut("tolerations") {
        tolerations.iter_mut().filter_map(Value::as_object_mut).for_each(|it| drop(it.remove("operator")));
    }
    if let Some(Value::Object(annotations)) = theirs.get_mut("annotations") {
        annotations.retain(|key, _| !UNKNOWN_ANNOTATIONS.contains(&key.as_str()));
    }
}

/// Lists that have no order of their own.
fn in_order(fields: &mut Value) {
    if let Some(Value::Object(disrupted)) = fields.pointer("/status/disruptedPods").cloned() {
        fields["status"]["disruptedPods"] = disrupted.keys().cloned().collect();
    }
    for path in ["/endpoints", "/status/uncountedTerminatedPods/succeeded", "/status/uncountedTerminatedPods/failed"] {
        if let Some(Value::Array(list)) = fields.pointer_mut(path) {
            list.sort_by_key(|it| if it["pod"].is_null() { it.to_string() } else { it["pod"].to_string() });
        }
    }
}

/// Without zeroes and what is empty, which the API leaves out here and there.
fn pruned(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().map(|(key, item)| (key, pruned(item))).filter(|(_, item)| !is_nothing(item));
            Value::Object(kept.collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(pruned).collect()),
        other => other,
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(true) => false,
    }
}

/// A message without the name of a pod that was never made, or that is one of several.
pub fn anonymous(text: &str) -> String {
    // Of several pods without a request any may be named: the real lister has no order.
    if let Some((before, _)) = text.rsplit_once(" of Pod ").filter(|_| text.contains("missing request")) {
        return before.to_string();
    }
    let Some((before, rest)) = text.split_once("pods \"") else { return text.to_string() };
    let after = rest.split_once('"').map_or("", |(_, after)| after);
    format!("{before}pods *{after}")
}

fn instant(value: &Value, path: &str, clock: Clock) -> Option<i64> {
    if path.ends_with("Ms") {
        return value.as_i64();
    }
    let is_time = path.ends_with("Time");
    let text = value.as_str().filter(|_| is_time)?;
    Timestamp::parse(text).map(|it| it.millis() - clock.started_at)
}

fn differ(path: &str, ours: &Value, theirs: &Value, clock: Clock) -> Option<String> {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            keys.into_iter().find_map(|key| differ(&format!("{path}.{key}"), &ours[key], &theirs[key], clock))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            (0..a.len()).find_map(|index| differ(&format!("{path}[{index}]"), &a[index], &b[index], clock))
        }
        _ if ours == theirs => None,
        (Value::String(a), Value::String(b)) if path.ends_with("message") && anonymous(a) == anonymous(b) => None,
        _ => {
            if let (Some(a), Some(b)) = (instant(ours, path, clock), instant(theirs, path, clock))
                && (a - b).abs() <= SECOND + clock.slack
            {
                return None;
            }
            Some(format!("{path} is {ours}, recorded {theirs}"))
        }
    }
}

/// An object as a trace tells of it.
fn shape(object: &Object, clock: Clock) -> Value {
    let value = object.to_value();
    let meta = object.meta();
    let ms = |time: Option<Timestamp>| time.map(|it| it.millis() - clock.started_at);
    let owner = |it: &loopscope_engine::api::OwnerReference| json!({"kind": it.kind.as_str(), "name": it.name.as_str(), "controller": it.controller, "blockOwnerDeletion": it.block_owner_deletion});
    let mut fields = Map::new();
    fields.insert("generation".into(), meta.generation.into());
    fields.insert("labels".into(), value["metadata"]["labels"].clone());
    fields.insert("annotations".into(), value["metadata"]["annotations"].clone());
    fields.insert("finalizers".into(), value["metadata"]["finalizers"].clone());
    fields.insert("owners".into(), meta.owner_references.iter().map(owner).collect());
    fields.insert("deletionMs".into(), ms(meta.deletion_timestamp).into());
    fields.insert("deletionGraceSeconds".into(), meta.deletion_grace_period_seconds.into());
    match object {
        Object::Pod(_) => pod_shape(&value, &mut fields, clock),
        Object::Node(_) => node_shape(&value, &mut fields, clock),
        Object::EndpointSlice(_) => slice_shape(&value, &mut fields),
        Object::Deployment(_) | Object::ReplicaSet(_) | Object::StatefulSet(_) | Object::DaemonSet(_) => {
            workload_shape(&value, &mut fields, clock);
        }
        Object::Service(_) => {
            let spec = &value["spec"];
            let told = ["type", "selector", "ports"].map(|key| (key.to_string(), spec[key].clone()));
            fields.insert("spec".into(), Value::Object(told.into_iter().collect()));
        }
        _ => {
            let mut status = value["status"].clone();
            let has_times = matches!(object, Object::PodDisruptionBudget(_) | Object::HorizontalPodAutoscaler(_));
            if let Some(conditions) = status.get_mut("conditions").filter(|_| has_times) {
                *conditions = times(conditions, clock);
            }
            if let Some(time) = status.as_object_mut().and_then(|it| it.remove("lastScaleTime")) {
                let time = time.as_str().and_then(Timestamp::parse).map(|it| it.millis() - clock.started_at);
                status["lastScaleMs"] = time.into();
            }
            fields.insert("spec".into(), value["spec"].clone());
            fields.insert("status".into(), status);
        }
    }
    Value::Object(fields)
}

fn times(list: &Value, clock: Clock) -> Value {
    let one = |condition: &Value| {
        let ms = |field: &str| {
            let time = condition[field].as_str().and_then(Timestamp::parse);
            time.map(|it| it.millis() - clock.started_at)
        };
        json!({
            "type": condition["type"], "status": condition["status"], "reason": condition["reason"],
            "message": condition["message"], "lastUpdateMs": ms("lastUpdateTime"),
            "lastTransitionMs": ms("lastTransitionTime"), "lastHeartbeatMs": ms("lastHeartbeatTime"),
        })
    };
    list.as_array().map_or(Value::Null, |all| all.iter().map(one).collect())
}

fn images(spec: &Value) -> (Value, Value) {
    let containers = spec["containers"].as_array().cloned().unwrap_or_default();
    let requests: Vec<Value> =
        containers.iter().map(|it| it["resources"]["requests"].clone()).filter(|it| !it.is_null()).collect();
    (containers.iter().map(|it| it["image"].clone()).collect(), Value::Array(requests))
}

fn workload_shape(value: &Value, fields: &mut Map<String, Value>, clock: Clock) {
    let spec = &value["spec"];
    let (images, requests) = images(&spec["template"]["spec"]);
    let strategy = if spec["updateStrategy"].is_null() { &spec["strategy"] } else { &spec["updateStrategy"] };
    fields.insert(
        "spec".into(),
        json!({
            "replicas": spec["replicas"], "strategy": strategy, "minReadySeconds": spec["minReadySeconds"],
            "progressDeadlineSeconds": spec["progressDeadlineSeconds"],
            "revisionHistoryLimit": spec["revisionHistoryLimit"], "paused": spec["paused"],
            "selector": spec["selector"]["matchLabels"],
            "template": {"labels": spec["template"]["metadata"]["labels"], "images": images, "requests": requests},
        }),
    );
    let mut status = value["status"].clone();
    if let Some(conditions) = status.get_mut("conditions") {
        *conditions = times(conditions, clock);
    }
    fields.insert("status".into(), status);
}

fn pod_shape(value: &Value, fields: &mut Map<String, Value>, clock: Clock) {
    let (spec, status) = (&value["spec"], &value["status"]);
    let (images, requests) = images(spec);
    let tolerated = |it: &Value| json!({"key": it["key"], "value": it["value"], "effect": it["effect"], "tolerationSeconds": it["tolerationSeconds"]});
    let tolerations = spec["tolerations"].as_array().into_iter().flatten().map(tolerated).collect();
    let start = status["startTime"].as_str().and_then(Timestamp::parse).map(|it| it.millis() - clock.started_at);
    for (name, it) in [
        ("nodeName", spec["nodeName"].clone()),
        ("phase", status["phase"].clone()),
        ("conditions", times(&status["conditions"], clock)),
        ("tolerations", tolerations),
        ("images", images),
        ("requests", requests),
        ("podIP", status["podIP"].clone()),
        ("startMs", start.into()),
        ("statusObservedGeneration", status["observedGeneration"].clone()),
        ("nominatedNodeName", status["nominatedNodeName"].clone()),
    ] {
        fields.insert(name.into(), it);
    }
}

fn node_shape(value: &Value, fields: &mut Map<String, Value>, clock: Clock) {
    let taint = |it: &Value| {
        let added = it["timeAdded"].as_str().and_then(Timestamp::parse).map(|it| it.millis() - clock.started_at);
        json!({"key": it["key"], "value": it["value"], "effect": it["effect"], "timeAddedMs": added})
    };
    let taints = value["spec"]["taints"].as_array().cloned().unwrap_or_default();
    fields.insert("unschedulable".into(), value["spec"]["unschedulable"].clone());
    fields.insert("taints".into(), taints.iter().map(taint).collect());
    fields.insert("conditions".into(), times(&value["status"]["conditions"], clock));
    let told = ["cpu", "memory", "pods"].map(|key| (key.to_string(), value["status"]["allocatable"][key].clone()));
    fields.insert("allocatable".into(), Value::Object(told.into_iter().collect()));
}

fn slice_shape(value: &Value, fields: &mut Map<String, Value>) {
    let one = |it: &Value| json!({"addresses": it["addresses"], "conditions": it["conditions"], "nodeName": it["nodeName"], "pod": it["targetRef"]["name"]});
    let endpoints: Value = value["endpoints"].as_array().into_iter().flatten().map(one).collect();
    fields.insert("addressType".into(), value["addressType"].clone());
    fields.insert("ports".into(), value["ports"].clone());
    fields.insert("endpoints".into(), endpoints);
}
