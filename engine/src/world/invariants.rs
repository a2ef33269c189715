//! What must hold at every instant, looked at with every write. It changes nothing: who looks and who does not see the
//! same run.
//!
//! Whoever acts on a cache that is behind may cross a bound that has just moved. Such a moment is no breach: a bound holds
//! as it was for as long as controllers may still believe in it.

use super::Simulation;
use crate::api::{Deployment, Kind, Object, ObjectKey, Pod, Uid};
use crate::apiserver::{Change, ChangeKind, FieldLog, FieldWrite, Objects};
use crate::client::{Author, Note};
use crate::controllers::deployment::rolling::{is_rolling_update, max_surge, max_unavailable};
use crate::note;
use crate::sim::{Map, Millis, Seq, Time};

/// A turn reads its cache once, and creates in batches: for so long after a bound moved the old one may be acted on, in
/// ms. A watch that is slower makes it longer.
const HEARSAY: u64 = 250;
/// So long what a controller left behind may wait for the garbage collector.
const COLLECTED_WITHIN: Millis = Millis(10_000);
/// So long a workload may be on its way: the usual `progressDeadlineSeconds`.
const CONVERGES_WITHIN: Millis = Millis(600_000);
/// Controllers that went before what they made, kept at most.
const MOST_GONE: usize = 64;

/// A bound that was crossed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The trace event that crossed it.
    pub seq: Seq,
    pub at: Time,
    pub note: Note,
    /// How often it was crossed so far.
    pub n: u32,
}

/// The bounds of a Deployment, and since when they hold.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Limits {
    since: Time,
    most: i32,
    least: i32,
}

/// One Deployment's bounds, and what became of them.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    limits: Vec<Limits>,
    /// When pods of it stopped being available lately.
    lost: Vec<Time>,
    /// More pods than its surge allows.
    pub ceiling: Option<Breach>,
    /// An available pod taken away below its floor.
    pub floor: Option<Breach>,
}

/// A controller that is gone while something names it.
#[derive(Clone, Debug)]
struct Gone {
    uid: Uid,
    key: ObjectKey,
    seq: Seq,
    at: Time,
}

/// Whether all workloads are as they are wanted, and since when.
#[derive(Clone, Debug, Default)]
struct Course {
    /// The first workload that is not, since when, and the event that made it so.
    unmet: Option<(ObjectKey, Time, Seq)>,
    /// What all together wanted, and how many commands there were, when they last were.
    met: Option<(i32, usize)>,
    took: Option<Millis>,
    strayed: Option<Breach>,
}

/// What is known of the properties of a run.
#[derive(Clone, Debug, Default)]
pub struct Invariants {
    bounds: Map<Uid, Bounds>,
    gone: Vec<Gone>,
    course: Course,
    /// A field was written that another manager owned.
    taken: Option<Breach>,
}

/// How it stands with one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    NotApplicable,
    Holds,
    Broken(Breach),
}

fn broken(breach: Option<&Breach>) -> Standing {
    breach.map_or(Standing::Holds, |breach| Standing::Broken(breach.clone()))
}

fn cross(place: &mut Option<Breach>, seq: Seq, at: Time, note: Note) {
    let n = place.as_ref().map_or(0, |it| it.n) + 1;
    *place = Some(Breach { seq, at, note, n });
}

impl Invariants {
    /// The bounds of a Deployment, as far as it was looked at.
    pub fn bounds(&self, deployment: Uid) -> Option<&Bounds> {
        self.bounds.get(&deployment)
    }

    /// How long the last change took until all was as wanted.
    pub fn took(&self) -> Option<Millis> {
        self.course.took
    }

    /// Since when something is on its way.
    pub fn under_way(&self) -> Option<Time> {
        self.course.unmet.as_ref().map(|it| it.1)
    }

    fn note_limits(&mut self, deployment: &Deployment, now: Time, hearsay: u64) {
        let spec = &deployment.spec;
        let (most, least) = (spec.wanted() + max_surge(spec), spec.wanted() - max_unavailable(spec));
        let known = &mut self.bounds.or_default(deployment.metadata.uid).limits;
        if known.last().is_none_or(|last| (last.most, last.least) != (most, least)) {
            known.push(Limits { since: now, most, least });
        }
        // Of those that were replaced long ago nobody acts any more.
        while known.get(1).is_some_and(|next| next.since.0 + hearsay < now.0) {
            known.remove(0);
        }
    }

    /// A write of a value in the place of another that only others own.
    fn check_owners(&mut self, writes: &FieldLog, change: &Change, now: Time) {
        let Some(old) = &change.old else { return };
        let mut new = writes.iter().rev().take_while(|it| it.seq == change.cause && it.key == change.key);
        let owner = |it: &FieldWrite| {
            let mut owners = old.meta().managed.owners(&it.path);
            let first = owners.next()?;
            let is_own = std::iter::once(first).chain(owners).any(|entry| entry.by.manager == it.by.manager);
            (!is_own).then_some(first.by.manager)
        };
        let found = new.find_map(|it| Some((it, owner(it).filter(|_| !it.from.is_null())?)));
        if let Some((it, owner)) = found {
            let path = crate::api::path_text(&it.path);
            let note = note!("**{}** wrote {} of {}, which is {}'s", it.by.manager, path, &it.key.name, owner);
            cross(&mut self.taken, change.cause, now, note);
        }
    }

    fn check_pod(&mut self, objects: &Objects, change: &Change, pod: &Pod, moment: &Moment) {
        let was = change.old.as_ref().and_then(Object::as_pod);
        // Neither more pods than before nor fewer available ones.
        if change.kind != ChangeKind::Added && !was.is_some_and(|old| old.is_active() && old.is_ready()) {
            return;
        }
        let Some(deployment) = deployment_of(objects, pod) else { return };
        self.note_limits(deployment, moment.now, moment.hearsay);
        let Some(bounds) = self.bounds.get_mut(&deployment.metadata.uid) else { return };
        let name = &deployment.metadata.name;
        if change.kind == ChangeKind::Added {
            let most = bounds.limits.iter().map(|it| it.most).max().unwrap_or(i32::MAX);
            let active = tally(objects, deployment, |it| it.active);
            if active > most {
                let note = note!("**{}** has {} pods, at most {} may be", name, active, most);
                cross(&mut bounds.ceiling, change.cause, moment.now, note);
            }
            return;
        }
        let min_ready = deployment.spec.min_ready_seconds;
        let counts = |pod: &Pod| pod.is_active() && pod.is_available(min_ready, moment.wall);
        if !was.is_some_and(|old| counts(old)) || (change.kind != ChangeKind::Deleted && counts(pod)) {
            return;
        }
        bounds.lost.retain(|at| at.0 + moment.hearsay > moment.now.0);
        let is_taken = moment.is_sized && was.is_some_and(|old| old.is_active()) && !pod.is_active();
        if is_taken && is_rolling_update(&deployment.spec) {
            let available = match min_ready {
                0 => tally(objects, deployment, |it| it.ready),
                _ => pods_of(objects, deployment).filter(|pod| counts(pod)).count() as i32,
            };
            // A Deployment counts by the statuses of its ReplicaSets, and these lag behind their pods.
            let unheard = bounds.lost.iter().filter(|at| **at < moment.now).count() as i32;
            let least = bounds.limits.iter().map(|it| it.least).min().unwrap_or(0);
            if available + unheard < least {
                let note = note!("**{}** has {} pods available, at least {} must be", name, available, least);
                cross(&mut bounds.floor, change.cause, moment.now, note);
            }
        }
        bounds.lost.push(moment.now);
    }
}

/// When and by whom.
struct Moment {
    now: Time,
    wall: crate::api::Timestamp,
    hearsay: u64,
    /// The ReplicaSet controller wrote.
    is_sized: bool,
}

/// The Deployment that a pod is of, by the references of both.
fn deployment_of<'a>(objects: &'a Objects, pod: &Pod) -> Option<&'a std::rc::Rc<Deployment>> {
    let above = |meta: &crate::api::ObjectMeta, kind: Kind| {
        let owner = meta.controller().filter(|owner| owner.kind == kind.name())?;
        let found = objects.get(&ObjectKey::new(kind, meta.namespace.clone(), owner.name.clone()))?;
        (found.meta().uid == owner.uid).then_some(found)
    };
    let set = above(&pod.metadata, Kind::ReplicaSet)?;
    above(set.meta(), Kind::Deployment)?.as_deployment()
}

fn sets_of<'a>(objects: &'a Objects, deployment: &Deployment) -> impl Iterator<Item = &'a Object> {
    objects.owned(deployment.metadata.uid, Kind::ReplicaSet)
}

/// The pods of a Deployment's ReplicaSets.
fn pods_of<'a>(objects: &'a Objects, deployment: &Deployment) -> impl Iterator<Item = &'a Pod> {
    let pods = sets_of(objects, deployment).flat_map(|set| objects.owned(set.meta().uid, Kind::Pod));
    pods.filter_map(Object::as_pod).map(|pod| &**pod)
}

pub(super) fn tally(objects: &Objects, deployment: &Deployment, of: impl Fn(&crate::apiserver::Tally) -> i32) -> i32 {
    sets_of(objects, deployment).filter_map(|set| objects.tally(set.meta().uid)).map(of).sum()
}

/// Whether a workload is as it is wanted: what really is, not what its status says. Jobs and bare pods come to an end, and
/// what is paused is left as it is.
fn is_met(objects: &Objects, object: &Object) -> bool {
    let counts = |uid: Uid| objects.tally(uid).map_or((0, 0), |it| (it.active, it.ready));
    let want = super::wanted(object).unwrap_or(0);
    match object {
        Object::Deployment(it) if it.spec.paused => true,
        Object::Deployment(it) => {
            let (mut used, mut all) = (0, (0, 0));
            for set in sets_of(objects, it).filter_map(Object::as_replica_set) {
                let n = counts(set.metadata.uid);
                used += usize::from(set.spec.wanted() > 0 || n.0 > 0);
                all = (all.0 + n.0, all.1 + n.1);
            }
            it.status.observed_generation >= it.metadata.generation && used <= 1 && all == (want, want)
        }
        Object::ReplicaSet(_) | Object::StatefulSet(_) | Object::DaemonSet(_) => {
            counts(object.meta().uid) == (want, want)
        }
        _ => true,
    }
}

impl Simulation {
    /// Looks at what a write did to the properties.
    pub(super) fn uphold(&mut self, version: u64, author: Author) {
        let Some(change) = self.api.change(version) else { return };
        let now = self.queue.now();
        let uid = change.object.meta().uid;
        let objects = self.api.objects();
        if change.kind == ChangeKind::Deleted && objects.controlled_by(uid).next().is_some() {
            let (key, seq) = (change.key.clone(), change.cause);
            self.invariants.gone.retain(|it| objects.controlled_by(it.uid).next().is_some());
            if self.invariants.gone.len() < MOST_GONE {
                self.invariants.gone.push(Gone { uid, key, seq, at: now });
            }
        }
        self.invariants.check_owners(self.api.writes(), change, now);
        let hearsay = HEARSAY + 4 * self.scenario.latency.watch;
        match &change.object {
            Object::Deployment(_) if change.kind == ChangeKind::Deleted => {
                self.invariants.bounds.remove(&uid);
            }
            Object::Deployment(it) => self.invariants.note_limits(it, now, hearsay),
            Object::Pod(pod) => {
                let is_sized = match author {
                    Author::Loop(by) => self.loops[by.0 as usize].name.as_str() == "ReplicaSet",
                    Author::You => false,
                };
                let wall = crate::api::Timestamp::from_millis(self.scenario.epoch_ms + now.0 as i64);
                let moment = Moment { now, wall, hearsay, is_sized };
                self.invariants.check_pod(objects, change, pod, &moment);
            }
            _ => {}
        }
    }

    /// Looks whether all is as it is wanted, after something that this depends on was written.
    pub(super) fn follow(&mut self, want: i32) {
        let objects = self.api.objects();
        let is_wanting = |it: &Object| it.meta().controller().is_none() && !is_met(objects, it);
        if self.invariants.course.unmet.as_ref().is_some_and(|(key, ..)| objects.get(key).is_some_and(is_wanting)) {
            return;
        }
        let unmet = super::wanting(objects).find(|it| !is_met(objects, it)).map(Object::key);
        let (now, seq, commands) = (self.queue.now(), self.trace.last_seq(), self.commands.len());
        let course = &mut self.invariants.course;
        match (unmet, &course.unmet) {
            (Some(key), None) => {
                // Nobody did anything since all was as it is wanted, and nobody wants anything else.
                if course.met == Some((want, commands)) {
                    let note = note!("**{}** did not stay as it was wanted, though nobody changed anything", &key.name);
                    cross(&mut course.strayed, seq, now, note);
                }
                course.unmet = Some((key, now, seq));
            }
            (None, Some((_, since, _))) => {
                course.took = Some(now.since(*since));
                course.unmet = None;
                course.met = Some((want, commands));
            }
            _ => {}
        }
    }

    /// What is known of the properties of the run so far.
    pub fn invariants(&self) -> &Invariants {
        &self.invariants
    }

    /// Whether every pod and every ReplicaSet has one controller at most, and one that is there.
    pub fn one_controller(&self) -> Standing {
        let objects = self.api.objects();
        let left = |it: &&Gone| objects.controlled_by(it.uid).next().is_some();
        let late = |it: &&Gone| self.now().since(it.at) > COLLECTED_WITHIN;
        let all = &self.invariants.gone;
        match all.iter().filter(left).find(late) {
            Some(it) => {
                let n = objects.controlled_by(it.uid).count();
                let note = note!("**{}** is gone, and {} objects still name it as their controller", &it.key.name, n);
                Standing::Broken(Breach { seq: it.seq, at: it.at, note, n: 1 })
            }
            None if objects.n_pods() == 0 => Standing::NotApplicable,
            None => Standing::Holds,
        }
    }

    /// Whether every workload comes to be as it is wanted within ten minutes, and stays so while nobody does anything.
    pub fn convergence(&self) -> Standing {
        let course = &self.invariants.course;
        if let Some((key, at, seq)) = &course.unmet
            && self.now().since(*at) > CONVERGES_WITHIN
        {
            let note = note!("**{}** is not as it is wanted, for more than ten minutes now", &key.name);
            return Standing::Broken(Breach { seq: *seq, at: *at, note, n: 1 });
        }
        match (&course.strayed, course.unmet.is_some() || course.met.is_some()) {
            (None, false) => Standing::NotApplicable,
            (strayed, _) => broken(strayed.as_ref()),
        }
    }

    /// Whether nobody has written a field that another manager owned.
    pub fn own_fields(&self) -> Standing {
        match (&self.invariants.taken, self.api.writes().iter().next()) {
            (None, None) if self.commands.is_empty() => Standing::NotApplicable,
            (taken, _) => broken(taken.as_ref()),
        }
    }

    /// How it stands with the most pods of a Deployment, and with the fewest that must be available.
    pub fn bounds_of(&self, deployment: &Deployment) -> [Standing; 2] {
        let known = self.invariants.bounds(deployment.metadata.uid);
        let floor = match is_rolling_update(&deployment.spec) {
            true => broken(known.and_then(|it| it.floor.as_ref())),
            false => Standing::NotApplicable,
        };
        [broken(known.and_then(|it| it.ceiling.as_ref())), floor]
    }
}
