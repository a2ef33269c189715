//! The pod collector: pods that nobody can end any more, since their node is gone or out of service or they never had
//! one, and old pods that have ended.
//!
//! Mirrors `pkg/controller/podgc/gc_controller.go`, v1.36.

use std::rc::Rc;

use super::Recorder;
use super::pods::{pod_key, request};
use super::script::{Purpose, Script, Scripted};
use crate::api::{Condition, Kind, Name, Node, Object, ObjectKey, Pod, set_condition};
use crate::apiserver::{Change, DeleteOptions, Objects, Verb};
use crate::client::{Arg, Context, Facts, Wakeup};
use crate::note;
use crate::sim::{Map, Millis, Time, sort_by};

const PERIOD: Millis = Millis(20_000);
/// A node must be gone for this long.
const QUARANTINE: Millis = Millis(40_000);
/// `--terminated-pod-gc-threshold`
const THRESHOLD: usize = 12_500;

/// A person says of a node with this taint that it is down for good.
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// Deletes pods that nobody else will.
#[derive(Clone, Debug, Default)]
pub struct PodCollector {
    /// Nodes that pods name and that are not there, and when this was first seen.
    missing: Map<Name, Time>,
}

impl Scripted for PodCollector {
    fn recorder(&self) -> Recorder {
        Recorder("pod-garbage-collector")
    }

    fn concerns(&mut self, _change: &Change, _cache: &Objects, _now: Time) -> Vec<Wakeup> {
        Vec::new()
    }

    fn tick(&mut self) -> Option<(ObjectKey, Millis)> {
        Some((ObjectKey::new(Kind::Pod, "", "all pods"), PERIOD))
    }

    fn plan(&mut self, context: &Context<'_>, _key: &ObjectKey) -> Option<Script> {
        let cache = context.cache;
        let missing: Vec<Name> = cache.missing_nodes().cloned().collect();
        self.missing.retain(|node, _| missing.contains(node));
        for node in missing {
            self.missing.or_insert_with(node, || context.now);
        }
        let gone = self.missing.iter().filter(|(_, since)| context.now.since(**since) >= QUARANTINE);
        let orphans: Vec<Rc<Pod>> = gone.flat_map(|(node, _)| cache.pods_on(node)).cloned().collect();
        let stuck = stuck(cache);
        let ended = surplus(cache);
        let found: Facts = match (self.missing.len(), orphans.len()) {
            (0, _) => note!("every pod's node is there").into(),
            (n, 0) => note!("**{}** nodes are gone", n).into(),
            (n, pods) => note!("**{}** nodes are gone, with **{}** pods", n, pods).into(),
        };
        let count = orphans.len() + stuck.len() + ended.len();
        let differs: Facts = match count {
            0 if self.missing.is_empty() => note!("nothing to collect").into(),
            0 => {
                let facts: Facts = note!("waits: they may come back").into();
                facts.with(note!("40 s from when it was first seen"))
            }
            n => note!("**{}** to collect", n).into(),
        };
        let mut script = Script::new(found, differs);
        // One after the other, as each is marked and deleted (`markFailedAndDeletePod`).
        let orphans = orphans.iter().map(|pod| (pod, Some(true)));
        let all = orphans.chain(stuck.iter().map(|pod| (pod, Some(false)))).chain(ended.iter().map(|pod| (pod, None)));
        for (pod, lost) in all {
            let name = Arg::Short(pod.metadata.name.clone());
            if let Some(is_orphan) = lost.filter(|_| !pod.is_finished()) {
                let facts: Facts = note!("note that **{}** has failed", name.clone()).into();
                let mark = request(Verb::UpdateStatus(fail(pod, is_orphan, context)));
                script.send(facts.with(note!("PATCH pods/status")), vec![(mark, Purpose::Plain)]);
            }
            let options = DeleteOptions { uid: Some(pod.metadata.uid), ..DeleteOptions::default() };
            let options = DeleteOptions { grace_seconds: Some(0), ..options };
            let deletion = request(Verb::Delete(pod_key(pod), options));
            let facts: Facts = note!("delete **{}** for good", name).into();
            script.send(facts.with(note!("DELETE pods, grace 0")), vec![(deletion, Purpose::Plain)]);
        }
        Some(script)
    }
}

/// Pods on their way out that nobody will confirm: on nodes that are down and out of service (`gcTerminating`), and
/// those that never had a node (`gcUnscheduledTerminating`).
fn stuck(cache: &Objects) -> Vec<Rc<Pod>> {
    if !cache.has_terminating() {
        return Vec::new();
    }
    let out_of_service =
        |node: &Node| node.readiness() != "True" && node.spec.taints.iter().any(|taint| taint.key == OUT_OF_SERVICE);
    let nodes = cache.nodes().filter(|(node, _)| out_of_service(node));
    let on_nodes = nodes.flat_map(|(node, _)| cache.pods_on(&node.metadata.name));
    let nowhere = cache.of_kind(Kind::Pod).filter_map(Object::as_pod).filter(|pod| !pod.is_assigned());
    on_nodes.chain(nowhere).filter(|pod| pod.is_terminating()).cloned().collect()
}

/// The oldest of the pods that have ended, where there are too many of them.
fn surplus(cache: &Objects) -> Vec<Rc<Pod>> {
    if cache.n_finished() <= THRESHOLD {
        return Vec::new();
    }
    let pods = cache.of_kind(Kind::Pod).filter_map(Object::as_pod);
    let mut ended: Vec<&Rc<Pod>> = pods.filter(|pod| pod.is_finished()).collect();
    let surplus = ended.len().saturating_sub(THRESHOLD);
    sort_by(&mut ended, |a, b| a.metadata.creation_timestamp.cmp(&b.metadata.creation_timestamp));
    ended.into_iter().take(surplus).cloned().collect()
}

fn fail(pod: &Rc<Pod>, is_orphan: bool, context: &Context<'_>) -> Object {
    let mut pod = Rc::clone(pod);
    let it = Rc::make_mut(&mut pod);
    it.metadata.resource_version = 0;
    it.status.phase = "Failed".into();
    it.status.observed_generation = it.metadata.generation;
    if is_orphan {
        let target =
            Condition::new("DisruptionTarget", true).because("DeletionByPodGC", "PodGC: node no longer exists");
        set_condition(&mut it.status.conditions, target, context.wall);
    }
    Object::Pod(pod)
}
