//! What asks for pods, and the other objects that can be looked at.

use std::rc::Rc;

use super::Summary;
use super::pods::pods_of;
use crate::api::{Condition, Kind, Object, ObjectKey, Pod, condition};
use crate::apiserver::Tally;
use crate::controllers::deployment::status::is_complete;
use crate::sim::sort_by;
use crate::world::{Simulation, WANTING, wanted, wanting};

/// Something that asks for pods, and that nothing else made.
pub struct Workload<'a> {
    pub object: &'a Object,
    /// So many pods should be ready now.
    pub wants: i32,
    /// Its pods are of its newest template.
    pub is_current: bool,
    /// It gave up, or got nowhere within its deadline.
    pub is_stuck: bool,
}

pub fn workloads(simulation: &Simulation) -> impl Iterator<Item = Workload<'_>> {
    wanting(simulation.api().objects()).filter_map(workload)
}

fn workload(object: &Object) -> Option<Workload<'_>> {
    let is = |conditions: &[Condition], kind, status| condition(conditions, kind).is_some_and(|it| it.status == status);
    let generation = object.meta().generation;
    let (is_current, is_stuck) = match object {
        Object::Deployment(it) => (is_complete(it, &it.status), is(&it.status.conditions, "Progressing", "False")),
        Object::ReplicaSet(it) => (it.status.observed_generation >= generation, false),
        Object::StatefulSet(it) => {
            let is_updated =
                it.status.updated_replicas >= it.status.replicas || it.spec.update_strategy.kind == "OnDelete";
            (it.status.observed_generation >= generation && is_updated, false)
        }
        Object::DaemonSet(it) => {
            let status = &it.status;
            let is_updated = status.updated_number_scheduled >= status.desired_number_scheduled;
            (status.observed_generation >= generation && is_updated, false)
        }
        Object::Job(it) => (true, is(&it.status.conditions, "Failed", "True")),
        _ => (true, false),
    };
    Some(Workload { object, wants: wanted(object)?, is_current, is_stuck })
}

impl<'a> Workload<'a> {
    /// How many of its active pods are ready and how many are not, as counted by the API server's index: only where
    /// more are ready than are shown one by one.
    pub fn ready_of_many(&self, simulation: &Simulation) -> Option<(usize, usize)> {
        let objects = simulation.api().objects();
        let sets = objects.controlled_by(self.object.meta().uid).filter_map(Object::as_replica_set);
        let tallies: Vec<&Tally> = match self.object {
            Object::Deployment(_) => sets.filter_map(|set| objects.tally(set.metadata.uid)).collect(),
            Object::ReplicaSet(it) => objects.tally(it.metadata.uid).into_iter().collect(),
            _ => return None,
        };
        let count = |of: fn(&Tally) -> i32| usize::try_from(tallies.iter().map(|it| of(it)).sum::<i32>()).unwrap_or(0);
        let (active, ready) = (count(|it| it.active), count(|it| it.ready));
        (ready >= Summary::MAX_SLOTS).then(|| (ready, active.saturating_sub(ready)))
    }

    /// Its pods that still count.
    pub fn pods(&self, simulation: &'a Simulation) -> Box<dyn Iterator<Item = &'a Rc<Pod>> + 'a> {
        let uid = self.object.meta().uid;
        match self.object {
            Object::Pod(it) => Box::new(std::iter::once(it)),
            Object::Deployment(_) => Box::new(pods_of(simulation, uid)),
            _ => Box::new(simulation.api().objects().controlled_by(uid).filter_map(Object::as_pod)),
        }
    }
}

/// What to select at first: the first Deployment, or whatever else asks for pods.
pub fn first_key(simulation: &Simulation) -> Option<ObjectKey> {
    let objects = simulation.api().objects();
    let first = |kind: Kind| objects.of_kind(kind).map(Object::key).min_by(|a, b| a.name.cmp(&b.name));
    WANTING.into_iter().find_map(first)
}

/// The objects that are not on the map, apart from what is there in every cluster.
pub fn objects(simulation: &Simulation) -> Vec<ObjectKey> {
    let is_listed = |key: &&ObjectKey| {
        !matches!(key.kind, Kind::Pod | Kind::Node | Kind::Lease | Kind::ControllerRevision) && is_own(key)
    };
    let mut keys: Vec<ObjectKey> =
        simulation.api().objects().iter().map(|(key, _)| key).filter(is_listed).cloned().collect();
    sort_by(&mut keys, |a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    keys
}

/// It is not one of those that every cluster has.
pub fn is_own(key: &ObjectKey) -> bool {
    match key.kind {
        Kind::Namespace => !(*key.name == *"default" || key.name.starts_with("kube-")),
        Kind::PriorityClass => !key.name.starts_with("system-"),
        _ => true,
    }
}
