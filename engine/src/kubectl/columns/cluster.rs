//! Nodes, Services, Events and what belongs to the cluster.

use serde_json::Value;

use super::super::time;
use super::super::value::{at, int, labels, list, map, or, or_none, plain, text};
use super::{Column, Row};
use crate::api::Kind;

const NODE: &[Column] = &[
    ("NAME", false),
    ("STATUS", false),
    ("ROLES", false),
    ("AGE", false),
    ("VERSION", false),
    ("INTERNAL-IP", true),
    ("EXTERNAL-IP", true),
    ("OS-IMAGE", true),
    ("KERNEL-VERSION", true),
    ("CONTAINER-RUNTIME", true),
];
const SERVICE: &[Column] = &[
    ("NAME", false),
    ("TYPE", false),
    ("CLUSTER-IP", false),
    ("EXTERNAL-IP", false),
    ("PORT(S)", false),
    ("AGE", false),
    ("SELECTOR", true),
];
const EVENT: &[Column] = &[
    ("LAST SEEN", false),
    ("TYPE", false),
    ("REASON", false),
    ("OBJECT", false),
    ("SUBOBJECT", true),
    ("SOURCE", true),
    ("MESSAGE", false),
    ("FIRST SEEN", true),
    ("COUNT", true),
    ("NAME", true),
];
const SLICE: &[Column] =
    &[("NAME", false), ("ADDRESSTYPE", false), ("PORTS", false), ("ENDPOINTS", false), ("AGE", false)];
const ENDPOINTS: &[Column] = &[("NAME", false), ("ENDPOINTS", false), ("AGE", false)];
const BUDGET: &[Column] = &[
    ("NAME", false),
    ("MIN AVAILABLE", false),
    ("MAX UNAVAILABLE", false),
    ("ALLOWED DISRUPTIONS", false),
    ("AGE", false),
];
const NAMESPACE: &[Column] = &[("NAME", false), ("STATUS", false), ("AGE", false)];
const CONFIG_MAP: &[Column] = &[("NAME", false), ("DATA", false), ("AGE", false)];
const SECRET: &[Column] = &[("NAME", false), ("TYPE", false), ("DATA", false), ("AGE", false)];
const QUOTA: &[Column] = &[("NAME", false), ("REQUEST", false), ("LIMIT", false), ("AGE", false)];
const LEASE: &[Column] = &[("NAME", false), ("HOLDER", false), ("AGE", false)];
const PRIORITY: &[Column] =
    &[("NAME", false), ("VALUE", false), ("GLOBAL-DEFAULT", false), ("AGE", false), ("PREEMPTIONPOLICY", false)];
const LIMITS: &[Column] = &[("NAME", false), ("CREATED AT", false)];

pub fn columns(kind: Kind) -> Option<&'static [Column]> {
    Some(match kind {
        Kind::Node => NODE,
        Kind::Service => SERVICE,
        Kind::Event => EVENT,
        Kind::EndpointSlice => SLICE,
        Kind::Endpoints => ENDPOINTS,
        Kind::PodDisruptionBudget => BUDGET,
        Kind::Namespace => NAMESPACE,
        Kind::ConfigMap => CONFIG_MAP,
        Kind::Secret => SECRET,
        Kind::ResourceQuota => QUOTA,
        Kind::Lease => LEASE,
        Kind::PriorityClass => PRIORITY,
        Kind::LimitRange => LIMITS,
        _ => return None,
    })
}

pub fn cells(row: &Row<'_>) -> Option<Vec<String>> {
    let value = row.value;
    let name = row.name();
    Some(match row.object.kind() {
        Kind::Node => node(row),
        Kind::Service => service(row),
        Kind::Event => event(row),
        Kind::EndpointSlice => vec![name, text(value, "addressType").into(), ports(value), addresses(value), row.age()],
        Kind::Endpoints => vec![name, endpoints(value), row.age()],
        Kind::PodDisruptionBudget => {
            let bound = |path: &str| or(plain(at(value, path)), "N/A");
            let allowed = int(value, "status.disruptionsAllowed").to_string();
            vec![name, bound("spec.minAvailable"), bound("spec.maxUnavailable"), allowed, row.age()]
        }
        Kind::Namespace => vec![name, text(value, "status.phase").into(), row.age()],
        Kind::ConfigMap => {
            let count = |field: &str| map(value, field).map_or(0, serde_json::Map::len);
            vec![name, (count("data") + count("binaryData")).to_string(), row.age()]
        }
        Kind::Secret => {
            let count = map(value, "data").map_or(0, serde_json::Map::len);
            vec![name, text(value, "type").into(), count.to_string(), row.age()]
        }
        Kind::ResourceQuota => quota(row),
        Kind::Lease => vec![name, text(value, "spec.holderIdentity").into(), row.age()],
        Kind::PriorityClass => {
            let global = at(value, "globalDefault").as_bool().unwrap_or(false).to_string();
            let policy = or(text(value, "preemptionPolicy").into(), "PreemptLowerPriority");
            vec![name, int(value, "value").to_string(), global, row.age(), policy]
        }
        Kind::LimitRange => vec![name, text(value, "metadata.creationTimestamp").into()],
        _ => return None,
    })
}

/// The roles of a node, from its labels (`findNodeRoles`).
pub fn roles(value: &Value) -> String {
    let mut roles: Vec<&str> = Vec::new();
    for (label, value) in map(value, "metadata.labels").into_iter().flatten() {
        let role = match label.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => role,
            None if label == "kubernetes.io/role" => value.as_str().unwrap_or_default(),
            None => "",
        };
        if !role.is_empty() && !roles.contains(&role) {
            roles.push(role);
        }
    }
    crate::sim::sort_by(&mut roles, |a, b| a.cmp(b));
    or_none(roles.join(","))
}

fn node(row: &Row<'_>) -> Vec<String> {
    let value = row.value;
    let ready = list(value, "status.conditions").iter().find(|it| text(it, "type") == "Ready");
    let mut status = match ready.map(|it| text(it, "status")) {
        Some("True") => "Ready".to_string(),
        Some(_) => "NotReady".into(),
        None => "Unknown".into(),
    };
    if at(value, "spec.unschedulable").as_bool() == Some(true) {
        status += ",SchedulingDisabled";
    }
    let address = |kind: &str| {
        let found = list(value, "status.addresses").iter().find(|it| text(it, "type") == kind);
        or_none(found.map_or("", |it| text(it, "address")).into())
    };
    let info = |field: &str| or(text(at(value, "status.nodeInfo"), field).into(), "<unknown>");
    let kernel = match text(value, "status.nodeInfo.architecture") {
        "" => info("kernelVersion"),
        arch => [&info("kernelVersion"), " (", arch, ")"].concat(),
    };
    vec![
        row.name(),
        status,
        roles(value),
        row.age(),
        text(value, "status.nodeInfo.kubeletVersion").into(),
        address("InternalIP"),
        address("ExternalIP"),
        info("osImage"),
        kernel,
        info("containerRuntimeVersion"),
    ]
}

fn service(row: &Row<'_>) -> Vec<String> {
    let value = row.value;
    let kind = text(value, "spec.type");
    let external: Vec<&str> = list(value, "spec.externalIPs").iter().filter_map(Value::as_str).collect();
    let balancers: Vec<&str> = list(value, "status.loadBalancer.ingress")
        .iter()
        .map(|it| if text(it, "ip").is_empty() { text(it, "hostname") } else { text(it, "ip") })
        .collect();
    let external = match kind {
        "LoadBalancer" => {
            let all = [balancers.as_slice(), external.as_slice()].concat();
            if all.is_empty() { "<pending>".into() } else { all.join(",") }
        }
        "ExternalName" => text(value, "spec.externalName").into(),
        _ => or_none(external.join(",")),
    };
    let ports: Vec<String> = list(value, "spec.ports")
        .iter()
        .map(|it| {
            let (port, protocol) = (int(it, "port").to_string(), text(it, "protocol"));
            match int(it, "nodePort") {
                0 => [&port, "/", protocol].concat(),
                node => [&port, ":", &node.to_string(), "/", protocol].concat(),
            }
        })
        .collect();
    vec![
        row.name(),
        kind.into(),
        or_none(text(value, "spec.clusterIP").into()),
        external,
        or_none(ports.join(",")),
        row.age(),
        labels(map(value, "spec.selector")),
    ]
}

/// When an Event was last seen, and first.
pub fn event_times(event: &Value) -> (&str, &str) {
    fn or_else<'a>(a: &'a str, b: &'a str) -> &'a str {
        if a.is_empty() { b } else { a }
    }
    let first = or_else(text(event, "firstTimestamp"), text(event, "eventTime"));
    let last = or_else(text(event, "lastTimestamp"), first);
    let last = or_else(text(event, "series.lastObservedTime"), last);
    (last, first)
}

fn event(row: &Row<'_>) -> Vec<String> {
    let value = row.value;
    let (last, first) = event_times(value);
    let mut object = text(value, "involvedObject.kind").to_ascii_lowercase();
    let name = text(value, "involvedObject.name");
    if !name.is_empty() {
        object += &["/", name].concat();
    }
    let component = or(text(value, "source.component").into(), text(value, "reportingComponent"));
    let host = or(text(value, "source.host").into(), text(value, "reportingInstance"));
    let source = if host.is_empty() { component } else { [&component, ", ", &host].concat() };
    let count = match int(value, "series.count") {
        0 => int(value, "count").max(1),
        count => count,
    };
    vec![
        time::since(last, row.now),
        text(value, "type").into(),
        text(value, "reason").into(),
        object,
        text(value, "involvedObject.fieldPath").into(),
        source,
        text(value, "message").trim().into(),
        time::since(first, row.now),
        count.to_string(),
        row.name(),
    ]
}

/// Three of a list, and how many more there are.
fn first_three(items: &[String]) -> String {
    let mut out = items[..items.len().min(3)].join(",");
    if items.len() > 3 {
        out += &[" + ", &(items.len() - 3).to_string(), " more..."].concat();
    }
    out
}

fn ports(value: &Value) -> String {
    let ports: Vec<String> = list(value, "ports")
        .iter()
        .map(|it| match (at(it, "port"), text(it, "name")) {
            (Value::Null, "") => "*".into(),
            (Value::Null, name) => name.into(),
            (port, _) => port.to_string(),
        })
        .collect();
    if ports.is_empty() { "<unset>".into() } else { first_three(&ports) }
}

fn addresses(value: &Value) -> String {
    let all: Vec<String> = list(value, "endpoints")
        .iter()
        .flat_map(|it| list(it, "addresses"))
        .filter_map(|it| it.as_str().map(str::to_string))
        .collect();
    if all.is_empty() { "<unset>".into() } else { first_three(&all) }
}

fn endpoints(value: &Value) -> String {
    let mut all = Vec::new();
    for subset in list(value, "subsets") {
        let addresses = list(subset, "addresses");
        if list(subset, "ports").is_empty() {
            all.extend(addresses.iter().map(|it| text(it, "ip").to_string()));
        }
        for port in list(subset, "ports") {
            all.extend(addresses.iter().map(|it| [text(it, "ip"), ":", &int(port, "port").to_string()].concat()));
        }
    }
    if all.is_empty() { "<none>".into() } else { first_three(&all) }
}

fn quota(row: &Row<'_>) -> Vec<String> {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for (name, hard) in map(row.value, "status.hard").into_iter().flatten() {
        let used = map(row.value, "status.used").and_then(|used| used.get(name)).map_or("0".into(), plain);
        let part = [name.as_str(), ": ", &used, "/", &plain(hard)].concat();
        if name.starts_with("limits") { limits.push(part) } else { requests.push(part) }
    }
    vec![row.name(), requests.join(", "), limits.join(", "), row.age()]
}
