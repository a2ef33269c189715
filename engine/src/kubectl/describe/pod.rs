//! A pod.

use super::super::time;
use super::super::value::{at, has, int, list, map, text};
use super::{About, Writer, containers};

pub fn describe(about: &About<'_>, w: &mut Writer) {
    let value = about.value;
    let (spec, status) = (at(value, "spec"), at(value, "status"));
    w.field("Name", text(value, "metadata.name"));
    w.field("Namespace", text(value, "metadata.namespace"));
    if has(spec, "priority") {
        w.field("Priority", &int(spec, "priority").to_string());
    }
    for (field, name) in [
        ("priorityClassName", "Priority Class Name"),
        ("runtimeClassName", "Runtime Class Name"),
        ("serviceAccountName", "Service Account"),
    ] {
        if !text(spec, field).is_empty() {
            w.field(name, text(spec, field));
        }
    }
    match text(spec, "nodeName") {
        "" => w.field("Node", "<none>"),
        node => w.field("Node", &[node, "/", text(status, "hostIP")].concat()),
    }
    if has(status, "startTime") {
        w.field("Start Time", &about.date("status.startTime"));
    }
    about.marks(w);
    state(about, w);
    if let Some(owner) = about.controller() {
        w.field("Controlled By", &owner);
    }
    if !text(status, "nominatedNodeName").is_empty() {
        w.field("NominatedNodeName", text(status, "nominatedNodeName"));
    }
    let of_init = Some(list(status, "initContainerStatuses"));
    if !list(spec, "initContainers").is_empty() {
        containers::describe(w, "Init Containers", list(spec, "initContainers"), of_init, Some(value), "");
    }
    let statuses = Some(list(status, "containerStatuses"));
    containers::describe(w, "Containers", list(spec, "containers"), statuses, Some(value), "");
    conditions(about, w);
    containers::volumes(w, list(spec, "volumes"), "");
    w.field("QoS Class", text(status, "qosClass"));
    w.labels("", "Node-Selectors", map(spec, "nodeSelector"));
    w.tolerations("", list(spec, "tolerations"));
    w.spread("", list(spec, "topologySpreadConstraints"));
    about.tail(w);
}

fn conditions(about: &About<'_>, w: &mut Writer) {
    let conditions = list(about.value, "status.conditions");
    let gates = list(about.value, "spec.readinessGates");
    if !gates.is_empty() {
        w.line(0, &["Readiness Gates:"]);
        w.line(1, &["Type\tStatus"]);
        for gate in gates {
            let kind = text(gate, "conditionType");
            let found = conditions.iter().find(|it| text(it, "type") == kind);
            w.line(1, &[kind, " \t", found.map_or("<none>", |it| text(it, "status")), " "]);
        }
    }
    if !conditions.is_empty() {
        w.line(0, &["Conditions:"]);
        w.line(1, &["Type\tStatus"]);
    }
    for it in conditions {
        w.line(1, &[text(it, "type"), " \t", text(it, "status"), " "]);
    }
}

/// Its phase, or how it goes, and its addresses.
fn state(about: &About<'_>, w: &mut Writer) {
    let value = about.value;
    let (spec, status) = (at(value, "spec"), at(value, "status"));
    let is_over = matches!(text(status, "phase"), "Succeeded" | "Failed");
    if has(value, "metadata.deletionTimestamp") && !is_over {
        let lasts = time::since(text(value, "metadata.deletionTimestamp"), about.now);
        w.field("Status", &["Terminating (lasts ", &lasts, ")"].concat());
        let grace = int(value, "metadata.deletionGracePeriodSeconds").to_string();
        w.field("Termination Grace Period", &[&grace, "s"].concat());
    } else {
        w.field("Status", text(status, "phase"));
    }
    for (field, name) in [("reason", "Reason"), ("message", "Message")] {
        if !text(status, field).is_empty() {
            w.field(name, text(status, field));
        }
    }
    if has(spec, "securityContext.seccompProfile") {
        w.field("SeccompProfile", text(spec, "securityContext.seccompProfile.type"));
    }
    w.field("IP", text(status, "podIP"));
    let ips = list(status, "podIPs");
    w.line(0, &["IPs:", if ips.is_empty() { "\t<none>" } else { "" }]);
    for ip in ips {
        w.line(1, &["IP:\t", text(ip, "ip")]);
    }
}
