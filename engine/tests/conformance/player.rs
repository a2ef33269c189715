//! Plays a recording's scenario: its nodes, its actions, kubelets with its delays.

mod kubelet;
mod later;
mod wait;

use std::collections::{BTreeMap, BTreeSet};

use loopscope_engine::api::{Kind, Object, ObjectKey};
use loopscope_engine::apiserver::{PatchType, Propagation};
use loopscope_engine::client::What;
use loopscope_engine::environment::{Behaviors, Load, Pipeline, Shape};
use loopscope_engine::sim::{Seq, Time};
use loopscope_engine::world::{Ask, ClientLimit, Command, NodeSetup, Scenario, Simulation, Target as Ours};
use serde_json::{Value, json};

use kubelet::images;
use later::Later;

use super::names::Names;
use super::recording::{Action, Change, Delays, DeleteOptions, Op, PatchKind, Recording, Target};
use super::shape;

/// How long nodes live before a recording begins: their leases and the node monitor are in step by then.
const BEFORE: u64 = 70_000;
/// Longer than any recording.
const NEVER: u64 = 10_000_000;
/// How much longer than recorded a wait may take.
const PATIENCE: u64 = 120_000;
/// A kube-controller-manager that is started needs 1 to 3 s until its caches are full (README of the recordings).
const START: u64 = 1_500;
/// From a node's creation until it is ready: the recorder creates it bare and posts its status at once.
const JOIN: u64 = 60;
/// Where the pods of other recordings are.
const ELSEWHERE: &str = "elsewhere";
/// Kinds that recordings tell of.
const WATCHED: &[Kind] = &[
    Kind::Deployment,
    Kind::ReplicaSet,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::Job,
    Kind::Pod,
    Kind::Service,
    Kind::EndpointSlice,
    Kind::PodDisruptionBudget,
    Kind::HorizontalPodAutoscaler,
    Kind::Node,
];

/// An Event of ours.
#[derive(Clone, Debug)]
pub struct Told {
    pub component: String,
    pub kind: &'static str,
    pub reason: String,
    pub message: String,
    pub about: (String, String),
}

/// What came of it, in the recording's terms.
pub struct Run {
    pub changes: Vec<Change>,
    pub events: Vec<Told>,
    pub actions: Vec<Done>,
    pub end: u64,
}

/// When an action was done, the newest version before it, and the name here of the object it was about.
#[derive(Clone, Debug)]
pub struct Done {
    pub t: u64,
    pub version: u64,
    pub target: Option<String>,
}

struct Player<'a> {
    recording: &'a Recording,
    recorded: Names,
    simulation: Simulation,
    seen: u64,
    heard: Seq,
    images: BTreeSet<String>,
    delays: Delays,
    run: Run,
    /// Up to which change pods were told how to behave, and how many were.
    behaved: usize,
    seed: u64,
    n_pods: u64,
    /// Pods that were told to be ready or not.
    said: BTreeMap<String, bool>,
    /// What is to be done later: evictions that are tried again every so many ms, pods elsewhere that come and go.
    later: Vec<(u64, Later)>,
    /// CPU that pods are to use, in thousandths, as long as there is no Deployment to put it on.
    load: Option<u64>,
}

/// Plays all actions and lets the rest of the recording's time pass.
pub fn play(recording: &Recording, seed: u64) -> Result<Run, String> {
    let mut player = Player::new(recording, seed)?;
    let (mut last, mut recorded_last) = (0, 0);
    for (index, action) in recording.actions.iter().enumerate() {
        // A label of the recorder. What it waited for, before and after, is told with the next action.
        let is_label = matches!(action.op, Op::Observe {});
        if !is_label {
            player.wait(action, last, recorded_last).map_err(|error| format!("action {index}: {error}"))?;
            (last, recorded_last) = (player.now(), action.t);
        }
        let done = Done { t: player.now(), version: player.seen, target: player.target_of(&action.op) };
        player.run.actions.push(done);
        player.act(action).map_err(|error| format!("action {index}: {error}"))?;
        player.set_load();
        player.take_notes();
    }
    let rest = recording.end_ms.saturating_sub(recorded_last);
    player.run_to(last + rest);
    player.run.end = player.now();
    Ok(player.run)
}

fn node_setup(node: &Value) -> Option<NodeSetup> {
    let text = |pointer: &str| node.pointer(pointer)?.as_str();
    let mut setup = NodeSetup::named(
        text("/metadata/name")?,
        text("/status/allocatable/cpu")?,
        text("/status/allocatable/memory")?,
    );
    setup.pods = text("/status/allocatable/pods")?.parse().ok()?;
    let labels = node.pointer("/metadata/labels").and_then(Value::as_object).into_iter().flatten();
    setup.labels = labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_string()))).collect();
    Some(setup)
}

impl<'a> Player<'a> {
    fn new(recording: &'a Recording, seed: u64) -> Result<Self, String> {
        let is_node = |it: &&Value| it["kind"] == "Node";
        let nodes = recording.initial_objects.iter().filter(is_node);
        let nodes: Option<Vec<NodeSetup>> = nodes.map(node_setup).collect();
        let scenario = Scenario {
            nodes: nodes.ok_or("a node without size")?,
            epoch_ms: recording.started_at - BEFORE as i64,
            behaviors: Behaviors::default(),
            // The recorder's metrics server answers with what is.
            metrics: Pipeline::NONE,
            client_limit: Some(ClientLimit { qps: recording.client_limit.qps, burst: recording.client_limit.burst }),
            ..Scenario::empty(seed)
        };
        let mut player = Self {
            recording,
            recorded: Names::of(&recording.trace, &recording.namespace),
            simulation: Simulation::new(scenario),
            seen: 0,
            heard: Seq(0),
            images: images(recording),
            delays: recording.kubelet.delays_ms,
            run: Run { changes: Vec::new(), events: Vec::new(), actions: Vec::new(), end: 0 },
            behaved: 0,
            seed,
            n_pods: 0,
            said: BTreeMap::new(),
            later: Vec::new(),
            load: None,
        };
        player.set_behaviors()?;
        player.simulation.run_until(Time(1_000), usize::MAX);
        for name in [recording.namespace.as_str(), ELSEWHERE] {
            player.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}))?;
        }
        for object in &recording.initial_objects {
            match object["kind"].as_str() {
                Some("Node") => player.mark_node(object)?,
                _ => player.apply(object)?,
            }
        }
        player.plan_foreign_load()?;
        player.shift_monitor(seed)?;
        player.simulation.run_until(Time(BEFORE), usize::MAX);
        player.seen = player.simulation.api().version();
        player.heard = player.simulation.trace().last_seq();
        Ok(player)
    }

    /// Starts the controllers anew, so that the node monitor's passes come at another moment between the leases.
    fn shift_monitor(&mut self, seed: u64) -> Result<(), String> {
        if seed == 1 {
            return Ok(());
        }
        let process = || "kube-controller-manager".to_string();
        self.simulation.run_until(Time(20_000 + seed * 430), usize::MAX);
        self.command(Command::StopController { process: process() })?;
        self.command(Command::StartController { process: process() })
    }

    /// What a node's spec says beside what its kubelet makes known: taints that it brings along, and whether it is
    /// cordoned. Taints that it has got meanwhile stay.
    fn mark_node(&mut self, node: &Value) -> Result<(), String> {
        let name = text(&node["metadata"]["name"]);
        let mut spec = node["spec"].as_object().cloned().unwrap_or_default();
        spec.retain(|field, _| matches!(field.as_str(), "taints" | "unschedulable"));
        if spec.is_empty() {
            return Ok(());
        }
        if let Some(Value::Array(taints)) = spec.get_mut("taints")
            && let Some(Object::Node(known)) = self.object(Kind::Node, &name)
        {
            let known =
                known.spec.taints.iter().map(|it| json!({"key": it.key.as_str(), "effect": it.effect.as_str()}));
            taints.extend(known);
        }
        let target = Ours { kind: Kind::Node, namespace: String::new(), name };
        let patch = json!({"spec": spec});
        self.command(Command::Patch { target, kind: PatchType::Merge, patch })
    }

    fn now(&self) -> u64 {
        self.simulation.now().0 - BEFORE
    }

    fn command(&mut self, command: Command) -> Result<(), String> {
        let outcome = self.simulation.dispatch(command);
        match outcome.problems.first().filter(|_| !outcome.is_ok()) {
            Some(problem) => Err(problem.upstream.clone().unwrap_or_else(|| problem.message.clone())),
            None => Ok(()),
        }
    }

    fn apply(&mut self, object: &Value) -> Result<(), String> {
        let mut object = object.clone();
        let kind = kind(object["kind"].as_str().unwrap_or_default())?;
        if kind.is_namespaced() {
            object["metadata"]["namespace"] = self.recording.namespace.as_str().into();
        }
        // A pod that is to be adopted has the hash of the ReplicaSet's template among its labels.
        if let Some(hash) = object["metadata"]["labels"].get_mut("pod-template-hash") {
            let ours = Names::of(&self.run.changes, &self.recording.namespace);
            let called = self.recorded.text(hash.as_str().unwrap_or_default());
            *hash = ours.find_hash(&called).ok_or("a template that is not known")?.into();
        }
        self.command(Command::Apply { manifest: object.to_string() })
    }

    /// A PUT of the object as it is, but for what is set.
    fn replace(&mut self, target: &Target, set: &Value, manager: Option<&str>) -> Result<(), String> {
        let ours = self.target(target)?;
        let mut object = self.object(ours.kind, &ours.name).ok_or("is not there")?.to_value();
        for (path, item) in set.as_object().into_iter().flatten() {
            let mut place = &mut object;
            for part in path.split('.') {
                place = &mut place[part];
            }
            *place = item.clone();
        }
        let manager = manager.unwrap_or_default().to_string();
        self.command(Command::Request { manager, ask: Ask::Update { object } })
    }

    fn step(&mut self, until: u64) -> bool {
        let next = self.later.iter().map(|(at, _)| *at).filter(|at| *at > self.now()).min();
        let end = Time(BEFORE + next.map_or(until, |at| at.min(until)));
        match self.simulation.next_at().filter(|at| *at <= end) {
            Some(at) => {
                self.simulation.run_until(at, usize::MAX);
                self.take_notes();
                true
            }
            None => {
                self.simulation.run_until(end, usize::MAX);
                false
            }
        }
    }

    fn run_to(&mut self, until: u64) {
        while self.step(until) || self.now() < until {
            self.set_pod_behaviors();
            self.do_what_is_due();
        }
    }

    fn take_notes(&mut self) {
        let (started_at, namespace) = (self.recording.started_at, self.recording.namespace.as_str());
        let is_here = |key: &ObjectKey| key.namespace.as_str() == namespace || key.kind == Kind::Node;
        let api = self.simulation.api();
        for version in self.seen + 1..=api.version() {
            let Some(written) = api.change(version) else { continue };
            if is_here(&written.key) && WATCHED.contains(&written.key.kind) {
                self.run.changes.push(shape::change(written, BEFORE, started_at));
            }
        }
        self.seen = api.version();
        let newer = self.simulation.trace().events().rev().take_while(|event| event.seq > self.heard);
        let mut told: Vec<Told> = newer
            .filter_map(|event| match &event.what {
                What::Announced { event: draft, .. } if is_here(&draft.about) => Some(Told {
                    component: draft.component.into(),
                    kind: if draft.is_warning { "Warning" } else { "Normal" },
                    reason: draft.reason.into(),
                    message: draft.message.clone(),
                    about: (draft.about.kind.name().into(), draft.about.name.to_string()),
                }),
                _ => None,
            })
            .collect();
        told.reverse();
        self.run.events.append(&mut told);
        self.heard = self.simulation.trace().last_seq();
    }

    fn object(&self, kind: Kind, name: &str) -> Option<Object> {
        let namespace = if kind.is_namespaced() { self.recording.namespace.as_str() } else { "" };
        self.simulation.api().objects().get(&ObjectKey::new(kind, namespace, name)).cloned()
    }

    fn fields(&self, kind: Kind, name: &str) -> Option<Value> {
        self.object(kind, name).map(|it| shape::fields(&it, self.recording.started_at).into())
    }

    fn pods(&self) -> impl Iterator<Item = &Object> {
        let namespace = self.recording.namespace.as_str();
        self.simulation.api().objects().of_kind(Kind::Pod).filter(move |it| it.meta().namespace.as_str() == namespace)
    }

    /// Our name for an object that the recording names.
    fn our_name(&self, kind: &str, name: &str) -> Option<String> {
        let called = self.recorded.object(kind, name);
        if called == format!("{kind} {name}") {
            return Some(name.into());
        }
        Names::of(&self.run.changes, &self.recording.namespace).find(kind, &called)
    }

    fn target(&self, target: &Target) -> Result<Ours, String> {
        let kind = kind(&target.kind)?;
        let namespace = if kind.is_namespaced() { self.recording.namespace.clone() } else { String::new() };
        let name = self.our_name(&target.kind, &target.name);
        let called = || format!("there is no {}", self.recorded.object(&target.kind, &target.name));
        Ok(Ours { kind, namespace, name: name.ok_or_else(called)? })
    }

    /// The object that an action is about, by its name here.
    fn target_of(&self, op: &Op) -> Option<String> {
        match op {
            Op::Delete { target, .. } | Op::Patch { target, .. } => self.our_name(&target.kind, &target.name),
            _ => None,
        }
    }

    fn act(&mut self, action: &Action) -> Result<(), String> {
        let is_refused = action.result.is_some_and(|it| it.code >= 400);
        let done = self.carry_out(&action.op);
        match (done, is_refused) {
            (Ok(()), true) => Err(format!("was refused with {}, is not here", action.result.map_or(0, |it| it.code))),
            (Err(_), true) => Ok(()),
            (done, false) => done,
        }
    }

    fn carry_out(&mut self, op: &Op) -> Result<(), String> {
        match op {
            Op::Observe {} => Ok(()),
            Op::Create { target, manifest } => {
                let ours = self.target(target)?;
                if self.object(ours.kind, &ours.name).is_some() {
                    return Err(format!("{} exists", target.name));
                }
                let manifest = self.recording.manifests.get(*manifest).ok_or("there is no such manifest")?;
                self.apply(manifest)
            }
            Op::Patch { target, patch_type, patch, .. } => {
                let kind = match patch_type {
                    PatchKind::Merge => PatchType::Merge,
                    PatchKind::Strategic => PatchType::Strategic,
                };
                self.command(Command::Patch { target: self.target(target)?, kind, patch: patch.clone() })
            }
            Op::Scale { target, replicas, .. } => {
                self.command(Command::Scale { target: self.target(target)?, replicas: *replicas })
            }
            Op::Delete { target, delete_options } => self.delete(target, delete_options),
            Op::Cordon { node, calls, .. } => self.cordon(node, true, calls),
            Op::Uncordon { node, calls, .. } => self.cordon(node, false, calls),
            Op::Drain { node, calls, retry_ms, .. } => self.drain(node, calls, *retry_ms),
            Op::NodeStop { nodes } => self.each(nodes, |node| Command::CutNode { node }),
            Op::NodeBack { nodes } => self.bring_back(nodes),
            Op::NodeJoin { node } => {
                self.later.push((self.now() + JOIN / 2 + 5, Later::Mark { node: node.clone() }));
                let node = node_setup(node).ok_or("a node without size")?;
                self.command(Command::AddNode { node: NodeSetup { ready_ms: Some(JOIN), ..node } })
            }
            Op::KubeletSet { target, ready, delays_ms } => {
                self.set_kubelet(target.as_ref(), *ready, delays_ms.as_ref())
            }
            Op::ProcessStop { process } => self.command(Command::StopController { process: process.clone() }),
            Op::ProcessContinue { process } => self.command(Command::StartController { process: process.clone() }),
            Op::ProcessKill { process } => self.command(Command::StopController { process: process.clone() }),
            Op::ProcessStart { process } => {
                self.later.push((self.now() + START, Later::Start { process: process.clone() }));
                Ok(())
            }
            Op::NodeStatus { node, conditions } => {
                let node = node.clone();
                let is_ready = conditions.iter().any(|it| it["type"] == "Ready" && it["status"] == "True");
                self.command(if is_ready { Command::MendNode { node } } else { Command::BreakNode { node } })
            }
            Op::Apply { manifest, field_manager, force, .. } => {
                let object = self.recording.manifests.get(*manifest).ok_or("there is no such manifest")?.clone();
                let ask = Ask::ServerSideApply { namespace: self.recording.namespace.clone(), object, force: *force };
                self.command(Command::Request { manager: field_manager.clone(), ask })
            }
            Op::Replace { target, set, field_manager, .. } => self.replace(target, set, field_manager.as_deref()),
            Op::MetricsSet { cpu_milli } => {
                self.load = Some(*cpu_milli);
                self.set_load();
                Ok(())
            }
        }
    }

    /// Puts the load on the Deployment, once that is there.
    fn set_load(&mut self) {
        let is_here = |it: &&Object| it.meta().namespace.as_str() == self.recording.namespace;
        let found = self.simulation.api().objects().of_kind(Kind::Deployment).find(is_here).map(Object::key);
        let (Some(key), Some(amount)) = (found, self.load) else { return };
        self.load = None;
        let load = Load { shape: Shape::Steady { amount }, cost_micro: 0, capacity: None };
        let outcome = self.simulation.dispatch(Command::SetLoad { target: (&key).into(), load });
        assert!(outcome.is_ok(), "a Deployment takes a load");
    }

    /// The recorder's kubelet says nothing more of a pod that the node controller has called unready; ours would say
    /// that it is ready. So that all that follows can be compared, the programs of such pods are told to be unready.
    fn bring_back(&mut self, nodes: &[String]) -> Result<(), String> {
        let is_lost = |it: &&Object| {
            let Object::Pod(pod) = it else { return false };
            nodes.contains(&pod.spec.node_name.to_string()) && !pod.is_ready()
        };
        let lost: Vec<String> = self.pods().filter(is_lost).map(|it| it.meta().name.to_string()).collect();
        for pod in lost {
            let _ = self.simulation.dispatch(self.set_ready(&pod, false));
        }
        self.each(nodes, |node| Command::HealNode { node })
    }

    fn each(&mut self, nodes: &[String], command: impl Fn(String) -> Command) -> Result<(), String> {
        nodes.iter().try_for_each(|node| self.command(command(node.clone())))
    }

    fn delete(&mut self, target: &Target, options: &DeleteOptions) -> Result<(), String> {
        let propagation = match options.propagation_policy.as_deref() {
            None => None,
            Some("Background") => Some(Propagation::Background),
            Some("Foreground") => Some(Propagation::Foreground),
            Some("Orphan") => Some(Propagation::Orphan),
            Some(other) => return Err(format!("not understood: propagationPolicy {other}")),
        };
        let target = self.target(target)?;
        self.command(Command::Delete { target, propagation, grace: options.grace_period_seconds })
    }
}

fn kind(name: &str) -> Result<Kind, String> {
    let found = Kind::ALL.iter().find(|kind| kind.name() == name).copied();
    found.ok_or_else(|| format!("not understood: kind {name}"))
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().into()
}
