//! What the page draws: plain, comparable values in the page's terms.

use serde::Serialize;

use super::{Crowd, PodClass};
use crate::api::{Name, ObjectKey, Uid};
pub use crate::client::Mark;

/// A piece of text in which `**` opens and closes what is to stand out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Phrase(pub String);

impl Phrase {
    /// The parts in order; `true` marks those that stand out.
    pub fn parts(&self) -> impl Iterator<Item = (bool, &str)> {
        self.0.split("**").enumerate().map(|(index, part)| (index % 2 == 1, part)).filter(|(_, part)| !part.is_empty())
    }

    pub fn plain(&self) -> String {
        self.0.replace("**", "")
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Into<String>> From<T> for Phrase {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

/// How far the workloads are from what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Convergence {
    /// Nothing asks for anything.
    Empty,
    Converged,
    Converging,
    /// Nothing is under way that could bring it nearer, or it made no progress within its deadline.
    Stuck,
}

/// What keeps workloads from what is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stuck {
    /// `3 pods fit no node, Insufficient cpu`
    pub why: String,
    /// What would help, where that is plain: `Add a node, scale down or ask for less.`
    pub remedy: &'static str,
}

/// The title bar: what is wanted, what is, and the difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// `web`, or `11 workloads`.
    pub subject: String,
    pub want: i32,
    pub ready: i32,
    pub convergence: Convergence,
    /// Why, while that is [`Convergence::Stuck`].
    pub stuck: Option<Stuck>,
    /// One entry for each wanted replica (surplus pods after them), at most [`Summary::MAX_SLOTS`]: in the map's order
    /// where all are there, else the best first.
    pub slots: Vec<PodClass>,
    /// Slots left out.
    pub more_slots: usize,
}

impl Summary {
    pub const MAX_SLOTS: usize = 12;

    /// Ready less wanted: negative while pods are missing.
    pub fn difference(&self) -> i32 {
        self.ready - self.want
    }
}

/// The three phases of every loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Phase {
    Observe,
    Diff,
    Act,
}

/// Identifies a loop for as long as the simulation lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct LoopId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum ChipState {
    /// Being worked on now.
    Running,
    /// In the queue.
    Waiting,
    /// Being worked on, and waits for the API server's answer.
    InFlight,
    /// Changed while being worked on: runs again.
    Dirty,
    /// Waits for a time that its last turn, or the loop, has set.
    Delayed,
    /// Waits to be tried again after a failure.
    BackOff,
}

/// One key of a work queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chip {
    pub text: String,
    pub state: ChipState,
    /// Until it is due, in tenths of a second where that is a second or more.
    pub left: Option<Countdown>,
    /// `1.2 s`
    pub wait: String,
}

/// What a loop's last turn found or did in one phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PhaseCell {
    pub text: Phrase,
    /// The evidence: a resourceVersion, an answer.
    pub detail: String,
    /// The trace event this cell was filled from.
    pub seq: u64,
    /// The request was refused or failed.
    pub failed: bool,
}

/// How far what a loop reads is behind what is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CacheLag {
    /// The cache is as the store was at this resourceVersion.
    pub seen: u64,
    /// The store's resourceVersion.
    pub store: u64,
    /// Changes on their way to it.
    pub behind: usize,
    /// Nothing reaches it.
    pub is_cut: bool,
}

/// One loop as a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoopRow {
    pub id: LoopId,
    /// `ReplicaSet`, `Kubelet node-1`
    pub name: String,
    /// What it waits for.
    pub waits: String,
    /// What its watches bring, in the API's words.
    pub watches: &'static str,
    /// How far its cache is behind the API server.
    pub cache: CacheLag,
    pub queue: Vec<Chip>,
    /// Keys left out of `queue`.
    pub more: usize,
    /// Observe, Diff, Act of the last turn; later phases are empty until the turn reaches them.
    pub cells: [Option<PhaseCell>; 3],
    /// The phase that the turn under way is in.
    pub lit: Option<Phase>,
    /// The newest trace event is this loop's.
    pub is_current: bool,
    /// Turns finished, turns that failed and were tried again.
    pub turns: u64,
    pub retries: u64,
    /// Virtual time of its last step in ms; loops that never ran have none.
    pub last_active_ms: Option<u64>,
    /// The process is down.
    pub is_down: bool,
}

/// One line of the loop as code, with what its last turn put into it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CodeLine {
    /// `**3**`, `**3 − 2 = +1**`, `create **1** pod`; empty until the turn gets there.
    pub value: Phrase,
    /// Where that comes from, or what it means.
    pub note: String,
}

/// One loop as four lines of code, and what a newcomer may do to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SimpleView {
    pub of: Option<LoopId>,
    /// What is desired, what there is, whether they differ, the step.
    pub lines: [CodeLine; 4],
    /// The trace events that Observe, Diff and the step were filled from; 0 where the turn has not got so far.
    pub seqs: [u64; 3],
    /// The phase under way. Writing a status is no step, and lights none.
    pub lit: Option<Phase>,
    /// What is scaled, and to how many.
    pub target: Option<ObjectKey>,
    pub replicas: i32,
    /// The pod to delete.
    pub victim: Option<ObjectKey>,
    /// The node to break, or the one that is broken.
    pub node: String,
    pub is_broken: bool,
}

/// One sentence about the newest event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NowLine {
    /// `**Scheduler acts**: bind qk5ms to node-2`
    pub text: Phrase,
    /// `because you deleted b7tnc, 76 ms ago`
    pub because: String,
    pub seq: u64,
}

/// The API server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoreView {
    pub resource_version: u64,
    pub watches: usize,
    /// `POST pods/web-6d4cf56db6-qk5ms/binding`, with the loop it comes from.
    pub in_flight: Option<(LoopId, String)>,
    /// The controller manager and the scheduler are up.
    pub are_up: [bool; 2],
}

/// A countdown drawn as an arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Countdown {
    pub left_ms: u64,
    pub total_ms: u64,
}

/// One pod in the map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PodRow {
    pub uid: Uid,
    pub key: ObjectKey,
    /// `web…` and `4kx7m`: the part shared with its siblings and its own.
    pub stem: String,
    pub tail: String,
    pub class: PodClass,
    /// `Ready`, `Crash loop 3`, `Unknown 48 s`
    pub word: String,
    pub countdown: Option<Countdown>,
    /// STATUS, READY and RESTARTS as `kubectl get pods` prints them.
    pub status: String,
    pub ready: String,
    pub restarts: i32,
    /// It exists, or goes, because of something the person did.
    pub is_yours: bool,
    /// The whole sentence for assistive technology.
    pub label: String,
    /// The node it is being bound to while the binding is on its way.
    pub arriving_at: Option<String>,
    /// The node it is bound to; empty without one.
    pub node: Name,
    /// What made it, a ReplicaSet for instance; empty for a bare pod.
    pub owner: Name,
    /// Virtual time of its creation in ms.
    pub created_ms: u64,
    /// What the API server says of it, where the row shows something else: `reported Ready`.
    pub reported: Option<String>,
    /// The API server knows of it.
    pub is_known: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum NodeClass {
    Ready,
    NotReady,
    Unreachable,
    Cordoned,
}

/// What is requested of a node's resource, in thousandths of a core or mebibytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Capacity {
    pub used: i64,
    pub total: i64,
}

/// How a node stands, whatever the API server believes, and what can be done about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NodeFaults {
    /// The machine is off.
    pub is_stopped: bool,
    /// The machine is cut off from the API server.
    pub is_cut: bool,
    pub is_cordoned: bool,
}

/// How many pods of each class there are, the worst first.
pub type Counts = Vec<(PodClass, usize)>;

/// How the map is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapLook {
    /// A card for each workload, not for each node.
    pub by_owner: bool,
    /// What there really is on the machines, not what the API server believes.
    pub truth: bool,
}

/// The pods of one template of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// The ReplicaSet; empty where a workload has none.
    pub name: Name,
    pub is_new: bool,
    /// What its ReplicaSet asks for.
    pub want: Option<i32>,
    pub ready: usize,
    /// So many of the card's pods, after those of the parts before.
    pub n: usize,
}

/// What a card says of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OwnerFacts {
    pub want: i32,
    pub ready: usize,
    pub convergence: Convergence,
    /// Empty where all pods are of one template and no ReplicaSet made them.
    pub parts: Vec<Part>,
}

/// One titled card of the map: a node, or a workload where pods are grouped by owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeCard {
    pub key: ObjectKey,
    /// Only for a workload, of which nothing is said that nodes have: class, faults, room.
    pub owner: Option<OwnerFacts>,
    pub class: NodeClass,
    /// `Ready`, `Unreachable, cordoned`; what kind of workload.
    pub word: String,
    /// What the API server says of the node, where the card shows something else.
    pub reported: Option<String>,
    pub faults: NodeFaults,
    /// `last heard 98 s ago`, where it is late.
    pub last_heard: Option<String>,
    pub cpu: Capacity,
    pub memory: Capacity,
    pub pods: Vec<PodRow>,
    pub counts: Counts,
    /// `The API server shows what node-3 last said. Evicted in 252 s if it stays silent.`
    pub message: Option<String>,
}

/// Where the pods are, or whose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MapView {
    pub nodes: Vec<NodeCard>,
    pub unscheduled: Vec<PodRow>,
    /// Why the unscheduled wait, in the scheduler's words.
    pub unscheduled_message: Option<String>,
    pub n_pods: usize,
    pub counts: Counts,
    /// Too many pods to tell by name: they are bare shapes.
    pub is_crowd: bool,
    /// The bare shapes. The pods of a crowd are not among `nodes` and `unscheduled`, but for those of a page of it.
    pub crowd: Crowd,
}

/// What a field's cell lets a person change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Edit {
    Replicas(i32),
    Image {
        container: String,
        image: String,
    },
    /// The rollout is paused.
    Paused(bool),
}

/// One field: what is wanted beside what is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CompareRow {
    pub field: String,
    pub want: Phrase,
    pub edit: Option<Edit>,
    pub is: Phrase,
    /// `2 short`, or `no`.
    pub differs: String,
    pub is_off: bool,
}

/// One link of the chain of causes, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CauseLink {
    pub seq: u64,
    /// As in [`EventRow::number`].
    pub number: Option<u64>,
    /// Virtual time in ms.
    pub at_ms: u64,
    pub text: String,
    /// Milliseconds since the link before.
    pub after_ms: Option<u64>,
    /// A person's command.
    pub is_you: bool,
    /// It is, or follows from, a person's command.
    pub is_yours: bool,
    /// Events between this link and the next are no longer kept, or are too many to show.
    pub is_gap_after: bool,
}

/// One of the things that an event led to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Effect {
    pub seq: u64,
    /// Virtual time in ms.
    pub at_ms: u64,
    pub text: String,
    /// Milliseconds since the event that led to it.
    pub after_ms: u64,
    /// So many of the things before it in the list it follows from, from the outermost on.
    pub depth: usize,
    pub mark: Mark,
}

/// What an event led to, so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Effects {
    /// `3 Pods created; 3 bound; 3 became ready 4.2 s later`
    pub summary: Vec<String>,
    pub links: Vec<Effect>,
    /// Things left out of the list.
    pub more: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConditionRow {
    pub kind: String,
    pub status: String,
    pub reason: String,
    pub message: String,
    pub is_good: bool,
    /// Since its status last changed.
    pub age: String,
    /// When it is true, in one sentence; nothing for conditions that are not Kubernetes' own.
    pub meaning: &'static str,
}

/// One object among those that own each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kin {
    pub key: ObjectKey,
    /// How many owners are above it.
    pub depth: usize,
    /// `Running`, `2 of 3 ready`
    pub state: String,
    /// It is the inspected object.
    pub is_self: bool,
}

/// How an inspected object went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gone {
    /// The write that ended it; 0 where that is no longer known.
    pub seq: u64,
    /// Virtual time in ms.
    pub at_ms: u64,
    /// `12 s`; empty where it is not known to have ended, as before it was created.
    pub since: String,
    /// What was made in its place.
    pub replaced_by: Vec<ObjectKey>,
    /// Its owner, while that is there.
    pub owner: Option<ObjectKey>,
}

/// A Kubernetes Event about the object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ObjectEvent {
    pub age: String,
    pub is_warning: bool,
    pub reason: String,
    pub message: String,
    pub count: u32,
    /// `2m`: since the first of them, where there are several.
    pub over: String,
    /// The trace event of the newest.
    pub seq: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Change {
    Added,
    Changed,
    Removed,
}

/// A field that differs between two versions of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldChange {
    pub change: Change,
    /// `spec.template.spec.containers[name="app"].image`
    pub path: String,
    pub old: String,
    pub new: String,
}

/// What applying one object of a manifest would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ObjectDiff {
    /// `Deployment web`
    pub title: String,
    pub is_new: bool,
    /// What the API server would answer where it refuses.
    pub refused: String,
    pub fields: Vec<FieldChange>,
    /// Fields left out of the list.
    pub more: usize,
}

/// One object, spec beside status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inspection {
    pub key: ObjectKey,
    /// `Deployment web`
    pub title: String,
    pub rows: Vec<CompareRow>,
    pub verdict: Phrase,
    pub why: Vec<CauseLink>,
    pub conditions: Vec<ConditionRow>,
    /// What owns it and what it owns, owners first.
    pub kin: Vec<Kin>,
    pub events: Vec<ObjectEvent>,
    /// As `kubectl get -o yaml` prints it.
    pub yaml: String,
    /// It no longer exists; everything else is as it last was.
    pub gone: Option<Gone>,
    /// Deleting it is something a person may do.
    pub can_delete: bool,
    /// Its current resourceVersion; nothing about it changed while this stays.
    pub resource_version: u64,
    /// For a node with a machine.
    pub faults: Option<NodeFaults>,
    /// For a pod: what can be done to its containers.
    pub containers: Vec<RunningContainer>,
    /// The programs of its images.
    pub programs: Vec<Program>,
    /// It has a revision to go back to.
    pub can_roll_back: bool,
}

/// A container that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunningContainer {
    pub name: String,
    pub is_ready: bool,
}

/// An image, and how its programs behave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Program {
    pub image: String,
    /// Index into [`super::BEHAVIORS`]; none of them where a scenario described it.
    pub behavior: Option<usize>,
}

/// One trace event as a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EventRow {
    /// The trace's own number, which also counts the background.
    pub seq: u64,
    /// Its place among the listed events, counted from 1; none for the background.
    pub number: Option<u64>,
    pub time_ms: u64,
    pub who: String,
    pub text: Phrase,
    pub mark: Mark,
    pub cause: Option<u64>,
    /// The number of its cause; none where that is background.
    pub cause_number: Option<u64>,
    /// It is, or follows from, something the person did.
    pub is_yours: bool,
}

/// Everything that is drawn of one instant, apart from the inspected object and the event list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Frame {
    /// Virtual time in ms.
    pub now_ms: u64,
    /// How many listed events there are so far, which is the newest one's number.
    pub seq: u64,
    pub summary: Summary,
    pub now: Option<NowLine>,
    pub loops: Vec<LoopRow>,
    pub store: StoreView,
    pub map: MapView,
}
