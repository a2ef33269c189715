//! Prints how a scenario goes: `cargo run -p loopscope-engine --example trace -- 20000`, until so many ms.

use loopscope_engine::sim::Time;
use loopscope_engine::view;
use loopscope_engine::world::{Scenario, Simulation};

fn main() {
    let until = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(10_000);
    let mut simulation = Simulation::new(Scenario::self_healing());
    simulation.run_until(Time(until), usize::MAX);
    for row in view::events(&simulation, usize::MAX) {
        let cause = row.cause.map_or_else(String::new, |cause| format!(" ← {cause}"));
        println!("{:>5} {:>8} {:<18} {}{cause}", row.seq, row.time_ms, row.who, row.text.plain());
    }
    println!("{:#?}", view::frame(&simulation).summary);
}
