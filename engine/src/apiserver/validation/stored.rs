//! The kinds that are stored and not simulated: what people most often get wrong in them.

use super::below;
use serde_json::{Map, Value};

use super::pod::text;
use super::{Errors, IS_NEGATIVE, autoscaler, names, probe, workload};
use crate::api::{Generic, IntOrPercent, Kind, Quantity, read_value};

const MAX_CONFIG_MAP: usize = 1024 * 1024;

pub(super) fn validate(kind: Kind, object: &Generic, errors: &mut Errors) {
    let empty = Map::new();
    let spec = object.fields.get("spec").and_then(Value::as_object).unwrap_or(&empty);
    match kind {
        Kind::Service => validate_service(spec, errors),
        Kind::ConfigMap | Kind::Secret => validate_data(object, errors),
        Kind::PodDisruptionBudget => validate_budget(spec, errors),
        Kind::HorizontalPodAutoscaler => autoscaler::validate(spec, errors),
        Kind::Job => validate_job(spec, errors),
        Kind::ResourceQuota => validate_quota(spec, errors),
        _ => {}
    }
}

pub(super) fn integer(map: &Map<String, Value>, key: &str) -> Option<i64> {
    map.get(key).and_then(Value::as_i64)
}

fn int_or_percent(map: &Map<String, Value>, key: &str) -> Option<IntOrPercent> {
    map.get(key).and_then(|it| read_value(it.clone()).ok())
}

fn validate_service(spec: &Map<String, Value>, errors: &mut Errors) {
    const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
    let kind = text(spec, "type");
    let ports: Vec<&Map<String, Value>> =
        spec.get("ports").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object).collect();
    let is_headless = text(spec, "clusterIP") == "None";
    if ports.is_empty() && !is_headless && kind != "ExternalName" {
        errors.required("spec.ports");
    }
    for (index, port) in ports.iter().enumerate() {
        let path = format!("spec.ports[{index}]");
        let name = text(port, "name");
        if name.is_empty() && ports.len() > 1 {
            errors.required(below(&path, ".name"));
        }
        for wrong in names::dns_label(name).iter().filter(|_| !name.is_empty()) {
            errors.invalid(below(&path, ".name"), name, wrong);
        }
        let number = integer(port, "port").unwrap_or(0);
        if let Some(wrong) = names::port_number(number) {
            errors.invalid(below(&path, ".port"), &number, wrong);
        }
        if !matches!(text(port, "protocol"), "" | "TCP" | "UDP" | "SCTP") {
            errors.not_supported(below(&path, ".protocol"), text(port, "protocol"), &["SCTP", "TCP", "UDP"]);
        }
        // What a missing port leaves is 0, which the port's own error tells already.
        if number != 0 || port.get("targetPort").is_some_and(|it| it.as_i64() != Some(0)) {
            probe::validate_port(port.get("targetPort"), &below(&path, ".targetPort"), errors);
        }
    }
    if !kind.is_empty() && !TYPES.contains(&kind) {
        errors.not_supported("spec.type", kind, &TYPES);
    }
    for (index, port) in ports.iter().enumerate() {
        let node_port = integer(port, "nodePort").unwrap_or(0);
        if errors.0.is_empty() && node_port != 0 && !(30000..=32767).contains(&node_port) {
            let reason = "provided port is not in the valid range. The range of valid ports is 30000-32767";
            errors.invalid(format!("spec.ports[{index}].nodePort"), &node_port, reason);
        }
    }
}

fn validate_data(object: &Generic, errors: &mut Errors) {
    let mut size = 0;
    for field in ["data", "binaryData", "stringData"] {
        for (key, value) in object.fields.get(field).and_then(Value::as_object).into_iter().flatten() {
            for wrong in names::config_key(key) {
                errors.invalid(format!("{field}[{key}]"), key, &wrong);
            }
            size += value.as_str().map_or(0, str::len);
        }
    }
    if size > MAX_CONFIG_MAP {
        errors.push("[]", format!("Too long: may not be more than {MAX_CONFIG_MAP} bytes"));
    }
}

fn validate_budget(spec: &Map<String, Value>, errors: &mut Errors) {
    let (min, max) = (int_or_percent(spec, "minAvailable"), int_or_percent(spec, "maxUnavailable"));
    if let (Some(min), Some(max)) = (&min, &max) {
        let (min, max) = (super::json(min), super::json(max));
        errors.push("spec", format!("Invalid value: {{\"MinAvailable\":{min},\"Selector\":null,\"MaxUnavailable\":{max},\"UnhealthyPodEvictionPolicy\":null}}: minAvailable and maxUnavailable cannot be both set"));
    }
    for (path, value) in [("spec.minAvailable", min), ("spec.maxUnavailable", max)] {
        if let Some(value) = value {
            workload::validate_int_or_percent(&value, path, errors);
            workload::validate_at_most_all(&value, path, errors);
        }
    }
}

fn validate_quota(spec: &Map<String, Value>, errors: &mut Errors) {
    for (name, value) in spec.get("hard").and_then(Value::as_object).into_iter().flatten() {
        let amount: Option<Quantity> = read_value(value.clone()).ok();
        if let Some(amount) = amount.filter(|amount| amount.is_negative()) {
            errors.invalid(format!("spec.hard[{name}]"), &amount, IS_NEGATIVE);
        }
    }
}

fn validate_job(spec: &Map<String, Value>, errors: &mut Errors) {
    const PATH: &str = "spec.template.spec.restartPolicy";
    let template = spec.get("template").and_then(|it| it.get("spec")).and_then(Value::as_object);
    match template.map(|it| text(it, "restartPolicy")) {
        Some("OnFailure" | "Never") | None => {}
        Some("") => errors.required_because(PATH, "valid values: \"OnFailure\", \"Never\""),
        Some(other) => errors.not_supported(PATH, other, &["OnFailure", "Never"]),
    }
    let is_indexed = text(spec, "completionMode") == "Indexed";
    if is_indexed && spec.get("completions").is_none_or(Value::is_null) {
        errors.required_because("spec.completions", "when completion mode is Indexed");
    }
    if let Some(limit) = integer(spec, "backoffLimitPerIndex").filter(|_| !is_indexed) {
        errors.invalid("spec.backoffLimitPerIndex", &limit, "requires indexed completion mode");
    }
    for field in ["podFailurePolicy", "backoffLimitPerIndex"].into_iter().filter(|it| spec.contains_key(*it)) {
        if template.is_some_and(|it| text(it, "restartPolicy") == "OnFailure") {
            errors.invalid(PATH, "OnFailure", &format!("only \"Never\" is supported when {field} is specified"));
        }
    }
}
