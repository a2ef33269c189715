//! What held, one line per file and mode, and a line of totals.

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

    /// The result of a recording in one mode: that it held, or the first difference.
    pub fn trace(&mut self, name: &str, mode: Mode, result: &Result<(), String>) {
        let count = if mode == Mode::Driven { &mut self.driven } else { &mut self.free };
        count.all += 1;
        count.held += usize::from(result.is_ok());
        match result {
            Ok(()) => self.line(name, mode, "held"),
            Err(difference) => self.line(name, mode, difference),
        }
    }

    /// A recording that is excepted, and why; what came out all the same, where it was tried.
    pub fn excepted(&mut self, name: &str, mode: Mode, reason: &str, result: Option<&Result<(), String>>) {
        let outcome = match result {
            Some(Ok(())) => " (held)".to_string(),
            Some(Err(difference)) => format!(" ({difference})"),
            None => String::new(),
        };
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
