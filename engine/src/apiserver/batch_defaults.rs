//! What the API server fills in for StatefulSets, DaemonSets and Jobs (`pkg/apis/{apps,batch}/v1/defaults.go`), and the
//! selector it gives to a Job (`pkg/registry/batch/job/strategy.go`), v1.36.

use serde_json::Value;

use super::defaults::{default_pod_spec, default_text};
use crate::api::{DaemonSet, IntOrPercent, Job, Labels, StatefulSet, fields};

pub(super) fn default_stateful_set(set: &mut StatefulSet) {
    let spec = &mut set.spec;
    spec.replicas.get_or_insert(1);
    spec.revision_history_limit.get_or_insert(10);
    if spec.pod_management_policy.is_empty() {
        spec.pod_management_policy = "OrderedReady".into();
    }
    if spec.update_strategy.kind.is_empty() {
        spec.update_strategy.kind = "RollingUpdate".into();
    }
    if spec.update_strategy.kind == "RollingUpdate" {
        spec.update_strategy.rolling_update.get_or_insert_default().partition.get_or_insert(0);
    }
    let retention = || fields([("whenDeleted", "Retain".into()), ("whenScaled", "Retain".into())]);
    spec.extra.or_insert_with("persistentVolumeClaimRetentionPolicy", retention);
    default_pod_spec(&mut spec.template.spec);
}

pub(super) fn default_daemon_set(set: &mut DaemonSet) {
    let spec = &mut set.spec;
    spec.revision_history_limit.get_or_insert(10);
    if spec.update_strategy.kind.is_empty() {
        spec.update_strategy.kind = "RollingUpdate".into();
    }
    if spec.update_strategy.kind == "RollingUpdate" {
        let rolling = spec.update_strategy.rolling_update.get_or_insert_default();
        rolling.max_surge.get_or_insert(IntOrPercent::Int(0));
        rolling.max_unavailable.get_or_insert(IntOrPercent::Int(1));
    }
    default_pod_spec(&mut spec.template.spec);
}

pub(super) fn default_job(job: &mut Job) {
    let spec = &mut job.spec;
    if spec.completions.is_none() && spec.parallelism.is_none() {
        spec.completions = Some(1);
    }
    spec.parallelism.get_or_insert(1);
    let is_per_index = spec.extra.contains_key("backoffLimitPerIndex");
    spec.backoff_limit.get_or_insert(if is_per_index { i32::MAX } else { 6 });
    spec.suspend.get_or_insert(false);
    if spec.completion_mode.is_empty() {
        spec.completion_mode = "NonIndexed".into();
    }
    let waits_for_ends = spec.extra.contains_key("podFailurePolicy");
    let replacement = if waits_for_ends { "Failed" } else { "TerminatingOrFailed" };
    default_text(&mut spec.extra, "podReplacementPolicy", replacement);
    spec.extra.or_insert_with("manualSelector", || Value::Bool(false));
    // A Job must say how its pods restart: that policy is left as it is.
    let policy = spec.template.spec.restart_policy.clone();
    default_pod_spec(&mut spec.template.spec);
    if policy.is_empty() && spec.template.spec.restart_policy == "Always" {
        std::rc::Rc::make_mut(&mut spec.template.spec).restart_policy = policy;
    }
}

/// Gives a new Job the labels by which it knows its pods: its own UID.
pub(super) fn select_pods_of_job(job: &mut Job) {
    if job.spec.extra.get("manualSelector") == Some(&Value::Bool(true)) {
        return;
    }
    let (uid, name) = (job.metadata.uid.to_string(), job.metadata.name.to_string());
    let own: Labels = [("controller-uid", &uid), ("job-name", &name)]
        .into_iter()
        .flat_map(|(key, value)| {
            [key.to_string(), format!("batch.kubernetes.io/{key}")].map(|key| (key, value.clone()))
        })
        .collect();
    job.spec.template.metadata.labels.extend(own);
    if job.metadata.labels.is_empty() {
        job.metadata.labels = job.spec.template.metadata.labels.clone();
    }
    let selector = job.spec.selector.get_or_insert_default();
    selector.match_labels.insert("batch.kubernetes.io/controller-uid".into(), uid);
}
