//! Two worlds of one seed that differ in how their ReplicaSet controllers listen: the second one follows the history of
//! the first.

#[path = "common/play.rs"]
mod play;

use loopscope_engine::api::Kind;
use loopscope_engine::history::{History, Twin};
use loopscope_engine::sim::Millis;
use loopscope_engine::view::{self, RunState, TwinSide, Verdict};
use loopscope_engine::world::{Command, Instant, Listed, Scenario, Simulation};
use play::{n_ready, names, pods};

const MANAGER: &str = "kube-controller-manager";

struct Both {
    history: History,
    twin: Twin,
}

impl Both {
    fn new() -> Self {
        let history = History::new(Scenario::self_healing());
        let twin = Twin::edge_triggered(history.simulation().scenario().clone());
        Self { history, twin }
    }

    fn follow(&mut self) {
        while !self.twin.follow(&self.history, 1_000) {}
        assert_eq!(self.twin.simulation().now(), self.history.simulation().now());
    }

    fn pass(&mut self, ms: u64) {
        let until = self.history.simulation().now() + Millis(ms);
        while !self.history.run_until(until, 10_000) {}
        self.follow();
    }

    #[track_caller]
    fn command(&mut self, text: &str) {
        let outcome = self.history.dispatch(text.parse().expect("a command"));
        assert!(outcome.is_ok(), "{text}: {outcome:?}");
        self.follow();
    }

    fn delete(&mut self, n: usize) {
        let victims = names(&pods(self.history.simulation()));
        victims[..n].iter().for_each(|name| self.delete_pod(name));
    }

    #[track_caller]
    fn delete_pod(&mut self, name: &str) {
        let outcome = self.history.dispatch(Command::delete(play::target(Kind::Pod, name)));
        assert!(outcome.is_ok(), "{name}: {outcome:?}");
        self.follow();
    }

    /// Controller down, two pods deleted, ten minutes, controller back.
    fn away(&mut self) {
        self.command(&format!("controller stop {MANAGER}"));
        self.delete(2);
        self.pass(600_000);
        self.command(&format!("controller start {MANAGER}"));
        self.pass(60_000);
    }

    fn sides(&self) -> [TwinSide; 2] {
        [view::twin_side(self.history.simulation()), view::twin_side(self.twin.simulation())]
    }

    fn digests(&self) -> (u64, u64) {
        (self.history.simulation().trace().digest(), self.twin.simulation().trace().digest())
    }
}

fn begun() -> Both {
    let mut both = Both::new();
    both.pass(30_000);
    both
}

#[test]
fn while_both_hear_everything_they_are_the_same_world() {
    let mut both = begun();
    let of = |it: &Simulation| (n_ready(it), names(&pods(it)));
    assert_eq!(of(both.history.simulation()), of(both.twin.simulation()));
    both.delete(1);
    both.pass(30_000);
    assert_eq!(of(both.history.simulation()), of(both.twin.simulation()));
    let [level, edge] = both.sides();
    assert_eq!((level.verdict, edge.verdict), (Verdict::Converged, Verdict::Converged));
    assert_eq!((level.is_edge, edge.is_edge, level.n_missed, edge.n_missed), (false, true, 0, 0), "{:?}", edge.missed);
    assert!([level, edge].iter().all(|it| it.row.as_ref().is_some_and(|row| row.turns > 3 && row.cells[0].is_some())));
}

#[test]
fn two_deletions_that_nobody_tells_heal_on_one_side_only() {
    let mut both = begun();
    both.command(&format!("controller stop {MANAGER}"));
    both.delete(2);
    both.pass(60_000);
    let [level, edge] = both.sides();
    assert_eq!((level.verdict, edge.verdict, level.is, edge.is), (Verdict::Away, Verdict::Away, 1, 1));
    both.pass(540_000);
    both.command(&format!("controller start {MANAGER}"));
    both.pass(60_000);
    let [level, edge] = both.sides();
    assert_eq!((level.want, level.is, level.words.as_str()), (3, 3, "Converged"));
    assert_eq!((edge.want, edge.is, edge.words.as_str()), (3, 1, "Stuck: counts 3, there is 1"));
    for side in [&level, &edge] {
        assert_eq!(side.n_missed, 2);
        assert!(side.missed.iter().all(|it| it.is_deletion && !it.is_twice), "{:?}", side.missed);
    }
    let why = view::twin_why(both.history.simulation()).expect("something happened");
    assert!(why.sentence.contains("looked and found 1 and wanted 3: 3 − 1 = +2"), "{}", why.sentence);
    assert_eq!(why.links[0].text, format!("You started {MANAGER}"));
    let why = view::twin_why(both.twin.simulation()).expect("something happened");
    assert_eq!(
        why.sentence,
        "It wants 3 and counts 3. It does not look at what is there. 2 deletions it never heard of."
    );
    assert!(why.links.iter().any(|it| it.text.contains("was not told what happened meanwhile")), "{:#?}", why.links);
    both.pass(3_600_000);
    assert_eq!(both.sides().map(|it| it.is), [3, 1], "nothing ever tells it");
}

/// What one of the two alone has is meant for what the other has in its place.
#[test]
fn a_deletion_reaches_both_also_where_their_pods_have_parted() {
    let mut both = begun();
    both.away();
    let only_here = pods(both.history.simulation()).into_iter().max_by_key(|pod| pod.metadata.creation_timestamp);
    let name = only_here.expect("a pod").metadata.name.to_string();
    assert!(play::pod(both.twin.simulation(), &name).is_none());
    both.delete_pod(&name);
    both.pass(60_000);
    let [level, edge] = both.sides();
    assert_eq!((level.is, edge.is), (3, 1), "it hears this one, and makes up for this one");
    assert_eq!(pods(both.twin.simulation()).len(), 1);
}

#[test]
fn relisting_heals_the_second_and_changes_nothing_for_the_first() {
    let mut both = begun();
    both.command(&format!("controller relist-on {MANAGER}"));
    both.away();
    let [level, edge] = both.sides();
    assert_eq!((level.is, edge.is, edge.verdict), (3, 3, Verdict::Converged));
    assert!(edge.switches.relists && level.switches.is_up && level.switches.expects && level.switches.retries);
}

#[test]
fn an_event_that_comes_twice_is_counted_twice() {
    let mut both = begun();
    both.command(&format!("watch duplicate {MANAGER} --next=1 --type=deleted"));
    both.delete(1);
    both.pass(400_000);
    let [level, edge] = both.sides();
    assert_eq!((level.is, edge.is), (3, 4));
    assert!(edge.missed.iter().any(|it| it.is_twice), "{:?}", edge.missed);
    let why = view::twin_why(both.twin.simulation()).expect("something happened");
    assert!(why.sentence.ends_with("1 event it heard twice."), "{}", why.sentence);
}

/// Undo, another future, and the same history played again elsewhere: the second world is always a function of the first
/// one's history.
#[test]
fn it_follows_wherever_the_history_goes() {
    let mut both = begun();
    both.away();
    let (end, at) = (both.digests(), both.history.simulation().instant());
    both.history.undo();
    both.follow();
    assert_eq!(both.sides().map(|it| it.is), [1, 1], "before the controller was back");
    both.history.seek(at);
    both.follow();
    assert_eq!(both.digests(), end);
    // In pieces, from the beginning, with everything to come.
    let steps = both.history.branch(both.history.current()).expect("it is there").steps().to_vec();
    let mut other = Both::new();
    other.history = History::of(Scenario::self_healing(), steps, Instant::default());
    while other.history.simulation().now() < at.at {
        other.pass(7_001.min(at.at.0 - other.history.simulation().now().0));
    }
    assert_eq!(other.digests().1, end.1);
    // In another future the controller stays up.
    both.history.seek(Instant::end_of(loopscope_engine::sim::Time(20_000)));
    both.follow();
    both.delete(2);
    both.pass(60_000);
    assert_eq!(both.sides().map(|it| (it.is, it.n_missed)), [(3, 0), (3, 0)]);
    both.history.open(loopscope_engine::history::BranchId(0), at);
    both.follow();
    assert_eq!(both.digests(), end);
}

#[test]
fn where_nothing_asks_for_pods_there_is_nothing_to_say() {
    let mut history = History::new(Scenario::thermostat());
    let mut twin = Twin::edge_triggered(Scenario::thermostat());
    while !history.run_until(loopscope_engine::sim::Time(600_000), 10_000) {}
    while !twin.follow(&history, 10_000) {}
    let side = view::twin_side(twin.simulation());
    assert_eq!((side.verdict, side.words.as_str()), (Verdict::Empty, "Nothing asks for pods"));
    assert!(view::twin_why(history.simulation()).is_none());
}

/// The orders beside a wish, as the page tells of them.
#[test]
fn runs_are_told_with_what_came_of_them() {
    let mut simulation = Simulation::new(Scenario::empty(1));
    play::run_for(&mut simulation, 1_000);
    let mut run = |text: &str| {
        assert!(simulation.dispatch(text.parse().expect("a command")).is_ok(), "{text}");
        assert!(simulation.dispatch(Command::Apply { manifest: view::WISH.to_owned() }).is_ok());
        play::run_for(&mut simulation, 20_000);
        view::orders(&simulation)
    };
    let first = run("script run start-3 --by=Ana --crash-after=2");
    assert_eq!((first.ordered, first.declared, first.n_applied, first.wants), (2, 3, 1, Some(3)));
    assert_eq!((first.runs[0].started, first.runs[0].state), (2, RunState::Crashed));
    let second = run("script run start-3 --by=Ana");
    assert_eq!((second.ordered, second.declared, second.n_applied, second.n_runs), (5, 3, 2, 2));
    assert_eq!(second.runs.iter().map(|it| it.state).collect::<Vec<_>>(), [RunState::Crashed, RunState::Done]);
    let third = run("script run start-3 --by=Bo");
    assert_eq!((third.ordered, third.declared, third.runs[2].by.as_str(), third.runs[2].started), (8, 3, "Bo", 3));
}

#[test]
fn every_scenario_of_the_list_is_found_by_both_of_its_names() {
    for Listed { id, name, begin } in Scenario::CATALOG {
        let scenario = begin();
        assert_eq!(scenario.name, name);
        assert_eq!(Scenario::called(id).as_ref(), Some(&scenario), "{id}");
        assert_eq!(Scenario::built_in(name).as_ref(), Some(&scenario), "{name}");
    }
    assert!(Scenario::called("nothing").is_none());
}
