//! The Deployment controller: fenceposts, sizes in a rollout and in scaling, history, progress.

use std::rc::Rc;

use loopscope_engine::api::{
    Condition, Deployment, DeploymentSpec, DeploymentStatus, DeploymentStrategy, Field, IntOrPercent, ReplicaSet,
    RollingUpdate, Timestamp, condition,
};
use loopscope_engine::controllers::deployment::plan::{Plan, decide};
use loopscope_engine::controllers::deployment::revision::{DESIRED, MAX, REVISION};
use loopscope_engine::controllers::deployment::rolling::{
    SetSize, is_rolling_update, max_surge, max_unavailable, new_set_size, old_set_sizes, proportion,
    resolve_fenceposts, without_unhealthy,
};
use loopscope_engine::controllers::deployment::status;
use loopscope_engine::world::{Command, Scenario, Simulation};
use serde_json::{Value, json};

use super::{Held, NOW, Table, int, list, same, text};

pub const TABLES: &[Table] = &[
    Table { file: "golden_fenceposts", part: "", check: golden_fenceposts },
    Table { file: "golden_new_replicaset_size", part: "", check: new_size },
    Table { file: "golden_rolling_sync_step", part: "", check: rolling_sync_step },
    Table { file: "golden_proportional_scale", part: "", check: golden_proportional_scale },
    Table { file: "deployment_rolling", part: "newReplicaSetStep", check: new_set_step },
    Table { file: "deployment_rolling", part: "oldReplicaSetsStep", check: old_sets_step },
    Table { file: "deployment_rolling", part: "cleanUpUnhealthyFirst", check: clean_up },
    Table { file: "deployment_rolling", part: "scaleDownHealthyOld", check: scale_down_healthy },
    Table { file: "deployment_rolling", part: "fenceposts", check: fenceposts },
    Table { file: "deployment_rolling", part: "newReplicaSetTargetSize", check: target_size },
    Table { file: "deployment_rolling", part: "maxUnavailableAbsolute", check: most_unavailable },
    Table { file: "deployment_rolling", part: "minAvailable", check: least_available },
    Table { file: "deployment_rolling", part: "proportionOfOneReplicaSet", check: proportion_of_one },
    Table { file: "deployment_sync", part: "proportionalScale", check: proportional_scale },
    Table { file: "deployment_sync", part: "historyCleanup", check: history_cleanup },
    Table { file: "deployment_sync", part: "historyCleanupOrder", check: history_order },
    Table { file: "deployment_progress", part: "complete", check: complete },
    Table { file: "deployment_progress", part: "progressing", check: progressing },
    Table { file: "deployment_progress", part: "timedOut", check: timed_out },
    Table { file: "deployment_progress", part: "rolloutStatus", check: rollout_status },
    Table { file: "deployment_progress", part: "requeueStuck", check: requeue_stuck },
];

fn amount(value: &Value) -> IntOrPercent {
    let mut read = IntOrPercent::Int(0);
    // What is no amount counts as nothing.
    let _ = read.read(value.clone());
    read
}

fn spec(replicas: i32, surge: &Value, unavailable: &Value) -> DeploymentSpec {
    let rolling = RollingUpdate {
        max_surge: Some(amount(surge)),
        max_unavailable: Some(amount(unavailable)),
        ..RollingUpdate::default()
    };
    let strategy = DeploymentStrategy {
        kind: "RollingUpdate".into(),
        rolling_update: Some(rolling),
        ..DeploymentStrategy::default()
    };
    DeploymentSpec { replicas: Some(replicas), strategy, ..DeploymentSpec::default() }
}

/// As [`spec`], of a row with `strategy`.
fn spec_of(row: &Value) -> DeploymentSpec {
    let replicas = row.get("replicas").map_or(0, int);
    let mut spec = spec(replicas, &row["maxSurge"], &row["maxUnavailable"]);
    if let Some(kind) = row.get("strategy").and_then(Value::as_str) {
        spec.strategy.kind = kind.into();
    }
    spec
}

fn set(name: &str, age: i64, replicas: i32, available: i32) -> ReplicaSet {
    let mut set = ReplicaSet::default();
    set.metadata.name = name.into();
    set.metadata.creation_timestamp = Some(Timestamp(NOW - age));
    set.spec.replicas = Some(replicas);
    set.status.replicas = replicas;
    set.status.available_replicas = available;
    set.spec.template.metadata.labels.insert("v".into(), name.into());
    set
}

fn annotate(set: &mut ReplicaSet, desired: i32, max: i32) {
    set.metadata.annotations.insert(DESIRED.into(), desired.to_string());
    set.metadata.annotations.insert(MAX.into(), max.to_string());
}

fn plan(mut deployment: Deployment, sets: Vec<ReplicaSet>, new: Option<&str>) -> Plan {
    if let Some(new) = new {
        deployment.spec.template.metadata.labels.insert("v".into(), new.into());
    }
    let sets: Vec<Rc<ReplicaSet>> = sets.into_iter().map(Rc::new).collect();
    decide(&Rc::new(deployment), &sets, &[], true, Timestamp(NOW))
}

fn deployment(spec: DeploymentSpec) -> Deployment {
    Deployment { spec, ..Deployment::default() }
}

/// Names of ReplicaSets by their age, and the newest.
fn numbered(count: usize) -> (impl Fn(usize) -> String, String) {
    (|at| format!("rs{at}"), format!("rs{}", count - 1))
}

fn golden_fenceposts(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let replicas = int(&row[2]);
    let resolved = resolve_fenceposts(&amount(&row[0]), &amount(&row[1]), replicas);
    same(resolved, (int(&row[3]), int(&row[4])))?;
    let spec = spec(replicas, &row[0], &row[1]);
    let min_available = spec.wanted() - max_unavailable(&spec);
    let got = (max_surge(&spec), max_unavailable(&spec), min_available);
    same(got, (int(&row[5]), int(&row[6]), int(&row[7])))
}

fn new_size(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let mut spec = spec(int(&row[1]), &row[2], &Value::from(0));
    spec.strategy.kind = text(&row[0]).into();
    let (new, old) = (int(&row[3]), int(&row[4]));
    same(new_set_size(&spec, new + old, new), int(&row[5]))
}

fn rolling_sync_step(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let spec = spec_of(row);
    let sizes = list(&row["sizeAndAvailableOldestToNewest"]);
    let (name, new) = numbered(sizes.len());
    let sets = sizes.iter().enumerate().map(|(index, size)| {
        let mut set = set(&name(index), 6000 - 60 * index as i64, int(&size[0]), int(&size[1]));
        annotate(&mut set, spec.wanted(), spec.wanted() + max_surge(&spec));
        set
    });
    let plan = plan(deployment(spec.clone()), sets.collect(), Some(&new));
    let expected: Vec<(&str, i32)> =
        list(&row["updateCalls"]).iter().map(|call| (text(&call[0]), int(&call[1]))).collect();
    same(plan.sizes(), expected)
}

fn golden_proportional_scale(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let mut spec = spec(int(&row["replicasAfter"]), &row["maxSurge"], &Value::from(0));
    spec.paused = true;
    let sizes = list(&row["sizesOldestToNewest"]);
    let (name, new) = numbered(sizes.len());
    let sets = sizes.iter().enumerate().map(|(index, size)| {
        let mut set = set(&name(index), 6000 - 60 * index as i64, int(size), int(size));
        annotate(&mut set, int(&row["replicasBefore"]), int(&row["maxReplicasAnnotation"]));
        set
    });
    let plan = plan(deployment(spec), sets.collect(), Some(&new));
    let mut result: Vec<i32> = sizes.iter().map(int).collect();
    for (name, size) in plan.sizes() {
        result[name[2..].parse::<usize>().expect("a number")] = size;
    }
    same(result, list(&row["resultOldestToNewest"]).iter().map(int).collect::<Vec<_>>())?;
    let order: Vec<&str> = plan.sizes().into_iter().map(|(name, _)| name).collect();
    same(order, list(&row["updateCallsInOrder"]).iter().map(text).collect::<Vec<_>>())
}

fn sized(replicas: i32, available: i32) -> SetSize {
    SetSize { replicas, available, max_replicas: None }
}

fn new_set_step(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let spec = spec(int(&row["replicas"]), &row["maxSurge"], &Value::from(0));
    let (new, old) = (int(&row["newSize"]), int(&row["oldSize"]));
    let size = if new > spec.wanted() { spec.wanted() } else { new_set_size(&spec, new + old, new) };
    same((size, size != new), (row.get("newSizeAfter").map_or(new, int), row["scales"] == true))
}

fn old_sets_step(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let spec = spec(int(&row["replicas"]), &Value::from(0), &row["maxUnavailable"]);
    let old = sized(int(&row["oldSize"]), int(&row["oldAvailable"]));
    let new = sized(int(&row["newSize"]), int(&row["newAvailable"]));
    same(old_set_sizes(&spec, &new, std::slice::from_ref(&old)), [row.get("oldSizeAfter").map_or(old.replicas, int)])
}

fn clean_up(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    // A budget of so many pods: that many more than the least that must be available.
    let (size, budget) = (int(&row["oldSize"]), int(&row["budget"]));
    let spec = spec(size, &Value::from(0), &Value::from(budget.max(1)));
    let new = if budget == 0 { sized(0, -1) } else { sized(0, 0) };
    let cleaned = without_unhealthy(&spec, &new, &[sized(size, int(&row["oldAvailable"]))]);
    same(size - cleaned[0], int(&row["removed"]))
}

fn scale_down_healthy(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let spec = spec(int(&row["replicas"]), &Value::from(0), &row["maxUnavailable"]);
    let (size, available) = (int(&row["oldSize"]), int(&row["oldAvailable"]));
    // Healthy ones alone: those that are not available stay out of the count.
    let healthy = sized(size.min(available), available.min(size));
    let sizes = old_set_sizes(&spec, &sized(0, 0), std::slice::from_ref(&healthy));
    same(healthy.replicas - sizes[0], row.get("oldSizeAfter").map_or(0, |after| size - int(after)))
}

/// Amounts that are none are refused before anybody asks for a fencepost.
fn fenceposts(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    if row["error"] == true {
        let template =
            json!({"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}});
        let rolling = json!({"maxSurge": row["maxSurge"], "maxUnavailable": row["maxUnavailable"]});
        let spec = json!({"replicas": row["replicas"], "selector": {"matchLabels": {"app": "a"}}, "template": template,
            "strategy": {"rollingUpdate": rolling}});
        let manifest = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": spec});
        let outcome = Simulation::new(Scenario::empty(1)).dispatch(Command::Apply { manifest: manifest.to_string() });
        return same(outcome.is_ok(), false);
    }
    let (surge, unavailable) = (amount(&row["maxSurge"]), amount(&row["maxUnavailable"]));
    same(
        resolve_fenceposts(&surge, &unavailable, int(&row["replicas"])),
        (int(&row["surge"]), int(&row["unavailable"])),
    )
}

fn target_size(rows: &[Value], at: usize) -> Held {
    let new = int(&rows[at]["newSize"]);
    same(new_set_size(&spec_of(&rows[at]), new + 5, new), int(&rows[at]["target"]))
}

fn most_unavailable(rows: &[Value], at: usize) -> Held {
    same(max_unavailable(&spec_of(&rows[at])), int(&rows[at]["expected"]))
}

fn least_available(rows: &[Value], at: usize) -> Held {
    let spec = spec_of(&rows[at]);
    let least = if is_rolling_update(&spec) { spec.wanted() - max_unavailable(&spec) } else { 0 };
    same(least, int(&rows[at]["expected"]))
}

fn proportion_of_one(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let annotation = row.get("maxReplicasAnnotation").and_then(Value::as_str).and_then(|text| text.parse().ok());
    let set = SetSize { max_replicas: annotation, ..sized(int(&row["size"]), 0) };
    let status_replicas = row.get("statusReplicas").map_or(0, int);
    let change = int(&row["change"]);
    let wish = if change < 0 { -100 } else { 100 };
    same(proportion(&spec_of(row), &set, status_replicas, wish, 0), change)
}

fn named_set(value: &Value, age: i64) -> ReplicaSet {
    let size = int(&value["size"]);
    set(text(&value["name"]), age, size, value.get("available").map_or(size, int))
}

fn proportional_scale(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let of = |when: &str| spec_of(&row[when]);
    let (before, mut after) = (of("before"), of("after"));
    after.paused = true;
    let new = row["newRs"].is_object().then(|| named_set(&row["newRs"], 0));
    let name = new.as_ref().map(|set| set.metadata.name.to_string());
    let old = list(&row["oldRsYoungestFirst"]).iter().zip(1..).map(|(it, n)| named_set(it, 60 * n));
    let mut sets: Vec<ReplicaSet> = new.into_iter().chain(old).collect();
    for set in &mut sets {
        let overridden = row["desiredReplicasAnnotationOverride"].get(set.metadata.name.as_str());
        let desired = overridden.map_or(before.wanted(), int);
        annotate(set, desired, desired + max_surge(&before));
    }
    let expected: Vec<(String, i32)> = [&row["expectedNewRs"]]
        .into_iter()
        .filter(|it| it.is_object())
        .chain(list(&row["expectedOldRs"]))
        .map(|it| (text(&it["name"]).to_string(), int(&it["size"])))
        .collect();
    let mut sizes: Vec<(String, i32)> =
        sets.iter().map(|set| (set.metadata.name.to_string(), set.spec.wanted())).collect();
    let plan = plan(deployment(after), sets, name.as_deref());
    for (name, size) in plan.sizes() {
        sizes.iter_mut().find(|(known, _)| known == name).expect("known").1 = size;
    }
    same(sizes, expected)
}

fn history_cleanup(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let olds = list(&row["oldRs"]).iter().zip(1..).map(|(pair, n)| {
        let mut set = set(&format!("foo-{n}"), 600 - n, 0, 0);
        if pair.is_string() {
            set.metadata.deletion_timestamp = Some(Timestamp(NOW));
        } else {
            (set.spec.replicas, set.status.replicas) = (Some(int(&pair[0])), int(&pair[1]));
        }
        set
    });
    same(cleaned(olds.collect(), row).len(), int(&row["deletedCount"]) as usize)
}

fn history_order(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let olds = list(&row["oldRs"]).iter().map(|it| {
        let mut set = named_set(it, 600 - i64::from(int(&it["createdOrder"])));
        set.metadata.annotations.insert(REVISION.into(), text(&it["revision"]).into());
        set
    });
    same(cleaned(olds.collect(), row), list(&row["deleted"]).iter().map(text).collect::<Vec<_>>())
}

/// The old ReplicaSets that a paused Deployment, whose size is right, cleans up.
fn cleaned(olds: Vec<ReplicaSet>, row: &Value) -> Vec<String> {
    let total = olds.iter().map(|set| set.spec.wanted()).sum();
    let spec = DeploymentSpec {
        replicas: Some(total),
        revision_history_limit: Some(int(&row["limit"])),
        paused: true,
        ..DeploymentSpec::default()
    };
    plan(deployment(spec), olds, Some("new")).removed().into_iter().map(Into::into).collect()
}

fn four(value: &Value) -> DeploymentStatus {
    DeploymentStatus {
        replicas: int(&value[0]),
        updated_replicas: int(&value[1]),
        ready_replicas: int(&value[2]),
        available_replicas: int(&value[3]),
        ..DeploymentStatus::default()
    }
}

fn judged(row: &Value) -> (Deployment, DeploymentSpec) {
    let it = &row["deployment"];
    let mut spec = spec(int(&it["replicas"]), &Value::from(0), &Value::from(0));
    spec.progress_deadline_seconds = row["progressDeadlineSeconds"].as_i64().map(|seconds| seconds as i32);
    let mut deployment = deployment(spec.clone());
    deployment.status.replicas = int(&it["statusReplicas"]);
    deployment.status.updated_replicas = int(&it["updated"]);
    deployment.status.available_replicas = int(&it["available"]);
    (deployment, spec)
}

fn complete(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let deployment = deployment(spec(int(&row["replicas"]), &row["maxSurge"], &row["maxUnavailable"]));
    let status = DeploymentStatus {
        replicas: int(&row["statusReplicas"]),
        updated_replicas: int(&row["updated"]),
        available_replicas: int(&row["available"]),
        ..DeploymentStatus::default()
    };
    same(status::is_complete(&deployment, &status), row["complete"] == true)
}

fn progressing(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let deployment = Deployment { status: four(&row["oldStatus"]), ..Deployment::default() };
    same(status::has_progressed(&deployment, &four(&row["newStatus"])), row["progressing"] == true)
}

fn timed_out(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let mut deployment = Deployment::default();
    deployment.spec.progress_deadline_seconds = row["progressDeadlineSeconds"].as_i64().map(|it| it as i32);
    let since = row["secondsSinceLastUpdate"].as_i64().unwrap_or(0);
    let reason = row["conditionReason"].as_str().unwrap_or("ReplicaSetUpdated");
    let mut progress = status::progressing(true, reason.to_string(), String::new());
    progress.last_update_time = Some(Timestamp(NOW - since));
    deployment.status.conditions = vec![progress];
    same(status::is_timed_out(&deployment, &deployment.status, Timestamp(NOW)), row["timedOut"] == true)
}

fn rollout_status(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let old = Timestamp(NOW - 100);
    let (mut deployment, _) = judged(row);
    if let Some(before) = row["progressingConditionBefore"].as_object() {
        let is_true = before["status"] == "True";
        let mut progress = status::progressing(is_true, text(&before["reason"]).to_string(), String::new());
        (progress.last_update_time, progress.last_transition_time) = (Some(old), Some(old));
        deployment.status.conditions = vec![progress];
    }
    let part = |value: &Value, name: &str| {
        let mut set = set(name, 0, int(&value["specReplicas"]), int(&value["available"]));
        set.status.replicas = int(&value["statusReplicas"]);
        Rc::new(set)
    };
    let new = row["newRs"].is_object().then(|| part(&row["newRs"], "new"));
    let others = list(&row["otherRs"]).iter().map(|it| part(it, "other"));
    let sets: Vec<Rc<ReplicaSet>> = others.chain(new.clone()).collect();
    let now = Timestamp(NOW);
    let mut got = status::calculate(&deployment, &sets, new.as_deref(), now);
    status::judge_progress(&deployment, &mut got, &sets, new.as_deref(), now);
    let progress: Option<&Condition> = condition(&got.conditions, "Progressing");
    let Some(expected) = row["expectedCondition"].as_object() else {
        return same(progress, condition(&deployment.status.conditions, "Progressing"));
    };
    let progress = progress.ok_or("there is no such condition")?;
    same([progress.status.as_str(), progress.reason.as_str()], [text(&expected["status"]), text(&expected["reason"])])?;
    // Kubernetes' own test looks at a time only where it is to stay as it was.
    for (name, time) in
        [("lastUpdateKept", progress.last_update_time), ("lastTransitionKept", progress.last_transition_time)]
    {
        if expected[name] != false {
            same(time, Some(old))?;
        }
    }
    Ok(())
}

fn requeue_stuck(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let (deployment, _) = judged(row);
    let mut status = DeploymentStatus {
        replicas: int(&row["newStatus"][0]),
        updated_replicas: int(&row["newStatus"][1]),
        available_replicas: int(&row["newStatus"][2]),
        ..DeploymentStatus::default()
    };
    if let Some(text) = row["condition"].as_str() {
        let reason = if text.starts_with("Progressing,") { "ReplicaSetUpdated" } else { text };
        let mut progress = status::progressing(true, reason.to_string(), String::new());
        progress.last_update_time = Some(Timestamp(0));
        status.conditions = vec![progress];
    }
    let now = (row["nowSeconds"].as_f64().unwrap_or(0.0) * 1000.0).ceil() as i64;
    let got = status::millis_until_deadline(&deployment, &status, now).map_or(-1, |left| (left / 1000) as i64);
    same(Some(got), row["requeueAfterSeconds"].as_i64())
}
