//! L: level against edge.

use loopscope_engine::api::{Kind, ObjectKey, Timestamp};
use loopscope_engine::apiserver::Objects;
use loopscope_engine::client::{Context, Expectations};
use loopscope_engine::sim::Time;
use loopscope_engine::world::{Latency, Scenario, Simulation};

use super::*;
use crate::play::{delete, scenario};

/// Controller off; two pods deleted and one added by hand; controller on: it looks, sees two and makes one.
#[test]
fn l1_who_was_away_looks_and_makes_one() {
    let mut simulation = start(scenario(), 3);
    let template = pods(&simulation)[0].metadata.clone();
    command(&mut simulation, "controller stop kube-controller-manager");
    let victims: Vec<String> = pods(&simulation)[..2].iter().map(|pod| pod.metadata.name.to_string()).collect();
    for name in &victims {
        delete(&mut simulation, Kind::Pod, name);
    }
    let hash = &template.labels["pod-template-hash"];
    apply(
        &mut simulation,
        &format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: by-hand, labels: {{app: web, pod-template-hash: {hash}}}}}, spec: {{containers: [{{name: app, image: 'app:v1'}}]}}}}"
        ),
    );
    run_for(&mut simulation, 60_000);
    assert_eq!(pods(&simulation).len(), 2, "nobody acts");
    let back = simulation.now();
    command(&mut simulation, "controller start kube-controller-manager");
    until(&mut simulation, 10_000, |it| n_ready(it) == 3);
    run_for(&mut simulation, 600_000);
    assert_eq!((created_since(&simulation, back), n_ready(&simulation), pods(&simulation).len()), (1, 3, 3));
}

/// A ReplicaSet of 3 whose cache is two seconds behind, and that is looked at again (a resync) before the cache has heard
/// of the pods it made. How many pods there are after the second look, and how many were made in the end.
fn looked_at_twice(expectations: bool, crash: bool) -> (usize, usize, Simulation) {
    let latency = Latency { watch: 2_000, ..Latency::default() };
    let mut simulation = Simulation::new(Scenario { latency, resync_ms: Some(3_500), ..scenario() });
    if !expectations {
        let lines = command(&mut simulation, "controller expectations-off kube-controller-manager");
        assert_eq!(lines, ["expectations of kube-controller-manager off"]);
    }
    if crash {
        command(&mut simulation, "controller crash kube-controller-manager");
    }
    run_for(&mut simulation, 1_000);
    let begun = simulation.now();
    apply(&mut simulation, &workload("ReplicaSet", "web", "app:v1", "replicas: 3"));
    // Heard after 2 s; looked at again 0.5 s (1.5 s) later; the first pod is heard of after 4 s.
    run_for(&mut simulation, 3_900);
    let after_second_look = pods(&simulation).len();
    run_for(&mut simulation, 600_000);
    (after_second_look, created_since(&simulation, begun), simulation)
}

/// A stale cache: without expectations the second look makes three more, six instead of three. With them none.
#[test]
fn l3_without_expectations_a_stale_cache_makes_six_of_three() {
    let (after_second_look, in_all, simulation) = looked_at_twice(true, false);
    assert_eq!((after_second_look, in_all, n_ready(&simulation)), (3, 3, 3));
    let (after_second_look, in_all, simulation) = looked_at_twice(false, false);
    assert_eq!(after_second_look, 6);
    assert!(in_all >= 6);
    assert_eq!((n_ready(&simulation), pods(&simulation).len()), (3, 3), "the level wins in the end");
}

/// The switch is the cluster's and not in the memory of the process.
#[test]
fn l3_expectations_stay_off_when_the_controller_crashes() {
    assert_eq!(looked_at_twice(false, true).0, 6);
    assert_eq!(looked_at_twice(true, true).0, 3);
    let mut simulation = world(scenario());
    let off = "controller expectations-off kube-scheduler".parse().expect("a command");
    assert_eq!(refusal(&mut simulation, off), "kube-scheduler keeps no expectations");
}

/// With expectations, and in the slowest of caches, no pod too many; what is lost holds a controller up for five minutes
/// (`ExpectationsTimeout`).
#[test]
fn l3_an_expectation_that_is_never_met_is_given_up_after_five_minutes() {
    let mut simulation = world(Scenario { latency: Latency { watch: 2_000, ..Latency::default() }, ..scenario() });
    apply(&mut simulation, &web(5));
    run_for(&mut simulation, 60_000);
    assert_eq!((created_since(&simulation, Time(0)), n_ready(&simulation)), (5, 5));
    let (cache, key) = (Objects::default(), ObjectKey::new(Kind::ReplicaSet, "default", "web"));
    let at = |ms: u64, expects: bool| Context {
        cache: &cache,
        version: 1,
        now: Time(ms),
        wall: Timestamp(0),
        wall_millis: 0,
        expects,
        runtime: None,
        metrics: None,
        git: None,
    };
    let mut expectations = Expectations::default();
    expectations.expect_creations(&key, 1, Time(1_000));
    let met = [1_000, 300_000, 301_000, 301_001].map(|ms| expectations.are_met(&key, &at(ms, true)));
    assert_eq!(met, [false, false, false, true]);
    assert!(expectations.are_met(&key, &at(1_000, false)));
}
