//! The simple view: one loop as four lines of code, and what the buttons beside it act on.

use super::loops::phase_cell;
use super::pods::{classify, node_of};
use super::workloads::workloads;
use super::{CodeLine, LoopId, Phase, PhaseCell, PodClass, SimpleView};
use crate::api::{Kind, Node, Object, ObjectKey, Pod};
use crate::client::{LoopIndex, TurnPhase, What};
use crate::controllers::{replicaset, thermostat};
use crate::sim::Seq;
use crate::world::{Cell, Goal, Loop, Simulation};

/// The loop that the simple view shows; where there is a room, its thermostat.
const SHOWN: &str = "ReplicaSet";

fn shown(simulation: &Simulation) -> Option<usize> {
    let name = if simulation.has_room() { thermostat::NAME } else { SHOWN };
    simulation.loops().iter().position(|it| &*it.name == name)
}

/// What the simple view shows of the present instant. A selected pod is the one to be deleted.
pub fn simple(simulation: &Simulation, selected: Option<&ObjectKey>) -> SimpleView {
    let mut view = SimpleView { victim: victim(simulation, selected), ..SimpleView::default() };
    let loops = simulation.loops();
    if let Some(at) = shown(simulation) {
        view.of = u32::try_from(at).ok().map(LoopId);
        read(simulation, &loops[at], &mut view);
    }
    let target = workloads(simulation)
        .find(|it| matches!(it.object, Object::Deployment(_) | Object::ReplicaSet(_) | Object::StatefulSet(_)));
    if let Some(workload) = target {
        (view.target, view.replicas) = (Some(workload.object.key()), workload.wants);
    }
    if let Some((node, is_on)) = node_to_switch(simulation) {
        (view.node, view.is_broken) = (node.metadata.name.to_string(), !is_on);
    }
    view
}

/// What a step to the next act leads to where the code is all that is shown of the loops: the code takes its step.
pub fn code_step(simulation: &Simulation) -> Goal {
    let shown = shown(simulation).and_then(|at| u32::try_from(at).ok());
    shown.map_or(Goal::Act, |at| Goal::StepOf(LoopIndex(at)))
}

/// The trace event of the shown loop's newest phase, where its turn found a difference: what is worth a longer look. 0
/// where it found none, as in most turns.
pub fn telling_seq(simulation: &Simulation) -> u64 {
    let Some(it) = simulation.loops().iter().find(|it| &*it.name == SHOWN) else { return 0 };
    let differs = |cell: &Cell| replicaset::observed(&cell.facts).is_some_and(|(want, active)| want != active);
    if !it.cells[0].as_ref().is_some_and(differs) {
        return 0;
    }
    let cells = it.cells.iter().flatten().filter(|cell| !replicaset::is_report(&cell.facts));
    cells.map(|cell| cell.seq.0).max().unwrap_or(0)
}

/// Fills the four lines from the loop's last turn.
fn read(simulation: &Simulation, it: &Loop, view: &mut SimpleView) {
    let [observe, diff, act] = &it.cells;
    let key = it.shown.as_ref();
    let phase = key.and_then(|key| it.active.get(key)).filter(|turn| !turn.is_background).and_then(|turn| turn.phase);
    if let (Some(cell), Some(key)) = (observe, key) {
        let facts = phase_cell(cell, false);
        if let Some((want, active)) = replicaset::observed(&cell.facts) {
            view.lines[0] = CodeLine { value: bold(want), note: format!("spec.replicas of {}", key.name) };
            view.lines[1] = CodeLine { value: bold(active), note: facts.detail };
        } else if let Some([want, measured]) = thermostat::observed(&cell.facts) {
            view.lines[0] = CodeLine { value: celsius(&want), note: format!("data.desired of {}", key.name) };
            view.lines[1] = CodeLine { value: celsius(&measured), note: facts.detail };
        }
        view.seqs[0] = facts.seq;
    }
    if let Some(cell) = diff {
        let PhaseCell { text, detail, seq, .. } = phase_cell(cell, false);
        view.lines[2] = CodeLine { value: text, note: detail };
        view.seqs[1] = seq;
    }
    let step = act.as_ref().and_then(|cell| step(simulation, cell));
    let is_newest = |step: &Cell| act.as_ref().is_some_and(|act| act.seq == step.seq);
    view.lit = match phase {
        Some(TurnPhase::Observe) => Some(Phase::Observe),
        Some(TurnPhase::Diff) => Some(Phase::Diff),
        Some(TurnPhase::Act) if step.as_ref().is_some_and(is_newest) => Some(Phase::Act),
        _ => None,
    };
    if let Some(step) = step {
        let PhaseCell { text, detail, seq, .. } = phase_cell(&step, false);
        view.lines[3] = CodeLine { value: text, note: detail };
        view.seqs[2] = seq;
    } else if diff.is_some() && view.lit.is_none() {
        view.lines[3].note = "no step".into();
    }
}

fn celsius(degrees: &str) -> super::Phrase {
    format!("**{degrees} °C**").into()
}

fn bold(n: i64) -> super::Phrase {
    format!("**{n}**").into()
}

/// The turn's newest step towards what is wanted. A status says how things are and changes nothing about them, so it
/// is no step.
fn step(simulation: &Simulation, newest: &Cell) -> Option<Cell> {
    if !replicaset::is_report(&newest.facts) {
        return Some(newest.clone());
    }
    let mut seq: Seq = newest.seq;
    loop {
        seq = simulation.trace().get(seq)?.cause?;
        match simulation.trace().get(seq)?.what {
            What::Reached { phase: TurnPhase::Act, facts, .. } if !replicaset::is_report(&facts) => {
                return Some(Cell { seq, facts, answer: None });
            }
            What::Reached { phase: TurnPhase::Act, .. } => {}
            _ => return None,
        }
    }
}

/// The selected pod, or else the first that serves.
fn victim(simulation: &Simulation, selected: Option<&ObjectKey>) -> Option<ObjectKey> {
    let objects = simulation.api().objects();
    let lives = |pod: &Pod| pod.metadata.deletion_timestamp.is_none();
    if let Some(key) = selected.filter(|key| objects.pod(key).is_some_and(|pod| lives(pod))) {
        return Some(key.clone());
    }
    let pods = objects.of_kind(Kind::Pod).filter(|it| it.as_pod().is_some_and(|pod| lives(pod)));
    let serves = |pod: &Pod| classify(pod, node_of(simulation, &pod.spec.node_name)) == PodClass::Ready;
    let rank = |it: &&Object| (it.as_pod().is_some_and(|pod| !serves(pod)), it.meta().name.clone());
    pods.min_by_key(rank).map(Object::key)
}

/// The first machine that is off, or else the one whose node has most pods; says whether it is on.
fn node_to_switch(simulation: &Simulation) -> Option<(&Node, bool)> {
    let objects = simulation.api().objects();
    let nodes = objects.of_kind(Kind::Node).filter_map(Object::as_node).filter_map(|node| {
        let machine = simulation.machines().get(&node.metadata.name)?;
        Some((&**node, machine.is_on))
    });
    nodes.max_by_key(|(node, is_on)| (!is_on, objects.pods_on(&node.metadata.name).count()))
}
