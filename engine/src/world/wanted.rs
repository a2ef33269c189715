//! How many pods are wanted and how many are ready, as the record's curve shows it.

use super::invariants::tally;
use super::{Lane, Record, Simulation, Stroke};
use crate::api::{Job, Kind, Object, Uid};
use crate::apiserver::{ChangeKind, Objects};
use crate::client::{LoopIndex, What};
use crate::sim::Seq;

/// Kinds that ask for pods, in the order in which the first of them is looked at.
pub const WANTING: [Kind; 6] =
    [Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet, Kind::Job, Kind::ReplicaSet, Kind::Pod];

/// What may ask for pods, and nothing else made.
pub fn wanting(objects: &Objects) -> impl Iterator<Item = &Object> {
    let (made, bare) = WANTING.split_at(WANTING.len() - 1);
    let all = made.iter().flat_map(|kind| objects.of_kind(*kind));
    // Of pods only those that nothing made, without a look at the thousands of others.
    all.chain(bare.iter().flat_map(|kind| objects.all_orphans(*kind))).filter(|it| it.meta().controller().is_none())
}

/// How many pods an object wants to be ready now; nothing for what asks for none.
pub fn wanted(object: &Object) -> Option<i32> {
    Some(match object {
        Object::Deployment(it) => it.spec.wanted(),
        Object::ReplicaSet(it) => it.spec.wanted(),
        Object::StatefulSet(it) => it.spec.replicas.unwrap_or(1),
        Object::DaemonSet(it) => it.status.desired_number_scheduled,
        Object::Job(it) => runs_wanted(it),
        Object::Pod(it) => i32::from(it.is_active()),
        _ => return None,
    })
}

/// A Job wants pods until enough of them have succeeded.
fn runs_wanted(job: &Job) -> i32 {
    let is_over =
        job.status.conditions.iter().any(|it| matches!(it.kind.as_str(), "Complete" | "Failed") && it.is_true());
    if is_over || job.spec.suspend == Some(true) {
        return 0;
    }
    let at_once = job.spec.parallelism.unwrap_or(1);
    job.spec.completions.map_or(at_once, |n| (n - job.status.succeeded).clamp(0, at_once.max(0)))
}

/// Active and ready pods of something that wants pods, as counted by the API server's index.
fn ready(objects: &Objects, object: &Object) -> i32 {
    let of = |uid| objects.tally(uid).map_or(0, |it| it.ready);
    let uid = object.meta().uid;
    match object {
        Object::Deployment(it) => tally(objects, it, |it| it.ready),
        Object::Pod(it) => i32::from(it.is_active() && it.is_ready()),
        _ => of(uid),
    }
}

/// All of an object that the curve depends on.
fn worth(object: Option<&Object>) -> Option<(bool, Option<i32>, Option<Uid>)> {
    let object = object?;
    let is_up = object.as_pod().is_some_and(|pod| pod.is_active() && pod.is_ready());
    Some((is_up, wanted(object), object.meta().controller().map(|owner| owner.uid)))
}

fn is_silent(object: &Object) -> bool {
    object.as_node().is_some_and(|node| node.readiness() == "Unknown")
}

impl Simulation {
    /// Takes notice of a write: whether the balance of want and is may have moved.
    pub(super) fn weigh(&mut self, version: u64) {
        let Some(change) = self.api.change(version) else { return };
        let (old, new) = (change.old.as_ref(), Some(&change.object).filter(|_| change.kind != ChangeKind::Deleted));
        match change.key.kind {
            Kind::Node => {
                let name = &change.key.name;
                let (was, is) = (self.silent.contains(name), new.is_some_and(is_silent));
                if was != is {
                    self.silent.retain(|it| it != name);
                    self.silent.extend(is.then(|| name.clone()));
                    self.is_unbalanced = true;
                }
            }
            kind if WANTING.contains(&kind) => self.is_unbalanced |= worth(old) != worth(new),
            _ => {}
        }
    }

    /// Takes the balance of want and is down, where it may have moved.
    pub(super) fn balance(&mut self) {
        if !std::mem::take(&mut self.is_unbalanced) {
            return;
        }
        let objects = self.api.objects();
        let all = wanting(objects).map(|it| (wanted(it).unwrap_or(0), ready(objects, it)));
        let (want, ready) = all.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let unheard = self.silent.iter().flat_map(|node| objects.pods_on(node));
        let unheard = unheard.filter(|pod| pod.is_active() && pod.is_ready()).count();
        self.record.sample(self.queue.now(), want, (ready - i32::try_from(unheard).unwrap_or(i32::MAX)).max(0));
        self.follow(want);
    }

    /// Writes an event into the trace, and a mark for it into the record. Returns its number.
    pub(super) fn record(&mut self, cause: Option<Seq>, is_background: bool, what: What) -> Seq {
        self.record_on(self.lane(&what), cause, is_background, what)
    }

    pub(super) fn record_on(&mut self, lane: Lane, cause: Option<Seq>, is_background: bool, what: What) -> Seq {
        let (now, mark) = (self.queue.now(), what.mark());
        let seq = self.trace.record(now, cause, is_background, what);
        if !is_background {
            let is_yours = matches!(lane, Lane::You | Lane::Faults)
                || self.commands.binary_search(&self.trace.newest_root()).is_ok();
            self.record.add(Stroke { at: now, seq, lane, mark, is_yours });
        }
        seq
    }

    fn lane(&self, what: &What) -> Lane {
        match what {
            What::Commanded(_) => Lane::You,
            What::Faulted(_) => Lane::Faults,
            What::Began | What::Resynced | What::Wrote { .. } | What::Refused { .. } => Lane::Server,
            What::Happened { .. } => Lane::Kubelets,
            What::Outside { .. } => Lane::You,
            What::Ticked(at)
            | What::Told { to: at, .. }
            | What::Reached { by: at, .. }
            | What::Failed { by: at, .. }
            | What::Announced { by: at, .. } => self.lane_of(*at),
        }
    }

    /// The lane of a loop; all kubelets share one.
    pub fn lane_of(&self, at: LoopIndex) -> Lane {
        let process = self.loops.get(at.0 as usize).and_then(|it| self.processes.get(it.process));
        match process.is_some_and(|it| it.node().is_some()) {
            true => Lane::Kubelets,
            false => Lane::Loop(u8::try_from(at.0).unwrap_or(u8::MAX)),
        }
    }

    /// What a timeline shows of the run up to now.
    pub fn recorded(&self) -> &Record {
        &self.record
    }
}
