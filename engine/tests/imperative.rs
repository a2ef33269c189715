//! Imperative against declarative: the script "start 3 more", and beside it the same wish declared.

#[path = "common/play.rs"]
mod play;

use loopscope_engine::api::{Kind, Object};
use loopscope_engine::client::{Author, TurnPhase, What};
use loopscope_engine::view;
use loopscope_engine::world::{Command, Lane, Simulation};
use play::{apply, command, run_for, scenario, workload, world};

/// Pods that the script has started, and those of the declared wish.
fn pods(simulation: &Simulation) -> (usize, usize) {
    let all: Vec<_> = simulation.api().objects().of_kind(Kind::Pod).filter_map(Object::as_pod).cloned().collect();
    let of = |app: &str| all.iter().filter(|pod| pod.metadata.labels.get("app").is_some_and(|it| it == app)).count();
    (of("ordered"), of("web"))
}

/// The script, and the same wish declared at the same time.
fn both(simulation: &mut Simulation, script: &str) {
    command(simulation, script);
    apply(simulation, &workload("Deployment", "web", "app:v1", "replicas: 3"));
    run_for(simulation, 10_000);
}

#[test]
fn crashed_half_way_and_run_again_makes_five_where_three_were_meant() {
    let mut simulation = world(scenario());
    assert_eq!(command(&mut simulation, "script run start-3 --crash-after=2"), ["start-3 runs as you"]);
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 3"));
    // Its controller fares no better.
    command(&mut simulation, "controller crash kube-controller-manager --after=2");
    run_for(&mut simulation, 10_000);
    assert_eq!(pods(&simulation), (2, 3), "the script is gone, the wish is not");
    assert!(simulation.recorded().n_on(Lane::Faults) > 0);
    both(&mut simulation, "script run start-3");
    assert_eq!(pods(&simulation), (5, 3));
    run_for(&mut simulation, 600_000);
    assert_eq!(pods(&simulation), (5, 3), "nobody puts it right");
}

#[test]
fn run_twice_or_by_two_people_it_makes_six() {
    let mut simulation = world(scenario());
    both(&mut simulation, "script run start-3");
    both(&mut simulation, "script run start-3");
    assert_eq!(pods(&simulation), (6, 3));
    let mut simulation = world(scenario());
    command(&mut simulation, "script run start-3 --by=ana");
    both(&mut simulation, "script run start-3 --by=bo");
    assert_eq!(pods(&simulation), (6, 3));
    let names: Vec<_> = view::loop_rows(&simulation).iter().map(|row| row.name.clone()).collect();
    assert!(["Script of ana", "Script of bo"].iter().all(|it| names.contains(&(*it).to_string())), "{names:?}");
}

#[test]
fn what_is_deleted_stays_deleted() {
    let mut simulation = world(scenario());
    both(&mut simulation, "script run start-3");
    for app in ["ordered", "web"] {
        let pod = simulation.api().objects().of_kind(Kind::Pod).find(|it| it.meta().labels["app"] == app);
        let target = (&pod.expect("a pod").key()).into();
        assert!(simulation.dispatch(Command::delete(target)).is_ok());
    }
    run_for(&mut simulation, 60_000);
    assert_eq!(pods(&simulation), (2, 3));
}

/// Each request is the script's, under its own name; it acts and does nothing else, and it is a person's.
#[test]
fn its_requests_are_in_the_trace_and_two_of_its_columns_stay_empty() {
    let mut simulation = world(scenario());
    command(&mut simulation, "script run start-3 --by=ana");
    run_for(&mut simulation, 5_000);
    let found = simulation.loops().iter().position(|it| &*it.name == "Script of ana").expect("it runs");
    let is_its = |by: &loopscope_engine::client::LoopIndex| by.0 as usize == found;
    let (mut phases, mut written) = (Vec::new(), Vec::new());
    for event in simulation.trace().events() {
        match event.what {
            What::Reached { by, phase, .. } if is_its(&by) => phases.push(phase),
            What::Wrote { author: Author::Loop(by), method, .. } if is_its(&by) => {
                written.push(method);
                let links = view::why(&simulation, event.seq.0);
                assert_eq!(links[0].text, "You ran the script start-3 as ana");
            }
            _ => {}
        }
    }
    assert_eq!((phases, written), (vec![TurnPhase::Act; 3], vec!["POST"; 3]));
    let pod = simulation.api().objects().of_kind(Kind::Pod).next().expect("a pod");
    assert_eq!(pod.meta().managed.entries()[0].by.manager, "script");
}

#[test]
fn a_refusal_ends_it() {
    let mut simulation = world(scenario());
    apply(&mut simulation, "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: '2'}}}");
    run_for(&mut simulation, 1_000);
    command(&mut simulation, "script run start-9");
    run_for(&mut simulation, 600_000);
    assert_eq!(pods(&simulation).0, 2);
    let refused = simulation.trace().events().filter(|it| matches!(it.what, What::Refused { .. })).count();
    assert_eq!(refused, 1, "it does not try again");
    for bad in ["script run", "script run stop-3", "script run start-0 --crash-after=0", "script run start-x"] {
        assert!(bad.parse::<Command>().is_err(), "{bad}");
    }
    assert!(!simulation.dispatch("script run start-101".parse().expect("a command")).is_ok());
}
