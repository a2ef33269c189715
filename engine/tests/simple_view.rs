//! The simple view's four lines of code are what the ReplicaSet's turns really found and did.

use loopscope_engine::api::Kind;
use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::view::{self, Convergence, Phase, SimpleView};
use loopscope_engine::world::{Command, Instant, Scenario, Simulation};

fn values(view: &SimpleView) -> [String; 4] {
    view.lines.each_ref().map(|line| line.value.plain())
}

fn healthy() -> Simulation {
    let mut simulation = Simulation::new(Scenario::self_healing());
    assert!(simulation.run_until(Time(60_000), 1_000_000));
    assert_eq!(view::frame(&simulation).summary.convergence, Convergence::Converged);
    simulation
}

/// Steps until the view is so; events without end fail.
#[track_caller]
fn until(simulation: &mut Simulation, is_so: impl Fn(&SimpleView) -> bool) -> SimpleView {
    for _ in 0..500 {
        let view = view::simple(simulation, None);
        if is_so(&view) {
            return view;
        }
        assert!(simulation.step(Millis(60_000)));
    }
    panic!("it never is so: {:?}", view::simple(simulation, None));
}

#[test]
fn before_anything_happened_no_line_is_filled_or_lit() {
    let simulation = Simulation::new(Scenario::self_healing());
    let view = view::simple(&simulation, None);
    assert_eq!(values(&view), ["", "", "", ""]);
    assert_eq!((view.lit, view.seqs, view.victim), (None, [0; 3], None));
    assert_eq!((view.target.unwrap().kind, view.replicas), (Kind::Deployment, 3));
}

#[test]
fn after_a_deletion_the_lines_fill_one_phase_after_the_other_and_heal() {
    let mut simulation = healthy();
    let still = view::simple(&simulation, None);
    assert_eq!(values(&still), ["3", "3", "3 = 3", ""]);
    assert_eq!((still.lit, still.lines[3].note.as_str()), (None, "no step"));

    let victim = still.victim.unwrap();
    assert_eq!(victim.kind, Kind::Pod);
    assert!(simulation.dispatch(Command::delete((&victim).into())).is_ok());
    let seen = until(&mut simulation, |view| view.lit == Some(Phase::Observe));
    assert_eq!(values(&seen), ["3", "2", "", ""]);
    assert!(seen.lines[0].note.starts_with("spec.replicas of web-"), "{seen:?}");
    assert_eq!(seen.lines[1].note, "1 stopping, not counted");

    let differs = until(&mut simulation, |view| view.lit == Some(Phase::Diff));
    assert_eq!(values(&differs), ["3", "2", "3 − 2 = +1", ""]);
    assert_eq!(differs.lines[3].note, "");

    let acts = until(&mut simulation, |view| view.lit == Some(Phase::Act));
    assert_eq!(values(&acts), ["3", "2", "3 − 2 = +1", "create 1 pod"]);
    assert!(acts.seqs[0] < acts.seqs[1] && acts.seqs[1] < acts.seqs[2], "{acts:?}");
    assert_eq!(view::telling_seq(&simulation), acts.seqs[2]);

    // The turn goes on to its status: that is no step, and the step stays readable.
    let reports = until(&mut simulation, |view| view.lit.is_none());
    assert_eq!(values(&reports), values(&acts));
    assert_eq!(reports.seqs, acts.seqs);
    assert_eq!(view::telling_seq(&simulation), acts.seqs[1], "a report tells of no difference");

    let even = until(&mut simulation, |view| view.lines[2].value.plain() == "3 = 3");
    assert_eq!(even.lines[3].value.plain(), "");
    assert_eq!(view::telling_seq(&simulation), 0, "nothing to linger on");
    simulation.run_until(Time(simulation.now().0 + 60_000), 1_000_000);
    assert_eq!(view::frame(&simulation).summary.convergence, Convergence::Converged);
}

#[test]
fn the_selected_pod_is_the_one_to_delete_while_it_lives() {
    let mut simulation = healthy();
    let pods = view::frame(&simulation).map.nodes.into_iter().flat_map(|node| node.pods);
    let first = view::simple(&simulation, None).victim.unwrap();
    let other = pods.map(|pod| pod.key).find(|key| *key != first).unwrap();
    assert_eq!(view::simple(&simulation, Some(&other)).victim.as_ref(), Some(&other));
    assert!(simulation.dispatch(Command::delete((&other).into())).is_ok());
    assert_eq!(view::simple(&simulation, Some(&other)).victim, Some(first.clone()));
    let deployment = view::first_key(&simulation).unwrap();
    assert_eq!(view::simple(&simulation, Some(&deployment)).victim, Some(first));
}

#[test]
fn a_node_with_pods_is_the_one_to_break_and_then_the_one_to_mend() {
    let mut simulation = healthy();
    let view = view::simple(&simulation, None);
    assert!(!view.is_broken);
    let map = view::frame(&simulation).map;
    assert!(map.nodes.iter().any(|node| *node.key.name == view.node && !node.pods.is_empty()));
    assert!(simulation.dispatch(Command::StopNode { node: view.node.clone() }).is_ok());
    let broken = view::simple(&simulation, None);
    assert_eq!((&broken.node, broken.is_broken), (&view.node, true));
}

/// Two quick presses: the loop was woken by the first, and did what the second asks for.
#[test]
fn the_newest_command_that_led_to_it_is_why() {
    let mut simulation = healthy();
    let target = view::simple(&simulation, None).target.unwrap();
    for replicas in [4, 5] {
        assert!(simulation.dispatch(Command::Scale { target: (&target).into(), replicas }).is_ok());
    }
    let mut whys = Vec::new();
    while simulation.step_to_act(Millis(2_000)) {
        let now = view::now_line(&simulation).unwrap();
        whys.push(now.because.rsplit_once(',').map(|(why, _)| why.to_owned()).unwrap_or(now.because));
    }
    whys.dedup();
    assert_eq!(whys, ["because you set replicas 5 on web"]);
}

/// Where one loop is shown, Act stops where its code takes the step, not where some other loop acts.
#[test]
fn the_next_act_is_the_shown_codes_own_step() {
    let mut simulation = healthy();
    let goal = view::code_step(&simulation);
    let next = |simulation: &mut Simulation, seconds: u64| {
        let within = Instant::end_of(simulation.now() + Millis::from_secs(seconds));
        simulation.step_to(&goal, within)
    };
    let victim = view::simple(&simulation, None).victim.unwrap();
    assert!(simulation.dispatch(Command::delete((&victim).into())).is_ok());
    assert!(next(&mut simulation, 10));
    let seen = view::simple(&simulation, None);
    assert_eq!((seen.lit, seen.lines[3].value.plain().as_str()), (Some(Phase::Act), "create 1 pod"));
    assert_eq!(view::now_line(&simulation).unwrap().seq, seen.seqs[2], "nobody has done anything since");
    assert!(!next(&mut simulation, 30), "the scheduler and the kubelet act, and statuses are written");
    let target = seen.target.unwrap();
    assert!(simulation.dispatch(Command::Scale { target: (&target).into(), replicas: 5 }).is_ok());
    assert!(next(&mut simulation, 10));
    assert!(view::simple(&simulation, None).lines[3].value.plain().starts_with("create "));
}
