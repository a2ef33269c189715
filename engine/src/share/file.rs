//! Files: the first line says what it is, in which version of the format.
//!
//! Scenarios and journals are there to be edited. A moment is not: its first line has the sum of the rest.

use std::rc::Rc;

use serde_json::Value;

use super::link::sum;
use super::moment::{read_steps, read_yaml, state_words};
use super::{Bad, MOST_BYTES, Moment, VERSION, read_moment, scenario, write_moment};
use crate::dump;
use crate::manifest;
use crate::world::{JournalEntry, Scenario, write_journal};

/// What was handed over.
#[derive(Clone, Debug, PartialEq)]
pub enum Handed {
    Scenario(Scenario),
    Journal(Vec<Rc<JournalEntry>>),
    Moment(Moment),
}

/// What the first line of a file begins with.
pub const MARK: &str = "# Loopscope ";
const WHAT: &str = "This file";

/// Bytes that a file may have: with a cluster in it as many as a dump.
pub fn most_bytes(text: &str) -> usize {
    let has_cluster = ["\ncluster: |", "\n  cluster: |"].into_iter().any(|it| text.contains(it));
    if has_cluster { dump::MOST_BYTES } else { MOST_BYTES }
}

fn head(kind: &str) -> String {
    [MARK, kind, " ", &VERSION.to_string()].concat()
}

/// A scenario as YAML, every field of it.
pub fn write_scenario_file(it: &Scenario) -> String {
    let fields = scenario::write(it, None);
    [head("scenario").as_str(), "\n", &manifest::to_yaml(&Value::Object(fields))].concat()
}

/// A journal, and a word on what it was given in.
pub fn write_journal_file(scenario: &Scenario, steps: &[Rc<JournalEntry>]) -> String {
    let seed = scenario.seed.to_string();
    let name = scenario.name.replace(['\n', '\r'], " ");
    [head("journal").as_str(), "\n# Scenario ", &name, ", seed ", &seed, "\n", &write_journal(steps)].concat()
}

/// A moment, sealed.
pub fn write_moment_file(moment: &Moment) -> String {
    let text = write_moment(moment);
    let size = text.len().to_string();
    [head("moment").as_str(), " ", &state_words(sum(&text)), " ", &size, "\n", &text].concat()
}

/// Reads any of them.
///
/// # Errors
/// What is wrong, and what can still be used.
pub fn read_file(text: &str) -> Result<Handed, Bad> {
    let most = most_bytes(text);
    if text.len() > most {
        return Err(Bad::too_large(WHAT, text.len(), most));
    }
    let text = text.trim_start_matches('\u{feff}');
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let mut words = first.trim_end().strip_prefix(MARK).ok_or_else(|| Bad::no_mark(text))?.split(' ');
    let kind = words.next().unwrap_or_default();
    match words.next().map(str::parse::<u32>) {
        Some(Ok(version)) if version > VERSION => return Err(Bad::newer(WHAT, version)),
        Some(Ok(1..)) => {}
        _ => return Err(Bad::not_ours()),
    }
    match kind {
        "scenario" => {
            let fields = read_yaml(rest)?;
            let read = scenario::read(&fields, Scenario::empty(1));
            read.map(Handed::Scenario).map_err(|error| Bad::unreadable(&["In this scenario ", &error.words, "."]))
        }
        "journal" => read_steps(&rest.replace("\r\n", "\n"), 1).map(Handed::Journal),
        "moment" => sealed(rest, words.next(), words.next()).map(Handed::Moment),
        _ => Err(Bad::not_ours()),
    }
}

fn sealed(text: &str, seal: Option<&str>, size: Option<&str>) -> Result<Moment, Bad> {
    let is_whole = seal == Some(state_words(sum(text)).as_str());
    let is_short = size.and_then(|it| it.parse::<usize>().ok()).is_some_and(|size| text.len() < size);
    let read = read_moment(text);
    if is_whole {
        return read;
    }
    let bad = if is_short { Bad::truncated(WHAT) } else { Bad::changed(WHAT) };
    let scenario = read.map_or_else(|bad| bad.scenario, |moment| Some(Box::new(moment.scenario)));
    Err(Bad { scenario, ..bad })
}
