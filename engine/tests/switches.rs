//! Faults of the control plane: programs that stand still or crash between two requests, watches that end, an API server
//! that is down, slow or overloaded. Each is a command, and what it does is on the faults' lane.

#[path = "common/play.rs"]
mod play;

use loopscope_engine::api::{Kind, ObjectKey};
use loopscope_engine::client::What;
use loopscope_engine::sim::Time;
use loopscope_engine::view;
use loopscope_engine::world::{Command, Lane, Simulation};
use play::{apply, delete, n_ready, pods, run_for, scale, scenario, until, workload, world};

const MANAGER: &str = "kube-controller-manager";

fn web(replicas: usize) -> Simulation {
    let mut simulation = world(scenario());
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", &format!("replicas: {replicas}")));
    until(&mut simulation, 10_000, |it| n_ready(it) == replicas);
    run_for(&mut simulation, 2_000);
    simulation
}

#[track_caller]
fn command(simulation: &mut Simulation, text: &str) -> String {
    let command: Command = text.parse().expect("a command");
    assert!(command.is_disturbance(), "{text} has its mark among the faults");
    assert!(!command.words().contains("did something"), "{text} says what was done");
    let before = simulation.recorded().n_on(Lane::Faults);
    let outcome = simulation.dispatch(command);
    assert!(outcome.is_ok(), "{text}: {outcome:?}");
    assert!(simulation.recorded().n_on(Lane::Faults) > before);
    outcome.lines.join("\n")
}

fn delete_one(simulation: &mut Simulation) {
    let name = pods(simulation)[0].metadata.name.to_string();
    assert!(delete(simulation, Kind::Pod, &name).is_ok());
}

fn faults(simulation: &Simulation) -> Vec<(u64, String)> {
    let all = simulation.trace().events().filter_map(|it| match it.what {
        What::Faulted(note) => Some((it.seq.0, note.to_string())),
        _ => None,
    });
    all.collect()
}

#[test]
fn who_is_paused_does_nothing_and_misses_nothing() {
    for program in [MANAGER, "kube-scheduler"] {
        let mut simulation = web(3);
        command(&mut simulation, &format!("controller pause {program}"));
        delete_one(&mut simulation);
        run_for(&mut simulation, 60_000);
        assert_eq!(n_ready(&simulation), 2, "{program}");
        let again = command(&mut simulation, &format!("controller pause {program}"));
        assert_eq!(again, format!("{program} is already so: pause"));
        command(&mut simulation, &format!("controller resume {program}"));
        until(&mut simulation, 10_000, |it| n_ready(it) == 3);
    }
    // In the middle of a rollout, and who counts events misses nothing either: what reaches it waits.
    let mut simulation = web(3);
    command(&mut simulation, &format!("controller edge-triggered {MANAGER}"));
    scale(&mut simulation, Kind::Deployment, "web", 8);
    run_for(&mut simulation, 15);
    command(&mut simulation, &format!("controller pause {MANAGER}"));
    run_for(&mut simulation, 20_000);
    delete_one(&mut simulation);
    run_for(&mut simulation, 20_000);
    command(&mut simulation, &format!("controller resume {MANAGER}"));
    until(&mut simulation, 10_000, |it| n_ready(it) == 8);
}

#[test]
fn who_crashes_while_it_is_paused_comes_back_in_motion() {
    let mut simulation = web(3);
    command(&mut simulation, &format!("controller pause {MANAGER}"));
    delete_one(&mut simulation);
    run_for(&mut simulation, 5_000);
    command(&mut simulation, &format!("controller crash {MANAGER}"));
    until(&mut simulation, 10_000, |it| n_ready(it) == 3);
}

#[test]
fn behind_a_stalled_watch_the_world_stands_still_until_it_goes_on() {
    let mut simulation = web(3);
    command(&mut simulation, &format!("controller watch-stall {MANAGER}"));
    delete_one(&mut simulation);
    run_for(&mut simulation, 60_000);
    assert_eq!(n_ready(&simulation), 2, "its cache still shows three");
    command(&mut simulation, &format!("controller watch-resume {MANAGER}"));
    until(&mut simulation, 10_000, |it| n_ready(it) == 3);
}

#[test]
fn who_does_not_listen_hears_the_same_from_a_checkpoint_on() {
    // After a minute the others have heard of it and it is kept for nobody but this one; after twenty so much more was
    // written that it would be gone for want of room.
    for (ms, (off, on)) in [60_000, 1_200_000]
        .into_iter()
        .flat_map(|ms| [("pause", "resume"), ("watch-stall", "watch-resume")].map(|it| (ms, it)))
    {
        let mut simulation = web(3);
        command(&mut simulation, &format!("controller {off} {MANAGER}"));
        delete_one(&mut simulation);
        run_for(&mut simulation, ms);
        let mut later = simulation.checkpoint();
        for it in [&mut simulation, &mut later] {
            command(it, &format!("controller {on} {MANAGER}"));
            run_for(it, 20_000);
            assert_eq!(n_ready(it), 3);
        }
        assert_eq!(simulation.trace().digest(), later.trace().digest(), "{on} after {ms} ms");
    }
}

#[test]
fn a_broken_watch_is_answered_with_a_list() {
    let mut simulation = web(3);
    command(&mut simulation, &format!("controller watch-break {MANAGER}"));
    let broken = simulation.now();
    delete_one(&mut simulation);
    let healed = until(&mut simulation, 10_000, |it| n_ready(it) == 3);
    assert!(healed.since(broken).0 > 800);
    let all = faults(&simulation);
    assert!(all.len() == 1 && all[0].1.contains("410 Gone"), "{all:?}");
    let newest = pods(&simulation).into_iter().max_by_key(|pod| pod.metadata.creation_timestamp).expect("a pod");
    let key = ObjectKey::new(Kind::Pod, "default", newest.metadata.name.clone());
    let links = view::why(&simulation, simulation.origin(&key).expect("kept").0);
    assert!(links[0].is_you && links[0].text.contains("broke the watch"), "{links:#?}");
    // Who counts events has missed the deletion.
    let mut simulation = web(3);
    command(&mut simulation, &format!("controller edge-triggered {MANAGER}"));
    run_for(&mut simulation, 2_000);
    command(&mut simulation, &format!("controller watch-break {MANAGER}"));
    let name = pods(&simulation)[0].metadata.name.to_string();
    let at_once = Command::Delete { target: play::target(Kind::Pod, &name), propagation: None, grace: Some(0) };
    assert!(simulation.dispatch(at_once).is_ok());
    run_for(&mut simulation, 60_000);
    assert_eq!(n_ready(&simulation), 2);
}

#[test]
fn a_crash_between_two_requests_leaves_no_double() {
    for after in 1..12 {
        let mut simulation = web(3);
        command(&mut simulation, &format!("controller crash {MANAGER} --after={after}"));
        let begun = simulation.now();
        scale(&mut simulation, Kind::Deployment, "web", 7);
        run_for(&mut simulation, 60_000);
        assert_eq!((n_ready(&simulation), pods(&simulation).len()), (7, 7), "after {after} requests");
        let crashes: Vec<_> = faults(&simulation).into_iter().filter(|it| it.1.contains("crashed")).collect();
        assert_eq!(crashes.len(), 1, "after {after} requests");
        let links = view::why(&simulation, crashes[0].0);
        assert!(links.iter().any(|it| it.text.contains("replicas 7")), "{links:#?}");
        let posts = play::course(&simulation, begun).iter().filter(|it| it.starts_with('+')).count();
        assert_eq!(posts, 4, "after {after} requests");
    }
    assert!(format!("controller crash {MANAGER} --after=0").parse::<Command>().is_err());
}

#[test]
fn while_the_api_server_is_down_what_runs_goes_on_and_nothing_heals() {
    let mut simulation = web(3);
    let version = simulation.api().version();
    assert_eq!(command(&mut simulation, "server down"), "the API server is down");
    let name = pods(&simulation)[0].metadata.name.to_string();
    let outcome = delete(&mut simulation, Kind::Pod, &name);
    assert!(outcome.problems[0].message.starts_with("The connection to the server"), "{outcome:?}");
    let crash = format!("container {name}/app crash");
    command(&mut simulation, &crash);
    run_for(&mut simulation, 30_000);
    assert_eq!(simulation.api().version(), version, "nothing is written");
    let up: usize = simulation.machines().values().map(|it| it.runtime.pods.len()).sum();
    assert_eq!(up, 3, "the containers run on");
    let failed = simulation.trace().all_events().filter(|it| matches!(it.what, What::Failed { .. })).count();
    assert!(failed > 0, "kubelets try again and again");
    assert_eq!(command(&mut simulation, "server up"), "the API server answers");
    delete_one(&mut simulation);
    run_for(&mut simulation, 60_000);
    assert_eq!((n_ready(&simulation), pods(&simulation).len()), (3, 3));
    let restarts: i32 = pods(&simulation).iter().map(|pod| pod.restarts()).sum();
    assert!(restarts <= 1);
}

#[test]
fn a_slow_api_server_makes_everything_later() {
    let heal = |slow: Option<&str>| {
        let mut simulation = web(3);
        if let Some(text) = slow {
            command(&mut simulation, text);
        }
        let from = simulation.now();
        delete_one(&mut simulation);
        run_for(&mut simulation, 100);
        until(&mut simulation, 60_000, |it| n_ready(it) == 3).since(from).0
    };
    let (usual, slow) = (heal(None), heal(Some("server slow --by=500ms")));
    assert!(slow > usual + 1_500, "{usual} {slow}: at least creation, binding and status");
    for bad in ["server slow", "server slow --by=0s", "server slow --by=10s", "server sleeps"] {
        assert!(bad.parse::<Command>().is_err(), "{bad}");
    }
}

#[test]
fn an_overloaded_api_server_refuses_with_429_and_is_asked_again() {
    let mut simulation = web(3);
    command(&mut simulation, "server refuse");
    let from = simulation.now();
    delete_one(&mut simulation);
    run_for(&mut simulation, 5_000);
    let refused = |it: &What| matches!(it, What::Refused { code: 429, key, .. } if key.kind == Kind::Pod);
    let n = simulation.trace().events().filter(|it| it.at >= from && refused(&it.what)).count();
    assert!(n > 3, "{n} refusals");
    assert_eq!(n_ready(&simulation), 2, "what a person asked for was done, and nothing follows");
    command(&mut simulation, "server up");
    run_for(&mut simulation, 30_000);
    assert_eq!((n_ready(&simulation), pods(&simulation).len()), (3, 3));
    assert!(simulation.now() > Time(0));
}

#[test]
fn programs_that_are_not_there_are_refused() {
    let mut simulation = web(1);
    for (text, message) in [
        ("controller pause etcd", "no process \"etcd\""),
        ("watch drop etcd --next=1", "no process \"etcd\""),
        ("controller watch-break etcd", "no process \"etcd\""),
        ("controller crash etcd --after=1", "no process \"etcd\""),
        ("controller edge-triggered kube-scheduler", "kube-scheduler has no ReplicaSet controller"),
    ] {
        let outcome = simulation.dispatch(text.parse().expect("a command"));
        assert!(outcome.problems[0].message.starts_with(message), "{text}: {outcome:?}");
    }
    assert!("watch lose kube-scheduler --next=1".parse::<Command>().is_err());
    assert!("watch drop kube-scheduler --next=1 --type=bookmark".parse::<Command>().is_err());
    assert!("watch drop kube-scheduler".parse::<Command>().is_err());
}
