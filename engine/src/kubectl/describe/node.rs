//! A node.

use serde_json::Value;

use super::super::columns::roles;
use super::super::time;
use super::super::value::{at, flag, has, list, map, plain, text};
use super::{About, Writer};
use crate::api::{Kind, Name, Node, ObjectKey, Pod, Quantity};
use crate::sim::sort_by;

pub fn describe(about: &About<'_>, w: &mut Writer) {
    let value = about.value;
    w.field("Name", text(value, "metadata.name"));
    w.field("Roles", &roles(value));
    about.marks(w);
    w.field("CreationTimestamp", &about.date("metadata.creationTimestamp"));
    taints(value, w);
    w.field("Unschedulable", if flag(value, "spec.unschedulable") { "true" } else { "false" });
    lease(about, w);
    let conditions = list(value, "status.conditions");
    if !conditions.is_empty() {
        w.line(0, &["Conditions:"]);
        w.line(1, &["Type\tStatus\tLastHeartbeatTime\tLastTransitionTime\tReason\tMessage"]);
        w.line(1, &["----\t------\t-----------------\t------------------\t------\t-------"]);
    }
    for it in conditions {
        let date = |field: &str| time::date(text(it, field));
        w.line(
            1,
            &[
                text(it, "type"),
                " \t",
                text(it, "status"),
                " \t",
                &date("lastHeartbeatTime"),
                " \t",
                &date("lastTransitionTime"),
                " \t",
                text(it, "reason"),
                " \t",
                text(it, "message"),
            ],
        );
    }
    w.line(0, &["Addresses:"]);
    for it in list(value, "status.addresses") {
        w.line(1, &[text(it, "type"), ":\t", text(it, "address")]);
    }
    for (field, title) in [("status.capacity", "Capacity:"), ("status.allocatable", "Allocatable:")] {
        let amounts = map(value, field);
        if amounts.is_some_and(|it| !it.is_empty()) {
            w.line(0, &[title]);
        }
        for (name, amount) in amounts.into_iter().flatten() {
            w.line(1, &[name, ":\t", &plain(amount)]);
        }
    }
    system_info(value, w);
    if let Some(node) = about.object.as_node() {
        pods(about, node, w);
    }
    about.tail(w);
}

fn taints(value: &Value, w: &mut Writer) {
    let mut taints: Vec<(&str, String)> = list(value, "spec.taints")
        .iter()
        .map(|it| {
            let value = text(it, "value");
            let equals = if value.is_empty() { "" } else { "=" };
            (text(it, "effect"), [text(it, "key"), equals, value, ":", text(it, "effect")].concat())
        })
        .collect();
    sort_by(&mut taints, |a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let mut head = "Taints:\t";
    for (_, taint) in &taints {
        w.line(0, &[head, taint]);
        head = "\t";
    }
    if taints.is_empty() {
        w.line(0, &[head, "<none>"]);
    }
}

fn lease(about: &About<'_>, w: &mut Writer) {
    let key = ObjectKey::new(Kind::Lease, "kube-node-lease", about.object.meta().name.clone());
    let found = about.cluster.api().objects().get(&key).map(crate::api::Object::to_value);
    w.line(0, &["Lease:"]);
    let Some(lease) = found else {
        return w.line(
            1,
            &["Failed to get lease: leases.coordination.k8s.io \"", &about.object.meta().name, "\" not found"],
        );
    };
    let date = |path: &str| match text(&lease, path) {
        "" => "<unset>".to_string(),
        at => time::date(at),
    };
    w.line(1, &["HolderIdentity:\t", text(&lease, "spec.holderIdentity")]);
    w.line(1, &["AcquireTime:\t", &date("spec.acquireTime")]);
    w.line(1, &["RenewTime:\t", &date("spec.renewTime")]);
}

fn system_info(value: &Value, w: &mut Writer) {
    let info = at(value, "status.nodeInfo");
    w.line(0, &["System Info:"]);
    for (field, title) in [
        ("machineID", "Machine ID"),
        ("systemUUID", "System UUID"),
        ("bootID", "Boot ID"),
        ("kernelVersion", "Kernel Version"),
        ("osImage", "OS Image"),
        ("operatingSystem", "Operating System"),
        ("architecture", "Architecture"),
        ("containerRuntimeVersion", "Container Runtime Version"),
        ("kubeletVersion", "Kubelet Version"),
    ] {
        w.line(1, &[title, ":\t", text(info, field)]);
    }
    if has(value, "spec.podCIDR") {
        w.field("PodCIDR", text(value, "spec.podCIDR"));
    }
    if has(value, "spec.podCIDRs") {
        let all: Vec<&str> = list(value, "spec.podCIDRs").iter().filter_map(Value::as_str).collect();
        w.field("PodCIDRs", &all.join(","));
    }
    if has(value, "spec.providerID") {
        w.field("ProviderID", text(value, "spec.providerID"));
    }
}

/// What a pod is limited to: the sum over its containers, or the most of an init container.
fn limit(pod: &Pod, resource: &str) -> Quantity {
    let of = |it: &crate::api::Container| it.resources.limits.get(resource).copied().unwrap_or(Quantity::ZERO);
    let sum = pod.spec.containers.iter().map(of).fold(Quantity::ZERO, Quantity::plus);
    let sidecars =
        pod.spec.init_containers.iter().filter(|it| it.is_sidecar()).map(of).fold(Quantity::ZERO, Quantity::plus);
    let most = pod.spec.init_containers.iter().filter(|it| !it.is_sidecar()).map(of).max().unwrap_or(Quantity::ZERO);
    sum.plus(sidecars).max(most)
}

/// What a pod asks for, written as its containers write it.
fn request(pod: &Pod, resource: &str) -> Quantity {
    let of = |it: &crate::api::Container| it.resources.requests.get(resource).copied().unwrap_or(Quantity::ZERO);
    let sum = pod.spec.containers.iter().map(of).fold(Quantity::ZERO, Quantity::plus);
    let sidecars =
        pod.spec.init_containers.iter().filter(|it| it.is_sidecar()).map(of).fold(Quantity::ZERO, Quantity::plus);
    let most = pod.spec.init_containers.iter().filter(|it| !it.is_sidecar()).map(of).max().unwrap_or(Quantity::ZERO);
    sum.plus(sidecars).max(most)
}

/// `100m (1%)`
fn share(amount: Quantity, of: Quantity) -> String {
    let percent = match of.milli() {
        0 => 0,
        all => (i128::from(amount.milli()) * 100 / i128::from(all)) as i64,
    };
    [&amount.to_string(), " (", &percent.to_string(), "%)"].concat()
}

fn pods(about: &About<'_>, node: &Node, w: &mut Writer) {
    let name: &Name = &node.metadata.name;
    let all = super::super::resources::list(about.cluster, Kind::Pod, None);
    let here: Vec<&Pod> = all
        .iter()
        .filter_map(|it| it.as_pod())
        .map(|it| &**it)
        .filter(|pod| pod.spec.node_name == *name && !pod.is_finished())
        .collect();
    let room = |resource: &str| node.allocatable(resource);
    w.line(0, &["Non-terminated Pods:\t(", &here.len().to_string(), " in total)"]);
    w.line(1, &["Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge"]);
    w.line(1, &["---------\t----\t\t------------\t----------\t---------------\t-------------\t---"]);
    for pod in &here {
        let cell = |resource: &str, of: fn(&Pod, &str) -> Quantity| share(of(pod, resource), room(resource));
        let created = pod.metadata.creation_timestamp.map_or(about.now, |at| at.millis());
        w.line(
            1,
            &[
                &pod.metadata.namespace,
                "\t",
                &pod.metadata.name,
                "\t\t",
                &cell("cpu", request),
                "\t",
                &cell("cpu", limit),
                "\t",
                &cell("memory", request),
                "\t",
                &cell("memory", limit),
                "\t",
                &time::human(about.now - created),
            ],
        );
    }
    w.line(0, &["Allocated resources:"]);
    w.line(0, &["  (Total limits may be over 100 percent, i.e., overcommitted.)"]);
    w.line(1, &["Resource\tRequests\tLimits"]);
    w.line(1, &["--------\t--------\t------"]);
    for resource in ["cpu", "memory", "ephemeral-storage"] {
        let sum = |of: fn(&Pod, &str) -> Quantity| {
            here.iter().map(|pod| of(pod, resource)).fold(Quantity::ZERO, Quantity::plus)
        };
        w.line(1, &[resource, "\t", &share(sum(request), room(resource)), "\t", &share(sum(limit), room(resource))]);
    }
}
