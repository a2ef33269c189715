//! Prints the trace of the first scenario's beginning: `cargo run -p loopscope-engine --example trace -- 20000`.

use loopscope_engine::sim::Time;
use loopscope_engine::world::{Scenario, Simulation};

fn main() {
    let until = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(10_000);
    let mut simulation = Simulation::new(Scenario::self_healing());
    simulation.run_until(Time(until), usize::MAX);
    for event in simulation.trace().events() {
        println!("{:>4} {} ← {:?} {:?}", event.seq.0, event.at, event.cause.map(|cause| cause.0), event.what);
    }
}
