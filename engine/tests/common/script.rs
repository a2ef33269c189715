//! Runs for comparing traces: one with a bit of everything, and a journal for each controller. Here twice, and natively
//! with WebAssembly.
//!
//! The page's browser tests include this file as well.

#![allow(dead_code)]

use loopscope_engine::api::{Kind, Object};
use loopscope_engine::history::History;
use loopscope_engine::share::{Handed, Moment, read_file, write_moment_file};
use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::world::{Command, Instant, Scenario, Simulation, Target, read_journal};

macro_rules! journals {
    ($($name:literal)*) => {
        /// Each name with its journal. `$pod` in a command is the first pod there is.
        const JOURNALS: &[(&str, &str)] = &[$(($name, include_str!(concat!("../data/journals/", $name, ".txt"))),)*];
    };
}

journals! {
    "deployment"
    "recreate"
    "replicaset"
    "scheduler"
    "kubelet"
    "nodes"
    "pod-collector"
    "garbage-collector"
    "endpointslice"
    "disruption"
    "namespaces"
    "quota"
    "job"
    "statefulset"
    "daemonset"
    "processes"
    "autoscaler"
    "level-edge"
    "faults"
    "thermostat"
    "imperative"
    "gitops"
    "infrastructure"
}

/// The digests of all runs, one line a stage.
pub fn run() -> String {
    let mut lines = everything();
    for (index, (name, journal)) in JOURNALS.iter().enumerate() {
        lines.push_str(&written(&play(name, journal, 100 + index as u64).0));
    }
    lines
}

/// The lines of [`run`] from the journals on, in other ways: each run is written into a file, read from it, played to its
/// end, and then each stage is gone back to, the last first.
pub fn travel() -> String {
    let mut all = String::new();
    for (index, (name, journal)) in JOURNALS.iter().enumerate() {
        let (stages, end) = play(name, journal, 100 + index as u64);
        let (scenario, steps, digest) = (end.scenario().clone(), end.journal().to_vec(), end.trace().digest());
        let sent = Moment { scenario, steps, at: end.instant(), selected: None, digest };
        let Ok(Handed::Moment(moment)) = read_file(&write_moment_file(&sent)) else { panic!("{name} is lost") };
        assert!(moment == sent, "{name} has changed on its way");
        let mut history = History::of(moment.scenario, moment.steps, Instant::default());
        while !history.run_to(moment.at, 10_000, &mut Vec::new()) {}
        let mut lines = Vec::new();
        for (at, _) in stages.iter().rev() {
            history.seek(*at);
            lines.push((*at, line(name, history.simulation())));
        }
        lines.reverse();
        all.push_str(&written(&lines));
    }
    all
}

fn written(stages: &[(Instant, String)]) -> String {
    stages.iter().map(|(_, line)| line.as_str()).collect()
}

/// Where a run has come to.
fn line(name: &str, simulation: &Simulation) -> String {
    let (at, trace) = (simulation.now().0, simulation.trace());
    format!("{name} {at} {} {:016x}\n", trace.last_seq().0, trace.digest())
}

pub fn names() -> impl Iterator<Item = &'static str> {
    JOURNALS.iter().map(|(name, _)| *name)
}

/// The world at the end of a journal.
pub fn end_of(name: &str) -> Simulation {
    let index = JOURNALS.iter().position(|(it, _)| *it == name).expect("there is such a journal");
    play(name, JOURNALS[index].1, 100 + index as u64).1
}

/// Plays a journal and then a minute more. A line for each time at which something was done.
fn play(name: &str, journal: &str, seed: u64) -> (Vec<(Instant, String)>, Simulation) {
    let mut simulation = Simulation::new(Scenario::empty(seed));
    let mut stages = Vec::new();
    let mut stage = |simulation: &Simulation| stages.push((simulation.instant(), line(name, simulation)));
    for entry in read_journal(journal).expect("the journal can be read") {
        if entry.at > simulation.now() {
            stage(&simulation);
        }
        assert!(simulation.run_until(entry.at, 10_000_000));
        let text = entry.command.to_string();
        let pod = if text.contains("$pod") { first_pod(&simulation).name } else { String::new() };
        let command = text.replace("$pod", &pod).parse().expect("a command");
        let outcome = simulation.dispatch(command);
        // What is refused is part of the course where a journal asks for it.
        assert!(outcome.is_ok() || MAY_BE_REFUSED.contains(&name), "{name}: {text}: {outcome:?}");
    }
    stage(&simulation);
    let end = simulation.now() + Millis(60_000);
    assert!(simulation.run_until(end, 10_000_000));
    stage(&simulation);
    (stages, simulation)
}

/// Evictions against a budget, and what is asked of a namespace that goes.
const MAY_BE_REFUSED: [&str; 2] = ["disruption", "namespaces"];

/// The trace's digest after each stage of a run with a bit of everything.
fn everything() -> String {
    let mut simulation = Simulation::new(Scenario::self_healing());
    let mut lines = String::new();
    let mut stage = |simulation: &mut Simulation, name: &str, ms: u64| {
        let until = simulation.now() + Millis(ms);
        assert!(simulation.run_until(until, 10_000_000));
        let trace = simulation.trace();
        lines.push_str(&format!("{name} {} {:016x}\n", trace.last_seq().0, trace.digest()));
    };
    let web = Target { kind: Kind::Deployment, namespace: "default".into(), name: "web".into() };
    stage(&mut simulation, "created", 20_000);
    simulation.dispatch(Command::delete(first_pod(&simulation)));
    stage(&mut simulation, "deleted", 10_000);
    simulation.dispatch(Command::Scale { target: web.clone(), replicas: 7 });
    stage(&mut simulation, "scaled", 3_000);
    simulation.dispatch(Command::SetImage {
        target: web.clone(),
        container: "nginx".into(),
        image: "nginx:1.28".into(),
    });
    stage(&mut simulation, "rolling", 4_000);
    simulation.dispatch(Command::StopNode { node: "node-2".into() });
    stage(&mut simulation, "node lost", 420_000);
    simulation.dispatch(Command::StartNode { node: "node-2".into() });
    simulation.dispatch(Command::Apply { manifest: "kind: Nonsense\n".into() });
    simulation.dispatch(Command::Scale { target: web, replicas: 2 });
    stage(&mut simulation, "node back", 60_000);
    lines
}

fn first_pod(simulation: &Simulation) -> Target {
    let pod = simulation.api().objects().of_kind(Kind::Pod).next().map(Object::key);
    pod.as_ref().map(Target::from).expect("the Deployment has pods")
}

/// A step-by-step run is the same run: events do not depend on how far one call lets time go.
pub fn digest_in_small_steps(step: u64, until: u64) -> u64 {
    let mut simulation = Simulation::new(Scenario::self_healing());
    while simulation.now() < Time(until) {
        let next = Time((simulation.now().0 + step).min(until));
        simulation.run_until(next, 1_000_000);
    }
    simulation.trace().digest()
}
