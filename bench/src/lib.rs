//! The engine's benchmark for a browser: `cargo xtask bench` builds it as the page is built, and
//! `tests/e2e/bench.mjs` runs it.

#[path = "../../engine/benches/load/mod.rs"]
mod load;

use loopscope_engine::sim::Millis;
use loopscope_engine::world::Simulation;
use wasm_bindgen::prelude::wasm_bindgen;

/// Replicas and nodes, one after the other.
#[wasm_bindgen]
pub fn sizes() -> Vec<usize> {
    load::SIZES.into_iter().flat_map(|(replicas, nodes)| [replicas, nodes]).collect()
}

#[wasm_bindgen]
pub struct Bench {
    simulation: Simulation,
    replicas: usize,
}

#[wasm_bindgen]
impl Bench {
    #[wasm_bindgen(constructor)]
    pub fn new(replicas: usize, nodes: usize) -> Self {
        Self { simulation: load::cluster(replicas, nodes), replicas }
    }

    /// Runs until all replicas are available.
    pub fn bring_up(&mut self) {
        load::bring_up(&mut self.simulation, self.replicas);
    }

    /// Runs until so many virtual seconds have passed since the beginning.
    pub fn run_to(&mut self, seconds: u32) {
        let until = loopscope_engine::sim::Time(0) + Millis::from_secs(seconds.into());
        self.simulation.run_until(until, usize::MAX);
    }

    pub fn virtual_seconds(&self) -> f64 {
        self.simulation.now().0 as f64 / 1000.0
    }
}
