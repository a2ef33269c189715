//! The timeline's view: every event is somewhere on it, wherever the cursor is.

use loopscope_engine::api::Kind;
use loopscope_engine::client::Mark;
use loopscope_engine::history::History;
use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::view::{self, Stretch, Timeline, timeline};
use loopscope_engine::world::{Command, Instant, Lane, NodeSetup, Record, Scenario, Target};
use proptest::prelude::*;

fn scale(replicas: i32) -> Command {
    let target = Target { kind: Kind::Deployment, namespace: "default".into(), name: "web".into() };
    Command::Scale { target, replicas }
}

fn run(history: &mut History, ms: u64) {
    while !history.run_until(Time(ms), 1_000) {}
}

fn seen(history: &History, from_ms: u64, to_ms: u64, columns: usize) -> Timeline {
    let branch = history.branch(history.current()).expect("it is there");
    timeline(history.simulation(), branch.record(), branch.steps(), Stretch { from_ms, to_ms, columns })
}

fn whole(history: &History) -> &Record {
    history.branch(history.current()).expect("it is there").record()
}

/// So many events that the older ones are only counted.
fn long() -> History {
    let mut history = History::new(Scenario::self_healing());
    for round in 0..16 {
        history.dispatch(scale(if round % 2 == 0 { 60 } else { 1 }));
        let until = history.simulation().now().0 + 60_000;
        run(&mut history, until);
    }
    history
}

fn counted(seen: &Timeline) -> u64 {
    seen.lanes.iter().flat_map(|it| &it.columns).map(|it| u64::from(it.n)).sum()
}

#[test]
fn lanes_stand_in_the_order_of_work_and_say_what_happened() {
    let mut history = History::new(Scenario::self_healing());
    run(&mut history, 10_000);
    history.dispatch(scale(5));
    run(&mut history, 20_000);
    let seen = seen(&history, 0, 20_000, 200);
    let names: Vec<&str> = seen.lanes.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names[..5], ["You", "Deployment", "ReplicaSet", "Scheduler", "Kubelets"], "{names:?}");
    assert_eq!(names.last(), Some(&"API server"));
    let you = &seen.lanes[0];
    assert_eq!((you.n, you.strokes.len(), you.strokes[0].at, you.strokes[0].mark), (1, 1, Time(10_000), Mark::You));
    assert_eq!(you.columns.iter().position(|it| it.n > 0), Some(100));
    // What follows from it is the person's, what was before is not.
    let set = seen.lanes.iter().find(|it| it.name == "ReplicaSet").expect("it acted");
    assert!(set.columns[..100].iter().all(|it| !it.is_yours) && set.columns[100..].iter().any(|it| it.is_yours));
    assert_eq!(seen.curve.iter().map(|it| it.want).collect::<Vec<_>>().last(), Some(&5));
}

#[test]
fn a_short_stretch_shows_its_events_one_by_one() {
    let mut history = History::new(Scenario::self_healing());
    run(&mut history, 60_000);
    let all = seen(&history, 0, 60_000, 40);
    let crowded = all.lanes.iter().find(|it| it.name == "Kubelets").expect("they acted");
    assert!(crowded.n > 40 && crowded.strokes.is_empty());
    let first = whole(&history).strokes(Time(0), Time(60_000)).find(|it| it.lane == Lane::Kubelets);
    let at = first.expect("they acted").at.0;
    let near = seen(&history, at, at + 20, 400);
    let events = view::events(history.simulation(), usize::MAX);
    let n = events.iter().filter(|it| (at..=at + 20).contains(&it.time_ms)).count();
    assert_eq!(near.lanes.iter().map(|it| it.strokes.len()).sum::<usize>(), n);
    assert!(near.lanes.iter().all(|it| it.n == it.strokes.len() as u64));
}

#[test]
fn what_was_thinned_is_said_and_comes_back_where_the_cursor_is() {
    let mut history = long();
    let end = history.end().at.0;
    let from = whole(&history).exact_from().expect("it is long").0;
    assert_eq!(seen(&history, 0, end, 300).thinned, [(0, from)]);
    assert_eq!(seen(&history, from, end, 300).thinned, []);
    let far = seen(&history, 60_000, 61_000, 1_000);
    assert!(far.lanes.iter().all(|it| it.strokes.is_empty()));
    assert!(counted(&far) > 50, "they are still counted");

    history.seek(Instant::end_of(Time(61_000)));
    let near = seen(&history, 60_000, 61_000, 1_000);
    assert_eq!(near.thinned, [(61_000, from)]);
    let n: usize = near.lanes.iter().map(|it| it.strokes.len()).sum();
    assert_eq!((n as u64, n > 50), (counted(&near), true));
}

#[test]
fn what_was_broken_is_a_span_until_it_is_mended() {
    let mut history = History::new(Scenario::self_healing());
    let node = |name: &str| name.to_owned();
    run(&mut history, 10_000);
    history.dispatch(Command::StopNode { node: node("node-1") });
    history.dispatch(Command::StopNode { node: node("nowhere") });
    run(&mut history, 20_000);
    history.dispatch(Command::StopNode { node: node("node-1") });
    history.dispatch(Command::StopController { process: node("kube-scheduler") });
    run(&mut history, 30_000);
    history.dispatch(Command::StartNode { node: node("node-1") });
    let setup = NodeSetup { name: "node-9".into(), ..Scenario::self_healing().nodes[0].clone() };
    history.dispatch(Command::AddNode { node: setup });
    history.dispatch(Command::CutNode { node: node("node-9") });
    run(&mut history, 40_000);
    history.dispatch(Command::RemoveNode { node: node("node-9") });
    run(&mut history, 50_000);
    let spans = |from, to| {
        let faults = seen(&history, from, to, 100).faults;
        faults.into_iter().map(|it| (it.what, it.from_ms, it.to_ms)).collect::<Vec<_>>()
    };
    let scheduler = ("kube-scheduler stopped".to_owned(), 20_000, None);
    assert_eq!(
        spans(0, 50_000),
        [
            ("node-1 off".to_owned(), 10_000, Some(30_000)),
            scheduler.clone(),
            ("node-9 cut off".to_owned(), 30_000, Some(40_000))
        ]
    );
    assert_eq!(spans(45_000, 50_000), [scheduler]);
    assert_eq!(seen(&history, 0, 50_000, 10).lanes[1].name, "Faults");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    /// On however many columns, and wherever the cursor is: every event of the run is on the timeline, once.
    #[test]
    fn all_columns_together_hold_every_event(cursors in prop::collection::vec((0u64..=100, 1usize..2_000), 1..6)) {
        let mut history = long();
        let end = history.end();
        for (percent, columns) in cursors {
            history.seek(Instant::end_of(Time(end.at.0 * percent / 100)));
            let seen = seen(&history, 0, end.at.0, columns);
            prop_assert_eq!(counted(&seen), whole(&history).n(), "at {} % on {}", percent, columns);
            for lane in &seen.lanes {
                prop_assert_eq!(lane.n, whole(&history).n_on(lane.lane), "{}", &lane.name);
                prop_assert!(lane.strokes.is_empty() || lane.strokes.len() as u64 == lane.n);
            }
            history.seek(end);
        }
    }

    /// Two halves hold what the whole holds, where events are there one by one.
    #[test]
    fn stretches_side_by_side_share_nothing(at in 1u64..60_000, columns in 1usize..500) {
        let mut history = History::new(Scenario::self_healing());
        run(&mut history, 60_000);
        let halves = counted(&seen(&history, 0, at - 1, columns)) + counted(&seen(&history, at, 60_000, columns));
        prop_assert_eq!(halves, whole(&history).n());
    }

    /// The curve begins with the stretch and says at each of its times what the title said then.
    #[test]
    fn the_curve_says_what_the_title_said(from in 0u64..60_000, span in 1u64..40_000, cursor in 0u64..=100) {
        let mut history = History::new(Scenario::self_healing());
        run(&mut history, 20_000);
        history.dispatch(scale(6));
        run(&mut history, 50_000);
        history.dispatch(scale(2));
        run(&mut history, 100_000);
        history.seek(Instant::end_of(Time(cursor * 1_000)));
        let curve = seen(&history, from, from + span, 100).curve;
        prop_assert_eq!(curve[0].at, Time(from));
        for (step, next) in curve.iter().zip(curve.iter().skip(1).map(|it| it.at).chain([Time(from + span)])) {
            history.seek(Instant::end_of(next - Millis(1)).max(Instant::end_of(step.at)));
            let summary = view::summary(history.simulation());
            prop_assert_eq!((step.want, step.ready), (summary.want, summary.ready), "until {}", next);
        }
    }
}
