//! Pods and what makes them.

use serde_json::Value;

use super::super::pod_status;
use super::super::time;
use super::super::value::{at, flag, int, labels, list, map, or_none, plain, selector, text};
use super::{Column, Row, containers};
use crate::api::{Kind, Pod};

const POD: &[Column] = &[
    ("NAME", false),
    ("READY", false),
    ("STATUS", false),
    ("RESTARTS", false),
    ("AGE", false),
    ("IP", true),
    ("NODE", true),
    ("NOMINATED NODE", true),
    ("READINESS GATES", true),
];
const DEPLOYMENT: &[Column] = &[
    ("NAME", false),
    ("READY", false),
    ("UP-TO-DATE", false),
    ("AVAILABLE", false),
    ("AGE", false),
    ("CONTAINERS", true),
    ("IMAGES", true),
    ("SELECTOR", true),
];
const REPLICA_SET: &[Column] = &[
    ("NAME", false),
    ("DESIRED", false),
    ("CURRENT", false),
    ("READY", false),
    ("AGE", false),
    ("CONTAINERS", true),
    ("IMAGES", true),
    ("SELECTOR", true),
];
const STATEFUL_SET: &[Column] =
    &[("NAME", false), ("READY", false), ("AGE", false), ("CONTAINERS", true), ("IMAGES", true)];
const DAEMON_SET: &[Column] = &[
    ("NAME", false),
    ("DESIRED", false),
    ("CURRENT", false),
    ("READY", false),
    ("UP-TO-DATE", false),
    ("AVAILABLE", false),
    ("NODE SELECTOR", false),
    ("AGE", false),
    ("CONTAINERS", true),
    ("IMAGES", true),
    ("SELECTOR", true),
];
const JOB: &[Column] = &[
    ("NAME", false),
    ("STATUS", false),
    ("COMPLETIONS", false),
    ("DURATION", false),
    ("AGE", false),
    ("CONTAINERS", true),
    ("IMAGES", true),
    ("SELECTOR", true),
];
const CRON_JOB: &[Column] = &[
    ("NAME", false),
    ("SCHEDULE", false),
    ("TIMEZONE", false),
    ("SUSPEND", false),
    ("ACTIVE", false),
    ("LAST SCHEDULE", false),
    ("AGE", false),
    ("CONTAINERS", true),
    ("IMAGES", true),
    ("SELECTOR", true),
];
const REVISION: &[Column] = &[("NAME", false), ("CONTROLLER", false), ("REVISION", false), ("AGE", false)];
const AUTOSCALER: &[Column] = &[
    ("NAME", false),
    ("REFERENCE", false),
    ("TARGETS", false),
    ("MINPODS", false),
    ("MAXPODS", false),
    ("REPLICAS", false),
    ("AGE", false),
];

pub fn columns(kind: Kind) -> Option<&'static [Column]> {
    Some(match kind {
        Kind::Pod => POD,
        Kind::Deployment => DEPLOYMENT,
        Kind::ReplicaSet | Kind::ReplicationController => REPLICA_SET,
        Kind::StatefulSet => STATEFUL_SET,
        Kind::DaemonSet => DAEMON_SET,
        Kind::Job => JOB,
        Kind::CronJob => CRON_JOB,
        Kind::ControllerRevision => REVISION,
        Kind::HorizontalPodAutoscaler => AUTOSCALER,
        _ => return None,
    })
}

pub fn cells(row: &Row<'_>) -> Option<Vec<String>> {
    let value = row.value;
    let number = |path: &str| int(value, path).to_string();
    let template = at(value, "spec.template.spec");
    let [names, images] = containers(template);
    let name = row.name();
    Some(match row.object.kind() {
        Kind::Pod => pod(row, row.object.as_pod()?),
        Kind::Deployment => {
            let ready = [&number("status.readyReplicas"), "/", &number("spec.replicas")].concat();
            let (updated, available) = (number("status.updatedReplicas"), number("status.availableReplicas"));
            vec![name, ready, updated, available, row.age(), names, images, selector(at(value, "spec.selector"))]
        }
        Kind::ReplicaSet => {
            let (wanted, current, ready) =
                (number("spec.replicas"), number("status.replicas"), number("status.readyReplicas"));
            vec![name, wanted, current, ready, row.age(), names, images, selector(at(value, "spec.selector"))]
        }
        Kind::ReplicationController => {
            let (wanted, current, ready) =
                (number("spec.replicas"), number("status.replicas"), number("status.readyReplicas"));
            vec![name, wanted, current, ready, row.age(), names, images, labels(map(value, "spec.selector"))]
        }
        Kind::StatefulSet => {
            let ready = [&number("status.readyReplicas"), "/", &number("spec.replicas")].concat();
            vec![name, ready, row.age(), names, images]
        }
        Kind::DaemonSet => vec![
            name,
            number("status.desiredNumberScheduled"),
            number("status.currentNumberScheduled"),
            number("status.numberReady"),
            number("status.updatedNumberScheduled"),
            number("status.numberAvailable"),
            labels(map(template, "nodeSelector")),
            row.age(),
            names,
            images,
            selector(at(value, "spec.selector")),
        ],
        Kind::Job => job(row, names, images),
        _ => return others(row),
    })
}

fn pod(row: &Row<'_>, pod: &Pod) -> Vec<String> {
    let it = pod_status::summary(pod);
    let mut restarts = it.restarts.to_string();
    if let Some(last) = it.last_restart.filter(|_| it.restarts != 0) {
        restarts += &[" (", &time::human(row.now - last.millis()), " ago)"].concat();
    }
    let gates = list(row.value, "spec.readinessGates");
    let conditions = list(row.value, "status.conditions");
    let passed = gates.iter().filter(|gate| {
        let kind = text(gate, "conditionType");
        conditions.iter().any(|it| text(it, "type") == kind && text(it, "status") == "True")
    });
    let gates = match gates.len() {
        0 => "<none>".into(),
        all => [&passed.count().to_string(), "/", &all.to_string()].concat(),
    };
    let ip = match list(row.value, "status.podIPs").first() {
        Some(ip) => text(ip, "ip"),
        None => &*pod.status.pod_ip,
    };
    vec![
        row.name(),
        [&it.ready.to_string(), "/", &it.total.to_string()].concat(),
        pod_status::status_word(pod),
        restarts,
        row.age(),
        or_none(ip.into()),
        or_none(pod.spec.node_name.to_string()),
        or_none(pod.status.nominated_node_name.to_string()),
        gates,
    ]
}

/// Whether a condition of an object is true.
fn is_true(value: &Value, kind: &str) -> bool {
    list(value, "status.conditions").iter().any(|it| text(it, "type") == kind && text(it, "status") == "True")
}

fn job(row: &Row<'_>, names: String, images: String) -> Vec<String> {
    let value = row.value;
    let done = int(value, "status.succeeded").to_string();
    let completions = match (at(value, "spec.completions"), int(value, "spec.parallelism")) {
        (Value::Null, parallel) if parallel > 1 => [&done, "/1 of ", &parallel.to_string()].concat(),
        (Value::Null, _) => [&done, "/1"].concat(),
        (wanted, _) => [&done, "/", &wanted.to_string()].concat(),
    };
    let started = time::millis(text(value, "status.startTime"));
    let ended = time::millis(text(value, "status.completionTime"));
    let duration = started.map_or(String::new(), |from| time::human(ended.unwrap_or(row.now) - from));
    let status = if is_true(value, "Complete") {
        "Complete"
    } else if is_true(value, "Failed") {
        "Failed"
    } else if !text(value, "metadata.deletionTimestamp").is_empty() {
        "Terminating"
    } else if is_true(value, "Suspended") {
        "Suspended"
    } else if is_true(value, "FailureTarget") {
        "FailureTarget"
    } else if is_true(value, "SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    };
    let selector = selector(at(value, "spec.selector"));
    vec![row.name(), status.into(), completions, duration, row.age(), names, images, selector]
}

/// What an autoscaler measures against what it wants: `cpu: 53%/50%` (`formatHPAMetrics`).
fn targets(value: &Value) -> String {
    let (specs, now) = (list(value, "spec.metrics"), list(value, "status.currentMetrics"));
    if specs.is_empty() {
        return "<none>".into();
    }
    let mut parts: Vec<String> = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        let (field, name) = match text(spec, "type") {
            "Resource" => ("resource", text(spec, "resource.name")),
            "ContainerResource" => ("containerResource", text(spec, "containerResource.name")),
            "Pods" => ("pods", ""),
            "Object" => ("object", ""),
            "External" => ("external", ""),
            _ => ("", ""),
        };
        let target = at(at(spec, field), "target");
        let current = now.get(index).map(|it| at(at(it, field), "current"));
        let utilization = at(target, "averageUtilization");
        let shown = if utilization.is_null() {
            let field = if at(target, "averageValue").is_null() { "value" } else { "averageValue" };
            let current = current.map(|it| plain(at(it, field))).filter(|it| !it.is_empty());
            let suffix = if field == "averageValue" && matches!(text(spec, "type"), "Object" | "External") {
                " (avg)"
            } else {
                ""
            };
            [&current.unwrap_or("<unknown>".into()), "/", &plain(at(target, field)), suffix].concat()
        } else {
            let current = current.map(|it| at(it, "averageUtilization")).filter(|it| !it.is_null());
            let current = current.map_or("<unknown>".into(), |it| [&it.to_string(), "%"].concat());
            [&current, "/", &utilization.to_string(), "%"].concat()
        };
        parts.push(if name.is_empty() { shown } else { [name, ": ", &shown].concat() });
    }
    let more = parts.len().saturating_sub(2);
    let mut text = parts[..parts.len().min(2)].join(", ");
    if more > 0 {
        text += &[" + ", &more.to_string(), " more..."].concat();
    }
    text
}

fn others(row: &Row<'_>) -> Option<Vec<String>> {
    let value = row.value;
    let number = |path: &str| int(value, path).to_string();
    let name = row.name();
    Some(match row.object.kind() {
        Kind::CronJob => {
            let [names, images] = containers(at(value, "spec.jobTemplate.spec.template.spec"));
            let zone = or_none(text(value, "spec.timeZone").into());
            let suspend = if flag(value, "spec.suspend") { "True" } else { "False" };
            let last = match text(value, "status.lastScheduleTime") {
                "" => "<none>".into(),
                at => time::since(at, row.now),
            };
            let active = list(value, "status.active").len().to_string();
            let schedule = text(value, "spec.schedule").into();
            vec![name, schedule, zone, suspend.into(), active, last, row.age(), names, images, "<none>".into()]
        }
        Kind::ControllerRevision => {
            let owner = list(value, "metadata.ownerReferences").iter().find(|it| flag(it, "controller"));
            let owner = owner.map_or("<none>".into(), |it| {
                let group = text(it, "apiVersion").split('/').next().unwrap_or_default();
                [&text(it, "kind").to_ascii_lowercase(), ".", group, "/", text(it, "name")].concat()
            });
            vec![name, owner, number("revision"), row.age()]
        }
        Kind::HorizontalPodAutoscaler => {
            let target =
                [text(value, "spec.scaleTargetRef.kind"), "/", text(value, "spec.scaleTargetRef.name")].concat();
            let min = match at(value, "spec.minReplicas") {
                Value::Null => "<unset>".into(),
                min => min.to_string(),
            };
            let (max, now) = (number("spec.maxReplicas"), number("status.currentReplicas"));
            vec![name, target, targets(value), min, max, now, row.age()]
        }
        _ => return None,
    })
}
