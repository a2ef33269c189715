//! How the engine's cost grows: CPU time for a Deployment to become available, by size.
//!
//! `cargo xtask bench`, or `cargo bench -p loopscope-engine --bench scale`. Wall time of one thread; what counts is
//! the ratio of sizes within one run. `BENCH_MAX=1000` leaves out larger sizes.

use std::time::Instant;

use loopscope_engine::api::{Kind, Object};
use loopscope_engine::sim::Millis;
use loopscope_engine::view;
use loopscope_engine::world::{Command, Scenario, Simulation};

fn manifest(replicas: usize) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  replicas: {replicas}\n  selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    spec:\n      containers:\n      - {{name: app, image: 'app:v1', resources: {{requests: {{cpu: 100m}}}}}}\n"
    )
}

fn is_available(simulation: &Simulation, replicas: usize) -> bool {
    let mut deployments = simulation.api().objects().of_kind(Kind::Deployment).filter_map(Object::as_deployment);
    deployments.next().is_some_and(|it| usize::try_from(it.status.available_replicas) == Ok(replicas))
}

/// Runs until all replicas are available. Returns CPU seconds, virtual seconds and events.
fn bring_up(replicas: usize, nodes: usize) -> (f64, u64, u64, Simulation) {
    let mut simulation = Simulation::new(Scenario { max_pods: None, ..Scenario::with_nodes(1, nodes, "8", "32Gi") });
    simulation.dispatch(Command::Apply { manifest: manifest(replicas) });
    let start = Instant::now();
    while !is_available(&simulation, replicas) {
        let until = simulation.now() + Millis(250);
        simulation.run_until(until, usize::MAX);
        assert!(simulation.now().0 < 3_600_000, "{replicas} replicas never became available");
    }
    let took = start.elapsed().as_secs_f64();
    (took, simulation.now().0 / 1000, simulation.trace().last_seq().0, simulation)
}

fn main() {
    println!(
        "{:>9} {:>6} {:>10} {:>12} {:>10} {:>12} {:>12}",
        "replicas", "nodes", "CPU s", "per pod µs", "virtual s", "events", "× before"
    );
    let mut before: Option<f64> = None;
    let largest = std::env::var("BENCH_MAX").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000);
    let sizes = [(10, 3), (100, 5), (1_000, 50), (10_000, 500)];
    for (replicas, nodes) in sizes.into_iter().filter(|(replicas, _)| *replicas <= largest) {
        let (took, virtual_s, events, simulation) = bring_up(replicas, nodes);
        let ratio = before.map_or_else(|| "-".into(), |before| format!("{:.1}", took / before));
        println!(
            "{replicas:>9} {nodes:>6} {took:>10.3} {:>12.1} {virtual_s:>10} {events:>12} {ratio:>12}",
            took * 1e6 / replicas as f64
        );
        before = Some(took);
        if replicas >= 1_000 {
            let start = Instant::now();
            let copy = simulation.clone();
            let clone = start.elapsed().as_secs_f64() * 1e3;
            let start = Instant::now();
            let frame = view::frame(&copy);
            println!(
                "{:>16} checkpoint {clone:.2} ms, frame of {} pods {:.2} ms",
                "",
                frame.map.n_pods,
                start.elapsed().as_secs_f64() * 1e3
            );
        }
    }
}
