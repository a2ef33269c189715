//! What a turn for a Job finds, and what it comes to.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::{Value, json};

use super::count::{Backoff, Cause, Count, End, Wish, end, wanted};
use super::policy::{self, Verdict};
use super::{BURST, UNCOUNTED, index, is_tracked};
use crate::api::{Condition, ContainerState, Job, JobStatus, Kind, Object, Pod, Timestamp, Uid, condition};
use crate::client::{Arg, Context, Facts};
use crate::controllers::replicaset::pods_to_delete;
use crate::controllers::script::Script;
use crate::note;
use crate::sim::{Map, Set};

/// When a pod came to its end (`getFinishedTime`).
fn ended_at(pod: &Pod) -> Timestamp {
    let statuses = &pod.status.container_statuses;
    let ends = statuses.iter().filter_map(|status| match &status.state {
        ContainerState::Terminated(it) => Some(it.finished_at),
        _ => None,
    });
    let ends: Vec<Timestamp> = ends.collect();
    let last = ends.iter().max().copied().filter(|_| ends.len() == statuses.len());
    let unready = || condition(&pod.status.conditions, "Ready").filter(|it| it.status == "False")?.last_transition_time;
    let deleted = || {
        let grace = pod.metadata.deletion_grace_period_seconds.unwrap_or(0);
        pod.metadata.deletion_timestamp.map(|at| Timestamp(at.0.saturating_sub(grace)))
    };
    last.or_else(unready).or_else(deleted).or(pod.metadata.creation_timestamp).unwrap_or_default()
}

fn uncounted(status: &JobStatus, which: &str) -> BTreeSet<String> {
    let list = status.extra.get(UNCOUNTED).and_then(|it| it.get(which)).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|it| it.as_str().map(Into::into)).collect()
}

fn size<T>(set: &BTreeSet<T>) -> i32 {
    i32::try_from(set.len()).unwrap_or(i32::MAX)
}

/// How a Job wants its pods' ends to be taken.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    /// How many numbers there are; nothing where pods have none.
    indexes: Option<i32>,
    /// How often each number may fail, where each is judged by itself.
    per_index: Option<i32>,
    /// A pod on its way out is replaced once it has ended, and counts as failed only then.
    waits_for_ends: bool,
    failures: Option<&'a Value>,
    successes: Option<&'a Value>,
}

impl<'a> Rules<'a> {
    fn of(job: &'a Job) -> Self {
        let extra = &job.spec.extra;
        let number = |key: &str| extra.get(key).and_then(Value::as_i64).and_then(|it| i32::try_from(it).ok());
        let failures = extra.get("podFailurePolicy");
        Self {
            indexes: job.spec.completions.filter(|_| job.spec.completion_mode == "Indexed"),
            per_index: number("backoffLimitPerIndex"),
            waits_for_ends: failures.is_some() || extra.get("podReplacementPolicy") == Some(&json!("Failed")),
            failures,
            successes: extra.get("successPolicy"),
        }
    }

    /// `isPodFailed`
    fn has_failed(&self, pod: &Pod) -> bool {
        match pod.status.phase.as_str() {
            "Failed" => true,
            "Succeeded" => false,
            _ => pod.is_terminating() && !self.waits_for_ends,
        }
    }

    /// A pod's number; nothing where it counts for nothing.
    fn index(&self, pod: &Pod) -> Option<i32> {
        match self.indexes {
            Some(indexes) => index::of(pod, indexes),
            None => Some(0),
        }
    }
}

/// What a turn looks at.
pub(super) struct Seen<'a> {
    job: &'a Rc<Job>,
    rules: Rules<'a>,
    active: Vec<Rc<Pod>>,
    /// On their way out, and not ended.
    leaving: Vec<&'a Rc<Pod>>,
    /// Ended pods that still carry the finalizer and need it no longer.
    pub tracked: Vec<&'a Rc<Pod>>,
    succeeded: BTreeSet<String>,
    failed: BTreeSet<String>,
    completed: Set<i32>,
    failed_indexes: Set<i32>,
    /// The newest failed pod of a number that is to be tried again: it tells its replacement how often that failed.
    delayed: Map<i32, &'a Rc<Pod>>,
    pub newly_ended: Vec<(Timestamp, bool)>,
    pub count: Count,
    pub wish: Wish,
    pub end: Option<End>,
}

impl<'a> Seen<'a> {
    /// Pods in `released` have been counted; the cache does not know yet.
    pub fn find(context: &Context<'a>, job: &'a Rc<Job>, released: &Set<Uid>) -> Self {
        let (spec, status) = (&job.spec, &job.status);
        let rules = Rules::of(job);
        let known = |field: &str| {
            let text = status.extra.get(field).and_then(Value::as_str).unwrap_or_default();
            rules.indexes.map(|indexes| index::read(text, indexes)).unwrap_or_default()
        };
        let deadline = spec.active_deadline_seconds.zip(status.start_time).map(|(limit, start)| start.0 + limit);
        let mut seen = Self {
            job,
            rules,
            active: Vec::new(),
            leaving: Vec::new(),
            tracked: Vec::new(),
            succeeded: uncounted(status, "succeeded"),
            failed: uncounted(status, "failed"),
            completed: known("completedIndexes"),
            failed_indexes: known("failedIndexes"),
            delayed: Map::default(),
            newly_ended: Vec::new(),
            count: Count { restarts_on_failure: spec.template.spec.restart_policy == "OnFailure", ..Count::default() },
            wish: Wish {
                parallelism: spec.parallelism.unwrap_or(1),
                completions: spec.completions,
                backoff_limit: spec.backoff_limit.unwrap_or(6),
                is_suspended: spec.suspend == Some(true),
                is_late: deadline.is_some_and(|deadline| deadline <= context.wall.0),
            },
            end: None,
        };
        let (lost, complaint) = seen.sort(context, released);
        let (settled, open) = seen.delay(&lost);
        for pod in &settled {
            seen.count_failure(pod);
        }
        seen.count.succeeded = match rules.indexes {
            Some(_) => i32::try_from(seen.completed.len()).unwrap_or(i32::MAX),
            None => status.succeeded + size(&seen.succeeded),
        };
        seen.end = seen.decide(complaint, open.len());
        seen.release_for_end(&open);
        seen.count.failed = status.failed + size(&seen.failed);
        seen
    }

    /// Sorts the Job's pods. Returns those that failed and were not counted yet, and why the Job must fail, where its
    /// own policy says so of one of them.
    fn sort(&mut self, context: &Context<'a>, released: &Set<Uid>) -> (Vec<&'a Rc<Pod>>, Option<String>) {
        let (mut lost, mut complaint) = (Vec::new(), None);
        for pod in context.cache.owned(self.job.metadata.uid, Kind::Pod).filter_map(Object::as_pod) {
            self.count.terminating += i32::from(pod.counts_as_terminating());
            if pod.is_active() {
                self.count.ready += i32::from(pod.is_ready());
                self.count.restarts += pod.restarts();
                self.active.push(Rc::clone(pod));
                continue;
            }
            let has_failed = self.rules.has_failed(pod);
            if let (true, None, Verdict::FailJob(message)) =
                (has_failed, &complaint, policy::judge(self.rules.failures.filter(|_| has_failed), pod))
            {
                complaint = Some(message);
            }
            if pod.counts_as_terminating() {
                self.leaving.push(pod);
            }
            if !is_tracked(pod) || released.contains(&pod.metadata.uid) {
                continue;
            }
            if pod.status.phase == "Succeeded" {
                self.count_success(pod);
            } else if has_failed {
                lost.push(pod);
            }
        }
        self.count.active = i32::try_from(self.active.len()).unwrap_or(i32::MAX);
        (lost, complaint)
    }

    fn count_success(&mut self, pod: &'a Rc<Pod>) {
        self.tracked.push(pod);
        let Some(index) = self.rules.index(pod) else { return };
        let is_new = match self.rules.indexes {
            Some(_) => self.completed.add(index),
            None => self.succeeded.insert(pod.metadata.uid.to_string()),
        };
        if is_new {
            self.newly_ended.push((ended_at(pod), true));
        }
    }

    /// Parts the failed pods into those that are done with and those that wait for their replacement
    /// (`getPodsWithDelayedDeletionPerIndex`).
    fn delay(&mut self, lost: &[&'a Rc<Pod>]) -> (Vec<&'a Rc<Pod>>, Vec<&'a Rc<Pod>>) {
        let Some(limit) = self.rules.per_index.filter(|_| self.rules.indexes.is_some()) else {
            return (lost.to_vec(), Vec::new());
        };
        for pod in lost {
            let Some(index) = self.rules.index(pod) else { continue };
            match policy::judge(self.rules.failures, pod) {
                Verdict::Ignore => {}
                Verdict::FailIndex => {
                    self.failed_indexes.add(index);
                }
                _ if index::failures(pod).0 >= limit => {
                    self.failed_indexes.add(index);
                }
                _ => {}
            }
        }
        let active: Set<i32> = self.active.iter().filter_map(|pod| Some((self.rules.index(pod)?, ()))).collect();
        for pod in lost {
            let Some(index) = self.rules.index(pod) else { continue };
            if self.completed.contains(&index) || self.failed_indexes.contains(&index) || active.contains(&index) {
                continue;
            }
            let is_newer =
                |known: &Pod| index::failures(known).1 <= index::failures(pod).1 && ended_at(pod) >= ended_at(known);
            if self.delayed.get(&index).is_none_or(|known| is_newer(known)) {
                self.delayed.insert(index, pod);
            }
        }
        let waits = |pod: &Rc<Pod>| self.delayed.values().any(|it| Rc::ptr_eq(it, pod));
        lost.iter().partition(|pod| !waits(pod))
    }

    fn count_failure(&mut self, pod: &'a Rc<Pod>) {
        self.tracked.push(pod);
        let uid = pod.metadata.uid.to_string();
        if self.rules.index(pod).is_none() || self.failed.contains(&uid) {
            return;
        }
        self.newly_ended.push((ended_at(pod), false));
        if policy::judge(self.rules.failures, pod) != Verdict::Ignore {
            self.failed.insert(uid);
        }
    }

    /// Whether the Job is over. What was decided once stays.
    fn decide(&self, complaint: Option<String>, open: usize) -> Option<End> {
        let conditions = &self.job.status.conditions;
        let decided = |kind| condition(conditions, kind).filter(|it| it.is_true());
        if let Some(known) = decided("SuccessCriteriaMet").or_else(|| decided("FailureTarget")) {
            return End::of_condition(known);
        }
        if let Some(message) = complaint {
            return Some(End { cause: Cause::FailurePolicy, message });
        }
        let open = i32::try_from(open).unwrap_or(i32::MAX);
        let failed = self.job.status.failed.saturating_add(size(&self.failed)).saturating_add(open);
        match end(self.wish, Count { failed, ..self.count }) {
            Some(Cause::Complete) | None => {}
            Some(cause) => return Some(cause.into()),
        }
        self.end_by_indexes().or_else(|| end(self.wish, self.count).map(End::from))
    }

    fn end_by_indexes(&self) -> Option<End> {
        let indexes = self.rules.indexes?;
        let failed = self.failed_indexes.len() as u64;
        if self.rules.per_index.is_some() && failed > 0 {
            let most = self.job.spec.extra.get("maxFailedIndexes").and_then(Value::as_u64);
            if most.is_some_and(|most| failed > most) {
                return Some(Cause::TooManyFailedIndexes.into());
            }
            if failed + self.completed.len() as u64 >= u64::try_from(indexes).unwrap_or(0) {
                return Some(Cause::FailedIndexes.into());
            }
        }
        let message = policy::succeeds(self.rules.successes, &self.completed, indexes)?;
        Some(End { cause: Cause::SuccessPolicy, message })
    }

    /// When the Job is over, nothing waits any longer: not for a replacement, nor for its end.
    fn release_for_end(&mut self, open: &[&'a Rc<Pod>]) {
        let Some(end) = &self.end else { return };
        let is_success = end.cause.is_success();
        for pod in open {
            self.count_failure(pod);
        }
        self.delayed.clear();
        if self.rules.waits_for_ends {
            for pod in self.leaving.clone() {
                match (is_tracked(pod), is_success) {
                    (true, false) => self.count_failure(pod),
                    (true, true) => self.tracked.push(pod),
                    _ => {}
                }
            }
        }
    }

    /// Pods that are not wanted any more.
    pub fn surplus(&self, context: &Context<'_>) -> Vec<Rc<Pod>> {
        let wanted = if self.end.is_some() { 0 } else { wanted(self.wish, self.count) };
        let least = usize::try_from(self.count.active - wanted).unwrap_or(0);
        let victims = |pods: &[Rc<Pod>], count| pods_to_delete(pods, &self.active, count, context.wall_millis);
        let (mut surplus, rest) = match self.rules.indexes {
            Some(indexes) => index::split_doubles(&self.active, indexes, |pods| victims(pods, pods.len() - 1)),
            None => (Vec::new(), self.active.clone()),
        };
        if surplus.len() < least {
            surplus.extend(victims(&rest, least - surplus.len()));
        }
        surplus.truncate(usize::try_from(BURST).unwrap_or(usize::MAX));
        surplus
    }

    /// How many pods are missing, the back-off aside.
    pub fn missing(&self) -> i32 {
        let is_going = self.job.metadata.deletion_timestamp.is_some();
        if is_going || self.end.is_some() {
            return 0;
        }
        let still_there = if self.rules.waits_for_ends { self.count.terminating } else { 0 };
        (wanted(self.wish, self.count) - self.count.active - still_there).clamp(0, BURST)
    }

    /// The numbers of the pods to make now, and how many ms to wait where none may be made yet.
    pub fn due(&self, missing: i32, backoff: Backoff, now_millis: i64) -> (Vec<Option<i32>>, u64) {
        let wait = if missing > 0 && self.rules.per_index.is_none() { backoff.left(now_millis) } else { 0 };
        if missing <= 0 || wait > 0 {
            return (Vec::new(), wait);
        }
        let Some(indexes) = self.rules.indexes else {
            return (vec![None; usize::try_from(missing).unwrap_or(0)], 0);
        };
        let mut taken = self.completed.clone();
        let leaving = self.leaving.iter().copied().filter(|_| self.rules.waits_for_ends);
        let there = self.active.iter().chain(leaving).filter_map(|pod| self.rules.index(pod));
        for index in there.chain(self.failed_indexes.keys().copied()) {
            taken.add(index);
        }
        let pending = index::first_pending(&taken, missing, indexes);
        let waits: Vec<u64> = pending.iter().map(|index| self.wait_of(*index, now_millis)).collect();
        let ready = pending.iter().zip(&waits).filter(|(_, wait)| **wait == 0).map(|(index, _)| Some(*index));
        let ready: Vec<Option<i32>> = ready.collect();
        let wait = if ready.is_empty() { waits.into_iter().min().unwrap_or(0) } else { 0 };
        (ready, wait)
    }

    /// How long a number must wait after its last failure (`getRemainingTimePerIndex`).
    fn wait_of(&self, index: i32, now_millis: i64) -> u64 {
        self.delayed.get(&index).map_or(0, |pod| {
            let failures = u32::try_from(index::failures(pod).1).unwrap_or(0) + 1;
            Backoff { failures, last: ended_at(pod) }.left(now_millis)
        })
    }

    /// How often a number failed before the pod that is made now, where the Job counts that.
    pub fn failures_of(&self, index: i32) -> Option<(i32, i32)> {
        self.rules.per_index?;
        let Some(pod) = self.delayed.get(&index) else { return Some((0, 0)) };
        let (counted, all) = index::failures(pod);
        let counts = policy::judge(self.rules.failures, pod) != Verdict::Ignore;
        Some((counted + i32::from(counts), all + 1))
    }

    /// Whether ended pods are to be written down before they are let go.
    pub fn has_news(&self) -> bool {
        let known = &self.job.status;
        let is_known = |field: &str, all: &Set<i32>| {
            known.extra.get(field).and_then(Value::as_str).unwrap_or_default() == index::write(all)
        };
        let is_settled =
            is_known("completedIndexes", &self.completed) && is_known("failedIndexes", &self.failed_indexes);
        !(is_settled && self.succeeded.is_empty() && self.failed.is_empty())
    }

    /// The status before ended pods are counted: `active` is what will be there after this turn.
    pub fn status(&self, active: i32, now: Timestamp) -> JobStatus {
        let mut status = self.job.status.clone();
        (status.active, status.ready) = (active, Some(self.count.ready.min(active)));
        status.terminating = Some(self.count.terminating);
        let mut lists = serde_json::Map::new();
        for (name, set) in [("failed", &self.failed), ("succeeded", &self.succeeded)] {
            if !set.is_empty() {
                lists.insert(name.into(), json!(set));
            }
        }
        status.extra.insert(UNCOUNTED.into(), Value::Object(lists));
        if self.rules.indexes.is_some() {
            status.succeeded = self.count.succeeded;
            if !self.completed.is_empty() {
                status.extra.insert("completedIndexes".into(), index::write(&self.completed).into());
            }
            if self.rules.per_index.is_some() {
                status.extra.insert("failedIndexes".into(), index::write(&self.failed_indexes).into());
            }
        }
        let known = condition(&status.conditions, "Suspended").map(Condition::is_true);
        if let Some(end) = &self.end {
            let kind = if end.cause.is_success() { "SuccessCriteriaMet" } else { "FailureTarget" };
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
    pub fn counted(&self, mut status: JobStatus, now: Timestamp) -> JobStatus {
        (status.succeeded, status.failed) = (self.count.succeeded, self.count.failed);
        status.extra.insert(UNCOUNTED.into(), json!({}));
        if let Some(end) = self.end.as_ref().filter(|_| self.count.active == 0 && self.count.terminating == 0) {
            let is_success = end.cause.is_success();
            conclude(&mut status, if is_success { "Complete" } else { "Failed" }, end, now);
            if is_success {
                status.completion_time = Some(now);
            }
        }
        status
    }

    pub fn script(&self, version: u64, missing: i32, surplus: usize, wait: u64) -> Script {
        let count = &self.count;
        let facts: Facts =
            note!("**{}** active, **{}** succeeded, **{}** failed", count.active, count.succeeded, count.failed).into();
        let facts = facts.with(note!("cache rv {}", version));
        let differs: Facts = match &self.end {
            Some(end) if end.cause.is_success() => note!("enough have **succeeded**").into(),
            Some(end) => {
                let facts: Facts = note!("it has **failed**").into();
                facts.with(note!("{}", end.cause.reason()))
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

fn conclude(status: &mut JobStatus, kind: &'static str, end: &End, now: Timestamp) {
    if condition(&status.conditions, kind).is_none() {
        let mut new = Condition::new(kind, true).because(end.cause.reason(), end.message.clone());
        new.last_transition_time = Some(now);
        status.conditions.push(new);
    }
}

fn set_suspended(status: &mut JobStatus, is_on: bool, now: Timestamp) {
    let (reason, message) = if is_on { ("JobSuspended", "Job suspended") } else { ("JobResumed", "Job resumed") };
    crate::api::set_condition(&mut status.conditions, Condition::new("Suspended", is_on).because(reason, message), now);
}
