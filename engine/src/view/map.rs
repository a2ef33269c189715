//! Where the pods are.

use super::crowd::{Tally, crowd, pod_row};
use super::outlook::{message, silence};
use super::pods::row;
use super::stuck::homeless_because;
use super::{
    Capacity, Counts, Crowd, Listing, MapLook, MapView, NodeCard, NodeClass, NodeFaults, PodRow, owners, truth,
};
use crate::api::{Kind, Name, Node, Object, ObjectKey, Pod};
use crate::apiserver::Verb;
use crate::sim::sort_by;
use crate::world::Simulation;

/// From so many pods on they are drawn as bare shapes.
pub const CROWD_FROM: usize = 150;

/// Past this a heartbeat is late, in ms: they come every 10 s.
const LATE_MS: i64 = 12_000;

pub fn map(simulation: &Simulation, look: MapLook) -> MapView {
    let is_crowd = is_crowd(simulation);
    if is_crowd && look == MapLook::default() {
        return crowded(simulation);
    }
    let mut map = spread(simulation, look);
    if is_crowd {
        shrink(&mut map);
        (map.nodes, map.unscheduled) = (Vec::new(), Vec::new());
    }
    map
}

/// Adds the bare shapes of what is told in words.
fn shrink(map: &mut MapView) {
    map.crowd = Crowd::of(&map.nodes, &map.unscheduled);
    map.is_crowd = true;
}

/// All pods in words, however many.
fn spread(simulation: &Simulation, look: MapLook) -> MapView {
    let objects = simulation.api().objects();
    let arriving = arriving(simulation);
    let all = objects.of_kind(Kind::Node).filter_map(Object::as_node);
    let mut nodes: Vec<NodeCard> = all.map(|node| card(simulation, node, look.truth)).collect();
    let strays: Vec<Name> = if look.truth { truth::strays(simulation) } else { Vec::new() };
    nodes.extend(strays.iter().map(|name| stray_card(simulation, name)));
    sort_by(&mut nodes, |a, b| node_order(&a.key.name).cmp(&node_order(&b.key.name)));
    let is_homeless = |pod: &&std::rc::Rc<Pod>| {
        let node = &pod.spec.node_name;
        !pod.is_assigned() || (objects.get(&ObjectKey::node(node.clone())).is_none() && !strays.contains(node))
    };
    let mut unscheduled: Vec<PodRow> = Vec::new();
    let homeless = || objects.of_kind(Kind::Pod).filter_map(Object::as_pod).filter(is_homeless);
    let mut message = homeless_because(homeless().map(|pod| &**pod));
    for pod in homeless() {
        let mut row = row(simulation, pod, None, false);
        row.arriving_at = arriving.iter().find(|(key, _)| *key == row.key).map(|(_, node)| node.to_string());
        unscheduled.push(row);
    }
    by_name(&mut unscheduled);
    if look.by_owner {
        let placed = nodes.into_iter().flat_map(|node| node.pods);
        nodes = owners::group(simulation, placed.chain(std::mem::take(&mut unscheduled)).collect());
        message = None;
    }
    let all = || nodes.iter().flat_map(|node| &node.pods).chain(&unscheduled);
    let (n_pods, counts) = (all().count(), count(all()));
    let (is_crowd, crowd) = (false, Crowd::default());
    MapView { nodes, unscheduled, unscheduled_message: message, n_pods, counts, is_crowd, crowd }
}

pub fn is_crowd(simulation: &Simulation) -> bool {
    simulation.api().objects().of_kind(Kind::Pod).nth(CROWD_FROM - 1).is_some()
}

fn crowded(simulation: &Simulation) -> MapView {
    let (crowd, unscheduled_message) = crowd(simulation);
    let (n_pods, counts) = (crowd.n_pods(), crowd.counts());
    let (nodes, unscheduled) = (Vec::new(), Vec::new());
    MapView { nodes, unscheduled, unscheduled_message, n_pods, counts, is_crowd: true, crowd }
}

/// A crowd with some of its pods in words: of those that are listed `n` after the first `from`. Also returns how many are
/// listed in all.
pub fn listed(simulation: &Simulation, look: MapLook, list: &Listing, from: usize, n: usize) -> (MapView, usize) {
    if look == MapLook::default() && list.is_plain() {
        let map = page(simulation, from, n);
        let all = map.n_pods;
        return (map, all);
    }
    let mut map = spread(simulation, look);
    shrink(&mut map);
    let all = list.cut(&mut map, from, n);
    (map, all)
}

/// A crowd with some of its pods in words: `n` of them after the first `from`, on the nodes that they are on.
pub fn page(simulation: &Simulation, from: usize, n: usize) -> MapView {
    let mut map = crowded(simulation);
    let mut range = from..from + n;
    for flock in &map.crowd.flocks {
        let here = range.start.min(flock.pods.len())..range.end.min(flock.pods.len());
        range = range.start - here.start..range.end - here.end;
        if here.is_empty() {
            continue;
        }
        let node = flock.key.as_ref().and_then(|key| simulation.api().objects().get(key)?.as_node());
        let shown = flock.pods.get(here).unwrap_or_default();
        let rows = shown.iter().filter_map(|dot| pod_row(simulation, dot.uid)).collect();
        match node {
            Some(node) => map.nodes.push(NodeCard { pods: rows, ..bare_card(simulation, node) }),
            None => map.unscheduled = rows,
        }
    }
    map
}

pub(super) fn count<'a>(rows: impl Iterator<Item = &'a PodRow>) -> Counts {
    let mut tally = Tally::default();
    rows.for_each(|row| tally.add(row.class, 1));
    tally.counts()
}

/// What is really so with a node.
pub fn faults(simulation: &Simulation, node: &Node) -> NodeFaults {
    let name = &node.metadata.name;
    NodeFaults {
        is_stopped: simulation.machines().get(name).is_some_and(|machine| !machine.is_on),
        is_cut: simulation.is_cut(name),
        is_cordoned: node.spec.unschedulable,
    }
}

pub(super) fn by_name(rows: &mut Vec<PodRow>) {
    sort_by(rows, |a, b| a.key.name.cmp(&b.key.name));
}

/// A name with the number at its end as a number: `node-2` comes before `node-10`.
pub fn node_order(name: &str) -> (&str, u64, &str) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (stem, name[stem.len()..].parse().unwrap_or(0), name)
}

/// Pods whose binding is on its way, with the node.
fn arriving(simulation: &Simulation) -> Vec<(ObjectKey, Name)> {
    let requests = simulation.requests_in_flight();
    requests
        .filter_map(|(_, request)| match &request.verb {
            Verb::Bind(key, node) => Some((key.clone(), node.clone())),
            _ => None,
        })
        .collect()
}

pub fn node_class(node: &Node) -> NodeClass {
    match node.readiness() {
        "Unknown" => NodeClass::Unreachable,
        "False" => NodeClass::NotReady,
        _ if node.spec.unschedulable => NodeClass::Cordoned,
        _ => NodeClass::Ready,
    }
}

fn card(simulation: &Simulation, node: &Node, truth: bool) -> NodeCard {
    let pods = simulation.api().objects().pods_on(&node.metadata.name);
    let mut pods: Vec<PodRow> = pods.map(|pod| row(simulation, pod, Some(node), false)).collect();
    by_name(&mut pods);
    let mut card = NodeCard { pods, ..bare_card(simulation, node) };
    if truth {
        truth::reveal(simulation, node, &mut card);
    }
    card.counts = count(card.pods.iter());
    card
}

/// A machine that is on, and of which the API server knows nothing: it has a card only where the truth is shown.
fn stray_card(simulation: &Simulation, name: &Name) -> NodeCard {
    let mut node = Node::default();
    node.metadata.name = name.clone();
    let mut card = card(simulation, &node, true);
    (card.reported, card.last_heard) = (Some("no Node object".into()), None);
    card.message = Some("The API server has no Node of this name: it gets no new pods.".into());
    card
}

/// A node without its pods.
fn bare_card(simulation: &Simulation, node: &Node) -> NodeCard {
    let objects = simulation.api().objects();
    let name = &node.metadata.name;
    let class = node_class(node);
    let word = match (class, node.spec.unschedulable) {
        (NodeClass::Ready, _) => "Ready",
        (NodeClass::NotReady, false) => "NotReady",
        (NodeClass::NotReady, true) => "NotReady, cordoned",
        (NodeClass::Unreachable, false) => "Unreachable",
        (NodeClass::Unreachable, true) => "Unreachable, cordoned",
        (NodeClass::Cordoned, _) => "Cordoned",
    };
    let silence = silence(simulation, node);
    let last_heard = (silence > LATE_MS).then(|| format!("last heard {} s ago", silence / 1000));
    let usage = objects.usage(name);
    let mebi = 1024 * 1024;
    NodeCard {
        key: ObjectKey::node(name.clone()),
        owner: None,
        class,
        word: word.into(),
        reported: None,
        faults: faults(simulation, node),
        last_heard,
        cpu: Capacity { used: usage.cpu_milli, total: node.allocatable("cpu").milli() },
        memory: Capacity { used: usage.memory_bytes / mebi, total: node.allocatable("memory").units() / mebi },
        counts: Vec::new(),
        pods: Vec::new(),
        message: message(simulation, node, class),
    }
}
