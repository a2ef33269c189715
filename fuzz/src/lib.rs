//! What fuzzers throw at Loopscope: one function a target, which takes bytes and panics where something is wrong.
//!
//! Stable compiles this, and `tests/corpus.rs` calls each function with every kept input. `libfuzzer/` wraps them for
//! cargo-fuzz, which needs nightly: `cargo xtask fuzz`.

#[path = "../../engine/tests/common/converged.rs"]
mod converged;
#[path = "../../engine/tests/common/deeds.rs"]
mod deeds;
mod dump;
mod embed;
#[path = "../../engine/tests/common/guard.rs"]
mod guard;
mod kubectl;
mod lines;
mod manifest;
mod plan;
mod scenario;
mod seeds;
mod share;
mod world;

pub use dump::dump;
pub use embed::embed;
pub use kubectl::kubectl;
pub use manifest::manifest;
pub use plan::world;
pub use scenario::scenario;
pub use seeds::seeds;
pub use share::share;

/// Something that takes what anybody may have written.
#[derive(Clone, Copy)]
pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
}

/// All of them. `xtask/src/fuzz.rs` has the same list with its limits, and `libfuzzer/fuzz_targets` a file for each.
pub const TARGETS: [Target; 7] = [
    Target { name: "manifest", run: manifest },
    Target { name: "kubectl", run: kubectl },
    Target { name: "scenario", run: scenario },
    Target { name: "share", run: share },
    Target { name: "dump", run: dump },
    Target { name: "embed", run: embed },
    Target { name: "world", run: world },
];

/// Things that may happen in one slice of time before a world is taken for one that is too busy to go on with.
const MOST_EVENTS: usize = 20_000;

/// A number that an input decides, for what is looked at only now and then.
fn sum(data: &[u8]) -> u64 {
    data.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
