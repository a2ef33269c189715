//! Cases of real life (`cases.md`): what people are surprised by, and what really happens when.

#[path = "common/play.rs"]
mod play;

use std::rc::Rc;

use loopscope_engine::api::{Kind, Object, ObjectKey, Pod};
use loopscope_engine::client::What;
use loopscope_engine::environment::Behavior;
use loopscope_engine::sim::Seq;
use loopscope_engine::world::{Command, Latency, Scenario, Simulation, Subject};
use play::{apply, behaviors, n_ready, pods, run_for, scale, scenario, set_image, target, until, workload, world};

fn web(replicas: usize, more: &str) -> String {
    workload("Deployment", "web", "app:v1", &format!("replicas: {replicas}\n  {more}"))
}

fn start(scenario: Scenario, replicas: usize) -> Simulation {
    let mut simulation = world(scenario);
    apply(&mut simulation, &web(replicas, ""));
    until(&mut simulation, 10_000, |it| n_ready(it) == replicas);
    run_for(&mut simulation, 2_000);
    simulation
}

fn uids(simulation: &Simulation) -> Vec<u128> {
    let mut all: Vec<u128> = pods(simulation).iter().map(|pod| pod.metadata.uid.0).collect();
    all.sort_unstable();
    all
}

fn on(simulation: &Simulation, node: &str) -> Vec<Rc<Pod>> {
    pods(simulation).into_iter().filter(|pod| *pod.spec.node_name == *node).collect()
}

/// Writes of others than kubelets since an event.
fn writes_since(simulation: &Simulation, seq: Seq) -> Vec<String> {
    let newer = simulation.trace().events().filter(|event| event.seq > seq);
    let told = newer.filter_map(|event| match &event.what {
        What::Wrote { key, method, .. } if !matches!(key.kind, Kind::Lease | Kind::Node) => {
            Some(format!("{method} {key}"))
        }
        _ => None,
    });
    told.collect()
}

/// S4, S5 and S6: the same manifest again does nothing, not even where the image behind the tag or a ConfigMap that
/// the pods read has changed.
#[test]
fn neither_the_same_manifest_nor_a_new_config_map_rolls_anything_out() {
    let mut simulation = start(scenario(), 3);
    let config =
        |value: &str| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c}}, data: {{a: '{value}'}}}}");
    apply(&mut simulation, &config("1"));
    run_for(&mut simulation, 3_000);
    let (before, seq) = (uids(&simulation), simulation.trace().last_seq());
    apply(&mut simulation, &web(3, ""));
    let subject = Subject::Image("app:v1".into());
    let behavior = Behavior { start_ms: 900, ..behaviors().0["app:v1"] };
    assert!(simulation.dispatch(Command::SetBehavior { subject, behavior }).is_ok());
    apply(&mut simulation, &config("2"));
    run_for(&mut simulation, 60_000);
    assert_eq!(writes_since(&simulation, seq), ["PATCH ConfigMap/c"]);
    assert_eq!(uids(&simulation), before);
}

/// S11: who edits the child is corrected by the parent.
#[test]
fn a_replica_set_of_a_deployment_is_set_back_and_comes_back() {
    let mut simulation = start(scenario(), 3);
    let set = simulation.api().objects().of_kind(Kind::ReplicaSet).next().expect("one").key();
    scale(&mut simulation, Kind::ReplicaSet, &set.name, 5);
    let size =
        |it: &Simulation| it.api().objects().get(&set).and_then(Object::as_replica_set).map(|set| set.spec.wanted());
    until(&mut simulation, 1_000, |it| size(it) == Some(3));
    until(&mut simulation, 10_000, |it| pods(it).len() == 3);
    play::delete(&mut simulation, Kind::ReplicaSet, &set.name);
    until(&mut simulation, 1_000, |it| size(it) == Some(3) && n_ready(it) <= 3);
    until(&mut simulation, 10_000, |it| n_ready(it) == 3 && pods(it).len() == 3);
}

/// S7: a container that crashes is started again in the same pod; nobody makes another one.
#[test]
fn a_crash_is_not_replaced() {
    let mut simulation = world(scenario());
    apply(&mut simulation, &workload("Deployment", "web", "app:crash", "replicas: 1"));
    run_for(&mut simulation, 3_000);
    let first = pods(&simulation)[0].clone();
    run_for(&mut simulation, 900_000);
    let now = pods(&simulation);
    assert_eq!((now.len(), now[0].metadata.uid), (1, first.metadata.uid));
    assert_eq!(now[0].spec.node_name, first.spec.node_name);
    // Restarts after 0, 10, 20, 40, 80, 160, 300 s …
    assert!((7..=8).contains(&now[0].restarts()), "{}", now[0].restarts());
}

/// G4: a manifest that no longer says how many sets the number back to one.
#[test]
fn replicas_that_are_left_out_become_one() {
    let mut simulation = start(scenario(), 3);
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "revisionHistoryLimit: 10"));
    until(&mut simulation, 5_000, |it| pods(it).iter().filter(|pod| pod.is_active()).count() == 1);
}

/// L3: with an old cache a ReplicaSet still makes no pod too many, since it expects those it made.
#[test]
fn a_cache_that_lags_behind_makes_no_pod_too_many() {
    let latency = Latency { watch: 2_000, ..Latency::default() };
    let mut simulation = world(Scenario { latency, ..scenario() });
    apply(&mut simulation, &web(5, ""));
    run_for(&mut simulation, 60_000);
    let created = simulation.trace().events().filter(|event| {
        matches!(&event.what, What::Wrote { key, method: "POST", subresource: "", .. } if key.kind == Kind::Pod)
    });
    assert_eq!((created.count(), n_ready(&simulation)), (5, 5));
}

/// N2 and N3: a node that returns after its pods were given up ends them; the new ones stay where they are, and the
/// node stays empty until something new is to run.
#[test]
fn nothing_moves_back_to_a_node_that_returns() {
    let mut simulation = start(scenario(), 6);
    let lost: Vec<u128> = on(&simulation, "node-2").iter().map(|pod| pod.metadata.uid.0).collect();
    assert_eq!(lost.len(), 2);
    assert!(simulation.dispatch(Command::StopNode { node: "node-2".into() }).is_ok());
    run_for(&mut simulation, 500_000);
    assert_eq!((n_ready(&simulation), pods(&simulation).len()), (6, 8), "two wait to be confirmed");
    assert!(simulation.dispatch(Command::StartNode { node: "node-2".into() }).is_ok());
    run_for(&mut simulation, 60_000);
    assert_eq!((pods(&simulation).len(), on(&simulation, "node-2").len()), (6, 0));
    assert!(uids(&simulation).iter().all(|uid| !lost.contains(uid)));
    run_for(&mut simulation, 3_600_000);
    assert_eq!(on(&simulation, "node-2").len(), 0, "nobody balances");
    scale(&mut simulation, Kind::Deployment, "web", 8);
    run_for(&mut simulation, 5_000);
    assert_eq!(on(&simulation, "node-2").len(), 2, "new pods use it");
}

/// N5: nobody but a kubelet can say that a pod has ended. A Deployment goes on, a StatefulSet waits for the name.
#[test]
fn a_pod_on_a_dead_node_is_terminating_for_hours() {
    let mut simulation = world(scenario());
    apply(&mut simulation, &workload("StatefulSet", "db", "app:v1", "replicas: 1"));
    until(&mut simulation, 10_000, |it| n_ready(it) == 1);
    let node = pods(&simulation)[0].spec.node_name.to_string();
    assert!(simulation.dispatch(Command::StopNode { node: node.clone() }).is_ok());
    run_for(&mut simulation, 14_400_000);
    let all = pods(&simulation);
    assert_eq!(all.len(), 1);
    assert!(all[0].is_terminating() && !all[0].is_ready());
    // Whoever knows better says so by deleting the Node; the pod collector comes round within a minute.
    let node = target(Kind::Node, &node);
    assert!(simulation.dispatch(Command::delete(node)).is_ok());
    until(&mut simulation, 70_000, |it| n_ready(it) == 1);
}

/// N7: a budget that wants all of one pod forbids its eviction for ever, and neither rollouts nor scaling.
#[test]
fn a_budget_of_a_singleton_forbids_evictions_and_nothing_else() {
    let mut simulation = start(scenario(), 1);
    apply(
        &mut simulation,
        "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}}",
    );
    run_for(&mut simulation, 2_000);
    for _ in 0..5 {
        let evict = Command::Evict { target: target(Kind::Pod, &pods(&simulation)[0].metadata.name) };
        let outcome = simulation.dispatch(evict);
        let told = format!("{:?}", outcome.problems);
        assert!(told.contains("Cannot evict pod as it would violate the pod's disruption budget."), "{told}");
        run_for(&mut simulation, 5_000);
    }
    set_image(&mut simulation, Kind::Deployment, "web", "app:v2");
    until(&mut simulation, 20_000, |it| {
        let all = pods(it);
        all.len() == 1 && all[0].spec.containers[0].image == "app:v2" && all[0].is_ready()
    });
    scale(&mut simulation, Kind::Deployment, "web", 0);
    until(&mut simulation, 20_000, |it| pods(it).is_empty());
}

/// R10: the ranking is made once; the fuller node loses all of its pods.
#[test]
fn the_fuller_node_loses_all_its_pods() {
    let mut simulation =
        Simulation::new(Scenario { behaviors: behaviors(), ..Scenario::with_nodes(3, 2, "8", "16Gi") });
    run_for(&mut simulation, 1_000);
    assert!(simulation.dispatch(Command::Cordon { node: "node-2".into(), on: true }).is_ok());
    run_for(&mut simulation, 100);
    apply(&mut simulation, &web(3, ""));
    run_for(&mut simulation, 5_000);
    for (node, on) in [("node-1", true), ("node-2", false)] {
        assert!(simulation.dispatch(Command::Cordon { node: node.into(), on }).is_ok());
    }
    run_for(&mut simulation, 100);
    scale(&mut simulation, Kind::Deployment, "web", 5);
    until(&mut simulation, 5_000, |it| n_ready(it) == 5);
    assert_eq!((on(&simulation, "node-1").len(), on(&simulation, "node-2").len()), (3, 2));
    scale(&mut simulation, Kind::Deployment, "web", 2);
    until(&mut simulation, 5_000, |it| pods(it).len() == 2);
    assert_eq!((on(&simulation, "node-1").len(), on(&simulation, "node-2").len()), (0, 2));
}

/// S12: a finalizer that nobody takes off holds a namespace for ever.
#[test]
fn a_namespace_waits_for_a_finalizer_that_nobody_takes_off() {
    let mut simulation = world(scenario());
    apply(&mut simulation, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}");
    apply(
        &mut simulation,
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop, finalizers: [example.com/gone]}}",
    );
    play::delete(&mut simulation, Kind::Namespace, "shop");
    run_for(&mut simulation, 3_600_000);
    let shop = simulation.api().objects().get(&ObjectKey::new(Kind::Namespace, "", "shop")).expect("still there");
    assert_eq!(shop.to_value()["status"]["phase"], "Terminating");
}
