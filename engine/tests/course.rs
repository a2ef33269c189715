//! What a person sees: the courses that the page's visitors set off.

use std::rc::Rc;

use loopscope_engine::api::{Deployment, Kind, Object, ObjectKey, Pod};
use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::view;
use loopscope_engine::world::{Command, Outcome, Scenario, Simulation, Target};

fn pods(simulation: &Simulation) -> Vec<Rc<Pod>> {
    simulation.api().objects().of_kind(Kind::Pod).filter_map(Object::as_pod).cloned().collect()
}

fn active(simulation: &Simulation) -> Vec<Rc<Pod>> {
    pods(simulation).into_iter().filter(|pod| pod.is_active()).collect()
}

fn ready(simulation: &Simulation) -> usize {
    active(simulation).iter().filter(|pod| pod.is_ready()).count()
}

fn deployment(simulation: &Simulation, name: &str) -> Rc<Deployment> {
    let key = ObjectKey::new(Kind::Deployment, "default", name);
    Rc::clone(simulation.api().objects().get(&key).and_then(Object::as_deployment).expect("the Deployment is there"))
}

fn target(kind: Kind, name: &str) -> Target {
    let namespace = if kind.is_namespaced() { "default" } else { "" };
    Target { kind, namespace: namespace.into(), name: name.into() }
}

fn scale(simulation: &mut Simulation, replicas: i32) -> Outcome {
    simulation.dispatch(Command::Scale { target: target(Kind::Deployment, "web"), replicas })
}

fn run_for(simulation: &mut Simulation, ms: u64) {
    let until = simulation.now() + Millis(ms);
    assert!(simulation.run_until(until, 10_000_000), "events without end");
}

fn converged() -> Simulation {
    let mut simulation = Simulation::new(Scenario::self_healing());
    run_for(&mut simulation, 20_000);
    assert_eq!(ready(&simulation), 3);
    simulation
}

fn event_messages(simulation: &Simulation, reason: &str) -> Vec<String> {
    let events = simulation.api().events.iter().filter(|event| event.draft.reason == reason);
    events.map(|event| event.draft.message.clone()).collect()
}

#[test]
fn a_deployment_comes_up_through_four_loops() {
    let simulation = converged();
    let web = deployment(&simulation, "web");
    assert_eq!((web.status.replicas, web.status.updated_replicas, web.status.available_replicas), (3, 3, 3));
    let conditions: Vec<_> =
        web.status.conditions.iter().map(|it| (it.kind.as_str(), it.status.as_str(), it.reason.as_str())).collect();
    assert_eq!(
        conditions,
        [("Available", "True", "MinimumReplicasAvailable"), ("Progressing", "True", "NewReplicaSetAvailable")]
    );
    let nodes: std::collections::BTreeSet<_> = pods(&simulation).iter().map(|pod| pod.spec.node_name.clone()).collect();
    assert_eq!(nodes.len(), 3, "equal pods spread over equal nodes");
    assert_eq!(event_messages(&simulation, "SuccessfulCreate").len(), 3);
    assert_eq!(view::frame(&simulation).summary.convergence, view::Convergence::Converged);
}

#[test]
fn a_deleted_pod_is_replaced_at_once_and_goes_after_its_own_time() {
    let mut simulation = converged();
    let victim = pods(&simulation)[0].clone();
    let outcome = simulation.dispatch(Command::delete(target(Kind::Pod, &victim.metadata.name)));
    assert_eq!(outcome.lines, [format!("pod \"{}\" deleted from default namespace", victim.metadata.name)]);
    run_for(&mut simulation, 100);
    assert_eq!(pods(&simulation).len(), 4, "the replacement does not wait until the old pod is gone");
    assert_eq!(active(&simulation).len(), 3);
    run_for(&mut simulation, 15_000);
    assert_eq!((pods(&simulation).len(), ready(&simulation)), (3, 3));
    let newest = pods(&simulation).into_iter().max_by_key(|pod| pod.metadata.creation_timestamp).expect("a pod");
    let key = ObjectKey::new(Kind::Pod, "default", newest.metadata.name.clone());
    let origin = simulation.origin(&key).expect("its creation is kept");
    let links = view::why(&simulation, origin.0);
    assert!(links[0].is_you, "the chain begins with the person: {links:#?}");
    assert!(links.iter().any(|link| link.text.contains("3 − 2 = +1")), "{links:#?}");
}

#[test]
fn replicas_go_up_and_down() {
    let mut simulation = converged();
    for (replicas, expected) in [(5, 5), (2, 2), (0, 0), (3, 3)] {
        assert!(scale(&mut simulation, replicas).is_ok());
        run_for(&mut simulation, 40_000);
        assert_eq!((ready(&simulation), pods(&simulation).len()), (expected, expected), "after scaling to {replicas}");
    }
}

#[test]
fn a_new_image_rolls_out_within_surge_and_availability() {
    let mut simulation = converged();
    let outcome = simulation.dispatch(Command::SetImage {
        target: target(Kind::Deployment, "web"),
        container: "nginx".into(),
        image: "nginx:1.28.0".into(),
    });
    assert!(outcome.is_ok(), "{outcome:?}");
    for _ in 0..2_000 {
        run_for(&mut simulation, 20);
        assert!(active(&simulation).len() <= 4, "3 replicas and a surge of 1");
        assert!(ready(&simulation) >= 3, "none may be missing");
    }
    let images: Vec<_> = pods(&simulation).iter().map(|pod| pod.spec.containers[0].image.clone()).collect();
    assert_eq!(images, ["nginx:1.28.0"; 3]);
    let sizes: Vec<_> = simulation
        .api()
        .objects()
        .of_kind(Kind::ReplicaSet)
        .filter_map(Object::as_replica_set)
        .map(|set| set.spec.wanted())
        .collect();
    assert_eq!(sizes.iter().sum::<i32>(), 3);
    assert_eq!(sizes.len(), 2, "the old ReplicaSet stays for a rollback");
    assert_eq!(deployment(&simulation, "web").metadata.annotations["deployment.kubernetes.io/revision"], "2");
}

/// Recording `j2_node_dead_default_tolerations`: 50 s of grace, then 300 s of toleration.
#[test]
fn a_dead_node_is_found_after_fifty_seconds_and_emptied_after_three_hundred_more() {
    let mut simulation = converged();
    let victim = pods(&simulation)[0].spec.node_name.to_string();
    let killed = simulation.now();
    simulation.dispatch(Command::StopNode { node: victim.clone() });
    let readiness = |simulation: &Simulation| {
        let node = simulation.api().objects().get(&ObjectKey::node(victim.as_str())).and_then(Object::as_node).cloned();
        node.expect("the node object stays").readiness().to_string()
    };
    while simulation.now().since(killed) < Millis(40_000) {
        run_for(&mut simulation, 500);
        assert_eq!(readiness(&simulation), "True", "the API believes what it last heard");
        assert_eq!(ready(&simulation), 3);
    }
    while readiness(&simulation) == "True" {
        run_for(&mut simulation, 100);
    }
    let found = simulation.now().since(killed);
    assert!(found >= Millis(40_000) && found <= Millis(60_500), "Unknown after {found:?}");
    run_for(&mut simulation, 1_000);
    assert_eq!(ready(&simulation), 2, "its pods no longer count");
    assert_eq!(active(&simulation).len(), 3, "and nothing is replaced yet");
    let gone = |simulation: &Simulation| pods(simulation).iter().any(|pod| pod.is_terminating());
    let tainted = simulation.now();
    while !gone(&simulation) {
        run_for(&mut simulation, 500);
    }
    let waited = simulation.now().since(tainted);
    assert!(waited >= Millis(295_000) && waited <= Millis(307_000), "evicted after {waited:?}");
    run_for(&mut simulation, 20_000);
    assert_eq!(ready(&simulation), 3, "the replacement runs elsewhere");
    assert_eq!(pods(&simulation).len(), 4, "the lost pod stays Terminating: nobody can confirm its end");
    let replacement = pods(&simulation).into_iter().max_by_key(|pod| pod.metadata.creation_timestamp).expect("a pod");
    let key = ObjectKey::new(Kind::Pod, "default", replacement.metadata.name.clone());
    let links = view::why(&simulation, simulation.origin(&key).expect("kept").0);
    assert!(links[0].is_you && links[0].text.contains("killed node"), "{links:#?}");

    simulation.dispatch(Command::StartNode { node: victim.clone() });
    run_for(&mut simulation, 30_000);
    assert_eq!(readiness(&simulation), "True");
    assert_eq!(
        (pods(&simulation).len(), ready(&simulation)),
        (3, 3),
        "the old pod is finished off, nothing moves back"
    );
    let node = simulation.api().objects().get(&ObjectKey::node(victim.as_str())).and_then(Object::as_node).cloned();
    assert!(node.expect("there").spec.taints.is_empty());
}

#[test]
fn a_node_that_returns_in_time_keeps_its_pods() {
    let mut simulation = converged();
    let names =
        |simulation: &Simulation| pods(simulation).iter().map(|pod| pod.metadata.name.clone()).collect::<Vec<_>>();
    let before = names(&simulation);
    let node = pods(&simulation)[0].spec.node_name.to_string();
    simulation.dispatch(Command::StopNode { node: node.clone() });
    run_for(&mut simulation, 150_000);
    assert_eq!(ready(&simulation), 2);
    simulation.dispatch(Command::StartNode { node });
    run_for(&mut simulation, 400_000);
    assert_eq!((names(&simulation), ready(&simulation)), (before, 3));
    assert_eq!(event_messages(&simulation, "TaintManagerEviction").len(), 1, "the deletion was cancelled");
    assert_eq!(pods(&simulation).iter().map(|pod| pod.restarts()).sum::<i32>(), 1, "its container was started again");
}

#[test]
fn all_nodes_dead_means_no_eviction() {
    let mut simulation = converged();
    for node in ["node-1", "node-2", "node-3"] {
        simulation.dispatch(Command::StopNode { node: node.into() });
    }
    run_for(&mut simulation, 900_000);
    assert_eq!(pods(&simulation).iter().filter(|pod| pod.is_terminating()).count(), 0);
    assert_eq!(ready(&simulation), 0);
}

#[test]
fn applying_the_same_manifest_twice_changes_nothing() {
    let mut simulation = converged();
    run_for(&mut simulation, 5_000);
    let version = deployment(&simulation, "web").metadata.resource_version;
    let manifest = simulation.manifest().to_string();
    let outcome = simulation.dispatch(Command::Apply { manifest });
    assert_eq!(outcome.lines, ["deployment.apps/web unchanged"]);
    run_for(&mut simulation, 5_000);
    assert_eq!(deployment(&simulation, "web").metadata.resource_version, version);
}

#[test]
fn a_deleted_deployment_takes_everything_with_it() {
    let mut simulation = converged();
    simulation.dispatch(Command::delete(target(Kind::Deployment, "web")));
    run_for(&mut simulation, 60_000);
    assert_eq!(pods(&simulation).len(), 0);
    assert_eq!(simulation.api().objects().of_kind(Kind::ReplicaSet).count(), 0);
}

#[test]
fn pods_that_fit_nowhere_wait_and_say_why() {
    let mut simulation = converged();
    scale(&mut simulation, 60);
    run_for(&mut simulation, 60_000);
    assert_eq!(ready(&simulation), 48, "3 nodes of 4 cores, 250m each");
    let map = view::frame(&simulation).map;
    assert_eq!(map.unscheduled.len(), 12);
    let message = map.unscheduled_message.expect("the scheduler says why");
    assert!(message.starts_with("0/3 nodes are available: 3 Insufficient cpu."), "{message}");
    scale(&mut simulation, 40);
    run_for(&mut simulation, 60_000);
    assert_eq!((ready(&simulation), pods(&simulation).len()), (40, 40), "the pending ones go first");
}

#[test]
fn what_is_refused_leaves_the_world_as_it_was() {
    let mut simulation = converged();
    let too_many = scale(&mut simulation, 100_000);
    assert!(!too_many.is_ok());
    assert!(too_many.problems[0].message.contains("100000 replicas are more than"), "{too_many:?}");
    let negative = scale(&mut simulation, -1);
    assert!(negative.problems[0].message.contains("must be greater than or equal to 0"), "{negative:?}");
    let missing = simulation.dispatch(Command::delete(target(Kind::Pod, "nobody")));
    assert_eq!(missing.problems[0].message, "pods \"nobody\" not found");
    run_for(&mut simulation, 10_000);
    assert_eq!((deployment(&simulation, "web").spec.wanted(), ready(&simulation)), (3, 3));
}

#[test]
fn every_event_has_a_cause_up_to_a_command_the_clock_or_the_beginning() {
    use loopscope_engine::client::What;
    let mut simulation = converged();
    let node = pods(&simulation)[0].spec.node_name.to_string();
    simulation.dispatch(Command::StopNode { node });
    run_for(&mut simulation, 400_000);
    for event in simulation.trace().all_events() {
        let begins = matches!(event.what, What::Began | What::Commanded(_) | What::Ticked(_));
        assert!(event.cause.is_some() || begins, "{event:?}");
        assert!(event.cause.is_none_or(|cause| cause < event.seq), "{event:?}");
    }
}

#[test]
fn a_stopped_clock_is_an_instant_like_any_other() {
    let mut simulation = converged();
    let before = simulation.trace().digest();
    assert!(simulation.run_until(simulation.now(), 1_000));
    assert_eq!(simulation.trace().digest(), before);
    assert!(simulation.step(Millis(20_000)) || simulation.now() > Time(0));
}
