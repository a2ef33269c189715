//! Going to and fro in time at random, and the world played in one go to compare with.

#![allow(dead_code)]

use std::rc::Rc;

use loopscope_engine::api::{Kind, Object};
use loopscope_engine::history::History;
use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::world::{Command, Goal, Instant, JournalEntry, Scenario, Simulation, Target};
use proptest::prelude::*;

pub fn target(kind: Kind, name: &str) -> Target {
    Target { kind, namespace: "default".into(), name: name.into() }
}

pub fn scale(replicas: i32) -> Command {
    Command::Scale { target: target(Kind::Deployment, "web"), replicas }
}

pub fn pod_names(simulation: &Simulation) -> Vec<String> {
    simulation
        .api()
        .objects()
        .of_kind(Kind::Pod)
        .filter_map(Object::as_pod)
        .map(|it| it.metadata.name.to_string())
        .collect()
}

pub fn delete_pod(simulation: &Simulation, index: usize) -> Command {
    let names = pod_names(simulation);
    let target = target(Kind::Pod, names.get(index % names.len().max(1)).map_or("none", |it| it));
    Command::Delete { target, propagation: None, grace: None }
}

pub fn run(history: &mut History, ms: u64) {
    while !history.run_until(Time(ms), 1_000) {}
}

/// One thing that a person does, in any order.
#[derive(Clone, Debug)]
pub enum Deed {
    Run(u64),
    Scale(i32),
    DeletePod(usize),
    Node(u8, bool),
    Seek(u8),
    Step(u8),
    Back(u8),
    Undo,
    Redo,
    Without(usize),
    Open(usize),
}

pub fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        3 => (1u64..40_000).prop_map(Deed::Run),
        2 => (0i32..7).prop_map(Deed::Scale),
        2 => (0usize..5).prop_map(Deed::DeletePod),
        1 => (1u8..4, any::<bool>()).prop_map(|(node, on)| Deed::Node(node, on)),
        2 => (0u8..=100).prop_map(Deed::Seek),
        2 => (0u8..4).prop_map(Deed::Step),
        1 => (0u8..4).prop_map(Deed::Back),
        1 => Just(Deed::Undo),
        1 => Just(Deed::Redo),
        1 => (0usize..4).prop_map(Deed::Without),
        1 => (0usize..4).prop_map(Deed::Open),
    ]
}

pub fn goal(number: u8) -> Goal {
    [Goal::Event, Goal::Act, Goal::Turn, Goal::Write][usize::from(number % 4)].clone()
}

pub fn carry_out(history: &mut History, deed: &Deed) {
    match deed {
        Deed::Run(ms) => {
            let until = history.simulation().now().0 + ms;
            run(history, until);
        }
        Deed::Scale(replicas) => drop(history.dispatch(scale(*replicas))),
        Deed::DeletePod(index) => {
            let command = delete_pod(history.simulation(), *index);
            history.dispatch(command);
        }
        Deed::Node(number, true) => drop(history.dispatch(Command::StartNode { node: format!("node-{number}") })),
        Deed::Node(number, false) => drop(history.dispatch(Command::StopNode { node: format!("node-{number}") })),
        Deed::Seek(percent) => {
            let to = history.end().at.0 * u64::from(*percent) / 100;
            history.seek(Instant::end_of(Time(to)));
        }
        Deed::Step(number) => drop(history.step(&goal(*number), Millis(60_000))),
        Deed::Back(number) => {
            let back = history.last_met(&goal(*number));
            history.seek(back);
        }
        Deed::Undo => drop(history.undo()),
        Deed::Redo => drop(history.redo()),
        Deed::Without(index) => drop(history.without(*index)),
        Deed::Open(index) => {
            let branch = &history.branches()[index % history.branches().len()];
            let (id, end) = (branch.id, branch.end);
            history.open(id, end);
        }
    }
}

/// A world played from the beginning along a journal.
pub fn played(steps: &[Rc<JournalEntry>], to: Instant) -> Simulation {
    let mut simulation = Simulation::new(Scenario::self_healing());
    for (index, step) in steps.iter().enumerate().take_while(|(index, step)| to.includes(*index, step)) {
        simulation.run_to(Instant::before(index, step), usize::MAX);
        simulation.dispatch(step.command.clone());
    }
    simulation.run_to(to, usize::MAX);
    simulation
}
