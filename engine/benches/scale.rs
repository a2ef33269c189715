//! How the engine's cost grows: CPU time for a Deployment to become available, by size.
//!
//! `cargo xtask bench`, or `cargo bench -p loopscope-engine --bench scale`. CPU time of the one thread (wall time where
//! the system does not tell it), the least of three runs. `BENCH_MAX=1000` leaves out larger sizes.

mod load;

use std::time::{Duration, Instant};

use loopscope_engine::view;
use loopscope_engine::world::Simulation;

const RUNS: usize = 3;

/// The CPU time that this thread has used, as Linux counts it.
fn cpu_time() -> Option<Duration> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split_whitespace().next()?.parse().ok().map(Duration::from_nanos).filter(|it| !it.is_zero())
}

/// Seconds that something takes.
struct Stopwatch(Option<Duration>, Instant);

impl Stopwatch {
    fn start() -> Self {
        Self(cpu_time(), Instant::now())
    }

    fn seconds(&self) -> f64 {
        match (self.0, cpu_time()) {
            (Some(from), Some(to)) => (to - from).as_secs_f64(),
            _ => self.1.elapsed().as_secs_f64(),
        }
    }
}

/// CPU seconds until all replicas are available, virtual seconds and events.
fn measure(replicas: usize, nodes: usize) -> (f64, u64, u64, Simulation) {
    // The system counts CPU time in steps of some milliseconds: small clusters are brought up many at a time.
    let count = (5_000 / replicas).clamp(1, 100);
    let mut clusters: Vec<Simulation> = (0..count).map(|_| load::cluster(replicas, nodes)).collect();
    let watch = Stopwatch::start();
    clusters.iter_mut().for_each(|simulation| load::bring_up(simulation, replicas));
    let took = watch.seconds() / count as f64;
    let simulation = clusters.swap_remove(0);
    (took, simulation.now().0 / 1000, simulation.trace().last_seq().0, simulation)
}

fn main() {
    println!(
        "{:>9} {:>6} {:>10} {:>12} {:>10} {:>12} {:>12}",
        "replicas", "nodes", "CPU s", "per pod µs", "virtual s", "events", "× before"
    );
    let mut before: Option<f64> = None;
    let largest = std::env::var("BENCH_MAX").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000);
    for (replicas, nodes) in load::SIZES.into_iter().filter(|(replicas, _)| *replicas <= largest) {
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
            let watch = Stopwatch::start();
            let copy = simulation.clone();
            let clone = watch.seconds() * 1e3;
            let watch = Stopwatch::start();
            let frame = view::frame(&copy);
            println!(
                "{:>16} checkpoint {clone:.2} ms, frame of {} pods {:.2} ms",
                "",
                frame.map.n_pods,
                watch.seconds() * 1e3
            );
        }
    }
}
