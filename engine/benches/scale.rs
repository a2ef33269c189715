//! How the engine's cost grows: CPU time for a Deployment to become available and to get another image, by size.
//!
//! `cargo xtask bench`, or `cargo bench -p loopscope-engine --bench scale`. CPU time of the one thread (wall time where
//! the system does not tell it) and the most memory held, the least of three runs, each a process of its own.
//! `BENCH_MAX=1000` leaves out larger sizes. `BENCH_ONE=1000/50` runs one size once, with `BENCH_UPDATE=1` the update
//! too, with `BENCH_UNTIL=600` until so many virtual seconds have passed; `BENCH_ROW=1000/50` measures one size and says
//! what came of it as JSON.

mod load;
mod stopwatch;

use std::process::Command;

use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::view;
use loopscope_engine::world::Simulation;
use serde_json::{Value, json};
use stopwatch::Stopwatch;

const RUNS: usize = 3;
/// With more pods a rolling update takes minutes: whenever a few are ready, some of all old ones are chosen to go.
const MOST_UPDATED: usize = 10_000;
/// Time per pod may differ so much between the sizes from this one on.
const MOST_APART: f64 = 2.0;
const APART_FROM: usize = 100;

/// The most that the process has held, in bytes, as Linux counts it.
fn peak() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<f64>().ok().map(|kb| kb * 1_024.0)
}

/// CPU seconds that `deed` takes for each of some clusters.
fn each(clusters: &mut [Simulation], deed: impl Fn(&mut Simulation)) -> f64 {
    let watch = Stopwatch::start();
    clusters.iter_mut().for_each(deed);
    watch.seconds() / clusters.len() as f64
}

/// Measures one size.
fn row((replicas, nodes): (usize, usize)) -> Value {
    let mut one = [load::cluster(replicas, nodes)];
    let mut create = each(&mut one, |it| load::bring_up(it, replicas));
    let simulation = &one[0];
    let (virtual_s, events) = (simulation.now().0 as f64 / 1e3, simulation.trace().last_seq().0);
    let held = peak();
    let copied = (replicas >= 1_000).then(|| checkpoint(simulation));
    let is_updated = replicas <= MOST_UPDATED;
    let mut update = is_updated.then(|| each(&mut one, |it| load::roll_out(it, replicas)));
    let held_later = peak();
    // The system counts CPU time in steps of some milliseconds: small clusters are brought up many at a time.
    let count = (5_000 / replicas.max(2 * nodes)).clamp(1, 100);
    if count > 1 {
        let mut many: Vec<Simulation> = (0..count).map(|_| load::cluster(replicas, nodes)).collect();
        create = each(&mut many, |it| load::bring_up(it, replicas));
        update = Some(each(&mut many, |it| load::roll_out(it, replicas)));
    }
    // Its end is not what is measured.
    std::mem::forget(one);
    json!({
        "create": create, "update": update, "virtual": virtual_s, "events": events,
        "peak": held, "later": held_later, "copied": copied,
    })
}

/// What a copy of a simulation costs, and a frame of it.
fn checkpoint(simulation: &Simulation) -> String {
    let watch = Stopwatch::start();
    let copy = simulation.clone();
    let clone = watch.seconds() * 1e3;
    let watch = Stopwatch::start();
    let frame = view::frame(&copy);
    format!("checkpoint {clone:.2} ms, frame of {} pods {:.2} ms", frame.map.n_pods, watch.seconds() * 1e3)
}

/// A size as `10000/500`: replicas and nodes.
fn size(variable: &str) -> Option<(usize, usize)> {
    let text = std::env::var(variable).ok()?;
    let (replicas, nodes) = text.split_once('/')?;
    Some((replicas.parse().ok()?, nodes.parse().ok()?))
}

fn main() {
    // For a profiler: one size, once.
    if let Some((replicas, nodes)) = size("BENCH_ONE") {
        let mut simulation = load::cluster(replicas, nodes);
        load::bring_up(&mut simulation, replicas);
        if std::env::var_os("BENCH_UPDATE").is_some() {
            load::roll_out(&mut simulation, replicas);
        }
        let until = std::env::var("BENCH_UNTIL").ok().and_then(|seconds| seconds.parse().ok());
        if let Some(seconds) = until {
            simulation.run_until(Time(0) + Millis::from_secs(seconds), usize::MAX);
        }
        std::mem::forget(simulation);
        return;
    }
    if let Some(size) = size("BENCH_ROW") {
        println!("{}", row(size));
        return;
    }
    let most = std::env::var("BENCH_MAX").ok().and_then(|text| text.parse().ok()).unwrap_or(usize::MAX);
    let fits = |(replicas, _): &(usize, usize)| *replicas <= most;
    table(load::SIZES.into_iter().chain([load::LARGEST]).filter(fits));
    if most >= 10_000 {
        println!("\nThe same replicas on one cluster:");
        table(load::SIZES[1..].iter().map(|(replicas, _)| (*replicas, 500)));
    }
}

/// One row from a process of its own, so that none finds the heap of the one before.
fn measured((replicas, nodes): (usize, usize)) -> Value {
    let program = std::env::current_exe().expect("the benchmark's own path");
    let mut command = Command::new(program);
    let out = command.env("BENCH_ROW", format!("{replicas}/{nodes}")).output().expect("a second process");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("a row")
}

fn table(sizes: impl Iterator<Item = (usize, usize)>) {
    println!(
        "{:>9} {:>6} {:>10} {:>11} {:>9} {:>10} {:>11} {:>10} {:>11} {:>9} {:>9}",
        "replicas",
        "nodes",
        "CPU s",
        "per pod µs",
        "× before",
        "virtual s",
        "events",
        "update s",
        "per pod µs",
        "peak MB",
        "later MB"
    );
    let (mut before, mut per_pod) = (None, Vec::new());
    for size in sizes {
        let runs: Vec<Value> = (0..RUNS).map(|_| measured(size)).collect();
        let least = |name: &str| runs.iter().filter_map(|run| run[name].as_f64()).fold(f64::INFINITY, f64::min);
        let (create, update, pods) = (least("create"), least("update"), size.0 as f64);
        let ratio = before.map_or_else(|| "-".into(), |before| format!("{:.1}", create / before));
        before = Some(create);
        if size.0 >= APART_FROM {
            per_pod.push(create * 1e6 / pods);
        }
        let shown =
            |value: f64, digits: usize| if value.is_finite() { format!("{value:.digits$}") } else { "-".into() };
        println!(
            "{:>9} {:>6} {create:>10.4} {:>11.1} {ratio:>9} {:>10.1} {:>11} {:>10} {:>11} {:>9.1} {:>9.1}",
            size.0,
            size.1,
            create * 1e6 / pods,
            least("virtual"),
            least("events"),
            shown(update, 4),
            shown(update * 1e6 / pods, 1),
            least("peak") / 1e6,
            least("later") / 1e6,
        );
        if let Some(copied) = runs[0]["copied"].as_str() {
            println!("{:>16} {copied}", "");
        }
    }
    let (least, most) = per_pod.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), it| (a.min(*it), b.max(*it)));
    let verdict = if most <= MOST_APART * least { "kept" } else { "NOT KEPT" };
    println!(
        "time per pod from {APART_FROM} pods on: {least:.1} to {most:.1} µs, {:.2} times, of at most {MOST_APART}: {verdict}",
        most / least
    );
}
