//! Scenario files: a world, what is played in it before anybody looks, what is on show, and the steps of a lesson.
//!
//! `table` says what a file may hold, and everything else follows it: the check of a file, the JSON Schema, and the page
//! `docs/scenarios.md`. A lesson's goals are predicates over the state (`goal`), which change nothing.

mod fill;
mod goal;
mod listed;
mod matching;
mod play;
mod progress;
mod read;
mod schema;
mod shape;
mod table;
mod text;

use std::fmt::{self, Display, Formatter};
use std::rc::Rc;

use crate::api::ObjectKey;
use crate::manifest::Span;
use crate::share::Moment;
use crate::sim::{Millis, Time};
use crate::world::{Instant, JournalEntry, Scenario};

pub use fill::fill;
pub use goal::{Bounds, Found, Goal, Measure, Pods, read_key};
pub use listed::{Listed, address, read_index};
pub use matching::{About, Match};
pub use play::{Played, open, play};
pub use progress::{Memory, Progress, Standing};
pub use read::{read, read_bet};
pub use schema::{ABOUT, index, schema};
pub use shape::number_text;
pub use table::{CONCEPTS, VIEWS};
pub use text::{PARTS, Part, Piece, Prose};

/// Something wrong with a file, and where: line and column from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub line: u32,
    pub column: u32,
    pub length: u32,
    /// The field, such as `lesson.steps[2].goal`, or nothing.
    pub path: String,
    pub message: String,
    /// What may have been meant; may be empty.
    pub hint: String,
}

impl Mistake {
    fn at(span: Span, path: &str, message: String, hint: String) -> Self {
        Self { line: span.line, column: span.column, length: span.length, path: path.into(), message, hint }
    }
}

impl Display for Mistake {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, ". {}", self.hint) }
    }
}

/// What is on show when it begins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Show {
    /// One of [`VIEWS`]; empty where the page may choose.
    pub view: String,
    /// What else is open.
    pub panes: Vec<String>,
    pub object: Option<ObjectKey>,
    /// How fast virtual time passes, in thousandths of wall time.
    pub speed: Option<i64>,
}

/// A command that is proposed, or that solves a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// As it is typed, with what stands for names: see [`fill`].
    pub run: String,
    /// What a button for it says.
    pub label: String,
    /// How long after the step began.
    pub at: Millis,
}

impl Deed {
    /// Whether a console takes it; anything else is a [`Command`](crate::world::Command) by its text.
    pub fn is_kubectl(&self) -> bool {
        self.run.starts_with("kubectl ")
    }
}

/// One of several answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    pub text: Prose,
    /// It came true if this is so once the step's goal is met.
    pub when: Option<Goal>,
}

/// What somebody expects to happen, before it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    pub question: Prose,
    /// Least and most of a number that is asked for, in thousandths, and its unit.
    pub range: Option<(i64, i64, String)>,
    pub choices: Vec<Choice>,
    /// What the file says is right: a number, or a choice's place from 1; in thousandths.
    pub answer: i64,
    /// How far from it is right as well.
    pub give: i64,
    pub measure: Option<Measure>,
    pub right: Prose,
    pub wrong: Prose,
}

impl Prediction {
    /// Whether a bet was right, of what came of it.
    pub fn is_right(&self, bet: i64, came: i64) -> bool {
        (bet - came).abs() <= self.give
    }
}

/// A sentence that leads to the event which explains what happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Explain {
    pub text: Prose,
    pub event: Match,
}

/// Something that the lesson says and that is so at the end of its step: held by a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    pub says: String,
    pub that: Goal,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub title: String,
    pub text: Prose,
    pub prediction: Option<Prediction>,
    /// How lines that may be run begin; any may where there are none.
    pub allowed: Vec<String>,
    pub deeds: Vec<Deed>,
    /// A step without one is read, and no more.
    pub goal: Option<Goal>,
    /// How long it may take, in virtual time.
    pub within: Millis,
    /// What reaches the goal: the proposed commands where no other is given.
    pub solution: Vec<Deed>,
    /// What is said once the goal is met.
    pub then: Prose,
    pub explain: Vec<Explain>,
    pub claims: Vec<Claim>,
}

impl Step {
    /// Whether a line may be run in this step.
    pub fn allows(&self, line: &str) -> bool {
        self.allowed.is_empty() || self.allowed.iter().any(|it| line.trim_start().starts_with(it.as_str()))
    }
}

/// What a lesson is about, and its steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// Of [`CONCEPTS`].
    pub concepts: Vec<String>,
    /// What many believe before.
    pub misconception: String,
    pub minutes: u32,
    /// Tests (`cases::s1_a_deleted_pod_comes_back`) and recordings (`recording s15_drain`) that show what is said.
    pub backed_by: Vec<String>,
    pub steps: Vec<Step>,
    /// Its steps are challenges in any order, each begun when somebody picks it.
    pub is_free: bool,
    /// Its place in the list of lessons.
    pub order: u32,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    pub title: String,
    pub summary: String,
    pub scenario: Scenario,
    /// What is played before anybody looks.
    pub opening: Vec<Rc<JournalEntry>>,
    /// When somebody begins to look.
    pub begins: Time,
    pub show: Show,
    /// Nothing where it is a scenario to play with.
    pub course: Course,
}

impl Lesson {
    /// Where it begins. Its digest is not known before it is played, and is 0.
    pub fn moment(&self) -> Moment {
        Moment {
            scenario: self.scenario.clone(),
            steps: self.opening.clone(),
            at: Instant { at: self.begins, commands: self.opening.len() as u32, nth: u32::MAX },
            selected: self.show.object.clone(),
            digest: 0,
        }
    }

    pub fn has_course(&self) -> bool {
        !self.course.steps.is_empty()
    }
}
