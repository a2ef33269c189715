//! What going back in time costs: any instant of an hour of 1,000 pods, the last minute, checkpoints, memory.
//!
//! `cargo xtask bench`, or `cargo bench -p loopscope-engine --bench seek`. CPU time of the one thread. `BENCH_SEEKS=1000`
//! looks at more instants.

mod load;
mod stopwatch;

use load::hour;
use loopscope_engine::history::History;
use loopscope_engine::sim::Time;
use loopscope_engine::view;
use loopscope_engine::world::Instant;
use stopwatch::Stopwatch;

const SEEKS: u64 = 200;
/// Aims, in ms and in MB.
const ANY: f64 = 100.0;
const LATE: f64 = 16.0;
const MOST_MB: f64 = 150.0;

/// What the process holds now, in MB, as Linux counts it.
fn resident() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<f64>().ok().map(|kb| kb / 1_000.0)
}

/// Milliseconds to an instant and to a frame of it.
fn seek(history: &History, to: Time) -> f64 {
    let watch = Stopwatch::start();
    let mut replay = history.way_to(history.current(), Instant::end_of(to)).expect("the branch is there");
    while !replay.run(usize::MAX) {}
    let frame = view::frame(replay.simulation());
    let took = watch.seconds() * 1e3;
    assert!(frame.map.n_pods <= 2 * hour::REPLICAS);
    took
}

/// The median, the 95th of 100 and the worst of instants between two times, spread evenly.
fn seeks(history: &History, name: &str, (from, until): (u64, u64), aim: f64) {
    let n = std::env::var("BENCH_SEEKS").ok().and_then(|text| text.parse().ok()).unwrap_or(SEEKS);
    let mut all: Vec<f64> =
        (0..n).map(|at| seek(history, Time(from + (until - from) * (2 * at + 1) / (2 * n)))).collect();
    all.sort_by(f64::total_cmp);
    let at = |percent: usize| all[(all.len() - 1) * percent / 100];
    let verdict = if at(100) <= aim { "kept" } else { "NOT KEPT" };
    println!("{name:<32} {:>8.1} {:>8.1} {:>8.1}   aim {aim} ms: {verdict}", at(50), at(95), at(100));
}

fn main() {
    let empty = resident().unwrap_or_default();
    let mut history = hour::hour();
    let watch = Stopwatch::start();
    hour::play(&mut history);
    let played = watch.seconds();
    let simulation = history.simulation();
    println!(
        "an hour of {} pods: {played:.1} s to play, {} trace events, {} checkpoints",
        hour::REPLICAS,
        simulation.trace().last_seq().0,
        history.n_checkpoints()
    );
    if let Some(now) = resident() {
        let held = now - empty;
        let verdict = if held <= MOST_MB { "kept" } else { "NOT KEPT" };
        println!("memory with all checkpoints: {held:.1} MB   aim {MOST_MB} MB: {verdict}");
    }
    let watch = Stopwatch::start();
    let copies: Vec<_> = (0..20).map(|_| simulation.clone()).collect();
    println!("a checkpoint: {:.2} ms to take", watch.seconds() * 1e3 / copies.len() as f64);
    drop(copies);
    println!("{:<32} {:>8} {:>8} {:>8}", "ms to an instant and its frame", "median", "95 %", "worst");
    let end = hour::END.0;
    seeks(&history, "any instant of the hour", (0, end), ANY);
    seeks(&history, "the minute of a rollout", (300_000, 360_000), ANY);
    seeks(&history, "the last minute", (end - 60_000, end), LATE);
}
