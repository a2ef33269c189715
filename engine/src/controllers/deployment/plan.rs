//! What one turn of the Deployment controller will write, decided before the first write.

use std::collections::VecDeque;
use std::rc::Rc;

use super::revision::{
    by_creation, desired_annotation, find_new_set, make_new_set, max_annotation, revision, set_new_annotations,
    set_size_annotations,
};
use super::rolling::{
    SetSize, is_rolling_update, max_surge, new_set_size, old_set_sizes, proportional_sizes, without_unhealthy,
};
use super::{revision, status};
use crate::api::{Condition, Deployment, DeploymentStatus, Labels, Object, ReplicaSet, Timestamp, condition};
use crate::client::{Facts, Next};
use crate::note;
use crate::sim::{Millis, sort_by};

/// One write.
#[derive(Clone, Debug)]
pub enum Planned {
    /// A ReplicaSet without a controller is taken, or one with other labels let go.
    Adopt(Rc<ReplicaSet>),
    Release(Rc<ReplicaSet>),
    Create(Rc<ReplicaSet>),
    Resize {
        set: Rc<ReplicaSet>,
        from: i32,
        /// A refusal is passed over, and the turn goes on to the status (`reconcileOldReplicaSets`).
        may_fail: bool,
    },
    Annotate(Rc<ReplicaSet>),
    Remove(Rc<ReplicaSet>),
    Status(Box<DeploymentStatus>, Labels),
}

/// The writes of a turn, and the objects as they will be after those that are through.
#[derive(Clone, Debug)]
pub struct Plan {
    pub deployment: Rc<Deployment>,
    sets: Vec<Rc<ReplicaSet>>,
    /// As they were found: the status at the end of a turn does not know of the sizes that the turn has written.
    found: Vec<Rc<ReplicaSet>>,
    /// The name of the ReplicaSet of the present template, once there is one.
    new: Option<crate::api::Name>,
    writes: VecDeque<Planned>,
    reason: Reason,
    is_status_done: bool,
}

/// Why the plan is what it is, in numbers.
#[derive(Clone, Debug)]
enum Reason {
    /// All sizes are as they should be.
    Matches(i32),
    /// There is no ReplicaSet for the template.
    Missing,
    Sizes {
        wanted: i32,
        now: i32,
    },
    /// A rollout goes on: up to date, and of old templates.
    Rolling {
        updated: i32,
        old: i32,
    },
    WaitsForOldPods,
    Paused,
    Deleting,
}

impl Plan {
    fn new(deployment: &Rc<Deployment>, sets: &[Rc<ReplicaSet>]) -> Self {
        let mut sets = sets.to_vec();
        sort_by(&mut sets, |a, b| by_creation(a, b));
        let new = find_new_set(deployment, &sets).map(|set| set.metadata.name.clone());
        let reason = Reason::Matches(deployment.spec.wanted());
        let (deployment, found, writes) = (Rc::clone(deployment), sets.clone(), VecDeque::new());
        Self { deployment, sets, found, new, writes, reason, is_status_done: false }
    }

    fn new_set(&self) -> Option<&Rc<ReplicaSet>> {
        let name = self.new.as_ref()?;
        self.sets.iter().find(|set| set.metadata.name == *name)
    }

    fn is_new(&self, set: &ReplicaSet) -> bool {
        self.new.as_ref() == Some(&set.metadata.name)
    }

    fn old_sets(&self) -> Vec<Rc<ReplicaSet>> {
        self.sets.iter().filter(|set| !self.is_new(set)).cloned().collect()
    }

    fn size_of(set: &ReplicaSet) -> SetSize {
        SetSize {
            replicas: set.spec.wanted(),
            available: set.status.available_replicas,
            max_replicas: max_annotation(set),
        }
    }

    fn total(&self) -> i32 {
        self.sets.iter().map(|set| set.spec.wanted()).sum()
    }

    /// Plans a new size for a ReplicaSet, and for the rest of the plan takes it as done.
    fn resize(&mut self, name: &crate::api::Name, size: i32) -> bool {
        let (wanted, max) =
            (self.deployment.spec.wanted(), self.deployment.spec.wanted() + max_surge(&self.deployment.spec));
        let Some(slot) = self.sets.iter_mut().find(|set| set.metadata.name == *name) else { return false };
        let from = slot.spec.wanted();
        let set = Rc::make_mut(slot);
        let annotated = set_size_annotations(set, wanted, max);
        if from == size && !annotated {
            return false;
        }
        set.spec.replicas = Some(size);
        let set = Rc::clone(slot);
        self.writes.push_back(Planned::Resize { set, from, may_fail: false });
        from != size
    }

    /// The newest revision of all ReplicaSets but the new one, plus one. Anybody may have annotated the largest number.
    fn next_revision(&self) -> i64 {
        self.old_sets().iter().map(|set| revision(&set.metadata)).max().unwrap_or(0).wrapping_add(1)
    }

    /// Makes sure that the new ReplicaSet exists and carries the right annotations (`getNewReplicaSet`).
    fn ensure_new_set(&mut self, now: Timestamp) {
        let next = self.next_revision();
        if let Some(existing) = self.new_set() {
            let name = existing.metadata.name.clone();
            let mut set = Rc::clone(existing);
            let it = Rc::make_mut(&mut set);
            let annotated = set_new_annotations(&self.deployment, it, next, true);
            let min_ready = std::mem::replace(&mut it.spec.min_ready_seconds, self.deployment.spec.min_ready_seconds);
            if annotated || min_ready != self.deployment.spec.min_ready_seconds {
                if let Some(slot) = self.sets.iter_mut().find(|set| set.metadata.name == name) {
                    *slot = Rc::clone(&set);
                }
                self.writes.push_back(Planned::Annotate(Rc::clone(&set)));
            }
            let found = format!("Found new replica set \"{name}\"");
            self.note_revision(revision(&set.metadata), "FoundNewReplicaSet", found, now, false);
            return;
        }
        let mut set = make_new_set(&self.deployment, next);
        let size = new_set_size(&self.deployment.spec, self.total(), 0);
        set.spec.replicas = Some(size);
        let set = Rc::new(set);
        self.new = Some(set.metadata.name.clone());
        self.sets.push(Rc::clone(&set));
        self.found.push(Rc::clone(&set));
        self.writes.push_back(Planned::Create(Rc::clone(&set)));
        let created = format!("Created new replica set \"{}\"", set.metadata.name);
        self.note_revision(next, "NewReplicaSetCreated", created, now, true);
    }

    /// Writes the revision to the Deployment, with the condition that tells of the new ReplicaSet.
    fn note_revision(
        &mut self,
        revision: i64,
        reason: &'static str,
        message: String,
        now: Timestamp,
        is_created: bool,
    ) {
        let mut annotations = self.deployment.metadata.annotations.clone();
        let text = revision.to_string();
        let mut changed = annotations.get(revision::REVISION) != Some(&text);
        if changed {
            annotations.insert(revision::REVISION.into(), text);
        }
        let mut status = self.deployment.status.clone();
        let has_condition = condition(&status.conditions, "Progressing").is_some();
        if self.deployment.spec.progress_deadline_seconds.is_some() && (is_created || !has_condition) {
            status::set(&mut status, status::progressing(true, reason, message), now);
            changed = true;
        }
        if changed {
            self.writes.push_back(Planned::Status(Box::new(status), annotations));
        }
    }

    /// Writes down that a pause began or ended, so that the time it took does not count as lack of progress
    /// (`checkPausedConditions`).
    fn note_pause(&mut self, now: Timestamp) {
        let mut status = self.deployment.status.clone();
        let known = condition(&status.conditions, "Progressing").map_or("", |it| it.reason.as_str());
        if !status::has_deadline(&self.deployment) || known == "ProgressDeadlineExceeded" {
            return;
        }
        let (reason, message) = match (self.deployment.spec.paused, known == "DeploymentPaused") {
            (true, false) => ("DeploymentPaused", "Deployment is paused"),
            (false, true) => ("DeploymentResumed", "Deployment is resumed"),
            _ => return,
        };
        let new = Condition { status: "Unknown".into(), ..status::progressing(false, reason, message.into()) };
        status::set(&mut status, new, now);
        let annotations = self.deployment.metadata.annotations.clone();
        self.writes.push_back(Planned::Status(Box::new(status.clone()), annotations));
        Rc::make_mut(&mut self.deployment).status = status;
    }

    fn roll(&mut self) {
        let Some(new) = self.new_set() else { return };
        let (name, before) = (new.metadata.name.clone(), new.spec.wanted());
        let wanted = self.deployment.spec.wanted();
        let size = if before > wanted { wanted } else { new_set_size(&self.deployment.spec, self.total(), before) };
        let has_old = self.total() - before > 0;
        if before != size {
            self.reason = Reason::Sizes { wanted: size, now: before };
            self.resize(&name, size);
            return;
        }
        if !has_old {
            return;
        }
        self.scale_down_old();
    }

    fn scale_down_old(&mut self) {
        let Some(new) = self.new_set() else { return };
        let new_size = Self::size_of(new);
        let old = self.old_sets();
        let sizes: Vec<SetSize> = old.iter().map(|set| Self::size_of(set)).collect();
        let cleaned = without_unhealthy(&self.deployment.spec, &new_size, &sizes);
        let targets = old_set_sizes(&self.deployment.spec, &new_size, &sizes);
        self.reason = Reason::Rolling { updated: new_size.replicas, old: sizes.iter().map(|size| size.replicas).sum() };
        // Unavailable pods go in writes of their own, before any that are available.
        for (set, target) in old.iter().zip(&cleaned) {
            if set.spec.wanted() != *target {
                self.resize(&set.metadata.name, *target);
            }
        }
        for ((set, before), target) in old.iter().zip(cleaned).zip(targets) {
            if before != target {
                self.resize(&set.metadata.name, target);
            }
        }
        for write in &mut self.writes {
            if let Planned::Resize { may_fail, .. } = write {
                *may_fail = true;
            }
        }
    }

    /// Whether a write that was refused is passed over. What was to follow it in kind is then left for another turn.
    pub fn passes_over(&mut self, refused: &Planned) -> bool {
        let is_passed = matches!(refused, Planned::Resize { may_fail: true, .. });
        if is_passed {
            self.writes.retain(|write| !matches!(write, Planned::Resize { .. }));
        }
        is_passed
    }

    /// Gives the wanted size to the ReplicaSets that there are, without starting or advancing a rollout (`scale`).
    fn scale(&mut self) {
        let wanted = self.deployment.spec.wanted();
        let active: Vec<Rc<ReplicaSet>> = self.sets.iter().filter(|set| set.spec.wanted() > 0).cloned().collect();
        let only = match active.as_slice() {
            [] => self.new_set().or_else(|| self.sets.iter().max_by_key(|set| revision(&set.metadata))).cloned(),
            [one] => Some(Rc::clone(one)),
            _ => None,
        };
        if let Some(only) = only {
            self.reason = Reason::Sizes { wanted, now: only.spec.wanted() };
            self.resize(&only.metadata.name, wanted);
            return;
        }
        if active.is_empty() {
            return;
        }
        if let Some(new) = self.new_set().filter(|set| is_saturated(&self.deployment, set)).cloned() {
            for set in active.iter().filter(|set| set.metadata.name != new.metadata.name) {
                self.resize(&set.metadata.name, 0);
            }
            return;
        }
        if is_rolling_update(&self.deployment.spec) {
            self.scale_in_proportion(active);
        }
    }

    fn scale_in_proportion(&mut self, mut active: Vec<Rc<ReplicaSet>>) {
        let spec = &self.deployment.spec;
        let allowed = if spec.wanted() > 0 { spec.wanted() + max_surge(spec) } else { 0 };
        let total: i32 = active.iter().map(|set| set.spec.wanted()).sum();
        // The larger first; of equals the newer when growing, the older when shrinking.
        sort_by(&mut active, |a, b| {
            let age = if allowed > total { by_creation(b, a) } else { by_creation(a, b) };
            b.spec.wanted().cmp(&a.spec.wanted()).then(age)
        });
        let sizes: Vec<SetSize> = active.iter().map(|set| Self::size_of(set)).collect();
        let targets = proportional_sizes(spec, &sizes, self.deployment.status.replicas);
        self.reason = Reason::Sizes { wanted: allowed, now: total };
        for (set, target) in active.iter().zip(targets) {
            self.resize(&set.metadata.name, target);
        }
    }

    fn recreate(&mut self, has_pods: bool, now: Timestamp) {
        let old: Vec<Rc<ReplicaSet>> = self.old_sets().into_iter().filter(|set| set.spec.wanted() > 0).collect();
        if !old.is_empty() {
            let count = old.iter().map(|set| set.spec.wanted()).sum();
            self.reason = Reason::Rolling { updated: 0, old: count };
            for set in old {
                self.resize(&set.metadata.name, 0);
            }
            return;
        }
        let old_left: i32 =
            self.old_sets().iter().map(|set| set.status.replicas + set.status.terminating_replicas.unwrap_or(0)).sum();
        if has_pods && old_left > 0 {
            self.reason = Reason::WaitsForOldPods;
            return;
        }
        self.ensure_new_set(now);
        self.roll();
    }

    /// Old ReplicaSets without pods beyond the history limit (`cleanupDeployment`).
    fn clean_up(&mut self) {
        let Some(limit) = self.deployment.spec.revision_history_limit else { return };
        let mut old = self.old_sets();
        old.retain(|set| set.metadata.deletion_timestamp.is_none());
        let surplus = old.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
        sort_by(&mut old, |a, b| revision(&a.metadata).cmp(&revision(&b.metadata)).then(by_creation(a, b)));
        for set in old.into_iter().take(surplus) {
            let is_empty = set.status.replicas == 0
                && set.spec.wanted() == 0
                && set.metadata.generation <= set.status.observed_generation;
            if is_empty {
                self.writes.push_back(Planned::Remove(set));
            }
        }
    }

    /// The sizes that are going to be written, in their order.
    pub fn sizes(&self) -> Vec<(&str, i32)> {
        let sizes = self.writes.iter().filter_map(|write| match write {
            Planned::Resize { set, .. } => Some((set.metadata.name.as_str(), set.spec.wanted())),
            _ => None,
        });
        sizes.collect()
    }

    /// The old ReplicaSets that are going to be deleted, in their order.
    pub fn removed(&self) -> Vec<&str> {
        let removed = self.writes.iter().filter_map(|write| match write {
            Planned::Remove(set) => Some(set.metadata.name.as_str()),
            _ => None,
        });
        removed.collect()
    }

    /// Gives the rest of the turn up for a status that counts a collision of names, which asks for another turn.
    pub fn collide(&mut self) -> Planned {
        self.writes.clear();
        self.is_status_done = true;
        let mut status = self.deployment.status.clone();
        status.collision_count = Some(status.collision_count.unwrap_or(0).wrapping_add(1));
        Planned::Status(Box::new(status), self.deployment.metadata.annotations.clone())
    }

    /// The next write; the status comes last, when it differs.
    pub fn next(&mut self, now: Timestamp) -> Option<Planned> {
        if let Some(write) = self.writes.pop_front() {
            return Some(self.refreshed(write));
        }
        if std::mem::replace(&mut self.is_status_done, true) {
            return None;
        }
        let status = self.status(now);
        (status != self.deployment.status)
            .then(|| Planned::Status(Box::new(status), self.deployment.metadata.annotations.clone()))
    }

    /// A planned write on top of the versions that the writes before it made.
    fn refreshed(&self, write: Planned) -> Planned {
        let newest = |mut set: Rc<ReplicaSet>| {
            if let Some(known) = self.sets.iter().find(|known| known.metadata.name == set.metadata.name) {
                Rc::make_mut(&mut set).metadata.resource_version = known.metadata.resource_version;
            }
            set
        };
        match write {
            Planned::Resize { set, from, may_fail } => Planned::Resize { set: newest(set), from, may_fail },
            Planned::Annotate(set) => Planned::Annotate(newest(set)),
            other => other,
        }
    }

    fn status(&self, now: Timestamp) -> DeploymentStatus {
        let new = self.found.iter().find(|set| self.is_new(set)).map(|set| &**set);
        let mut status = status::calculate(&self.deployment, &self.found, new, now);
        if !matches!(self.reason, Reason::Paused | Reason::Deleting) {
            status::judge_progress(&self.deployment, &mut status, &self.found, new, now);
        }
        status
    }

    /// Takes over what a write returned.
    pub fn accept(&mut self, sent: &Planned, object: Object) {
        match (sent, object) {
            // The real controller throws the answer away: a second status in the same turn is refused, and the turn
            // tried again (`getNewReplicaSet`, `checkPausedConditions`).
            (Planned::Status(..), Object::Deployment(mut written)) => {
                let version = self.deployment.metadata.resource_version;
                Rc::make_mut(&mut written).metadata.resource_version = version;
                self.deployment = written;
            }
            (
                Planned::Create(_) | Planned::Resize { .. } | Planned::Annotate(_) | Planned::Adopt(_),
                Object::ReplicaSet(written),
            ) => {
                if let Some(slot) = self.sets.iter_mut().find(|set| set.metadata.name == written.metadata.name) {
                    let size = slot.spec.replicas;
                    *slot = written;
                    // A later write of this plan may already have another size in mind.
                    if self.writes.iter().any(
                        |write| matches!(write, Planned::Resize { set, .. } if set.metadata.name == slot.metadata.name),
                    ) {
                        Rc::make_mut(slot).spec.replicas = size;
                    }
                }
            }
            _ => {}
        }
    }

    /// When to look again although nothing changes: at the progress deadline (`requeueStuckDeployment`).
    pub fn wait(&self, now_millis: i64) -> Next {
        let status = &self.deployment.status;
        if self.deployment.spec.paused {
            return Next::AwaitChange;
        }
        match status::millis_until_deadline(&self.deployment, status, now_millis) {
            // One second past it, "to avoid milliseconds skew".
            Some(left @ 1_000..) => Next::After(Millis(left + 1_000)),
            // A rollout that was complete once, and whose pods are gone since, never times out: it is looked at again
            // for as long as that lasts.
            Some(_) => Next::RateLimited,
            None => Next::AwaitChange,
        }
    }

    /// A turn that only asks whether the deadline has passed, and finds nothing to write.
    pub fn is_mere_check(&self, now: Timestamp, now_millis: i64) -> bool {
        self.wait(now_millis) == Next::RateLimited
            && self.writes.is_empty()
            && self.status(now) == self.deployment.status
    }

    pub fn facts(&self) -> Facts {
        match self.reason {
            Reason::Matches(wanted) => {
                let facts: Facts = note!("sizes match, **{} = {}**", wanted, wanted).into();
                facts.with(note!("nothing to scale"))
            }
            Reason::Missing => {
                let facts: Facts = note!("**1 − 0 = +1** ReplicaSet").into();
                facts.with(note!("none has this template"))
            }
            Reason::Sizes { wanted, now } if wanted == now => {
                let facts: Facts = note!("sizes match, **{} = {}**", wanted, now).into();
                facts.with(note!("annotations differ"))
            }
            Reason::Sizes { wanted, now } => {
                let sign = if wanted > now { "+" } else { "−" };
                let facts: Facts = note!("**{} − {} = {}{}**", wanted, now, sign, (wanted - now).abs()).into();
                facts.with(note!("size of the ReplicaSet"))
            }
            Reason::Rolling { updated, old } => {
                let facts: Facts = note!("**{}** up to date, **{}** old", updated, old).into();
                facts.with(note!(
                    "of {}, at most {} more",
                    self.deployment.spec.wanted(),
                    max_surge(&self.deployment.spec)
                ))
            }
            Reason::WaitsForOldPods => note!("waits until the old pods are gone").into(),
            Reason::Paused => note!("paused: no rollout").into(),
            Reason::Deleting => note!("is being deleted").into(),
        }
    }
}

/// The new ReplicaSet has all pods, and all are available (`IsSaturated`).
fn is_saturated(deployment: &Deployment, set: &ReplicaSet) -> bool {
    let wanted = deployment.spec.wanted();
    set.spec.wanted() == wanted && desired_annotation(set) == Some(wanted) && set.status.available_replicas == wanted
}

/// The ReplicaSets that are the Deployment's: those it controls, as long as their labels say so, and those without a
/// controller whose labels do (`ReplicaSetControllerRefManager`). And the writes that make it so.
fn claim(
    deployment: &Rc<Deployment>,
    owned: &[Rc<ReplicaSet>],
    orphans: &[Rc<ReplicaSet>],
) -> (Vec<Rc<ReplicaSet>>, Vec<Planned>) {
    let mut writes = Vec::new();
    let mine = |set: &Rc<ReplicaSet>| deployment.spec.selector.matches(&set.metadata.labels);
    let (mut sets, strays): (Vec<_>, Vec<_>) = owned.iter().cloned().partition(mine);
    writes.extend(strays.into_iter().map(Planned::Release));
    if deployment.metadata.deletion_timestamp.is_some() {
        return (sets, Vec::new());
    }
    let found = orphans.iter().filter(|set| set.metadata.deletion_timestamp.is_none() && mine(set));
    for orphan in found {
        writes.push(Planned::Adopt(Rc::clone(orphan)));
        let mut set = Rc::clone(orphan);
        let reference = deployment.metadata.controller_reference(crate::api::Kind::Deployment);
        Rc::make_mut(&mut set).metadata.owner_references.push(reference);
        sets.push(set);
    }
    (sets, writes)
}

/// Decides all writes of a turn (`syncDeployment`).
pub fn decide(
    deployment: &Rc<Deployment>,
    owned: &[Rc<ReplicaSet>],
    orphans: &[Rc<ReplicaSet>],
    has_pods: bool,
    now: Timestamp,
) -> Plan {
    let (sets, claims) = claim(deployment, owned, orphans);
    let mut plan = Plan::new(deployment, &sets);
    plan.writes.extend(claims);
    if deployment.metadata.deletion_timestamp.is_some() {
        plan.reason = Reason::Deleting;
        return plan;
    }
    plan.note_pause(now);
    let wanted = deployment.spec.wanted();
    let is_scaling = plan
        .sets
        .iter()
        .any(|set| set.spec.wanted() > 0 && desired_annotation(set).is_some_and(|desired| desired != wanted));
    if deployment.spec.paused {
        plan.scale();
        plan.clean_up();
        plan.reason = Reason::Paused;
        return plan;
    }
    if is_scaling {
        plan.scale();
        return plan;
    }
    if is_rolling_update(&deployment.spec) {
        let existed = plan.new.is_some();
        plan.ensure_new_set(now);
        plan.roll();
        if !existed {
            plan.reason = Reason::Missing;
        }
    } else {
        plan.recreate(has_pods, now);
    }
    if status::is_complete(deployment, &deployment.status) {
        plan.clean_up();
    }
    plan
}
