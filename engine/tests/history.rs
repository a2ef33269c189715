//! Going back, forth and sideways in time: an instant is the same world however it is reached.

#[path = "common/to_and_fro.rs"]
mod to_and_fro;

use loopscope_engine::api::{Kind, Object};
use loopscope_engine::history::{BranchId, History, MOST, OLD_SPACING, RECENT, SPACING};
use loopscope_engine::sim::{Millis, Seq, Time};
use loopscope_engine::world::{Goal, Instant, Scenario, read_journal};
use proptest::prelude::*;
use to_and_fro::{carry_out, deed, delete_pod, played, pod_names, run, scale};

fn mark(history: &History) -> (Instant, u64) {
    (history.simulation().instant(), history.simulation().trace().digest())
}

/// A world healed once, up to 60 s.
fn healed() -> History {
    let mut history = History::new(Scenario::self_healing());
    run(&mut history, 10_000);
    let command = delete_pod(history.simulation(), 0);
    assert!(history.dispatch(command).is_ok());
    run(&mut history, 60_000);
    history
}

#[test]
fn going_back_shows_the_pod_and_forth_its_replacement() {
    let mut history = healed();
    let healed = mark(&history);
    let after = pod_names(history.simulation());
    history.seek(Instant::end_of(Time(9_000)));
    let before = pod_names(history.simulation());
    assert_ne!(before, after);
    assert_eq!(history.simulation().now(), Time(9_000));
    assert!(history.is_past());
    history.seek(healed.0);
    assert_eq!(mark(&history), healed);
    assert!(!history.is_past());
}

#[test]
fn playing_from_the_past_meets_the_same_commands() {
    let mut history = healed();
    let healed = mark(&history);
    history.seek(Instant::end_of(Time(5_000)));
    assert_eq!(history.pending().len(), 1);
    run(&mut history, 60_000);
    assert_eq!(mark(&history), healed);
    assert_eq!(history.branches().len(), 1);
}

#[test]
fn every_event_is_found_again_from_wherever_one_looks() {
    let mut history = healed();
    let all = history.simulation().trace().clone();
    for seq in (1..=all.last_seq().0).step_by(211).chain([1, all.last_seq().0]) {
        for from in [0, 9_000, 60_000] {
            history.seek(Instant::end_of(Time(from)));
            let mut replay = history.way_to_event(Seq(seq)).expect("a way");
            while !replay.run(7) {}
            history.arrive(history.current(), replay);
            let trace = history.simulation().trace();
            assert!(trace.get(Seq(seq)) == all.get(Seq(seq)), "event {seq} from {from} ms");
            // What else happened in the same breath may be there too, nothing later.
            let found = trace.get(Seq(seq)).map(|event| event.at);
            assert!(found.is_none_or(|at| at == history.simulation().now()), "event {seq} from {from} ms");
        }
    }
    history.seek(Instant::end_of(Time(60_000)));
}

#[test]
fn a_known_run_is_played_by_itself() {
    let healed = healed();
    let steps = healed.simulation().journal().to_vec();
    let mut again = History::of(Scenario::self_healing(), steps, healed.end());
    assert_eq!((again.pending().len(), again.simulation().now()), (1, Time(0)));
    again.seek(healed.end());
    assert_eq!(mark(&again), mark(&healed));
}

#[test]
fn acting_in_the_past_begins_a_branch_and_leaves_the_old_future() {
    let mut history = healed();
    let old = mark(&history);
    history.seek(Instant::end_of(Time(9_000)));
    let command = delete_pod(history.simulation(), 1);
    history.dispatch(command);
    run(&mut history, 60_000);
    let new = mark(&history);
    assert_ne!(old.1, new.1);
    let names: Vec<&str> = history.branches().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["A", "B"]);
    let (parent, at) = history.branches()[1].parent.expect("it has begun somewhere");
    assert_eq!((parent, at.at), (BranchId(0), Time(9_000)));
    assert_eq!(history.branches()[0].steps().len(), 1);

    history.open(BranchId(0), old.0);
    assert_eq!(mark(&history), old);
    history.open(BranchId(1), new.0);
    assert_eq!(mark(&history), new);
}

#[test]
fn acting_at_the_end_begins_no_branch() {
    let mut history = healed();
    history.dispatch(scale(5));
    history.dispatch(scale(4));
    run(&mut history, 70_000);
    assert_eq!((history.branches().len(), history.branches()[0].steps().len()), (1, 3));
}

#[test]
fn undo_leads_to_just_before_the_command_and_redo_back() {
    let mut history = healed();
    history.dispatch(scale(5));
    history.dispatch(scale(7));
    let done = mark(&history);
    let replicas = |history: &History| {
        let deployment = history.simulation().api().objects().of_kind(Kind::Deployment).find_map(Object::as_deployment);
        deployment.and_then(|it| it.spec.replicas)
    };
    assert_eq!(history.undo().map(|it| it.command.clone()), Some(scale(7)));
    assert_eq!(replicas(&history), Some(5));
    assert_eq!(history.undo().map(|it| it.command.clone()), Some(scale(5)));
    assert_eq!(replicas(&history), Some(3));
    assert_eq!(history.redo().map(|it| it.command.clone()), Some(scale(5)));
    assert_eq!(history.redo().map(|it| it.command.clone()), Some(scale(7)));
    assert_eq!(mark(&history), done);
    assert_eq!(history.redo(), None);
    assert_eq!(history.branches().len(), 1);
}

#[test]
fn a_command_can_be_left_out_and_those_after_it_stay() {
    let mut history = healed();
    history.dispatch(scale(5));
    run(&mut history, 90_000);
    let old = mark(&history);
    let id = history.without(0).expect("there is such a command");
    assert_eq!(history.simulation().now(), Time(10_000));
    run(&mut history, 90_000);
    assert_eq!(pod_names(history.simulation()).len(), 5);
    // Nobody deleted one: the three of the beginning are still there.
    let mut beginning = History::new(Scenario::self_healing());
    run(&mut beginning, 9_000);
    for name in pod_names(beginning.simulation()) {
        assert!(pod_names(history.simulation()).contains(&name), "{name}");
    }
    assert!(!history.is_past(), "all of the branch is played");
    history.dispatch(scale(6));
    assert_eq!(history.current(), id);
    history.open(BranchId(0), old.0);
    assert_eq!(mark(&history), old);
    assert_eq!(history.without(9), None);
}

#[test]
fn a_step_back_leads_to_the_event_before() {
    let mut history = healed();
    for goal in [Goal::Event, Goal::Act, Goal::Turn, Goal::Write] {
        history.seek(Instant::end_of(Time(10_200)));
        let mut met = Vec::new();
        while met.len() < 12 && history.step(&goal, Millis(60_000)) {
            met.push(mark(&history));
        }
        // Where nothing was met any more, the clock has gone on.
        history.seek(met.last().expect("something happens").0);
        for expected in met.iter().rev().skip(1) {
            let back = history.last_met(&goal);
            history.seek(back);
            assert_eq!(mark(&history), *expected, "{goal:?}");
        }
    }
    history.seek(Instant::default());
    let start = mark(&history);
    assert!(history.step(&Goal::Event, Millis(60_000)));
    let back = history.last_met(&Goal::Event);
    history.seek(back);
    assert_eq!(mark(&history), start);
}

#[test]
fn a_step_meets_the_commands_of_the_branch() {
    let mut history = healed();
    history.seek(Instant::end_of(Time(9_990)));
    let mut n = 0;
    while history.simulation().journal().is_empty() {
        assert!(history.step(&Goal::Event, Millis(60_000)) && n < 50);
        n += 1;
    }
    assert_eq!(history.simulation().now(), Time(10_000));
}

#[test]
fn a_replay_can_be_left_and_taken_up_and_thrown_away() {
    let mut history = healed();
    let end = mark(&history);
    history.seek(Instant::end_of(Time(1_000)));
    let start = mark(&history);
    let mut way = history.way_to(history.current(), end.0).expect("the branch is there");
    assert!(!way.run(10));
    drop(way);
    assert_eq!(mark(&history), start);
    let mut way = history.way_to(history.current(), end.0).expect("the branch is there");
    let mut n = 0;
    while !way.run(10) {
        n += 1;
    }
    assert!(n > 5 && way.n_replayed() > 50);
    history.arrive(history.current(), way);
    assert_eq!(mark(&history), end);
}

#[test]
fn a_branch_is_named_and_forgotten_and_its_children_live_on() {
    let mut history = healed();
    history.seek(Instant::end_of(Time(30_000)));
    history.dispatch(scale(4));
    run(&mut history, 50_000);
    history.seek(Instant::end_of(Time(40_000)));
    history.dispatch(scale(5));
    run(&mut history, 60_000);
    let end = mark(&history);
    history.rename(BranchId(1), "  more  ");
    history.rename(BranchId(1), " ");
    assert_eq!(history.branch(BranchId(1)).map(|it| it.name.clone()).as_deref(), Some("more"));
    assert!(!history.delete(BranchId(2)), "the current one stays");
    assert!(history.delete(BranchId(1)));
    assert_eq!(
        history.branch(BranchId(2)).and_then(|it| it.parent).map(|(id, at)| (id, at.at)),
        Some((BranchId(0), Time(30_000)))
    );
    history.seek(Instant::end_of(Time(35_000)));
    history.seek(end.0);
    assert_eq!(mark(&history), end);
}

#[test]
fn checkpoints_are_bounded() {
    let mut history = History::new(Scenario::self_healing());
    for round in 0..36 {
        let replicas = if round % 2 == 0 { 60 } else { 1 };
        history.dispatch(scale(replicas));
        let until = history.simulation().now().0 + 120_000;
        run(&mut history, until);
    }
    let events = history.simulation().trace().last_seq().0;
    assert!(events > 100_000, "{events} events are too few to say anything");
    assert!(history.n_checkpoints() <= MOST, "{}", history.n_checkpoints());
    assert!(history.n_checkpoints() >= 6, "{}", history.n_checkpoints());
    // And no instant is a longer replay away than said, give or take what happens between two looks.
    let end = history.end().at.0;
    let recent = end - RECENT.0;
    let (old, late) = ((0..12).map(|n| (recent * n / 12, OLD_SPACING)), (0..6).map(|n| (recent + n * 10_000, SPACING)));
    for (at, most) in old.chain(late) {
        let mut way = history.way_to(history.current(), Instant::end_of(Time(at))).expect("it is there");
        while !way.run(usize::MAX) {}
        assert!(way.n_replayed() <= most + 1_000, "{} events to {at} ms", way.n_replayed());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Wherever one has come to, playing the journal from the beginning leads to the same world; through text too.
    #[test]
    fn any_way_to_an_instant_leads_to_the_same_world(deeds in prop::collection::vec(deed(), 1..25)) {
        let mut history = History::new(Scenario::self_healing());
        for deed in &deeds {
            carry_out(&mut history, deed);
            let (here, digest) = mark(&history);
            let steps = history.branch(history.current()).expect("it is there").steps();
            prop_assert_eq!(played(steps, here).trace().digest(), digest, "after {:?}", deed);
        }
        let (here, digest) = mark(&history);
        let text = loopscope_engine::world::write_journal(history.simulation().journal());
        let read: Vec<_> = read_journal(&text).expect("it can be read").into_iter().map(std::rc::Rc::new).collect();
        let again = played(&read, here);
        prop_assert_eq!((again.instant(), again.trace().digest()), (here, digest));
        for branch in history.branches() {
            let copy = (branch.id, branch.end);
            let mut way = history.way_to(copy.0, copy.1).expect("it is there");
            while !way.run(1_000) {}
            prop_assert_eq!(way.simulation().trace().digest(), played(branch.steps(), branch.end).trace().digest());
        }
    }

    /// Undo and redo, in pairs, change nothing.
    #[test]
    fn undo_then_redo_is_nothing(deeds in prop::collection::vec(deed(), 1..15)) {
        let mut history = History::new(Scenario::self_healing());
        for deed in &deeds {
            carry_out(&mut history, deed);
        }
        // From the last command on, since undo leads there and redo to just after it.
        if history.undo().is_some() {
            history.redo();
            let (done, n) = (mark(&history), history.branches().len());
            history.undo();
            history.redo();
            prop_assert_eq!((mark(&history), history.branches().len()), (done, n));
        }
    }
}
