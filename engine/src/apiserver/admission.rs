//! Admission: what the API server asks of a new object beyond its own fields.
//!
//! Mirrors `plugin/pkg/admission/{priority,resourcequota}` and `apiserver/pkg/admission/plugin/namespace/lifecycle`,
//! v1.36. Fidelity: quotas count pods and what they request or are limited to; quotas with scopes, and object counts
//! other than pods, are not enforced.

use std::rc::Rc;

use super::{Answer, ApiError, ApiServer, ChangeKind, Effect, Moment, Reason};
use crate::api::{Kind, Name, Object, ObjectKey, Pod, PodSpec, PriorityClass, Quantity, ResourceQuota};

/// Amounts by resource name.
pub type Amounts = crate::sim::Dict<Quantity>;

/// What a quota may count of pods, with the resource of the containers and whether it is a limit
/// (`pkg/quota/v1/evaluator/core/pods.go`).
const COMPUTE: [(&str, &str, bool); 6] = [
    ("cpu", "cpu", false),
    ("limits.cpu", "cpu", true),
    ("limits.memory", "memory", true),
    ("memory", "memory", false),
    ("requests.cpu", "cpu", false),
    ("requests.memory", "memory", false),
];

/// Whether a quota's resource is about pods, and counted here.
pub fn is_counted(resource: &str) -> bool {
    matches!(resource, "pods" | "count/pods") || COMPUTE.iter().any(|(name, ..)| *name == resource)
}

/// What a pod takes of one resource of a quota. Pods that have finished take nothing but their own number.
pub fn usage_of(pod: &Pod, resource: &str) -> Quantity {
    if resource == "count/pods" {
        return Quantity::from_units(1);
    }
    if pod.is_finished() {
        return Quantity::ZERO;
    }
    if resource == "pods" {
        return Quantity::from_units(1);
    }
    COMPUTE
        .iter()
        .find(|(name, ..)| *name == resource)
        .map_or(Quantity::ZERO, |(_, of, is_limit)| if *is_limit { limit(&pod.spec, of) } else { pod.spec.request(of) })
}

fn limit(spec: &PodSpec, resource: &str) -> Quantity {
    spec.containers
        .iter()
        .filter_map(|it| it.resources.limits.get(resource))
        .fold(Quantity::ZERO, |sum, it| sum.plus(*it))
}

fn has_scopes(quota: &ResourceQuota) -> bool {
    ["scopes", "scopeSelector"].iter().any(|field| quota.spec.extra.contains_key(field))
}

fn pretty(amounts: &[(&str, Quantity)]) -> String {
    let parts: Vec<String> = amounts.iter().map(|(name, amount)| format!("{name}={amount}")).collect();
    parts.join(",")
}

/// What a quota says to a new pod: what it will have used then, nothing where it does not count this pod.
fn check_quota(quota: &ResourceQuota, pod: &Pod) -> Result<Option<Amounts>, String> {
    let name = &quota.metadata.name;
    let counted: Vec<&str> = quota.spec.hard.keys().map(String::as_str).filter(|it| is_counted(it)).collect();
    if counted.is_empty() || has_scopes(quota) {
        return Ok(None);
    }
    if let Some(missing) = missing_resources(&counted, &pod.spec) {
        return Err(format!("failed quota: {name}: must specify {missing}"));
    }
    let unknown: Vec<&str> = counted
        .iter()
        .copied()
        .filter(|it| !quota.status.hard.contains_key(it) || !quota.status.used.contains_key(it))
        .collect();
    if !unknown.is_empty() {
        return Err(format!("status unknown for quota: {name}, resources: {}", unknown.join(",")));
    }
    let mut used = quota.status.used.clone();
    let (mut requested, mut before, mut limited) = (Vec::new(), Vec::new(), Vec::new());
    for resource in counted {
        let amount = usage_of(pod, resource);
        let old = used.get(resource).copied().unwrap_or_default();
        let hard = quota.status.hard.get(resource).copied().unwrap_or_default();
        if old.plus(amount) > hard && amount > Quantity::ZERO {
            requested.push((resource, amount));
            before.push((resource, old));
            limited.push((resource, hard));
        }
        used.insert(resource.into(), old.plus(amount));
    }
    if requested.is_empty() {
        return Ok(Some(used));
    }
    let (requested, before, limited) = (pretty(&requested), pretty(&before), pretty(&limited));
    Err(format!("exceeded quota: {name}, requested: {requested}, used: {before}, limited: {limited}"))
}

/// A quota on what containers ask for can be kept only where every container says it.
fn missing_resources(counted: &[&str], spec: &PodSpec) -> Option<String> {
    let mut parts = Vec::new();
    for (resource, of, is_limit) in COMPUTE.iter().filter(|(name, ..)| counted.contains(name)) {
        let names: Vec<&str> = spec
            .containers
            .iter()
            .filter(|it| !(if *is_limit { &it.resources.limits } else { &it.resources.requests }).contains_key(of))
            .map(|it| it.name.as_str())
            .collect();
        if !names.is_empty() {
            parts.push(format!("{resource} for: {}", names.join(",")));
        }
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn priority_class_name(spec: &PodSpec) -> &str {
    spec.extra.get("priorityClassName").and_then(|it| it.as_str()).unwrap_or_default()
}

impl ApiServer {
    /// A namespace must exist and may not be on its way out.
    pub(super) fn admit_namespace(&self, key: &ObjectKey) -> Result<(), ApiError> {
        if !key.kind.is_namespaced() {
            return Ok(());
        }
        let namespace = ObjectKey::new(Kind::Namespace, Name::default(), key.namespace.clone());
        match self.objects().get(&namespace) {
            None => Err(ApiError::not_found(&namespace)),
            Some(found) if found.meta().deletion_timestamp.is_some() => {
                let why = format!(
                    "unable to create new content in namespace {} because it is being terminated",
                    key.namespace
                );
                Err(ApiError::forbidden(key, why))
            }
            Some(_) => Ok(()),
        }
    }

    /// Gives a pod the priority of its class, or of the default class.
    pub(super) fn admit_priority(&self, key: &ObjectKey, pod: &mut Rc<Pod>) -> Result<(), ApiError> {
        let named = priority_class_name(&pod.spec);
        let class = match named {
            "" => self.default_class(),
            name => {
                let class = ObjectKey::new(Kind::PriorityClass, Name::default(), name);
                let found = self.objects().get(&class).and_then(Object::as_priority_class);
                Some(found.ok_or_else(|| {
                    ApiError::forbidden(key, format_args!("no PriorityClass with name {name} was found"))
                })?)
            }
        };
        let value = class.map_or(0, |class| class.value);
        if let Some(given) = pod.spec.priority.filter(|given| *given != value) {
            let why = format!(
                "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller computed {value} from the given PriorityClass name"
            );
            return Err(ApiError::forbidden(key, why));
        }
        let Some(class) = class.cloned() else { return Ok(()) };
        let spec = Rc::make_mut(&mut Rc::make_mut(pod).spec);
        spec.priority = Some(value);
        spec.extra.insert("priorityClassName".into(), class.metadata.name.as_str().into());
        let policy = if class.preemption_policy.is_empty() { "PreemptLowerPriority" } else { &class.preemption_policy };
        spec.extra.insert("preemptionPolicy".into(), policy.into());
        Ok(())
    }

    /// The class of pods that name none: of several defaults the lowest.
    fn default_class(&self) -> Option<&Rc<PriorityClass>> {
        let classes = self.objects().of_kind(Kind::PriorityClass).filter_map(Object::as_priority_class);
        classes.filter(|class| class.global_default).min_by_key(|class| class.value)
    }

    /// Counts a new pod against the quotas of its namespace, all of them or none.
    pub(super) fn admit_quota(&mut self, key: &ObjectKey, pod: &Pod, moment: &Moment<'_>) -> Result<(), ApiError> {
        for (mut quota, used) in self.charge_quotas(key, pod)? {
            Rc::make_mut(&mut quota).status.used = used;
            self.write(ChangeKind::Modified, Object::ResourceQuota(quota), moment);
        }
        Ok(())
    }

    /// The quotas that would count a new pod, and what would be used of them then.
    pub(super) fn charge_quotas(
        &self,
        key: &ObjectKey,
        pod: &Pod,
    ) -> Result<Vec<(Rc<ResourceQuota>, Amounts)>, ApiError> {
        let mut charged = Vec::new();
        let quotas = self.objects().in_namespace(Kind::ResourceQuota, &key.namespace);
        for quota in quotas.filter_map(Object::as_resource_quota) {
            let used = check_quota(quota, pod).map_err(|why| ApiError::forbidden(key, why))?;
            if let Some(used) = used.filter(|used| *used != quota.status.used) {
                charged.push((Rc::clone(quota), used));
            }
        }
        Ok(charged)
    }

    /// Takes Kubernetes' own finalizer off a namespace, whose last hold it usually is.
    pub(super) fn finalize(&mut self, key: &ObjectKey, moment: &mut Moment<'_>) -> Result<Answer, ApiError> {
        let found = self.objects().get(key).and_then(Object::as_namespace);
        let mut namespace = Rc::clone(found.ok_or_else(|| ApiError::not_found(key))?);
        if namespace.metadata.deletion_timestamp.is_none() {
            return Err(ApiError::new(Reason::Conflict, format!("namespace {} is not being deleted", key.name)));
        }
        let it = Rc::make_mut(&mut namespace);
        let before = it.spec.finalizers.len();
        it.spec.finalizers.retain(|finalizer| finalizer != "kubernetes");
        if it.spec.finalizers.len() == before {
            return Ok(Answer { object: Object::Namespace(namespace), outcome: Effect::Unchanged });
        }
        self.finish_write(key.clone(), Object::Namespace(namespace), moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::read_value;
    use serde_json::json;

    fn quota(hard: serde_json::Value, used: serde_json::Value) -> ResourceQuota {
        let value = json!({"metadata": {"name": "q"}, "spec": {"hard": hard}, "status": {"hard": hard, "used": used}});
        read_value(value).unwrap()
    }

    fn pod(requests: serde_json::Value) -> Pod {
        read_value(json!({"spec": {"containers": [{"name": "app", "resources": {"requests": requests}}]}})).unwrap()
    }

    #[test]
    fn a_quota_says_what_is_too_much_in_kubernetes_words() {
        let full = quota(json!({"pods": "3"}), json!({"pods": "3"}));
        let message = "exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3";
        assert_eq!(check_quota(&full, &pod(json!({}))), Err(message.into()));
        let cpu = quota(json!({"pods": "9", "requests.cpu": "1"}), json!({"pods": "2", "requests.cpu": "950m"}));
        let message =
            "exceeded quota: q, requested: requests.cpu=100m, used: requests.cpu=950m, limited: requests.cpu=1";
        assert_eq!(check_quota(&cpu, &pod(json!({"cpu": "100m"}))), Err(message.into()));
        let message = "failed quota: q: must specify requests.cpu for: app";
        assert_eq!(check_quota(&cpu, &pod(json!({}))), Err(message.into()));
    }

    #[test]
    fn a_quota_counts_what_it_admits() {
        let cpu = quota(json!({"pods": "3", "requests.cpu": "1"}), json!({"pods": "2", "requests.cpu": "200m"}));
        let used = check_quota(&cpu, &pod(json!({"cpu": "100m"}))).unwrap().unwrap();
        assert_eq!(
            (used.get("pods"), used.get("requests.cpu")),
            ("3".parse().ok().as_ref(), "300m".parse().ok().as_ref())
        );
        assert_eq!(check_quota(&quota(json!({"services": "3"}), json!({})), &pod(json!({}))), Ok(None));
    }

    #[test]
    fn a_quota_that_nobody_has_counted_yet_admits_nothing() {
        let fresh: ResourceQuota =
            read_value(json!({"metadata": {"name": "q"}, "spec": {"hard": {"pods": "3"}}})).unwrap();
        assert_eq!(check_quota(&fresh, &pod(json!({}))), Err("status unknown for quota: q, resources: pods".into()));
    }
}
