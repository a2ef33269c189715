//! How the engine's cost grows: CPU time for a Deployment to become available, by size.
//!
//! `cargo xtask bench`, or `cargo bench -p loopscope-engine --bench scale`. CPU time of the one thread (wall time where
//! the system does not tell it), the least of three runs. `BENCH_MAX=1000` leaves out larger sizes, `BENCH_ONE=1000/50`
//! runs one size once.

mod load;
mod stopwatch;

use loopscope_engine::view;
use loopscope_engine::world::Simulation;
use stopwatch::Stopwatch;

const RUNS: usize = 3;

/// CPU seconds until all replicas are available, virtual seconds and events.
fn measure(replicas: usize, nodes: usize) -> (f64, u64, u64, Simulation) {
    // The system counts CPU time in steps of some milliseconds: small clusters are brought up many at a time.
    let count = (5_000 / replicas.max(2 * nodes)).clamp(1, 100);
    let mut clusters: Vec<Simulation> = (0..count).map(|_| load::cluster(replicas, nodes)).collect();
    let watch = Stopwatch::start();
    clusters.iter_mut().for_each(|simulation| load::bring_up(simulation, replicas));
    let took = watch.seconds() / count as f64;
    let simulation = clusters.swap_remove(0);
    (took, simulation.now().0 / 1000, simulation.trace().last_seq().0, simulation)
}

/// A size as `10000/500`: replicas and nodes.
fn size(text: &str) -> Option<(usize, usize)> {
    let (replicas, nodes) = text.split_once('/')?;
    Some((replicas.parse().ok()?, nodes.parse().ok()?))
}

fn main() {
    // For a profiler: one size, once.
    if let Some((replicas, nodes)) = std::env::var("BENCH_ONE").ok().as_deref().and_then(size) {
        let mut simulation = load::cluster(replicas, nodes);
        load::bring_up(&mut simulation, replicas);
        // Its end is not what is measured.
        std::mem::forget(simulation);
        return;
    }
    let largest = std::env::var("BENCH_MAX").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000);
    table(load::SIZES.into_iter().filter(|(replicas, _)| *replicas <= largest));
    if largest == 10_000 {
        println!("\nThe same replicas on one cluster:");
        table(load::SIZES[1..].iter().map(|(replicas, _)| (*replicas, 500)));
    }
}

fn table(sizes: impl Iterator<Item = (usize, usize)>) {
    println!(
        "{:>9} {:>6} {:>10} {:>12} {:>10} {:>12} {:>12}",
        "replicas", "nodes", "CPU s", "per pod µs", "virtual s", "events", "× before"
    );
    let mut before: Option<f64> = None;
    for (replicas, nodes) in sizes {
        let (mut took, virtual_s, events, simulation) = measure(replicas, nodes);
        for _ in 1..RUNS {
            took = took.min(measure(replicas, nodes).0);
        }
        let ratio = before.map_or_else(|| "-".into(), |before| format!("{:.1}", took / before));
        println!(
            "{replicas:>9} {nodes:>6} {took:>10.4} {:>12.1} {virtual_s:>10} {events:>12} {ratio:>12}",
            took * 1e6 / replicas as f64
        );
        before = Some(took);
        if replicas >= 1_000 {
            checkpoint(&simulation);
        }
    }
}

/// What a copy of a simulation costs, and a frame of it.
fn checkpoint(simulation: &Simulation) {
    let watch = Stopwatch::start();
    let copy = simulation.clone();
    let clone = watch.seconds() * 1e3;
    let watch = Stopwatch::start();
    let frame = view::frame(&copy);
    println!("{:>16} checkpoint {clone:.2} ms, frame of {} pods {:.2} ms", "", frame.map.n_pods, watch.seconds() * 1e3);
}
