//! kubectl's words and tables, held against recordings of the real one, and against whatever people may type.
//!
//! `CONFORMANCE_DIR` names another folder with `kubectl/` in it; the project's own copies are the default.
//! `CONFORMANCE_ONLY` takes the beginning of a recording's name, and with `CONFORMANCE_VERBOSE` every difference is told.

#[path = "kubectl/cluster.rs"]
mod cluster;
#[path = "kubectl/compare.rs"]
mod compare;
#[cfg(test)]
#[path = "kubectl/newcomer.rs"]
mod newcomer;
#[cfg(test)]
#[path = "kubectl/random.rs"]
mod random;
#[path = "kubectl/recording.rs"]
mod recording;
#[path = "kubectl/scope.rs"]
mod scope;
#[cfg(test)]
#[path = "kubectl/world.rs"]
mod world;

use cluster::Recorded;
use compare::{Said, differs};
use loopscope_engine::kubectl::{Console, Running, Stream};
use recording::{Recording, Step, folder, read};

/// At least so many of a hundred steps must be equal.
const WANTED: usize = 95;

fn said(running: &mut Running, into: &mut Said) {
    for (stream, text) in running.take() {
        match stream {
            Stream::Out => into.out += &text,
            Stream::Err => into.err += &text,
        }
    }
}

/// Runs a step to its end, or as long as the real kubectl ran; `late` is how long kubectl took until it worked out ages.
fn run(
    console: &mut Console,
    cluster: &mut Recorded,
    recording: &Recording,
    step: &Step,
    until: i64,
    late: i64,
) -> Said {
    cluster.wall = step.clock + late;
    if only_reads(step) {
        for change in recording.after(step.clock).take_while(|it| it.clock <= step.clock + late) {
            cluster.take(change);
        }
    }
    let mut running = console.run(&step.cmd, step.stdin.as_deref(), cluster);
    let mut all = Said::default();
    let end = match (step.stopped_after, step.live_end) {
        (Some(ms), _) => step.clock + ms,
        (None, Some(ms)) => step.clock + ms + 1_000,
        (None, None) => until.max(step.clock + 40_000),
    };
    if let Some(text) = running.editor().map(str::to_string) {
        running.edited(&text);
        running.poll(console, cluster);
    }
    let fed = if only_reads(step) { cluster.wall } else { step.clock };
    let mut changes = recording.after(fed).take_while(|it| it.clock <= end).peekable();
    while running.exit().is_none() {
        let due = running.due().filter(|due| *due <= end && *due > cluster.wall);
        let next = changes.peek().map(|it| it.clock);
        let Some(at) = due.into_iter().chain(next).min() else { break };
        cluster.wall = cluster.wall.max(at);
        if next == Some(at) {
            cluster.take(changes.next().expect("a change"));
        }
        running.poll(console, cluster);
        said(&mut running, &mut all);
    }
    said(&mut running, &mut all);
    all.exit = running.exit();
    all
}

#[derive(Default)]
struct Tally {
    equal: usize,
    wanted: usize,
    outside: usize,
    reasons: Vec<(&'static str, usize)>,
}

/// How late the real kubectl looked, in milliseconds: the recording does not say. The likeliest come first.
const LATE: [i64; 10] = [90, 60, 120, 150, 30, 0, 200, 260, 330, 450];

/// Whether a step changes nothing, so that what passed before kubectl looked can be there first.
fn only_reads(step: &Step) -> bool {
    const READS: [&str; 8] = ["get", "describe", "events", "wait", "top", "explain", "version", "diff"];
    let mut words = step.cmd.split_whitespace().skip(1);
    let verb = words.next().unwrap_or_default();
    READS.contains(&verb) || (verb == "rollout" && matches!(words.next(), Some("status" | "history" | "pause")))
}

fn run_recording(recording: &Recording, tally: &mut Tally, verbose: bool) {
    let mut cluster = Recorded::new(recording);
    let mut console = Console::default();
    let mut shown = 0;
    for (index, step) in recording.steps.iter().enumerate() {
        for (name, text) in &step.files {
            console.write(name, text.clone());
        }
        cluster.place(recording, index, step.clock);
        let until = recording.steps.get(index + 1).map_or(step.clock + 40_000, |it| it.clock);
        let reason = scope::outside(&recording.name, index, step);
        // When the real kubectl looked is known to some 150 ms; the step has effects, so that it is done once.
        let backup = (cluster.clone(), console.clone());
        let mut difference = None;
        let lates = if only_reads(step) { &LATE[..] } else { &LATE[..1] };
        for late in lates {
            let late = *late;
            (cluster, console) = backup.clone();
            let all = run(&mut console, &mut cluster, recording, step, until, late);
            let found = differs(step, &all);
            let is_equal = found.is_none();
            if difference.is_none() || is_equal {
                difference = Some(found);
            }
            if is_equal || reason.is_some() {
                break;
            }
        }
        let difference = difference.flatten();
        match (reason, difference) {
            (Some(reason), _) => {
                tally.outside += 1;
                match tally.reasons.iter_mut().find(|it| it.0 == reason) {
                    Some((_, count)) => *count += 1,
                    None => tally.reasons.push((reason, 1)),
                }
            }
            (None, None) => {
                tally.wanted += 1;
                tally.equal += 1;
            }
            (None, Some(text)) => {
                tally.wanted += 1;
                shown += 1;
                if verbose || shown <= 2 {
                    println!("{} step {index}: {}\n{text}", recording.name, step.cmd);
                }
            }
        }
    }
}

#[test]
fn kubectl_says_what_the_recorded_one_said() {
    run_all();
}

pub fn run_all() {
    let only = std::env::var("CONFORMANCE_ONLY").unwrap_or_default();
    let verbose = std::env::var_os("CONFORMANCE_VERBOSE").is_some();
    let mut tally = Tally::default();
    let mut count = 0;
    for (name, text) in read(&folder()) {
        if name == "yaml_scalars" || !name.starts_with(&only) {
            continue;
        }
        let recording = Recording::parse(&name, &text);
        let before = (tally.equal, tally.wanted);
        run_recording(&recording, &mut tally, verbose);
        println!("{name}: {}/{}", tally.equal - before.0, tally.wanted - before.1);
        count += 1;
    }
    assert!(count > 0, "there are recordings in {}", folder().display());
    for (reason, count) in &tally.reasons {
        println!("out of scope, {count}: {reason}");
    }
    println!("kubectl steps equal {}/{} in scope, {} out of scope", tally.equal, tally.wanted, tally.outside);
    assert!(tally.equal * 100 >= tally.wanted * WANTED, "fewer than {WANTED} of 100 steps are equal");
}
