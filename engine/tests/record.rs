//! The record that a timeline is drawn from: a function of the run, whatever way led to it.

#[path = "common/to_and_fro.rs"]
mod to_and_fro;

use loopscope_engine::client::Mark;
use loopscope_engine::history::{Branch, History};
use loopscope_engine::sim::{Millis, Seq, Time};
use loopscope_engine::view;
use loopscope_engine::world::{Command, Goal, Instant, Lane, Record, Scenario};
use proptest::prelude::*;
use to_and_fro::{carry_out, deed, played, scale};

fn is_as_played(branch: &Branch) -> bool {
    *branch.record() == *played(branch.steps(), branch.recorded()).recorded()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

    /// However one has gone to and fro, each branch's record is that of a straight run, and so is the cursor's.
    #[test]
    fn a_record_does_not_depend_on_the_way(deeds in prop::collection::vec(deed(), 1..20)) {
        let mut history = History::new(Scenario::self_healing());
        for deed in &deeds {
            carry_out(&mut history, deed);
            let here = history.simulation();
            let steps = history.branch(history.current()).expect("it is there").steps();
            prop_assert!(*here.recorded() == *played(steps, here.instant()).recorded(), "after {deed:?}");
            let branch = history.branch(history.current()).expect("it is there");
            prop_assert!(branch.recorded() >= here.instant(), "after {deed:?}");
        }
        for branch in history.branches() {
            prop_assert!(is_as_played(branch), "{:?}", branch.name);
        }
    }

    /// Every event that a list shows has its mark, as the list marks it, and the curve says what the title says.
    #[test]
    fn a_record_says_what_lists_and_title_say(deeds in prop::collection::vec(deed(), 1..12)) {
        let mut history = History::new(Scenario::self_healing());
        for deed in &deeds {
            carry_out(&mut history, deed);
            let simulation = history.simulation();
            let record = simulation.recorded();
            let summary = view::summary(simulation);
            let last = record.samples().last().expect("there is a balance from the beginning");
            prop_assert_eq!((last.want, last.ready), (summary.want, summary.ready), "after {:?}", deed);
        }
        let simulation = history.simulation();
        let events = view::events(simulation, usize::MAX);
        let strokes: Vec<_> = simulation.recorded().strokes(Time(0), simulation.now()).collect();
        prop_assert_eq!(simulation.recorded().n(), simulation.trace().visible_count());
        prop_assert_eq!(strokes.len(), events.len());
        for (stroke, event) in strokes.iter().zip(&events) {
            let listed = (Seq(event.seq), Time(event.time_ms), event.mark, event.is_yours);
            prop_assert_eq!((stroke.seq, stroke.at, stroke.mark, stroke.is_yours), listed);
        }
    }
}

/// A world that has been scaled to and fro until its record is full.
fn long() -> History {
    let mut history = History::new(Scenario::self_healing());
    for round in 0..40 {
        history.dispatch(scale(if round % 2 == 0 { 60 } else { 1 }));
        let until = history.simulation().now() + Millis(60_000);
        while !history.run_until(until, 1_000) {}
    }
    history
}

fn counted(record: &Record) -> u64 {
    let heaps: u64 = record.lanes().flat_map(|it| record.heaps_on(it)).map(|(.., heap)| u64::from(heap.n)).sum();
    heaps + record.strokes(Time(0), Time(u64::MAX)).count() as u64
}

#[test]
fn a_long_record_is_bounded_and_counts_every_event() {
    let history = long();
    let branch = &history.branches()[0];
    let record = branch.record();
    assert!(record.n() > 3 * Record::EXACT as u64, "{} events are too few to say anything", record.n());
    assert_eq!(counted(record), record.n());
    let exact = record.strokes(Time(0), Time(u64::MAX)).count();
    assert!((Record::EXACT - 250..=Record::EXACT).contains(&exact), "{exact}");
    assert!(record.samples().len() <= Record::SAMPLES);
    let from = record.exact_from().expect("older ones were thinned");
    for (at, width, heap) in record.lanes().flat_map(|it| record.heaps_on(it)) {
        assert!(heap.n > 0 && at <= from && at.0 / width.0 < Record::BINS as u64);
    }
    assert!(is_as_played(branch));
    // The person's commands are still to be seen, though only as a count.
    let yours: Vec<_> = record.heaps_on(Lane::You).collect();
    assert!(yours.len() > 5 && yours.iter().all(|(.., heap)| heap.mark == Mark::You && heap.is_yours));
}

#[test]
fn what_was_thinned_comes_back_by_replay() {
    let mut history = long();
    let then = Time(100_000);
    assert!(history.branches()[0].record().exact_from().is_some_and(|it| it > then));
    let whole = history.branches()[0].record().clone();
    history.seek(Instant::end_of(then));
    assert_eq!(history.simulation().recorded().exact_from(), None);
    assert_eq!(history.simulation().recorded().n(), history.simulation().trace().visible_count());
    assert!(*history.branches()[0].record() == whole, "the branch still knows what comes");
}

#[test]
fn a_curve_with_many_steps_keeps_its_lowest_points() {
    let history = long();
    let record = history.simulation().recorded();
    let lowest = |from: u64, to: u64| {
        let within = record.samples().iter().filter(|it| (from..to).contains(&it.at.0) && it.want == 60);
        within.map(|it| it.ready).min()
    };
    // Each time when sixty are asked for, one is there.
    for round in 0..12 {
        assert!(lowest(round * 120_000, round * 120_000 + 60_000).is_some_and(|it| it <= 3), "round {round}");
    }
}

#[test]
fn pods_of_a_silent_node_are_ready_no_more() {
    let mut history = History::new(Scenario::self_healing());
    while !history.run_until(Time(20_000), 1_000) {}
    history.dispatch(Command::StopNode { node: "node-1".into() });
    let mut n_fallen = 0;
    // Between the node's silence and what is written of its pods no more than some milliseconds pass.
    while history.simulation().now() < Time(120_000) && history.step(&Goal::Write, Millis(60_000)) {
        let summary = view::summary(history.simulation());
        let last = *history.simulation().recorded().samples().last().expect("there is a balance");
        assert_eq!((last.want, last.ready), (summary.want, summary.ready), "{}", history.simulation().now());
        n_fallen += usize::from(last.ready < last.want);
    }
    assert!(n_fallen > 0, "nothing fell");
}

#[test]
fn a_branch_without_a_command_is_recorded_as_it_is_played() {
    let mut history = History::new(Scenario::self_healing());
    while !history.run_until(Time(20_000), 1_000) {}
    history.dispatch(scale(5));
    while !history.run_until(Time(60_000), 1_000) {}
    let id = history.without(0).expect("there is a command");
    let branch = |history: &History| history.branch(id).cloned().expect("it is there");
    assert_eq!((branch(&history).recorded().at, branch(&history).end.at), (Time(20_000), Time(60_000)));
    while !history.run_until(Time(30_000), 1_000) {}
    assert_eq!(branch(&history).recorded().at, Time(30_000));
    assert!(is_as_played(&branch(&history)));
    let wants: Vec<i32> = branch(&history).record().samples().iter().map(|it| it.want).collect();
    assert!(!wants.contains(&5), "{wants:?}");
}
