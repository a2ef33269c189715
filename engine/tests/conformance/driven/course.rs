//! What happened in a recording, step by step in the order of versions, and by whom.

use std::collections::BTreeMap;

use loopscope_engine::api::Uid;
use serde_json::Value;

use crate::conformance::recording::{AUTOSCALER, Change, ChangeType, Op, Recording, Write, controller};

/// Whose clients write what is not the controllers' own, or what no controller of ours writes.
const FOREIGN: &[&str] = &["controller/ttl-controller"];
/// Objects that this engine does not keep.
const UNKNOWN: &[&str] = &["endpoints"];

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Deed {
    /// The user's action of this number.
    Action(usize),
    /// kubectl evicts the pod that this write names.
    Evict(usize),
    /// Somebody who is not of the controllers changed an object: the trace's record of this number.
    Feed(usize),
    /// A controller's write of this number, to be answered by one of ours.
    Written(usize),
    /// A controller's write that was refused for what it asked, which ours is to be as well.
    Refused(usize),
    /// A controller's write that was refused since its cache was behind. Ours need not be.
    Conflict(usize),
}

#[derive(Clone, Debug)]
pub struct Step {
    /// 0 where the answer had none.
    pub rv: u64,
    pub t: i64,
    pub deed: Deed,
    /// The watch event that told of it.
    pub record: Option<usize>,
}

/// The place of each pod among those of its owner, in the order of their ends, and how many they are.
pub type Places = BTreeMap<String, (usize, usize)>;

pub struct Course {
    pub steps: Vec<Step>,
    /// Of pods of ReplicaSets.
    pub places: Places,
    /// Identities by their first eight letters, as far as they are told in full.
    pub uids: BTreeMap<String, Uid>,
    /// For each controller and object that its turns are about, the steps of its writes.
    pub turns: BTreeMap<(String, String), Vec<usize>>,
}

/// `deployments/status` to `Deployment`.
pub fn kind_of(resource: &str) -> &str {
    match resource.split('/').next().unwrap_or(resource) {
        "deployments" => "Deployment",
        "replicasets" => "ReplicaSet",
        "statefulsets" => "StatefulSet",
        "daemonsets" => "DaemonSet",
        "jobs" => "Job",
        "pods" => "Pod",
        "nodes" => "Node",
        "services" => "Service",
        "endpointslices" => "EndpointSlice",
        "endpoints" => "Endpoints",
        "poddisruptionbudgets" => "PodDisruptionBudget",
        "resourcequotas" => "ResourceQuota",
        "controllerrevisions" => "ControllerRevision",
        "horizontalpodautoscalers" => "HorizontalPodAutoscaler",
        other => other,
    }
}

pub fn is_ours(write: &Write) -> bool {
    let is_foreign = FOREIGN.contains(&write.by.as_str()) || is_of_labels(write);
    write.by.starts_with("controller/") && !is_foreign && !is_unknown(write)
}

/// The node controller gives nodes the labels that architecture and system had before 1.14, which ours does not.
fn is_of_labels(write: &Write) -> bool {
    let patch = write.patch.as_ref().map(|it| &it["metadata"]["labels"]);
    write.by == "controller/node-controller" && write.resource == "nodes" && patch.is_some_and(|it| it.is_object())
}

fn is_unknown(write: &Write) -> bool {
    UNKNOWN.contains(&write.resource.split('/').next().unwrap_or_default())
}

impl Course {
    pub fn of(recording: &Recording) -> Result<Self, String> {
        let mut builder = Builder::new(recording);
        for index in 0..recording.trace.len() {
            builder.place(index)?;
        }
        builder.place_untraced();
        builder.steps.sort_by_key(|step| step.rv);
        builder.place_unversioned();
        let places = places(recording);
        let mut course = Self { steps: builder.steps, places, uids: uids(recording), turns: BTreeMap::new() };
        for (index, step) in course.steps.iter().enumerate() {
            let (Deed::Written(write) | Deed::Conflict(write)) = step.deed else { continue };
            let key = (recording.writes[write].by.clone(), subject(recording, step).unwrap_or_default());
            course.turns.entry(key).or_default().push(index);
        }
        Ok(course)
    }
}

fn uids(recording: &Recording) -> BTreeMap<String, Uid> {
    let bound = recording.writes.iter().filter_map(|it| it.request.as_ref()?.pointer("/metadata/uid")?.as_str());
    let labels = recording.trace.iter().filter_map(|it| it.fields.get("labels")?.get("controller-uid")?.as_str());
    let full = bound.chain(labels).filter_map(|it| Some((it.get(..8)?.to_string(), Uid::parse(it)?)));
    full.collect()
}

fn places(recording: &Recording) -> Places {
    let mut ends: BTreeMap<String, Vec<(u64, &str)>> = BTreeMap::new();
    for pod in recording.trace.iter().filter(|it| it.kind == "Pod" && it.change == ChangeType::Added) {
        let Some((kind, owner)) = controller(&pod.fields) else { continue };
        let is_end = |it: &&Change| {
            let is_marked = !recording.ties.is_empty() && it.fields.contains_key("deletionMs");
            it.kind == "Pod" && it.name == pod.name && (it.change == ChangeType::Deleted || is_marked)
        };
        let end = recording.trace.iter().find(is_end).map_or(u64::MAX, |it| it.rv);
        if kind == "ReplicaSet" {
            ends.entry(owner).or_default().push((end, &pod.name));
        }
    }
    let mut places = Places::new();
    for mut pods in ends.into_values() {
        pods.sort_unstable();
        // By UIDs alone these would have gone otherwise: some are equal in a circle, and then the order counts in which
        // their deletions were sent.
        let circles = recording.ties.iter().filter(|tie| tie.uid_order_held == Some(false));
        for tie in circles {
            let is_of = |set: &str| recording.replica_set(set).is_some_and(|it| tie.rs["rsOrdinal"] == it.ordinal);
            let ordinal =
                |name: &str| recording.pod(name).filter(|it| is_of(&it.owner)).map_or(usize::MAX, |it| it.ordinal);
            let place = |name: &str| tie.victims.iter().position(|it| *it == ordinal(name));
            let spots: Vec<usize> = (0..pods.len()).filter(|at| place(pods[*at].1).is_some()).collect();
            let mut victims: Vec<(u64, &str)> = spots.iter().map(|at| pods[*at]).collect();
            victims.sort_by_key(|(_, name)| place(name));
            spots.into_iter().zip(victims).for_each(|(at, pod)| pods[at] = pod);
        }
        let of = pods.len();
        places.extend(pods.into_iter().enumerate().map(|(place, (_, name))| (name.to_string(), (place, of))));
    }
    places
}

fn target_kind(op: &Op) -> Option<&str> {
    match op {
        Op::Create { target, .. }
        | Op::Apply { target, .. }
        | Op::Patch { target, .. }
        | Op::Replace { target, .. }
        | Op::Scale { target, .. }
        | Op::Delete { target, .. } => Some(&target.kind),
        Op::Cordon { .. } | Op::Uncordon { .. } => Some("Node"),
        _ => None,
    }
}

/// The object that the turn with this write was about, where the write shows it.
pub fn subject(recording: &Recording, step: &Step) -> Option<String> {
    let (Deed::Written(index) | Deed::Refused(index) | Deed::Conflict(index)) = step.deed else { return None };
    let write = &recording.writes[index];
    let own = match write.by.as_str() {
        "controller/deployment-controller" => "Deployment",
        "controller/replicaset-controller" => "ReplicaSet",
        "controller/statefulset-controller" => "StatefulSet",
        "controller/daemon-set-controller" => "DaemonSet",
        "controller/job-controller" => "Job",
        "controller/endpointslice-controller" => "Service",
        AUTOSCALER => "HorizontalPodAutoscaler",
        "controller/disruption-controller" => "PodDisruptionBudget",
        "controller/resourcequota-controller" => "ResourceQuota",
        _ => return None,
    };
    if write.by == AUTOSCALER && write.resource.ends_with("/scale") {
        let is_it = |it: &&Change| it.kind == own && it.fields["spec"]["scaleTargetRef"]["name"] == write.name.as_str();
        return recording.trace.iter().find(is_it).map(|it| format!("{own}/{}", it.name));
    }
    let kind = kind_of(&write.resource);
    if kind == own {
        return Some(format!("{own}/{}", write.name));
    }
    let known = match step.record {
        Some(record) => &recording.trace[..=record],
        None => &recording.trace[..recording.trace.partition_point(|it| it.t as i64 <= step.t)],
    };
    // A pod that is released has lost its owner with this very write.
    let owners = known.iter().rev().filter(|it| it.kind == kind && it.name == write.name);
    let mut owners = owners.take(2).filter_map(|it| controller(&it.fields)).filter(|(kind, _)| kind == own);
    let (kind, name) = owners.next()?;
    Some(format!("{kind}/{name}"))
}

struct Builder<'a> {
    recording: &'a Recording,
    steps: Vec<Step>,
    by_rv: BTreeMap<u64, usize>,
    action_by_rv: BTreeMap<u64, usize>,
    /// Accepted deletions whose answers had no version.
    deletions: Vec<usize>,
    /// Actions that have not been placed.
    actions: Vec<usize>,
    evictions: Vec<Eviction>,
}

/// An eviction that was granted.
struct Eviction {
    write: usize,
    /// The changes of the pod that are still to come of it: a condition, and the deletion.
    left: usize,
    is_placed: bool,
}

impl<'a> Builder<'a> {
    fn new(recording: &'a Recording) -> Self {
        let writes = || recording.writes.iter().enumerate().collect::<Vec<_>>().into_iter();
        let accepted = |write: &Write| write.code < 300;
        // Of those with one version the first made it, the others changed nothing.
        let by_rv = writes().rev().filter(|(_, it)| accepted(it)).filter_map(|(index, it)| Some((it.rv?, index)));
        let frees = |it: &Write| {
            it.verb == "patch"
                && it.patch.as_ref().and_then(|it| it.get("metadata")?.get("finalizers")).is_some_and(Value::is_null)
        };
        let is_deletion = |it: &Write| it.verb == "delete" && it.rv.is_none() || frees(it);
        let deletions = writes().filter(|(_, it)| accepted(it) && it.by.starts_with("controller/") && is_deletion(it));
        let evicted = writes().filter(|(_, it)| accepted(it) && it.resource == "pods/eviction");
        let action_rv = recording.actions.iter().enumerate().filter_map(|(index, it)| Some((it.result?.rv?, index)));
        let is_deed =
            |op: &Op| !matches!(op, Op::Observe {} | Op::KubeletSet { .. } | Op::MetricsSet { .. } | Op::Drain { .. });
        let actions = recording.actions.iter().enumerate().filter(|(_, it)| is_deed(&it.op));
        Self {
            recording,
            steps: Vec::new(),
            by_rv: by_rv.collect(),
            action_by_rv: action_rv.collect(),
            deletions: deletions.map(|(index, _)| index).collect(),
            actions: actions.map(|(index, _)| index).collect(),
            evictions: evicted.map(|(write, _)| Eviction { write, left: 2, is_placed: false }).collect(),
        }
    }

    fn push(&mut self, rv: u64, t: u64, deed: Deed, record: Option<usize>) {
        self.steps.push(Step { rv, t: t as i64, deed, record });
    }

    fn take_action(&mut self, index: usize) -> bool {
        let before = self.actions.len();
        self.actions.retain(|it| *it != index);
        self.actions.len() < before
    }

    /// Finds out who caused a record of the trace.
    fn place(&mut self, index: usize) -> Result<(), String> {
        let change = &self.recording.trace[index];
        if self.is_forced(index) {
            return Ok(());
        }
        // The answer to what changed nothing has an older version.
        let is_near = |from: u64, to: u64| from <= change.t + 5 && change.t <= to + 1_000;
        let near_action = |index: &usize| is_near(self.recording.actions[*index].t, self.recording.actions[*index].t);
        let near_write =
            |index: &usize| is_near(self.recording.writes[*index].t, self.recording.writes[*index].done_ms);
        if let Some(action) = self.action_by_rv.get(&change.rv).copied().filter(near_action) {
            self.take_action(action);
            self.push(change.rv, self.recording.actions[action].t, Deed::Action(action), Some(index));
            return Ok(());
        }
        if let Some(write) = self.by_rv.get(&change.rv).copied().filter(near_write) {
            return self.place_write(index, write);
        }
        if self.is_of_eviction(index) {
            return Ok(());
        }
        if let Some(write) = self.deletion_of(change) {
            self.deletions.retain(|it| *it != write);
            self.push(change.rv, self.recording.writes[write].t, Deed::Written(write), Some(index));
            return Ok(());
        }
        if let Some(action) = self.deleting_action(change).filter(|_| change.change == ChangeType::Deleted) {
            self.take_action(action);
            self.push(change.rv, self.recording.actions[action].t, Deed::Action(action), Some(index));
            return Ok(());
        }
        self.push(change.rv, change.t, Deed::Feed(index), Some(index));
        Ok(())
    }

    /// What is deleted without grace changes once more before it goes; the request is where it goes.
    fn is_forced(&self, index: usize) -> bool {
        let change = &self.recording.trace[index];
        let is_last = change.changed.iter().any(|it| it == "deletionGraceSeconds")
            && change.fields.get("deletionGraceSeconds").and_then(Value::as_i64) == Some(0)
            && change.change == ChangeType::Modified;
        let mut later = self.recording.trace[index + 1..].iter();
        let next = later.find(|it| it.kind == change.kind && it.name == change.name);
        let is_told = |rv: u64| self.action_by_rv.contains_key(&rv) || self.by_rv.contains_key(&rv);
        is_last && next.is_some_and(|it| it.change == ChangeType::Deleted && is_told(it.rv))
    }

    fn place_write(&mut self, index: usize, write: usize) -> Result<(), String> {
        let (change, it) = (&self.recording.trace[index], &self.recording.writes[write]);
        self.deletions.retain(|it| *it != write);
        let deed = if is_ours(it) {
            Deed::Written(write)
        } else if it.by == "apiserver" && it.resource == "poddisruptionbudgets/status" {
            let during = |other: &Write| other.t <= change.t && it.t <= other.done_ms;
            let writes = &self.recording.writes;
            let found =
                self.evictions.iter_mut().find(|eviction| !eviction.is_placed && during(&writes[eviction.write]));
            let Some(eviction) = found else {
                return Err(format!("t={} nobody evicts, and a budget is charged", change.t));
            };
            eviction.is_placed = true;
            Deed::Evict(eviction.write)
        } else if it.by == "admin/kubectl" && it.verb == "patch" && it.resource == "nodes" {
            let of_node = |action: &usize| match &self.recording.actions[*action].op {
                Op::Cordon { node, .. } | Op::Uncordon { node, .. } => *node == it.name,
                _ => false,
            };
            // A drain cordons by itself.
            match self.actions.iter().copied().find(of_node) {
                Some(action) => {
                    self.take_action(action);
                    Deed::Action(action)
                }
                None => Deed::Feed(index),
            }
        } else {
            Deed::Feed(index)
        };
        self.push(change.rv, it.t, deed, Some(index));
        Ok(())
    }

    /// An eviction charges a budget, if there is one, writes a condition and the deletion: all are the one step.
    fn is_of_eviction(&mut self, index: usize) -> bool {
        let (change, writes) = (&self.recording.trace[index], &self.recording.writes);
        let is_it = |eviction: &&mut Eviction| {
            let it = &writes[eviction.write];
            let is_near = it.t <= change.t + 5 && change.t <= it.done_ms + 200;
            change.kind == "Pod" && it.name == change.name && eviction.left > 0 && is_near
        };
        let Some(eviction) = self.evictions.iter_mut().find(is_it) else { return false };
        eviction.left -= 1;
        if !std::mem::replace(&mut eviction.is_placed, true) {
            let (t, deed) = (writes[eviction.write].t, Deed::Evict(eviction.write));
            self.push(change.rv, t, deed, None);
        }
        true
    }

    fn deletion_of(&self, change: &Change) -> Option<usize> {
        let is_deletion =
            change.change == ChangeType::Deleted || change.changed.iter().any(|field| field == "deletionMs");
        let is_it = |write: &&usize| {
            let it = &self.recording.writes[**write];
            kind_of(&it.resource) == change.kind
                && it.name == change.name
                && it.t <= change.t + 5
                && change.t <= it.done_ms + 500
        };
        self.deletions.iter().find(is_it).copied().filter(|_| is_deletion)
    }

    fn deleting_action(&self, change: &Change) -> Option<usize> {
        let is_it = |action: &&usize| match &self.recording.actions[**action].op {
            Op::Delete { target, .. } => target.kind == change.kind && target.name == change.name,
            _ => false,
        };
        self.actions.iter().find(is_it).copied()
    }

    /// Writes with a version of objects that are not in the trace.
    fn place_untraced(&mut self) {
        let traced: Vec<u64> = self.steps.iter().map(|step| step.rv).collect();
        let is_traced = |rv: u64| traced.contains(&rv);
        for (index, action) in self.recording.actions.iter().enumerate() {
            let is_traced_kind = |kind: &str| self.recording.trace.iter().any(|it| it.kind == kind);
            let has_effect = !target_kind(&action.op).is_some_and(is_traced_kind);
            if let Some(rv) = action.result.and_then(|it| it.rv).filter(|rv| has_effect && !is_traced(*rv))
                && self.take_action(index)
            {
                self.push(rv, action.t, Deed::Action(index), None);
            }
        }
        for (index, write) in self.recording.writes.iter().enumerate() {
            let kind = kind_of(&write.resource);
            let has_effect = !self.recording.trace.iter().any(|it| it.kind == kind);
            if let Some(rv) = write.rv.filter(|rv| !is_traced(*rv))
                && write.code < 300
                && is_ours(write)
                && has_effect
            {
                self.push(rv, write.t, Deed::Written(index), None);
            }
        }
    }

    /// What has no version goes by its time.
    fn place_unversioned(&mut self) {
        let mut late: Vec<Step> = Vec::new();
        for action in std::mem::take(&mut self.actions) {
            late.push(Step {
                rv: 0,
                t: self.recording.actions[action].t as i64,
                deed: Deed::Action(action),
                record: None,
            });
        }
        for (index, write) in self.recording.writes.iter().enumerate() {
            let deed = match (write.code, write.resource.as_str()) {
                (403, _) if is_ours(write) => Deed::Refused(index),
                (409, _) if is_ours(write) => Deed::Conflict(index),
                (429, "pods/eviction") => Deed::Evict(index),
                _ => continue,
            };
            // An eviction is tried again and again before it is refused, and a conflict may come at the last moment.
            let t = if write.code == 403 { write.t } else { write.done_ms };
            late.push(Step { rv: 0, t: t as i64, deed, record: None });
        }
        late.sort_by_key(|step| step.t);
        for step in late {
            let place = self.steps.iter().position(|it| it.t > step.t).unwrap_or(self.steps.len());
            self.steps.insert(place, step);
        }
    }
}
