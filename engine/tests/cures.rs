//! What ends a fight over `spec.replicas`: each cure is one command, after which the size stays as it is.

#[path = "common/play.rs"]
mod play;

use loopscope_engine::api::{Kind, ObjectKey};
use loopscope_engine::environment::{Load, Shape};
use loopscope_engine::gitops::{Edit, Preset, Settings, SyncState};
use loopscope_engine::manifest;
use loopscope_engine::view::{self, Cure, Fight};
use loopscope_engine::world::{Command, GitDeed, Scenario, Simulation};
use play::{apply, n_ready, object, run_for, scale, target, until, world};

const SAMPLE: &str = include_str!("../../src/parts/manifest/samples/autoscaled.yaml");
const SCALER: &str = "kube-controller-manager (scale)";

fn key(kind: Kind) -> ObjectKey {
    ObjectKey::new(kind, "default", "web")
}

fn size(simulation: &Simulation) -> i64 {
    let it = object(simulation, Kind::Deployment, "web").expect("it is there").to_value();
    it["spec"]["replicas"].as_i64().expect("a number")
}

/// The sample, with so many requests a second of 10 ms each.
fn loaded(a_second: u64) -> Simulation {
    let mut simulation = world(Scenario::empty(3));
    apply(&mut simulation, SAMPLE);
    until(&mut simulation, 30_000, |it| n_ready(it) == 2);
    let load = Load { shape: Shape::Steady { amount: a_second * 1_000 }, cost_micro: 10_000, capacity: None };
    let outcome = simulation.dispatch(Command::SetLoad { target: target(Kind::Service, "web"), load });
    assert!(outcome.is_ok(), "{outcome:?}");
    run_for(&mut simulation, 90_000);
    simulation
}

fn fight(simulation: &Simulation) -> Option<Fight> {
    view::fights(simulation).into_iter().find(|it| it.key == key(Kind::Deployment) && it.path == ".spec.replicas")
}

fn cure(simulation: &Simulation, name: &str) -> Cure {
    let all = view::cures(simulation, &fight(simulation).expect("they fight"));
    let names: Vec<String> = all.iter().map(|it| it.name.clone()).collect();
    all.into_iter().find(|it| it.name == name).unwrap_or_else(|| panic!("no {name} among {names:?}"))
}

/// Takes a cure; neither side writes the size any more once it has settled.
fn ends(simulation: &mut Simulation, cure: Cure) -> i64 {
    let outcome = simulation.dispatch(cure.command);
    assert!(outcome.is_ok(), "{outcome:?}");
    run_for(simulation, 60_000);
    let turns = fight(simulation).map(|it| it.writes);
    run_for(simulation, 240_000);
    assert!(fight(simulation).is_none_or(|it| Some(it.writes) == turns), "it goes on");
    size(simulation)
}

/// A person and the autoscaler take turns, twice each.
fn scaled_by_hand(to: i32, back: i64) -> Simulation {
    let mut simulation = loaded(10);
    for _ in 0..2 {
        scale(&mut simulation, Kind::Deployment, "web", to);
        run_for(&mut simulation, 31_000);
        assert_eq!(size(&simulation), back, "the autoscaler takes it back");
    }
    simulation
}

#[test]
fn scaling_by_hand_fights_the_autoscaler_until_it_is_asked_through_its_bounds() {
    let mut simulation = scaled_by_hand(1, 2);
    let found = fight(&simulation).expect("they fight");
    let writers: Vec<(&str, &str)> = found.writers.iter().map(|it| (it.manager.as_str(), it.value.as_str())).collect();
    assert_eq!(writers, [("kubectl (scale)", "1"), (SCALER, "2")]);
    assert_eq!((found.writes, found.pods_created, found.pods_killed, found.is_whole), (4, 2, 2, true));
    let it = cure(&simulation, "Ask the autoscaler for 1");
    assert_eq!(it.price, "maxReplicas 1: never more, however high the load.");
    assert_eq!(ends(&mut simulation, it), 1);
    let scaler = view::autoscaler_of(&simulation, &key(Kind::Deployment)).expect("it is scaled");
    assert_eq!((scaler.min, scaler.max, scaler.key), (1, 1, key(Kind::HorizontalPodAutoscaler)));
}

#[test]
fn above_the_maximum_the_minimum_is_raised_with_it() {
    let mut simulation = scaled_by_hand(12, 2);
    let it = cure(&simulation, "Ask the autoscaler for 12");
    assert_eq!(it.price, "minReplicas and maxReplicas 12: no longer by load.");
    assert_eq!(ends(&mut simulation, it), 12);
}

#[test]
fn without_the_autoscaler_the_other_side_is_left_alone() {
    let mut simulation = scaled_by_hand(1, 2);
    let it = cure(&simulation, "Remove the autoscaler web");
    assert_eq!(ends(&mut simulation, it), 2);
    assert!(view::autoscaler_of(&simulation, &key(Kind::Deployment)).is_none());
}

#[test]
fn a_manifest_that_says_a_size_fights_the_autoscaler_until_it_says_none() {
    // 45 requests of 10 ms are 0.45 CPU: of two pods with 200m each more than 50 %.
    let mut simulation = loaded(45);
    let scaled = size(&simulation);
    assert!(scaled > 2, "{scaled}");
    for _ in 0..2 {
        apply(&mut simulation, SAMPLE);
        assert_eq!(size(&simulation), 2, "the manifest says so");
        run_for(&mut simulation, 60_000);
        assert!(size(&simulation) > 2, "the load says so");
    }
    let it = cure(&simulation, "Drop replicas from the manifest");
    let before = size(&simulation);
    assert_eq!(it.drops, Some("replicas"));
    assert!(ends(&mut simulation, it) >= before);
    let without = SAMPLE.replace("  replicas: 2\n", "");
    assert!(manifest::read(&without).diagnostics.is_empty());
    let before = size(&simulation);
    apply(&mut simulation, &without);
    assert_eq!(size(&simulation), before, "an apply leaves the size alone");
}

const IN_GIT: &str = include_str!("../../src/parts/git/fight.yaml");
const BESIDE: &str = include_str!("../../src/parts/git/scaler.yaml");

fn git(simulation: &mut Simulation, deed: GitDeed) {
    let outcome = simulation.dispatch(Command::Git { deed });
    assert!(outcome.is_ok(), "{outcome:?}");
}

fn commit(simulation: &mut Simulation, text: &str) {
    let edits = vec![Edit { path: "web.yaml".into(), text: Some(text.into()) }];
    git(simulation, GitDeed::Commit { author: "Ada".into(), message: "web".into(), edits });
}

/// Git says 2, an autoscaler at least 4, and both have had their turns.
fn against_git(text: &str) -> Simulation {
    let mut simulation = world(Scenario::empty(3));
    commit(&mut simulation, text);
    let settings = Settings { self_heal: true, ..Settings::of(Preset::ArgoCd) };
    git(&mut simulation, GitDeed::Set { settings });
    apply(&mut simulation, BESIDE);
    run_for(&mut simulation, 100_000);
    simulation
}

fn names(simulation: &Simulation) -> Vec<String> {
    view::cures(simulation, &fight(simulation).expect("they fight")).into_iter().map(|it| it.name).collect()
}

#[test]
fn git_fights_the_autoscaler_until_it_says_no_size() {
    let mut simulation = against_git(IN_GIT);
    let found = fight(&simulation).expect("they fight");
    let writers: Vec<(&str, &str)> = found.writers.iter().map(|it| (it.manager.as_str(), it.value.as_str())).collect();
    assert_eq!(writers, [(SCALER, "4"), ("argocd-controller", "2")]);
    assert!(found.pods_created >= 4 && found.pods_killed >= 4, "{found:?}");
    assert_eq!(
        names(&simulation),
        [
            "Drop replicas from Git",
            "Ignore the difference",
            "Ask the autoscaler for 2",
            "Turn selfHeal off",
            "Remove the autoscaler web"
        ]
    );
    let it = cure(&simulation, "Drop replicas from Git");
    // Git is read at the next poll, up to three minutes later.
    let outcome = simulation.dispatch(it.command);
    assert!(outcome.is_ok(), "{outcome:?}");
    run_for(&mut simulation, 220_000);
    let head = simulation.gitops().repository.head().expect("a commit").clone();
    let text = head.file("web.yaml").expect("the file").to_string();
    assert_eq!(text, IN_GIT.replace("  replicas: 2\n", ""), "the rest of the file is as it was");
    // The first writes are forgotten after ten minutes, so that their number would say nothing.
    let last = fight(&simulation).map(|it| it.last_ms);
    run_for(&mut simulation, 300_000);
    assert_eq!((size(&simulation), fight(&simulation).map(|it| it.last_ms)), (4, last), "flat");
    assert_eq!(simulation.gitops().status.sync, SyncState::Synced);
}

#[test]
fn each_of_the_other_cures_ends_the_fight_against_git() {
    for (name, left) in [
        ("Ignore the difference", 4),
        ("Ask the autoscaler for 2", 2),
        ("Turn selfHeal off", 4),
        ("Remove the autoscaler web", 2),
    ] {
        let mut simulation = against_git(IN_GIT);
        let it = cure(&simulation, name);
        // An attempt at healing that had been put off may still be to come.
        run_for(&mut simulation, 1_000);
        let outcome = simulation.dispatch(it.command);
        assert!(outcome.is_ok(), "{outcome:?}");
        run_for(&mut simulation, 200_000);
        let writes = fight(&simulation).map(|it| it.writes);
        run_for(&mut simulation, 240_000);
        assert_eq!((size(&simulation), fight(&simulation).map(|it| it.writes)), (left, writes), "{name}");
    }
}

#[test]
fn an_autoscaler_that_is_in_git_too_is_not_cured_past_it() {
    let mut simulation = against_git(&[IN_GIT, BESIDE].join("---\n"));
    assert_eq!(names(&simulation), ["Drop replicas from Git", "Ignore the difference", "Turn selfHeal off"]);
    // Another file says more on one line: it is written anew.
    let flow = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: nginx, image: \"nginx:1.27.3\"}]}}}\n";
    commit(&mut simulation, flow);
    let Command::Git { deed: GitDeed::Commit { edits, .. } } = cure(&simulation, "Drop replicas from Git").command
    else {
        panic!("a commit")
    };
    let text = edits[0].text.clone().expect("a text");
    assert!(!text.contains("replicas") && manifest::read(&text).diagnostics.is_empty(), "{text}");
}
