//! One instant as a whole.

use super::crowd::Tally;
use super::loops::{loop_rows, now_line, store};
use super::map::{map, node_order};
use super::pods::classify_on;
use super::stuck::{Ground, Holds};
use super::workloads::{Workload, workloads};
use super::{Convergence, Frame, MapLook, PodClass, Summary};
use crate::api::Name;
use crate::sim::sort_by;
use crate::world::Simulation;

/// Everything that is drawn of the present instant, apart from the inspected object and the event list.
pub fn frame(simulation: &Simulation) -> Frame {
    frame_as(simulation, MapLook::default())
}

/// The same, with the map as one wants to see it.
pub fn frame_as(simulation: &Simulation, look: MapLook) -> Frame {
    Frame {
        now_ms: simulation.now().0,
        seq: simulation.trace().visible_count(),
        summary: summary(simulation),
        now: now_line(simulation),
        loops: loop_rows(simulation),
        store: store(simulation),
        map: map(simulation, look),
    }
}

/// What is wanted and what is.
pub fn summary(simulation: &Simulation) -> Summary {
    let (mut want, mut ready) = (0, 0);
    let mut count = Count::default();
    let silent = silent_nodes(simulation);
    let ground = Ground::new(simulation, &silent);
    let (mut is_complete, mut holds, mut first_stuck) = (true, Holds::default(), None);
    let mut names = Vec::new();
    for workload in workloads(simulation) {
        want += workload.wants;
        names.push(workload.object.meta().name.clone());
        let mine = count.pods_of(simulation, &workload, &silent);
        ready += mine;
        let is_done = workload.is_current && mine == workload.wants;
        is_complete &= is_done;
        if (!is_done || workload.is_stuck) && holds.look(&ground, &workload) && first_stuck.is_none() {
            first_stuck = Some(workload);
        }
    }
    let convergence = match names.len() {
        0 => Convergence::Empty,
        _ if first_stuck.is_some() => Convergence::Stuck,
        _ if is_complete => Convergence::Converged,
        _ => Convergence::Converging,
    };
    let subject = match names.as_slice() {
        [] => "nothing".into(),
        [one] => one.to_string(),
        many => format!("{} workloads", many.len()),
    };
    let stuck = first_stuck.and_then(|workload| holds.said(&workload));
    let (slots, more_slots) = count.slots(want);
    Summary { subject, want, ready, convergence, stuck, slots, more_slots }
}

/// Where a pod is on the map: those without a node last, by the node's order, by name.
type Place<'a> = (bool, (&'a str, u64, &'a str), &'a str);

/// The pods of all workloads.
#[derive(Default)]
struct Count<'a> {
    classes: Tally,
    /// More than are shown one by one: what these are is not asked.
    n_others: usize,
    /// The first of them, with their places on the map.
    shown: Vec<(Place<'a>, PodClass)>,
}

impl<'a> Count<'a> {
    /// Counts a workload's pods. Returns how many are ready.
    fn pods_of(&mut self, simulation: &'a Simulation, workload: &Workload<'a>, silent: &[&Name]) -> i32 {
        let before = self.classes.of(PodClass::Ready);
        match workload.ready_of_many(simulation).filter(|_| silent.is_empty()) {
            Some((ready, others)) => {
                self.classes.add(PodClass::Ready, ready);
                self.n_others += others;
            }
            None => {
                for pod in workload.pods(simulation).filter(|pod| pod.is_active()) {
                    let class = classify_on(pod, silent.contains(&&pod.spec.node_name));
                    self.classes.add(class, 1);
                    if self.shown.len() < Summary::MAX_SLOTS {
                        let place = (!pod.is_assigned(), node_order(&pod.spec.node_name), &*pod.metadata.name);
                        self.shown.push((place, class));
                    }
                }
            }
        }
        i32::try_from(self.classes.of(PodClass::Ready) - before).unwrap_or(i32::MAX)
    }

    /// One for each, those that are missing last, and how many are left out.
    fn slots(mut self, want: i32) -> (Vec<PodClass>, usize) {
        let n = self.classes.all() + self.n_others;
        let missing = usize::try_from(want).unwrap_or(0).saturating_sub(n);
        let missing_ones = std::iter::repeat_n(PodClass::Pending, missing);
        let slots: Vec<PodClass> = if self.shown.len() == n {
            sort_by(&mut self.shown, |a, b| a.0.cmp(&b.0));
            let shown = self.shown.iter().map(|(_, class)| *class);
            shown.chain(missing_ones).take(Summary::MAX_SLOTS).collect()
        } else {
            self.classes.classes().chain(missing_ones).take(Summary::MAX_SLOTS).collect()
        };
        let more = n + missing - slots.len();
        (slots, more)
    }
}

/// The nodes that are not heard any more: mostly none.
pub(super) fn silent_nodes(simulation: &Simulation) -> Vec<&Name> {
    let nodes = simulation.api().objects().nodes();
    nodes.filter(|(node, _)| node.readiness() == "Unknown").map(|(node, _)| &node.metadata.name).collect()
}

/// The present state in a sentence or two, for those who listen.
pub fn announce(simulation: &Simulation) -> String {
    let summary = summary(simulation);
    let seconds = simulation.now().0 / 1000;
    if summary.convergence == Convergence::Empty {
        return format!("{seconds} s. Nothing is asked for.");
    }
    let count = |class: PodClass| summary.slots.iter().filter(|slot| **slot == class).count();
    let mut text = format!("{seconds} s. {}: {} of {} ready", summary.subject, summary.ready, summary.want);
    let starting = count(PodClass::Creating) + count(PodClass::NotReady);
    if starting > 0 {
        text.push_str(&format!(", {starting} starting"));
    }
    if count(PodClass::Pending) > 0 {
        text.push_str(&format!(", {} pending", count(PodClass::Pending)));
    }
    if let Some(stuck) = &summary.stuck {
        text.push_str(&format!(", stuck: {}", stuck.why));
    }
    text.push('.');
    if let Some(now) = now_line(simulation) {
        text.push_str(&format!(" {}.", now.text.plain()));
    }
    text
}
