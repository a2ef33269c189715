//! Deletion: grace, finalizers, what becomes of dependents; and eviction, which asks disruption budgets first.
//!
//! Mirrors `apiserver/pkg/registry/generic/registry/store.go`, `apiserver/pkg/registry/rest/delete.go`,
//! `pkg/registry/core/namespace/storage` and `pkg/registry/core/pod/storage/eviction.go`, v1.36.

use std::rc::Rc;

use super::{Answer, ApiError, ApiServer, ChangeKind, DeleteOptions, Effect, Moment, Propagation, Reason};
use crate::api::{
    Condition, Kind, Namespace, Object, ObjectKey, ObjectMeta, Pod, PodDisruptionBudget, Timestamp, set_condition,
};

/// The finalizer of an object that waits for its dependents to go first.
pub const FOREGROUND_FINALIZER: &str = "foregroundDeletion";
/// The finalizer of an object whose dependents are to stay.
pub const ORPHAN_FINALIZER: &str = "orphan";
/// Namespaces that cannot be deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];
/// Evictions granted and not yet seen, at the most (`MaxDisruptedPodSize`).
const MAX_DISRUPTED_PODS: usize = 2_000;
const AGAINST_BUDGET: &str = "Cannot evict pod as it would violate the pod's disruption budget.";

/// The grace of a deletion (`pod strategy CheckGracefulDelete`, registry/core/pod v1.36): only pods have one,
/// and only while something of theirs may still run.
fn grace_seconds(object: &Object, options: DeleteOptions) -> i64 {
    let Object::Pod(pod) = object else { return 0 };
    if !pod.is_assigned() || pod.is_finished() {
        return 0;
    }
    options.grace_seconds.unwrap_or_else(|| pod.spec.grace_seconds()).max(0)
}

/// The finalizers of an object under deletion, with those that a propagation asks for and without the others
/// (`deletionFinalizersForGarbageCollection`).
fn finalizers_for(finalizers: &[String], propagation: Option<Propagation>) -> Option<Vec<String>> {
    let wanted = match propagation? {
        Propagation::Background => None,
        Propagation::Foreground => Some(FOREGROUND_FINALIZER),
        Propagation::Orphan => Some(ORPHAN_FINALIZER),
    };
    let is_ours = |it: &String| it == FOREGROUND_FINALIZER || it == ORPHAN_FINALIZER;
    let mut list: Vec<String> = finalizers.iter().filter(|it| !is_ours(it)).cloned().collect();
    list.extend(wanted.map(String::from));
    (list != finalizers).then_some(list)
}

fn check_preconditions(key: &ObjectKey, meta: &ObjectMeta, options: DeleteOptions) -> Result<(), ApiError> {
    let refuse = |what: &str, given: String, live: String, hint: &str| {
        let message = format!(
            "Operation cannot be fulfilled on {} \"{}\": the {what} in the precondition ({given}) does not match the {what} in record ({live}). {hint}",
            key.kind.qualified_plural(),
            key.name,
        );
        Err(ApiError::new(Reason::Conflict, message))
    };
    if let Some(uid) = options.uid.filter(|uid| *uid != meta.uid) {
        let hint = "The object might have been deleted and then recreated";
        return refuse("UID", uid.to_string(), meta.uid.to_string(), hint);
    }
    if let Some(version) = options.resource_version.filter(|version| *version != meta.resource_version) {
        let hint = "The object might have been modified";
        return refuse("ResourceVersion", version.to_string(), meta.resource_version.to_string(), hint);
    }
    Ok(())
}

/// Whether nothing holds an object under deletion back any more (`ShouldDeleteDuringUpdate`).
pub(super) fn is_released(object: &Object) -> bool {
    let meta = object.meta();
    let is_held = matches!(object, Object::Namespace(namespace) if !namespace.spec.finalizers.is_empty());
    meta.deletion_timestamp.is_some()
        && meta.finalizers.is_empty()
        && meta.deletion_grace_period_seconds.unwrap_or(0) == 0
        && !is_held
}

/// Begins a deletion that ends after a grace period or with the last finalizer.
fn mark_as_deleting(meta: &mut ObjectMeta, grace: i64, now: Timestamp) {
    if meta.deletion_timestamp.is_none() && meta.generation > 0 {
        meta.generation += 1;
    }
    meta.deletion_timestamp = Some(Timestamp(now.0.saturating_add(grace)));
    meta.deletion_grace_period_seconds = Some(grace);
}

impl ApiServer {
    pub(super) fn delete(
        &mut self,
        key: &ObjectKey,
        options: DeleteOptions,
        moment: &mut Moment<'_>,
    ) -> Result<Answer, ApiError> {
        let mut object = self.live(key)?.clone();
        check_preconditions(key, object.meta(), options)?;
        if let Object::Namespace(namespace) = &object {
            return self.delete_namespace(key, Rc::clone(namespace), moment);
        }
        let grace = grace_seconds(&object, options);
        let meta = object.meta();
        let terminating = meta.deletion_timestamp.is_some();
        let finalizers = finalizers_for(&meta.finalizers, options.propagation);
        let is_marked = terminating && meta.deletion_grace_period_seconds.unwrap_or(0) <= grace;
        let held = finalizers.as_ref().unwrap_or(&meta.finalizers);
        if held.is_empty() && grace == 0 {
            if let Some(finalizers) = finalizers {
                object.meta_mut().finalizers = finalizers;
            }
            return Ok(self.delete_now(object, moment));
        }
        if is_marked && finalizers.is_none() {
            return Ok(Answer { object, outcome: Effect::Unchanged });
        }
        let meta = object.meta_mut();
        if let Some(finalizers) = finalizers {
            meta.finalizers = finalizers;
        }
        if !is_marked {
            mark_as_deleting(meta, grace, moment.wall);
        }
        let object = self.write(ChangeKind::Modified, object, moment);
        Ok(Answer { object, outcome: Effect::Deleting })
    }

    /// Nothing holds the object: it goes.
    fn delete_now(&mut self, mut object: Object, moment: &mut Moment<'_>) -> Answer {
        let is_graceful = object.kind() == Kind::Pod;
        let meta = object.meta_mut();
        if is_graceful && meta.deletion_grace_period_seconds != Some(0) {
            // The last step of a graceful deletion shows as a change of its own before the object goes.
            mark_as_deleting(meta, 0, moment.wall);
            object = self.write(ChangeKind::Modified, object, moment);
        }
        self.remove(object, moment)
    }

    /// A namespace stays, Terminating, until its controller has emptied it.
    fn delete_namespace(
        &mut self,
        key: &ObjectKey,
        mut namespace: Rc<Namespace>,
        moment: &mut Moment<'_>,
    ) -> Result<Answer, ApiError> {
        if IMMORTAL.contains(&key.name.as_str()) {
            return Err(ApiError::forbidden(key, "this namespace may not be deleted"));
        }
        if namespace.metadata.deletion_timestamp.is_some() {
            let object = Object::Namespace(namespace);
            return Ok(if is_released(&object) {
                self.remove(object, moment)
            } else {
                Answer { object, outcome: Effect::Unchanged }
            });
        }
        let it = Rc::make_mut(&mut namespace);
        it.metadata.deletion_timestamp = Some(moment.wall);
        it.status.phase = "Terminating".into();
        let object = self.write(ChangeKind::Modified, Object::Namespace(namespace), moment);
        Ok(Answer { object, outcome: Effect::Deleting })
    }

    pub(super) fn evict(
        &mut self,
        key: &ObjectKey,
        mut options: DeleteOptions,
        moment: &mut Moment<'_>,
    ) -> Result<Answer, ApiError> {
        let pod = self.live(key)?.as_pod().cloned().ok_or_else(|| ApiError::not_found(key))?;
        check_preconditions(key, &pod.metadata, options)?;
        // A pod that serves nobody, or goes anyway, takes nothing from a budget.
        let is_free = pod.is_finished() || pod.is_terminating() || pod.status.phase == "Pending";
        if !is_free && let Some(budget) = self.budget_of(&pod)? {
            let guards = !pod.is_ready() && may_evict_unready(&budget);
            if !guards {
                self.charge_budget(budget, &pod, moment)?;
            }
        }
        options.resource_version = None;
        if !pod.is_terminating() {
            let mut pod = pod;
            let target =
                Condition::new("DisruptionTarget", true).because("EvictionByEvictionAPI", "Eviction API: evicting");
            set_condition(&mut Rc::make_mut(&mut pod).status.conditions, target, moment.wall);
            self.write(ChangeKind::Modified, Object::Pod(pod), moment);
        }
        self.delete(key, options, moment)
    }

    /// The budget that covers a pod, of which there may be one at the most.
    fn budget_of(&self, pod: &Pod) -> Result<Option<Rc<PodDisruptionBudget>>, ApiError> {
        let budgets = self.objects().in_namespace(Kind::PodDisruptionBudget, &pod.metadata.namespace);
        let mut found = budgets.filter_map(Object::as_pod_disruption_budget).filter(|budget| {
            budget.spec.selector.as_ref().is_some_and(|selector| selector.matches(&pod.metadata.labels))
        });
        let first = found.next().cloned();
        if found.next().is_some() {
            let message =
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
            return Err(ApiError::new(Reason::InternalError, message.into()));
        }
        Ok(first)
    }

    /// Takes one disruption from a budget (`checkAndDecrement`).
    fn charge_budget(
        &mut self,
        mut budget: Rc<PodDisruptionBudget>,
        pod: &Pod,
        moment: &Moment<'_>,
    ) -> Result<(), ApiError> {
        let status = &budget.status;
        let is_stale = status.observed_generation < budget.metadata.generation;
        if is_stale || status.disruptions_allowed == 0 {
            return Err(ApiError::new(Reason::TooManyRequests, AGAINST_BUDGET.into()));
        }
        let key = Object::PodDisruptionBudget(Rc::clone(&budget)).key();
        if status.disruptions_allowed < 0 {
            return Err(ApiError::forbidden(&key, "pdb disruptions allowed is negative"));
        }
        if status.disrupted_pods.len() > MAX_DISRUPTED_PODS {
            return Err(ApiError::forbidden(
                &key,
                "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
            ));
        }
        let it = &mut Rc::make_mut(&mut budget).status;
        it.disruptions_allowed -= 1;
        if it.disruptions_allowed == 0 {
            let none = Condition::new("DisruptionAllowed", false).because("InsufficientPods", "");
            set_condition(&mut it.conditions, none, moment.wall);
        }
        it.disrupted_pods.insert(pod.metadata.name.to_string(), moment.wall);
        self.write(ChangeKind::Modified, Object::PodDisruptionBudget(budget), moment);
        Ok(())
    }
}

/// Whether a pod that is not ready may go without being counted (`unhealthyPodEvictionPolicy`).
fn may_evict_unready(budget: &PodDisruptionBudget) -> bool {
    let policy = budget.spec.extra.get("unhealthyPodEvictionPolicy").and_then(|it| it.as_str());
    let status = &budget.status;
    policy == Some("AlwaysAllow") || status.current_healthy >= status.desired_healthy && status.desired_healthy > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_propagation_replaces_the_finalizer_of_another() {
        let list = |items: &[&str]| items.iter().map(|it| it.to_string()).collect::<Vec<_>>();
        let given = list(&["example.com/hold", ORPHAN_FINALIZER]);
        assert_eq!(finalizers_for(&given, None), None);
        assert_eq!(finalizers_for(&given, Some(Propagation::Orphan)), None);
        assert_eq!(finalizers_for(&given, Some(Propagation::Background)), Some(list(&["example.com/hold"])));
        let foreground = Some(list(&["example.com/hold", FOREGROUND_FINALIZER]));
        assert_eq!(finalizers_for(&given, Some(Propagation::Foreground)), foreground);
    }
}
