//! What makes pods.

use serde_json::Value;

use super::super::value::{at, has, int, list, map, or_none, plain, selector, text};
use super::super::{resources, time};
use super::{About, Writer, template};
use crate::api::{Kind, Object};
use crate::sim::sort_by;

/// A template without the label that tells ReplicaSets apart.
fn bare(template: &Value) -> Value {
    let mut template = template.clone();
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove("pod-template-hash");
    }
    template
}

fn sets(sets: &[&Object]) -> String {
    let each = sets.iter().map(|set| {
        let value = set.to_value();
        let (now, wanted) = (int(&value, "status.replicas").to_string(), int(&value, "spec.replicas").to_string());
        [set.meta().name.as_str(), " (", &now, "/", &wanted, " replicas created)"].concat()
    });
    or_none(each.collect::<Vec<_>>().join(", "))
}

pub fn deployment(about: &About<'_>, w: &mut Writer) {
    let value = about.value;
    let number = |path: &str| int(value, path).to_string();
    w.field("Name", text(value, "metadata.name"));
    w.field("Namespace", text(value, "metadata.namespace"));
    w.field("CreationTimestamp", &about.date("metadata.creationTimestamp"));
    about.marks(w);
    w.field("Selector", &selector(at(value, "spec.selector")));
    w.line(
        0,
        &[
            "Replicas:\t",
            &number("spec.replicas"),
            " desired | ",
            &number("status.updatedReplicas"),
            " updated | ",
            &number("status.replicas"),
            " total | ",
            &number("status.availableReplicas"),
            " available | ",
            &number("status.unavailableReplicas"),
            " unavailable",
        ],
    );
    w.field("StrategyType", text(value, "spec.strategy.type"));
    w.field("MinReadySeconds", &number("spec.minReadySeconds"));
    if has(value, "spec.strategy.rollingUpdate") {
        let rolling = at(value, "spec.strategy.rollingUpdate");
        let (unavailable, surge) = (plain(at(rolling, "maxUnavailable")), plain(at(rolling, "maxSurge")));
        w.field("RollingUpdateStrategy", &[&unavailable, " max unavailable, ", &surge, " max surge"].concat());
    }
    template::write(w, at(value, "spec.template"));
    conditions(value, w);
    let space = about.object.meta().namespace.clone();
    let uid = about.object.meta().uid;
    let all = resources::list(about.cluster, Kind::ReplicaSet, Some(&space));
    let mut owned: Vec<&Object> = all.iter().filter(|it| it.meta().is_controlled_by(uid)).collect();
    let wanted = bare(at(value, "spec.template"));
    sort_by(&mut owned, |a, b| a.meta().creation_timestamp.cmp(&b.meta().creation_timestamp));
    let new = owned.iter().position(|it| bare(at(&it.to_value(), "spec.template")) == wanted);
    let new: Vec<&Object> = new.map(|at| owned.remove(at)).into_iter().collect();
    if !owned.is_empty() || !new.is_empty() {
        w.field("OldReplicaSets", &sets(&owned));
        w.field("NewReplicaSet", &sets(&new));
    }
    about.tail(w);
}

/// How many pods an object controls run, wait, are done, have failed.
fn phases(about: &About<'_>) -> [String; 4] {
    let space = about.object.meta().namespace.clone();
    let uid = about.object.meta().uid;
    let pods = resources::list(about.cluster, Kind::Pod, Some(&space));
    let mut counts = [0_usize; 4];
    for pod in pods.iter().filter(|it| it.meta().is_controlled_by(uid)).filter_map(Object::as_pod) {
        let place = match pod.status.phase.as_str() {
            "Running" => 0,
            "Pending" => 1,
            "Succeeded" => 2,
            "Failed" => 3,
            _ => continue,
        };
        counts[place] += 1;
    }
    counts.map(|it| it.to_string())
}

fn conditions(value: &Value, w: &mut Writer) {
    let conditions = list(value, "status.conditions");
    if !conditions.is_empty() {
        w.line(0, &["Conditions:"]);
        w.line(1, &["Type\tStatus\tReason"]);
        w.line(1, &["----\t------\t------"]);
    }
    for it in conditions {
        w.line(1, &[text(it, "type"), " \t", text(it, "status"), "\t", text(it, "reason")]);
    }
}

fn pods_status(about: &About<'_>, w: &mut Writer) {
    let [running, waiting, done, failed] = phases(about);
    w.line(
        0,
        &[
            "Pods Status:\t",
            &running,
            " Running / ",
            &waiting,
            " Waiting / ",
            &done,
            " Succeeded / ",
            &failed,
            " Failed",
        ],
    );
}

pub fn replica_set(about: &About<'_>, w: &mut Writer) {
    let value = about.value;
    w.field("Name", text(value, "metadata.name"));
    w.field("Namespace", text(value, "metadata.namespace"));
    w.field("Selector", &selector(at(value, "spec.selector")));
    about.marks(w);
    if let Some(owner) = about.controller() {
        w.field("Controlled By", &owner);
    }
    let (now, wanted) = (int(value, "status.replicas").to_string(), int(value, "spec.replicas").to_string());
    w.field("Replicas", &[&now, " current / ", &wanted, " desired"].concat());
    pods_status(about, w);
    template::write(w, at(value, "spec.template"));
    conditions(value, w);
    about.tail(w);
}

pub fn stateful_set(about: &About<'_>, w: &mut Writer) {
    let value = about.value;
    w.field("Name", text(value, "metadata.name"));
    w.field("Namespace", text(value, "metadata.namespace"));
    w.field("CreationTimestamp", &about.date("metadata.creationTimestamp"));
    w.field("Selector", &selector(at(value, "spec.selector")));
    about.marks(w);
    let (now, wanted) = (int(value, "status.replicas").to_string(), int(value, "spec.replicas").to_string());
    w.field("Replicas", &[&wanted, " desired | ", &now, " total"].concat());
    w.field("Update Strategy", text(value, "spec.updateStrategy.type"));
    if let Some(partition) = at(value, "spec.updateStrategy.rollingUpdate.partition").as_i64() {
        w.line(1, &["Partition:\t", &partition.to_string()]);
    }
    pods_status(about, w);
    template::write(w, at(value, "spec.template"));
    let claims = list(value, "spec.volumeClaimTemplates");
    w.line(0, &["Volume Claims:", if claims.is_empty() { "\t<none>" } else { "" }]);
    for it in claims {
        w.line(1, &["Name:\t", text(it, "metadata.name")]);
        w.line(1, &["StorageClass:\t", text(it, "spec.storageClassName")]);
        w.labels("  ", "Labels", map(it, "metadata.labels"));
        w.annotations("  Annotations", map(it, "metadata.annotations"));
        w.line(1, &["Capacity:\t", &plain(at(it, "spec.resources.requests.storage"))]);
        let modes: Vec<&str> = list(it, "spec.accessModes").iter().filter_map(Value::as_str).collect();
        w.line(1, &["Access Modes:\t[", &modes.join(" "), "]"]);
    }
    about.tail(w);
}

pub fn daemon_set(about: &About<'_>, w: &mut Writer) {
    let value = about.value;
    let number = |path: &str| int(value, path).to_string();
    w.field("Name", text(value, "metadata.name"));
    w.field("Namespace", text(value, "metadata.namespace"));
    w.field("Selector", &selector(at(value, "spec.selector")));
    w.labels("", "Node-Selector", map(value, "spec.template.spec.nodeSelector"));
    about.marks(w);
    w.field("Desired Number of Nodes Scheduled", &number("status.desiredNumberScheduled"));
    w.field("Current Number of Nodes Scheduled", &number("status.currentNumberScheduled"));
    w.field("Number of Nodes Scheduled with Up-to-date Pods", &number("status.updatedNumberScheduled"));
    w.field("Number of Nodes Scheduled with Available Pods", &number("status.numberAvailable"));
    w.field("Number of Nodes Misscheduled", &number("status.numberMisscheduled"));
    pods_status(about, w);
    template::write(w, at(value, "spec.template"));
    about.tail(w);
}

pub fn job(about: &About<'_>, w: &mut Writer) {
    let value = about.value;
    let (spec, status) = (at(value, "spec"), at(value, "status"));
    w.field("Name", text(value, "metadata.name"));
    w.field("Namespace", text(value, "metadata.namespace"));
    if has(spec, "selector") {
        w.field("Selector", &selector(at(spec, "selector")));
    }
    about.marks(w);
    if let Some(owner) = about.controller() {
        w.field("Controlled By", &owner);
    }
    let number_or =
        |value: &Value, path: &str, other: &str| at(value, path).as_i64().map_or(other.into(), |it| it.to_string());
    if has(spec, "parallelism") {
        w.field("Parallelism", &number_or(spec, "parallelism", ""));
    }
    w.field("Completions", &number_or(spec, "completions", "<unset>"));
    if has(spec, "completionMode") {
        w.field("Completion Mode", text(spec, "completionMode"));
    }
    if has(spec, "suspend") {
        w.field("Suspend", if at(spec, "suspend").as_bool() == Some(true) { "true" } else { "false" });
    }
    if has(spec, "backoffLimit") {
        w.field("Backoff Limit", &number_or(spec, "backoffLimit", ""));
    }
    if has(spec, "ttlSecondsAfterFinished") {
        w.field("TTL Seconds After Finished", &number_or(spec, "ttlSecondsAfterFinished", ""));
    }
    if has(status, "startTime") {
        w.field("Start Time", &about.date("status.startTime"));
    }
    if has(status, "completionTime") {
        w.field("Completed At", &about.date("status.completionTime"));
        let ends = time::millis(text(status, "completionTime")).unwrap_or(0);
        w.field("Duration", &time::human(ends - time::millis(text(status, "startTime")).unwrap_or(ends)));
    }
    if let Some(seconds) = at(spec, "activeDeadlineSeconds").as_i64() {
        w.field("Active Deadline Seconds", &[&seconds.to_string(), "s"].concat());
    }
    let count = |path: &str| int(status, path).to_string();
    let ready = if has(status, "ready") { [" (", &count("ready"), " Ready)"].concat() } else { String::new() };
    let counts =
        [&count("active"), " Active", &ready, " / ", &count("succeeded"), " Succeeded / ", &count("failed"), " Failed"];
    w.field("Pods Statuses", &counts.concat());
    if text(spec, "completionMode") == "Indexed" {
        w.field("Completed Indexes", &or_none(text(status, "completedIndexes").into()));
    }
    template::write(w, at(spec, "template"));
    about.tail(w);
}
