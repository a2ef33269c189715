//! Cases of real life: what people are surprised by, and what really happens when.
//!
//! Each test is named by its case's id. `≈` figures of a case are windows here: what a period's phase decides is said.

#[path = "../common/play.rs"]
mod play;
#[path = "../common/rollout.rs"]
mod rollout;

mod autoscaling;
mod gitops;
mod infrastructure;
mod level_edge;
mod nodes;
mod rollouts;
mod self_healing;
mod traffic;

use std::rc::Rc;

use loopscope_engine::api::{Condition, Kind, Object, Pod, condition};
use loopscope_engine::client::What;
use loopscope_engine::sim::{Seq, Time};
use loopscope_engine::world::{Command, Scenario, Simulation};
use play::{apply, command, n_ready, pods, run_for, target, until, workload, world};

/// The Deployment `web` of `app:v1`, asked every second whether it is ready.
fn web(replicas: usize) -> String {
    workload("Deployment", "web", "app:v1", &format!("replicas: {replicas}"))
}

/// A world in which `web` has been ready for a while.
fn start(scenario: Scenario, replicas: usize) -> Simulation {
    let mut simulation = world(scenario);
    apply(&mut simulation, &web(replicas));
    until(&mut simulation, 10_000, |it| n_ready(it) == replicas);
    run_for(&mut simulation, 2_000);
    simulation
}

/// What a command was refused with.
#[track_caller]
fn refusal(simulation: &mut Simulation, command: Command) -> String {
    let outcome = simulation.dispatch(command);
    assert!(!outcome.is_ok(), "{outcome:?}");
    outcome.problems[0].message.clone()
}

fn uids(simulation: &Simulation) -> Vec<u128> {
    let mut all: Vec<u128> = pods(simulation).iter().map(|pod| pod.metadata.uid.0).collect();
    all.sort_unstable();
    all
}

fn on(simulation: &Simulation, node: &str) -> Vec<Rc<Pod>> {
    pods(simulation).into_iter().filter(|pod| *pod.spec.node_name == *node).collect()
}

fn terminating(simulation: &Simulation) -> usize {
    pods(simulation).iter().filter(|pod| pod.is_terminating()).count()
}

/// A condition of any object that has them.
fn condition_of(simulation: &Simulation, kind: Kind, name: &str, which: &str) -> Option<Condition> {
    let object = play::object(simulation, kind, name)?;
    let all = match &object {
        Object::Deployment(it) => &it.status.conditions,
        Object::ReplicaSet(it) => &it.status.conditions,
        Object::Node(it) => &it.status.conditions,
        Object::Pod(it) => &it.status.conditions,
        Object::Namespace(it) => &it.status.conditions,
        _ => return None,
    };
    condition(all, which).cloned()
}

/// `True NewReplicaSetAvailable`
fn state_of(simulation: &Simulation, kind: Kind, name: &str, which: &str) -> String {
    let found = condition_of(simulation, kind, name, which);
    found.map_or("none".into(), |it| format!("{} {}", it.status, it.reason).trim_end().to_string())
}

/// Writes since an event, without heartbeats.
fn writes_since(simulation: &Simulation, seq: Seq) -> Vec<String> {
    let newer = simulation.trace().events().filter(|event| event.seq > seq);
    let told = newer.filter_map(|event| match &event.what {
        What::Wrote { key, method, .. } if !matches!(key.kind, Kind::Lease | Kind::Node) => {
            Some(format!("{method} {key}"))
        }
        _ => None,
    });
    told.collect()
}

/// Pods that anybody has asked for since an instant and got.
fn created_since(simulation: &Simulation, since: Time) -> usize {
    play::course(simulation, since).iter().filter(|it| it.starts_with('+')).count()
}

fn set_power(simulation: &mut Simulation, nodes: &[&str], on: bool) {
    for node in nodes {
        command(simulation, &format!("node {} {node}", if on { "start" } else { "stop" }));
    }
}

fn evict(simulation: &Simulation) -> Command {
    Command::Evict { target: target(Kind::Pod, &pods(simulation)[0].metadata.name) }
}
