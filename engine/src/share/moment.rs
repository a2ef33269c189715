//! A moment: everything that it takes to be at it again.

use std::rc::Rc;

use serde_json::{Map, Value};

use super::{Bad, LONGEST_MS, MOST_COMMANDS, scenario};
use crate::api::{Kind, ObjectKey};
use crate::manifest;
use crate::sim::Time;
/// A digest in sixteen letters.
pub use crate::sim::hex as state_words;
use crate::world::{Instant, JournalEntry, Scenario, read_instant, read_journal_until, write_instant, write_journal};

/// An instant of a run, with the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    pub scenario: Scenario,
    /// All commands of the run, those after the instant too.
    pub steps: Vec<Rc<JournalEntry>>,
    pub at: Instant,
    /// The object that is looked at.
    pub selected: Option<ObjectKey>,
    /// Of the trace up to the instant.
    pub digest: u64,
}

/// Between what a moment is and its journal.
const RULE: &str = "---\n";

/// A moment as text: YAML, a line `---`, and the journal.
pub fn write_moment(moment: &Moment) -> String {
    let mut front = Map::new();
    let mut put = |name: &str, value: Value| front.insert(name.to_owned(), value);
    put("scenario", named(&moment.scenario));
    put("at", write_instant(moment.at.at, Some(moment.at.nth).filter(|it| *it != u32::MAX)).into());
    put("commands", moment.at.commands.into());
    put("state", state_words(moment.digest).into());
    if let Some(key) = &moment.selected {
        put("select", [key.kind.name(), "/", &key.namespace, "/", &key.name].concat().into());
    }
    let front = manifest::to_yaml(&Value::Object(front));
    [front.as_str(), RULE, &write_journal(&moment.steps)].concat()
}

/// A built-in scenario by its name, with what differs from it; any other one whole.
fn named(all: &Scenario) -> Value {
    let base = Scenario::built_in(&all.name);
    let mut fields = scenario::write(all, base.as_ref());
    match base {
        Some(base) if fields.is_empty() => return base.name.into(),
        Some(base) => drop(fields.insert("base".to_owned(), base.name.into())),
        None => {}
    }
    Value::Object(fields)
}

fn read_scenario(value: Option<&Value>) -> Result<Scenario, Bad> {
    let built_in = |name: &str| {
        let unknown = || Bad::unreadable(&["There is no built-in scenario called ", name, " here."]);
        Scenario::built_in(name).ok_or_else(unknown)
    };
    match value {
        Some(Value::String(name)) => built_in(name),
        Some(Value::Object(fields)) => {
            let mut fields = fields.clone();
            let base = match fields.remove("base") {
                Some(Value::String(name)) => built_in(&name)?,
                _ => Scenario::empty(1),
            };
            scenario::read(&fields, base).map_err(|error| Bad::unreadable(&["Of the scenario: ", &error.words, "."]))
        }
        _ => Err(Bad::unreadable(&["It names no scenario."])),
    }
}

/// Reads what [`write_moment`] has written.
///
/// # Errors
/// What cannot be understood; with the scenario, and the commands before it, if those can be.
pub fn read_moment(text: &str) -> Result<Moment, Bad> {
    let (front, journal) = match text.find(&["\n", RULE].concat()) {
        Some(at) => (text.get(..=at).unwrap_or_default(), text.get(at + 1 + RULE.len()..).unwrap_or_default()),
        None => (text, ""),
    };
    let value = read_yaml(front)?;
    let field = |name: &str| value.get(name);
    let scenario = read_scenario(field("scenario"))?;
    let rest = |scenario: Scenario| {
        let steps = read_steps(journal, front.matches('\n').count() + 1)?;
        let at = read_place(field("at"), field("commands"), &steps)?;
        let selected = field("select").and_then(Value::as_str).and_then(read_key);
        let digest = field("state").and_then(Value::as_str).and_then(|it| u64::from_str_radix(it, 16).ok());
        let digest = digest.ok_or_else(|| Bad::unreadable(&["Its state is missing."]))?;
        Ok(Moment { scenario, steps, at, selected, digest })
    };
    rest(scenario.clone()).map_err(|bad: Bad| Bad { scenario: Some(Box::new(scenario)), ..bad })
}

/// The one document of a text, with a mapping in it.
pub(super) fn read_yaml(text: &str) -> Result<Map<String, Value>, Bad> {
    match manifest::value(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(Bad::unreadable(&["Fields are missing."])),
        Err(problem) => Err(Bad::unreadable(&["Line ", &problem.line.to_string(), ": ", &problem.message, "."])),
    }
}

/// A journal that may have been written by anybody. `before` lines come before it.
pub(super) fn read_steps(text: &str, before: usize) -> Result<Vec<Rc<JournalEntry>>, Bad> {
    let (entries, error) = read_journal_until(text, MOST_COMMANDS);
    let fault = error.map(|(line, error)| {
        Bad::unreadable(&["The command on line ", &(line + before).to_string(), " cannot be read: ", &error, "."])
    });
    let is_bad = |at: usize, it: &JournalEntry| {
        it.at.0 > LONGEST_MS || at.checked_sub(1).and_then(|it| entries.get(it)).is_some_and(|last| last.at > it.at)
    };
    let disorder = entries.iter().enumerate().position(|(at, it)| is_bad(at, it));
    let bad = match disorder {
        Some(at) => {
            let (number, week) = ((at + 1).to_string(), LONGEST_MS / 1_000);
            let words = [
                "Command ",
                &number,
                " has a time before that of the command before it, or beyond ",
                &week.to_string(),
                " s.",
            ];
            Some((Bad::unreadable(&words), at))
        }
        None => fault.map(|bad| (bad, entries.len())),
    };
    match bad {
        Some((bad, n)) => Err(Bad { steps: entries.into_iter().take(n).collect(), ..bad }),
        None => Ok(entries.into_iter().map(Rc::new).collect()),
    }
}

fn read_place(at: Option<&Value>, commands: Option<&Value>, steps: &[Rc<JournalEntry>]) -> Result<Instant, Bad> {
    let place = at.and_then(Value::as_str).and_then(read_instant);
    let commands = commands.and_then(Value::as_u64).and_then(|it| usize::try_from(it).ok());
    let (Some((at, nth)), Some(commands)) = (place, commands) else {
        return Err(Bad::unreadable(&["Its time is missing."]));
    };
    if at.0 > LONGEST_MS {
        return Err(Bad::unreadable(&["It lies beyond ", &(LONGEST_MS / 1_000).to_string(), " s, which is the most."]));
    }
    let last = commands.checked_sub(1).map_or(Some(Time(0)), |last| steps.get(last).map(|it| it.at));
    if last.is_none_or(|last| last > at) {
        return Err(Bad::unreadable(&["It lies after more commands than its journal has."]));
    }
    Ok(Instant { at, commands: commands as u32, nth: nth.unwrap_or(u32::MAX) })
}

fn read_key(text: &str) -> Option<ObjectKey> {
    let (kind, rest) = text.split_once('/')?;
    let (namespace, name) = rest.split_once('/')?;
    Some(ObjectKey::new(Kind::by_name(kind)?, namespace, name))
}
