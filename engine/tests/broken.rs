//! What is broken, since when, and how it is mended: the switches of the page, each a command of the journal.

#[path = "common/play.rs"]
mod play;

use loopscope_engine::api::Kind;
use loopscope_engine::history::History;
use loopscope_engine::sim::Millis;
use loopscope_engine::view::{self, Fault, FaultRow, QUOTA, Stretch};
use loopscope_engine::world::{Lane, Scenario, Simulation, read_journal, write_journal};
use play::{apply, n_ready, object, run_for, scale, scenario, workload, world};

const MANAGER: &str = "kube-controller-manager";

fn web() -> Simulation {
    let mut simulation = world(scenario());
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 3"));
    run_for(&mut simulation, 10_000);
    simulation
}

fn target(fault: Fault) -> &'static str {
    match fault {
        Fault::Crash | Fault::CrashLater | Fault::Pause | Fault::Stop | Fault::Stale | Fault::Gone => MANAGER,
        Fault::Down | Fault::Slow | Fault::Refusing => "API server",
        Fault::Power | Fault::Cut | Fault::Network => "node-1",
        Fault::Missing | Fault::CrashLoop | Fault::SlowStart => "app:v1",
        Fault::Quota => QUOTA,
    }
}

#[track_caller]
fn switch(simulation: &mut Simulation, fault: Fault, on: bool) {
    let command = view::fault_command(simulation, fault, target(fault), on, 2);
    assert!(command.is_disturbance(), "{fault:?} has its mark on the faults' lane");
    let before = simulation.recorded().n_on(Lane::Faults);
    let outcome = simulation.dispatch(command);
    assert!(outcome.is_ok(), "{fault:?}: {outcome:?}");
    assert!(simulation.recorded().n_on(Lane::Faults) > before);
}

fn row(simulation: &Simulation, fault: Fault) -> Option<FaultRow> {
    view::faults(simulation).row(fault, target(fault)).cloned()
}

#[test]
fn nothing_is_broken_at_first_and_everything_can_be() {
    let simulation = web();
    let view = view::faults(&simulation);
    assert_eq!(view.rows, []);
    assert_eq!(view.programs, [MANAGER, "kube-scheduler"]);
    assert_eq!(view.nodes, ["node-1", "node-2", "node-3"]);
    assert!(view.images.contains(&"app:v1".to_owned()), "{:?}", view.images);
    assert!(view::mendings(&simulation).is_empty());
}

#[test]
fn each_switch_is_on_since_it_was_switched_and_off_again() {
    for fault in Fault::ALL {
        let mut simulation = web();
        let at = simulation.now().0;
        switch(&mut simulation, fault, true);
        assert_eq!(row(&simulation, fault).map(|it| (it.is_on, it.at_ms)), Some((true, Some(at))), "{fault:?}");
        assert_eq!(view::faults(&simulation).n_on(), 1, "{fault:?} and nothing else");
        run_for(&mut simulation, 3_000);
        if fault.is_brief() {
            let over = row(&simulation, fault).expect("it was used");
            assert_eq!((over.is_on, over.at_ms), (false, Some(at)), "{fault:?} is over by itself");
            continue;
        }
        let mut again = simulation.checkpoint();
        switch(&mut simulation, fault, false);
        assert_eq!(row(&simulation, fault), None, "{fault:?}");
        // All at once comes to the same.
        let all = view::mendings(&again);
        assert_eq!(all.len(), 1, "{fault:?}: {all:?}");
        for command in all {
            assert!(again.dispatch(command).is_ok());
        }
        assert_eq!(view::faults(&again).n_on(), 0, "{fault:?}");
    }
}

/// What the switches say is text like all else, and comes back as it was.
#[test]
fn the_switches_are_commands_of_the_journal() {
    let mut simulation = web();
    for on in [true, false] {
        for fault in Fault::ALL.into_iter().filter(|it| on || !it.is_brief()) {
            switch(&mut simulation, fault, on);
            run_for(&mut simulation, 500);
        }
    }
    let text = write_journal(simulation.journal());
    let read = read_journal(&text).expect("it is read");
    assert!(read.iter().eq(simulation.journal().iter().map(|it| &**it)), "{text}");
}

#[test]
fn stretches_on_the_timeline_begin_and_end_with_the_switches() {
    let mut history = History::new(Scenario { behaviors: scenario().behaviors, ..Scenario::self_healing() });
    let run = |history: &mut History, ms| {
        let until = history.simulation().now() + Millis(ms);
        while !history.run_until(until, 1_000) {}
    };
    run(&mut history, 10_000);
    for (text, ms) in [
        ("server down", 2_000),
        ("server slow --by=2s", 3_000),
        ("server up", 1_000),
        ("controller pause kube-scheduler", 1_000),
        ("controller stop kube-scheduler", 1_000),
        ("image nginx:1.27.3 behave --missing", 1_000),
        ("image nginx:1.27.3 restore", 1_000),
    ] {
        assert!(history.dispatch(text.parse().expect("a command")).is_ok(), "{text}");
        run(&mut history, ms);
    }
    let branch = history.branch(history.current()).expect("it is there");
    let stretch = Stretch { from_ms: 0, to_ms: 30_000, columns: 100 };
    let timeline = view::timeline(history.simulation(), branch.record(), branch.steps(), stretch);
    let spans: Vec<_> = timeline.faults.iter().map(|it| (it.what.as_str(), it.from_ms, it.to_ms)).collect();
    let expected = [
        ("API server down", 10_000, Some(12_000)),
        ("API server slow", 12_000, Some(15_000)),
        ("kube-scheduler paused", 16_000, Some(17_000)),
        ("kube-scheduler stopped", 17_000, None),
        ("nginx:1.27.3 missing", 18_000, Some(19_000)),
    ];
    assert_eq!(spans, expected);
}

#[test]
fn a_crash_that_was_announced_can_be_called_off() {
    let mut simulation = web();
    switch(&mut simulation, Fault::CrashLater, true);
    assert_eq!(row(&simulation, Fault::CrashLater).and_then(|it| it.left), Some(2));
    switch(&mut simulation, Fault::CrashLater, false);
    scale(&mut simulation, Kind::Deployment, "web", 6);
    run_for(&mut simulation, 10_000);
    assert_eq!(n_ready(&simulation), 6);
    assert_eq!(row(&simulation, Fault::Crash), None);
    // Once it has crashed there is nothing left to call off.
    switch(&mut simulation, Fault::CrashLater, true);
    scale(&mut simulation, Kind::Deployment, "web", 8);
    run_for(&mut simulation, 10_000);
    assert_eq!((n_ready(&simulation), row(&simulation, Fault::CrashLater)), (8, None));
}

#[test]
fn the_quota_keeps_what_is_there_and_forbids_more() {
    let mut simulation = web();
    switch(&mut simulation, Fault::Quota, true);
    scale(&mut simulation, Kind::Deployment, "web", 5);
    run_for(&mut simulation, 10_000);
    assert_eq!(n_ready(&simulation), 3);
    switch(&mut simulation, Fault::Quota, false);
    assert_eq!(object(&simulation, Kind::ResourceQuota, QUOTA), None);
    run_for(&mut simulation, 60_000);
    assert_eq!(n_ready(&simulation), 5);
}
