//! The API server and the control loops, with the recording as their clock.

use std::collections::BTreeMap;
use std::rc::Rc;

use loopscope_engine::api::{Kind, Name, Object, ObjectKey, Timestamp, Uid};
use loopscope_engine::apiserver::{Answer, ApiError, ApiServer, Change, ChangeKind, EventDraft, Moment, Request, Verb};
use loopscope_engine::sim::{Random, Seq};
use loopscope_engine::world::ProcessKind;
use serde_json::{Map, Value};

use super::compare::{Clock, Part, difference};
use super::course::{Course, Deed, Step};
use super::lane::{Instant, Lane, Metered, time};
use super::names::Names;
use super::search::Choice;
use crate::conformance::recording::{AUTOSCALER, Op, Recording};

/// The least time without any event, write or Event after which a recording counts as still.
pub const STILL: i64 = 300;
/// How much later than the recording's a taint of ours may come: its loop comes round every 100 ms.
pub const PARALLEL: i64 = 100;
/// What the user and the fake kubelet call themselves.
pub const USER: &str = "admin-client";

/// The loops that remember what they do by object alone.
const BY_OBJECT: &[&str] = &[
    "Deployment",
    "ReplicaSet",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "EndpointSlice",
    "Horizontal pod autoscaler",
    "Disruption budgets",
    "Resource quotas",
];

/// The clients of the loops, as the audit log names them.
const CLIENTS: &[(&str, &str)] = &[
    ("Deployment", "controller/deployment-controller"),
    ("ReplicaSet", "controller/replicaset-controller"),
    ("Node lifecycle", "controller/node-controller"),
    ("Taint eviction", "controller/node-controller"),
    ("Garbage collector", "controller/generic-garbage-collector"),
    ("Namespaces", "controller/namespace-controller"),
    ("Disruption budgets", "controller/disruption-controller"),
    ("Resource quotas", "controller/resourcequota-controller"),
    ("StatefulSet", "controller/statefulset-controller"),
    ("DaemonSet", "controller/daemon-set-controller"),
    ("Job", "controller/job-controller"),
    ("Finished Jobs", "controller/ttl-after-finished-controller"),
    ("EndpointSlice", "controller/endpointslice-controller"),
    ("Pod collector", "controller/pod-garbage-collector"),
    ("Horizontal pod autoscaler", AUTOSCALER),
];

/// The real clock behind a loop's own clock: where it stands, and how often it comes round.
#[derive(Clone)]
pub struct Tick {
    pub lane: usize,
    pub key: ObjectKey,
    pub next: i64,
    pub step: i64,
}

/// An Event that a controller of ours published.
#[derive(Clone)]
pub struct Told {
    pub t: i64,
    /// How often the process was started before.
    pub life: usize,
    pub event: EventDraft,
}

#[derive(Clone)]
pub struct Works<'a> {
    pub recording: &'a Recording,
    pub course: Rc<Course>,
    pub api: ApiServer,
    pub random: Random,
    pub lanes: Vec<Lane>,
    /// Loops that are copied for each object, as they are before their first turn.
    roots: Vec<Lane>,
    pub ticks: Vec<Tick>,
    /// When each version was told of.
    pub heard_at: Vec<i64>,
    pub names: Names,
    pub told: Vec<Told>,
    pub now: i64,
    /// Times at which something went on in the recording.
    pub signs: Vec<i64>,
    /// Nodes that renew their leases, and when next.
    pub heartbeats: Vec<(Name, i64)>,
    /// The controller manager is there.
    is_running: bool,
    /// And it is not halted.
    pub is_up: bool,
    /// The version when it was halted: its informers hear of later ones when it goes on.
    halted_at: u64,
    /// Steps that are still to be answered, and why they were not at once.
    pub owed: Vec<(usize, String)>,
    /// Clients of ours that were refused what the recording is still to be refused.
    pub refused_early: Vec<String>,
    starts: usize,
    /// The recording tells what becomes of nodes.
    pub watches_nodes: bool,
    /// It was started, and is not heard of yet.
    pub is_starting: bool,
    /// The last choice among beginnings of a turn.
    pub choice: Option<Choice<'a>>,
}

/// All loops as they are after a fresh start: those that are copied, and those that are one.
fn loops(recording: &Recording) -> (Vec<Lane>, Vec<Lane>) {
    let client = |name: &str| CLIENTS.iter().find(|(it, _)| *it == name).map_or("", |(_, client)| client);
    let (roots, lanes): (Vec<_>, Vec<_>) =
        ProcessKind::ControllerManager.loops().into_iter().partition(|(name, ..)| BY_OBJECT.contains(&name.as_str()));
    let lane = |(name, _, reconciler): (Name, usize, _)| {
        let mut lane = Lane::new(client(&name), reconciler);
        if lane.by == AUTOSCALER {
            lane.metrics = Rc::new(Metered::of(recording));
        }
        lane
    };
    (roots.into_iter().map(lane).collect(), lanes.into_iter().map(lane).collect())
}

impl<'a> Works<'a> {
    pub fn new(recording: &'a Recording) -> Result<Self, String> {
        let (roots, lanes) = loops(recording);
        let mut works = Self {
            recording,
            course: Rc::new(Course::of(recording)?),
            api: ApiServer::default(),
            random: Random::new(1),
            lanes,
            roots,
            ticks: Vec::new(),
            heard_at: vec![0],
            names: Names::default(),
            told: Vec::new(),
            now: 0,
            signs: super::still::signs(recording),
            heartbeats: Vec::new(),
            is_running: true,
            is_up: true,
            halted_at: 0,
            starts: 0,
            watches_nodes: recording.trace.iter().any(|it| it.kind == "Node"),
            is_starting: false,
            owed: Vec::new(),
            refused_early: Vec::new(),
            choice: None,
        };
        works.set_up()?;
        Ok(works)
    }

    /// Goes through the steps from one on.
    pub fn go_on(&mut self, from: usize, choices: &mut Vec<Choice<'a>>) -> Result<(), String> {
        for index in from..self.course.steps.len() {
            let step = self.course.steps[index].clone();
            self.pass_time(index)?;
            self.now = self.now.max(step.t);
            self.take(index, &step).map_err(|error| format!("t={} {error}", step.t))?;
            choices.extend(self.choice.take());
            self.follow()?;
        }
        self.come_to_rest()?;
        if let Some((_, error)) = self.owed.first() {
            return Err(error.clone());
        }
        if let Some(by) = self.refused_early.first() {
            return Err(format!("{} of ours is refused more often", by.trim_start_matches("controller/")));
        }
        self.compare_events()
    }

    /// What may come of a step at once.
    pub fn follow(&mut self) -> Result<(), String> {
        self.take_quiet_turns();
        let result = self.make_up();
        self.choice = None;
        result
    }

    fn take(&mut self, index: usize, step: &Step) -> Result<(), String> {
        match step.deed {
            Deed::Action(action) => self.act(action, step),
            Deed::Evict(write) => self.evict(write),
            Deed::Feed(record) => self.feed(record),
            Deed::Written(_) | Deed::Refused(_) => match self.answer_any(index) {
                Err(error) if self.is_in_parallel(index) => {
                    self.owed.push((index, error));
                    Ok(())
                }
                result => result,
            },
            Deed::Conflict(_) => {
                self.meet_conflict(index);
                Ok(())
            }
        }
    }

    fn answer_any(&mut self, index: usize) -> Result<(), String> {
        match self.course.steps[index].deed {
            Deed::Refused(_) => self.answer_refused(index),
            _ => self.answer(index),
        }
    }

    /// The node controller's taints come from loops of their own, so that ours may come a little later; and what was
    /// refused has no version that puts it in order.
    fn is_in_parallel(&self, index: usize) -> bool {
        let write = match self.course.steps[index].deed {
            Deed::Refused(_) => return true,
            Deed::Written(write) => write,
            _ => return false,
        };
        let it = &self.recording.writes[write];
        it.by == "controller/node-controller" && it.resource == "nodes"
    }

    /// Answers writes for which ours came later.
    pub fn make_up(&mut self) -> Result<(), String> {
        for (index, error) in std::mem::take(&mut self.owed) {
            if self.answer_any(index).is_ok() {
                continue;
            }
            let t = self.course.steps[index].t;
            if self.now > t + self.still() + PARALLEL {
                return Err(format!("t={t} {error}"));
            }
            self.owed.push((index, error));
        }
        Ok(())
    }

    /// After so many ms without a sign of life in the recording its controllers have done all they had to do.
    pub fn still(&self) -> i64 {
        STILL.max(3 * self.recording.slack_ms as i64)
    }

    pub fn clock(&self) -> Clock {
        Clock { started_at: self.recording.started_at, slack: self.recording.slack_ms as i64 }
    }

    pub fn instant(&self, t: i64) -> Instant {
        Instant { t, started_at: self.recording.started_at }
    }

    pub fn record(&self, step: &Step) -> Option<&'a Map<String, Value>> {
        let recording: &'a Recording = self.recording;
        step.record.map(|index| &*recording.trace[index].fields)
    }

    pub fn key(&self, kind: &str, name: &str) -> Result<ObjectKey, String> {
        let kind = Kind::by_name(kind).ok_or_else(|| format!("not understood: kind {kind}"))?;
        let namespace = if kind.is_namespaced() { self.recording.namespace.as_str() } else { "" };
        Ok(ObjectKey::new(kind, namespace, self.names.ours(name).as_str()))
    }

    /// Carries out a request on our API server; the loops hear of it when they get so far.
    pub fn execute(&mut self, request: &Request, record: Option<&Map<String, Value>>) -> Result<Answer, ApiError> {
        let now = self.instant(self.now);
        let before = self.api.version();
        let result = perform(&mut self.api, &mut self.random, request, record, &self.course.uids, now);
        for version in before + 1..=self.api.version() {
            self.heard_at.push(self.now);
            self.look_after(version);
        }
        result
    }

    /// Copies a loop for an object that it has not looked after yet.
    fn look_after(&mut self, version: u64) {
        let Some(change) = self.api.change(version).cloned() else { return };
        for root in self.roots.iter_mut().filter(|_| self.is_running) {
            let before = root.clone();
            root.hear(&change, self.now);
            for key in root.take_keys() {
                if !self.lanes.iter().any(|lane| lane.by == root.by && lane.only.as_ref() == Some(&key)) {
                    self.lanes.push(before.copy_for(&key, Vec::new()));
                }
            }
        }
    }

    /// After a write, the object must be as the recording tells.
    pub fn check(&self, object: &Object, step: &Step) -> Result<(), String> {
        let Some(record) = self.record(step) else { return Ok(()) };
        match difference(object, record, Part::All, &self.names, self.clock()) {
            Some(difference) => Err(difference),
            None => Ok(()),
        }
    }

    pub fn tell(&mut self, events: Vec<EventDraft>) {
        let t = self.now;
        let life = self.starts;
        self.told.extend(events.into_iter().map(|event| Told { t, life, event }));
    }

    /// Lets a loop hear of everything up to a version.
    pub fn deliver(&mut self, lane: usize, until: u64) {
        while self.lanes[lane].version < until {
            let version = self.lanes[lane].version + 1;
            let Some(change) = self.api.change(version) else { return };
            self.lanes[lane].hear(change, self.heard_at[version as usize]);
        }
    }

    pub fn halt(&mut self) {
        (self.is_up, self.halted_at) = (false, self.api.version());
    }

    pub fn let_go_on(&mut self) {
        self.is_up = true;
        let now = self.now;
        self.heard_at.iter_mut().skip(self.halted_at as usize + 1).for_each(|t| *t = now);
    }

    /// The process dies, and with it all that its loops knew.
    pub fn kill(&mut self) {
        (self.roots, self.lanes) = loops(self.recording);
        (self.is_running, self.is_up) = (false, false);
    }

    /// A new process lists all there is.
    pub fn start(&mut self) {
        (self.is_running, self.is_up, self.is_starting) = (true, true, false);
        self.starts += 1;
        let version = self.api.version();
        for lane in self.roots.iter_mut().chain(&mut self.lanes) {
            for (key, object) in self.api.objects().iter() {
                let (key, object, at) = (key.clone(), object.clone(), time(self.now));
                let change = Change { version, kind: ChangeKind::Added, key, object, old: None, at, cause: Seq(0) };
                lane.list(&change, self.now);
            }
            lane.version = version;
        }
        for root in &mut self.roots {
            for key in root.take_keys() {
                self.lanes.push(root.copy_for(&key, vec![key.clone()]));
            }
        }
        let now = self.now;
        self.ticks.iter_mut().for_each(|tick| tick.next = now + 100);
    }

    fn set_up(&mut self) -> Result<(), String> {
        self.now = -super::still::LEAD;
        let namespaces = ["default", "kube-node-lease", "kube-public", "kube-system", &self.recording.namespace];
        for name in namespaces {
            self.create(Kind::Namespace, serde_json::json!({"metadata": {"name": name}}), None)?;
        }
        for object in &self.recording.initial_objects {
            let kind = object["kind"].as_str().and_then(Kind::by_name);
            let kind = kind.ok_or_else(|| format!("not understood: {} at the start", object["kind"]))?;
            let mut object = object.clone();
            if kind == Kind::Node {
                self.complete(&mut object);
            }
            let answer = self.create(kind, object, None)?;
            if kind == Kind::Node {
                self.beat(&answer.object.meta().name.clone())?;
            }
        }
        self.set_clocks();
        self.warm_up()
    }

    /// Gives a Node's conditions the times that its first record tells of.
    fn complete(&self, node: &mut Value) {
        let name = node["metadata"]["name"].as_str().unwrap_or_default();
        let first = self.recording.trace.iter().find(|it| it.kind == "Node" && it.name == name);
        if let Some(annotations) = first.and_then(|it| it.fields.get("annotations")) {
            node["metadata"]["annotations"] = annotations.clone();
        }
        let Some(told) = first.and_then(|it| it.fields.get("conditions")).and_then(Value::as_array) else { return };
        let time = |ms: &Value| {
            let time = ms.as_i64().map(|ms| Timestamp::from_millis(self.recording.started_at + ms));
            time.map_or(Value::Null, |it| it.to_string().into())
        };
        for condition in node["status"]["conditions"].as_array_mut().into_iter().flatten() {
            let Some(it) = told.iter().find(|it| it["type"] == condition["type"]) else { continue };
            condition["lastHeartbeatTime"] = time(&it["lastHeartbeatMs"]);
            if it["status"] == condition["status"] {
                condition["lastTransitionTime"] = time(&it["lastTransitionMs"]);
            }
        }
    }

    pub fn create(
        &mut self,
        kind: Kind,
        mut value: Value,
        record: Option<&Map<String, Value>>,
    ) -> Result<Answer, String> {
        if kind.is_namespaced() && value["metadata"]["namespace"].is_null() {
            value["metadata"]["namespace"] = self.recording.namespace.as_str().into();
        }
        let object = Object::from_value(kind, value).map_err(|error| format!("{}: {}", error.path, error.message))?;
        self.execute(&Request::new(USER, Verb::Create(object)), record).map_err(|error| error.message)
    }

    /// Nodes whose kubelets a later action stops or brings back.
    pub fn stops(&self) -> impl Iterator<Item = (i64, &'a [String])> + use<'a> {
        let recording: &'a Recording = self.recording;
        recording.actions.iter().filter_map(|action| match &action.op {
            Op::NodeStop { nodes } => Some((action.t as i64, nodes.as_slice())),
            _ => None,
        })
    }
}

/// Carries out a request; what it creates gets the recorded identity and creation time.
pub fn perform(
    api: &mut ApiServer,
    random: &mut Random,
    request: &Request,
    record: Option<&Map<String, Value>>,
    uids: &BTreeMap<String, Uid>,
    now: Instant,
) -> Result<Answer, ApiError> {
    let number = |field: &str| record.and_then(|it| it.get(field)).and_then(Value::as_i64);
    let is_creation = match &request.verb {
        Verb::Create(_) => true,
        Verb::ServerSideApply(..) => api.objects().get(&request.key()).is_none(),
        _ => false,
    };
    let is_deletion = matches!(request.verb, Verb::Delete(..) | Verb::Evict(..));
    // The server's own clock decides on which side of a full second a time falls.
    let shown = match () {
        () if is_creation => number("createdMs"),
        () if is_deletion => number("deletionMs").map(|ms| ms - number("deletionGraceSeconds").unwrap_or(0) * 1000),
        () => None,
    };
    let shown = shown.filter(|ms| (ms - now.t).abs() <= 2_000).map(|t| Instant { t, ..now });
    let uid = record.and_then(|it| it.get("uid")).and_then(Value::as_str).filter(|_| is_creation);
    // Where the rest of the identity is not told, it only has to be another one for each object.
    let uid = uid.and_then(|it| match uids.get(it) {
        Some(full) => Some(*full),
        None => u128::from_str_radix(it, 16).ok().map(|it| Uid(it << 96 | u128::from(api.version()))),
    });
    let wall = shown.unwrap_or(now).wall();
    let mut moment = Moment { now: time(now.t), wall, cause: Seq(0), random, uid };
    api.execute(request, &mut moment)
}
