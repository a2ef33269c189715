//! `metadata` (`validation.ValidateObjectMeta`) and label selectors.

use super::{Errors, below, names};
use crate::api::{Kind, LabelSelector, Labels, Object, ObjectMeta, OwnerReference, Uid};

const MAX_ANNOTATIONS: usize = 256 * 1024;

pub(super) fn validate(object: &Object, errors: &mut Errors) {
    let kind = object.kind();
    let meta = object.meta();
    validate_name(kind, meta, errors);
    if !kind.is_namespaced() && !meta.namespace.is_empty() {
        errors.forbidden("metadata.namespace", "not allowed on this type");
    }
    for wrong in names::dns_label(&meta.namespace).iter().filter(|_| kind.is_namespaced() && !meta.namespace.is_empty())
    {
        errors.invalid("metadata.namespace", meta.namespace.as_str(), wrong);
    }
    errors.not_negative("metadata.generation", meta.generation);
    validate_labels(&meta.labels, "metadata.labels", errors);
    validate_annotations(&meta.annotations, "metadata.annotations", errors);
    validate_owners(meta, errors);
    for finalizer in &meta.finalizers {
        for wrong in names::qualified_name(finalizer) {
            errors.invalid("metadata.finalizers", finalizer, &wrong);
        }
    }
}

/// `ValidateOwnerReferences`
fn validate_owners(meta: &ObjectMeta, errors: &mut Errors) {
    const PATH: &str = "metadata.ownerReferences";
    let mut first: Option<String> = None;
    for owner in &meta.owner_references {
        let fields = [
            ("apiVersion", owner.api_version.as_str(), "version must not be empty"),
            ("kind", &owner.kind, "must not be empty"),
            ("name", &owner.name, "must not be empty"),
        ];
        for (field, value, reason) in fields.into_iter().filter(|(_, value, _)| value.is_empty()) {
            errors.invalid(format!("{PATH}.{field}"), value, reason);
        }
        if owner.uid == Uid::default() {
            errors.invalid(format!("{PATH}.uid"), "", "must not be empty");
        }
        if owner.kind == "Event" && owner.api_version == "v1" {
            let reason = "/v1, Kind=Event is disallowed from being an owner";
            errors.push(PATH, format!("Invalid value: {}: {reason}", in_order(owner)));
        }
        let name = format!("{}/{}", owner.kind, owner.name);
        match &first {
            _ if !owner.controller => {}
            None => first = Some(name),
            Some(first) => {
                let all: Vec<String> = meta.owner_references.iter().map(in_order).collect();
                let reason = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {name}"
                );
                errors.push(PATH, format!("Invalid value: [{}]: {reason}", all.join(",")));
            }
        }
    }
}

/// An owner as JSON, its fields in the order in which Go declares them.
fn in_order(owner: &OwnerReference) -> String {
    let mut text = format!(
        "{{\"apiVersion\":{:?},\"kind\":{:?},\"name\":{:?},\"uid\":\"{}\"",
        owner.api_version, owner.kind, &*owner.name, owner.uid
    );
    for (field, is_set) in [("controller", owner.controller), ("blockOwnerDeletion", owner.block_owner_deletion)] {
        if is_set {
            text.push_str(&format!(",\"{field}\":true"));
        }
    }
    text + "}"
}

fn validate_name(kind: Kind, meta: &ObjectMeta, errors: &mut Errors) {
    let rule = match kind {
        Kind::Namespace | Kind::Service => names::dns_label,
        Kind::Role | Kind::RoleBinding | Kind::ClusterRole | Kind::ClusterRoleBinding => names::path_segment,
        _ => names::dns_subdomain,
    };
    if meta.name.is_empty() && meta.generate_name.is_empty() {
        errors.required_because("metadata.name", "name or generateName is required");
    }
    let prefix = meta.generate_name.trim_end_matches('-');
    for wrong in rule(prefix).iter().filter(|_| !prefix.is_empty()) {
        errors.invalid("metadata.generateName", &meta.generate_name, wrong);
    }
    for wrong in rule(&meta.name).iter().filter(|_| !meta.name.is_empty()) {
        errors.invalid("metadata.name", meta.name.as_str(), wrong);
    }
}

pub(super) fn validate_labels(labels: &Labels, path: &str, errors: &mut Errors) {
    for (key, value) in labels {
        for wrong in names::qualified_name(key) {
            errors.invalid(path, key, &wrong);
        }
        for wrong in names::label_value(value) {
            errors.invalid(path, value, &wrong);
        }
    }
}

pub(super) fn validate_annotations(annotations: &Labels, path: &str, errors: &mut Errors) {
    for key in annotations.keys() {
        // Upper case is fine in the prefix of an annotation.
        for wrong in names::qualified_name(&key.to_ascii_lowercase()) {
            errors.invalid(path, key, &wrong);
        }
    }
    if annotations.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>() > MAX_ANNOTATIONS {
        errors.push(path, format!("Too long: may not be more than {MAX_ANNOTATIONS} bytes"));
    }
}

/// `ValidateLabelSelector`. Returns whether the selector can be used.
pub(super) fn validate_selector(selector: &LabelSelector, path: &str, errors: &mut Errors) -> bool {
    let before = errors.0.len();
    validate_labels(&selector.match_labels, &below(path, ".matchLabels"), errors);
    for (index, requirement) in selector.match_expressions.iter().enumerate() {
        let path = format!("{path}.matchExpressions[{index}]");
        match requirement.operator.as_str() {
            "In" | "NotIn" if requirement.values.is_empty() => {
                errors.required_because(below(&path, ".values"), "must be specified when `operator` is 'In' or 'NotIn'")
            }
            "Exists" | "DoesNotExist" if !requirement.values.is_empty() => errors.forbidden(
                below(&path, ".values"),
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => errors.invalid(below(&path, ".operator"), other, "not a valid selector operator"),
        }
        for wrong in names::qualified_name(&requirement.key) {
            errors.invalid(below(&path, ".key"), &requirement.key, &wrong);
        }
        for (index, value) in requirement.values.iter().enumerate() {
            for wrong in names::label_value(value) {
                errors.invalid(format!("{path}.values[{index}]"), value, &wrong);
            }
        }
    }
    errors.0.len() == before
}
