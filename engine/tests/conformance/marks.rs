//! What a recording calls milestones, found in the writes of a recording or of a run.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::names::Names;
use super::recording::{Change, ChangeType};

type Fields = Map<String, Value>;

/// Something that happened to an object.
#[derive(Clone, Debug)]
pub struct Mark {
    pub name: &'static str,
    /// The object, pods of one owner told apart by nothing.
    pub group: String,
    /// Its name.
    pub object: String,
    pub value: Value,
    pub t: u64,
    pub rv: u64,
}

struct Finder<'a> {
    names: &'a Names,
    marks: Vec<Mark>,
    deleted_on: Vec<String>,
}

/// The object before and after one write.
struct Step<'a> {
    change: &'a Change,
    before: &'a Fields,
    after: &'a Fields,
}

pub fn find(changes: &[Change], names: &Names) -> Vec<Mark> {
    let mut finder = Finder { names, marks: Vec::new(), deleted_on: Vec::new() };
    let mut known: BTreeMap<(&str, &str), Rc<Fields>> = BTreeMap::new();
    let nothing = Rc::new(Fields::new());
    for change in changes {
        let key = (change.kind.as_str(), change.name.as_str());
        let before = known.get(&key).cloned().unwrap_or_else(|| Rc::clone(&nothing));
        finder.look(&Step { change, before: &before, after: &change.fields });
        if change.change == ChangeType::Deleted {
            known.remove(&key);
        } else {
            known.insert(key, Rc::clone(&change.fields));
        }
    }
    finder.marks
}

fn at<'a>(fields: &'a Fields, path: &[&str]) -> &'a Value {
    let (first, rest) = path.split_first().expect("a path");
    let mut value = fields.get(*first).unwrap_or(&Value::Null);
    for name in rest {
        value = value.get(name).unwrap_or(&Value::Null);
    }
    value
}

fn count(fields: &Fields, path: &[&str]) -> i64 {
    at(fields, path).as_i64().unwrap_or(0)
}

fn list<'a>(fields: &'a Fields, path: &[&str]) -> impl Iterator<Item = &'a Value> {
    at(fields, path).as_array().into_iter().flatten()
}

fn condition<'a>(fields: &'a Fields, path: &[&str], kind: &str) -> &'a Value {
    list(fields, path).find(|it| it["type"] == kind).unwrap_or(&Value::Null)
}

const STATUS: &[&str] = &["status", "conditions"];
const OWN: &[&str] = &["conditions"];

impl Finder<'_> {
    fn add(&mut self, step: &Step<'_>, name: &'static str, value: Value) {
        let Change { kind, name: object, t, rv, .. } = step.change;
        let group = self.names.group(kind, object);
        let value = self.names.value(&value);
        self.marks.push(Mark { name, group, object: object.clone(), value, t: *t, rv: *rv });
    }

    /// Adds a mark where something holds after the write that did not before.
    fn comes(&mut self, step: &Step<'_>, name: &'static str, value: &Value, holds: impl Fn(&Fields) -> bool) {
        if !holds(step.before) && holds(step.after) {
            self.add(step, name, value.clone());
        }
    }

    fn look(&mut self, step: &Step<'_>) {
        if step.change.change == ChangeType::Deleted {
            self.add(step, "object_gone", Value::Null);
            return;
        }
        let is_added = step.change.change == ChangeType::Added;
        if !is_added {
            self.comes(step, "delete_marked", &Value::Null, |it| it.contains_key("deletionMs"));
        }
        match step.change.kind.as_str() {
            "ReplicaSet" => self.replica_set(step, is_added),
            "Deployment" => self.deployment(step),
            "Pod" => self.pod(step, is_added),
            "Node" => self.node(step, is_added),
            "EndpointSlice" => {
                let ready =
                    |it: &Fields| list(it, &["endpoints"]).filter(|it| it["conditions"]["ready"] == true).count();
                // Two that come in one write are counted one after the other.
                let (from, to) = (ready(step.before), ready(step.after));
                let counts: Vec<usize> = if from < to { (from + 1..=to).collect() } else { (to..from).rev().collect() };
                for count in counts {
                    self.add(step, "endpoints_ready", count.into());
                }
            }
            "PodDisruptionBudget" => {
                let allowed = |it: &Fields| count(it, &["status", "disruptionsAllowed"]);
                if allowed(step.before) != allowed(step.after) {
                    self.add(step, "pdb_allowed", allowed(step.after).into());
                }
            }
            "StatefulSet" => self.comes(step, "sts_update_complete", &Value::Null, |it| {
                let status = |name: &str| at(it, &["status", name]);
                status("updateRevision") == status("currentRevision")
                    && !status("updateRevision").is_null()
                    && status("updatedReplicas") == at(it, &["spec", "replicas"])
            }),
            "DaemonSet" => self.daemon_set(step),
            "HorizontalPodAutoscaler" => self.autoscaler(step),
            "Job" => self.job(step),
            _ => {}
        }
    }

    fn replica_set(&mut self, step: &Step<'_>, is_added: bool) {
        let size = |it: &Fields| count(it, &["spec", "replicas"]);
        let (old, new) = (size(step.before), size(step.after));
        if is_added {
            self.add(step, "rs_created", new.into());
        } else if old != new {
            self.add(step, "rs_scaled", json!([old, new]));
        }
        let all_ready = |it: &Fields| size(it) > 0 && count(it, &["status", "readyReplicas"]) == size(it);
        self.comes(step, "rs_all_ready", &new.into(), all_ready);
    }

    fn deployment(&mut self, step: &Step<'_>) {
        let complete = |it: &Fields| {
            let wanted = count(it, &["spec", "replicas"]);
            let counts = ["updatedReplicas", "availableReplicas", "replicas"].map(|name| count(it, &["status", name]));
            counts == [wanted; 3] && count(it, &["status", "observedGeneration"]) == count(it, &["generation"])
        };
        self.comes(step, "deployment_complete", &count(step.after, &["spec", "replicas"]).into(), complete);
        let is = |kind: &'static str, status: &'static str| {
            move |it: &Fields| condition(it, STATUS, kind)["status"] == status
        };
        self.comes(step, "available_true", &Value::Null, is("Available", "True"));
        self.comes(step, "available_false", &Value::Null, is("Available", "False"));
        let reason = condition(step.after, STATUS, "Progressing")["reason"].clone();
        self.comes(step, "progressing_false", &reason, is("Progressing", "False"));
        self.comes(step, "replica_failure_true", &Value::Null, is("ReplicaFailure", "True"));
        let failed = is("ReplicaFailure", "True");
        if failed(step.before) && !failed(step.after) {
            self.add(step, "replica_failure_gone", Value::Null);
        }
        self.comes(step, "paused", &Value::Null, |it| {
            condition(it, STATUS, "Progressing")["reason"] == "DeploymentPaused"
        });
    }

    fn pod(&mut self, step: &Step<'_>, is_added: bool) {
        if is_added {
            self.add(step, "pod_created", Value::Null);
        }
        self.comes(step, "pod_bound", &Value::Null, |it| it.contains_key("nodeName"));
        let status = |kind: &'static str| move |it: &Fields| condition(it, OWN, kind)["status"].clone();
        let ready = status("Ready");
        self.comes(step, "pod_ready", &Value::Null, |it| ready(it) == "True");
        if ready(step.before) == "True" && ready(step.after) != "True" {
            self.add(step, "pod_unready", Value::Null);
        }
        let message = condition(step.after, OWN, "PodScheduled")["message"].clone();
        self.comes(step, "pod_unschedulable", &message, |it| condition(it, OWN, "PodScheduled")["status"] == "False");
        let owners = |it: &Fields| list(it, &["owners"]).map(|it| it["name"].clone()).collect::<Value>();
        if !is_added && owners(step.before) != owners(step.after) {
            self.add(step, "owners_changed", owners(step.after));
        }
        let target = condition(step.after, OWN, "DisruptionTarget")["reason"].clone();
        self.comes(step, "disruption_target", &target, |it| {
            condition(it, OWN, "DisruptionTarget")["reason"] == target && !target.is_null()
        });
        let nominated = at(step.after, &["nominatedNodeName"]).clone();
        self.comes(step, "nominated", &nominated, |it| it.contains_key("nominatedNodeName"));
        self.comes(step, "pod_succeeded", &Value::Null, |it| *at(it, &["phase"]) == "Succeeded");
        self.comes(step, "pod_failed", &Value::Null, |it| *at(it, &["phase"]) == "Failed");
        let node = at(step.after, &["nodeName"]).as_str().unwrap_or_default().to_string();
        let is_told = condition(step.before, OWN, "DisruptionTarget")["reason"] != target;
        if is_told && target == "DeletionByTaintManager" && !self.deleted_on.contains(&node) {
            self.deleted_on.push(node.clone());
            self.add(step, "first_eviction", node.into());
        }
        self.containers(step);
    }

    fn containers(&mut self, step: &Step<'_>) {
        for container in list(step.after, &["containers"]) {
            let before = list(step.before, &["containers"]).find(|it| it["name"] == container["name"]);
            let told = |it: &Value| [it["state"].clone(), it["restartCount"].clone(), it["stateReason"].clone()];
            if before.map(told) == Some(told(container)) {
                continue;
            }
            let name = match container["state"].as_str() {
                Some("running") => "container_running",
                Some("terminated") => "container_terminated",
                Some("waiting") => "container_waiting",
                _ => continue,
            };
            let mut value = json!({"container": container["name"], "restartCount": container["restartCount"]});
            if name == "container_terminated" {
                value["exitCode"] = container["exitCode"].clone();
            }
            if name != "container_running" && !container["stateReason"].is_null() {
                value["reason"] = container["stateReason"].clone();
            }
            self.add(step, name, value);
        }
    }

    fn node(&mut self, step: &Step<'_>, is_added: bool) {
        if is_added {
            self.add(step, "node_added", Value::Null);
        }
        let ready = |status: &'static str| move |it: &Fields| condition(it, OWN, "Ready")["status"] == status;
        // A recording tells of a node only once it changes: what it was before, it was in good order.
        let is_known = !step.before.is_empty();
        if is_known || is_added {
            self.comes(step, "node_ready_true", &Value::Null, ready("True"));
        }
        self.comes(step, "node_ready_false", &Value::Null, ready("False"));
        self.comes(step, "node_ready_unknown", &Value::Null, ready("Unknown"));
        let cordoned = |it: &Fields| *at(it, &["unschedulable"]) == true;
        self.comes(step, "node_unschedulable", &Value::Null, cordoned);
        if cordoned(step.before) && !cordoned(step.after) {
            self.add(step, "node_schedulable", Value::Null);
        }
        let taints = |it: &Fields| -> Vec<String> {
            let tell =
                |it: &Value| format!("{}:{}", it["key"].as_str().unwrap_or(""), it["effect"].as_str().unwrap_or(""));
            list(it, &["taints"]).map(tell).collect()
        };
        let (before, after) = (taints(step.before), taints(step.after));
        for taint in after.iter().filter(|it| !before.contains(it)) {
            self.add(step, "taint_added", taint.as_str().into());
        }
        for taint in before.iter().filter(|it| !after.contains(it)) {
            self.add(step, "taint_removed", taint.as_str().into());
        }
    }

    fn daemon_set(&mut self, step: &Step<'_>) {
        let desired = |it: &Fields| count(it, &["status", "desiredNumberScheduled"]);
        if desired(step.before) != desired(step.after) {
            self.add(step, "ds_desired", desired(step.after).into());
        }
        let all_ready = |it: &Fields| {
            let counts = ["numberReady", "updatedNumberScheduled"].map(|name| count(it, &["status", name]));
            desired(it) > 0 && counts == [desired(it); 2]
        };
        self.comes(step, "ds_all_ready", &desired(step.after).into(), all_ready);
    }

    fn autoscaler(&mut self, step: &Step<'_>) {
        let desired = |it: &Fields| count(it, &["status", "desiredReplicas"]);
        if desired(step.before) != desired(step.after) {
            self.add(step, "hpa_desired", desired(step.after).into());
        }
        self.conditions(step, "hpa_condition");
    }

    fn job(&mut self, step: &Step<'_>) {
        for (name, of) in [("job_succeeded", "succeeded"), ("job_failed", "failed")] {
            let counted = |it: &Fields| count(it, &["status", of]);
            if counted(step.before) != counted(step.after) {
                self.add(step, name, counted(step.after).into());
            }
        }
        self.conditions(step, "job_condition");
    }

    fn conditions(&mut self, step: &Step<'_>, name: &'static str) {
        let told = |it: &Value| json!([it["type"], it["status"], it["reason"]]);
        let before: Vec<Value> = list(step.before, STATUS).map(told).collect();
        for condition in list(step.after, STATUS).map(told).filter(|it| !before.contains(it)) {
            self.add(step, name, condition);
        }
    }
}
