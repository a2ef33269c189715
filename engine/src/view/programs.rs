//! How the programs of an image can be made to behave.

use super::Program;
use crate::api::{Container, Object};
use crate::environment::Behavior;
use crate::world::Simulation;

/// The ways in which a person can make an image's programs behave; the first is as nobody described them.
pub const BEHAVIORS: [&str; 10] = [
    "behaves as usual",
    "crashes",
    "runs out of memory",
    "ends well",
    "never gets ready",
    "hangs after 10 s",
    "ignores SIGTERM",
    "takes 10 min to pull",
    "is missing in the registry",
    "takes 30 s to serve",
];

/// The behavior of an image's programs by its index in [`BEHAVIORS`].
pub fn behavior(image: &str, index: usize) -> Behavior {
    let usual = Behavior::usual(image);
    match index {
        1 => Behavior { exit: Some((2_000, 1)), ..usual },
        2 => Behavior { exit: Some((2_000, 137)), is_oom: true, ..usual },
        3 => Behavior { exit: Some((5_000, 0)), ..usual },
        4 => Behavior { serve_ms: None, ..usual },
        5 => Behavior { hang_ms: Some(10_000), ..usual },
        6 => Behavior { ignores_term: true, ..usual },
        7 => Behavior { pull_ms: 600_000, ..usual },
        8 => Behavior { is_missing: true, ..usual },
        9 => Behavior { serve_ms: Some(30_000), ..usual },
        _ => usual,
    }
}

/// The images of an object that has pods, or is one.
pub fn programs(simulation: &Simulation, object: &Object) -> Vec<Program> {
    let spec = match object {
        Object::Pod(it) => &it.spec,
        Object::Deployment(it) => &it.spec.template.spec,
        Object::ReplicaSet(it) => &it.spec.template.spec,
        Object::StatefulSet(it) => &it.spec.template.spec,
        Object::DaemonSet(it) => &it.spec.template.spec,
        Object::Job(it) => &it.spec.template.spec,
        _ => return Vec::new(),
    };
    let mut programs: Vec<Program> = Vec::new();
    for Container { image, .. } in spec.init_containers.iter().chain(&spec.containers) {
        if !programs.iter().any(|it| it.image == *image) {
            let now = simulation.behaviors().of(image);
            let index = (0..BEHAVIORS.len()).find(|index| behavior(image, *index) == now);
            programs.push(Program { image: image.to_string(), behavior: index });
        }
    }
    programs
}
