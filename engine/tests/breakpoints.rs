//! Steps to an event of a kind, both ways, and runs that stop at one.

#[path = "common/play.rs"]
mod play;

use loopscope_engine::api::{Kind, ObjectKey};
use loopscope_engine::client::{TurnPhase, What};
use loopscope_engine::history::History;
use loopscope_engine::sim::{Millis, Seq, Time, TraceEvent};
use loopscope_engine::view;
use loopscope_engine::world::{Command, Goal, Instant, Of, Ran, Scenario, Simulation};
use play::{pods, target};

const WITHIN: Millis = Millis(60_000);

/// A pod deleted at 10 s, and replicas set at 20 s.
fn healed() -> History {
    let mut history = History::new(Scenario::self_healing());
    history.run_until(Time(10_000), usize::MAX);
    let victim = pods(history.simulation())[0].metadata.name.clone();
    history.dispatch(Command::delete(target(Kind::Pod, &victim)));
    history.run_until(Time(20_000), usize::MAX);
    history.dispatch(Command::Scale { target: target(Kind::Deployment, "web"), replicas: 4 });
    history.run_until(Time(40_000), usize::MAX);
    history
}

fn web() -> ObjectKey {
    target(Kind::Deployment, "web").key()
}

fn deployment_loop(simulation: &Simulation) -> Goal {
    let at = simulation.loops().iter().position(|it| &*it.name == "Deployment").expect("its loop");
    Goal::ActOf(loopscope_engine::client::LoopIndex(at as u32))
}

fn ready(status: &str) -> Goal {
    Goal::Condition { of: Of::Kind(Kind::Pod), kind: "Ready".into(), status: status.into() }
}

fn goals(simulation: &Simulation) -> Vec<Goal> {
    let all = vec![
        Goal::Event,
        Goal::Act,
        Goal::Turn,
        Goal::Write,
        Goal::Change(web()),
        ready("True"),
        ready("False"),
        deployment_loop(simulation),
    ];
    let any = Goal::Any(vec![Goal::Refusal, ready("False"), deployment_loop(simulation)]);
    all.into_iter().chain([any]).collect()
}

#[test]
fn steps_back_end_where_steps_forward_did() {
    let mut history = healed();
    for goal in goals(history.simulation()) {
        history.seek(Instant::end_of(Time(9_500)));
        let mut there = vec![history.simulation().instant()];
        while there.len() < 12 && history.step(&goal, WITHIN) && history.is_past() {
            there.push(history.simulation().instant());
        }
        assert!(there.len() > 3, "{goal:?} is met {} times", there.len() - 1);
        there.retain(|it| *it < history.simulation().instant());
        for before in there.into_iter().rev() {
            let found = history.last_met(&goal);
            history.seek(found);
            // The first is where one stood, which need be no such place.
            assert!(found == before || before.at == Time(9_500), "{goal:?}: {found:?}, not {before:?}");
        }
    }
}

#[test]
fn the_last_event_of_a_kind_is_found_without_a_replay() {
    let mut history = healed();
    for goal in goals(history.simulation()) {
        for ms in [9_500, 10_036, 20_047, 40_000] {
            history.seek(Instant::end_of(Time(ms)));
            let mut n_back = 0;
            while let Some(seq) = history.last_event(&goal).filter(|_| n_back < 12) {
                let replayed = history.last_met(&goal);
                let mut way = history.way_to_event(seq).expect("a way");
                while !way.run(usize::MAX) {}
                history.arrive(history.current(), way);
                let here = history.simulation().instant();
                // A replay stops at commands as well.
                assert!(
                    here == replayed || history.simulation().journal().len() < replayed.commands as usize,
                    "{goal:?}"
                );
                n_back += 1;
            }
            assert!(n_back > 0, "{goal:?} before {ms} ms");
        }
    }
}

/// What an event means, found out in another way than goals do.
fn is_meant(simulation: &Simulation, event: &TraceEvent<What>, what: &str) -> bool {
    let row = view::event(simulation, event.seq.0).expect("it is kept");
    match what {
        "ready" => row.text.plain().contains("Ready False → True"),
        "deployment" => row.who == "Deployment" && matches!(event.what, What::Reached { phase: TurnPhase::Act, .. }),
        "web" => row.text.plain().starts_with("Deployment web ") && row.who == "API server",
        _ => row.text.plain().starts_with("409 "),
    }
}

#[test]
fn a_run_stops_right_at_what_it_watches_for() {
    for what in ["ready", "deployment", "web"] {
        let mut history = healed();
        let goal = match what {
            "ready" => ready("True"),
            "deployment" => deployment_loop(history.simulation()),
            _ => Goal::Change(web()),
        };
        let end = history.simulation().trace().last_seq();
        let all = history.simulation().trace().events().filter(|event| is_meant(history.simulation(), event, what));
        let meant: Vec<Seq> = all.map(|event| event.seq).collect();
        history.seek(Instant::end_of(Time(9_000)));
        let mut found: Vec<Seq> = Vec::new();
        let mut after = history.simulation().trace().last_seq();
        let meant: Vec<Seq> = meant.into_iter().filter(|seq| *seq > after).collect();
        assert!(meant.len() >= 2, "{what}");
        while after < end {
            match history.run_watching(Time(40_000), 7, &goal, after) {
                Ran::Met => {
                    let met = history.simulation().first_met(&goal, after).expect("met");
                    // Nothing else has happened since but what the same happening recorded.
                    let event = history.simulation().trace().get(met).expect("kept");
                    assert_eq!(event.at, history.simulation().now());
                    let last = history.simulation().trace().last_seq();
                    found.extend(meant.iter().filter(|seq| **seq >= met && **seq <= last));
                }
                Ran::There => break,
                Ran::OnTheWay => {}
            }
            after = history.simulation().trace().last_seq();
        }
        assert_eq!(found, meant, "{what}");
    }
}

#[test]
fn a_watched_run_is_the_same_run() {
    let plain = healed();
    let mut history = healed();
    history.seek(Instant::end_of(Time(9_000)));
    let goal = Goal::Any(vec![Goal::Act, ready("False")]);
    let mut n_met = 0;
    loop {
        let after = history.simulation().trace().last_seq();
        match history.run_watching(Time(40_000), usize::MAX, &goal, after) {
            Ran::Met => n_met += 1,
            Ran::OnTheWay => {}
            Ran::There => break,
        }
    }
    assert!(n_met > 20, "{n_met}");
    assert_eq!(history.branches().len(), 1);
    assert_eq!(history.simulation().trace().digest(), plain.simulation().trace().digest());
    assert_eq!(history.simulation().instant(), plain.simulation().instant());
}

#[test]
fn a_conflict_is_a_refusal_of_another_sort() {
    let mut simulation = play::world(play::scenario());
    play::apply(&mut simulation, &play::workload("Deployment", "web", "app:v1", "replicas: 1"));
    play::run_for(&mut simulation, 5_000);
    let old = view::yaml(&simulation, &web(), false)
        .expect("it is there")
        .replace("replicas: 1\n  rev", "replicas: 2\n  rev");
    play::scale(&mut simulation, Kind::Deployment, "web", 3);
    play::run_for(&mut simulation, 5_000);
    let before = simulation.trace().last_seq();
    assert!(!simulation.dispatch(Command::Replace { manifest: old }).is_ok());
    let conflict = simulation.first_met(&Goal::Conflict, before).expect("409");
    assert!(is_meant(&simulation, &simulation.trace().get(conflict).expect("kept"), "conflict"));
    let before = simulation.trace().last_seq();
    play::delete(&mut simulation, Kind::Pod, "none");
    assert_eq!(simulation.first_met(&Goal::Conflict, before), None);
    assert!(simulation.first_met(&Goal::Refusal, before).is_some());
}
