//! What must hold at every instant, looked at after every single event of a run.

#![allow(dead_code)]

use std::collections::{BTreeMap, VecDeque};

use loopscope_engine::api::{Deployment, Kind, Object, Pod, Timestamp, Uid, path_text};
use loopscope_engine::apiserver::{Change, ChangeKind, Objects, owned_fields};
use loopscope_engine::client::{Author, What};
use loopscope_engine::controllers::deployment::rolling::{max_surge, max_unavailable};
use loopscope_engine::sim::{Millis, Seq, Time};
use loopscope_engine::world::Simulation;
use proptest::prelude::*;

/// For so long after a Deployment's size or strategy changed, controllers may still act on the old one: a turn reads
/// its cache once, and creates in batches.
const HEARSAY: u64 = 250;

/// The limits of a Deployment, and since when they hold.
#[derive(Clone, Copy, PartialEq)]
struct Limits {
    since: Time,
    most: i32,
    least: i32,
}

pub struct Guard {
    version: u64,
    seq: Seq,
    limits: BTreeMap<Uid, VecDeque<Limits>>,
    /// When pods of a Deployment were taken away lately.
    taken: BTreeMap<Uid, VecDeque<Time>>,
    /// Whether a rolling update must leave enough pods available: nobody can where pods are broken.
    has_floor: bool,
}

impl Guard {
    pub fn new(has_floor: bool) -> Self {
        Self { version: 0, seq: Seq(0), limits: BTreeMap::new(), taken: BTreeMap::new(), has_floor }
    }

    /// Runs for so long, and looks after every event.
    pub fn run(&mut self, simulation: &mut Simulation, ms: u64) -> Result<(), TestCaseError> {
        let until = simulation.now() + Millis(ms);
        self.look(simulation)?;
        for _ in 0..3_000_000 {
            if simulation.run_until(until, 1) {
                return Ok(());
            }
            self.look(simulation)?;
        }
        Err(TestCaseError::fail("events without end"))
    }

    fn look(&mut self, simulation: &Simulation) -> Result<(), TestCaseError> {
        let newest = simulation.api().version();
        if newest == self.version {
            return self.check_idle_writes(simulation);
        }
        self.note_limits(simulation);
        let first = self.version + 1;
        self.version = newest;
        for version in first.max(newest.saturating_sub(4_000))..=newest {
            let Some(change) = simulation.api().change(version) else { continue };
            check_owners(simulation.api().objects(), change)?;
            check_fields(simulation, change)?;
            if let Object::Pod(pod) = &change.object {
                self.check_limits(simulation, change, pod)?;
            }
        }
        self.check_idle_writes(simulation)
    }

    /// No controller asks for a write that changes nothing.
    fn check_idle_writes(&mut self, simulation: &Simulation) -> Result<(), TestCaseError> {
        let last = simulation.trace().last_seq();
        for seq in self.seq.0 + 1..=last.0 {
            let Some(event) = simulation.trace().get(Seq(seq)) else { continue };
            if let What::Wrote { author: Author::Loop(by), key, method, effect, subresource, .. } = &event.what {
                let is_idle = *effect == loopscope_engine::apiserver::Effect::Unchanged;
                let by = &simulation.loops()[by.0 as usize].name;
                // Told once more to go: by another who had not heard of it, in a namespace's next pass over its content, by
                // a kubelet while a finalizer holds the pod. Nothing is written.
                if *method == "DELETE" {
                    continue;
                }
                prop_assert!(!is_idle, "{by}: {method} {key}/{subresource} at {} changes nothing", event.at.0);
            }
        }
        self.seq = last;
        Ok(())
    }

    fn note_limits(&mut self, simulation: &Simulation) {
        let now = simulation.now();
        for deployment in simulation.api().objects().of_kind(Kind::Deployment).filter_map(Object::as_deployment) {
            let spec = &deployment.spec;
            let (most, least) = (spec.wanted() + max_surge(spec), spec.wanted() - max_unavailable(spec));
            let known = self.limits.entry(deployment.metadata.uid).or_default();
            if known.back().is_none_or(|last| (last.most, last.least) != (most, least)) {
                known.push_back(Limits { since: now, most, least });
            }
            // Of those that were replaced long ago nobody acts any more.
            while known.get(1).is_some_and(|next| next.since.0 + HEARSAY < now.0) {
                known.pop_front();
            }
        }
    }

    /// Nobody creates a pod above the ceiling, or takes an available one away below the floor.
    fn check_limits(&mut self, simulation: &Simulation, change: &Change, pod: &Pod) -> Result<(), TestCaseError> {
        let objects = simulation.api().objects();
        let Some(deployment) = deployment_of(objects, pod) else { return Ok(()) };
        let Some(limits) = self.limits.get(&deployment.metadata.uid) else { return Ok(()) };
        let name = &deployment.metadata.name;
        if change.kind == ChangeKind::Added {
            let active = pods_of(objects, deployment).filter(|pod| pod.is_active()).count() as i32;
            let most = limits.iter().map(|it| it.most).max().unwrap_or(i32::MAX);
            prop_assert!(active <= most, "{name} at {}: {active} pods, at most {most} may be", simulation.now().0);
        }
        let was_active = change.old.as_ref().and_then(Object::as_pod).is_some_and(|old| old.is_active());
        if was_active && !pod.is_active() && self.has_floor && deployment.spec.strategy.kind != "Recreate" {
            let (now, min_ready) = (simulation.now(), deployment.spec.min_ready_seconds);
            let counts = |pod: &&Pod| pod.is_active() && pod.is_available(min_ready, simulation.wall());
            let available = pods_of(objects, deployment).filter(counts).count();
            // A Deployment counts by the statuses of its ReplicaSets, and these lag behind their pods.
            let taken = self.taken.entry(deployment.metadata.uid).or_default();
            taken.retain(|at| at.0 + HEARSAY > now.0);
            let unheard = taken.iter().filter(|at| **at < now).count();
            taken.push_back(now);
            let least = limits.iter().map(|it| it.least).min().unwrap_or(0);
            prop_assert!(
                (available + unheard) as i32 >= least,
                "{name} at {}: {available} left of {least}, {unheard} of the missing ones just now",
                now.0
            );
        }
        Ok(())
    }
}

fn deployment_of<'a>(objects: &'a Objects, pod: &Pod) -> Option<&'a std::rc::Rc<Deployment>> {
    let set = pod.metadata.controller().filter(|owner| owner.kind == "ReplicaSet")?;
    let mut sets = objects.of_kind(Kind::ReplicaSet).filter(|it| it.meta().uid == set.uid);
    let owner = sets.next()?.meta().controller()?.uid;
    let mut all = objects.of_kind(Kind::Deployment).filter_map(Object::as_deployment);
    all.find(|deployment| deployment.metadata.uid == owner)
}

fn pods_of<'a>(objects: &'a Objects, deployment: &'a Deployment) -> impl Iterator<Item = &'a Pod> {
    let sets = objects.owned(deployment.metadata.uid, Kind::ReplicaSet);
    sets.flat_map(|set| objects.owned(set.meta().uid, Kind::Pod)).filter_map(Object::as_pod).map(|pod| &**pod)
}

/// At most one controller, and no object among its own owners.
fn check_owners(objects: &Objects, change: &Change) -> Result<(), TestCaseError> {
    let meta = change.object.meta();
    let key = change.object.key();
    let controllers = meta.owner_references.iter().filter(|owner| owner.controller).count();
    prop_assert!(controllers <= 1, "{key} has {controllers} controllers");
    let mut above: Vec<Uid> = meta.owner_references.iter().map(|owner| owner.uid).collect();
    for _ in 0..6 {
        prop_assert!(!above.contains(&meta.uid), "{key} is its own owner");
        let owners = above.iter().filter_map(|uid| objects.iter().find(|(_, it)| it.meta().uid == *uid));
        above = owners.flat_map(|(_, it)| it.meta().owner_references.iter().map(|owner| owner.uid)).collect();
    }
    prop_assert!(above.is_empty(), "{key}: owners of owners without end");
    Ok(())
}

/// Nobody changes a field without taking it: whoever owns it has just written. What a deletion adds is nobody's.
fn check_fields(simulation: &Simulation, change: &Change) -> Result<(), TestCaseError> {
    let (Some(old), new) = (&change.old, &change.object) else { return Ok(()) };
    let (a, b) = (old.meta(), new.meta());
    let is_asked = a.generation != b.generation || a.labels != b.labels || a.annotations != b.annotations;
    let is_told = !matches!(new.kind(), Kind::Pod | Kind::Lease | Kind::EndpointSlice);
    if change.kind != ChangeKind::Modified || !is_asked || !is_told {
        return Ok(());
    }
    let (before, after) = (owned_fields(&old.to_value()), owned_fields(&new.to_value()));
    for (path, value) in after.iter().filter(|(path, value)| before.get(*path) != Some(value)) {
        if path.starts_with(".metadata.finalizers") {
            continue;
        }
        let entries = b.managed.entries().iter();
        let mut owners = entries.filter(|it| it.fields.iter().any(|it| path_text(it) == path.as_str()));
        let now = Timestamp::from_millis(simulation.scenario().epoch_ms + change.at.0 as i64);
        let is_taken = owners.any(|it| it.time == Some(now) || it.by.subresource == "scale");
        prop_assert!(is_taken, "{} {path} became {value} at {now}, and nobody has taken it", new.key());
    }
    Ok(())
}
