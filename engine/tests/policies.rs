//! Disruption budgets and quotas at work, as recorded (k_cordon_drain_pdb, x1_quota_create_fails_backoff).

use loopscope_engine::api::{Kind, Object, ObjectKey, Pod};
use loopscope_engine::apiserver::PatchType;
use loopscope_engine::client::What;
use loopscope_engine::sim::Millis;
use loopscope_engine::world::{Command, Scenario, Simulation, Target};
use serde_json::{Value, json};
use std::rc::Rc;

fn run_for(simulation: &mut Simulation, ms: u64) {
    let until = simulation.now() + Millis(ms);
    assert!(simulation.run_until(until, 10_000_000), "events without end");
}

fn deployment(replicas: i32) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  replicas: {replicas}\n  selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    spec:\n      containers: [{{name: app, image: 'app:v1', resources: {{requests: {{cpu: 100m}}}}}}]\n"
    )
}

fn apply(simulation: &mut Simulation, manifest: &str) {
    let outcome = simulation.dispatch(Command::Apply { manifest: manifest.into() });
    assert!(outcome.is_ok(), "{outcome:?}");
}

fn pods(simulation: &Simulation) -> Vec<Rc<Pod>> {
    simulation.api().objects().of_kind(Kind::Pod).filter_map(Object::as_pod).cloned().collect()
}

fn target(kind: Kind, name: &str) -> Target {
    Target { kind, namespace: "default".into(), name: name.into() }
}

fn status(simulation: &Simulation, kind: Kind, name: &str) -> Value {
    let object = simulation.api().objects().get(&ObjectKey::new(kind, "default", name));
    object.map(|it| it.to_value()["status"].clone()).unwrap_or_default()
}

#[test]
fn a_drain_against_a_budget_takes_one_pod_at_a_time() {
    let mut simulation = Simulation::new(Scenario::empty(5));
    let budget = "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec: {minAvailable: 5, selector: {matchLabels: {app: web}}}\n";
    apply(&mut simulation, &format!("{}{budget}", deployment(6)));
    run_for(&mut simulation, 30);
    let figures = |simulation: &Simulation| {
        let status = status(simulation, Kind::PodDisruptionBudget, "web");
        let number = |name: &str| status[name].as_i64().unwrap_or(0);
        (number("disruptionsAllowed"), number("currentHealthy"), number("desiredHealthy"), number("expectedPods"))
    };
    run_for(&mut simulation, 20_000);
    assert_eq!(figures(&simulation), (1, 6, 5, 6));
    simulation.dispatch(Command::Cordon { node: "node-1".into(), on: true });
    let there: Vec<_> = pods(&simulation).into_iter().filter(|pod| &*pod.spec.node_name == "node-1").collect();
    assert_eq!(there.len(), 2);
    let evict = |simulation: &mut Simulation, pod: &Pod| {
        simulation.dispatch(Command::Evict { target: target(Kind::Pod, &pod.metadata.name) })
    };
    let first = evict(&mut simulation, &there[0]);
    assert_eq!(first.lines, [format!("pod/{} evicted", there[0].metadata.name)]);
    let second = evict(&mut simulation, &there[1]);
    assert_eq!(second.problems[0].message, "Cannot evict pod as it would violate the pod's disruption budget.");
    run_for(&mut simulation, 50);
    assert_eq!(figures(&simulation), (0, 5, 5, 7), "the replacement is expected beside the pod that goes");
    assert!(!evict(&mut simulation, &there[1]).is_ok());
    run_for(&mut simulation, 15_000);
    assert_eq!(figures(&simulation), (1, 6, 5, 6));
    assert!(evict(&mut simulation, &there[1]).is_ok());
    run_for(&mut simulation, 15_000);
    assert_eq!(pods(&simulation).iter().filter(|pod| &*pod.spec.node_name == "node-1").count(), 0);
    assert_eq!(figures(&simulation), (1, 6, 5, 6));
    let refusals = simulation.trace().events().filter(|event| matches!(event.what, What::Refused { code: 429, .. }));
    assert_eq!(refusals.count(), 2);
}

#[test]
fn a_budget_in_percent_follows_the_size_of_the_deployment() {
    let mut simulation = Simulation::new(Scenario::empty(6));
    let budget = "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec: {maxUnavailable: 30%, selector: {matchLabels: {app: web}}}\n";
    apply(&mut simulation, &format!("{}{budget}", deployment(7)));
    run_for(&mut simulation, 20_000);
    let status = status(&simulation, Kind::PodDisruptionBudget, "web");
    assert_eq!((&status["expectedPods"], &status["desiredHealthy"]), (&json!(7), &json!(4)));
    assert_eq!(
        (&status["disruptionsAllowed"], &status["conditions"][0]["reason"]),
        (&json!(3), &json!("SufficientPods"))
    );
}

#[test]
fn a_full_quota_makes_a_replica_set_back_off_and_raising_it_wakes_nobody() {
    let mut simulation = Simulation::new(Scenario::empty(7));
    let quota = |pods: u32| {
        format!(
            "apiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: q}}\nspec: {{hard: {{pods: '{pods}', requests.cpu: '2'}}}}\n"
        )
    };
    apply(&mut simulation, &quota(3));
    run_for(&mut simulation, 1_500);
    apply(&mut simulation, &deployment(6));
    run_for(&mut simulation, 25_000);
    assert_eq!(pods(&simulation).len(), 3);
    let used = status(&simulation, Kind::ResourceQuota, "q")["used"].clone();
    assert_eq!(used, json!({"pods": "3", "requests.cpu": "300m"}));
    let sets: Vec<Value> = simulation.api().objects().of_kind(Kind::ReplicaSet).map(Object::to_value).collect();
    let failure = &sets[0]["status"]["conditions"][0];
    assert_eq!((&failure["type"], &failure["reason"]), (&json!("ReplicaFailure"), &json!("FailedCreate")));
    let message = failure["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("pods \"web-"), "{message}");
    assert!(
        message.ends_with("is forbidden: exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3"),
        "{message}"
    );
    let refusals = |simulation: &Simulation| {
        simulation.trace().events().filter(|event| matches!(event.what, What::Refused { code: 403, .. })).count()
    };
    let before = refusals(&simulation);
    assert!((10..25).contains(&before), "the recording has 18 refusals before the long waits: {before}");
    apply(&mut simulation, &quota(10));
    run_for(&mut simulation, 5_000);
    assert_eq!(pods(&simulation).len(), 3, "the wait goes on");
    assert_eq!(status(&simulation, Kind::ResourceQuota, "q")["hard"]["pods"], json!("10"));
    // Every pod that comes up is one more try, and doubles the wait: 18 tries make it 5 ms · 2¹⁷.
    run_for(&mut simulation, 1_000_000);
    assert_eq!(pods(&simulation).len(), 6);
    let scale = Command::Scale { target: target(Kind::Deployment, "web"), replicas: 1 };
    assert!(simulation.dispatch(scale).is_ok());
    run_for(&mut simulation, 40_000);
    let used = status(&simulation, Kind::ResourceQuota, "q")["used"].clone();
    assert_eq!(used, json!({"pods": "1", "requests.cpu": "100m"}), "there is room again");
}

#[test]
fn the_priorities_of_the_system_are_there_from_the_start() {
    let mut simulation = Simulation::new(Scenario::empty(8));
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {priorityClassName: system-node-critical, containers: [{name: a, image: 'app:v1'}]}\n";
    apply(&mut simulation, pod);
    assert_eq!(pods(&simulation)[0].spec.priority, Some(2_000_001_000));
    let unknown = pod.replace("system-node-critical", "nope").replace("name: p}", "name: q}");
    let outcome = simulation.dispatch(Command::Apply { manifest: unknown });
    assert_eq!(outcome.problems[0].message, "pods \"q\" is forbidden: no PriorityClass with name nope was found");
    let patch = json!({"spec": {"replicas": 1}});
    let missing = Command::Patch { target: target(Kind::Deployment, "web"), kind: PatchType::Merge, patch };
    assert_eq!(simulation.dispatch(missing).problems[0].message, "deployments.apps \"web\" not found");
}

#[test]
fn the_inspector_says_why_pods_are_refused() {
    let mut simulation = Simulation::new(Scenario::empty(1));
    apply(&mut simulation, "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: '1'}}\n");
    run_for(&mut simulation, 1_000);
    apply(&mut simulation, &deployment(3));
    run_for(&mut simulation, 5_000);
    let key = ObjectKey::new(Kind::Deployment, "default", "web");
    let verdict = loopscope_engine::view::inspect(&simulation, &key).expect("it is there").verdict.plain();
    assert!(verdict.starts_with("2 pods short. They are refused: "), "{verdict}");
    assert!(verdict.contains("exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"), "{verdict}");
}

#[test]
fn a_manifest_of_nothing_is_answered_as_kubectl_does() {
    let mut simulation = Simulation::new(Scenario::empty(1));
    let outcome = simulation.dispatch(Command::Apply { manifest: "# nothing yet\n".into() });
    assert_eq!(outcome.lines, ["error: no objects passed to apply"]);
}
