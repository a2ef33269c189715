//! HorizontalPodAutoscalers (`pkg/apis/autoscaling/validation`).

use super::below;
use serde_json::{Map, Value};

use super::Errors;
use super::pod::text;
use super::stored::integer;

pub(super) fn validate(spec: &Map<String, Value>, errors: &mut Errors) {
    let empty = Map::new();
    let min = integer(spec, "minReplicas").unwrap_or(1);
    let max = integer(spec, "maxReplicas").unwrap_or(0);
    if min < 1 {
        errors.invalid("spec.minReplicas", &min, "must be greater than or equal to 1");
    }
    if max < 1 {
        errors.required_because("spec.maxReplicas", "must be set and greater than 0");
    }
    if max < min {
        errors.invalid("spec.maxReplicas", &max, "must be greater than or equal to `minReplicas`");
    }
    let target = spec.get("scaleTargetRef").and_then(Value::as_object).unwrap_or(&empty);
    for field in ["kind", "name"] {
        if text(target, field).is_empty() {
            errors.required(format!("spec.scaleTargetRef.{field}"));
        }
    }
    if text(target, "apiVersion").is_empty() && text(target, "kind") != "ReplicationController" {
        errors.invalid("spec.scaleTargetRef.apiVersion", "", "apiVersion must specify API group");
    }
    validate_metrics(spec, min, errors);
    for direction in ["scaleUp", "scaleDown"] {
        let rules = spec.get("behavior").and_then(|it| it.get(direction)).and_then(Value::as_object);
        if let Some(rules) = rules {
            validate_rules(rules, &format!("spec.behavior.{direction}"), errors);
        }
    }
}

fn validate_metrics(spec: &Map<String, Value>, min: i64, errors: &mut Errors) {
    let metrics = spec.get("metrics").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (index, metric) in metrics.iter().enumerate() {
        let Some(target) = metric.get("resource").and_then(|it| it.get("target")) else { continue };
        let path = format!("spec.metrics[{index}].resource.target.averageUtilization");
        let utilization = target.get("averageUtilization").and_then(Value::as_i64);
        match utilization {
            Some(percent) if percent < 1 => errors.invalid(path, &percent, "must be greater than 0"),
            None if target.get("averageValue").is_none() => {
                errors.required_because(path, "must set either a target raw value or a target utilization");
            }
            _ => {}
        }
    }
    let is_outside = |metric: &Value| matches!(metric.get("type").and_then(Value::as_str), Some("Object" | "External"));
    if min == 0 && !metrics.iter().any(is_outside) {
        let reason = "must specify at least one Object or External metric to support scaling to zero replicas";
        errors.forbidden("spec.metrics", reason);
    }
}

fn validate_rules(rules: &Map<String, Value>, path: &str, errors: &mut Errors) {
    const LONGEST_WINDOW: i64 = 3600;
    const LONGEST_PERIOD: i64 = 1800;
    if let Some(window) = integer(rules, "stabilizationWindowSeconds") {
        let path = below(path, ".stabilizationWindowSeconds");
        errors.not_negative(&path, window);
        if window > LONGEST_WINDOW {
            errors.invalid(&path, &window, &format!("must be less than or equal to {LONGEST_WINDOW}"));
        }
    }
    if !matches!(text(rules, "selectPolicy"), "" | "Max" | "Min" | "Disabled") {
        let policy = text(rules, "selectPolicy");
        errors.not_supported(below(path, ".selectPolicy"), policy, &["Disabled", "Max", "Min"]);
    }
    let policies = rules.get("policies").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
    for (index, policy) in policies.enumerate() {
        let path = format!("{path}.policies[{index}]");
        if !matches!(text(policy, "type"), "Pods" | "Percent") {
            errors.not_supported(below(&path, ".type"), text(policy, "type"), &["Percent", "Pods"]);
        }
        for field in ["value", "periodSeconds"] {
            let value = integer(policy, field).unwrap_or(0);
            if value <= 0 {
                errors.invalid(format!("{path}.{field}"), &value, "must be greater than zero");
            }
        }
        let period = integer(policy, "periodSeconds").unwrap_or(0);
        if period > LONGEST_PERIOD {
            let reason = format!("must be less than or equal to {LONGEST_PERIOD}");
            errors.invalid(below(&path, ".periodSeconds"), &period, &reason);
        }
    }
}
