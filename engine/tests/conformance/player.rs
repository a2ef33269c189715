//! Plays a recording's scenario: its nodes, its actions, kubelets with its delays.

use std::collections::{BTreeMap, BTreeSet};

use loopscope_engine::api::{Kind, Object, ObjectKey};
use loopscope_engine::apiserver::{PatchType, Propagation};
use loopscope_engine::client::What;
use loopscope_engine::environment::{Behavior, Behaviors};
use loopscope_engine::sim::{Seq, Time};
use loopscope_engine::world::{ClientLimit, Command, NodeSetup, Scenario, Simulation, Subject, Target as Ours};
use serde_json::{Value, json};

use super::names::Names;
use super::recording::{
    Action, Call, Change, ChangeType, Delays, DeleteOptions, KubeletKind, Op, PatchKind, Recording, Target, Until, Wait,
};
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
}

#[derive(Clone, Debug)]
enum Later {
    Evict { pod: String, every: u64 },
    Come { manifest: String },
    Go { pod: String },
    Start { process: String },
}

/// Plays all actions and lets the rest of the recording's time pass.
pub fn play(recording: &Recording, seed: u64) -> Result<Run, String> {
    let mut player = Player::new(recording, seed)?;
    let mut last = 0;
    for (index, action) in recording.actions.iter().enumerate() {
        let recorded_last = index.checked_sub(1).map_or(0, |before| recording.actions[before].t);
        player.wait(action, last, recorded_last).map_err(|error| format!("action {index}: {error}"))?;
        last = player.now();
        let done = Done { t: last, version: player.seen, target: player.target_of(&action.op) };
        player.run.actions.push(done);
        player.act(action).map_err(|error| format!("action {index}: {error}"))?;
        player.take_notes();
    }
    let rest = recording.end_ms - recording.actions.last().map_or(0, |it| it.t);
    player.run_to(last + rest);
    player.run.end = player.now();
    Ok(player.run)
}

/// All values of a key, anywhere inside.
fn values_of<'a>(value: &'a Value, key: &str, found: &mut Vec<&'a Value>) {
    match value {
        Value::Array(list) => list.iter().for_each(|it| values_of(it, key, found)),
        Value::Object(map) => {
            found.extend(map.get(key));
            map.values().for_each(|it| values_of(it, key, found));
        }
        _ => {}
    }
}

fn images(recording: &Recording) -> BTreeSet<String> {
    let mut found = Vec::new();
    recording.manifests.iter().for_each(|it| values_of(it, "image", &mut found));
    for action in &recording.actions {
        if let Op::Patch { patch, .. } = &action.op {
            values_of(patch, "image", &mut found);
        }
    }
    found.into_iter().filter_map(Value::as_str).map(str::to_string).collect()
}

/// `exec` probes of `ok-between A B`: the program is well from A to B ms after its start.
fn well_between(recording: &Recording, probe: &str) -> Option<(u64, u64)> {
    let mut found = Vec::new();
    recording.manifests.iter().for_each(|it| values_of(it, probe, &mut found));
    let command = found.first()?.pointer("/exec/command")?.as_array()?;
    let number = |at: usize| command.get(at)?.as_str()?.parse().ok();
    Some((number(1)?, number(2)?))
}

fn laid_over(base: Delays, more: &Delays) -> Delays {
    Delays {
        start: more.start.or(base.start),
        ready: more.ready.or(base.ready),
        term: more.term.or(base.term),
        exit_after_ms: more.exit_after_ms.or(base.exit_after_ms),
        exit_code: more.exit_code,
    }
}

fn behavior(recording: &Recording, delays: &Delays) -> Behavior {
    let ms = |delay: Option<Option<u64>>| delay.flatten();
    let plain = Behavior {
        pull_ms: 0,
        start_ms: if delays.start == Some(None) { NEVER } else { ms(delays.start).unwrap_or(0) },
        serve_ms: if delays.ready == Some(None) { None } else { Some(ms(delays.ready).unwrap_or(0)) },
        stop_ms: ms(delays.term).unwrap_or(0),
        exit: ms(delays.exit_after_ms).map(|after| (after, delays.exit_code)),
        tells_ready: recording.kubelet.kind == KubeletKind::Fake,
        ..Behavior::usual("")
    };
    let ready = well_between(recording, "readinessProbe");
    let lives = well_between(recording, "livenessProbe");
    Behavior {
        serve_ms: ready.map_or(plain.serve_ms, |(from, _)| Some(from)),
        lapse: ready.map(|(_, until)| (until, NEVER)),
        hang_ms: lives.map(|(_, until)| until),
        ..plain
    }
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
        };
        player.set_behaviors()?;
        player.simulation.run_until(Time(1_000), usize::MAX);
        for name in [recording.namespace.as_str(), ELSEWHERE] {
            player.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}))?;
        }
        for object in &recording.initial_objects {
            match object["kind"].as_str() {
                Some("Node") => player.taint(object)?,
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

    /// Pods of other namespaces that take room on the nodes for a while.
    fn plan_foreign_load(&mut self) -> Result<(), String> {
        let here = |name: &str| self.recording.initial_objects.iter().any(|it| it["metadata"]["name"] == name);
        let all = self.recording.foreign_load.iter().enumerate();
        let all: Vec<_> = all.filter(|(_, load)| here(&load.node)).collect();
        let image = "elsewhere:v1".to_string();
        let behavior = Behavior { pull_ms: 0, start_ms: 0, stop_ms: 0, ..Behavior::usual("") };
        self.command(Command::SetBehavior { subject: Subject::Image(image.clone()), behavior })?;
        for (number, load) in all {
            let pod = format!("load-{number}");
            let requests = json!({"cpu": format!("{}m", load.cpu_milli), "memory": format!("{}Mi", load.mem_mi)});
            let container = json!({"name": "load", "image": image, "resources": {"requests": requests}});
            let manifest = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod, "namespace": ELSEWHERE},
                "spec": {"nodeName": load.node, "terminationGracePeriodSeconds": 0, "containers": [container],
                    "tolerations": [{"operator": "Exists"}]}})
            .to_string();
            match load.from_ms {
                0 => self.command(Command::Apply { manifest })?,
                from => self.later.push((from, Later::Come { manifest })),
            }
            self.later.extend(load.to_ms.map(|to| (to, Later::Go { pod })));
        }
        Ok(())
    }

    /// The taints that a node has at the start.
    fn taint(&mut self, node: &Value) -> Result<(), String> {
        let Some(taints) = node.pointer("/spec/taints") else { return Ok(()) };
        let target = Ours { kind: Kind::Node, namespace: String::new(), name: text(&node["metadata"]["name"]) };
        let patch = json!({"spec": {"taints": taints}});
        self.command(Command::Patch { target, kind: PatchType::Merge, patch })
    }

    /// How the programs of all images behave from now on.
    fn set_behaviors(&mut self) -> Result<(), String> {
        for image in self.images.clone() {
            let tag = image.rsplit(':').next().unwrap_or_default();
            let by_tag = self.recording.kubelet.by_image_tag.get(tag).copied().unwrap_or_default();
            let behavior = behavior(self.recording, &laid_over(self.delays, &by_tag));
            self.command(Command::SetBehavior { subject: Subject::Image(image), behavior })?;
        }
        Ok(())
    }

    /// Each pod behaves as the one of the same number did in the recording, as soon as it is there.
    fn set_pod_behaviors(&mut self) {
        let recording = self.recording;
        let new: Vec<String> = self.run.changes[self.behaved..]
            .iter()
            .filter(|it| it.kind == "Pod" && it.change == ChangeType::Added)
            .map(|it| it.name.clone())
            .collect();
        self.behaved = self.run.changes.len();
        if new.is_empty() {
            return;
        }
        let names = Names::of(&self.run.changes, &recording.namespace);
        for name in new {
            let called = names.object("Pod", &name);
            let Some(mut behavior) = self.behavior_of(&name) else { continue };
            let odd = recording.kubelet.by_pod.iter().find(|it| self.recorded.object("Pod", &it.name) == called);
            if let Some(odd) = odd {
                let own = Delays { start: odd.start, ready: odd.ready, term: odd.term, ..Delays::default() };
                behavior = self::behavior(recording, &laid_over(self.delays, &own));
            }
            match recording.kubelet.kind {
                KubeletKind::Fake => behavior.start_ms += self.lateness(),
                KubeletKind::Real => self.live_as_recorded(&called, &mut behavior),
            }
            let subject = Subject::Pod { namespace: recording.namespace.clone(), name };
            let _ = self.simulation.dispatch(Command::SetBehavior { subject, behavior });
        }
    }

    /// How the only container of a pod behaves by its image.
    fn behavior_of(&self, pod: &str) -> Option<Behavior> {
        let Some(Object::Pod(pod)) = self.object(Kind::Pod, pod) else { return None };
        let spec = &pod.spec;
        let container =
            spec.containers.first().filter(|_| spec.containers.len() == 1 && spec.init_containers.is_empty());
        container.map(|it| self.simulation.behaviors().of(&it.image))
    }

    /// The recorder's kubelet ran a little late, not with all pods alike.
    fn lateness(&mut self) -> u64 {
        self.n_pods += 1;
        (self.n_pods * 7 + self.seed * 3) % 10 * self.recording.kubelet_late_ms / 9
    }

    /// The recorded kubelets of kubemark may send five requests a second, so that what they say of a pod comes seconds
    /// late. Its containers come up and stop here when they were said to there.
    fn live_as_recorded(&self, called: &str, behavior: &mut Behavior) {
        let first = |holds: &dyn Fn(&Change) -> bool| {
            let mut all = self.recording.trace.iter();
            let is_it = |it: &&Change| it.kind == "Pod" && self.recorded.object("Pod", &it.name) == called && holds(it);
            all.find(is_it).map(|it| it.t)
        };
        let state =
            |change: &Change, wanted: &str| change.fields.get("containers").is_some_and(|it| it[0]["state"] == wanted);
        let bound = first(&|it| it.fields.contains_key("nodeName"));
        if let (Some(bound), Some(running)) = (bound, first(&|it| state(it, "running"))) {
            behavior.start_ms = running - bound;
        }
        let told_to = first(&|it| it.fields.contains_key("deletionMs"));
        if let (Some(told_to), Some(ended)) = (told_to, first(&|it| state(it, "terminated"))) {
            behavior.stop_ms = ended.saturating_sub(told_to);
        }
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

    /// Waits as the recorder did: for the same states where it waited for states, else as long.
    fn wait(&mut self, action: &Action, last: u64, recorded_last: u64) -> Result<(), String> {
        let took = action.t - recorded_last;
        if !action.waited.iter().any(|wait| !matches!(wait, Wait::Ms(_))) {
            self.run_to(last + took);
            return Ok(());
        }
        let deadline = last + took + PATIENCE;
        for wait in &action.waited {
            match wait {
                Wait::Ms(ms) => self.run_to(self.now() + ms),
                Wait::Complete(name) => {
                    self.run_while(deadline, |it| !it.is_complete(name), || format!("{name} is not complete"))?
                }
                Wait::Until(until) => {
                    self.run_while(deadline, |it| !it.holds(until), || format!("{until:?} does not come"))?
                }
            }
        }
        // A run is faster than the recorder; what was done when counts for timestamps of whole seconds.
        self.run_to(action.t.max(self.now()));
        Ok(())
    }

    fn run_while(
        &mut self,
        deadline: u64,
        goes_on: impl Fn(&Self) -> bool,
        told: impl Fn() -> String,
    ) -> Result<(), String> {
        while goes_on(self) {
            if !self.step(deadline) && self.now() >= deadline {
                return Err(format!("{} within {} s of what was recorded", told(), PATIENCE / 1000));
            }
            self.set_pod_behaviors();
            self.do_what_is_due();
        }
        Ok(())
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

    fn is_complete(&self, name: &str) -> bool {
        let Some(Object::Deployment(it)) = self.object(Kind::Deployment, name) else { return false };
        let (wanted, status) = (it.spec.wanted(), &it.status);
        let counts = [status.replicas, status.updated_replicas, status.available_replicas];
        status.observed_generation >= it.metadata.generation
            && counts == [wanted; 3]
            && status.terminating_replicas.unwrap_or(0) == 0
            && self.pods().count() == wanted as usize
            && self.pods().all(|pod| pod.meta().deletion_timestamp.is_none())
    }

    fn holds(&self, until: &Until) -> bool {
        if let Some(count) = until.count {
            let has = |pod: &&Object| {
                let Object::Pod(pod) = pod else { return false };
                until.phase.as_ref().is_none_or(|phase| pod.status.phase.as_str() == phase)
            };
            let found = self.pods().filter(has).count();
            // For pods to come up, or to be gone.
            return if until.phase.is_some() { found >= count } else { found == count };
        }
        let Ok(kind) = kind(&until.kind) else { return false };
        let names = until.name.iter().chain(&until.names);
        names.into_iter().all(|name| {
            let Some(it) = self.fields(kind, name) else { return false };
            let conditions = it.get("conditions").or_else(|| it["status"].get("conditions"));
            let conditions = || conditions.and_then(Value::as_array).into_iter().flatten();
            let taints = || it["taints"].as_array().into_iter().flatten();
            let taint = |it: &Value| format!("{}:{}", text(&it["key"]), text(&it["effect"]));
            until.taint.as_ref().is_none_or(|wanted| taints().any(|it| taint(it).starts_with(wanted.as_str())))
                && until.ready.as_ref().is_none_or(|wanted| {
                    conditions().any(|it| it["type"] == "Ready" && it["status"] == wanted.as_str())
                })
                && until.reason.as_ref().is_none_or(|wanted| conditions().any(|it| it["reason"] == wanted.as_str()))
                && until.available_replicas.is_none_or(|wanted| it["status"]["availableReplicas"] == wanted)
        })
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
            Op::Apply { .. } => Err("apply cannot be done here".into()),
            Op::Replace { .. } => Err("replace cannot be done here".into()),
            Op::MetricsSet { .. } => Err("metrics_set cannot be done here".into()),
        }
    }

    /// The recorder's kubelet says nothing more of a pod that the node controller has called unready; ours would say
    /// that it is ready. So that all that follows can be compared, the programs of such pods are told to be unready.
    fn bring_back(&mut self, nodes: &[String]) -> Result<(), String> {
        let is_lost = |it: &&Object| {
            let Object::Pod(pod) = it else { return false };
            nodes.contains(&pod.spec.node_name.to_string()) && !pod.is_terminating() && !pod.is_ready()
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

    /// kubectl takes a moment to start; its own call tells how long.
    fn start_kubectl(&mut self, calls: &[Call]) {
        let action = self.recording.actions.get(self.run.actions.len().saturating_sub(1)).map_or(0, |it| it.t);
        if let Some(call) = calls.first() {
            self.run_to(self.now() + call.t.saturating_sub(action));
        }
    }

    fn cordon(&mut self, node: &str, on: bool, calls: &[Call]) -> Result<(), String> {
        self.start_kubectl(calls);
        self.command(Command::Cordon { node: node.into(), on })
    }

    fn drain(&mut self, node: &str, calls: &[Call], retry_ms: u64) -> Result<(), String> {
        self.start_kubectl(calls);
        let here: Vec<String> = self
            .pods()
            .filter(|it| matches!(it, Object::Pod(pod) if pod.spec.node_name.as_str() == node))
            .map(|it| it.meta().name.to_string())
            .collect();
        let now = self.now();
        self.later.extend(here.into_iter().map(|pod| (now, Later::Evict { pod, every: retry_ms })));
        self.do_what_is_due();
        Ok(())
    }

    fn do_what_is_due(&mut self) {
        let now = self.now();
        let (due, later): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.later).into_iter().partition(|(at, _)| *at <= now);
        self.later = later;
        for (at, what) in due {
            let pod =
                |namespace: &str, name: &str| Ours { kind: Kind::Pod, namespace: namespace.into(), name: name.into() };
            let again = match &what {
                Later::Evict { pod: name, every } => {
                    let target = pod(&self.recording.namespace, name);
                    self.command(Command::Evict { target }).is_err().then_some(at + every)
                }
                Later::Come { manifest } => {
                    let _ = self.command(Command::Apply { manifest: manifest.clone() });
                    None
                }
                Later::Go { pod: name } => {
                    let target = pod(ELSEWHERE, name);
                    let _ = self.command(Command::Delete { target, propagation: None, grace: Some(0) });
                    None
                }
                Later::Start { process } => {
                    let _ = self.command(Command::StartController { process: process.clone() });
                    None
                }
            };
            self.later.extend(again.map(|at| (at, what)));
        }
        self.take_notes();
    }

    fn set_kubelet(
        &mut self,
        target: Option<&Target>,
        ready: Option<bool>,
        delays: Option<&Delays>,
    ) -> Result<(), String> {
        if let Some(delays) = delays {
            self.delays = laid_over(self.delays, delays);
            self.set_behaviors()?;
            // Whoever was told what to say keeps on saying it.
            let said = std::mem::take(&mut self.said);
            for (pod, ready) in &said {
                let _ = self.simulation.dispatch(self.set_ready(pod, *ready));
            }
            self.said = said;
            return Ok(());
        }
        let (Some(target), Some(ready)) = (target, ready) else { return Err("not understood: kubelet_set".into()) };
        let pod = self.target(target)?.name;
        self.command(self.set_ready(&pod, ready))?;
        self.said.insert(pod, ready);
        Ok(())
    }

    fn set_ready(&self, pod: &str, ready: bool) -> Command {
        Command::SetReady { namespace: self.recording.namespace.clone(), pod: pod.into(), ready }
    }
}

fn kind(name: &str) -> Result<Kind, String> {
    let found = Kind::ALL.iter().find(|kind| kind.name() == name).copied();
    found.ok_or_else(|| format!("not understood: kind {name}"))
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().into()
}
