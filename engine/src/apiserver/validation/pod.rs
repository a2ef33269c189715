//! Pod specs (`ValidatePodSpec` of `pkg/apis/core/validation`).

use serde_json::{Map, Value};

use super::{Errors, IS_NEGATIVE, Seen, below, meta, names, probe, workload};
use crate::api::{Container, Extra, PodSpec, Quantity, ResourceRequirements, Toleration};

const MODE_RANGE: &str = "must be a number between 0 and 0777 (octal), both inclusive";

pub(super) fn validate_spec(spec: &PodSpec, path: &str, errors: &mut Errors) {
    let volumes = validate_volumes(&spec.extra, &below(path, ".volumes"), errors);
    if spec.containers.is_empty() {
        errors.required(below(path, ".containers"));
    }
    let mut seen = Seen::default();
    for (index, container) in spec.containers.iter().enumerate() {
        let path = format!("{path}.containers[{index}]");
        validate_container(container, &volumes, &path, errors);
        if !seen.insert(&container.name) {
            errors.duplicate(below(&path, ".name"), &container.name);
        }
        probe::validate_all(container, &path, errors);
    }
    for (index, container) in spec.init_containers.iter().enumerate() {
        let path = format!("{path}.initContainers[{index}]");
        validate_container(container, &volumes, &path, errors);
        if !seen.insert(&container.name) {
            errors.duplicate(below(&path, ".name"), &container.name);
        }
    }
    match spec.restart_policy.as_str() {
        "Always" | "OnFailure" | "Never" => {}
        "" => errors.required(below(path, ".restartPolicy")),
        other => errors.not_supported(below(path, ".restartPolicy"), other, &["Always", "OnFailure", "Never"]),
    }
    validate_dns_policy(spec, path, errors);
    meta::validate_labels(&spec.node_selector, &below(path, ".nodeSelector"), errors);
    validate_spread(spec, path, errors);
    for wrong in names::dns_subdomain(&spec.node_name).iter().filter(|_| !spec.node_name.is_empty()) {
        errors.invalid(below(path, ".nodeName"), spec.node_name.as_str(), wrong);
    }
    for (index, toleration) in spec.tolerations.iter().enumerate() {
        validate_toleration(toleration, &format!("{path}.tolerations[{index}]"), errors);
    }
}

/// What only pods are held to, and templates are not.
pub(super) fn validate_images(spec: &PodSpec, errors: &mut Errors) {
    for (list, containers) in [("containers", &spec.containers), ("initContainers", &spec.init_containers)] {
        for (index, container) in containers.iter().enumerate() {
            if container.image.trim() != container.image {
                let reason = "must not have leading or trailing whitespace";
                errors.invalid(format!("spec.{list}[{index}].image"), &container.image, reason);
            }
        }
    }
}

fn validate_dns_policy(spec: &PodSpec, path: &str, errors: &mut Errors) {
    const POLICIES: [&str; 4] = ["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"];
    match spec.extra.get("dnsPolicy").and_then(Value::as_str) {
        Some(policy) if !POLICIES.contains(&policy) => {
            errors.not_supported(below(path, ".dnsPolicy"), policy, &POLICIES);
        }
        _ => {}
    }
}

fn validate_spread(spec: &PodSpec, path: &str, errors: &mut Errors) {
    for (index, constraint) in spec.topology_spread_constraints.iter().enumerate() {
        let path = format!("{path}.topologySpreadConstraints[{index}]");
        if constraint.max_skew <= 0 {
            errors.invalid(below(&path, ".maxSkew"), &constraint.max_skew, "must be greater than zero");
        }
        if constraint.topology_key.is_empty() {
            errors.required_because(below(&path, ".topologyKey"), "can not be empty");
        }
    }
}

/// The names of the volumes, which mounts refer to.
fn validate_volumes(extra: &Extra, path: &str, errors: &mut Errors) -> Seen<String> {
    let mut seen = Seen::default();
    for (index, volume) in maps(extra, "volumes").enumerate() {
        let path = format!("{path}[{index}]");
        for source in ["configMap", "secret", "downwardAPI", "projected"] {
            let mode = volume.get(source).and_then(|it| it.get("defaultMode")).and_then(Value::as_i64);
            if let Some(mode) = mode.filter(|mode| !(0..=0o777).contains(mode)) {
                errors.invalid(format!("{path}.{source}.defaultMode"), &mode, MODE_RANGE);
            }
        }
        let name = text(volume, "name");
        let wrong = names::dns_label(name);
        if name.is_empty() {
            errors.required(below(&path, ".name"));
        } else if !wrong.is_empty() {
            wrong.iter().for_each(|wrong| errors.invalid(below(&path, ".name"), name, wrong));
        } else if !seen.insert(name.to_owned()) {
            errors.duplicate(below(&path, ".name"), name);
        }
    }
    seen
}

fn validate_container(container: &Container, volumes: &Seen<String>, path: &str, errors: &mut Errors) {
    if container.name.is_empty() {
        errors.required(below(path, ".name"));
    }
    for wrong in names::dns_label(&container.name).iter().filter(|_| !container.name.is_empty()) {
        errors.invalid(below(path, ".name"), container.name.as_str(), wrong);
    }
    if container.image.is_empty() {
        errors.required(below(path, ".image"));
    }
    validate_ports(&container.extra, &below(path, ".ports"), errors);
    for (index, variable) in maps(&container.extra, "env").enumerate() {
        if text(variable, "name").is_empty() {
            errors.required(format!("{path}.env[{index}].name"));
        }
    }
    validate_mounts(&container.extra, volumes, &below(path, ".volumeMounts"), errors);
    match container.image_pull_policy.as_str() {
        "Always" | "IfNotPresent" | "Never" => {}
        "" => errors.required(below(path, ".imagePullPolicy")),
        other => errors.not_supported(below(path, ".imagePullPolicy"), other, &["Always", "IfNotPresent", "Never"]),
    }
    validate_resources(&container.resources, &below(path, ".resources"), errors);
}

fn validate_ports(extra: &Extra, path: &str, errors: &mut Errors) {
    let mut seen = Seen::default();
    for (index, port) in maps(extra, "ports").enumerate() {
        let path = format!("{path}[{index}]");
        let name = text(port, "name");
        let wrong = names::port_name(name);
        if !name.is_empty() && !wrong.is_empty() {
            wrong.iter().for_each(|wrong| errors.invalid(below(&path, ".name"), name, wrong));
        } else if !name.is_empty() && !seen.insert(name) {
            errors.duplicate(below(&path, ".name"), name);
        }
        let number = |key: &str| port.get(key).and_then(Value::as_i64).unwrap_or(0);
        if number("containerPort") == 0 {
            errors.required(below(&path, ".containerPort"));
        }
        for key in ["containerPort", "hostPort"] {
            if let Some(wrong) = names::port_number(number(key)).filter(|_| number(key) != 0) {
                errors.invalid(format!("{path}.{key}"), &number(key), wrong);
            }
        }
        match text(port, "protocol") {
            "TCP" | "UDP" | "SCTP" => {}
            "" => errors.required(below(&path, ".protocol")),
            other => errors.not_supported(below(&path, ".protocol"), other, &["SCTP", "TCP", "UDP"]),
        }
    }
}

fn validate_mounts(extra: &Extra, volumes: &Seen<String>, path: &str, errors: &mut Errors) {
    let mut seen = Seen::default();
    for (index, mount) in maps(extra, "volumeMounts").enumerate() {
        let path = format!("{path}[{index}]");
        let name = text(mount, "name");
        if name.is_empty() {
            errors.required(below(&path, ".name"));
        } else if !volumes.contains(&name.to_owned()) {
            errors.push(below(&path, ".name"), format!("Not found: {}", super::json(name)));
        }
        let mount_path = text(mount, "mountPath");
        if mount_path.is_empty() {
            errors.required(below(&path, ".mountPath"));
        }
        if !seen.insert(mount_path) {
            errors.invalid(below(&path, ".mountPath"), mount_path, "must be unique");
        }
    }
}

fn validate_resources(resources: &ResourceRequirements, path: &str, errors: &mut Errors) {
    for (name, limit) in &resources.limits {
        validate_amount(name, *limit, &format!("{path}.limits[{name}]"), errors);
    }
    for (name, request) in &resources.requests {
        validate_amount(name, *request, &format!("{path}.requests[{name}]"), errors);
        if let Some(limit) = resources.limits.get(name).filter(|limit| request > limit) {
            let reason = format!("must be less than or equal to {name} limit of {limit}");
            errors.invalid(below(path, ".requests"), request, &reason);
        }
    }
}

fn validate_amount(name: &str, amount: Quantity, path: &str, errors: &mut Errors) {
    let is_standard = matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-");
    for wrong in names::qualified_name(name) {
        errors.invalid(path, name, &wrong);
    }
    if !name.contains('/') && !is_standard {
        if name != "storage" {
            errors.invalid(path, name, "must be a standard resource type or fully qualified");
        }
        errors.invalid(path, name, "must be a standard resource for containers");
    }
    if amount.is_negative() {
        errors.invalid(path, &amount, IS_NEGATIVE);
    }
    if name.contains('/') && amount != Quantity::from_units(amount.units()) {
        errors.invalid(path, &amount, "must be an integer");
    }
}

fn validate_toleration(toleration: &Toleration, path: &str, errors: &mut Errors) {
    let operator_path = below(path, ".operator");
    for wrong in names::qualified_name(&toleration.key).iter().filter(|_| !toleration.key.is_empty()) {
        errors.invalid(below(path, ".key"), &toleration.key, wrong);
    }
    if toleration.key.is_empty() && toleration.operator != "Exists" {
        let reason = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        errors.invalid(&operator_path, &toleration.operator, reason);
    }
    if toleration.toleration_seconds.is_some() && toleration.effect != "NoExecute" {
        let reason = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        errors.invalid(below(path, ".effect"), &toleration.effect, reason);
    }
    match toleration.operator.as_str() {
        "" | "Equal" => {
            let wrong = names::label_value(&toleration.value);
            if !wrong.is_empty() {
                errors.invalid(&operator_path, &toleration.value, &wrong.join(";"));
            }
        }
        "Exists" if !toleration.value.is_empty() => {
            errors.invalid(&operator_path, toleration, "value must be empty when `operator` is 'Exists'");
        }
        "Exists" => {}
        other => errors.not_supported(&operator_path, other, &["Equal", "Exists"]),
    }
    if !toleration.effect.is_empty() {
        workload::validate_taint_effect(&toleration.effect, &below(path, ".effect"), errors);
    }
}

/// The items of a list of mappings that is kept as it was written.
pub(super) fn maps<'a>(extra: &'a Extra, key: &str) -> impl Iterator<Item = &'a Map<String, Value>> {
    extra.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

pub(super) fn text<'a>(map: &'a Map<String, Value>, key: &str) -> &'a str {
    map.get(key).and_then(Value::as_str).unwrap_or_default()
}
