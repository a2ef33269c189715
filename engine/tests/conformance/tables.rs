//! Inputs of real decision functions and what came out, row by row against ours.

mod autoscaler;
mod deployment;
mod replicaset;
mod scheduler;

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;

use super::folder::Folder;
use super::report::{Mode, Report};

/// When the tables' ages are counted from, in seconds since 1970.
const NOW: i64 = 1_796_025_600;

type Held = Result<(), String>;

/// A table by its file and, where a file has several, the beginning of its name there.
struct Table {
    file: &'static str,
    part: &'static str,
    /// Checks one of the rows.
    check: fn(rows: &[Value], at: usize) -> Held,
}

/// Files that are no tables of decisions that are taken here.
const EXCEPTED: &[(&str, &str)] = &[("figures", "constants in words, tested where they are used")];

/// Tells of every table of a folder.
pub fn run(folder: &Folder, report: &mut Report) {
    let all = [autoscaler::TABLES, deployment::TABLES, replicaset::TABLES, scheduler::TABLES];
    let known: Vec<&Table> = all.into_iter().flatten().collect();
    for file in folder.tables() {
        if let Some((_, reason)) = EXCEPTED.iter().find(|(name, _)| *name == file) {
            report.excepted(&file, Mode::Rows, reason, None);
            continue;
        }
        match folder.table(&file).and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string())) {
            Ok(content) => run_file(&file, &content, &known, report),
            Err(error) => report.rows(&file, 1, &[error]),
        }
    }
}

fn run_file(file: &str, content: &Value, known: &[&Table], report: &mut Report) {
    let whole = content.get("rows").map(|rows| ("", rows));
    let parts = content.get("tables").and_then(Value::as_object).into_iter().flatten();
    let parts = parts.map(|(name, rows)| (name.as_str(), rows));
    for (part, rows) in whole.into_iter().chain(parts) {
        let rows = rows.as_array().map_or(&[][..], Vec::as_slice);
        let short = part.split(' ').next().unwrap_or_default();
        let name = if short.is_empty() { file.to_string() } else { format!("{file} {short}") };
        match known.iter().find(|table| table.file == file && table.part == short) {
            Some(table) => report.rows(&name, rows.len(), &differences(table, rows)),
            None => {
                report.rows(&name, rows.len().max(1), &vec![format!("not understood: table {name}"); rows.len().max(1)])
            }
        }
    }
}

fn differences(table: &Table, rows: &[Value]) -> Vec<String> {
    let check = |at: usize| {
        let held = catch_unwind(AssertUnwindSafe(|| (table.check)(rows, at)));
        let held = held.unwrap_or_else(|_| Err("not understood".into()));
        held.err().map(|difference| format!("row {at}: {difference} in {}", rows[at]))
    };
    (0..rows.len()).filter_map(check).collect()
}

/// That two values are the same, or what the first is and what it should be.
fn same<T: PartialEq<U> + Debug, U: Debug>(got: T, expected: U) -> Held {
    if got == expected { Ok(()) } else { Err(format!("{got:?} (expected {expected:?})")) }
}

fn int(value: &Value) -> i32 {
    value.as_i64().map_or_else(|| panic!("a number: {value}"), |it| it as i32)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("a text: {value}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
