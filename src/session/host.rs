//! What the page around an embed may ask of the simulation.

use loopscope_engine::manifest::Severity;
use loopscope_engine::view::Convergence;
use serde_json::Value;

use super::{Pace, SPEEDS, Session, StepBy};

/// Nobody can be made to play more virtual time than this: a day, in ms.
const MOST_MS: u64 = 86_400_000;

/// Why something that was asked for is not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub code: &'static str,
    pub words: String,
}

impl Refusal {
    pub fn new(code: &'static str, words: &[&str]) -> Self {
        Self { code, words: words.concat() }
    }
}

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

fn text<'a>(fields: &'a Value, name: &str) -> Result<&'a str, Refusal> {
    fields.get(name).and_then(Value::as_str).ok_or_else(|| Refusal::new("malformed", &["`", name, "` must be a text"]))
}

impl Session {
    /// Does what is asked for. Whether it is known at all is the first thing that it says.
    pub fn obey(self, kind: &str, fields: &Value) -> Option<Result<(), Refusal>> {
        Some(match kind {
            "play" => {
                self.play();
                Ok(())
            }
            "pause" => {
                self.pause();
                Ok(())
            }
            "step" => self.step_as_asked(fields),
            "seek" => self.seek_as_asked(fields),
            "apply" => text(fields, "yaml").and_then(|yaml| self.apply_text(yaml)),
            "command" => text(fields, "kubectl").map(|line| self.run_line(line)),
            _ => return None,
        })
    }

    /// `by` is `event` where nothing is said; `back` leads the other way.
    fn step_as_asked(self, fields: &Value) -> Result<(), Refusal> {
        let by = match fields.get("by").map_or(Some("event"), Value::as_str) {
            Some("event") => StepBy::Event,
            Some("act") => StepBy::Act,
            Some("turn") => StepBy::Turn,
            Some("write") => StepBy::Write,
            _ => return Err(Refusal::new("malformed", &["`by` must be event, act, turn or write"])),
        };
        match fields.get("back").and_then(Value::as_bool) {
            Some(true) => self.step_back(by),
            _ => self.step_on(by),
        }
        Ok(())
    }

    /// To a virtual time, which may lie beyond all that has been played.
    fn seek_as_asked(self, fields: &Value) -> Result<(), Refusal> {
        let Some(ms) = fields.get("t").and_then(Value::as_f64).filter(|it| *it >= 0.0) else {
            return Err(Refusal::new("malformed", &["`t` must be a number of milliseconds, 0 or more"]));
        };
        self.seek_to((ms as u64).min(MOST_MS));
        Ok(())
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
