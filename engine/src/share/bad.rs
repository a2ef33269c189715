use crate::world::{JournalEntry, Scenario};

use super::VERSION;

/// What kind of thing is wrong with what was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing that Loopscope writes.
    NotOurs,
    /// It ends too early.
    Truncated,
    /// Not as it was written.
    Changed,
    TooLarge,
    /// Written by a later version.
    Newer,
    /// Something in it cannot be understood, or is beyond a limit.
    Unreadable,
}

/// Why something cannot be opened, and what of it can.
#[derive(Clone, Debug, PartialEq)]
pub struct Bad {
    pub fault: Fault,
    /// One sentence or two for the person who wants to open it.
    pub words: String,
    /// The scenario without the rest, where that could be read.
    pub scenario: Option<Box<Scenario>>,
    /// The commands before the one that cannot be read.
    pub steps: Vec<JournalEntry>,
}

impl Bad {
    pub fn new(fault: Fault, words: &[&str]) -> Self {
        Self { fault, words: words.concat(), scenario: None, steps: Vec::new() }
    }

    /// A file whose first line is none of ours; a trace is, but nothing to play.
    pub(super) fn no_mark(text: &str) -> Self {
        if ["{\"loopscope\":\"trace/", "{\"displayTimeUnit\":\"ms\",\"traceEvents\":"]
            .iter()
            .any(|head| text.starts_with(head))
        {
            return Self::new(
                Fault::NotOurs,
                &["This is a trace: it tells what happened, and can't be opened here. The file of a moment can."],
            );
        }
        Self::not_ours()
    }

    pub(super) fn not_ours() -> Self {
        Self::new(
            Fault::NotOurs,
            &[
                "This was not written by Loopscope, whose files begin with a line that says what they are: `# Loopscope scenario 1`.",
            ],
        )
    }

    /// `what` as in `This link`.
    pub(super) fn truncated(what: &str) -> Self {
        Self::new(Fault::Truncated, &[what, " ends too early: a part of it is missing. Copy it again, to its end."])
    }

    pub(super) fn changed(what: &str) -> Self {
        Self::new(Fault::Changed, &[what, " is not as Loopscope wrote it: something in it was changed on its way."])
    }

    /// It has so many characters, of at most so many.
    pub fn too_large(what: &str, has: usize, limit: usize) -> Self {
        let (has, limit) = (has.to_string(), limit.to_string());
        Self::new(Fault::TooLarge, &[what, " is too large: ", &has, " characters. At most ", &limit, " are read."])
    }

    pub(super) fn newer(what: &str, version: u32) -> Self {
        let (version, ours) = (version.to_string(), VERSION.to_string());
        Self::new(
            Fault::Newer,
            &[
                what,
                " was made by a newer Loopscope, in version ",
                &version,
                " of the format. This page reads up to ",
                &ours,
                ": reload it to get the newest.",
            ],
        )
    }

    pub(super) fn unreadable(words: &[&str]) -> Self {
        Self::new(Fault::Unreadable, words)
    }
}
