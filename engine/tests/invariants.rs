//! The properties of a run: each holds where nothing is wrong, and each can be broken by a fault, which names its event.

#[path = "common/play.rs"]
mod play;

use loopscope_engine::api::Kind;
use loopscope_engine::client::What;
use loopscope_engine::sim::Seq;
use loopscope_engine::view::{self, InvariantState, Property};
use loopscope_engine::world::{Latency, Scenario, Simulation};
use play::{apply, command, delete, n_ready, pods, run_for, scale, scenario, set_image, until, workload, world};

fn web(scenario: Scenario, replicas: usize) -> Simulation {
    let mut simulation = world(scenario);
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", &format!("replicas: {replicas}")));
    simulation
}

fn state(simulation: &Simulation, property: Property) -> InvariantState {
    let all = view::invariants(simulation).rows;
    all.into_iter().find(|row| row.property == property).expect("it has a row").state
}

/// The event that broke a property, and the sentence about it.
#[track_caller]
fn broken(simulation: &Simulation, property: Property) -> (Seq, String) {
    match state(simulation, property) {
        InvariantState::Broken { seq, text, .. } => (seq, text.plain()),
        other => panic!("{property:?} {other:?}"),
    }
}

const ALL: [Property; 5] =
    [Property::Surge, Property::Availability, Property::OneController, Property::Converges, Property::OwnFields];

#[test]
fn where_nothing_is_there_nothing_applies_and_where_nothing_is_wrong_all_holds() {
    let mut simulation = world(scenario());
    for property in ALL {
        assert_eq!(state(&simulation, property), InvariantState::NotApplicable, "{property:?}");
    }
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 4"));
    run_for(&mut simulation, 10_000);
    set_image(&mut simulation, Kind::Deployment, "web", "app:v2");
    run_for(&mut simulation, 60_000);
    let name = pods(&simulation)[0].metadata.name.to_string();
    delete(&mut simulation, Kind::Pod, &name);
    run_for(&mut simulation, 60_000);
    for property in &ALL[..4] {
        assert_eq!(state(&simulation, *property), InvariantState::Holds, "{property:?}");
    }
    assert!(broken(&simulation, Property::OwnFields).1.contains("kubectl-set"), "another manager set the image");
}

#[test]
fn what_a_change_takes_is_measured() {
    let mut simulation = web(scenario(), 3);
    run_for(&mut simulation, 500);
    let now = view::invariants(&simulation);
    assert!(now.took_ms.is_none() && now.under_way_ms.is_some_and(|ms| ms > 300), "{now:?}");
    until(&mut simulation, 10_000, |it| n_ready(it) == 3);
    run_for(&mut simulation, 1_000);
    let then = view::invariants(&simulation);
    assert!(then.under_way_ms.is_none() && then.took_ms.is_some_and(|ms| (500..3_000).contains(&ms)), "{then:?}");
    set_image(&mut simulation, Kind::Deployment, "web", "app:v2");
    run_for(&mut simulation, 60_000);
    let rollout = view::invariants(&simulation).took_ms.expect("it has converged");
    assert!(rollout > 2 * then.took_ms.expect("above"), "pod after pod: {rollout}");
}

/// Expectations off and a stale cache: the doubles are more than the surge allows.
#[test]
fn without_expectations_the_surge_is_broken() {
    let latency = Latency { watch: 2_000, ..Latency::default() };
    let run = |off: bool| {
        let mut simulation = world(Scenario { latency, resync_ms: Some(3_500), ..scenario() });
        if off {
            command(&mut simulation, "controller expectations-off kube-controller-manager");
        }
        apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 3"));
        run_for(&mut simulation, 600_000);
        simulation
    };
    assert_eq!(state(&run(false), Property::Surge), InvariantState::Holds);
    let simulation = run(true);
    let (seq, text) = broken(&simulation, Property::Surge);
    assert!(text.starts_with("web has ") && text.ends_with("at most 4 may be"), "{text}");
    let event = simulation.trace().get(seq).expect("it is kept");
    assert!(matches!(event.what, What::Wrote { method: "POST", ref key, .. } if key.kind == Kind::Pod), "{event:?}");
}

/// Who counts events and has missed two says that all are ready; a rollout believes it, and takes the last ones away.
#[test]
fn a_count_that_is_wrong_breaks_the_availability_of_a_rollout() {
    let mut simulation = world(scenario());
    command(&mut simulation, "controller edge-triggered kube-controller-manager");
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 4"));
    run_for(&mut simulation, 10_000);
    command(&mut simulation, "controller stop kube-controller-manager");
    for pod in &pods(&simulation)[..2] {
        delete(&mut simulation, Kind::Pod, &pod.metadata.name);
    }
    run_for(&mut simulation, 10_000);
    command(&mut simulation, "controller start kube-controller-manager");
    run_for(&mut simulation, 10_000);
    assert_eq!((n_ready(&simulation), state(&simulation, Property::Availability)), (2, InvariantState::Holds));
    set_image(&mut simulation, Kind::Deployment, "web", "app:v2");
    run_for(&mut simulation, 60_000);
    let (seq, text) = broken(&simulation, Property::Availability);
    assert!(text.starts_with("web has ") && text.ends_with("at least 3 must be"), "{text}");
    let event = simulation.trace().get(seq).expect("it is kept");
    assert!(matches!(event.what, What::Wrote { method: "DELETE", .. }), "{event:?}");
}

/// Nobody collects what a ReplicaSet leaves behind while the controller manager is down.
#[test]
fn pods_whose_controller_is_gone_break_the_one_controller() {
    let mut simulation = world(scenario());
    apply(&mut simulation, &workload("ReplicaSet", "web", "app:v1", "replicas: 2"));
    run_for(&mut simulation, 10_000);
    command(&mut simulation, "controller stop kube-controller-manager");
    delete(&mut simulation, Kind::ReplicaSet, "web");
    run_for(&mut simulation, 9_000);
    assert_eq!(state(&simulation, Property::OneController), InvariantState::Holds, "there is still time");
    run_for(&mut simulation, 9_000);
    let (seq, text) = broken(&simulation, Property::OneController);
    assert_eq!(text, "web is gone, and 2 objects still name it as their controller");
    assert!(view::why(&simulation, seq.0)[0].text.contains("deleted replicaset web"));
    command(&mut simulation, "controller start kube-controller-manager");
    run_for(&mut simulation, 30_000);
    assert_eq!(state(&simulation, Property::OneController), InvariantState::NotApplicable, "no pods are left");
}

/// Who counts events and misses two never comes back: the event that took it away is named.
#[test]
fn what_never_converges_is_broken_after_ten_minutes_and_names_the_deletion() {
    let mut simulation = world(scenario());
    command(&mut simulation, "controller edge-triggered kube-controller-manager");
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 3"));
    run_for(&mut simulation, 10_000);
    command(&mut simulation, "controller stop kube-controller-manager");
    let name = pods(&simulation)[0].metadata.name.to_string();
    delete(&mut simulation, Kind::Pod, &name);
    run_for(&mut simulation, 20_000);
    command(&mut simulation, "controller start kube-controller-manager");
    run_for(&mut simulation, 500_000);
    assert_eq!(state(&simulation, Property::Converges), InvariantState::Holds, "there is still time");
    run_for(&mut simulation, 100_000);
    let (seq, text) = broken(&simulation, Property::Converges);
    assert!(text.starts_with("web is not as it is wanted"), "{text}");
    assert!(view::why(&simulation, seq.0)[0].text.contains("deleted pod"));
}

/// A program that crashes again and again is not what was wanted for long.
#[test]
fn what_does_not_stay_is_broken_at_the_moment_it_leaves() {
    let mut simulation = web(scenario(), 2);
    run_for(&mut simulation, 10_000);
    command(&mut simulation, "image app:v1 behave --start=290ms --exit=1@20s");
    let name = pods(&simulation)[0].metadata.name.to_string();
    delete(&mut simulation, Kind::Pod, &name);
    run_for(&mut simulation, 200_000);
    let (_, text) = broken(&simulation, Property::Converges);
    assert!(text.contains("did not stay"), "{text}");
}

/// Two managers of one field: the one that comes second is named.
#[test]
fn who_writes_what_another_set_breaks_the_ownership() {
    let mut simulation = web(scenario(), 3);
    run_for(&mut simulation, 10_000);
    assert_eq!(state(&simulation, Property::OwnFields), InvariantState::Holds);
    scale(&mut simulation, Kind::Deployment, "web", 5);
    let (seq, text) = broken(&simulation, Property::OwnFields);
    assert!(text.contains(".spec.replicas of web, which is kubectl-client-side-apply's"), "{text}");
    assert!(view::why(&simulation, seq.0)[0].text.contains("set replicas 5"));
}
