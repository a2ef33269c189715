//! `loopscope-run lesson.yaml`: plays a scenario file, prints what happened, and fails where a goal is not reached.

mod cluster;
mod oembed;

use std::fmt::Write;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use loopscope_engine::lesson::{self, Lesson, Played, Standing, Step, number_text};
use loopscope_engine::sim::{Millis, Seq};
use loopscope_engine::view;
use loopscope_engine::world::Simulation;

const USAGE: &str = "\
usage: loopscope-run <file.yaml> [--solution] [--trace | --summary] [--seed N]
       loopscope-run --dump <cluster.yaml> [--do '30s node stop node-2']... [--for 10m] [--trace] [--as-scenario]
       loopscope-run --schema
       loopscope-run --index <folder>
       loopscope-run --oembed <folder> <sprite.svg> <into>

  --solution   give the commands of each step's own solution
  --summary    say how each step ends (the usual)
  --trace      print every event as well, heartbeats left out
  --seed N     another seed than the file's
  --dump       go on from a cluster: what `kubectl get nodes,deploy,rs,sts,ds,po,svc,hpa,pdb -A -o yaml` printed
  --do         then and there a command, as a journal has it; as often as you like
  --for        how long, such as 90s or 10m; a minute where nothing is said
  --as-scenario  print the scenario file that begins there, and play nothing
  --schema     print the JSON Schema of such files
  --index      print the index of a folder of such files
  --oembed     write descriptions and pictures of the worlds of a folder, for embeds

Ends with 0 where every goal was reached, with 1 where one was not, and with 2 where the file cannot be read or run.";

const NOT_REACHED: u8 = 1;
const UNUSABLE: u8 = 2;

#[derive(Default)]
struct Asked {
    file: String,
    is_solved: bool,
    is_traced: bool,
    seed: Option<u64>,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (text, code) = match answer(&args) {
        Ok(it) => it,
        Err(why) => {
            eprintln!("loopscope-run: {why}");
            return ExitCode::from(UNUSABLE);
        }
    };
    // Whoever reads it may have read enough: `| head`.
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::from(code)
}

fn answer(args: &[String]) -> Result<(String, u8), String> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--help" | "-h" | "help"] => Ok((format!("{USAGE}\n"), 0)),
        ["--schema"] => Ok((pretty(&lesson::schema()), 0)),
        ["--dump", file, rest @ ..] => cluster::run(file, rest),
        ["--index", folder] => Ok((pretty(&index(folder)?), 0)),
        ["--oembed", folder, sprite, into] => {
            let sprite = std::fs::read_to_string(sprite).map_err(|error| format!("{sprite}: {error}"))?;
            oembed::write(oembed::World::all(&lessons_of(folder)?)?, &sprite, Path::new(into))?;
            Ok((String::new(), 0))
        }
        _ => {
            let asked = read_args(&words)?;
            let mut lesson = read(&asked.file)?;
            if let Some(seed) = asked.seed {
                lesson.scenario.seed = seed;
            }
            run(&lesson, &asked)
        }
    }
}

fn read_args(words: &[&str]) -> Result<Asked, String> {
    let mut asked = Asked::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--solution" => asked.is_solved = true,
            "--trace" => asked.is_traced = true,
            "--summary" => asked.is_traced = false,
            "--seed" => {
                let seed = words.next().and_then(|it| it.parse().ok());
                asked.seed = Some(seed.ok_or("--seed needs a whole number")?);
            }
            flag if flag.starts_with('-') => return Err(format!("there is no flag {flag}\n{USAGE}")),
            file if asked.file.is_empty() => asked.file = file.into(),
            file => return Err(format!("one file at a time: {file}\n{USAGE}")),
        }
    }
    if asked.file.is_empty() { Err(format!("which file?\n{USAGE}")) } else { Ok(asked) }
}

fn read(file: &str) -> Result<Lesson, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    lesson::read(&text).map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(|it| format!("{file}: {it}")).collect();
        lines.join("\n")
    })
}

/// The lessons of a folder by their ids, in the order that they give themselves.
fn lessons_of(folder: &str) -> Result<Vec<(String, Lesson)>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{folder}: {error}"))?;
    let paths = entries.filter_map(Result::ok).map(|it| it.path());
    let mut all = Vec::new();
    for path in paths.filter(|it| it.extension().is_some_and(|it| it == "yaml")) {
        let id = path.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        all.push((id, read(&path.to_string_lossy())?));
    }
    all.sort_by(|a, b| (a.1.course.order, &a.0).cmp(&(b.1.course.order, &b.0)));
    Ok(all)
}

fn index(folder: &str) -> Result<serde_json::Value, String> {
    let all = lessons_of(folder)?;
    let all: Vec<(&str, &Lesson)> = all.iter().map(|(id, lesson)| (id.as_str(), lesson)).collect();
    Ok(lesson::index(&all))
}

fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}

fn run(lesson: &Lesson, asked: &Asked) -> Result<(String, u8), String> {
    let mut simulation = lesson::open(lesson).map_err(|why| format!("the opening was refused: {why}"))?;
    let mut out = format!("{}: seed {}, {}\n", lesson.title, lesson.scenario.seed, simulation.now());
    let mut told = Seq(0);
    trace(&mut out, &simulation, asked, &mut told);
    let mut code = 0;
    for (number, step) in lesson.course.steps.iter().enumerate() {
        if lesson.course.is_free && number > 0 {
            simulation = lesson::open(lesson)?;
            told = Seq(0);
        }
        let deeds = if asked.is_solved { step.solution.as_slice() } else { &[] };
        let played = match step.goal {
            Some(_) => lesson::play(&mut simulation, step, deeds)?,
            None => continue,
        };
        trace(&mut out, &simulation, asked, &mut told);
        code |= summary(&mut out, &simulation, number + 1, step, &played);
    }
    if !lesson.has_course() {
        let until = simulation.now() + Millis::from_secs(60);
        simulation.run_until(until, usize::MAX);
        trace(&mut out, &simulation, asked, &mut told);
    }
    let end = view::summary(&simulation);
    let state = loopscope_engine::share::state_words(simulation.trace().digest());
    let _ = writeln!(out, "end at {}: want {}, ready {}, state {state}", simulation.now(), end.want, end.ready);
    Ok((out, code))
}

/// How a step ended: its goal, and what came of its prediction.
fn summary(out: &mut String, simulation: &Simulation, number: usize, step: &Step, played: &Played) -> u8 {
    for line in &played.lines {
        let _ = writeln!(out, "  {}", line.replace('\n', "\n  "));
    }
    let (words, code) = match played.standing {
        Standing::Met(at) => (format!("goal reached at {at}"), 0),
        _ => (format!("goal NOT reached within {} s", step.within.0 / 1_000), NOT_REACHED),
    };
    let title = if step.title.is_empty() { String::new() } else { [", ", &step.title].concat() };
    let _ = writeln!(out, "step {number}{title}: {words}");
    if let Some(prediction) = step.prediction.as_ref().filter(|_| code == 0) {
        let came = played.progress.answer(prediction, simulation);
        let came = came.map_or_else(|| "nothing that is measured".to_owned(), number_text);
        let _ = writeln!(out, "  predicted {}, came {came}", number_text(prediction.answer));
    }
    for explain in step.explain.iter().filter(|_| code == 0) {
        let event = played.progress.explain(explain, simulation).and_then(|seq| view::event(simulation, seq));
        let event = event.map_or_else(|| "no such event".to_owned(), |it| [&it.who, ": ", &it.text.plain()].concat());
        let _ = writeln!(out, "  {} ({event})", explain.text.plain());
    }
    code
}

/// The events since the last ones that were printed.
fn trace(out: &mut String, simulation: &Simulation, asked: &Asked, told: &mut Seq) {
    if !asked.is_traced {
        return;
    }
    for event in simulation.trace().events().filter(|event| event.seq > *told) {
        if let Some(row) = view::event(simulation, event.seq.0) {
            let _ = writeln!(out, "{} {}: {}", event.at, row.who, row.text.plain());
        }
    }
    *told = simulation.trace().last_seq();
}
