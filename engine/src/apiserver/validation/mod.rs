//! What the API server refuses, in its own words (`pkg/apis/{core,apps,policy,autoscaling}/validation` and
//! `apimachinery/pkg/api/validation`, v1.36).
//!
//! Objects are expected to have gone through defaulting. Errors come in the order in which Kubernetes finds them.
//! Fidelity: checks of fields that nothing simulates (security contexts, affinity, most volume sources) are left out,
//! so that an object may be taken here that Kubernetes refuses; and a selector that is missing is not told from one
//! that is empty.

mod autoscaler;
mod meta;
mod names;
mod pod;
mod probe;
mod stored;
mod update;
mod workload;

use serde_json::Value;

use super::FieldError;
use crate::api::{Field, Object, write_value};

pub use names::label_value;
pub use update::validate_update;

/// Everything that is wrong with a new object; nothing where it may be stored.
pub fn validate_create(object: &Object) -> Vec<FieldError> {
    let mut errors = Errors::default();
    meta::validate(object, &mut errors);
    validate_spec(object, &mut errors);
    errors.0
}

/// As [`validate_create`], for an object whose spec is known to be right.
pub fn validate_meta(object: &Object) -> Vec<FieldError> {
    let mut errors = Errors::default();
    meta::validate(object, &mut errors);
    errors.0
}

/// What the API server says beside its answer, without refusing anything (`GetWarningsForPodTemplate` and its like).
pub fn warnings(object: &Object) -> Vec<String> {
    let mut warnings = Vec::new();
    let template = match object {
        Object::Deployment(deployment) => Some(&deployment.spec.template),
        Object::ReplicaSet(replica_set) => Some(&replica_set.spec.template),
        _ => None,
    };
    let name = &object.meta().name;
    if matches!(object, Object::Deployment(_))
        && !names::dns_label(name).is_empty()
        && names::dns_subdomain(name).is_empty()
    {
        let wrong = names::dns_label(name).join(", ");
        warnings.push(format!("metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [{wrong}]"));
    }
    let spec = match (object, template) {
        (Object::Pod(pod), _) => Some((&pod.spec, "spec")),
        (_, Some(template)) => Some((&template.spec, "spec.template.spec")),
        _ => None,
    };
    if let Some((_, path)) = spec.filter(|(spec, _)| spec.termination_grace_period_seconds.is_some_and(|it| it < 0)) {
        warnings.push(format!(
            "{path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"
        ));
    }
    warnings
}

fn validate_spec(object: &Object, errors: &mut Errors) {
    match object {
        Object::Deployment(deployment) => workload::validate_deployment(&deployment.spec, errors),
        Object::ReplicaSet(replica_set) => workload::validate_replica_set(&replica_set.spec, errors),
        Object::Pod(pod) => {
            pod::validate_spec(&pod.spec, "spec", errors);
            pod::validate_images(&pod.spec, errors);
        }
        Object::Node(node) => workload::validate_taints(&node.spec.taints, errors),
        Object::StatefulSet(set) => workload::validate_stateful_set(&set.spec, errors),
        Object::DaemonSet(set) => workload::validate_daemon_set(&set.spec, errors),
        Object::Lease(_) | Object::EndpointSlice(_) => {}
        // The other kinds are looked at as they were written.
        other => {
            if let Ok(object) = crate::api::read_value(other.to_value()) {
                stored::validate(other.kind(), &object, errors);
            }
        }
    }
}

/// What has come by already; the lists of a manifest are short.
struct Seen<T>(Vec<T>);

impl<T> Default for Seen<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: PartialEq> Seen<T> {
    fn contains(&self, item: &T) -> bool {
        self.0.contains(item)
    }

    /// Returns whether it is new.
    fn insert(&mut self, item: T) -> bool {
        let is_new = !self.0.contains(&item);
        if is_new {
            self.0.push(item);
        }
        is_new
    }
}

const IS_NEGATIVE: &str = "must be greater than or equal to 0";

/// The path of a field below another.
#[inline(never)]
fn below(path: &str, field: &str) -> String {
    [path, field].concat()
}

/// The errors found so far.
#[derive(Default)]
struct Errors(Vec<FieldError>);

impl Errors {
    fn push(&mut self, path: impl Into<String>, message: String) {
        self.0.push(FieldError { path: path.into(), message });
    }

    fn required(&mut self, path: impl Into<String>) {
        self.push(path, "Required value".into());
    }

    fn required_because(&mut self, path: impl Into<String>, reason: &str) {
        self.push(path, format!("Required value: {reason}"));
    }

    fn invalid(&mut self, path: impl Into<String>, value: &(impl ToJson + ?Sized), reason: &str) {
        self.push(path, format!("Invalid value: {}: {reason}", json(value)));
    }

    fn forbidden(&mut self, path: impl Into<String>, reason: &str) {
        self.push(path, format!("Forbidden: {reason}"));
    }

    fn duplicate(&mut self, path: impl Into<String>, value: &str) {
        self.push(path, format!("Duplicate value: {}", json(value)));
    }

    fn not_supported(&mut self, path: impl Into<String>, value: &str, supported: &[&str]) {
        self.unsupported(path, &json(value), supported);
    }

    fn unsupported(&mut self, path: impl Into<String>, value: &str, supported: &[&str]) {
        let supported: Vec<String> = supported.iter().map(|it| json(*it)).collect();
        self.push(path, format!("Unsupported value: {value}: supported values: {}", supported.join(", ")));
    }

    fn not_negative(&mut self, path: impl Into<String>, value: i64) {
        if value < 0 {
            self.invalid(path, &value, IS_NEGATIVE);
        }
    }
}

/// What a message quotes.
trait ToJson {
    fn to_json(&self) -> Value;
}

impl<T: Field + Clone> ToJson for T {
    fn to_json(&self) -> Value {
        write_value(self)
    }
}

impl ToJson for str {
    fn to_json(&self) -> Value {
        Value::from(self)
    }
}

fn json(value: &(impl ToJson + ?Sized)) -> String {
    value.to_json().to_string()
}
