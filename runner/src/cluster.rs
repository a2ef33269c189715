//! `loopscope-run --dump cluster.yaml`: a cluster that somebody brings along, and what becomes of it.

use std::fmt::Write;

use loopscope_engine::dump;
use loopscope_engine::share::{state_words, write_scenario_file};
use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::view;
use loopscope_engine::world::{Command, Scenario, Simulation};

use super::{Asked, USAGE, trace};

struct Plan {
    deeds: Vec<(Time, String, Command)>,
    until: Time,
    is_scenario: bool,
    asked: Asked,
}

/// Plays a dump with what is to be done to it.
///
/// # Errors
/// What of it cannot be read.
pub fn run(file: &str, words: &[&str]) -> Result<(String, u8), String> {
    let plan = read_args(words)?;
    let bytes = std::fs::metadata(file).map_err(|error| format!("{file}: {error}"))?.len();
    if bytes > dump::MOST_BYTES as u64 {
        return Err(format!("{file}: {}", dump::Unreadable::too_large(usize::try_from(bytes).unwrap_or(usize::MAX))));
    }
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let read = dump::read(&text).map_err(|error| format!("{file}: {error}"))?;
    drop(text);
    let mut scenario = Scenario::of_dump(&read);
    if let Some(seed) = plan.asked.seed {
        scenario.seed = seed;
    }
    if plan.is_scenario {
        return Ok((write_scenario_file(&scenario), 0));
    }
    let mut out = String::new();
    for line in read.report.lines() {
        let _ = writeln!(out, "{line}");
    }
    let mut simulation = Simulation::new(scenario);
    let mut told = simulation.trace().last_seq();
    let mut code = 0;
    for (at, words, command) in plan.deeds {
        simulation.run_until(at, usize::MAX);
        trace(&mut out, &simulation, &plan.asked, &mut told);
        let outcome = simulation.dispatch(command);
        let answer: Vec<&str> =
            outcome.lines.iter().chain(outcome.problems.iter().map(|it| &it.message)).map(String::as_str).collect();
        let _ = writeln!(out, "{at} {words}: {}", answer.join("; "));
        code |= u8::from(!outcome.is_ok());
    }
    simulation.run_until(plan.until, usize::MAX);
    trace(&mut out, &simulation, &plan.asked, &mut told);
    let _ = writeln!(out, "{}", end(&simulation));
    Ok((out, code))
}

fn end(simulation: &Simulation) -> String {
    let end = view::summary(simulation);
    let state = state_words(simulation.trace().digest());
    format!("end at {}: want {}, ready {}, state {state}", simulation.now(), end.want, end.ready)
}

fn read_args(words: &[&str]) -> Result<Plan, String> {
    let asked = Asked::default();
    let mut plan = Plan { deeds: Vec::new(), until: Time(60_000), is_scenario: false, asked };
    let mut is_bound = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--trace" => plan.asked.is_traced = true,
            "--summary" => plan.asked.is_traced = false,
            "--as-scenario" => plan.is_scenario = true,
            "--seed" => {
                let seed = words.next().and_then(|it| it.parse().ok());
                plan.asked.seed = Some(seed.ok_or("--seed needs a whole number")?);
            }
            "--for" => {
                let span = words.next().and_then(|it| span(it));
                (plan.until, is_bound) = (Time(0) + span.ok_or("--for needs a time such as 90s or 10m")?, true);
            }
            "--do" => {
                let (at, text) =
                    words.next().and_then(|it| it.split_once(' ')).ok_or("--do needs a time and a command")?;
                let at = span(at).ok_or_else(|| format!("--do: {at} is no time such as 90s or 10m"))?;
                let command = text.parse::<Command>().map_err(|error| format!("--do: {text}: {error}"))?;
                plan.deeds.push((Time(0) + at, text.to_owned(), command));
            }
            word => return Err(format!("there is no flag {word}\n{USAGE}")),
        }
    }
    plan.deeds.sort_by_key(|(at, ..)| *at);
    if let Some((last, ..)) = plan.deeds.last().filter(|(last, ..)| !is_bound || *last > plan.until) {
        plan.until = *last + Millis::from_secs(60);
    }
    Ok(plan)
}

/// `90s`, `10m`, `2h`.
fn span(text: &str) -> Option<Millis> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        _ => return None,
    };
    let seconds = number.parse::<u64>().ok()?.checked_mul(seconds)?;
    (seconds <= 7 * 86_400).then(|| Millis::from_secs(seconds))
}
