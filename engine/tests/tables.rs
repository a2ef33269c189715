//! The pure decisions of Deployment and ReplicaSet against tables of Kubernetes v1.36.2: what its real functions give
//! for many inputs, and the cases of its own unit tests. All rows.

use std::rc::Rc;

use loopscope_engine::api::{
    Condition, ContainerStatus, Deployment, DeploymentSpec, DeploymentStatus, DeploymentStrategy, IntOrPercent, Kind,
    Object, ObjectKey, ObjectMeta, Pod, PodStatus, ReplicaSet, RollingUpdate, Timestamp, Uid, condition,
};
use loopscope_engine::apiserver::{Answer, ApiError, Effect, Objects, Reason, Verb};
use loopscope_engine::client::{Action, Context, Outcome, Reconciler, Step};
use loopscope_engine::controllers::deployment::plan::{Plan, decide};
use loopscope_engine::controllers::deployment::revision::{DESIRED, MAX, REVISION};
use loopscope_engine::controllers::deployment::rolling::{
    SetSize, max_surge, max_unavailable, new_set_size, old_set_sizes, proportion, resolve_fenceposts, without_unhealthy,
};
use loopscope_engine::controllers::deployment::status;
use loopscope_engine::controllers::replicaset::{
    RankedPod, ReplicaSetController, StatusInput, calculate_status, pods_to_delete,
};
use loopscope_engine::sim::Time;
use serde_json::Value;

const NOW: i64 = 1_796_025_600;

fn rows(text: &str) -> Vec<Value> {
    serde_json::from_str(text).expect("a table")
}

fn table<'a>(tables: &'a Value, prefix: &str, count: usize) -> &'a [Value] {
    let (_, rows) = tables.as_object().unwrap().iter().find(|(name, _)| name.starts_with(prefix)).expect(prefix);
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), count, "{prefix}");
    rows
}

fn int(value: &Value) -> i32 {
    value.as_i64().map_or_else(|| panic!("a number: {value}"), |it| it as i32)
}

fn amount(value: &Value) -> IntOrPercent {
    serde_json::from_value(value.clone()).unwrap_or(IntOrPercent::Int(0))
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
        let sizes = old_set_sizes(&spec, &sized(int(&row["newSize"]), int(&row["newAvailable"])), &[old.clone()]);
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
        let sizes = old_set_sizes(&spec, &sized(0, 0), &[healthy.clone()]);
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
        let mut progress = status::progressing(true, reason, String::new());
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
            let mut progress = status::progressing(is_true, before["reason"].as_str().unwrap(), String::new());
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
            let mut progress = status::progressing(true, reason, String::new());
            progress.last_update_time = Some(Timestamp(0));
            status.conditions = vec![progress];
        }
        let now = (row["nowSeconds"].as_f64().unwrap_or(0.0) * 1000.0).ceil() as i64;
        let got = status::seconds_until_deadline(&deployment, &status, now).unwrap_or(-1);
        assert_eq!(got, row["requeueAfterSeconds"].as_i64().unwrap(), "{row}");
    }
}

/// A pod of `pods_to_delete.json`: name, node, phase, age, ready age, restarts, deletion cost, start of the UID.
fn pod(row: &Value) -> Rc<Pod> {
    let ago = |seconds: &Value| seconds.as_i64().map(|seconds| Timestamp(NOW - seconds));
    let mut metadata = ObjectMeta {
        name: row[0].as_str().unwrap().into(),
        creation_timestamp: ago(&row[3]),
        uid: Uid(u128::from_str_radix(row[7].as_str().unwrap(), 16).unwrap() << 96),
        ..ObjectMeta::default()
    };
    if let Some(cost) = row[6].as_str() {
        metadata.annotations.insert("controller.kubernetes.io/pod-deletion-cost".into(), cost.into());
    }
    let mut ready = Condition::new("Ready", row[4].is_i64());
    ready.last_transition_time = ago(&row[4]);
    let container = ContainerStatus { restart_count: int(&row[5]), ..ContainerStatus::default() };
    let status = PodStatus {
        phase: row[2].as_str().unwrap().into(),
        conditions: vec![ready],
        container_statuses: vec![container],
        ..PodStatus::default()
    };
    let mut pod = Pod { metadata, status, ..Pod::default() };
    Rc::make_mut(&mut pod.spec).node_name = row[1].as_str().unwrap().into();
    Rc::new(pod)
}

#[test]
fn surplus_pods_go_in_the_order_in_which_kubernetes_deletes_them() {
    let rows = rows(include_str!("data/tables/pods_to_delete.json"));
    assert_eq!(rows.len(), 125);
    for row in &rows {
        let pods: Vec<Rc<Pod>> = row["pods"].as_array().unwrap().iter().map(pod).collect();
        let victims = pods_to_delete(&pods, &pods, pods.len() - 1, NOW * 1000);
        let mut got: Vec<String> = victims.iter().map(|pod| pod.metadata.name.to_string()).collect();
        got.extend(
            pods.iter().map(|pod| pod.metadata.name.to_string()).filter(|name| !got.contains(name)).collect::<Vec<_>>(),
        );
        let expected: Vec<&str> = row["order"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        // Where Kubernetes has no preference between neighbours, any order of them is right.
        let mut groups: Vec<Vec<&str>> = Vec::new();
        for (index, name) in expected.iter().enumerate() {
            let is_tied = index > 0 && row["tied"][index - 1] == true;
            match groups.last_mut() {
                Some(group) if is_tied => group.push(name),
                _ => groups.push(vec![name]),
            }
        }
        let mut rest = got.as_slice();
        for mut group in groups {
            let (here, later) = rest.split_at(group.len());
            let mut here: Vec<&str> = here.iter().map(String::as_str).collect();
            (here.sort_unstable(), group.sort_unstable());
            assert_eq!(here, group, "{row} gave {got:?}");
            rest = later;
        }
    }
}

fn replica_set_tables() -> Value {
    serde_json::from_str(include_str!("data/tables/replicaset.json")).unwrap()
}

/// A ReplicaSet's cache with pods as rows of `status` describe them.
fn cache_of(set: &ReplicaSet, row: &Value) -> Objects {
    let mut cache = Objects::default();
    cache.insert(Object::ReplicaSet(Rc::new(set.clone())));
    let rows = row["active"].as_array().unwrap().iter().chain(row["terminating"].as_array().unwrap());
    for (index, it) in rows.enumerate() {
        let mut pod = Pod::default();
        pod.metadata.name = format!("pod-{index}").into();
        pod.metadata.owner_references = vec![set.metadata.controller_reference(Kind::ReplicaSet)];
        // `notFullyLabelledRS` names pods that lack one of the template's labels.
        pod.metadata.labels.insert("foo".into(), "bar".into());
        if it["labelsOf"] != "notFullyLabelledRS" {
            pod.metadata.labels.insert("more".into(), "yes".into());
        }
        pod.status.phase = it["phase"].as_str().unwrap().into();
        let mut ready = Condition::new("Ready", it["ready"] == true);
        let since = it.get("readySinceSeconds").and_then(Value::as_i64).unwrap_or(0);
        ready.last_transition_time = Some(Timestamp(NOW - since));
        pod.status.conditions = vec![ready];
        if it["terminating"] == true {
            pod.metadata.deletion_timestamp = Some(Timestamp(NOW));
        }
        cache.insert(Object::Pod(Rc::new(pod)));
    }
    cache
}

fn labeled_set() -> ReplicaSet {
    let mut it = set("rs", 0, 1, 0);
    it.metadata.uid = Uid(7);
    it.spec.selector.match_labels.insert("foo".into(), "bar".into());
    let labels = &mut it.spec.template.metadata.labels;
    labels.clear();
    labels.insert("foo".into(), "bar".into());
    labels.insert("more".into(), "yes".into());
    it
}

#[test]
fn kubernetes_own_cases_of_a_replica_sets_status_hold() {
    let tables = replica_set_tables();
    for row in table(&tables, "status", 13).iter().filter(|row| row["isReplicationController"] == false) {
        let mut set = labeled_set();
        set.spec.min_ready_seconds = int(&row["minReadySeconds"]);
        let cache = cache_of(&set, row);
        let input = StatusInput::count(&set, &cache, Timestamp(NOW));
        let status = calculate_status(&set, &input, None);
        let expected = &row["expected"];
        let got = [status.replicas, status.fully_labeled_replicas, status.ready_replicas, status.available_replicas];
        assert_eq!(got, ["replicas", "fullyLabeled", "ready", "available"].map(|name| int(&expected[name])), "{row}");
        if expected["terminatingReplicas"].is_i64() {
            assert_eq!(status.terminating_replicas, Some(int(&expected["terminatingReplicas"])), "{row}");
        }
    }
    for row in table(&tables, "failureCondition", 5) {
        let mut set = set("rs", 0, int(&row["specReplicas"]), 0);
        if row["hadReplicaFailureBefore"] == true {
            set.status.conditions.push(Condition::new("ReplicaFailure", true));
        }
        let input = StatusInput { active: int(&row["activePods"]), ..StatusInput::default() };
        let failure = (row["syncFailed"] == true).then_some("fake");
        let status = calculate_status(&set, &input, failure);
        let got: Vec<Value> = status
            .conditions
            .iter()
            .map(|it| {
                let reason = if it.reason.is_empty() { Value::Null } else { it.reason.clone().into() };
                serde_json::json!({ "type": it.kind, "status": it.status, "reason": reason })
            })
            .collect();
        assert_eq!(Value::from(got), row["expected"], "{row}");
    }
}

/// A pod as `podsToDelete` names it; equal names are pods of their own.
fn described_pod(name: &str, uid: u128) -> Rc<Pod> {
    let mut pod = Pod::default();
    pod.metadata.name = name.into();
    pod.metadata.uid = Uid(uid);
    let is_pending = name.contains("Pending");
    pod.status.phase = if is_pending { "Pending" } else { "Running" }.into();
    if !name.starts_with("un") {
        let node = if name.ends_with('2') { "node2" } else { "node1" };
        Rc::make_mut(&mut pod.spec).node_name = node.into();
    }
    let is_ready = name.contains("ReadyPod") && !name.contains("NotReady");
    pod.status.conditions.push(Condition::new("Ready", is_ready));
    Rc::new(pod)
}

#[test]
fn kubernetes_own_cases_of_pods_to_delete_hold() {
    let tables = replica_set_tables();
    for row in table(&tables, "podsToDelete", 10) {
        let named = |value: &Value| -> Vec<Rc<Pod>> {
            let names = value.as_array().into_iter().flatten().map(|it| it.as_str().unwrap());
            names.zip(1..).map(|(name, uid)| described_pod(name, uid)).collect()
        };
        let pods = named(&row["pods"]);
        let related = if row["relatedPods"].is_array() { named(&row["relatedPods"]) } else { pods.clone() };
        let victims = pods_to_delete(&pods, &related, int(&row["diff"]) as usize, NOW * 1000);
        let got: Vec<&str> = victims.iter().map(|pod| pod.metadata.name.as_str()).collect();
        let expected: Vec<&str> = row["expected"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        assert_eq!(got, expected, "{row}");
    }
}

const MONTH: i64 = 30 * 86_400;

/// A pod as `pairwise` and `victimOrderFirstToLast` describe it.
fn ranked(text: &str, rank: usize) -> RankedPod {
    let ago = |seconds: i64| Some(Timestamp(NOW - seconds));
    let ready = text.starts_with("ready")
        || text.contains("restarts")
        || text.contains("cost")
        || text == "same, created a month ago";
    let mut pod = RankedPod {
        is_assigned: !text.starts_with("unscheduled") && text != "Pending without node",
        phase: match text {
            _ if text.starts_with("unscheduled") || text.to_lowercase().starts_with("pending") => 0,
            "unknown phase" | "phase Unknown" => 1,
            _ => 2,
        },
        is_ready: ready,
        deletion_cost: text.strip_prefix("deletion cost ").map_or(0, |cost| cost.parse().unwrap()),
        neighbours: rank,
        ready_since: if ready { ago(0) } else { None },
        restarts: 0,
        sidecar_restarts: 0,
        created: ago(0),
        uid: Uid(rank as u128),
    };
    for (hours, word) in [(2, "2 h"), (5, "5 h"), (8, "8 h")] {
        if text.contains(word) {
            let slot = if ready { &mut pod.ready_since } else { &mut pod.created };
            *slot = ago(hours * 3600);
        }
    }
    if text.contains("no transition time") || text.contains("transition time empty") {
        pod.ready_since = None;
    }
    if text.contains("ready a month") || text.contains("ready for a month") || text.starts_with("same") {
        pod.ready_since = ago(MONTH);
    }
    if text.contains("created a month ago") {
        pod.created = ago(MONTH);
    }
    if text.contains("9001") {
        pod.restarts = 9001;
    }
    if text.contains("restarts 3") {
        pod.restarts = 3;
    } else if text.contains("restarts 2") || text.starts_with("same") {
        pod.restarts = 2;
    }
    if text.contains("sidecar") {
        pod.sidecar_restarts = if text.contains("9001") { 9001 } else { 2 };
    }
    pod
}

#[test]
fn kubernetes_own_order_of_victims_holds() {
    let tables = replica_set_tables();
    let order: Vec<RankedPod> = table(&tables, "victimOrderFirstToLast", 10)
        .iter()
        .map(|row| ranked(row["why"].as_str().unwrap(), 0))
        .collect();
    for (index, earlier) in order.iter().enumerate() {
        for later in &order[index + 1..] {
            assert!(earlier.goes_before(later, NOW * 1000), "{earlier:?} before {later:?}");
            assert!(!later.goes_before(earlier, NOW * 1000), "{later:?} after {earlier:?}");
        }
    }
    let pairs = tables.as_object().unwrap().iter().find(|(name, _)| name.starts_with("pairwise (")).unwrap().1;
    assert_eq!(pairs.as_array().unwrap().len(), 16);
    for row in pairs.as_array().unwrap() {
        let of = |name: &str, rank: &str| ranked(row[name].as_str().unwrap(), int(&row[rank]) as usize);
        let (lesser, greater) = (of("lesser", "lesserRank"), of("greater", "greaterRank"));
        assert!(lesser.goes_before(&greater, NOW * 1000), "{row}");
        assert!(!greater.goes_before(&lesser, NOW * 1000), "{row}");
    }
    for row in table(&tables, "pairwiseTies", 2) {
        let of = |name: &str, uid| RankedPod { uid: Uid(uid), ..ranked(row[name].as_str().unwrap(), 1) };
        assert!(of("a", 1).goes_before(&of("b", 2), NOW * 1000) && of("b", 1).goes_before(&of("a", 2), NOW * 1000));
        assert!(!of("a", 2).goes_before(&of("b", 1), NOW * 1000), "{row}");
    }
}

/// Creates pods until so many calls have succeeded, and counts the calls.
fn creations(count: i32, limit: usize) -> (usize, usize, bool) {
    let mut set = labeled_set();
    set.spec.replicas = Some(count);
    let key = ObjectKey::new(Kind::ReplicaSet, "", "rs");
    let mut cache = Objects::default();
    cache.insert(Object::ReplicaSet(Rc::new(set)));
    let mut controller = ReplicaSetController::default();
    let mut turn = controller.start(&key);
    let (mut calls, mut successes, mut outcomes) = (0, 0, Vec::new());
    loop {
        let context = Context {
            cache: &cache,
            version: 1,
            now: Time(0),
            wall: Timestamp(NOW),
            wall_millis: NOW * 1000,
            runtime: None,
        };
        let step = controller.step(&context, &key, &mut turn, std::mem::take(&mut outcomes)).step;
        match step {
            Step::Done(_) => return (calls, successes, false),
            Step::Fail(_) => return (calls, successes, true),
            Step::Act(_, actions) => {
                outcomes = actions.iter().map(|action| answer(action, limit, &mut calls, &mut successes)).collect()
            }
            _ => {}
        }
    }
}

fn answer(action: &Action, limit: usize, calls: &mut usize, successes: &mut usize) -> Outcome {
    let Action::Api(request) = action else { return Ok(None) };
    match &request.verb {
        Verb::Create(object) => {
            *calls += 1;
            if *calls > limit {
                return Err(ApiError::new(Reason::Forbidden, "no more".into()));
            }
            *successes += 1;
            Ok(Some(Answer { object: object.clone(), outcome: Effect::Created }))
        }
        _ => Ok(None),
    }
}

#[test]
fn kubernetes_own_cases_of_a_slow_start_hold() {
    for row in table(&replica_set_tables(), "slowStart", 3) {
        let got = creations(int(&row["count"]), int(&row["callLimit"]) as usize);
        let expected = (int(&row["calls"]) as usize, int(&row["successes"]) as usize, row["error"] == true);
        assert_eq!(got, expected, "{row}");
    }
}
