//! What the API server fills in before it stores an object (`pkg/apis/{core,apps}/v1/defaults.go`, v1.36), and what
//! admission adds to a pod (`DefaultTolerationSeconds`, `Priority`).
//!
//! Fidelity: no service account is mounted, no cluster IP or node port is given out, and of the kinds that nothing
//! simulates only Services get defaults.

use std::rc::Rc;

use serde_json::{Map, Value};

use crate::api::{
    Container, Deployment, Extra, IntOrPercent, Namespace, Object, Pod, PodSpec, Probe, Quantity, ReplicaSet,
    ResourceRequirements, Service, Toleration, fields,
};

/// Fills in the fields that a manifest left out.
pub fn apply_defaults(object: &mut Object) {
    match object {
        Object::Deployment(deployment) => default_deployment(Rc::make_mut(deployment)),
        Object::ReplicaSet(replica_set) => default_replica_set(Rc::make_mut(replica_set)),
        Object::Pod(pod) if !is_defaulted(&pod.spec) => default_pod_spec(&mut Rc::make_mut(pod).spec),
        Object::Node(node) if node.status.allocatable.is_empty() && !node.status.capacity.is_empty() => {
            let status = &mut Rc::make_mut(node).status;
            status.allocatable = status.capacity.clone();
        }
        Object::Namespace(namespace) => default_namespace(Rc::make_mut(namespace)),
        Object::Service(service) => default_service(Rc::make_mut(service)),
        Object::StatefulSet(set) => super::default_stateful_set(Rc::make_mut(set)),
        Object::DaemonSet(set) => super::default_daemon_set(Rc::make_mut(set)),
        Object::Job(job) => super::default_job(Rc::make_mut(job)),
        Object::HorizontalPodAutoscaler(it) => super::default_autoscaler(Rc::make_mut(it)),
        _ => {}
    }
}

/// A namespace carries its name as a label, and Kubernetes' finalizer until its controller has emptied it.
fn default_namespace(namespace: &mut Namespace) {
    let name = namespace.metadata.name.to_string();
    namespace.metadata.labels.insert("kubernetes.io/metadata.name".into(), name);
    if namespace.metadata.deletion_timestamp.is_none() && namespace.spec.finalizers.is_empty() {
        namespace.spec.finalizers.push("kubernetes".into());
    }
}

fn default_deployment(deployment: &mut Deployment) {
    let spec = &mut deployment.spec;
    spec.replicas.get_or_insert(1);
    spec.revision_history_limit.get_or_insert(10);
    spec.progress_deadline_seconds.get_or_insert(600);
    if spec.strategy.kind.is_empty() {
        spec.strategy.kind = "RollingUpdate".into();
    }
    if spec.strategy.kind == "RollingUpdate" {
        let rolling = spec.strategy.rolling_update.get_or_insert_default();
        rolling.max_surge.get_or_insert_with(|| IntOrPercent::percent(25));
        rolling.max_unavailable.get_or_insert_with(|| IntOrPercent::percent(25));
    }
    default_pod_spec(&mut spec.template.spec);
}

fn default_replica_set(replica_set: &mut ReplicaSet) {
    replica_set.spec.replicas.get_or_insert(1);
    default_pod_spec(&mut replica_set.spec.template.spec);
}

/// Whether defaulting would change nothing, so that a spec that many pods share need not be copied.
fn is_defaulted(spec: &PodSpec) -> bool {
    let has = |extra: &Extra, keys: &[&str]| keys.iter().all(|key| extra.contains_key(key));
    let probe_is_defaulted = |probe: &Option<Probe>| {
        probe.as_ref().is_none_or(|probe| {
            let times = [probe.timeout_seconds, probe.period_seconds, probe.success_threshold, probe.failure_threshold];
            times.iter().all(|it| it.is_some_and(|it| it != 0))
        })
    };
    let container_is_defaulted = |container: &Container| {
        !container.image_pull_policy.is_empty()
            && has(&container.extra, &["terminationMessagePath", "terminationMessagePolicy"])
            && [&container.liveness_probe, &container.readiness_probe, &container.startup_probe]
                .into_iter()
                .all(probe_is_defaulted)
    };
    !spec.restart_policy.is_empty()
        && spec.termination_grace_period_seconds.is_some()
        && has(&spec.extra, &["dnsPolicy", "securityContext", "schedulerName"])
        && spec.containers.iter().chain(&spec.init_containers).all(container_is_defaulted)
}

pub(super) fn default_pod_spec(spec: &mut Rc<PodSpec>) {
    if is_defaulted(spec) {
        return;
    }
    let spec = Rc::make_mut(spec);
    if spec.restart_policy.is_empty() {
        spec.restart_policy = "Always".into();
    }
    spec.termination_grace_period_seconds.get_or_insert(30);
    default_text(&mut spec.extra, "dnsPolicy", "ClusterFirst");
    default_text(&mut spec.extra, "schedulerName", "default-scheduler");
    spec.extra.or_insert_with("securityContext", || fields([]));
    // The old name of the field is written beside the new one.
    for (from, to) in [("serviceAccountName", "serviceAccount"), ("serviceAccount", "serviceAccountName")] {
        if let Some(name) = spec.extra.get(from).cloned() {
            spec.extra.or_insert_with(to, || name);
        }
    }
    let host_network = spec.extra.get("hostNetwork") == Some(&Value::Bool(true));
    for container in spec.containers.iter_mut().chain(&mut spec.init_containers) {
        default_container(container, host_network);
    }
    for volume in list_mut(&mut spec.extra, "volumes") {
        default_volume(volume);
    }
}

fn default_container(container: &mut Container, host_network: bool) {
    if container.image_pull_policy.is_empty() {
        container.image_pull_policy = if is_latest(&container.image) { "Always" } else { "IfNotPresent" }.into();
    }
    default_text(&mut container.extra, "terminationMessagePath", "/dev/termination-log");
    default_text(&mut container.extra, "terminationMessagePolicy", "File");
    for probe in [&mut container.liveness_probe, &mut container.readiness_probe, &mut container.startup_probe] {
        probe.iter_mut().for_each(default_probe);
    }
    for port in list_mut(&mut container.extra, "ports") {
        default_field(port, "protocol", "TCP".into());
        if let Some(number) = port.get("containerPort").cloned().filter(|_| host_network) {
            default_field(port, "hostPort", number);
        }
    }
    for variable in list_mut(&mut container.extra, "env") {
        let field = variable.get_mut("valueFrom").and_then(|it| it.get_mut("fieldRef")).and_then(Value::as_object_mut);
        if let Some(field) = field {
            default_field(field, "apiVersion", "v1".into());
        }
    }
    if let Some(Value::Object(lifecycle)) = container.extra.get_mut("lifecycle") {
        for (_, handler) in lifecycle.iter_mut() {
            default_http_get(handler.get_mut("httpGet"));
        }
    }
    round_to_milli(&mut container.resources);
}

fn is_latest(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or_default();
    if name.contains('@') {
        return false;
    }
    name.split_once(':').is_none_or(|(_, tag)| tag == "latest")
}

fn default_probe(probe: &mut Probe) {
    for (field, value) in [
        (&mut probe.timeout_seconds, 1),
        (&mut probe.period_seconds, 10),
        (&mut probe.success_threshold, 1),
        (&mut probe.failure_threshold, 3),
    ] {
        // Zero stands for "not set" in the API.
        if field.unwrap_or(0) == 0 {
            *field = Some(value);
        }
    }
    default_http_get(probe.extra.get_mut("httpGet"));
    if let Some(Value::Object(grpc)) = probe.extra.get_mut("grpc") {
        default_field(grpc, "service", "".into());
    }
}

fn default_http_get(action: Option<&mut Value>) {
    if let Some(Value::Object(action)) = action {
        default_field(action, "path", "/".into());
        default_field(action, "scheme", "HTTP".into());
    }
}

fn default_volume(volume: &mut Map<String, Value>) {
    const FILE_MODE: i32 = 0o644;
    if volume.keys().all(|key| key == "name") {
        volume.insert("emptyDir".into(), fields([]));
    }
    for source in ["configMap", "secret", "downwardAPI", "projected"] {
        if let Some(Value::Object(source)) = volume.get_mut(source) {
            source.entry("defaultMode").or_insert(FILE_MODE.into());
        }
    }
    if let Some(Value::Object(path)) = volume.get_mut("hostPath") {
        path.entry("type").or_insert("".into());
    }
}

/// Amounts are kept in thousandths, rounded up (`SetDefaults_ResourceList`).
fn round_to_milli(resources: &mut ResourceRequirements) {
    let largest = Quantity::from_milli(i64::MAX);
    for amount in resources.limits.values_mut().chain(resources.requests.values_mut()) {
        let rounded = Quantity::from_milli(amount.milli());
        if *amount < largest && rounded != *amount {
            *amount = rounded;
        }
    }
}

fn default_service(service: &mut Service) {
    let spec = &mut service.spec;
    if spec.kind.is_empty() {
        spec.kind = "ClusterIP".into();
    }
    default_text(&mut spec.extra, "sessionAffinity", "None");
    if spec.kind != "ExternalName" {
        default_text(&mut spec.extra, "internalTrafficPolicy", "Cluster");
    }
    for port in &mut spec.ports {
        if port.protocol.is_empty() {
            port.protocol = "TCP".into();
        }
        let is_unset = match &port.target_port {
            Some(IntOrPercent::Int(number)) => *number == 0,
            Some(IntOrPercent::Text(name)) => name.is_empty(),
            None => true,
        };
        if is_unset && port.port != 0 {
            port.target_port = Some(IntOrPercent::Int(port.port));
        }
    }
}

pub(super) fn default_text(extra: &mut Extra, key: &str, value: &str) {
    let is_set = extra.get(key).is_some_and(|it| it.as_str() != Some(""));
    if !is_set {
        extra.insert(key.into(), value.into());
    }
}

/// Sets a field that is missing, empty or zero, which the API does not tell apart.
fn default_field(map: &mut Map<String, Value>, key: &str, value: Value) {
    let is_set = map.get(key).is_some_and(|it| it.as_str() != Some("") && it.as_i64() != Some(0));
    if !is_set {
        map.insert(key.into(), value);
    }
}

fn list_mut<'a>(extra: &'a mut Extra, key: &str) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    extra.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

/// What admission and the defaults for pods alone add to a new pod.
pub fn admit_pod(pod: &mut Pod) {
    let spec = Rc::make_mut(&mut pod.spec);
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let is_tolerated = spec
            .tolerations
            .iter()
            .any(|it| (it.key == key || it.key.is_empty()) && (it.effect == "NoExecute" || it.effect.is_empty()));
        if !is_tolerated {
            spec.tolerations.push(Toleration {
                key: key.into(),
                operator: "Exists".into(),
                effect: "NoExecute".into(),
                toleration_seconds: Some(300),
                ..Toleration::default()
            });
        }
    }
    spec.priority.get_or_insert(0);
    default_text(&mut spec.extra, "preemptionPolicy", "PreemptLowerPriority");
    spec.extra.or_insert_with("enableServiceLinks", || Value::Bool(true));
    for container in spec.containers.iter_mut().chain(&mut spec.init_containers) {
        let resources = &mut container.resources;
        for (name, limit) in &resources.limits {
            resources.requests.or_insert_with(name, || *limit);
        }
    }
    pod.status.qos_class = qos_class(spec).into();
}

/// `qos.ComputePodQOS`, v1.36: only CPU and memory count, and zero counts as not set.
fn qos_class(spec: &PodSpec) -> &'static str {
    const COUNTED: [&str; 2] = ["cpu", "memory"];
    let containers = || spec.containers.iter().chain(&spec.init_containers);
    let amount = |list: &crate::sim::Dict<Quantity>, name: &str| {
        list.get(name).copied().filter(|amount| *amount > Quantity::ZERO)
    };
    let asks = |container: &Container| {
        COUNTED.iter().any(|name| {
            amount(&container.resources.requests, name).is_some() || amount(&container.resources.limits, name).is_some()
        })
    };
    if !containers().any(asks) {
        return "BestEffort";
    }
    let is_guaranteed = containers().all(|container| {
        COUNTED.iter().all(|name| {
            let limit = amount(&container.resources.limits, name);
            limit.is_some() && amount(&container.resources.requests, name).is_none_or(|request| Some(request) == limit)
        })
    });
    if is_guaranteed { "Guaranteed" } else { "Burstable" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Kind;
    use serde_json::json;

    fn object(kind: Kind, value: Value) -> Object {
        let mut object = Object::from_value(kind, value).unwrap();
        apply_defaults(&mut object);
        object
    }

    #[test]
    fn a_deployment_gets_what_the_api_server_of_1_36_writes() {
        let deployment = object(
            Kind::Deployment,
            json!({"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "app", "image": "app:v1", "resources": {"requests": {"cpu": "0.1"}}}]}}}}),
        );
        let expected = json!({
            "replicas": 1, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
                "containers": [{"name": "app", "image": "app:v1", "resources": {"requests": {"cpu": "100m"}},
                    "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
                    "imagePullPolicy": "IfNotPresent"}],
                "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
                "securityContext": {}, "schedulerName": "default-scheduler"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
            "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600});
        assert_eq!(deployment.to_value()["spec"], expected);
    }

    #[test]
    fn a_pod_made_from_a_defaulted_template_shares_its_spec() {
        let deployment = object(
            Kind::Deployment,
            json!({"metadata": {"name": "web"}, "spec": {"template": {"spec": {"containers": [
                {"name": "app", "image": "app", "readinessProbe": {"httpGet": {"port": 80}}}]}}}}),
        );
        let spec = Rc::clone(&deployment.as_deployment().unwrap().spec.template.spec);
        assert_eq!(spec.containers[0].image_pull_policy, "Always");
        assert_eq!(spec.containers[0].readiness_probe.as_ref().unwrap().period_seconds, Some(10));
        let mut pod = Object::Pod(Rc::new(Pod { spec: Rc::clone(&spec), ..Pod::default() }));
        apply_defaults(&mut pod);
        assert!(Rc::ptr_eq(&pod.as_pod().unwrap().spec, &spec));
    }

    #[test]
    fn a_pod_is_admitted_with_tolerations_priority_and_quality_of_service() {
        for (resources, qos) in [
            (json!({}), "BestEffort"),
            (json!({"requests": {"cpu": "100m"}}), "Burstable"),
            (json!({"limits": {"cpu": "100m", "memory": "1Gi"}}), "Guaranteed"),
            (json!({"limits": {"cpu": "100m"}}), "Burstable"),
        ] {
            let pod = object(
                Kind::Pod,
                json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "b:1", "resources": resources}]}}),
            );
            let mut pod = pod.as_pod().unwrap().as_ref().clone();
            admit_pod(&mut pod);
            assert_eq!(pod.status.qos_class, qos);
            assert_eq!(pod.spec.tolerations.len(), 2);
            assert_eq!(pod.spec.priority, Some(0));
            assert_eq!(pod.spec.extra["enableServiceLinks"], json!(true));
        }
    }

    #[test]
    fn images_without_a_tag_or_with_latest_are_always_pulled() {
        for (image, latest) in [
            ("app", true),
            ("app:latest", true),
            ("app:v1", false),
            ("registry:5000/app", true),
            ("registry:5000/app:v1", false),
            ("app@sha256:0123", false),
        ] {
            assert_eq!(is_latest(image), latest, "{image}");
        }
    }

    #[test]
    fn amounts_finer_than_a_thousandth_are_rounded_up() {
        let pod = object(
            Kind::Pod,
            json!({"spec": {"containers": [{"name": "a", "resources": {"requests": {"cpu": "0.0001", "memory": "10E"}}}]}}),
        );
        let requests = &pod.as_pod().unwrap().spec.containers[0].resources.requests;
        assert_eq!(requests.get("cpu").map(ToString::to_string), Some("1m".into()));
        assert_eq!(requests.get("memory"), "10E".parse().ok().as_ref());
    }
}
