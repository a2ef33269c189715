//! The pure decisions of the Deployment controller against tables of Kubernetes v1.36.2: what its real functions give
//! for many inputs, and the cases of its own unit tests. All rows but two kinds: amounts that are no number or
//! percentage, which validation refuses before, and `MinAvailable` of a Recreate strategy, which nothing here asks for.

#[path = "common/tables.rs"]
mod tables;

use std::rc::Rc;

use loopscope_engine::api::{
    Condition, Deployment, DeploymentSpec, DeploymentStatus, DeploymentStrategy, Field, IntOrPercent, ReplicaSet,
    RollingUpdate, Timestamp, condition,
};
use loopscope_engine::controllers::deployment::plan::{Plan, decide};
use loopscope_engine::controllers::deployment::revision::{DESIRED, MAX, REVISION};
use loopscope_engine::controllers::deployment::rolling::{
    SetSize, max_surge, max_unavailable, new_set_size, old_set_sizes, proportion, resolve_fenceposts, without_unhealthy,
};
use loopscope_engine::controllers::deployment::status;
use serde_json::Value;
use tables::{NOW, int, rows, table};

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

#[test]
fn fenceposts_are_those_of_kubernetes() {
    let rows = rows(include_str!("data/tables/fenceposts.json"));
    assert_eq!(rows.len(), 845);
    for row in &rows {
        let replicas = int(&row[2]);
        let resolved = resolve_fenceposts(&amount(&row[0]), &amount(&row[1]), replicas);
        assert_eq!(resolved, (int(&row[3]), int(&row[4])), "{row}");
        let spec = spec(replicas, &row[0], &row[1]);
        let min_available = spec.wanted() - max_unavailable(&spec);
        let got = (max_surge(&spec), max_unavailable(&spec), min_available);
        assert_eq!(got, (int(&row[5]), int(&row[6]), int(&row[7])), "{row}");
    }
}

#[test]
fn the_new_replica_set_grows_as_in_kubernetes() {
    let rows = rows(include_str!("data/tables/new_replicaset_size.json"));
    assert_eq!(rows.len(), 420);
    for row in &rows {
        let mut spec = spec(int(&row[1]), &row[2], &Value::from(0));
        spec.strategy.kind = row[0].as_str().unwrap().into();
        let (new, old) = (int(&row[3]), int(&row[4]));
        assert_eq!(new_set_size(&spec, new + old, new), int(&row[5]), "{row}");
    }
}

#[test]
fn one_sync_of_a_rolling_update_writes_the_sizes_that_kubernetes_writes() {
    let rows = rows(include_str!("data/tables/rolling_sync_step.json"));
    assert_eq!(rows.len(), 450);
    for row in &rows {
        let spec = spec(int(&row[3]), &row[1], &row[2]);
        let sizes = row[4].as_array().unwrap();
        let sets = sizes.iter().enumerate().map(|(index, size)| {
            let mut set = set(&format!("rs{index}"), 6000 - 60 * index as i64, int(&size[0]), int(&size[1]));
            annotate(&mut set, spec.wanted(), spec.wanted() + max_surge(&spec));
            set
        });
        let new = format!("rs{}", sizes.len() - 1);
        let plan = plan(deployment(spec.clone()), sets.collect(), Some(&new));
        let expected: Vec<(&str, i32)> =
            row[5].as_array().into_iter().flatten().map(|call| (call[0].as_str().unwrap(), int(&call[1]))).collect();
        assert_eq!(plan.sizes(), expected, "{row}");
    }
}

#[test]
fn scaling_in_the_middle_of_a_rollout_shares_as_kubernetes_does() {
    let rows = rows(include_str!("data/tables/proportional_scale.json"));
    assert_eq!(rows.len(), 300);
    for row in &rows {
        let mut spec = spec(int(&row[3]), &row[1], &Value::from(0));
        spec.paused = true;
        let sizes = row[4].as_array().unwrap();
        let sets: Vec<ReplicaSet> = sizes
            .iter()
            .enumerate()
            .map(|(index, size)| {
                let mut set = set(&format!("rs{index}"), 6000 - 60 * index as i64, int(size), int(size));
                annotate(&mut set, int(&row[2]), int(&row[0]));
                set
            })
            .collect();
        let new = format!("rs{}", sizes.len() - 1);
        let plan = plan(deployment(spec), sets, Some(&new));
        let mut result: Vec<i32> = sizes.iter().map(int).collect();
        for (name, size) in plan.sizes() {
            result[name[2..].parse::<usize>().unwrap()] = size;
        }
        assert_eq!(result, row[5].as_array().unwrap().iter().map(int).collect::<Vec<_>>(), "{row}");
        let order: Vec<&str> = plan.sizes().into_iter().map(|(name, _)| name).collect();
        let expected: Vec<&str> = row[6].as_array().into_iter().flatten().map(|it| it.as_str().unwrap()).collect();
        assert_eq!(order, expected, "{row}");
    }
}

#[test]
fn kubernetes_own_cases_of_a_rolling_update_hold() {
    let tables: Value = serde_json::from_str(include_str!("data/tables/deployment_rolling.json")).unwrap();
    let sized = |replicas, available| SetSize { replicas, available, max_replicas: None };
    for row in table(&tables, "newReplicaSetStep", 5) {
        let spec = spec(int(&row["replicas"]), &row["maxSurge"], &Value::from(0));
        let (new, old) = (int(&row["newSize"]), int(&row["oldSize"]));
        let size = if new > spec.wanted() { spec.wanted() } else { new_set_size(&spec, new + old, new) };
        let expected = row.get("newSizeAfter").map_or(new, int);
        assert_eq!((size, size != new), (expected, row["scales"] == true), "{row}");
    }
    for row in table(&tables, "oldReplicaSetsStep", 5) {
        let spec = spec(int(&row["replicas"]), &Value::from(0), &row["maxUnavailable"]);
        let old = sized(int(&row["oldSize"]), int(&row["oldAvailable"]));
        let sizes =
            old_set_sizes(&spec, &sized(int(&row["newSize"]), int(&row["newAvailable"])), std::slice::from_ref(&old));
        assert_eq!(sizes, [row.get("oldSizeAfter").map_or(old.replicas, int)], "{row}");
    }
    for row in table(&tables, "cleanUpUnhealthyFirst", 4) {
        // A budget of so many pods: that many more than the least that must be available.
        let (size, budget) = (int(&row["oldSize"]), int(&row["budget"]));
        let spec = spec(size, &Value::from(0), &Value::from(budget.max(1)));
        let new = if budget == 0 { sized(0, -1) } else { sized(0, 0) };
        let cleaned = without_unhealthy(&spec, &new, &[sized(size, int(&row["oldAvailable"]))]);
        assert_eq!(size - cleaned[0], int(&row["removed"]), "{row}");
    }
    for row in table(&tables, "scaleDownHealthyOld", 5) {
        let spec = spec(int(&row["replicas"]), &Value::from(0), &row["maxUnavailable"]);
        let (size, available) = (int(&row["oldSize"]), int(&row["oldAvailable"]));
        // Healthy ones alone: those that are not available stay out of the count.
        let healthy = sized(size.min(available), available.min(size));
        let sizes = old_set_sizes(&spec, &sized(0, 0), std::slice::from_ref(&healthy));
        let gone = healthy.replicas - sizes[0];
        assert_eq!(gone, row.get("oldSizeAfter").map_or(0, |after| size - int(after)), "{row}");
    }
    for row in table(&tables, "fenceposts", 7).iter().filter(|row| row["error"] == false) {
        let (surge, unavailable) = (amount(&row["maxSurge"]), amount(&row["maxUnavailable"]));
        let resolved = resolve_fenceposts(&surge, &unavailable, int(&row["replicas"]));
        assert_eq!(resolved, (int(&row["surge"]), int(&row["unavailable"])), "{row}");
    }
    for row in table(&tables, "newReplicaSetTargetSize", 3) {
        let new = int(&row["newSize"]);
        assert_eq!(new_set_size(&spec_of(row), new + 5, new), int(&row["target"]), "{row}");
    }
    for row in table(&tables, "maxUnavailableAbsolute", 8) {
        assert_eq!(max_unavailable(&spec_of(row)), int(&row["expected"]), "{row}");
    }
    for row in table(&tables, "minAvailable", 8).iter().filter(|row| row["strategy"] != "Recreate") {
        let spec = spec_of(row);
        assert_eq!(spec.wanted() - max_unavailable(&spec), int(&row["expected"]), "{row}");
    }
    for row in table(&tables, "proportionOfOneReplicaSet", 9) {
        let spec = spec_of(row);
        let annotation = row.get("maxReplicasAnnotation").and_then(Value::as_str).and_then(|text| text.parse().ok());
        let set = SetSize { max_replicas: annotation, ..sized(int(&row["size"]), 0) };
        let status_replicas = row.get("statusReplicas").map_or(0, int);
        let change = int(&row["change"]);
        let wish = if change < 0 { -100 } else { 100 };
        assert_eq!(proportion(&spec, &set, status_replicas, wish, 0), change, "{row}");
    }
}

fn named_set(value: &Value, age: i64) -> ReplicaSet {
    let size = int(&value["size"]);
    set(value["name"].as_str().unwrap(), age, size, value.get("available").map_or(size, int))
}

#[test]
fn kubernetes_own_cases_of_scaling_and_history_hold() {
    let tables: Value = serde_json::from_str(include_str!("data/tables/deployment_sync.json")).unwrap();
    for row in table(&tables, "proportionalScale", 17) {
        let of = |when: &str| spec_of(&row[when]);
        let (before, mut after) = (of("before"), of("after"));
        after.paused = true;
        let new = row["newRs"].is_object().then(|| named_set(&row["newRs"], 0));
        let name = new.as_ref().map(|set| set.metadata.name.to_string());
        let old = row["oldRsYoungestFirst"].as_array().unwrap().iter().zip(1..).map(|(it, n)| named_set(it, 60 * n));
        let mut sets: Vec<ReplicaSet> = new.into_iter().chain(old).collect();
        for set in &mut sets {
            let overridden = row["desiredReplicasAnnotationOverride"].get(set.metadata.name.as_str());
            let desired = overridden.map_or(before.wanted(), int);
            annotate(set, desired, desired + max_surge(&before));
        }
        let expected: Vec<(String, i32)> = [&row["expectedNewRs"]]
            .into_iter()
            .filter(|it| it.is_object())
            .chain(row["expectedOldRs"].as_array().unwrap())
            .map(|it| (it["name"].as_str().unwrap().to_string(), int(&it["size"])))
            .collect();
        let mut sizes: Vec<(String, i32)> =
            sets.iter().map(|set| (set.metadata.name.to_string(), set.spec.wanted())).collect();
        let plan = plan(deployment(after), sets, name.as_deref());
        for (name, size) in plan.sizes() {
            sizes.iter_mut().find(|(known, _)| known == name).expect("known").1 = size;
        }
        assert_eq!(sizes, expected, "{row}");
    }
    for row in table(&tables, "historyCleanup", 6) {
        let olds = row["oldRs"].as_array().unwrap().iter().zip(1..).map(|(pair, n)| {
            let mut set = set(&format!("foo-{n}"), 600 - n, 0, 0);
            if pair.is_string() {
                set.metadata.deletion_timestamp = Some(Timestamp(NOW));
            } else {
                (set.spec.replicas, set.status.replicas) = (Some(int(&pair[0])), int(&pair[1]));
            }
            set
        });
        assert_eq!(cleaned(olds.collect(), row).len(), int(&row["deletedCount"]) as usize, "{row}");
    }
    let order = tables["historyCleanupOrder"].as_array().unwrap();
    assert_eq!(order.len(), 7);
    for row in order {
        let olds = row["oldRs"].as_array().unwrap().iter().map(|it| {
            let mut set = named_set(it, 600 - it["createdOrder"].as_i64().unwrap());
            set.metadata.annotations.insert(REVISION.into(), it["revision"].as_str().unwrap().into());
            set
        });
        let deleted: Vec<&str> = row["deleted"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        assert_eq!(cleaned(olds.collect(), row), deleted, "{row}");
    }
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

#[test]
fn kubernetes_own_cases_of_progress_hold() {
    let tables: Value = serde_json::from_str(include_str!("data/tables/deployment_progress.json")).unwrap();
    for row in table(&tables, "complete", 6) {
        let deployment = deployment(spec(int(&row["replicas"]), &row["maxSurge"], &row["maxUnavailable"]));
        let status = DeploymentStatus {
            replicas: int(&row["statusReplicas"]),
            updated_replicas: int(&row["updated"]),
            available_replicas: int(&row["available"]),
            ..DeploymentStatus::default()
        };
        assert_eq!(status::is_complete(&deployment, &status), row["complete"] == true, "{row}");
    }
    for row in table(&tables, "progressing", 7) {
        let deployment = Deployment { status: four(&row["oldStatus"]), ..Deployment::default() };
        let got = status::has_progressed(&deployment, &four(&row["newStatus"]));
        assert_eq!(got, row["progressing"] == true, "{row}");
    }
    for row in table(&tables, "timedOut", 5) {
        let mut deployment = Deployment::default();
        deployment.spec.progress_deadline_seconds = row["progressDeadlineSeconds"].as_i64().map(|it| it as i32);
        let since = row["secondsSinceLastUpdate"].as_i64().unwrap_or(0);
        let reason = row["conditionReason"].as_str().unwrap_or("ReplicaSetUpdated");
        let mut progress = status::progressing(true, reason.to_string(), String::new());
        progress.last_update_time = Some(Timestamp(NOW - since));
        deployment.status.conditions = vec![progress];
        let got = status::is_timed_out(&deployment, &deployment.status, Timestamp(NOW));
        assert_eq!(got, row["timedOut"] == true, "{row}");
    }
}

#[test]
fn kubernetes_own_cases_of_a_rollouts_condition_hold() {
    let tables: Value = serde_json::from_str(include_str!("data/tables/deployment_progress.json")).unwrap();
    let old = Timestamp(NOW - 100);
    for row in table(&tables, "rolloutStatus", 11) {
        let (mut deployment, _) = judged(row);
        if let Some(before) = row["progressingConditionBefore"].as_object() {
            let is_true = before["status"] == "True";
            let mut progress =
                status::progressing(is_true, before["reason"].as_str().unwrap().to_string(), String::new());
            (progress.last_update_time, progress.last_transition_time) = (Some(old), Some(old));
            deployment.status.conditions = vec![progress];
        }
        let part = |value: &Value, name: &str| {
            let mut set = set(name, 0, int(&value["specReplicas"]), int(&value["available"]));
            set.status.replicas = int(&value["statusReplicas"]);
            Rc::new(set)
        };
        let new = row["newRs"].is_object().then(|| part(&row["newRs"], "new"));
        let others = row["otherRs"].as_array().unwrap().iter().map(|it| part(it, "other"));
        let sets: Vec<Rc<ReplicaSet>> = others.chain(new.clone()).collect();
        let now = Timestamp(NOW);
        let mut got = status::calculate(&deployment, &sets, new.as_deref(), now);
        status::judge_progress(&deployment, &mut got, &sets, new.as_deref(), now);
        let progress: Option<&Condition> = condition(&got.conditions, "Progressing");
        let Some(expected) = row["expectedCondition"].as_object() else {
            let untouched = condition(&deployment.status.conditions, "Progressing");
            assert_eq!(progress, untouched, "{row}");
            continue;
        };
        let progress = progress.unwrap_or_else(|| panic!("{row}"));
        assert_eq!(expected["status"], progress.status, "{row}");
        assert_eq!(expected["reason"], progress.reason, "{row}");
        // Kubernetes' own test looks at a time only where it is to stay as it was.
        for (name, time) in
            [("lastUpdateKept", progress.last_update_time), ("lastTransitionKept", progress.last_transition_time)]
        {
            assert!(expected[name] == false || time == Some(old), "{name} {row}");
        }
    }
    for row in table(&tables, "requeueStuck", 11) {
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
        assert_eq!(got, row["requeueAfterSeconds"].as_i64().unwrap(), "{row}");
    }
}
