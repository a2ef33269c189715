//! What held, one line per file and mode, and a line of totals.

use std::collections::BTreeSet;
use std::fmt::Write;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Driven,
    Free,
    Rows,
}

impl Mode {
    fn word(self) -> &'static str {
        match self {
            Mode::Driven => "driven",
            Mode::Free => "free",
            Mode::Rows => "rows",
        }
    }
}

#[derive(Default)]
struct Count {
    held: usize,
    all: usize,
}

/// Collects results. A file that is on a list of exceptions is told with its reason and not counted.
#[derive(Default)]
pub struct Report {
    text: String,
    driven: Count,
    free: Count,
    rows: Count,
}

impl Report {
    fn line(&mut self, name: &str, mode: Mode, what: &str) {
        let _ = writeln!(self.text, "{name} {}: {what}", mode.word());
    }

    /// The result of a recording in one mode: the first difference, and why others are allowed.
    pub fn trace(&mut self, name: &str, mode: Mode, difference: Option<&String>, allowed: BTreeSet<&str>) {
        let count = if mode == Mode::Driven { &mut self.driven } else { &mut self.free };
        count.all += 1;
        count.held += usize::from(difference.is_none());
        match difference {
            None if allowed.is_empty() => self.line(name, mode, "held"),
            None => {
                let reasons: Vec<&str> = allowed.into_iter().collect();
                self.line(name, mode, &format!("held, but for this: {}", reasons.join("; ")));
            }
            Some(difference) => self.line(name, mode, difference),
        }
    }

    /// A recording that is excepted, and why; what differed first all the same.
    pub fn excepted(&mut self, name: &str, mode: Mode, reason: &str, difference: Option<&String>) {
        let outcome = difference.map_or(String::new(), |it| format!(" ({it})"));
        self.line(name, mode, &format!("excepted: {reason}{outcome}"));
    }

    /// The rows of a table: how many there are, and what differs in those that do not hold.
    pub fn rows(&mut self, name: &str, count: usize, differences: &[String]) {
        self.rows.all += count;
        self.rows.held += count - differences.len().min(count);
        match differences.first() {
            None => self.line(name, Mode::Rows, &format!("held ({count})")),
            Some(first) => self.line(name, Mode::Rows, &format!("{} of {count} differ: {first}", differences.len())),
        }
    }

    pub fn is_good(&self) -> bool {
        [&self.driven, &self.free, &self.rows].iter().all(|it| it.held == it.all)
    }

    /// All lines, that of totals last.
    pub fn finish(mut self) -> String {
        let of = |count: &Count| format!("{}/{}", count.held, count.all);
        let (driven, free, rows) = (of(&self.driven), of(&self.free), of(&self.rows));
        let _ = write!(self.text, "traces driven {driven}, free {free}, table rows {rows}");
        self.text
    }
}
