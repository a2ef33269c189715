//! Bring your own cluster: a dump becomes a world that stands as the cluster stood, and goes on from there.

#[path = "common/play.rs"]
mod play;

use std::rc::Rc;

use loopscope_engine::api::{Kind, Node, Object, ObjectKey, Pod, condition};
use loopscope_engine::client::What;
use loopscope_engine::dump::{self, Dump};
use loopscope_engine::sim::{Seq, Time};
use loopscope_engine::view;
use loopscope_engine::world::{Scenario, Simulation};
use play::{command, pods, run_for, until};

/// As `kubectl get … -A -o yaml --show-managed-fields` prints it.
const KUBECTL: &str = include_str!("data/dumps/kubectl.yaml");
/// It stands in environment values, Secrets, what was last applied, and all else that is nobody's business.
const CANARY: &str = "canary-7f3a9";
const MINUTE: u64 = 60_000;

fn read(text: &str) -> Dump {
    dump::read(text).unwrap_or_else(|error| panic!("{error}"))
}

fn world(text: &str) -> Simulation {
    Simulation::new(Scenario::of_dump(&read(text)))
}

fn last(simulation: &Simulation) -> Seq {
    simulation.trace().last_seq()
}

/// Writes and Events since an event, without what a cluster at rest writes: leases.
fn news(simulation: &Simulation, since: Seq) -> Vec<String> {
    let newer = simulation.trace().events().filter(|event| event.seq > since);
    let told = newer.filter_map(|event| match &event.what {
        What::Wrote { key, method, changed, .. } if key.kind != Kind::Lease => {
            Some(format!("{} {method} {key} {changed:?}", event.at))
        }
        What::Announced { .. } | What::Refused { .. } | What::Failed { .. } => {
            Some(format!("{} {:?}", event.at, event.what))
        }
        _ => None,
    });
    told.collect()
}

fn node(simulation: &Simulation, name: &str) -> Rc<Node> {
    let found = simulation.api().objects().get(&ObjectKey::node(name)).and_then(Object::as_node).cloned();
    found.expect("the node is there")
}

fn pod(simulation: &Simulation, namespace: &str, name: &str) -> Rc<Pod> {
    let key = ObjectKey::new(Kind::Pod, namespace, name);
    simulation.api().objects().pod(&key).cloned().unwrap_or_else(|| panic!("{key} is there"))
}

fn of<'a>(all: &'a [Rc<Pod>], app: &str) -> Vec<&'a Rc<Pod>> {
    all.iter().filter(|it| it.metadata.labels.get("app").is_some_and(|it| it == app)).collect()
}

#[test]
fn a_dump_of_kubectl_is_told_of_in_words() {
    let lines = read(KUBECTL).report.lines();
    assert_eq!(lines, [""; 0]);
}

#[test]
fn nothing_is_written_in_the_first_minute() {
    let mut simulation = world(KUBECTL);
    let began = last(&simulation);
    run_for(&mut simulation, MINUTE);
    assert_eq!(news(&simulation, began), [""; 0]);
    assert_eq!(simulation.api().events.iter().count(), 0);
}
