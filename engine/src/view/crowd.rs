//! A crowd: so many pods that each is a bare shape.

use super::map::{count, node_class, node_order};
use super::pods::{classify_on, row};
use super::stuck::homeless_because;
use super::{Counts, NodeCard, NodeClass, PodClass, PodRow};
use crate::api::{Kind, Node, Object, ObjectKey, Pod, Uid};
use crate::sim::sort_by;
use crate::world::Simulation;

/// A pod of a crowd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Dot {
    pub uid: Uid,
    pub class: PodClass,
}

/// Pods of a crowd under one heading.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Flock {
    /// What they are together on, or what made them; nothing for those that are on no node.
    pub key: Option<ObjectKey>,
    pub class: Option<NodeClass>,
    pub counts: Counts,
    pub pods: Vec<Dot>,
}

/// All pods, as a crowd.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Crowd {
    /// Nodes, or workloads, in their order; then what has no node.
    pub flocks: Vec<Flock>,
}

impl Crowd {
    /// The bare shapes of cards that were derived in full.
    pub fn of(cards: &[NodeCard], unscheduled: &[PodRow]) -> Self {
        let dots = |rows: &[PodRow]| rows.iter().map(|row| Dot { uid: row.uid, class: row.class }).collect();
        let counts = count(unscheduled.iter());
        let flock = |card: &NodeCard| {
            let class = card.owner.is_none().then_some(card.class);
            Flock { key: Some(card.key.clone()), class, counts: card.counts.clone(), pods: dots(&card.pods) }
        };
        let mut flocks: Vec<Flock> = cards.iter().map(flock).collect();
        flocks.push(Flock { key: None, class: None, counts, pods: dots(unscheduled) });
        Self { flocks }
    }

    pub fn n_pods(&self) -> usize {
        self.flocks.iter().map(|it| it.pods.len()).sum()
    }

    pub fn counts(&self) -> Counts {
        let mut tally = Tally::default();
        for (class, n) in self.flocks.iter().flat_map(|it| &it.counts) {
            tally.add(*class, *n);
        }
        tally.counts()
    }

    pub fn n_nodes(&self) -> usize {
        self.flocks.iter().filter(|it| it.key.is_some()).count()
    }
}

/// How many there are of each class.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally([usize; PodClass::ALL.len()]);

impl Tally {
    pub fn add(&mut self, class: PodClass, n: usize) {
        self.0[class as usize] += n;
    }

    pub fn of(&self, class: PodClass) -> usize {
        self.0[class as usize]
    }

    pub fn all(&self) -> usize {
        self.0.iter().sum()
    }

    /// Those that there are, the worst first.
    pub fn counts(&self) -> Counts {
        PodClass::ALL.into_iter().rev().map(|class| (class, self.of(class))).filter(|(_, n)| *n > 0).collect()
    }

    /// Each as often as it is there, the worst last.
    pub fn classes(&self) -> impl Iterator<Item = PodClass> + Clone {
        let tally = *self;
        PodClass::ALL.into_iter().flat_map(move |class| std::iter::repeat_n(class, tally.of(class)))
    }
}

/// Every pod, by its node, without anything that takes a sentence to say; and why those wait that have no node.
pub fn crowd(simulation: &Simulation) -> (Crowd, Option<String>) {
    let objects = simulation.api().objects();
    let mut nodes: Vec<&std::rc::Rc<Node>> = objects.nodes().map(|(node, _)| node).collect();
    sort_by(&mut nodes, |a, b| node_order(&a.metadata.name).cmp(&node_order(&b.metadata.name)));
    let mut flocks: Vec<Flock> = nodes
        .into_iter()
        .map(|node| {
            let name = &node.metadata.name;
            let key = Some(ObjectKey::node(name.clone()));
            flock(key, Some(node), objects.pods_on(name).map(|pod| &**pod).collect())
        })
        .collect();
    let is_all = flocks.iter().map(|it| it.pods.len()).sum::<usize>() == objects.n_pods();
    let mut waiting: Vec<&Pod> = Vec::new();
    if !is_all {
        let pods = objects.of_kind(Kind::Pod).filter_map(Object::as_pod);
        waiting.extend(pods.map(|pod| &**pod).filter(|pod| !pod.is_assigned()));
    }
    waiting.extend(objects.missing_nodes().flat_map(|name| objects.pods_on(name)).map(|pod| &**pod));
    let message = homeless_because(waiting.iter().copied());
    flocks.push(flock(None, None, waiting));
    (Crowd { flocks }, message)
}

fn flock(key: Option<ObjectKey>, node: Option<&Node>, mut pods: Vec<&Pod>) -> Flock {
    let mut tally = Tally::default();
    let is_silent = node.is_some_and(|node| node.readiness() == "Unknown");
    sort_by(&mut pods, |a, b| a.metadata.name.cmp(&b.metadata.name));
    let pods = pods
        .into_iter()
        .map(|pod| {
            let class = classify_on(pod, is_silent);
            tally.add(class, 1);
            Dot { uid: pod.metadata.uid, class }
        })
        .collect();
    Flock { key, class: node.map(node_class), counts: tally.counts(), pods }
}

/// One pod of a crowd, in words.
pub fn pod_row(simulation: &Simulation, uid: Uid) -> Option<PodRow> {
    let objects = simulation.api().objects();
    let pod = objects.of_kind(Kind::Pod).filter_map(Object::as_pod).find(|pod| pod.metadata.uid == uid)?;
    let node = super::pods::node_of(simulation, &pod.spec.node_name);
    Some(row(simulation, pod, node, true))
}
