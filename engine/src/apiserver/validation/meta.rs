//! `metadata` (`validation.ValidateObjectMeta`) and label selectors.

use super::{Errors, below, names};
use crate::api::{Kind, LabelSelector, Labels, Object, ObjectMeta};

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
    for finalizer in &meta.finalizers {
        for wrong in names::qualified_name(finalizer) {
            errors.invalid("metadata.finalizers", finalizer, &wrong);
        }
    }
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
