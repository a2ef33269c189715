//! The ReplicaSet controller: status, failures, which pods go first, creations that begin slowly.

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
use serde_json::{Value, json};

use super::{Held, NOW, Table, int, list, same, text};

pub const TABLES: &[Table] = &[
    Table { file: "golden_pods_to_delete", part: "", check: golden_pods_to_delete },
    Table { file: "replicaset", part: "status", check: status },
    Table { file: "replicaset", part: "failureCondition", check: failure_condition },
    Table { file: "replicaset", part: "podsToDelete", check: named_pods_to_delete },
    Table { file: "replicaset", part: "slowStart", check: slow_start },
    Table { file: "replicaset", part: "victimOrderFirstToLast", check: victim_order },
    Table { file: "replicaset", part: "pairwise", check: pairwise },
    Table { file: "replicaset", part: "pairwiseTies", check: pairwise_ties },
];

fn set(name: &str, replicas: i32) -> ReplicaSet {
    let mut set = ReplicaSet::default();
    set.metadata.name = name.into();
    set.spec.replicas = Some(replicas);
    set
}

/// A pod of a row of `golden_pods_to_delete`.
fn pod(row: &Value) -> Rc<Pod> {
    let ago = |seconds: &Value| seconds.as_i64().map(|seconds| Timestamp(NOW - seconds));
    let mut metadata = ObjectMeta {
        name: text(&row["name"]).into(),
        creation_timestamp: ago(&row["age"]),
        uid: Uid(u128::from_str_radix(text(&row["uid"]), 16).expect("a number") << 96),
        ..ObjectMeta::default()
    };
    if let Some(cost) = row["deletionCost"].as_str() {
        metadata.annotations.insert("controller.kubernetes.io/pod-deletion-cost".into(), cost.into());
    }
    let mut ready = Condition::new("Ready", row["readyAge"].is_i64());
    ready.last_transition_time = ago(&row["readyAge"]);
    let container = ContainerStatus { restart_count: int(&row["restarts"]), ..ContainerStatus::default() };
    let status = PodStatus {
        phase: text(&row["phase"]).to_string().into(),
        conditions: vec![ready],
        container_statuses: vec![container],
        ..PodStatus::default()
    };
    let mut pod = Pod { metadata, status, ..Pod::default() };
    Rc::make_mut(&mut pod.spec).node_name = text(&row["node"]).into();
    Rc::new(pod)
}

fn golden_pods_to_delete(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let pods: Vec<Rc<Pod>> = list(&row["pods"]).iter().map(pod).collect();
    let victims = pods_to_delete(&pods, &pods, pods.len() - 1, NOW * 1000);
    let mut got: Vec<&str> = victims.iter().map(|pod| pod.metadata.name.as_str()).collect();
    let rest: Vec<&str> =
        pods.iter().map(|pod| pod.metadata.name.as_str()).filter(|name| !got.contains(name)).collect();
    got.extend(rest);
    // Where Kubernetes has no preference between neighbours, any order of them is right.
    let mut groups: Vec<Vec<&str>> = Vec::new();
    for (index, name) in list(&row["order"]).iter().map(text).enumerate() {
        let is_tied = index > 0 && row["tiedWithNext"][index - 1] == true;
        match groups.last_mut() {
            Some(group) if is_tied => group.push(name),
            _ => groups.push(vec![name]),
        }
    }
    let mut rest = got.as_slice();
    for mut group in groups {
        let (here, later) = rest.split_at(group.len());
        let mut here = here.to_vec();
        here.sort_unstable();
        group.sort_unstable();
        same(here, group)?;
        rest = later;
    }
    Ok(())
}

/// A ReplicaSet's cache with pods as rows of `status` describe them.
fn cache_of(set: &ReplicaSet, row: &Value) -> Objects {
    let mut cache = Objects::default();
    cache.insert(Object::ReplicaSet(Rc::new(set.clone())));
    let rows = list(&row["active"]).iter().chain(list(&row["terminating"]));
    for (index, it) in rows.enumerate() {
        let mut pod = Pod::default();
        pod.metadata.name = format!("pod-{index}").into();
        pod.metadata.owner_references = vec![set.metadata.controller_reference(Kind::ReplicaSet)];
        // `notFullyLabelledRS` names pods that lack one of the template's labels.
        pod.metadata.labels.insert("foo".into(), "bar".into());
        if it["labelsOf"] != "notFullyLabelledRS" {
            pod.metadata.labels.insert("more".into(), "yes".into());
        }
        pod.status.phase = text(&it["phase"]).to_string().into();
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

fn status(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let mut set = labeled_set();
    set.spec.min_ready_seconds = int(&row["minReadySeconds"]);
    let cache = cache_of(&set, row);
    let input = StatusInput::count(&set, &cache, Timestamp(NOW));
    let status = calculate_status(&set, &input, None);
    let expected = &row["expected"];
    let got = [status.replicas, status.fully_labeled_replicas, status.ready_replicas, status.available_replicas];
    same(got, ["replicas", "fullyLabeled", "ready", "available"].map(|name| int(&expected[name])))?;
    // Nothing is told of them where a gate is off that is on, or of ReplicationControllers.
    match expected["terminatingReplicas"].as_i64() {
        Some(terminating) => same(status.terminating_replicas.map(i64::from), Some(terminating)),
        None => Ok(()),
    }
}

fn failure_condition(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let mut set = set("rs", int(&row["specReplicas"]));
    if row["hadReplicaFailureBefore"] == true {
        set.status.conditions.push(Condition::new("ReplicaFailure", true));
    }
    let input = StatusInput { active: int(&row["activePods"]), ..StatusInput::default() };
    let failure = (row["syncFailed"] == true).then_some("fake");
    let status = calculate_status(&set, &input, failure);
    let told = status.conditions.iter().map(|it| {
        let reason = if it.reason.is_empty() { Value::Null } else { it.reason.as_str().into() };
        json!({"type": it.kind.as_str(), "status": it.status.as_str(), "reason": reason})
    });
    same(told.collect::<Value>(), row["expected"].clone())
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

fn named_pods_to_delete(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let named = |value: &Value| -> Vec<Rc<Pod>> {
        list(value).iter().zip(1..).map(|(name, uid)| described_pod(text(name), uid)).collect()
    };
    let pods = named(&row["pods"]);
    let related = if row["relatedPods"].is_array() { named(&row["relatedPods"]) } else { pods.clone() };
    let victims = pods_to_delete(&pods, &related, int(&row["diff"]) as usize, NOW * 1000);
    let got: Vec<&str> = victims.iter().map(|pod| pod.metadata.name.as_str()).collect();
    same(got, list(&row["expected"]).iter().map(text).collect::<Vec<_>>())
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

fn is_before(earlier: &RankedPod, later: &RankedPod) -> Held {
    let got = (earlier.goes_before(later, NOW * 1000), later.goes_before(earlier, NOW * 1000));
    same(got, (true, false)).map_err(|error| format!("{earlier:?} before {later:?}: {error}"))
}

fn victim_order(rows: &[Value], at: usize) -> Held {
    let of = |row: &Value| ranked(text(&row["why"]), 0);
    rows[at + 1..].iter().try_for_each(|later| is_before(&of(&rows[at]), &of(later)))
}

fn pairwise(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let of = |name: &str, rank: &str| ranked(text(&row[name]), int(&row[rank]) as usize);
    is_before(&of("lesser", "lesserRank"), &of("greater", "greaterRank"))
}

/// Whichever has the smaller UID goes first.
fn pairwise_ties(rows: &[Value], at: usize) -> Held {
    let of = |name: &str, uid| RankedPod { uid: Uid(uid), ..ranked(text(&rows[at][name]), 1) };
    is_before(&of("a", 1), &of("b", 2))?;
    is_before(&of("b", 1), &of("a", 2))
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
            metrics: None,
            room: None,
            git: None,
            infrastructure: None,
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

fn slow_start(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let got = creations(int(&row["count"]), int(&row["callLimit"]) as usize);
    same(got, (int(&row["calls"]) as usize, int(&row["successes"]) as usize, row["error"] == true))
}
