//! What there really is on a machine, beside what the API server believes.
//!
//! A status is a report: a kubelet writes what it finds, and the API server keeps the last word it got. Here nobody
//! is asked: the containers themselves are looked at.

use super::{NodeCard, NodeClass, PodClass, PodRow};
use crate::api::{ContainerState, Name, Node, ObjectKey, Pod, Uid};
use crate::client::{ContainerRecord, PodRecord, Role};
use crate::environment::Machine;
use crate::sim::Time;
use crate::world::Simulation;

/// What a row of a pod that the API server has forgotten says.
const GONE: &str = "gone from the API server";

/// How many pods really run, how many the API server believes to run, and how many rows differ from its word.
#[derive(Default)]
pub struct Tally {
    really: usize,
    believed: usize,
    differ: usize,
}

/// The machines that are on although nobody has a Node object for them.
pub fn strays(simulation: &Simulation) -> Vec<Name> {
    let objects = simulation.api().objects();
    let is_stray = |name: &Name| objects.get(&ObjectKey::node(name.clone())).is_none();
    let all = simulation.machines().iter().filter(|(name, machine)| machine.is_on && is_stray(name));
    all.map(|(name, _)| name.clone()).collect()
}

/// Makes a node's card and its rows show what is really there.
pub fn reveal(simulation: &Simulation, node: &Node, card: &mut NodeCard) {
    let objects = simulation.api().objects();
    let machine = simulation.machines().get(&node.metadata.name);
    let mut tally = Tally::default();
    for row in &mut card.pods {
        if let Some(pod) = objects.pod(&row.key) {
            let record = machine.and_then(|machine| machine.runtime.pods.get(&row.uid)).map(|it| &**it);
            let is_on = machine.is_some_and(|machine| machine.is_on);
            let really = is_on && record.is_some_and(PodRecord::is_up);
            tally.really += usize::from(really);
            tally.believed += usize::from(is_believed(pod));
            let found = look(pod, record, is_on, row.class, simulation.now());
            tally.differ += usize::from(found.is_some());
            if let Some((class, word)) = found {
                mark(row, class, word, ["reported ", &row.word].concat());
            }
        }
    }
    let forgotten = machine.map(|machine| forgotten(simulation, node, machine)).unwrap_or_default();
    tally.really += forgotten.len();
    tally.differ += forgotten.len();
    card.pods.extend(forgotten);
    stand(simulation, card);
    if let Some(said) = said(&tally, card.class) {
        let before = card.message.take().map(|text| text + " ").unwrap_or_default();
        card.message = Some(before + &said);
    }
}

/// The API server's last word is that one of its containers runs.
fn is_believed(pod: &Pod) -> bool {
    pod.statuses().any(|it| matches!(it.state, ContainerState::Running(_)))
}

/// How a pod is drawn by what is on its machine, where that is not what is reported.
fn look(
    pod: &Pod,
    record: Option<&PodRecord>,
    is_on: bool,
    reported: PodClass,
    now: Time,
) -> Option<(PodClass, &'static str)> {
    let believed = is_believed(pod);
    let Some(record) = record else {
        let is_to_come = !pod.is_finished() && !pod.is_terminating();
        return (believed || is_to_come).then_some((PodClass::Pending, "No container"));
    };
    if !is_on {
        return (believed || !pod.is_finished()).then_some((PodClass::Pending, "Not running"));
    }
    if !record.is_up() {
        return (believed || reported == PodClass::Unknown).then(|| at_rest(record));
    }
    let (class, word) = alive(record, now);
    let agrees = match (class, reported) {
        (PodClass::Creating, PodClass::Creating) => true,
        // Why one of its containers does not run is a report that holds.
        (PodClass::NotReady, PodClass::CrashLoop | PodClass::ImageError | PodClass::Failed | PodClass::Creating) => {
            believed
        }
        _ => believed && class == reported,
    };
    (!agrees).then_some((class, word))
}

/// A pod with a container that runs.
fn alive(record: &PodRecord, now: Time) -> (PodClass, &'static str) {
    let stays = |it: &&ContainerRecord| it.role != Role::Init;
    let answers = |it: &ContainerRecord| it.is_up() && it.answers.is_ready(now);
    if record.is_stopping {
        (PodClass::Terminating, "Stopping")
    } else if !record.containers.iter().any(|it| it.role == Role::Main && it.is_up()) {
        (PodClass::Creating, "Creating")
    } else if record.containers.iter().filter(stays).all(answers) {
        (PodClass::Ready, "Ready")
    } else {
        (PodClass::NotReady, "Not ready")
    }
}

/// A pod none of whose containers runs.
fn at_rest(record: &PodRecord) -> (PodClass, &'static str) {
    match record.containers.iter().rev().find_map(ContainerRecord::exit) {
        Some(exit) if exit.code == 0 => (PodClass::Completed, "Ended"),
        Some(_) => (PodClass::Failed, "Ended"),
        None => (PodClass::Creating, "Creating"),
    }
}

fn mark(row: &mut PodRow, class: PodClass, word: &str, reported: String) {
    row.class = class;
    row.word = word.into();
    row.countdown = None;
    let node = if row.node.is_empty() { "no node" } else { row.node.as_str() };
    row.label = ["Pod ", &row.key.name, ", ", word, ", ", &reported, ", ", node].concat();
    row.reported = Some(reported);
}

/// Pods whose containers run here, and that the API server no longer knows.
fn forgotten(simulation: &Simulation, node: &Node, machine: &Machine) -> Vec<PodRow> {
    let objects = simulation.api().objects();
    let is_gone = |key: &ObjectKey, uid: Uid| objects.pod(key).is_none_or(|pod| pod.metadata.uid != uid);
    let all = machine.runtime.pods.iter().filter(|(uid, it)| machine.is_on && it.is_up() && is_gone(&it.key, **uid));
    all.map(|(uid, record)| {
        let (class, word) = alive(record, simulation.now());
        let (stem, tail) = super::pods::split_name(&record.key.name);
        let ready = record.containers.iter().filter(|it| it.is_up() && it.answers.is_ready(simulation.now())).count();
        let mut row = PodRow {
            uid: *uid,
            key: record.key.clone(),
            stem,
            tail,
            class,
            word: String::new(),
            countdown: None,
            status: "none".into(),
            ready: [ready.to_string(), record.containers.len().to_string()].join("/"),
            restarts: record.containers.iter().map(|it| it.restarts).sum(),
            is_yours: false,
            label: String::new(),
            arriving_at: None,
            node: node.metadata.name.clone(),
            owner: Default::default(),
            created_ms: record.created.0,
            reported: None,
            is_known: false,
        };
        mark(&mut row, class, word, GONE.into());
        row
    })
    .collect()
}

/// How the machine stands, where that is not what the Node object says.
fn stand(simulation: &Simulation, card: &mut NodeCard) {
    let faults = card.faults;
    let is_on = simulation.machines().get(&card.key.name).is_some();
    let word = match card.class {
        _ if faults.is_stopped => "Off",
        _ if faults.is_cut => "Cut off",
        NodeClass::Unreachable if is_on => "On",
        _ => return,
    };
    card.reported = Some(["reported ", &card.word].concat());
    card.word = word.into();
}

/// `2 pods are not as reported.`
pub fn differing(n: usize) -> String {
    if n == 1 { "1 pod is not as reported.".into() } else { format!("{n} pods are not as reported.") }
}

/// `Really runs 2 pods; the API server believes 3.`, where they are not the same or may not be.
fn said(tally: &Tally, class: NodeClass) -> Option<String> {
    let Tally { really, believed, differ } = tally;
    if *differ == 0 && really == believed {
        return None;
    }
    if really == believed && class != NodeClass::Unreachable {
        return Some(differing(*differ));
    }
    let pods = if *really == 1 { "pod" } else { "pods" };
    let last = if class == NodeClass::Unreachable { "last heard of" } else { "believes" };
    Some(format!("Really runs {really} {pods}; the API server {last} {believed}."))
}
