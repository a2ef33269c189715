//! One instant as a whole.

use super::crowd::Tally;
use super::loops::{loop_rows, now_line, store};
use super::map::map;
use super::pods::classify_on;
use super::workloads::workloads;
use super::{Convergence, Frame, MapLook, PodClass, Summary};
use crate::api::Name;
use crate::world::Simulation;

/// Everything that is drawn of the present instant, apart from the inspected object and the event list.
pub fn frame(simulation: &Simulation) -> Frame {
    frame_as(simulation, MapLook::default())
}

/// The same, with the map as one wants to see it.
pub fn frame_as(simulation: &Simulation, look: MapLook) -> Frame {
    Frame {
        now_ms: simulation.now().0,
        seq: simulation.trace().last().map_or(0, |event| event.seq.0),
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
    let mut classes = Tally::default();
    let mut n_others = 0;
    let silent = silent_nodes(simulation);
    let (mut is_complete, mut is_stuck) = (true, false);
    let mut names = Vec::new();
    for workload in workloads(simulation) {
        want += workload.wants;
        names.push(workload.object.meta().name.clone());
        let before = classes.of(PodClass::Ready);
        match workload.ready_of_many(simulation).filter(|_| silent.is_empty()) {
            // More than are shown one by one: what the others are is not asked.
            Some((ready, others)) => {
                classes.add(PodClass::Ready, ready);
                n_others += others;
            }
            None => {
                for pod in workload.pods(simulation).filter(|pod| pod.is_active()) {
                    classes.add(classify_on(pod, silent.contains(&&pod.spec.node_name)), 1);
                }
            }
        }
        let mine = i32::try_from(classes.of(PodClass::Ready) - before).unwrap_or(i32::MAX);
        ready += mine;
        is_complete &= workload.is_current && mine == workload.wants;
        is_stuck |= workload.is_stuck;
    }
    let missing = usize::try_from(want).unwrap_or(0).saturating_sub(classes.all() + n_others);
    let shown = classes.classes().chain(std::iter::repeat_n(PodClass::Pending, missing));
    let slots: Vec<PodClass> = shown.take(Summary::MAX_SLOTS).collect();
    let convergence = match names.len() {
        0 => Convergence::Empty,
        _ if is_stuck => Convergence::Stuck,
        _ if is_complete => Convergence::Converged,
        _ => Convergence::Converging,
    };
    let subject = match names.as_slice() {
        [] => "nothing".into(),
        [one] => one.to_string(),
        many => format!("{} workloads", many.len()),
    };
    let more_slots = classes.all() + n_others + missing - slots.len();
    Summary { subject, want, ready, convergence, slots, more_slots }
}

/// The nodes that are not heard any more: mostly none.
fn silent_nodes(simulation: &Simulation) -> Vec<&Name> {
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
    text.push('.');
    if let Some(now) = now_line(simulation) {
        text.push_str(&format!(" {}.", now.text.plain()));
    }
    text
}
