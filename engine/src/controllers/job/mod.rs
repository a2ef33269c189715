//! The Job controller: pods that run to their end, again and again until enough have.
//!
//! Mirrors `pkg/controller/job/job_controller.go`, v1.36. Fidelity: Indexed Jobs, failure policies and success
//! policies count as plain Jobs.

mod count;
mod ttl;

use std::rc::Rc;

use serde_json::Value;

pub use count::{Backoff, Count, End, Wish, end, wanted};
pub use ttl::TtlAfterFinished;

use super::pods::{create_slowly, delete_all, finalizers_without, pod_from, pod_key, request};
use super::replicaset::pods_to_delete;
use super::script::{Purpose, Script, Scripted};
use super::{Recorder, controller_key};
use crate::api::{
    Condition, ContainerState, Job, JobStatus, Kind, Name, Object, ObjectKey, Pod, Timestamp, condition, fields,
};
use crate::apiserver::{Answer, Change, ChangeKind, EventDraft, Objects, PatchType, Verb};
use crate::client::{Action, Arg, Context, Expectations, Facts, Wakeup, observe_pod_of};
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

/// When a pod's last container ended.
fn ended_at(pod: &Pod, now: Timestamp) -> Timestamp {
    let ends = pod.status.container_statuses.iter().filter_map(|status| match &status.state {
        ContainerState::Terminated(it) => Some(it.finished_at),
        _ => None,
    });
    ends.max().unwrap_or(now)
}

fn uncounted(status: &JobStatus, which: &str) -> Set<Name> {
    let list = status.extra.get(UNCOUNTED).and_then(|it| it.get(which)).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|it| Some((it.as_str()?.into(), ()))).collect()
}

/// What a turn looks at.
struct Seen<'a> {
    job: &'a Rc<Job>,
    active: Vec<Rc<Pod>>,
    /// Ended pods that still carry the finalizer.
    tracked: Vec<&'a Rc<Pod>>,
    succeeded: Set<Name>,
    failed: Set<Name>,
    newly_ended: Vec<(Timestamp, bool)>,
    count: Count,
    wish: Wish,
    end: Option<End>,
}

impl<'a> Seen<'a> {
    fn find(context: &Context<'a>, job: &'a Rc<Job>) -> Self {
        let (spec, status) = (&job.spec, &job.status);
        let is_on_failure = spec.template.spec.restart_policy == "OnFailure";
        let mut count = Count { restarts_on_failure: is_on_failure, ..Count::default() };
        let (mut active, mut tracked, mut newly_ended) = (Vec::new(), Vec::new(), Vec::new());
        let (mut succeeded, mut failed) = (uncounted(status, "succeeded"), uncounted(status, "failed"));
        for pod in context.cache.owned(job.metadata.uid, Kind::Pod).filter_map(Object::as_pod) {
            count.terminating += i32::from(pod.is_terminating() && !pod.is_finished());
            if pod.is_active() {
                count.ready += i32::from(pod.is_ready());
                count.restarts += pod.restarts();
                active.push(Rc::clone(pod));
                continue;
            }
            if !is_tracked(pod) {
                continue;
            }
            tracked.push(pod);
            // A pod that is being deleted counts as failed at once, whatever will become of it.
            let is_well = pod.status.phase == "Succeeded";
            let list = if is_well { &mut succeeded } else { &mut failed };
            if list.add(pod.metadata.uid.to_string().into()) {
                newly_ended.push((ended_at(pod, context.wall), is_well));
            }
        }
        let size = |set: &Set<Name>| i32::try_from(set.len()).unwrap_or(i32::MAX);
        count.active = i32::try_from(active.len()).unwrap_or(i32::MAX);
        count.succeeded = status.succeeded + size(&succeeded);
        count.failed = status.failed + size(&failed);
        let deadline = spec.active_deadline_seconds.zip(status.start_time).map(|(limit, start)| start.0 + limit);
        let wish = Wish {
            parallelism: spec.parallelism.unwrap_or(1),
            completions: spec.completions,
            backoff_limit: spec.backoff_limit.unwrap_or(6),
            is_suspended: spec.suspend == Some(true),
            is_late: deadline.is_some_and(|deadline| deadline <= context.wall.0),
        };
        let decided = |kind| condition(&status.conditions, kind).filter(|it| it.is_true());
        let target = decided("FailureTarget").or_else(|| decided("SuccessCriteriaMet"));
        let end = target.and_then(|it| End::of_reason(&it.reason)).or_else(|| end(wish, count));
        Self { job, active, tracked, succeeded, failed, newly_ended, count, wish, end }
    }

    /// Pods that are not wanted any more.
    fn surplus(&self, context: &Context<'_>) -> Vec<Rc<Pod>> {
        let wanted = if self.end.is_some() { 0 } else { wanted(self.wish, self.count) };
        let surplus = usize::try_from((self.count.active - wanted).min(BURST)).unwrap_or(0);
        if surplus == 0 {
            return Vec::new();
        }
        pods_to_delete(&self.active, &self.active, surplus, context.wall_millis)
    }

    /// How many pods are missing, the back-off aside.
    fn missing(&self) -> i32 {
        let is_going = self.job.metadata.deletion_timestamp.is_some();
        if is_going || self.end.is_some() {
            return 0;
        }
        let replaces_only_failed = self.job.spec.extra.get("podReplacementPolicy").is_some_and(|it| it == "Failed");
        let still_there = if replaces_only_failed { self.count.terminating } else { 0 };
        (wanted(self.wish, self.count) - self.count.active - still_there).clamp(0, BURST)
    }

    /// The status before ended pods are counted: `active` is what will be there after this turn.
    fn status(&self, active: i32, now: Timestamp) -> JobStatus {
        let mut status = self.job.status.clone();
        (status.active, status.ready) = (active, Some(self.count.ready.min(active)));
        status.terminating = Some(self.count.terminating);
        let mut lists = serde_json::Map::new();
        for (name, set) in [("failed", &self.failed), ("succeeded", &self.succeeded)] {
            if !set.is_empty() {
                lists.insert(name.into(), set.keys().map(|it| Value::from(it.as_str())).collect());
            }
        }
        status.extra.insert(UNCOUNTED.into(), Value::Object(lists));
        let known = condition(&status.conditions, "Suspended").map(Condition::is_true);
        if let Some(end) = self.end {
            let kind = if end.is_success() { "SuccessCriteriaMet" } else { "FailureTarget" };
            conclude(&mut status, kind, end, now);
        } else if self.wish.is_suspended && known != Some(true) {
            set_suspended(&mut status, true, now);
            status.start_time = None;
        } else if !self.wish.is_suspended && known == Some(true) {
            set_suspended(&mut status, false, now);
            status.start_time = Some(now);
        }
        if !self.wish.is_suspended {
            status.start_time.get_or_insert(now);
        }
        status
    }

    /// The status once ended pods are counted; the last one where nothing of the Job is left.
    fn counted(&self, mut status: JobStatus, now: Timestamp) -> JobStatus {
        (status.succeeded, status.failed) = (self.count.succeeded, self.count.failed);
        status.extra.insert(UNCOUNTED.into(), fields([]));
        if let Some(end) = self.end.filter(|_| self.count.active == 0 && self.count.terminating == 0) {
            conclude(&mut status, if end.is_success() { "Complete" } else { "Failed" }, end, now);
            if end.is_success() {
                status.completion_time = Some(now);
            }
        }
        status
    }

    fn script(&self, version: u64, missing: i32, surplus: usize, wait: u64) -> Script {
        let count = &self.count;
        let facts: Facts =
            note!("**{}** active, **{}** succeeded, **{}** failed", count.active, count.succeeded, count.failed).into();
        let facts = facts.with(note!("cache rv {}", version));
        let differs: Facts = match self.end {
            Some(end) if end.is_success() => note!("enough have **succeeded**").into(),
            Some(end) => {
                let facts: Facts = note!("it has **failed**").into();
                facts.with(note!("{}", end.reason()))
            }
            None if wait > 0 => {
                let facts: Facts = note!("**{}** missing, but waits **{}**", missing, Arg::Millis(wait)).into();
                facts.with(note!("back-off after a failure"))
            }
            None if missing > 0 => note!("**{}** missing", missing).into(),
            None if surplus > 0 => note!("**{}** too many", surplus).into(),
            None if self.wish.is_suspended => note!("is suspended").into(),
            None => note!("as many as should be").into(),
        };
        Script::new(facts, differs)
    }
}

fn conclude(status: &mut JobStatus, kind: &str, end: End, now: Timestamp) {
    if condition(&status.conditions, kind).is_none() {
        let mut new = Condition::new(kind, true).because(end.reason(), end.message());
        new.last_transition_time = Some(now);
        status.conditions.push(new);
    }
}

fn set_suspended(status: &mut JobStatus, is_on: bool, now: Timestamp) {
    let (reason, message) = if is_on { ("JobSuspended", "Job suspended") } else { ("JobResumed", "Job resumed") };
    crate::api::set_condition(&mut status.conditions, Condition::new("Suspended", is_on).because(reason, message), now);
}

/// The Event that goes with a change of the status.
fn purpose(before: &JobStatus, after: &JobStatus) -> Purpose {
    let turned = |kind: &str, on: bool| {
        let is = |status: &JobStatus| condition(&status.conditions, kind).map(Condition::is_true);
        is(after) == Some(on) && is(before) != Some(on)
    };
    if turned("Complete", true) {
        return Purpose::Tell("Completed", "Job completed", false);
    }
    if turned("Failed", true) {
        let reason = condition(&after.conditions, "Failed").and_then(|it| End::of_reason(&it.reason));
        return reason.map_or(Purpose::Plain, |end| Purpose::Tell(end.reason(), end.message(), true));
    }
    if turned("Suspended", true) {
        return Purpose::Tell("Suspended", "Job suspended", false);
    }
    let was_suspended = condition(&before.conditions, "Suspended").is_some_and(Condition::is_true);
    if was_suspended && turned("Suspended", false) {
        return Purpose::Tell("Resumed", "Job resumed", false);
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
        let key = change.object.key();
        match &change.object {
            Object::Job(job) if change.kind == ChangeKind::Deleted => {
                self.expectations.forget(&key);
                self.backoffs.remove(&key);
                self.pending.remove(&key);
                let left = cache.owned(job.metadata.uid, Kind::Pod).map(|pod| (pod.key(), Millis(0)));
                left.collect()
            }
            Object::Job(_) => vec![(key, Millis(0))],
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
        let job = context.cache.get(key)?.as_job()?;
        let mut seen = Seen::find(context, job);
        if finished_at(job).is_some() {
            seen.end = None;
            let mut script = seen.script(context.version, 0, 0, 0);
            script.explain(note!("is over"));
            untrack_all(&mut script, &seen.tracked);
            return Some(script);
        }
        let may_act = self.expectations.are_met(key, context.now);
        let backoff = self.backoffs.get(key).copied().unwrap_or_default().after(std::mem::take(&mut seen.newly_ended));
        let missing = if may_act { seen.missing() } else { 0 };
        let wait = if missing > 0 { backoff.left(context.wall_millis) } else { 0 };
        let surplus = if may_act { seen.surplus(context) } else { Vec::new() };
        let mut script = seen.script(context.version, missing, surplus.len(), wait);
        let created = if wait > 0 { 0 } else { missing };
        if created > 0 || !surplus.is_empty() {
            let uids = surplus.iter().map(|pod| pod.metadata.uid);
            self.expectations.expect(key, created.into(), uids, context.now);
        }
        let gone = i32::try_from(surplus.len()).unwrap_or(0);
        delete_all(&mut script, &surplus);
        create_slowly(&mut script, (0..created).map(|_| new_pod(job)));
        let first = seen.status(seen.count.active + created - gone, context.wall);
        let last = seen.counted(first.clone(), context.wall);
        self.pending.insert(key.clone(), backoff);
        let counts = !(seen.succeeded.is_empty() && seen.failed.is_empty());
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
        if let (Some(limit), Some(start), None) = (job.spec.active_deadline_seconds, job.status.start_time, seen.end) {
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
        super::script::lower(&mut self.expectations, key, purpose);
        super::script::tell_refusal(RECORDER, key, purpose, error)
    }
}

fn new_pod(job: &Job) -> Pod {
    let mut pod = pod_from(&job.spec.template, &job.metadata, Kind::Job);
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
