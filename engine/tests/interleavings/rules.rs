//! What must hold in every state, whatever the order. What a controller decides is measured by what it had seen: its
//! cache at the Observe of the turn in question.

use std::collections::{BTreeMap, BTreeSet};

use loopscope_engine::api::{Deployment, Kind, Object, ObjectKey, Pod, ReplicaSet, Uid};
use loopscope_engine::apiserver::{Change, ChangeKind, Objects};
use loopscope_engine::client::{LoopIndex, TurnPhase};
use loopscope_engine::controllers::deployment::rolling::{max_surge, max_unavailable};
use loopscope_engine::world::{Channel, Ready, Simulation};

/// A ReplicaSet and its pods, as its controller saw them.
#[derive(Clone, Copy)]
struct SeenSet {
    replicas: i32,
    active: i32,
    ready: i32,
}

/// A Deployment and its ReplicaSets, as its controller saw them.
#[derive(Clone)]
struct SeenDeployment {
    most: i32,
    least: i32,
    /// Wanted and available pods of each, as far as the turn has changed the former.
    sets: BTreeMap<Uid, (i32, i32)>,
    replicas: i32,
    ready: i32,
    available: i32,
}

impl SeenDeployment {
    fn wanted(&self) -> i32 {
        self.sets.values().map(|it| it.0).sum()
    }

    fn left(&self) -> i32 {
        self.sets.values().map(|it| it.0.min(it.1)).sum()
    }
}

#[derive(Clone, Default)]
pub struct Rules {
    sets: BTreeMap<ObjectKey, SeenSet>,
    deployments: BTreeMap<ObjectKey, SeenDeployment>,
    /// Requests of programs that have crashed since.
    stray: BTreeSet<u64>,
    /// Pods that such requests have made, by ReplicaSet.
    strays: BTreeMap<Uid, i32>,
    uids: BTreeMap<Uid, ObjectKey>,
}

/// What is about to happen, as far as the rules ask for it.
pub struct Before {
    version: u64,
    heard: Vec<(u32, u64)>,
    /// The number of the request that reaches the API server, and the loop that sent it.
    request: Option<(u64, LoopIndex)>,
    under_way: Vec<(u64, LoopIndex)>,
}

type Verdict = Result<(), String>;

fn active(pods: &Objects, set: Uid) -> (i32, i32) {
    let of = pods.owned(set, Kind::Pod).filter_map(Object::as_pod).filter(|it| it.is_active());
    of.fold((0, 0), |sum, it| (sum.0 + 1, sum.1 + i32::from(it.is_ready())))
}

impl Rules {
    pub fn new(simulation: &Simulation) -> Self {
        let uids = simulation.api().objects().iter().map(|(key, it)| (it.meta().uid, key.clone()));
        Self { uids: uids.collect(), ..Self::default() }
    }

    pub fn before(simulation: &Simulation, ready: Option<&Ready>) -> Before {
        let under_way: Vec<_> = simulation.journeys().map(|it| (it.number, it.by)).collect();
        let request = ready.and_then(|ready| match ready.channel {
            Channel::Request(number) => under_way.iter().copied().find(|it| it.0 == number),
            _ => None,
        });
        let heard = simulation.processes().iter().map(|it| (it.epoch, it.version)).collect();
        Before { version: simulation.api().version(), heard, request, under_way }
    }

    pub fn check(&mut self, simulation: &Simulation, ready: Option<&Ready>, before: &Before) -> Verdict {
        self.note_crashes(simulation, before);
        self.note_observe(simulation, ready);
        for version in before.version + 1..=simulation.api().version() {
            let change = simulation.api().change(version).ok_or(format!("version {version} is not in the log"))?;
            check_version(change)?;
            self.check_owners(simulation, change)?;
            check_binding(change)?;
            self.check_write(simulation, change, before)?;
        }
        check_caches(simulation, ready, before)?;
        check_machines(simulation)
    }

    /// What a crashed program has sent arrives all the same, and its successor cannot know of it.
    fn note_crashes(&mut self, simulation: &Simulation, before: &Before) {
        for (process, (it, was)) in simulation.processes().iter().zip(&before.heard).enumerate() {
            if it.epoch != was.0 {
                let own =
                    before.under_way.iter().filter(|(_, by)| simulation.loops()[by.0 as usize].process == process);
                self.stray.extend(own.map(|it| it.0));
                if it.is_manager() {
                    self.sets.clear();
                    self.deployments.clear();
                }
            }
        }
    }

    /// What a controller sees as its turn looks.
    fn note_observe(&mut self, simulation: &Simulation, ready: Option<&Ready>) {
        let Some(Channel::Turn(at, turn)) = ready.map(|it| it.channel) else { return };
        let it = &simulation.loops()[at.0 as usize];
        let Some((key, _)) = it.active.pair(turn).filter(|it| it.1.phase == Some(TurnPhase::Observe)) else { return };
        let cache = &simulation.processes()[it.process].cache;
        match cache.get(key) {
            Some(Object::ReplicaSet(set)) if &*it.name == "ReplicaSet" => {
                let (active, ready) = active(cache, set.metadata.uid);
                self.sets.insert(key.clone(), SeenSet { replicas: set.spec.wanted(), active, ready });
            }
            Some(Object::Deployment(deployment)) if &*it.name == "Deployment" => {
                self.deployments.insert(key.clone(), seen(cache, deployment));
            }
            _ => {}
        }
    }

    /// One controller at most, and one that was once there.
    fn check_owners(&mut self, simulation: &Simulation, change: &Change) -> Verdict {
        let (key, meta) = (&change.key, change.object.meta());
        self.uids.insert(meta.uid, key.clone());
        let controllers: Vec<_> = meta.owner_references.iter().filter(|it| it.controller).collect();
        if controllers.len() > 1 {
            return Err(format!("{key} has {} controllers", controllers.len()));
        }
        for owner in &meta.owner_references {
            let known = self.uids.get(&owner.uid);
            if known.is_none_or(|it| it.name != owner.name || owner.kind != it.kind.name()) {
                return Err(format!("{key} names {} {} as its owner, which never was", owner.kind, owner.name));
            }
        }
        let is_made = matches!(change.object, Object::Pod(_) | Object::ReplicaSet(_));
        if is_made && change.kind != ChangeKind::Deleted && controllers.is_empty() {
            return Err(format!("{key} has no controller"));
        }
        let was = change.old.as_ref().and_then(|it| it.meta().controller()).map(|it| it.uid);
        if was.is_some() && was != meta.controller().map(|it| it.uid) {
            return Err(format!("{key} got another controller"));
        }
        let set = controllers.first().and_then(|it| simulation.api().objects().get(self.uids.get(&it.uid)?));
        if let (Object::Pod(pod), Some(Object::ReplicaSet(set))) = (&change.object, set)
            && !set.spec.selector.matches(&pod.metadata.labels)
        {
            return Err(format!("{key} does not fit the selector of its ReplicaSet"));
        }
        Ok(())
    }

    fn check_write(&mut self, simulation: &Simulation, change: &Change, before: &Before) -> Verdict {
        let Some((number, by)) = before.request else { return Ok(()) };
        let is_stray = self.stray.contains(&number);
        match (&*simulation.loops()[by.0 as usize].name, &change.object) {
            ("ReplicaSet", Object::Pod(pod)) if change.kind == ChangeKind::Added => {
                self.check_creation(simulation, pod, is_stray)
            }
            ("ReplicaSet", Object::ReplicaSet(set)) if !is_stray => self.check_set_status(change, set),
            ("Deployment", Object::ReplicaSet(set)) if !is_stray => self.check_sizes(simulation, change, set),
            ("Deployment", Object::Deployment(it)) if !is_stray => self.check_status(change, it),
            _ => Ok(()),
        }
    }

    /// Never more pods than replicas, but for what a crashed controller had still under way.
    fn check_creation(&mut self, simulation: &Simulation, pod: &Pod, is_stray: bool) -> Verdict {
        let Some(owner) = pod.metadata.controller() else { return Ok(()) };
        let strays = self.strays.entry(owner.uid).or_default();
        *strays += i32::from(is_stray);
        let key = ObjectKey::new(Kind::ReplicaSet, pod.metadata.namespace.clone(), owner.name.clone());
        let Some(seen) = self.sets.get(&key) else { return Ok(()) };
        let (n, _) = active(simulation.api().objects(), owner.uid);
        if n > seen.replicas + *strays && !is_stray {
            return Err(format!("over-creation: {key} has {n} pods, and its controller wanted {}", seen.replicas));
        }
        Ok(())
    }

    /// A status says what was seen, and not more.
    fn check_set_status(&self, change: &Change, set: &ReplicaSet) -> Verdict {
        let was = change.old.as_ref().and_then(Object::as_replica_set);
        if was.is_none_or(|it| it.status == set.status) {
            return Ok(());
        }
        let (key, it) = (&change.key, &set.status);
        let is_odd = it.ready_replicas > it.replicas
            || it.available_replicas > it.ready_replicas
            || it.fully_labeled_replicas > it.replicas
            || it.observed_generation > set.metadata.generation;
        let Some(seen) = self.sets.get(key) else { return Ok(()) };
        if is_odd || it.replicas > seen.active || it.ready_replicas > seen.ready {
            let claim = (it.replicas, it.ready_replicas, it.available_replicas);
            return Err(format!(
                "{key} claims {claim:?} pods, ready, available; seen were {:?}",
                (seen.active, seen.ready)
            ));
        }
        Ok(())
    }

    fn check_status(&self, change: &Change, deployment: &Deployment) -> Verdict {
        let was = change.old.as_ref().and_then(Object::as_deployment);
        if was.is_none_or(|it| it.status == deployment.status) {
            return Ok(());
        }
        let (key, it) = (&change.key, &deployment.status);
        let is_odd = it.ready_replicas > it.replicas
            || it.available_replicas > it.ready_replicas
            || it.updated_replicas > it.replicas
            || it.observed_generation > deployment.metadata.generation;
        let Some(seen) = self.deployments.get(key) else { return Ok(()) };
        let is_more =
            it.replicas > seen.replicas || it.ready_replicas > seen.ready || it.available_replicas > seen.available;
        if is_odd || is_more {
            return Err(format!("{key} claims more than its ReplicaSets do: {it:?}"));
        }
        Ok(())
    }

    /// A Deployment's own decisions keep its surge and its floor.
    fn check_sizes(&mut self, simulation: &Simulation, change: &Change, set: &ReplicaSet) -> Verdict {
        let was = change.old.as_ref().and_then(Object::as_replica_set).map_or(0, |it| it.spec.wanted());
        let (wants, uid) = (set.spec.wanted(), set.metadata.uid);
        let Some(owner) = set.metadata.controller() else { return Ok(()) };
        let key = ObjectKey::new(Kind::Deployment, set.metadata.namespace.clone(), owner.name.clone());
        let Some(seen) = self.deployments.get_mut(&key).filter(|_| was != wants) else { return Ok(()) };
        let (sum, left) = (seen.wanted(), seen.left());
        seen.sets.entry(uid).or_insert((0, 0)).0 = wants;
        let objects = simulation.api().objects();
        if wants > was {
            let live = objects.get(&key).and_then(Object::as_deployment);
            let most = live.map_or(seen.most, |it| seen.most.max(it.spec.wanted() + max_surge(&it.spec)));
            let all = objects.owned(owner.uid, Kind::ReplicaSet).filter_map(Object::as_replica_set);
            let all: i32 = all.map(|it| it.spec.wanted()).sum();
            if all > most || (seen.wanted() > sum && seen.wanted() > seen.most) {
                return Err(format!("{key} asks for {all} pods in all, at most {most} may be"));
            }
        } else if seen.left() < left && seen.left() < seen.least {
            let left = seen.left();
            return Err(format!("{key} leaves {left} of its pods available, at least {} must be", seen.least));
        }
        Ok(())
    }
}

fn seen(cache: &Objects, deployment: &Deployment) -> SeenDeployment {
    let spec = &deployment.spec;
    let (most, least) = (spec.wanted() + max_surge(spec), spec.wanted() - max_unavailable(spec));
    let sets = cache.owned(deployment.metadata.uid, Kind::ReplicaSet).filter_map(Object::as_replica_set);
    let mut seen = SeenDeployment { most, least, sets: BTreeMap::new(), replicas: 0, ready: 0, available: 0 };
    for set in sets {
        seen.sets.insert(set.metadata.uid, (set.spec.wanted(), set.status.available_replicas));
        seen.replicas += set.status.replicas;
        seen.ready += set.status.ready_replicas;
        seen.available += set.status.available_replicas;
    }
    seen
}

fn check_version(change: &Change) -> Verdict {
    let (new, old) = (change.object.meta(), change.old.as_ref().map(Object::meta));
    let is_later = old.is_none_or(|old| old.resource_version < new.resource_version.max(change.version));
    if !is_later || new.resource_version > change.version {
        return Err(format!("{} goes back to version {}", change.key, new.resource_version));
    }
    Ok(())
}

/// A pod that is bound stays where it is.
fn check_binding(change: &Change) -> Verdict {
    let (Some(old), Some(new)) = (change.old.as_ref().and_then(Object::as_pod), change.object.as_pod()) else {
        return Ok(());
    };
    if !old.spec.node_name.is_empty() && old.spec.node_name != new.spec.node_name {
        return Err(format!("{} is bound twice: {} and {}", change.key, old.spec.node_name, new.spec.node_name));
    }
    Ok(())
}

/// A cache goes forward, and has just what it was told.
fn check_caches(simulation: &Simulation, ready: Option<&Ready>, before: &Before) -> Verdict {
    for (it, was) in simulation.processes().iter().zip(&before.heard) {
        if it.epoch == was.0 && it.version < was.1 {
            return Err(format!("the cache of {:?} goes back from {} to {}", it.kind, was.1, it.version));
        }
    }
    let Some(Channel::Watch(process)) = ready.map(|it| it.channel) else { return Ok(()) };
    let it = &simulation.processes()[process];
    let Some(change) = simulation.api().change(it.version).filter(|_| it.version > before.heard[process].1) else {
        return Ok(());
    };
    let has = it.cache.get(&change.key).map(|it| it.meta().resource_version);
    let should = (change.kind != ChangeKind::Deleted).then(|| change.object.meta().resource_version);
    if has != should {
        return Err(format!("{:?} heard of {} in {should:?} and has {has:?}", it.kind, change.key));
    }
    Ok(())
}

/// No pod's containers run on two machines.
fn check_machines(simulation: &Simulation) -> Verdict {
    let mut seen = BTreeSet::new();
    for machine in simulation.machines().values() {
        for (uid, record) in machine.runtime.pods.iter() {
            if !seen.insert(*uid) {
                return Err(format!("{} is on two machines", record.key));
            }
        }
    }
    Ok(())
}

/// All is as it is wanted, and everybody knows: why not, where it is not so.
pub fn unfinished(simulation: &Simulation) -> Option<String> {
    let objects = simulation.api().objects();
    for deployment in objects.of_kind(Kind::Deployment).filter_map(Object::as_deployment) {
        let (want, it) = (deployment.spec.wanted(), &deployment.status);
        let counts = (it.replicas, it.updated_replicas, it.ready_replicas, it.available_replicas);
        if counts != (want, want, want, want) || it.observed_generation != deployment.metadata.generation {
            return Some(format!("the Deployment wants {want}: {it:?}"));
        }
        let sets = objects.owned(deployment.metadata.uid, Kind::ReplicaSet);
        let pods: Vec<&Pod> = sets
            .flat_map(|set| objects.owned(set.meta().uid, Kind::Pod))
            .filter_map(Object::as_pod)
            .map(|it| &**it)
            .collect();
        if pods.len() != want as usize || pods.iter().any(|it| !it.is_ready()) {
            return Some(format!("{} pods are there, wanted are {want}, all of them ready", pods.len()));
        }
        let template = &deployment.spec.template.spec.containers[0].image;
        if pods.iter().any(|it| it.spec.containers[0].image != *template) {
            return Some("a pod is of an older template".into());
        }
    }
    let owned = |it: &Object| it.meta().controller().map(|owner| owner.uid);
    let uids: BTreeSet<Uid> = objects.iter().map(|(_, it)| it.meta().uid).collect();
    for object in objects.of_kind(Kind::Pod).chain(objects.of_kind(Kind::ReplicaSet)) {
        if !owned(object).is_some_and(|uid| uids.contains(&uid)) {
            return Some(format!("{} is an orphan", object.key()));
        }
        if object.meta().deletion_timestamp.is_some() {
            return Some(format!("{} goes for ever", object.key()));
        }
    }
    stale(simulation)
}

/// A cache that differs from what the API server has.
fn stale(simulation: &Simulation) -> Option<String> {
    let objects = simulation.api().objects();
    for it in simulation.processes().iter().filter(|it| it.is_up && !it.is_cut) {
        let live = objects.iter().filter(|(_, object)| it.kind.watches(object));
        let live = live.map(|(key, object)| (key, object.meta().resource_version));
        let known = it.cache.iter().map(|(key, object)| (key, object.meta().resource_version));
        // Heartbeats are always on their way.
        let counts = |key: &ObjectKey| !matches!(key.kind, Kind::Lease | Kind::Node);
        if !live.filter(|it| counts(it.0)).eq(known.filter(|it| counts(it.0))) {
            return Some(format!("the cache of {:?} is behind for ever", it.kind));
        }
    }
    None
}
