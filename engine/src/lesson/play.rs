//! A lesson played to its end, with its own solution or without: what the command-line runner and the tests do.

use super::{Deed, Lesson, Progress, Standing, Step, fill};
use crate::sim::{Millis, Time};
use crate::world::{Command, Instant, Simulation};

/// How often it is looked whether a goal is met, in virtual time: so often, or so many times in the time of a step.
const LOOK: u64 = 100;
const LOOKS: u64 = 1_000;
/// Things that may happen between two looks.
const MOST_EVENTS: usize = 1_000_000;

/// What became of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    pub progress: Progress,
    pub standing: Standing,
    /// The commands that were given, and what they printed.
    pub lines: Vec<String>,
}

/// Plays the opening.
///
/// # Errors
/// The command that was refused, and why.
pub fn open(lesson: &Lesson) -> Result<Simulation, String> {
    let mut simulation = Simulation::new(lesson.scenario.clone());
    for (index, entry) in lesson.opening.iter().enumerate() {
        simulation.run_to(Instant::before(index, entry), MOST_EVENTS);
        let outcome = simulation.dispatch(entry.command.clone());
        if let Some(why) = outcome.refusal() {
            return Err([&entry.to_string(), ": ", why].concat());
        }
    }
    simulation.run_until(lesson.begins, MOST_EVENTS);
    Ok(simulation)
}

/// Plays a step to the end of its time, or until its goal is met and all deeds are done.
///
/// # Errors
/// The deed that cannot be done, and why.
pub fn play(simulation: &mut Simulation, step: &Step, deeds: &[Deed]) -> Result<Played, String> {
    let mut progress = Progress::begin(simulation);
    let (began, mut lines, mut next) = (simulation.now(), Vec::new(), 0);
    let end = began + step.within;
    let look = Millis(LOOK.max(step.within.0 / LOOKS));
    loop {
        while let Some(deed) = deeds.get(next).filter(|it| began + it.at <= simulation.now()) {
            lines.extend(run(simulation, deed)?);
            next += 1;
        }
        let standing = progress.look(step, simulation);
        let is_done = next == deeds.len() && matches!(standing, Standing::Met(_));
        if is_done || simulation.now() >= end {
            return Ok(Played { progress, standing, lines });
        }
        let due = deeds.get(next).map_or(end, |it| began + it.at);
        let until = Time((simulation.now() + look).0.min(due.0.max(simulation.now().0 + 1)).min(end.0));
        simulation.run_until(until, MOST_EVENTS);
    }
}

fn run(simulation: &mut Simulation, deed: &Deed) -> Result<Vec<String>, String> {
    let line = fill(&deed.run, simulation).ok_or_else(|| [&deed.run, ": there is no such pod now"].concat())?;
    let command: Command = line.parse().map_err(|why: String| [&line, ": ", &why].concat())?;
    let outcome = simulation.dispatch(command);
    match outcome.refusal() {
        Some(why) => Err([&line, ": ", why].concat()),
        None => Ok([vec![["$ ", &line].concat()], outcome.lines].concat()),
    }
}
