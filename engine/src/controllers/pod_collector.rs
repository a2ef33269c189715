//! The pod collector: pods of nodes that are gone, and old pods that have ended.
//!
//! Mirrors `pkg/controller/podgc/gc_controller.go`, v1.36.

use std::rc::Rc;

use super::Recorder;
use super::pods::{pod_key, request};
use super::script::{Purpose, Script, Scripted};
use crate::api::{Condition, Kind, Name, Object, ObjectKey, Pod, set_condition};
use crate::apiserver::{Change, DeleteOptions, Objects, Verb};
use crate::client::{Context, Facts, Wakeup};
use crate::note;
use crate::sim::{Map, Millis, Time, sort_by};

const PERIOD: Millis = Millis(20_000);
/// A node must be gone for this long.
const QUARANTINE: Millis = Millis(40_000);
/// `--terminated-pod-gc-threshold`
const THRESHOLD: usize = 12_500;

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
        let ended = surplus(cache);
        let found: Facts = match (self.missing.len(), orphans.len()) {
            (0, _) => note!("every pod's node is there").into(),
            (n, 0) => note!("**{}** nodes are gone", n).into(),
            (n, pods) => note!("**{}** nodes are gone, with **{}** pods", n, pods).into(),
        };
        let differs: Facts = match orphans.len() + ended.len() {
            0 if self.missing.is_empty() => note!("nothing to collect").into(),
            0 => {
                let facts: Facts = note!("waits: they may come back").into();
                facts.with(note!("40 s from when it was first seen"))
            }
            n => note!("**{}** to collect", n).into(),
        };
        let mut script = Script::new(found, differs);
        let marks = orphans.iter().map(|pod| (request(Verb::UpdateStatus(fail(pod, context))), Purpose::Plain));
        let facts: Facts = note!("note that their node is gone").into();
        script.send(facts.with(note!("PATCH pods/status")), marks.collect());
        let deletions = orphans.iter().chain(&ended).map(|pod| {
            let options = DeleteOptions { uid: Some(pod.metadata.uid), ..DeleteOptions::default() };
            let options = DeleteOptions { grace_seconds: Some(0), ..options };
            (request(Verb::Delete(pod_key(pod), options)), Purpose::Plain)
        });
        let facts: Facts = note!("delete **{}** pods for good", orphans.len() + ended.len()).into();
        script.send(facts.with(note!("DELETE pods, grace 0")), deletions.collect());
        Some(script)
    }
}

/// The oldest of the pods that have ended, where there are too many of them.
fn surplus(cache: &Objects) -> Vec<Rc<Pod>> {
    if cache.len() <= THRESHOLD {
        return Vec::new();
    }
    let pods = cache.of_kind(Kind::Pod).filter_map(Object::as_pod);
    let mut ended: Vec<&Rc<Pod>> = pods.filter(|pod| pod.is_finished()).collect();
    let surplus = ended.len().saturating_sub(THRESHOLD);
    sort_by(&mut ended, |a, b| a.metadata.creation_timestamp.cmp(&b.metadata.creation_timestamp));
    ended.into_iter().take(surplus).cloned().collect()
}

fn fail(pod: &Rc<Pod>, context: &Context<'_>) -> Object {
    let mut pod = Rc::clone(pod);
    let it = Rc::make_mut(&mut pod);
    it.metadata.resource_version = 0;
    if !it.is_finished() {
        it.status.phase = "Failed".into();
    }
    let target = Condition::new("DisruptionTarget", true).because("DeletionByPodGC", "PodGC: node no longer exists");
    set_condition(&mut it.status.conditions, target, context.wall);
    Object::Pod(pod)
}
