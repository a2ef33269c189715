//! What is not the controllers' own: the user's actions, kubelets, scheduler, nodes.

use std::rc::Rc;

use loopscope_engine::api::{
    Condition, ContainerRunning, ContainerState, ContainerStatus, ContainerTerminated, ContainerWaiting, Kind, Object,
    ObjectKey, Pod, Timestamp,
};
use loopscope_engine::apiserver::{DeleteOptions, Effect, PatchType, Propagation, Request, Verb, manager_name};
use serde_json::{Map, Value, json};

use super::course::Step;
use super::works::{USER, Works};
use crate::conformance::recording::{self, Change, ChangeType, Op, PatchKind};

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_string()
}

impl Works<'_> {
    fn ask(&mut self, verb: Verb, step: Option<&Step>) -> Result<Object, String> {
        let record = step.and_then(|step| self.record(step));
        let answer = self.execute(&Request::new(USER, verb), record).map_err(|error| error.message)?;
        if let (Some(step), true) = (step, answer.outcome != Effect::Deleted) {
            self.check(&answer.object, step)?;
        }
        Ok(answer.object)
    }

    /// Does what the user, or somebody for them, did.
    pub fn act(&mut self, index: usize, step: &Step) -> Result<(), String> {
        let action = &self.recording.actions[index];
        let is_refused = action.result.is_some_and(|it| it.code >= 300);
        let result = self.act_on(&action.op, step);
        match result {
            Ok(()) if is_refused => Err("ours accepts what the real API server refused".into()),
            Err(_) if is_refused => Ok(()),
            Err(error) => Err(format!("the user's action: {error}")),
            Ok(()) => Ok(()),
        }
    }

    fn act_on(&mut self, op: &Op, step: &Step) -> Result<(), String> {
        match op {
            Op::Create { target, manifest } => {
                let kind =
                    Kind::by_name(&target.kind).ok_or_else(|| format!("not understood: kind {}", target.kind))?;
                let body = self.recording.manifests.get(*manifest).ok_or("no such manifest")?;
                let body = self.names.ours_in(body);
                let record = self.record(step);
                let answer = self.create(kind, body, record)?;
                self.check(&answer.object, step)
            }
            Op::Patch { target, patch_type, patch, .. } => {
                let key = self.key(&target.kind, &target.name)?;
                let kind = match patch_type {
                    PatchKind::Merge => PatchType::Merge,
                    PatchKind::Strategic => PatchType::Strategic,
                };
                let patch = self.names.ours_in(patch);
                self.ask(Verb::Patch(key, kind, patch), Some(step)).map(drop)
            }
            Op::Scale { target, replicas, .. } => {
                let key = self.key(&target.kind, &target.name)?;
                self.ask(Verb::Scale(key, *replicas), Some(step)).map(drop)
            }
            Op::Delete { target, delete_options } => {
                let key = self.key(&target.kind, &target.name)?;
                let options = options(delete_options)?;
                self.ask(Verb::Delete(key, options), Some(step)).map(drop)
            }
            Op::Cordon { node, .. } => self.cordon(node, json!(true), step),
            Op::Uncordon { node, .. } => self.cordon(node, Value::Null, step),
            Op::NodeJoin { node } => self.join(node, step),
            Op::NodeStop { nodes } => {
                self.heartbeats.retain(|(name, _)| !nodes.iter().any(|it| *it == **name));
                Ok(())
            }
            Op::NodeBack { nodes } => nodes.iter().try_for_each(|node| self.beat(&node.as_str().into())),
            Op::NodeStatus { node, conditions } => self.report(node, conditions, step),
            Op::ProcessStop { .. } => {
                self.halt();
                Ok(())
            }
            Op::ProcessContinue { .. } => {
                self.let_go_on();
                Ok(())
            }
            Op::ProcessKill { .. } => {
                self.kill();
                Ok(())
            }
            Op::ProcessStart { .. } => {
                // It takes its time, and is there with its first write.
                self.is_starting = true;
                Ok(())
            }
            Op::Observe {} | Op::KubeletSet { .. } | Op::MetricsSet { .. } | Op::Drain { .. } => Ok(()),
            Op::Apply { target, manifest, field_manager, force } => {
                let key = self.key(&target.kind, &target.name)?;
                let body = self.recording.manifests.get(*manifest).ok_or("no such manifest")?;
                let body = self.names.ours_in(body);
                let verb = Verb::ServerSideApply(key.kind, key.namespace.clone(), body, *force);
                let request = Request::new(manager_name(field_manager), verb);
                let record = self.record(step);
                let answer = self.execute(&request, record).map_err(|error| error.message)?;
                self.check(&answer.object, step)
            }
            Op::Replace { target, set, .. } => self.replace(&target.kind, &target.name, set, step),
        }
    }

    /// A PUT of the object as it is, but for what is set.
    fn replace(&mut self, kind: &str, name: &str, set: &Value, step: &Step) -> Result<(), String> {
        let key = self.key(kind, name)?;
        let live = self.api.objects().get(&key).ok_or("is not there")?;
        let mut value = live.to_value();
        for (path, item) in set.as_object().into_iter().flatten() {
            let mut place = &mut value;
            for part in path.split('.') {
                place = &mut place[part];
            }
            *place = item.clone();
        }
        let object = Object::from_value(key.kind, value).map_err(|error| error.message)?;
        self.ask(Verb::Update(object), Some(step)).map(drop)
    }

    fn cordon(&mut self, node: &str, on: Value, step: &Step) -> Result<(), String> {
        let patch = json!({"spec": {"unschedulable": on}});
        self.ask(Verb::Patch(ObjectKey::node(node), PatchType::Merge, patch), Some(step)).map(drop)
    }

    /// A Node as its kubelet creates it, with the taint that admission gives to all of them.
    fn join(&mut self, node: &Value, step: &Step) -> Result<(), String> {
        let mut bare = node.clone();
        bare.as_object_mut().map(|it| it.remove("status"));
        if step.record.is_some() {
            bare["spec"]["taints"] = json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]);
        } else {
            bare["status"] = node["status"].clone();
        }
        let record = self.record(step);
        let answer = self.create(Kind::Node, bare, record)?;
        self.beat(&answer.object.meta().name.clone())?;
        // Its status follows as recorded.
        self.check(&answer.object, step)
    }

    /// kubectl evicts a pod, which may be refused.
    pub fn evict(&mut self, write: usize) -> Result<(), String> {
        let write = &self.recording.writes[write];
        let key = self.key("Pod", &write.name)?;
        let result = self.execute(&Request::new(USER, Verb::Evict(key, DeleteOptions::default())), None);
        let code = result.as_ref().map_or_else(|error| error.code(), |_| 201);
        if code == write.code {
            Ok(())
        } else {
            Err(format!("eviction of {}: answer {code}, recorded {}", write.name, write.code))
        }
    }

    /// Does what a record of the trace tells that somebody did.
    pub fn feed(&mut self, index: usize) -> Result<(), String> {
        let recording = self.recording;
        let change = &recording.trace[index];
        let words = || format!("{} {}", change.kind, change.name);
        match change.kind.as_str() {
            "Pod" => self.feed_pod(change),
            "Node" => self.feed_node(change),
            _ => Err("nobody is known to have changed it".into()),
        }
        .map_err(|error| format!("{}: {error}", words()))
    }

    fn feed_pod(&mut self, change: &Change) -> Result<(), String> {
        let key = self.key("Pod", &change.name)?;
        let changed = |field: &str| change.changed.iter().any(|it| it == field);
        let Some(pod) = self.api.objects().pod(&key).cloned() else {
            // A last record of what went with the one before.
            return if change.change == ChangeType::Deleted { Ok(()) } else { Err("is not there".into()) };
        };
        if change.change == ChangeType::Deleted || changed("deletionMs") {
            let grace = change.fields.get("deletionGraceSeconds").and_then(Value::as_i64);
            let grace_seconds = if change.change == ChangeType::Deleted { Some(0) } else { grace };
            let options = DeleteOptions { grace_seconds, ..DeleteOptions::default() };
            return self.ask(Verb::Delete(key, options), None).map(drop);
        }
        if let Some(node) = change.fields.get("nodeName").and_then(Value::as_str).filter(|_| changed("nodeName")) {
            return self.ask(Verb::Bind(key, node.into()), None).map(drop);
        }
        let pod = self.with_status(&pod, change);
        self.ask(Verb::UpdateStatus(Object::Pod(Rc::new(pod))), None).map(drop)
    }

    fn stamp(&self, ms: &Value) -> Option<Timestamp> {
        ms.as_i64().map(|ms| Timestamp::from_millis(self.recording.started_at + ms))
    }

    fn conditions(&self, list: &Value) -> Vec<Condition> {
        let one = |it: &Value| Condition {
            kind: text(it, "type").into(),
            status: text(it, "status").into(),
            reason: text(it, "reason").into(),
            message: text(it, "message").into(),
            last_heartbeat_time: self.stamp(&it["lastHeartbeatMs"]),
            last_update_time: None,
            last_transition_time: self.stamp(&it["lastTransitionMs"]),
            observed_generation: 0,
        };
        list.as_array().into_iter().flatten().map(one).collect()
    }

    fn with_status(&self, pod: &Pod, change: &Change) -> Pod {
        let mut pod = pod.clone();
        let all = Value::Object(Map::clone(&change.fields));
        let patch = self.recording.writes.iter().find(|it| it.rv == Some(change.rv)).and_then(|it| it.patch.as_ref());
        let before = pod.clone();
        let status = &mut pod.status;
        status.phase = text(&all, "phase").into();
        status.pod_ip = text(&all, "podIP").into();
        status.nominated_node_name = text(&all, "nominatedNodeName").into();
        status.start_time = self.stamp(&all["startMs"]);
        status.observed_generation = all["statusObservedGeneration"].as_i64().unwrap_or(0);
        status.conditions = self.conditions(&all["conditions"]);
        let told: Vec<ContainerStatus> =
            all["containers"].as_array().into_iter().flatten().map(|it| self.container(it, &before, patch)).collect();
        let is_init = |it: &ContainerStatus| pod.spec.init_containers.iter().any(|known| known.name == it.name);
        (pod.status.init_container_statuses, pod.status.container_statuses) = told.into_iter().partition(is_init);
        pod
    }

    /// A container's status. Its times are in the kubelet's patch, where that is recorded; else it is now that it
    /// changed.
    fn container(&self, it: &Value, before: &Pod, patch: Option<&Value>) -> ContainerStatus {
        let now = Timestamp::from_millis(self.recording.started_at + self.now);
        let name = text(it, "name");
        let lists = ["containerStatuses", "initContainerStatuses"].map(|list| patch.map(|it| &it["status"][list]));
        let mut told = lists.into_iter().flatten().filter_map(Value::as_array).flatten();
        let told = told.find(|it| it["name"] == name.as_str()).map(|it| &it["state"]);
        let time = |state: &str, field: &str| told.and_then(|it| it[state][field].as_str()).and_then(Timestamp::parse);
        let known = before.statuses().find(|it| *it.name == *name).map(|it| &it.state);
        let reason = text(it, "stateReason");
        let exit_code = it["exitCode"].as_i64().and_then(|it| it.try_into().ok()).unwrap_or(0);
        let state = match (text(it, "state").as_str(), known) {
            ("running", Some(ContainerState::Running(known))) if told.is_none() => {
                ContainerState::Running(known.clone())
            }
            ("terminated", Some(ContainerState::Terminated(known))) if told.is_none() => {
                ContainerState::Terminated(known.clone())
            }
            ("running", _) => {
                ContainerState::Running(ContainerRunning { started_at: time("running", "startedAt").unwrap_or(now) })
            }
            ("terminated", _) => ContainerState::Terminated(ContainerTerminated {
                exit_code,
                reason: reason.into(),
                started_at: time("terminated", "startedAt").unwrap_or(now),
                finished_at: time("terminated", "finishedAt").unwrap_or(now),
                ..ContainerTerminated::default()
            }),
            _ => ContainerState::Waiting(ContainerWaiting { reason: reason.into(), ..ContainerWaiting::default() }),
        };
        ContainerStatus {
            name: name.into(),
            ready: it["ready"] == true,
            started: it["started"] == true,
            restart_count: it["restartCount"].as_i64().and_then(|it| it.try_into().ok()).unwrap_or(0),
            state,
            ..ContainerStatus::default()
        }
    }

    fn node(&self, name: &str) -> Result<Rc<loopscope_engine::api::Node>, String> {
        let node = self.api.objects().get(&ObjectKey::node(name)).and_then(Object::as_node);
        node.cloned().ok_or_else(|| "is not there".into())
    }

    fn feed_node(&mut self, change: &Change) -> Result<(), String> {
        if change.change == ChangeType::Deleted {
            return self.ask(Verb::Delete(ObjectKey::node(&*change.name), DeleteOptions::default()), None).map(drop);
        }
        if change.change == ChangeType::Added {
            return Err("nobody is known to have created it".into());
        }
        let node = self.node(&change.name)?;
        // A node's first record has all of it.
        let changed = |field: &str| change.changed.iter().any(|it| it == field);
        let mut given = Rc::clone(&node);
        let it = Rc::make_mut(&mut given);
        if changed("unschedulable") {
            it.spec.unschedulable = change.fields.get("unschedulable") == Some(&Value::Bool(true));
        }
        if changed("labels") {
            it.metadata.labels = map_of(change.fields.get("labels"));
        }
        if changed("annotations") {
            it.metadata.annotations = map_of(change.fields.get("annotations"));
        }
        it.metadata.resource_version = 0;
        if given != node {
            self.ask(Verb::Update(Object::Node(given)), None)?;
        }
        if changed("conditions") || changed("allocatable") {
            let list = change.fields.get("conditions").cloned().unwrap_or_default();
            let mut node = self.node(&change.name)?;
            let conditions = self.conditions(&list);
            let mut value = Object::Node(Rc::clone(&node)).to_value();
            if let Some(amounts) = change.fields.get("allocatable") {
                value["status"]["allocatable"] = amounts.clone();
                value["status"]["capacity"] = amounts.clone();
            }
            if let Object::Node(read) = Object::from_value(Kind::Node, value).map_err(|error| error.message)? {
                node = read;
            }
            let it = Rc::make_mut(&mut node);
            it.status.conditions = conditions;
            it.metadata.resource_version = 0;
            self.ask(Verb::UpdateStatus(Object::Node(node)), None)?;
        }
        Ok(())
    }

    /// The kubelet posts conditions.
    fn report(&mut self, name: &str, conditions: &[Value], step: &Step) -> Result<(), String> {
        if let Some(index) = step.record {
            let recording = self.recording;
            return self.feed_node(&recording.trace[index]);
        }
        let mut node = self.node(name)?;
        let it = Rc::make_mut(&mut node);
        it.metadata.resource_version = 0;
        let now = Timestamp::from_millis(self.recording.started_at + self.now);
        for given in conditions {
            let condition = Condition::new(text(given, "type"), text(given, "status") == "True")
                .because(text(given, "reason"), text(given, "message"));
            loopscope_engine::api::set_condition(&mut it.status.conditions, condition, now);
        }
        self.ask(Verb::UpdateStatus(Object::Node(node)), Some(step)).map(drop)
    }
}

fn map_of(value: Option<&Value>) -> loopscope_engine::api::Labels {
    let pairs = value.and_then(Value::as_object).into_iter().flatten();
    pairs.map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_string())).collect()
}

fn options(given: &recording::DeleteOptions) -> Result<DeleteOptions, String> {
    let propagation = match given.propagation_policy.as_deref() {
        None => None,
        Some("Background") => Some(Propagation::Background),
        Some("Foreground") => Some(Propagation::Foreground),
        Some("Orphan") => Some(Propagation::Orphan),
        Some(other) => return Err(format!("not understood: propagationPolicy {other}")),
    };
    Ok(DeleteOptions { grace_seconds: given.grace_period_seconds, propagation, ..DeleteOptions::default() })
}
