//! The DaemonSet controller: one pod on every node that takes it.
//!
//! Mirrors `pkg/controller/daemon`, v1.36.

mod failed;
mod nodes;

use std::rc::Rc;

pub use nodes::{OnNode, belongs, pin, replace, suits, surge, target, tolerate};

use failed::FailedPods;

use super::history::{HASH_LABEL, Hashes, History};
use super::pods::{Claims, create_slowly, delete_all, pod_from, request, suitors};
use super::script::{Purpose, Script, Scripted};
use super::{Recorder, controller_key};
use crate::api::{DaemonSet, DaemonSetStatus, IntOrPercent, Kind, Name, Node, Object, ObjectKey, Pod, PodSpec};
use crate::apiserver::{Change, ChangeKind, EventDraft, Objects, TEMPLATE_GENERATION, Verb};
use crate::client::{Action, Context, Expectations, Facts, Wakeup, observe_pod_of};
use crate::note;
use crate::sim::{Map, Millis, Time, sort_by};

const RECORDER: Recorder = Recorder("daemonset-controller");
pub const GENERATION_LABEL: &str = "pod-template-generation";
/// Pods created or deleted in one turn at the most.
const BURST: usize = 250;

/// Keeps the pods of each DaemonSet.
#[derive(Clone, Debug, Default)]
pub struct DaemonSetController {
    expectations: Expectations,
    hashes: Hashes,
    failed: FailedPods,
}

/// What is missing and what is too much on the nodes.
#[derive(Default)]
struct Work<'a> {
    missing: Vec<&'a Name>,
    surplus: Vec<&'a Rc<Pod>>,
    events: Vec<EventDraft>,
    /// How long until a failed pod may be replaced.
    wait: Option<Millis>,
}

/// One node as a turn sees it: whether a pod belongs there, and those that are there, oldest first.
struct Place<'a> {
    node: &'a Node,
    should_run: bool,
    may_stay: bool,
    pods: Vec<&'a Rc<Pod>>,
}

struct Seen<'a> {
    set: &'a Rc<DaemonSet>,
    history: History,
    /// The template's spec with the tolerations of every DaemonSet.
    spec: PodSpec,
    places: Vec<Place<'a>>,
    /// Pods for nodes that are not there.
    elsewhere: usize,
}

impl<'a> Seen<'a> {
    fn find(context: &Context<'a>, set: &'a Rc<DaemonSet>, history: History) -> Self {
        let mut by_node: Map<&str, Vec<&Rc<Pod>>> = Map::default();
        for pod in context.cache.owned(set.metadata.uid, Kind::Pod).filter_map(Object::as_pod) {
            // One that has ended and is on its way out is nobody's concern any more.
            if !(pod.is_finished() && pod.is_terminating()) {
                by_node.or_default(target(pod).unwrap_or_default()).push(pod);
            }
        }
        let mut spec = (*set.spec.template.spec).clone();
        tolerate(&mut spec);
        let mut places = Vec::new();
        for (node, _) in context.cache.nodes() {
            let (should_run, may_stay) = belongs(&spec, node);
            let mut pods = by_node.remove(node.metadata.name.as_str()).unwrap_or_default();
            let age = |pod: &Pod| (!pod.is_assigned(), pod.metadata.creation_timestamp);
            sort_by(&mut pods, |a, b| age(a).cmp(&age(b)));
            if should_run || !pods.is_empty() {
                places.push(Place { node, should_run, may_stay, pods });
            }
        }
        let elsewhere = by_node.values().map(Vec::len).sum();
        Self { set, history, spec, places, elsewhere }
    }

    fn is_new(&self, pod: &Pod) -> bool {
        pod.metadata.labels.get(HASH_LABEL).is_some_and(|hash| **hash == *self.history.hash)
    }

    fn is_available(&self, context: &Context<'_>, pod: &Pod) -> bool {
        pod.is_available(self.set.spec.min_ready_seconds, context.wall)
    }

    fn desired(&self) -> i32 {
        self.places.iter().map(|place| i32::from(place.should_run)).sum()
    }

    /// How many nodes may be without a pod, and how many may have two (`updatedDesiredNodeCounts`).
    fn limits(&self) -> (i32, i32) {
        let rolling = self.set.spec.update_strategy.rolling_update.clone().unwrap_or_default();
        let scaled =
            |value: Option<IntOrPercent>, usual| value.unwrap_or(IntOrPercent::Int(usual)).scaled(self.desired(), true);
        let (unavailable, surge) = (scaled(rolling.max_unavailable, 1), scaled(rolling.max_surge, 0));
        if unavailable == 0 && surge == 0 { (1, 0) } else { (unavailable, surge) }
    }

    /// What is missing and what is too much, whatever the template (`podsShouldBeOnNode`).
    fn manage(&self, context: &Context<'_>, failed: &mut FailedPods) -> Work<'a> {
        let mut work = Work::default();
        let may_surge = self.limits().1 > 0;
        for place in &self.places {
            if place.should_run && place.pods.is_empty() {
                work.missing.push(&place.node.metadata.name);
                continue;
            }
            let stays = place.pods.iter().filter(|pod| !pod.is_terminating());
            if !place.may_stay {
                work.surplus.extend(stays);
                continue;
            }
            let (ended, mut running): (Vec<&Rc<Pod>>, Vec<&Rc<Pod>>) = stays.partition(|pod| pod.is_finished());
            for pod in ended {
                let meta = &self.set.metadata;
                let wait = (pod.status.phase == "Failed")
                    .then(|| failed.wait(meta.uid, meta.generation, &place.node.metadata.name, context.now))
                    .flatten();
                if let Some(wait) = wait {
                    work.wait = Some(work.wait.map_or(wait, |known| known.min(wait)));
                    continue;
                }
                work.events.push(self.tell_of_ended(place.node, pod));
                work.surplus.push(pod);
            }
            if may_surge {
                self.drop_doubles(context, &mut running, &mut work.surplus);
            } else {
                work.surplus.extend(running.into_iter().skip(1));
            }
        }
        work
    }

    /// Of a node's running pods, one of each template may stay while they take turns.
    fn drop_doubles(&self, context: &Context<'_>, running: &mut Vec<&'a Rc<Pod>>, surplus: &mut Vec<&'a Rc<Pod>>) {
        let (new, old): (Vec<&Rc<Pod>>, Vec<&Rc<Pod>>) = running.drain(..).partition(|pod| self.is_new(pod));
        surplus.extend(new.iter().skip(1).chain(old.iter().skip(1)));
        if let (Some(new), Some(old)) = (new.first(), old.first())
            && (!old.is_ready() || self.is_available(context, new))
        {
            surplus.push(old);
        }
    }

    fn tell_of_ended(&self, node: &Node, pod: &Pod) -> EventDraft {
        let key = ObjectKey::new(Kind::DaemonSet, self.set.metadata.namespace.clone(), self.set.metadata.name.clone());
        let (name, node) = (&pod.metadata.name, &node.metadata.name);
        if pod.status.phase == "Failed" {
            let message =
                format!("Found failed daemon pod {}/{name} on node {node}, will try to kill it", key.namespace);
            return RECORDER.warning(&key, "FailedDaemonPod", message);
        }
        let message =
            format!("Found succeeded daemon pod {}/{name} on node {node}, will try to delete it", key.namespace);
        RECORDER.normal(&key, "SucceededDaemonPod", message)
    }

    /// The next step of an update: old pods that go, and nodes that get a new pod beside the old one.
    fn roll(&self, context: &Context<'_>) -> (Vec<&'a Name>, Vec<&'a Rc<Pod>>) {
        let filled = self.places.iter().filter(|place| !place.pods.is_empty());
        let (mut names, mut nodes) = (Vec::new(), Vec::new());
        for place in filled {
            let mut on = OnNode { new: None, old: None, is_muddled: false };
            for pod in place.pods.iter().filter(|pod| !pod.is_terminating()) {
                let slot = if self.is_new(pod) { &mut on.new } else { &mut on.old };
                let known = slot.replace((*pod, self.is_available(context, pod)));
                on.is_muddled |= known.is_some();
            }
            names.push(&place.node.metadata.name);
            nodes.push(on);
        }
        let (max_unavailable, max_surge) = self.limits();
        if max_surge == 0 {
            return (Vec::new(), replace(&nodes, max_unavailable));
        }
        let (gone, beside) = surge(&nodes, max_surge);
        (beside.into_iter().filter_map(|index| names.get(index).copied()).collect(), gone)
    }

    /// The status, of the pods that the cache shows (`updateDaemonSetStatus`).
    fn status(&self, context: &Context<'_>) -> DaemonSetStatus {
        let mut status = DaemonSetStatus {
            collision_count: self.set.status.collision_count,
            desired_number_scheduled: self.desired(),
            observed_generation: self.set.metadata.generation,
            ..DaemonSetStatus::default()
        };
        for place in &self.places {
            let Some(pod) = place.pods.first() else { continue };
            if !place.should_run {
                status.number_misscheduled += 1;
                continue;
            }
            status.current_number_scheduled += 1;
            status.number_ready += i32::from(pod.is_ready());
            status.number_available += i32::from(self.is_available(context, pod));
            status.updated_number_scheduled += i32::from(self.is_new(pod));
        }
        status.number_unavailable = status.desired_number_scheduled - status.number_available;
        status
    }

    fn new_pod(&self, node: &Name) -> Pod {
        let mut pod = pod_from(&self.set.spec.template, &self.set.metadata, Kind::DaemonSet);
        pod.metadata.labels.insert(HASH_LABEL.into(), self.history.hash.to_string());
        if let Some(number) = self.set.metadata.annotations.get(TEMPLATE_GENERATION) {
            pod.metadata.labels.insert(GENERATION_LABEL.into(), number.clone());
        }
        let mut spec = self.spec.clone();
        pin(&mut spec, node);
        pod.spec = Rc::new(spec);
        pod
    }

    fn script(&self, version: u64, missing: usize, surplus: usize) -> Script {
        let have = self.places.iter().filter(|place| !place.pods.is_empty()).count();
        let facts: Facts = note!("want **{}**, have **{}**", self.desired(), have).into();
        let facts = match self.elsewhere {
            0 => facts.with(note!("one on each node, cache rv {}", version)),
            n => facts.with(note!("{} more on nodes that are gone", n)),
        };
        let differs: Facts = match (missing, surplus) {
            (0, 0) => note!("every node has its pod").into(),
            (n, 0) => note!("**{}** missing", n).into(),
            (0, n) => note!("**{}** to go", n).into(),
            (n, m) => note!("**{}** missing, **{}** to go", n, m).into(),
        };
        Script::new(facts, differs)
    }
}

impl Scripted for DaemonSetController {
    fn recorder(&self) -> Recorder {
        RECORDER
    }

    fn concerns(&mut self, change: &Change, cache: &Objects, _now: Time) -> Vec<Wakeup> {
        let keys = match &change.object {
            Object::DaemonSet(set) => {
                let key = change.key.clone();
                if change.kind == ChangeKind::Deleted {
                    self.expectations.forget(&key);
                    self.hashes.forget(set.metadata.uid);
                    self.failed.forget(set.metadata.uid);
                }
                vec![key]
            }
            Object::Pod(_) => match observe_pod_of(&mut self.expectations, Kind::DaemonSet, change) {
                Some(key) => vec![key],
                None if controller_key(&change.object, Kind::DaemonSet).is_none() => {
                    suitors(Kind::DaemonSet, change, cache)
                }
                None => Vec::new(),
            },
            // A node that leaves takes its pods with it in time; they tell.
            Object::Node(node) if change.kind != ChangeKind::Deleted => {
                let old = change.old.as_ref().and_then(Object::as_node);
                sets_that_mind(cache, old.map(|old| &**old), node)
            }
            _ => Vec::new(),
        };
        keys.into_iter().map(|key| (key, Millis(0))).collect()
    }

    fn plan(&mut self, context: &Context<'_>, key: &ObjectKey) -> Option<Script> {
        let set = context.cache.get(key)?.as_daemon_set()?;
        let meta = &set.metadata;
        let hash = self.hashes.of(meta, &set.spec.template);
        let history = History::find(context.cache, meta, hash, &set.spec.template);
        let seen = Seen::find(context, set, history);
        let claims = Claims::find(context.cache, meta, &set.spec.selector, |pod| target(pod).is_some());
        let is_going = meta.deletion_timestamp.is_some();
        let mut work = Work::default();
        let is_sure = self.expectations.are_met(key, context);
        if !is_going && claims.is_empty() && is_sure {
            work = seen.manage(context, &mut self.failed);
            if work.missing.is_empty() && work.surplus.is_empty() && set.spec.update_strategy.kind == "RollingUpdate" {
                (work.missing, work.surplus) = seen.roll(context);
            }
            work.missing.truncate(BURST);
            work.surplus.truncate(BURST);
        }
        let Work { missing, surplus, events, wait } = work;
        let mut script = seen.script(context.version, missing.len(), surplus.len());
        script.tell(events);
        if !is_going {
            seen.history.keep_present(&mut script, meta, Kind::DaemonSet, &set.spec.template);
            script.send(claims.facts(), claims.requests(meta, Kind::DaemonSet));
        }
        if !(missing.is_empty() && surplus.is_empty()) {
            let going = surplus.iter().map(|pod| pod.metadata.uid);
            self.expectations.expect(key, missing.len() as i64, going, context.now);
        }
        delete_all(&mut script, surplus);
        create_slowly(&mut script, missing.into_iter().map(|node| seen.new_pod(node)));
        let limit = set.spec.revision_history_limit.unwrap_or(10);
        if seen.history.len() > usize::try_from(limit).unwrap_or(0) {
            let is_used = |hash: &str| {
                let mut pods = seen.places.iter().flat_map(|place| &place.pods);
                pods.any(|pod| pod.metadata.labels.get(HASH_LABEL).is_some_and(|it| hash.ends_with(it.as_str())))
            };
            seen.history.truncate(&mut script, limit, |name| name == &*seen.history.present || is_used(name));
        }
        if let Some(wait) = wait {
            script.look_again(wait);
        }
        let mut status = seen.status(context);
        if is_sure {
            script.end_with_last(status != set.status);
        } else {
            // What it has not worked on it has not observed.
            status.observed_generation = set.status.observed_generation;
            if status != set.status {
                let (facts, action) = write_status(set, status.clone());
                script.send(facts, vec![(action, Purpose::Plain)]);
            }
        }
        if set.spec.min_ready_seconds > 0 && status.number_ready != status.number_available {
            script.look_again(Millis::from_secs(u64::from(set.spec.min_ready_seconds.unsigned_abs())));
        }
        Some(script)
    }

    /// The status is of the pods that are there once all is done (`updateDaemonSetStatus`).
    fn last(&mut self, context: &Context<'_>, key: &ObjectKey) -> Option<(Facts, Action)> {
        let set = context.cache.get(key)?.as_daemon_set()?;
        let hash = self.hashes.of(&set.metadata, &set.spec.template);
        let history = History::find(context.cache, &set.metadata, hash, &set.spec.template);
        let status = Seen::find(context, set, history).status(context);
        (status != set.status).then(|| write_status(set, status))
    }

    fn undone(&mut self, key: &ObjectKey, purpose: &Purpose, error: Option<&str>) -> Option<EventDraft> {
        super::script::lower(&mut self.expectations, key, purpose);
        super::script::tell_refusal(RECORDER, key, purpose, error)
    }
}

fn write_status(set: &Rc<DaemonSet>, status: DaemonSetStatus) -> (Facts, Action) {
    let facts: Facts =
        note!("write status: **{}** of **{}** ready", status.number_ready, status.desired_number_scheduled).into();
    let mut set = Rc::clone(set);
    Rc::make_mut(&mut set).status = status;
    (facts.with(note!("PUT daemonsets/status")), request(Verb::UpdateStatus(Object::DaemonSet(set))))
}

/// The DaemonSets for which a node's change makes a difference.
fn sets_that_mind(cache: &Objects, old: Option<&Node>, node: &Node) -> Vec<ObjectKey> {
    if let Some(old) = old
        && old.spec.taints == node.spec.taints
        && old.metadata.labels == node.metadata.labels
    {
        return Vec::new();
    }
    let sets = cache.of_kind(Kind::DaemonSet).filter(|object| {
        let Some(set) = object.as_daemon_set() else { return false };
        let mut spec = (*set.spec.template.spec).clone();
        tolerate(&mut spec);
        old.is_none_or(|old| belongs(&spec, old) != belongs(&spec, node))
    });
    sets.map(Object::key).collect()
}
