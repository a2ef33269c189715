//! Five kinds of loops laid over each other: they are one shape. A card is filled from the trace, as far as its loop is
//! in this world; what it would look at is said of all.

use serde::Serialize;

use super::loops::phase_cell;
use super::{LoopId, PhaseCell};
use crate::client::{LoopIndex, TurnPhase, What};
use crate::controllers::gitops::NAME as AGENT;
use crate::controllers::horizontal_pod_autoscaler::NAME as AUTOSCALER;
use crate::controllers::scheduled_run::NAME as RUN;
use crate::controllers::thermostat::NAME as THERMOSTAT;
use crate::sim::Seq;
use crate::world::{Command, IacDeed, Simulation};

/// What stands on one card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShapeCard {
    pub name: &'static str,
    /// What makes it go round.
    pub turns: &'static str,
    /// What it observes, compares and does, whether or not it is in this world.
    pub phases: [&'static str; 3],
    /// It is in this world.
    pub is_here: bool,
    /// Its row among the loops, where it has one.
    pub id: Option<LoopId>,
    /// What its last turn found and did.
    pub cells: [Option<PhaseCell>; 3],
}

/// Names, what makes them go round, and what they observe, compare and do.
const SHAPES: [(&str, &str, [&str; 3]); 5] = [
    (
        "ReplicaSet",
        "whenever a pod or a wish changes",
        ["the pods that are there", "replicas wanted against pods", "create or delete pods"],
    ),
    (
        "Autoscaler",
        "every 15 s",
        ["metrics of the pods, and how many there are", "metric against target", "write spec.replicas"],
    ),
    (
        "GitOps agent",
        "every few minutes, or told by a webhook",
        ["the commit in Git, and the live objects", "manifests against live objects", "apply, and prune"],
    ),
    (
        "Infrastructure as code",
        "only when a person runs it",
        ["configuration, state, and the cloud", "plan: what to add, change, destroy", "apply, once somebody says yes"],
    ),
    (
        "Thermostat",
        "every 30 s",
        ["what its thermometer shows", "degrees wanted against measured", "turn the heater by a step"],
    ),
];

/// The cards, always all five, in the same order.
pub fn same_shape(simulation: &Simulation) -> Vec<ShapeCard> {
    // A scheduled run is a loop; a run by hand is none, and told from its output.
    let loops = ["ReplicaSet", AUTOSCALER, AGENT, RUN, THERMOSTAT];
    let card = |((name, turns, phases), own): ((&'static str, &'static str, [&'static str; 3]), &str)| {
        let found = simulation.loops().iter().enumerate().find(|(_, it)| it.name.as_str() == own);
        let (is_here, cells) = match found {
            Some((_, it)) => (
                true,
                [TurnPhase::Observe, TurnPhase::Diff, TurnPhase::Act].map(|phase| {
                    let waits =
                        it.shown.as_ref().and_then(|key| it.active.get(key)).is_some_and(|turn| turn.awaiting > 0);
                    it.cells[phase as usize].as_ref().map(|cell| phase_cell(cell, waits && phase == TurnPhase::Act))
                }),
            ),
            None if own == RUN => infrastructure(simulation),
            None => (false, [None, None, None]),
        };
        let id = found.and_then(|(index, _)| Some(LoopId(LoopIndex(u32::try_from(index).ok()?).0)));
        ShapeCard { name, turns, phases, is_here, id, cells }
    };
    SHAPES.into_iter().zip(loops).map(card).collect()
}

/// So far back the last change of an apply is looked for.
const MOST_BACK: u64 = 2_000;

/// Of the last run of the tool: what it read, what it planned, and what it did in the cloud.
fn infrastructure(simulation: &Simulation) -> (bool, [Option<PhaseCell>; 3]) {
    let iac = simulation.iac();
    let none = [None, None, None];
    let runs =
        |command: &Command| matches!(command, Command::Iac { deed: IacDeed::Plan { .. } | IacDeed::Apply { .. } });
    let Some(run) = simulation.journal().iter().rposition(|it| runs(&it.command)) else {
        return (!iac.config.is_empty(), none);
    };
    let Some(seq) = simulation.event_of(run) else { return (true, none) };
    let is_sum = |line: &&String| line.starts_with("Plan: ") || line.starts_with("No changes.");
    let Some(end) = iac.output.iter().rposition(|line| is_sum(&line)) else { return (true, none) };
    let begin = iac.output[..end].iter().rposition(|line| is_sum(&line)).unwrap_or(0);
    let n_read = iac.output[begin..end].iter().filter(|line| line.contains(": Refreshing state...")).count();
    let cell = |text: String, detail: &str, seq: Seq| {
        Some(PhaseCell { text: text.into(), detail: detail.to_owned(), seq: seq.0, failed: false })
    };
    let plan = iac.output[end].split('.').next().unwrap_or_default().to_owned();
    let last = simulation.trace().last_seq().0;
    let acted = (last.saturating_sub(MOST_BACK).max(seq.0) + 1..=last).rev().find_map(|at| {
        let event = simulation.trace().get(Seq(at))?;
        match &event.what {
            What::Outside { place, note } if place.as_str() == "terraform" => Some((note.to_string(), event.seq)),
            _ => None,
        }
    });
    let act = match (acted, iac.asks()) {
        (_, true) => cell("waits for somebody to say **yes**".into(), "nothing is done meanwhile", seq),
        (Some((text, at)), _) => cell(text, "", at),
        _ => None,
    };
    let objects = if n_read == 1 { "object" } else { "objects" };
    let read = format!("**{n_read}** {objects} read from the cloud");
    (true, [cell(read, "refresh", seq), cell(plan, "plan", seq), act])
}
