//! L: level against edge.

use loopscope_engine::api::{Kind, ObjectKey, Timestamp};
use loopscope_engine::apiserver::Objects;
use loopscope_engine::client::{Context, Expectations};
use loopscope_engine::sim::Time;
use loopscope_engine::view;
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
        room: None,
        git: None,
        infrastructure: None,
    };
    let mut expectations = Expectations::default();
    expectations.expect_creations(&key, 1, Time(1_000));
    let met = [1_000, 300_000, 301_000, 301_001].map(|ms| expectations.are_met(&key, &at(ms, true)));
    assert_eq!(met, [false, false, false, true]);
    assert!(expectations.are_met(&key, &at(1_000, false)));
}

const MANAGER: &str = "kube-controller-manager";

/// `web` of three pods, with the ReplicaSet controller that is asked for; both from the same scenario and seed.
fn side(switches: &[&str]) -> Simulation {
    let mut simulation = world(scenario());
    for switch in switches {
        command(&mut simulation, &format!("controller {switch} {MANAGER}"));
    }
    apply(&mut simulation, &web(3));
    until(&mut simulation, 10_000, |it| n_ready(it) == 3);
    run_for(&mut simulation, 5_000);
    simulation
}

/// Controller off, so many pods deleted, controller on, and a while later. Returns the time at which it was back.
fn away(simulation: &mut Simulation, n: usize) -> Time {
    command(simulation, &format!("controller stop {MANAGER}"));
    let victims: Vec<String> = pods(simulation)[..n].iter().map(|pod| pod.metadata.name.to_string()).collect();
    for name in &victims {
        delete(simulation, Kind::Pod, name);
    }
    run_for(simulation, 10_000);
    let back = simulation.now();
    command(simulation, &format!("controller start {MANAGER}"));
    run_for(simulation, 120_000);
    back
}

fn lost(simulation: &Simulation) -> Vec<Seq> {
    simulation.trace().events().filter(|it| matches!(it.what, What::Faulted(_))).map(|it| it.seq).collect()
}

fn ready_in_status(simulation: &Simulation) -> i32 {
    let sets = simulation.api().objects().of_kind(Kind::ReplicaSet).filter_map(Object::as_replica_set);
    sets.map(|set| set.status.ready_replicas).sum()
}

/// Desired 3, controller off, two pods deleted, controller on: who looks makes two, who counts events believes in three
/// for ever; and the chain of causes tells the difference.
#[test]
fn l1_who_counts_events_stays_at_one_of_three() {
    let mut level = side(&[]);
    let mut edge = side(&["edge-triggered"]);
    let (level_back, edge_back) = (away(&mut level, 2), away(&mut edge, 2));
    assert_eq!((n_ready(&level), created_since(&level, level_back)), (3, 2));
    assert_eq!((n_ready(&edge), created_since(&edge, edge_back)), (1, 0));
    assert_eq!((ready_in_status(&level), ready_in_status(&edge)), (3, 3), "the edge's status is what it believes");
    run_for(&mut edge, 3_600_000);
    assert_eq!((n_ready(&edge), pods(&edge).len()), (1, 1), "nothing ever tells it");
    let newest = pods(&level).into_iter().max_by_key(|pod| pod.metadata.creation_timestamp).expect("a pod");
    let key = ObjectKey::new(Kind::Pod, "default", newest.metadata.name.clone());
    let links = view::why(&level, level.origin(&key).expect("kept").0);
    let told: Vec<&str> = links.iter().map(|link| link.text.as_str()).collect();
    assert_eq!(told[0], "You started kube-controller-manager");
    assert!(told.iter().any(|it| it.contains("3 − 1 = +2")), "{told:#?}");
    let links = view::why(&edge, lost(&edge).last().expect("said").0);
    let told: Vec<&str> = links.iter().map(|link| link.text.as_str()).collect();
    assert_eq!(told[0], "You started kube-controller-manager");
    assert!(told[1].contains("was not told what happened meanwhile, and does not look"), "{told:#?}");
}

/// What it does hear of it answers, beginning with what it believes.
#[test]
fn l1_who_counts_events_goes_on_from_a_wrong_count() {
    let mut edge = side(&["edge-triggered"]);
    away(&mut edge, 2);
    play::scale(&mut edge, Kind::Deployment, "web", 5);
    run_for(&mut edge, 60_000);
    assert_eq!(n_ready(&edge), 3, "two more than one, since three and two are five");
    let name = pods(&edge)[0].metadata.name.to_string();
    delete(&mut edge, Kind::Pod, &name);
    run_for(&mut edge, 60_000);
    assert_eq!(n_ready(&edge), 3, "an event that it hears is answered");
    play::scale(&mut edge, Kind::Deployment, "web", 0);
    run_for(&mut edge, 60_000);
    assert_eq!(pods(&edge).len(), 0, "it has names for no more than there are");
}

#[test]
fn l1_relisting_on_restart_heals_who_counts_events() {
    let mut edge = side(&["edge-triggered", "relist-on"]);
    let back = away(&mut edge, 2);
    assert_eq!((n_ready(&edge), created_since(&edge, back), ready_in_status(&edge)), (3, 2, 3));
    command(&mut edge, &format!("controller level-triggered {MANAGER}"));
    command(&mut edge, &format!("controller relist-off {MANAGER}"));
    away(&mut edge, 1);
    assert_eq!(n_ready(&edge), 3, "the usual one is back");
}

/// While nothing goes wrong nobody sees a difference in the end.
#[test]
fn who_counts_events_does_well_while_it_hears_all() {
    let mut edge = side(&["edge-triggered"]);
    play::scale(&mut edge, Kind::Deployment, "web", 6);
    run_for(&mut edge, 30_000);
    assert_eq!(n_ready(&edge), 6);
    play::set_image(&mut edge, Kind::Deployment, "web", "app:v2");
    run_for(&mut edge, 60_000);
    assert_eq!((n_ready(&edge), pods(&edge).len()), (6, 6));
    play::scale(&mut edge, Kind::Deployment, "web", 2);
    run_for(&mut edge, 30_000);
    assert_eq!((n_ready(&edge), pods(&edge).len()), (2, 2));
}

/// After one deletion whose events the watch brings in another way: how many pods there are in the end.
fn deleted_under(switches: &[&str], mishap: &str) -> (usize, usize) {
    let mut simulation = side(switches);
    command(&mut simulation, &format!("watch {mishap}"));
    let name = pods(&simulation)[0].metadata.name.to_string();
    delete(&mut simulation, Kind::Pod, &name);
    run_for(&mut simulation, 400_000);
    (n_ready(&simulation), lost(&simulation).len())
}

#[test]
fn events_that_get_lost_or_come_twice_matter_only_to_who_counts_them() {
    let drop = format!("drop {MANAGER} --next=1 --type=deleted");
    assert_eq!(deleted_under(&[], &drop), (3, 1));
    assert_eq!(deleted_under(&["edge-triggered"], &drop), (2, 1));
    let twice = format!("duplicate {MANAGER} --next=1 --type=deleted");
    assert_eq!(deleted_under(&[], &twice), (3, 1));
    assert_eq!(deleted_under(&["edge-triggered"], &twice), (4, 1), "one pod gone twice is two pods gone");
    // What comes late comes all the same.
    let late = format!("reorder {MANAGER} --next=4");
    assert_eq!(deleted_under(&[], &late).0, 3);
    assert_eq!(deleted_under(&["edge-triggered"], &late), (3, 4));
}

/// A status that meets a newer version: with retries it is written a moment later, without them when something else
/// happens, since who looks sees it then.
#[test]
fn without_conflict_retries_the_next_event_heals() {
    let run = |switches: &[&str]| {
        let mut simulation = side(switches);
        for replicas in [5, 2, 7, 3] {
            play::scale(&mut simulation, Kind::Deployment, "web", replicas);
            run_for(&mut simulation, 7);
        }
        run_for(&mut simulation, 120_000);
        let conflicts = simulation.trace().events().filter(|it| matches!(it.what, What::Refused { code: 409, .. }));
        (n_ready(&simulation), conflicts.count() > 0, lost(&simulation).len())
    };
    let (ready, conflicts, gave_up) = run(&[]);
    assert_eq!((ready, conflicts, gave_up), (3, true, 0));
    let (ready, conflicts, gave_up) = run(&["conflict-retries-off"]);
    assert!(ready == 3 && conflicts && gave_up > 0, "{ready} {conflicts} {gave_up}");
}
