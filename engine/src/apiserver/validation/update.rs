//! What may not change (`ValidateDeploymentUpdate`, `ValidatePodUpdate` and their like).

use std::rc::Rc;

use super::{Errors, json, meta, validate_spec};
use crate::api::{Job, LabelSelector, Object, ObjectMeta, Pod, PodSpec, Toleration};
use crate::apiserver::FieldError;

const POD_FIELDS: &str = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

const STATEFUL_SET_FIELDS: &str = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

/// Everything that is wrong with the new state of an object.
pub fn validate_update(old: &Object, new: &Object) -> Vec<FieldError> {
    let mut errors = Errors::default();
    meta::validate(new, &mut errors);
    keep_finalizers(old.meta(), new.meta(), &mut errors);
    validate_spec(new, &mut errors);
    match (old, new) {
        (Object::Deployment(old), Object::Deployment(new)) => {
            keep_selector(&old.spec.selector, &new.spec.selector, &mut errors);
        }
        (Object::ReplicaSet(old), Object::ReplicaSet(new)) => {
            keep_selector(&old.spec.selector, &new.spec.selector, &mut errors);
        }
        (Object::DaemonSet(old), Object::DaemonSet(new)) => {
            keep_selector(&old.spec.selector, &new.spec.selector, &mut errors);
        }
        (Object::StatefulSet(old), Object::StatefulSet(new)) => {
            let is_kept = old.spec.selector == new.spec.selector
                && old.spec.service_name == new.spec.service_name
                && old.spec.pod_management_policy == new.spec.pod_management_policy
                && old.spec.extra.get("volumeClaimTemplates") == new.spec.extra.get("volumeClaimTemplates");
            if !is_kept {
                errors.forbidden("spec", STATEFUL_SET_FIELDS);
            }
        }
        (Object::Job(old), Object::Job(new)) => keep_job(old, new, &mut errors),
        (Object::Pod(old), Object::Pod(new)) => validate_pod_update(old, new, &mut errors),
        _ => {}
    }
    errors.0
}

/// An object on its way out takes no new finalizers.
fn keep_finalizers(old: &ObjectMeta, new: &ObjectMeta, errors: &mut Errors) {
    if old.deletion_timestamp.is_none() {
        return;
    }
    let added: Vec<String> = new.finalizers.iter().filter(|it| !old.finalizers.contains(it)).map(json).collect();
    if !added.is_empty() {
        let list = added.join(", ");
        let reason = format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{list}}}"
        );
        errors.forbidden("metadata.finalizers", &reason);
    }
}

fn keep_selector(old: &LabelSelector, new: &LabelSelector, errors: &mut Errors) {
    if old != new {
        let value = if new.is_empty() { "null".into() } else { json(new) };
        errors.push("spec.selector", format!("Invalid value: {value}: field is immutable"));
    }
}

/// `ValidateJobSpecUpdate`. Of a Job that waits suspended, Kubernetes lets where its pods may run change, and we all of
/// its template.
fn keep_job(old: &Job, new: &Job, errors: &mut Errors) {
    let is_waiting = old.spec.suspend == Some(true) && old.status.start_time.is_none();
    let (before, after) = (&old.spec, &new.spec);
    for (path, is_kept, value) in [
        ("spec.completions", before.completions == after.completions, json(&after.completions)),
        ("spec.selector", before.selector == after.selector, json(&after.selector)),
        ("spec.template", is_waiting || before.template == after.template, json(&after.template)),
    ] {
        if !is_kept {
            errors.push(path, format!("Invalid value: {value}: field is immutable"));
        }
    }
}

fn validate_pod_update(old: &Pod, new: &Pod, errors: &mut Errors) {
    if Rc::ptr_eq(&old.spec, &new.spec) {
        return;
    }
    for (path, old, new) in [
        ("spec.containers", &old.spec.containers, &new.spec.containers),
        ("spec.initContainers", &old.spec.init_containers, &new.spec.init_containers),
    ] {
        if old.len() != new.len() {
            errors.forbidden(path, "pod updates may not add or remove containers");
            return;
        }
    }
    if !keeps_tolerations(&old.spec.tolerations, &new.spec.tolerations) {
        errors.forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds");
    }
    if immutable_part(&old.spec, &new.spec) != *new.spec {
        errors.forbidden("spec", POD_FIELDS);
    }
}

/// The old spec with all that may change taken from the new one.
fn immutable_part(old: &PodSpec, new: &PodSpec) -> PodSpec {
    let mut spec = old.clone();
    for (container, new) in spec.containers.iter_mut().zip(&new.containers) {
        container.image.clone_from(&new.image);
    }
    for (container, new) in spec.init_containers.iter_mut().zip(&new.init_containers) {
        container.image.clone_from(&new.image);
    }
    spec.tolerations.clone_from(&new.tolerations);
    if let Some(deadline) = new.extra.get("activeDeadlineSeconds") {
        spec.extra.insert("activeDeadlineSeconds".into(), deadline.clone());
    }
    if old.termination_grace_period_seconds.is_some_and(|it| it < 0) && new.termination_grace_period_seconds == Some(1)
    {
        spec.termination_grace_period_seconds = Some(1);
    }
    // Binding sets the node of a pod that has none.
    if old.node_name.is_empty() {
        spec.node_name = new.node_name.clone();
    }
    spec
}

/// Tolerations may be added, and their seconds changed.
fn keeps_tolerations(old: &[Toleration], new: &[Toleration]) -> bool {
    let same = |a: &Toleration, b: &Toleration| {
        a.key == b.key && a.operator == b.operator && a.value == b.value && a.effect == b.effect
    };
    old.iter().all(|old| new.iter().any(|new| same(old, new)))
}
