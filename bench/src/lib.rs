//! The engine's benchmark for a browser: `cargo xtask bench` builds it as the page is built, and
//! `tests/e2e/bench.mjs` runs it.

#[path = "../../engine/benches/load/mod.rs"]
mod load;

use loopscope_engine::history::History;
use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::view::frame;
use loopscope_engine::world::{Instant, Simulation};
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

    /// Gives all another image, and runs until no pod has the old one.
    pub fn roll_out(&mut self) {
        load::roll_out(&mut self.simulation, self.replicas);
    }

    /// Runs until so many virtual seconds have passed since the beginning.
    pub fn run_to(&mut self, seconds: u32) {
        let until = Time(0) + Millis::from_secs(seconds.into());
        self.simulation.run_until(until, usize::MAX);
    }

    pub fn virtual_seconds(&self) -> f64 {
        self.simulation.now().0 as f64 / 1000.0
    }
}

/// The hour of 1,000 pods, with all its checkpoints.
#[wasm_bindgen]
pub struct Hour(History);

#[wasm_bindgen]
impl Hour {
    /// Plays it.
    #[wasm_bindgen(constructor)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let mut history = load::hour::hour();
        load::hour::play(&mut history);
        Self(history)
    }

    pub fn checkpoints(&self) -> usize {
        self.0.n_checkpoints()
    }

    /// Goes to an instant and derives a frame of it. Returns how many pods there are.
    pub fn look_at(&self, ms: u32) -> usize {
        let to = Instant::end_of(Time(ms.into()));
        let Some(mut replay) = self.0.way_to(self.0.current(), to) else { return 0 };
        while !replay.run(usize::MAX) {}
        frame(replay.simulation()).map.n_pods
    }
}
