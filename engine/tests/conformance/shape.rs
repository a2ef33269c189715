//! Our objects in the form in which a recording tells of its own, so that the same comparisons read both.

use std::rc::Rc;

use loopscope_engine::api::{Object, Timestamp};
use loopscope_engine::apiserver::{Change as Written, ChangeKind};
use serde_json::{Map, Value, json};

use super::recording::{Change, ChangeType};

type Fields = Map<String, Value>;

/// A write of ours as a watch would have told it; `begun` is the instant in ms at which the recording begins, and
/// `started_at` that instant's wall clock in ms since 1970.
pub fn change(written: &Written, begun: u64, started_at: i64) -> Change {
    let fields = fields(&written.object, started_at);
    let before = written.old.as_ref().map(|old| self::fields(old, started_at)).unwrap_or_default();
    let mut changed: Vec<String> =
        fields.iter().filter(|(name, value)| before.get(*name) != Some(value)).map(|(name, _)| name.clone()).collect();
    changed.extend(before.keys().filter(|name| !fields.contains_key(*name)).cloned());
    Change {
        t: written.at.0.saturating_sub(begun),
        rv: written.version,
        change: match written.kind {
            ChangeKind::Added => ChangeType::Added,
            ChangeKind::Modified => ChangeType::Modified,
            ChangeKind::Deleted => ChangeType::Deleted,
        },
        kind: written.key.kind.name().into(),
        name: written.key.name.to_string(),
        fields: Rc::new(fields),
        changed,
    }
}

/// The fields that a recording tells of an object of this kind.
pub fn fields(object: &Object, started_at: i64) -> Fields {
    let value = object.to_value();
    let scribe = Scribe { started_at };
    let mut fields = scribe.metadata(&value["metadata"]);
    match object.kind().name() {
        "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" => {
            fields.insert("spec".into(), workload_spec(&value["spec"]));
            fields.insert("status".into(), scribe.status(&value["status"]));
        }
        "Pod" => scribe.pod(&value, &mut fields),
        "Node" => scribe.node(&value, &mut fields),
        "Service" => {
            fields.insert("spec".into(), some_of(&value["spec"], &["type", "selector", "ports", "clusterIP"]).into());
        }
        "EndpointSlice" => endpoint_slice(&value, &mut fields),
        // Told as the API has it.
        "Job" => {
            fields.insert("spec".into(), value["spec"].clone());
            fields.insert("status".into(), value["status"].clone());
        }
        _ => {
            fields.insert("spec".into(), value["spec"].clone());
            fields.insert("status".into(), scribe.status(&value["status"]));
        }
    }
    fields.retain(|_, value| !value.is_null());
    fields
}

/// Those of an object's fields that it has.
fn some_of(value: &Value, names: &[&str]) -> Fields {
    names.iter().filter_map(|name| Some(((*name).to_string(), value.get(*name)?.clone()))).collect()
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Number(number) => number.as_i64() == Some(0),
        Value::Bool(true) => false,
    }
}

fn workload_spec(spec: &Value) -> Value {
    let mut told = some_of(spec, &["replicas", "progressDeadlineSeconds", "revisionHistoryLimit"]);
    let more = some_of(spec, &["minReadySeconds", "paused"]);
    told.extend(more.into_iter().filter(|(_, value)| !is_nothing(value)));
    // A Deployment has a `strategy`, the other kinds an `updateStrategy`; a recording has one name for both.
    if let Some(strategy) = spec.get("strategy").or_else(|| spec.get("updateStrategy")).filter(|it| !is_nothing(it)) {
        told.insert("strategy".into(), strategy.clone());
    }
    told.insert("selector".into(), spec["selector"]["matchLabels"].clone());
    let template = &spec["template"];
    let mut short = some_of(&template["metadata"], &["labels"]);
    short.extend(containers_of(&template["spec"]));
    told.insert("template".into(), short.into());
    told.into()
}

/// `images` and, where there are any, `requests` of the containers.
fn containers_of(spec: &Value) -> Fields {
    let all = || spec["containers"].as_array().into_iter().flatten();
    let mut told = Fields::new();
    told.insert("images".into(), all().map(|it| it["image"].clone()).collect());
    let requests: Vec<Value> = all().filter_map(|it| it["resources"].get("requests").cloned()).collect();
    if !requests.is_empty() {
        told.insert("requests".into(), requests.into());
    }
    told
}

fn endpoint_slice(value: &Value, fields: &mut Fields) {
    fields.insert("addressType".into(), value["addressType"].clone());
    let endpoints = value["endpoints"].as_array().into_iter().flatten().map(|it| {
        let mut told = some_of(it, &["addresses", "conditions", "nodeName"]);
        if let Some(name) = it.pointer("/targetRef/name") {
            told.insert("pod".into(), name.clone());
        }
        Value::from(told)
    });
    fields.insert("endpoints".into(), endpoints.collect());
    if let Some(ports) = value.get("ports").filter(|it| !is_nothing(it)) {
        fields.insert("ports".into(), ports.clone());
    }
}

struct Scribe {
    started_at: i64,
}

impl Scribe {
    fn ms(&self, time: &Value) -> Option<Value> {
        let at = Timestamp::parse(time.as_str()?)?;
        Some((at.millis() - self.started_at).into())
    }

    fn metadata(&self, metadata: &Value) -> Fields {
        let mut told = Fields::new();
        let mut add = |name: &str, value: Option<Value>| {
            if let Some(value) = value.filter(|it| !is_nothing(it)) {
                told.insert(name.into(), value);
            }
        };
        add("uid", metadata["uid"].as_str().and_then(|uid| uid.get(..8)).map(Value::from));
        add("generation", metadata.get("generation").cloned());
        add("createdMs", self.ms(&metadata["creationTimestamp"]));
        add("deletionMs", self.ms(&metadata["deletionTimestamp"]));
        add("deletionGraceSeconds", metadata.get("deletionGracePeriodSeconds").cloned());
        add("finalizers", metadata.get("finalizers").cloned());
        add("labels", metadata.get("labels").cloned());
        let mut annotations = metadata["annotations"].as_object().cloned().unwrap_or_default();
        annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
        add("annotations", Some(annotations.into()));
        let owners = metadata["ownerReferences"].as_array().into_iter().flatten();
        let owners = owners.map(|it| some_of(it, &["kind", "name", "controller", "blockOwnerDeletion"]).into());
        add("owners", Some(owners.collect::<Vec<Value>>().into()));
        told
    }

    fn conditions(&self, conditions: &Value) -> Value {
        let all = conditions.as_array().into_iter().flatten().map(|it| {
            let mut told = some_of(it, &["type", "status", "reason", "message"]);
            told.retain(|_, value| !is_nothing(value));
            let times = [
                ("lastUpdateMs", "lastUpdateTime"),
                ("lastTransitionMs", "lastTransitionTime"),
                ("lastHeartbeatMs", "lastHeartbeatTime"),
            ];
            told.extend(times.iter().filter_map(|(name, of)| Some(((*name).to_string(), self.ms(&it[of])?))));
            Value::from(told)
        });
        all.collect()
    }

    fn status(&self, status: &Value) -> Value {
        let mut told = status.as_object().cloned().unwrap_or_default();
        if let Some(conditions) = told.get_mut("conditions") {
            *conditions = self.conditions(conditions);
        }
        if let Some(time) = told.remove("lastScaleTime").and_then(|it| self.ms(&it)) {
            told.insert("lastScaleMs".into(), time);
        }
        told.into()
    }

    fn pod(&self, value: &Value, fields: &mut Fields) {
        let (spec, status) = (&value["spec"], &value["status"]);
        let mut add = |name: &str, value: Option<Value>| {
            if let Some(value) = value.filter(|it| !is_nothing(it)) {
                fields.insert(name.into(), value);
            }
        };
        add("nodeName", spec.get("nodeName").cloned());
        add("phase", status.get("phase").cloned());
        add("conditions", Some(self.conditions(&status["conditions"])));
        let containers = status["containerStatuses"].as_array().into_iter().flatten().map(container);
        add("containers", Some(containers.collect::<Vec<Value>>().into()));
        let tolerations = spec["tolerations"].as_array().into_iter().flatten();
        let tolerations = tolerations.map(|it| some_of(it, &["key", "effect", "tolerationSeconds"]).into());
        add("tolerations", Some(tolerations.collect::<Vec<Value>>().into()));
        for (name, value) in containers_of(spec) {
            add(&name, Some(value));
        }
        add("podIP", status.get("podIP").cloned());
        add("startMs", self.ms(&status["startTime"]));
        add("statusObservedGeneration", status.get("observedGeneration").cloned());
        add("nominatedNodeName", status.get("nominatedNodeName").cloned());
    }

    fn node(&self, value: &Value, fields: &mut Fields) {
        let (spec, status) = (&value["spec"], &value["status"]);
        if spec["unschedulable"] == true {
            fields.insert("unschedulable".into(), true.into());
        }
        let taints = spec["taints"].as_array().into_iter().flatten().map(|it| {
            let mut told = some_of(it, &["key", "value", "effect"]);
            told.retain(|_, value| !is_nothing(value));
            told.extend(self.ms(&it["timeAdded"]).map(|at| ("timeAddedMs".to_string(), at)));
            Value::from(told)
        });
        let taints: Vec<Value> = taints.collect();
        if !taints.is_empty() {
            fields.insert("taints".into(), taints.into());
        }
        fields.insert("conditions".into(), self.conditions(&status["conditions"]));
        fields.insert("allocatable".into(), some_of(&status["allocatable"], &["cpu", "memory", "pods"]).into());
    }
}

fn container(status: &Value) -> Value {
    let mut told = some_of(status, &["name", "ready", "started", "restartCount"]);
    let state = status["state"].as_object().and_then(|it| it.iter().next());
    if let Some((name, detail)) = state {
        told.insert("state".into(), json!(name));
        if let Some(reason) = detail.get("reason").filter(|it| !is_nothing(it)) {
            told.insert("stateReason".into(), reason.clone());
        }
        if let Some(code) = detail.get("exitCode") {
            told.insert("exitCode".into(), code.clone());
        }
    }
    told.into()
}
