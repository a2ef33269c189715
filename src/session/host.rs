//! What the page around an embed may ask of the simulation.

pub use loopscope_engine::embed::Refusal;
use loopscope_engine::embed::{Ask, By};
use loopscope_engine::manifest::Severity;
use loopscope_engine::view::Convergence;

use super::{Pace, SPEEDS, Session, StepBy};

/// The index of a speed by what an address may call it: `readable`, or so many times real time.
pub fn speed_named(name: &str) -> Option<usize> {
    let number = name.trim_end_matches(['x', '×']);
    let wanted = [("1/8", 0.125), ("1/4", 0.25), ("1/2", 0.5), ("0.125", 0.125), ("0.25", 0.25), ("0.5", 0.5)];
    let written = wanted.into_iter().find(|(text, _)| *text == number).map(|(_, factor)| factor);
    let factor = written.or_else(|| number.parse::<u32>().ok().map(f64::from));
    SPEEDS.iter().position(|(label, pace)| match pace {
        Pace::Readable(_) => name == *label,
        Pace::Times(times) => factor == Some(*times),
        _ => false,
    })
}

impl Session {
    /// Does what is asked for; nothing comes back where that is not about the simulation.
    pub fn obey(self, ask: &Ask) -> Option<Result<(), Refusal>> {
        match ask {
            Ask::Play => self.play(),
            Ask::Pause => self.pause(),
            Ask::Step { by, is_back } => self.step_as_asked(*by, *is_back),
            Ask::Seek(ms) => self.seek_to(*ms),
            Ask::Apply(yaml) => return Some(self.apply_text(yaml)),
            Ask::Command(line) => self.run_line(line),
            _ => return None,
        }
        Some(Ok(()))
    }

    fn step_as_asked(self, by: By, is_back: bool) {
        let by = match by {
            By::Event => StepBy::Event,
            By::Act => StepBy::Act,
            By::Turn => StepBy::Turn,
            By::Write => StepBy::Write,
        };
        match is_back {
            true => self.step_back(by),
            false => self.step_on(by),
        }
    }

    fn apply_text(self, yaml: &str) -> Result<(), Refusal> {
        self.editor.replace(yaml.to_owned());
        if self.apply() {
            return Ok(());
        }
        let first = self.editor.problems.with_untracked(|all| {
            let bad = all.iter().find(|it| it.severity == Severity::Error)?;
            let (line, column) = (bad.line.to_string(), bad.column.to_string());
            Some(["Line ", &line, ", column ", &column, ": ", &bad.message].concat())
        });
        Err(Refusal::new("refused", &[first.as_deref().unwrap_or("The API server refused it")]))
    }

    /// All is as wanted now.
    pub fn is_converged(self) -> bool {
        self.board.summary.with(|it| it.convergence == Convergence::Converged)
    }
}
