//! One instant as a whole.

use super::loops::{loop_rows, now_line, store};
use super::map::map;
use super::pods::{classify, node_of};
use super::workloads::workloads;
use super::{Convergence, Frame, MapLook, PodClass, Summary};
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
        seq: simulation.trace().last().map_or(0, |event| event.seq.0),
        summary: summary(simulation),
        now: now_line(simulation),
        loops: loop_rows(simulation),
        store: store(simulation),
        map: map(simulation, look),
    }
}

fn summary(simulation: &Simulation) -> Summary {
    let (mut want, mut ready) = (0, 0);
    let mut classes = Vec::new();
    let (mut is_complete, mut is_stuck) = (true, false);
    let mut names = Vec::new();
    for workload in workloads(simulation) {
        want += workload.wants;
        names.push(workload.object.meta().name.clone());
        let mut mine = 0;
        for pod in workload.pods(simulation).filter(|pod| pod.is_active()) {
            let class = classify(pod, node_of(simulation, &pod.spec.node_name));
            mine += i32::from(class == PodClass::Ready);
            classes.push(class);
        }
        ready += mine;
        is_complete &= workload.is_current && mine == workload.wants;
        is_stuck |= workload.is_stuck;
    }
    sort_by(&mut classes, Ord::cmp);
    let missing = usize::try_from(want).unwrap_or(0).saturating_sub(classes.len());
    let shown = classes.into_iter().chain(std::iter::repeat_n(PodClass::Pending, missing));
    let slots: Vec<PodClass> = shown.clone().take(Summary::MAX_SLOTS).collect();
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
    let more_slots = shown.count() - slots.len();
    Summary { subject, want, ready, convergence, slots, more_slots }
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
