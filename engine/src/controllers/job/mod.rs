//! The Job controller: pods that run to their end, again and again until enough have.
//!
//! Mirrors `pkg/controller/job`, v1.36.

mod count;
mod index;
mod policy;
mod seen;
mod ttl;

use std::rc::Rc;

use serde_json::Value;

use count::{Backoff, End};
use seen::Seen;
pub use ttl::TtlAfterFinished;

use super::pods::{create_slowly, delete_all, finalizers_without, pod_from, pod_key, request};
use super::script::{Purpose, Script, Scripted};
use super::{Recorder, controller_key};
use crate::api::{Condition, Job, JobStatus, Kind, Object, ObjectKey, Pod, Timestamp, Uid, condition, fields};
use crate::apiserver::{Answer, Change, ChangeKind, EventDraft, Objects, PatchType, Verb};
use crate::client::{Action, Context, Expectations, Facts, Wakeup, observe_pod_of};
use crate::note;
use crate::sim::{Map, Millis, Set, Time};

const RECORDER: Recorder = Recorder("job-controller");
/// On a pod whose end has not been counted yet.
const FINALIZER: &str = "batch.kubernetes.io/job-tracking";
/// Changes of pods are looked at together (`SyncJobBatchPeriod`).
const BATCH: Millis = Millis(1_000);
const BURST: i32 = 500;
const UNCOUNTED: &str = "uncountedTerminatedPods";

/// Keeps the pods of each Job.
#[derive(Clone, Debug, Default)]
pub struct JobController {
    expectations: Expectations,
    backoffs: Map<ObjectKey, Backoff>,
    /// As it will be once the status that counts the ended pods is written.
    pending: Map<ObjectKey, Backoff>,
    /// Pods whose finalizer was asked to be taken off, until the cache knows (`uidTrackingExpectations`).
    released: Map<ObjectKey, Set<Uid>>,
}

/// When a Job came to its end, well or not.
pub fn finished_at(job: &Job) -> Option<Timestamp> {
    let over =
        job.status.conditions.iter().find(|it| matches!(it.kind.as_str(), "Complete" | "Failed") && it.is_true());
    over?.last_transition_time
}

fn is_tracked(pod: &Pod) -> bool {
    pod.metadata.finalizers.iter().any(|it| it == FINALIZER)
}

fn untrack(pod: &Pod) -> (Action, Purpose) {
    let patch = fields([("metadata", fields([("finalizers", finalizers_without(&pod.metadata, FINALIZER))]))]);
    (request(Verb::Patch(pod_key(pod), PatchType::Merge, patch)), Purpose::Plain)
}

/// The Event that goes with a change of the status.
fn purpose(before: &JobStatus, after: &JobStatus) -> Purpose {
    let turned = |kind: &str, on: bool| {
        let is = |status: &JobStatus| condition(&status.conditions, kind).map(Condition::is_true);
        is(after) == Some(on) && is(before) != Some(on)
    };
    if turned("Complete", true) {
        return Purpose::Tell("Completed", "Job completed".into(), false);
    }
    if turned("Failed", true) {
        let end = condition(&after.conditions, "Failed").and_then(End::of_condition);
        return end.map_or(Purpose::Plain, |end| Purpose::Tell(end.cause.reason(), end.message, true));
    }
    if turned("Suspended", true) {
        return Purpose::Tell("Suspended", "Job suspended".into(), false);
    }
    let was_suspended = condition(&before.conditions, "Suspended").is_some_and(Condition::is_true);
    if was_suspended && turned("Suspended", false) {
        return Purpose::Tell("Resumed", "Job resumed".into(), false);
    }
    Purpose::Plain
}

fn write_status(script: &mut Script, job: &Rc<Job>, status: JobStatus, version: u64, purpose: Purpose) {
    let facts: Facts = note!("write status: **{}** succeeded, **{}** failed", status.succeeded, status.failed).into();
    let mut job = Rc::clone(job);
    let it = Rc::make_mut(&mut job);
    (it.status, it.metadata.resource_version) = (status, version);
    let action = request(Verb::UpdateStatus(Object::Job(job)));
    script.send(facts.with(note!("PUT jobs/status")), vec![(action, purpose)]);
}

fn untrack_all(script: &mut Script, pods: &[&Rc<Pod>]) {
    let facts: Facts = note!("let **{}** ended {} go", pods.len(), super::pods::pod_noun(pods.len())).into();
    let requests = pods.iter().map(|pod| untrack(pod)).collect();
    script.send(facts.with(note!("PATCH pods: finalizer off")), requests);
}

impl Scripted for JobController {
    fn recorder(&self) -> Recorder {
        RECORDER
    }

    fn concerns(&mut self, change: &Change, cache: &Objects, _now: Time) -> Vec<Wakeup> {
        let key = change.key.clone();
        match &change.object {
            Object::Job(job) if change.kind == ChangeKind::Deleted => {
                self.expectations.forget(&key);
                self.backoffs.remove(&key);
                self.pending.remove(&key);
                self.released.remove(&key);
                let left = cache.owned(job.metadata.uid, Kind::Pod).map(|pod| (pod.key(), Millis(0)));
                left.collect()
            }
            // What its own status brings about waits, as what pods bring about does.
            Object::Job(job) => {
                let is_same = change.old.as_ref().is_some_and(|old| old.meta().generation == job.metadata.generation);
                vec![(key, if is_same { BATCH } else { Millis(0) })]
            }
            Object::Pod(pod) => {
                let Some(owner) = observe_pod_of(&mut self.expectations, Kind::Job, change) else { return Vec::new() };
                let lives = cache.get(&owner).is_some_and(|job| pod.metadata.is_controlled_by(job.meta().uid));
                match (lives, change.kind) {
                    (true, _) => vec![(owner, BATCH)],
                    (false, ChangeKind::Deleted) => Vec::new(),
                    (false, _) if is_tracked(pod) => vec![(key, Millis(0))],
                    (false, _) => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }

    fn plan(&mut self, context: &Context<'_>, key: &ObjectKey) -> Option<Script> {
        if key.kind == Kind::Pod {
            return orphan(context, key);
        }
        let job = context.cache.get(key)?.as_job().filter(|job| is_ours(job))?;
        let released = self.still_released(context, job, key);
        let mut seen = Seen::find(context, job, &released);
        let uids = seen.tracked.iter().map(|pod| pod.metadata.uid).chain(released.keys().copied());
        self.released.insert(key.clone(), uids.map(|uid| (uid, ())).collect());
        if finished_at(job).is_some() {
            seen.end = None;
            let mut script = seen.script(context.version, 0, 0, 0);
            script.explain(note!("is over"));
            untrack_all(&mut script, &seen.tracked);
            return Some(script);
        }
        let may_act = self.expectations.are_met(key, context);
        let backoff = self.backoffs.get(key).copied().unwrap_or_default().after(std::mem::take(&mut seen.newly_ended));
        let surplus = if may_act { seen.surplus(context) } else { Vec::new() };
        let missing = if may_act && surplus.is_empty() { seen.missing() } else { 0 };
        let (due, wait) = seen.due(missing, backoff, context.wall_millis);
        let mut script = seen.script(context.version, missing, surplus.len(), wait);
        let created = i32::try_from(due.len()).unwrap_or(i32::MAX);
        if created > 0 || !surplus.is_empty() {
            let uids = surplus.iter().map(|pod| pod.metadata.uid);
            self.expectations.expect(key, created.into(), uids, context.now);
        }
        let gone = i32::try_from(surplus.len()).unwrap_or(0);
        delete_all(&mut script, &surplus);
        create_slowly(&mut script, due.into_iter().map(|index| new_pod(job, &seen, index)));
        let first = seen.status(seen.count.active + created - gone, context.wall);
        let last = seen.counted(first.clone(), context.wall);
        self.pending.insert(key.clone(), backoff);
        let counts = seen.has_news();
        if counts && first != job.status {
            let version = job.metadata.resource_version;
            write_status(&mut script, job, first.clone(), version, purpose(&job.status, &first));
        }
        untrack_all(&mut script, &seen.tracked);
        let known = if counts { &first } else { &job.status };
        if last != *known {
            let version = if counts { 0 } else { job.metadata.resource_version };
            let told = purpose(known, &last);
            write_status(&mut script, job, last, version, told);
        }
        if wait > 0 {
            script.look_again(Millis(wait));
        }
        if let (Some(limit), Some(start), None) = (job.spec.active_deadline_seconds, job.status.start_time, &seen.end) {
            let left = u64::try_from((start.0 + limit) * 1000 - context.wall_millis).unwrap_or(0);
            script.look_again(Millis(left.max(1)));
        }
        Some(script)
    }

    fn done(&mut self, key: &ObjectKey, purpose: &Purpose, answer: &Answer) -> Option<EventDraft> {
        if matches!(answer.object, Object::Job(_))
            && let Some(backoff) = self.pending.remove(key)
        {
            self.backoffs.insert(key.clone(), backoff);
        }
        super::script::tell_success(RECORDER, key, purpose, answer)
    }

    fn undone(&mut self, key: &ObjectKey, purpose: &Purpose, error: Option<&str>) -> Option<EventDraft> {
        self.released.remove(key);
        super::script::lower(&mut self.expectations, key, purpose);
        super::script::tell_refusal(RECORDER, key, purpose, error)
    }
}

impl JobController {
    /// Of the pods that were let go those of which the cache does not know it yet.
    fn still_released(&self, context: &Context<'_>, job: &Job, key: &ObjectKey) -> Set<Uid> {
        let Some(released) = self.released.get(key).filter(|all| !all.is_empty()) else { return Set::default() };
        let pods = context.cache.owned(job.metadata.uid, Kind::Pod).filter_map(Object::as_pod);
        let known = pods.filter(|pod| is_tracked(pod) && released.contains(&pod.metadata.uid));
        known.map(|pod| (pod.metadata.uid, ())).collect()
    }
}

/// Whether no other controller looks after the Job (`managedBy`).
fn is_ours(job: &Job) -> bool {
    job.spec.extra.get("managedBy").and_then(Value::as_str).is_none_or(|name| name == "kubernetes.io/job-controller")
}

fn new_pod(job: &Job, seen: &Seen<'_>, index: Option<i32>) -> Pod {
    let mut pod = pod_from(&job.spec.template, &job.metadata, Kind::Job);
    if let Some(index) = index {
        index::mark(&mut pod, &job.metadata.name, index, seen.failures_of(index));
    }
    pod.metadata.finalizers.push(FINALIZER.into());
    pod
}

/// A pod whose Job is gone: nobody will count it (`syncOrphanPod`).
fn orphan(context: &Context<'_>, key: &ObjectKey) -> Option<Script> {
    let object = context.cache.get(key)?;
    let pod = object.as_pod().filter(|pod| is_tracked(pod))?;
    let owner = controller_key(object, Kind::Job)?;
    let lives = context.cache.get(&owner).is_some_and(|job| pod.metadata.is_controlled_by(job.meta().uid));
    if lives {
        return None;
    }
    let facts: Facts = note!("**{}** waits to be counted", &key.name).into();
    let mut script = Script::new(facts, note!("its Job is **gone**").into());
    untrack_all(&mut script, &[pod]);
    Some(script)
}
