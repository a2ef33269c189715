//! Deployments and ReplicaSets (`pkg/apis/apps/validation`), and the taints of nodes.

use super::{Errors, below, json, meta, names, pod};
use crate::api::{
    DaemonSetSpec, DeploymentSpec, DeploymentStrategy, IntOrPercent, LabelSelector, PodTemplate, ReplicaSetSpec,
    RollingUpdate, StatefulSetSpec, Taint,
};

pub(super) fn validate_deployment(spec: &DeploymentSpec, errors: &mut Errors) {
    errors.not_negative("spec.replicas", spec.replicas.unwrap_or(1).into());
    validate_selector_and_template(&spec.selector, &spec.template, errors);
    validate_strategy(&spec.strategy, errors);
    errors.not_negative("spec.minReadySeconds", spec.min_ready_seconds.into());
    if let Some(limit) = spec.revision_history_limit {
        errors.not_negative("spec.revisionHistoryLimit", limit.into());
    }
    if let Some(deadline) = spec.progress_deadline_seconds {
        errors.not_negative("spec.progressDeadlineSeconds", deadline.into());
        if deadline <= spec.min_ready_seconds {
            errors.invalid("spec.progressDeadlineSeconds", &deadline, "must be greater than minReadySeconds");
        }
    }
}

pub(super) fn validate_replica_set(spec: &ReplicaSetSpec, errors: &mut Errors) {
    errors.not_negative("spec.replicas", spec.replicas.unwrap_or(1).into());
    errors.not_negative("spec.minReadySeconds", spec.min_ready_seconds.into());
    validate_selector_and_template(&spec.selector, &spec.template, errors);
}

pub(super) fn validate_stateful_set(spec: &StatefulSetSpec, errors: &mut Errors) {
    const POLICIES: [&str; 2] = ["OrderedReady", "Parallel"];
    if !POLICIES.contains(&spec.pod_management_policy.as_str()) {
        let policy = &spec.pod_management_policy;
        errors.invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'");
    }
    validate_update_strategy(&spec.update_strategy.kind, errors);
    if let Some(partition) = spec.update_strategy.rolling_update.as_ref().and_then(|it| it.partition) {
        errors.not_negative("spec.updateStrategy.rollingUpdate.partition", partition.into());
    }
    errors.not_negative("spec.replicas", spec.replicas.unwrap_or(1).into());
    errors.not_negative("spec.minReadySeconds", spec.min_ready_seconds.into());
    validate_selector_and_template(&spec.selector, &spec.template, errors);
}

pub(super) fn validate_daemon_set(spec: &DaemonSetSpec, errors: &mut Errors) {
    validate_selector_and_template(&spec.selector, &spec.template, errors);
    errors.not_negative("spec.minReadySeconds", spec.min_ready_seconds.into());
    validate_update_strategy(&spec.update_strategy.kind, errors);
    if let Some(rolling) = &spec.update_strategy.rolling_update {
        for (name, value) in [("maxUnavailable", &rolling.max_unavailable), ("maxSurge", &rolling.max_surge)] {
            let path = format!("spec.updateStrategy.rollingUpdate.{name}");
            if let Some(value) = value {
                validate_int_or_percent(value, &path, errors);
                validate_at_most_all(value, &path, errors);
            }
        }
    }
}

fn validate_update_strategy(kind: &str, errors: &mut Errors) {
    if !matches!(kind, "RollingUpdate" | "OnDelete") {
        errors.invalid("spec.updateStrategy", kind, "must be 'RollingUpdate' or 'OnDelete'");
    }
}

fn validate_selector_and_template(selector: &LabelSelector, template: &PodTemplate, errors: &mut Errors) {
    // A selector that is not there selects nothing.
    let mut selects = false;
    if selector.is_empty() {
        errors.required("spec.selector");
    } else if meta::validate_selector(selector, "spec.selector", errors) {
        selects = selector.matches(&template.metadata.labels);
    } else {
        errors.invalid("spec.selector", selector, "invalid label selector");
        return;
    }
    if !selects {
        let labels = &template.metadata.labels;
        let labels = if labels.is_empty() { "null".into() } else { json(labels) };
        errors.push(
            "spec.template.metadata.labels",
            format!("Invalid value: {labels}: `selector` does not match template `labels`"),
        );
    }
    meta::validate_labels(&template.metadata.labels, "spec.template.labels", errors);
    meta::validate_annotations(&template.metadata.annotations, "spec.template.annotations", errors);
    pod::validate_spec(&template.spec, "spec.template.spec", errors);
    if template.spec.restart_policy != "Always" {
        errors.not_supported("spec.template.spec.restartPolicy", &template.spec.restart_policy, &["Always"]);
    }
    if template.spec.extra.contains_key("activeDeadlineSeconds") {
        errors.forbidden(
            "spec.template.spec.activeDeadlineSeconds",
            "activeDeadlineSeconds in ReplicaSet is not Supported",
        );
    }
}

fn validate_strategy(strategy: &DeploymentStrategy, errors: &mut Errors) {
    match (strategy.kind.as_str(), &strategy.rolling_update) {
        ("Recreate", None) => {}
        ("Recreate", Some(_)) => {
            errors.forbidden("spec.strategy.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
        }
        ("RollingUpdate", Some(rolling)) => validate_rolling_update(rolling, errors),
        ("RollingUpdate", None) => {
            errors.required_because("spec.strategy.rollingUpdate", "this should be defaulted and never be nil");
        }
        (kind, rolling) => {
            let rolling = rolling.as_ref().map(|it| (&it.max_unavailable, &it.max_surge));
            let rolling = match rolling {
                Some((unavailable, surge)) => {
                    let of = |value: &Option<IntOrPercent>| value.as_ref().map_or("0".into(), json);
                    format!("{{\"MaxUnavailable\":{},\"MaxSurge\":{}}}", of(unavailable), of(surge))
                }
                None => "null".into(),
            };
            let value = format!("{{\"Type\":{},\"RollingUpdate\":{rolling}}}", json(kind));
            errors.unsupported("spec.strategy", &value, &["Recreate", "RollingUpdate"]);
        }
    }
}

fn validate_rolling_update(rolling: &RollingUpdate, errors: &mut Errors) {
    const PATH: &str = "spec.strategy.rollingUpdate";
    let zero = IntOrPercent::Int(0);
    let unavailable = rolling.max_unavailable.as_ref().unwrap_or(&zero);
    let surge = rolling.max_surge.as_ref().unwrap_or(&zero);
    validate_int_or_percent(unavailable, &format!("{PATH}.maxUnavailable"), errors);
    validate_int_or_percent(surge, &format!("{PATH}.maxSurge"), errors);
    if unavailable.scaled(100, true) == 0 && surge.scaled(100, true) == 0 {
        errors.invalid(format!("{PATH}.maxUnavailable"), unavailable, "may not be 0 when `maxSurge` is 0");
    }
    validate_at_most_all(unavailable, &format!("{PATH}.maxUnavailable"), errors);
}

pub(super) fn validate_int_or_percent(value: &IntOrPercent, path: &str, errors: &mut Errors) {
    match value {
        IntOrPercent::Int(number) => errors.not_negative(path, (*number).into()),
        IntOrPercent::Text(text) => {
            if let Some(wrong) = names::percent(text) {
                errors.invalid(path, text, wrong);
            }
        }
    }
}

pub(super) fn validate_at_most_all(value: &IntOrPercent, path: &str, errors: &mut Errors) {
    if let IntOrPercent::Text(text) = value
        && names::percent(text).is_none()
        && value.as_percent().is_none_or(|percent| percent > 100)
    {
        errors.invalid(path, text, "must not be greater than 100%");
    }
}

pub(super) fn validate_taints(taints: &[Taint], errors: &mut Errors) {
    let mut seen = super::Seen::default();
    for (index, taint) in taints.iter().enumerate() {
        let path = format!("metadata.taints[{index}]");
        for wrong in names::qualified_name(&taint.key) {
            errors.invalid(below(&path, ".key"), &taint.key, &wrong);
        }
        for wrong in names::label_value(&taint.value) {
            errors.invalid(below(&path, ".value"), &taint.value, &wrong);
        }
        match taint.effect.as_str() {
            "" => errors.required(below(&path, ".effect")),
            effect => validate_taint_effect(effect, &below(&path, ".effect"), errors),
        }
        if !seen.insert((&taint.key, &taint.effect)) {
            errors.duplicate(path, &format!("{}={}:{}", taint.key, taint.value, taint.effect));
        }
    }
}

pub(super) fn validate_taint_effect(effect: &str, path: &str, errors: &mut Errors) {
    const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    if !EFFECTS.contains(&effect) {
        errors.not_supported(path, effect, &EFFECTS);
    }
}
