//! What the page reads of an open lesson.

use std::rc::Rc;

use leptos::prelude::{LocalStorage, StoredValue};
use loopscope_engine::history::BranchId;
use loopscope_engine::lesson::{Course, Lesson};

use crate::ui::State;

/// A lesson that is handed over together with its world.
pub struct Taught {
    /// What the address calls it; empty for a file of somebody's own.
    pub id: String,
    pub lesson: Rc<Lesson>,
    /// The step that begins, from 0.
    pub step: usize,
    /// The page began with it.
    pub is_first: bool,
}

/// What the page reads of an open lesson.
#[derive(Debug, PartialEq)]
pub struct Script {
    pub id: String,
    pub title: String,
    pub course: Course,
}

/// How far one has come in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepMark {
    Ahead,
    Begun,
    Done,
}

/// How the current step stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stand {
    /// There is nothing to reach.
    Reading,
    /// So many seconds of virtual time are left, of so many.
    Waiting(u64, u64),
    /// Its time is over.
    Late,
    /// What is shown is a time before it began.
    Before,
    Met,
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Came {
    pub at_ms: u64,
    /// The answer to its prediction, in thousandths.
    pub answer: Option<i64>,
    /// The events that explain it, one for each sentence that leads to one.
    pub events: Vec<Option<u64>>,
    pub(super) branch: BranchId,
}

/// The signals of an open lesson.
#[derive(Clone, Copy)]
pub struct Learning {
    pub script: StoredValue<Rc<Script>, LocalStorage>,
    pub at: State<usize>,
    pub marks: State<Vec<StepMark>>,
    pub stand: State<Stand>,
    pub came: State<Option<Came>>,
    /// The proposed commands as they would be typed now; nothing where what they are about is not there.
    pub lines: State<Vec<Option<String>>>,
    /// In thousandths.
    pub bet: State<Option<i64>>,
    /// Nothing has happened since the step began.
    pub can_bet: State<bool>,
    /// The solution is shown.
    pub is_told: State<bool>,
    /// Commands of the solution that wait for their time.
    pub n_due: State<usize>,
    /// On the way to the goal.
    pub skipping: State<bool>,
    /// It was left: the world goes on without it.
    pub is_over: State<bool>,
}
