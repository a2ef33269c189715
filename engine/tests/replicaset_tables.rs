//! The pure decisions of the ReplicaSet controller against tables of Kubernetes v1.36.2: what its real functions give
//! for many inputs, and the cases of its own unit tests. All rows but the one about a ReplicationController.

#[path = "common/tables.rs"]
mod tables;

use std::rc::Rc;

use loopscope_engine::api::{
    Condition, ContainerStatus, Kind, Object, ObjectKey, ObjectMeta, Pod, PodStatus, ReplicaSet, Timestamp, Uid,
};
use loopscope_engine::apiserver::{Answer, ApiError, Effect, Objects, Reason, Verb};
use loopscope_engine::client::{Action, Context, Outcome, Reconciler, Step};
use loopscope_engine::controllers::replicaset::{
    RankedPod, ReplicaSetController, StatusInput, calculate_status, pods_to_delete,
};
use loopscope_engine::sim::Time;
use serde_json::Value;
use tables::{NOW, int, rows, table};

fn set(name: &str, replicas: i32) -> ReplicaSet {
    let mut set = ReplicaSet::default();
    set.metadata.name = name.into();
    set.spec.replicas = Some(replicas);
    set
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
        phase: row[2].as_str().unwrap().to_string().into(),
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
            here.sort_unstable();
            group.sort_unstable();
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
        pod.status.phase = it["phase"].as_str().unwrap().to_string().into();
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
    let mut it = set("rs", 1);
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
        let mut set = set("rs", int(&row["specReplicas"]));
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
                let reason = if it.reason.is_empty() { Value::Null } else { it.reason.as_str().into() };
                serde_json::json!({ "type": it.kind.as_str(), "status": it.status.as_str(), "reason": reason })
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
            expects: true,
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
