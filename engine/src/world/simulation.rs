use std::rc::Rc;

use super::command_words::describe_with;
use super::flights::Flights;
use super::gitops_deed::GitWorld;
use super::process::{Loop, Process};
use super::{
    Command, Goal, Iac, Instant, Invariants, JournalEntry, Lane, Outcome, Record, Scenario, Server, Target,
    default_namespace,
};
use crate::api::{Kind, Name, Object, ObjectKey, Timestamp, fields};
use crate::apiserver::{Answer, ApiError, ApiServer, Change, Effect, Moment, PatchType, Request, Verb};
use crate::client::{Author, Changed, Field, LoopIndex, What, changed};
use crate::environment::{Behaviors, Machine, Occurrence, Room, Spending, Traffic};
use crate::kubectl::reference;
use crate::manifest::{self, Diagnostic, Document, Manifest, Severity, Stage};
use crate::sim::{EventQueue, Map, Millis, OnWrite, Random, Seq, Time, Trace};

/// Something that is going to happen.
#[derive(Clone, Debug)]
pub(super) enum Happening {
    /// A request reaches the API server.
    Arrive(u64),
    /// Its answer reaches the client.
    Answer(u64),
    /// A watch tells a process of a version.
    Deliver { process: usize, version: u64 },
    /// A delayed key may be due.
    Release { at: LoopIndex, key: ObjectKey, epoch: u32 },
    /// A turn goes on to its next step.
    Continue { at: LoopIndex, turn: Turn, epoch: u32 },
    /// A loop's own clock comes round.
    Tick { at: LoopIndex, epoch: u32, cause: Option<Seq> },
    /// A process that crashed is started again.
    Restart { process: usize, epoch: u32, cause: Seq },
    /// A process's informers tell its loops again of all they know.
    Resync { process: usize, epoch: u32 },
    /// A client whose watch has ended lists.
    Relist { process: usize, epoch: u32, cause: Seq },
    /// An event arrives late.
    Late { process: usize, epoch: u32, change: Rc<Change> },
    /// Proxies take in the endpoints of a Service that has a load.
    Route(ObjectKey),
    /// A change of an apply under way has reached the cloud.
    Provision,
    /// The cloud's autoscalers look.
    CloudClock,
    /// Something happens inside a machine.
    Occur { kubelet: usize, boot: u32, occurrence: Occurrence, cause: Seq },
}

/// Where a turn under way is among those of its loop.
pub(super) type Turn = u32;

/// A world that runs: a pure function of scenario and journal.
///
/// A clone is a checkpoint: objects are shared, so it is cheap.
#[cfg_attr(feature = "checkpoints", derive(Clone))]
pub struct Simulation {
    pub(super) scenario: Rc<Scenario>,
    pub(super) queue: EventQueue<Happening>,
    /// What has happened at just this time.
    nth: u32,
    /// The newest trace event before the last thing that happened or was commanded.
    pub(super) earlier: Seq,
    pub(super) random: Random,
    pub(super) trace: Trace<What>,
    pub(super) api: ApiServer,
    pub(super) processes: Vec<OnWrite<Process>>,
    pub(super) kubelets: Map<Name, usize>,
    pub(super) loops: Vec<OnWrite<Loop>>,
    pub(super) machines: Map<Name, OnWrite<Machine>>,
    /// The command that last cut or gave back a machine's power or network.
    pub(super) faults: Map<Name, Seq>,
    /// How the API server answers.
    pub(super) server: Server,
    /// The room, and where its thermostat is among the processes.
    pub(super) room: Option<(Room, usize)>,
    /// The scenario's, and what a person has changed about them.
    pub(super) behaviors: Behaviors,
    pub(super) flights: Flights,
    pub(super) traffic: Traffic,
    pub(super) git: GitWorld,
    pub(super) iac: Iac,
    pub(super) journal: Vec<Rc<JournalEntry>>,
    /// The trace events of the person's commands.
    pub(super) commands: Vec<Seq>,
    /// Why commands were refused, by their places in the journal.
    pub(super) refusals: Vec<(usize, Rc<str>)>,
    /// For each object its creation, and the write that explains it: a pod's creation or deletion, anything else's newest
    /// change.
    pub(super) origins: Map<ObjectKey, [Seq; 2]>,
    pub(super) record: Record,
    pub(super) invariants: Invariants,
    /// The nodes that are not heard any more, as the API server has them.
    pub(super) silent: Vec<Name>,
    /// Something that the curve of want and is depends on was written and is yet to be taken down.
    pub(super) is_unbalanced: bool,
}

impl Simulation {
    pub fn new(scenario: Scenario) -> Self {
        let mut simulation = Self {
            random: Random::new(scenario.seed),
            scenario: Rc::new(scenario),
            queue: EventQueue::default(),
            nth: 0,
            earlier: Seq(0),
            trace: Trace::default(),
            api: ApiServer::new(),
            processes: Vec::new(),
            kubelets: Map::default(),
            loops: Vec::new(),
            machines: Map::default(),
            faults: Map::default(),
            server: Server::Up,
            room: None,
            behaviors: Behaviors::default(),
            flights: Flights::default(),
            traffic: Traffic::default(),
            git: GitWorld::default(),
            iac: Iac::default(),
            journal: Vec::new(),
            commands: Vec::new(),
            refusals: Vec::new(),
            origins: Map::default(),
            record: Record::default(),
            invariants: Invariants::default(),
            silent: Vec::new(),
            is_unbalanced: true,
        };
        simulation.api.max_pods = simulation.scenario.max_pods;
        simulation.api.watch_lag = Some(Millis(simulation.scenario.latency.watch));
        simulation.behaviors = simulation.scenario.behaviors.clone();
        simulation.traffic.spending = Spending::new(simulation.scenario.metrics);
        let began = simulation.record(None, false, What::Began);
        simulation.set_up(began);
        simulation.balance();
        simulation
    }

    /// A copy to go on from: as a clone, without the writes that only somebody who was there could still ask for.
    #[cfg(feature = "checkpoints")]
    pub fn checkpoint(&mut self) -> Self {
        self.loops.iter_mut().for_each(OnWrite::settle);
        self.processes.iter_mut().for_each(OnWrite::settle);
        self.machines.values_mut().for_each(OnWrite::settle);
        let mut copy = self.clone();
        copy.api.forget_heard(self.now());
        copy
    }

    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The manifest that the scenario begins with.
    pub fn manifest(&self) -> &str {
        &self.scenario.manifest
    }

    pub fn now(&self) -> Time {
        self.queue.now()
    }

    /// Now, in milliseconds since 1970-01-01 UTC.
    pub fn wall_millis(&self) -> i64 {
        self.scenario.epoch_ms + self.now().0 as i64
    }

    /// Now, as the API writes it.
    pub fn wall(&self) -> Timestamp {
        Timestamp::from_millis(self.wall_millis())
    }

    pub fn api(&self) -> &ApiServer {
        &self.api
    }

    pub fn trace(&self) -> &Trace<What> {
        &self.trace
    }

    pub fn journal(&self) -> &[Rc<JournalEntry>] {
        &self.journal
    }

    pub fn loops(&self) -> &[OnWrite<Loop>] {
        &self.loops
    }

    pub fn processes(&self) -> &[OnWrite<Process>] {
        &self.processes
    }

    /// How images and pods behave now.
    pub fn behaviors(&self) -> &Behaviors {
        &self.behaviors
    }

    pub fn machines(&self) -> &Map<Name, OnWrite<Machine>> {
        &self.machines
    }

    /// When something happens next.
    pub fn next_at(&self) -> Option<Time> {
        self.queue.next_at()
    }

    /// How far it has run.
    pub fn instant(&self) -> Instant {
        Instant { at: self.now(), commands: self.journal.len() as u32, nth: self.nth }
    }

    /// The newest trace event of an earlier instant than this one.
    pub fn earlier(&self) -> Seq {
        self.earlier
    }

    /// Runs until everything up to a time has happened, or until so much has happened. Returns whether the time was
    /// reached.
    pub fn run_until(&mut self, until: Time, max_events: usize) -> bool {
        self.run_to(Instant::end_of(until), max_events)
    }

    /// Runs to an instant, without its commands, or until so much has happened. Returns whether the instant was reached.
    pub fn run_to(&mut self, to: Instant, max_events: usize) -> bool {
        for _ in 0..max_events {
            if !self.is_before(to) {
                if self.now() < to.at {
                    self.queue.advance_to(to.at);
                    self.nth = 0;
                    self.earlier = self.trace.last_seq();
                }
                return true;
            }
            self.happen();
        }
        false
    }

    /// Whether what happens next is not beyond an instant.
    fn is_before(&self, to: Instant) -> bool {
        let nth = |at: Time| if at == self.now() { self.nth } else { 0 };
        self.queue.next_at().is_some_and(|at| at < to.at || (at == to.at && nth(at) < to.nth))
    }

    /// Runs until a goal is met, at most to an instant. Returns whether it was met.
    pub fn step_to(&mut self, goal: &Goal, to: Instant) -> bool {
        let from = self.trace.last_seq();
        let mut seen = from;
        self.run_while(to, |simulation| {
            let is_met = simulation.first_met(goal, seen).is_some();
            seen = simulation.trace.last_seq();
            !is_met
        })
    }

    /// Runs until something is done that a list would show, for at most `within` of virtual time.
    /// Returns whether there was anything.
    pub fn step(&mut self, within: Millis) -> bool {
        self.step_to(&Goal::Event, Instant::end_of(self.now() + within))
    }

    /// Runs until a loop sends its next request that is no heartbeat.
    pub fn step_to_act(&mut self, within: Millis) -> bool {
        self.step_to(&Goal::Act, Instant::end_of(self.now() + within))
    }

    /// Runs until an object changes, heartbeats aside. Returns the virtual time that passed, if one did.
    pub fn skip_to_change(&mut self, within: Millis) -> Option<Millis> {
        let start = self.now();
        self.step_to(&Goal::Write, Instant::end_of(start + within)).then(|| self.now().since(start))
    }

    fn run_while(&mut self, to: Instant, mut go_on: impl FnMut(&Self) -> bool) -> bool {
        while go_on(self) {
            if !self.is_before(to) {
                return false;
            }
            self.happen();
        }
        true
    }

    fn happen(&mut self) {
        self.earlier = self.trace.last_seq();
        let before = self.now();
        let happening = self.queue.pop();
        self.nth = if self.now() == before { self.nth + 1 } else { 1 };
        self.let_happen(happening);
    }

    /// Carries out a request at the API server now, and lets watchers hear of it.
    pub(super) fn execute(
        &mut self,
        request: &Request,
        author: Author,
        cause: Seq,
        is_background: bool,
    ) -> Result<Answer, ApiError> {
        if let Some(error) = self.unanswered(author) {
            return Err(error);
        }
        let before = self.api.version();
        // The number that the trace event of this write will have: changes point at their write.
        let seq = Seq(self.trace.last_seq().0 + 1);
        let (now, wall) = (self.now(), self.wall());
        let mut moment = Moment { now, wall, cause: seq, random: &mut self.random, uid: None };
        let result = self.api.execute(request, &mut moment);
        let (method, subresource) = request.method();
        let newest = self.api.change(self.api.version()).filter(|_| self.api.version() > before);
        let key = match &result {
            Ok(answer) => match newest.filter(|it| it.version == answer.object.meta().resource_version) {
                Some(change) => change.key.clone(),
                None => answer.object.key(),
            },
            Err(_) => request.key(),
        };
        let changed = newest.map(|it| changed(it.old.as_ref(), &it.object)).unwrap_or_default();
        let is_hum = is_background && !(newest.is_some_and(|it| it.old.is_some()) && is_news(&changed));
        let what = match &result {
            Ok(answer) => What::Wrote {
                author,
                key: key.clone(),
                method,
                subresource,
                effect: answer.outcome,
                version: answer.object.meta().resource_version,
                changed,
            },
            Err(error) => What::Refused {
                author,
                key: key.clone(),
                method,
                subresource,
                code: error.code(),
                message: error.message.clone(),
            },
        };
        let is_quiet = is_hum || matches!(&result, Ok(answer) if answer.outcome == Effect::Unchanged);
        let seq = self.record(Some(cause), is_quiet, what);
        if let Ok(answer) = &result {
            self.note_origin(key, answer.outcome, seq, is_quiet);
        }
        for version in before + 1..=self.api.version() {
            self.weigh(version);
            self.uphold(version, author);
            self.announce(version, author);
            self.regulate(version);
            self.reroute(version);
        }
        result
    }

    fn note_origin(&mut self, key: ObjectKey, outcome: Effect, seq: Seq, is_quiet: bool) {
        match outcome {
            Effect::Deleted => {
                self.origins.remove(&key);
            }
            Effect::Configured if key.kind == Kind::Pod => {}
            // What is there before anything happens has an origin too.
            Effect::Created => {
                self.origins.insert(key, [seq; 2]);
            }
            _ if is_quiet => {}
            _ => {
                if let Some(origin) = self.origins.get_mut(&key) {
                    origin[1] = seq;
                }
            }
        }
    }

    /// The write that explains an object.
    pub fn origin(&self, key: &ObjectKey) -> Option<Seq> {
        self.origins.get(key).map(|it| it[1])
    }

    /// The write that created an object.
    pub fn creation(&self, key: &ObjectKey) -> Option<Seq> {
        self.origins.get(key).map(|it| it[0])
    }

    /// Whether an event is, or follows from, something the person did.
    pub fn is_yours(&self, seq: Seq) -> bool {
        self.trace.root(seq).is_some_and(|root| self.commands.binary_search(&root).is_ok())
    }

    /// Puts a command in the journal and in the trace, with what the text that comes with it was read as.
    pub(super) fn note_command(&mut self, command: &Command, manifest: Option<&Manifest>) -> Seq {
        self.earlier = self.trace.last_seq();
        let words = describe_with(command, manifest);
        let nth = (self.queue.next_at() == Some(self.now())).then_some(self.nth);
        self.journal.push(Rc::new(JournalEntry { at: self.now(), nth, command: command.clone() }));
        let lane = if command.is_disturbance() { Lane::Faults } else { Lane::You };
        let seq = self.record_on(lane, None, false, What::Commanded(words));
        self.commands.push(seq);
        seq
    }

    /// Does what a person asked for, now. The person's own request takes no time.
    pub fn dispatch(&mut self, command: Command) -> Outcome {
        let manifest = command.manifest().map(manifest::read);
        let seq = self.note_command(&command, manifest.as_ref());
        let outcome = self.obey(command, manifest, seq);
        if let Some(why) = outcome.refusal() {
            self.note_refusal(why);
        }
        self.balance();
        outcome
    }

    fn obey(&mut self, command: Command, manifest: Option<Manifest>, seq: Seq) -> Outcome {
        match command {
            Command::Request { .. } => self.asked(&command, seq),
            Command::Apply { .. } => self.apply(manifest.unwrap_or_default(), seq),
            Command::Replace { .. } => self.replace(manifest.unwrap_or_default(), seq),
            Command::Scale { ref target, .. } => self.ask_for(&command, target, "scaled", seq),
            Command::Patch { ref target, .. } => self.ask_for(&command, target, "patched", seq),
            Command::Delete { ref target, .. } => self.ask_for(&command, target, "deleted", seq),
            Command::Evict { ref target } => self.ask_for(&command, target, "evicted", seq),
            Command::SetImage { target, container, image } => {
                let patch = image_patch(self.api.objects().get(&target.key()), &container, &image);
                match patch {
                    Some(patch) => self.request(
                        &target,
                        "kubectl-set",
                        Verb::Patch(target.key(), PatchType::Merge, patch),
                        "image updated",
                        seq,
                    ),
                    None => refused(&ApiError::not_found(&target.key())),
                }
            }
            Command::Rollback { target, to_revision } => self.roll_back(&target, to_revision, seq),
            Command::Pause { target, on } => self.pause(&target, on, seq),
            Command::Restart { target } => self.restart_rollout(&target, seq),
            Command::Cordon { node, on } => {
                let target = Target { kind: Kind::Node, namespace: String::new(), name: node };
                let patch = fields([("spec", fields([("unschedulable", on.then_some(true).into())]))]);
                let done = if on { "cordoned" } else { "uncordoned" };
                self.request(&target, "kubectl-cordon", Verb::Patch(target.key(), PatchType::Merge, patch), done, seq)
            }
            Command::Git { deed } => self.do_git(deed, seq),
            Command::Iac { deed } => self.do_iac(deed, seq),
            other => self.disturb(other, seq),
        }
    }

    /// Carries out a command that is one request and no more.
    fn ask_for(&mut self, command: &Command, target: &Target, done: &str, seq: Seq) -> Outcome {
        let answer = self.answer_of(command, seq);
        told(answer, target, done)
    }

    pub(super) fn request(
        &mut self,
        target: &Target,
        manager: &'static str,
        verb: Verb,
        done: &str,
        seq: Seq,
    ) -> Outcome {
        let answer = self.execute(&Request::new(manager, verb), Author::You, seq, false);
        told(answer, target, done)
    }

    /// Applies each object of a manifest; one that is refused does not stop the others.
    pub(super) fn apply(&mut self, manifest: Manifest, cause: Seq) -> Outcome {
        let broken: Vec<usize> = manifest.broken().collect();
        let mut outcome = Outcome { lines: Vec::new(), problems: manifest.diagnostics };
        if manifest.documents.is_empty() && outcome.problems.is_empty() {
            outcome.lines.push("error: no objects passed to apply".into());
        }
        for document in manifest.documents.iter().filter(|document| !broken.contains(&document.index)) {
            let kind = document.object.kind();
            let namespace = namespace_of(&document.object);
            let verb = Verb::Apply(kind, namespace, document.value.clone());
            match self.execute(&Request::new("kubectl-client-side-apply", verb), Author::You, cause, false) {
                Ok(answer) => {
                    let word = match answer.outcome {
                        Effect::Created => "created",
                        Effect::Unchanged => "unchanged",
                        _ => "configured",
                    };
                    outcome.lines.push(format!("{} {word}", reference(&answer.object.key())));
                }
                Err(error) => outcome.problems.extend(located(document, &error)),
            }
        }
        outcome
    }
}

/// What came of a request, as kubectl says it.
fn told(answer: Result<Answer, ApiError>, target: &Target, done: &str) -> Outcome {
    match answer {
        Ok(answer) => {
            let is_same = answer.outcome == Effect::Unchanged && done == "patched";
            let done = if is_same { "patched (no change)" } else { done };
            let line = match done {
                "deleted" => deletion(&target.key()),
                _ => format!("{} {done}", reference(&target.key())),
            };
            Outcome { lines: vec![line], problems: Vec::new() }
        }
        Err(error) => refused(&error),
    }
}

/// `pod "web-6d4cf56db6-4kx7m" deleted from default namespace`, as kubectl 1.36 says it.
fn deletion(key: &ObjectKey) -> String {
    let reference = reference(key);
    let (kind, name) = reference.split_once('/').unwrap_or(("", &reference));
    match &*key.namespace {
        "" => format!("{kind} \"{name}\" deleted"),
        namespace => format!("{kind} \"{name}\" deleted from {namespace} namespace"),
    }
}

/// A condition has another status.
fn is_news(changed: &[Changed]) -> bool {
    changed.iter().any(|it| matches!(it.field, Field::Condition(_)))
}

fn image_patch(object: Option<&Object>, container: &str, image: &str) -> Option<serde_json::Value> {
    let mut value = object?.to_value();
    let containers = value.pointer_mut("/spec/template/spec/containers")?;
    let found = containers
        .as_array_mut()?
        .iter_mut()
        .find(|it| it.get("name").and_then(|name| name.as_str()) == Some(container))?;
    found["image"] = image.into();
    Some(fields([("spec", fields([("template", fields([("spec", fields([("containers", containers.take())]))]))]))]))
}

fn problem(error: &ApiError, path: String, message: String) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        line: 0,
        column: 0,
        length: 0,
        path,
        message,
        hint: None,
        stage: Stage::Decode,
        upstream: Some(error.message.clone()),
        document: 0,
    }
}

pub(super) fn refused(error: &ApiError) -> Outcome {
    Outcome { lines: Vec::new(), problems: vec![problem(error, String::new(), error.message.clone())] }
}

/// Where an object of a manifest belongs.
pub fn namespace_of(object: &Object) -> Name {
    let named = &object.meta().namespace;
    match (object.kind().is_namespaced(), named.is_empty()) {
        (false, _) => Name::default(),
        (true, true) => default_namespace(),
        (true, false) => named.clone(),
    }
}

/// What the API server refused, each part at its place in the manifest.
pub(super) fn located(document: &Document, error: &ApiError) -> Vec<Diagnostic> {
    let mut problems: Vec<Diagnostic> =
        error.fields.iter().map(|field| problem(error, field.path.clone(), field.message.clone())).collect();
    if problems.is_empty() {
        problems.push(problem(error, String::new(), error.message.clone()));
    }
    for it in &mut problems {
        it.document = document.index;
        if let Some(span) = document.locate_refused(&it.path, &it.message) {
            (it.line, it.column, it.length) = (span.line, span.column, span.length);
        }
    }
    problems
}
