//! Rollouts of one Deployment, and the sizes it gives its ReplicaSets. Wants `common/play.rs` beside it.

#![allow(dead_code)]

use std::rc::Rc;

use loopscope_engine::api::{Deployment, Kind, Object, ReplicaSet, condition};
use loopscope_engine::environment::Behavior;
use loopscope_engine::sim::Time;
use loopscope_engine::world::{Command, Scenario, Simulation};

use crate::play::{self, apply, behaviors, run_for, set_image, target, world};

/// A Deployment `web` of the image `app:v1` without probes: pods are ready as soon as their program runs.
pub fn manifest(replicas: i32, more: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  replicas: {replicas}\n  {more}\n  selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    spec:\n      containers: [{{name: app, image: 'app:v1', resources: {{requests: {{cpu: 100m}}}}}}]\n"
    )
}

pub fn web(simulation: &Simulation) -> Rc<Deployment> {
    play::object(simulation, Kind::Deployment, "web").and_then(|it| it.as_deployment().cloned()).expect("it is there")
}

pub fn sets(simulation: &Simulation) -> Vec<Rc<ReplicaSet>> {
    let all = simulation.api().objects().of_kind(Kind::ReplicaSet).filter_map(Object::as_replica_set);
    all.cloned().collect()
}

/// Follows the sizes of a Deployment's ReplicaSets, in the order in which they came; -1 once one is deleted.
pub struct Sizes {
    pub names: Vec<String>,
    last: Vec<i32>,
    pub steps: Vec<(Time, Vec<i32>)>,
}

impl Sizes {
    pub fn new() -> Self {
        Self { names: Vec::new(), last: Vec::new(), steps: Vec::new() }
    }

    pub fn look(&mut self, simulation: &Simulation) {
        let all = sets(simulation);
        for set in &all {
            if !self.names.iter().any(|name| *name == *set.metadata.name) {
                self.names.push(set.metadata.name.to_string());
            }
        }
        let of =
            |name: &String| all.iter().find(|set| *set.metadata.name == **name).map_or(-1, |set| set.spec.wanted());
        let sizes: Vec<i32> = self.names.iter().map(of).collect();
        if self.last != sizes {
            self.last.clone_from(&sizes);
            self.steps.push((simulation.now(), sizes));
        }
    }

    pub fn run(&mut self, simulation: &mut Simulation, ms: u64) {
        for _ in 0..ms / 2 {
            run_for(simulation, 2);
            self.look(simulation);
        }
    }

    pub fn take(&mut self) -> Vec<Vec<i32>> {
        self.steps.drain(..).map(|(_, sizes)| sizes).collect()
    }
}

pub fn begin(replicas: i32, more: &str, slow: &[(&str, Behavior)]) -> (Simulation, Sizes) {
    begin_from(&manifest(replicas, more), replicas, slow)
}

/// Four nodes and `web` of so many replicas, all available.
pub fn begin_from(manifest: &str, replicas: i32, slow: &[(&str, Behavior)]) -> (Simulation, Sizes) {
    let mut images = behaviors();
    for (image, behavior) in slow {
        images.0.insert((*image).into(), *behavior);
    }
    let mut simulation = world(Scenario { behaviors: images, ..Scenario::with_nodes(7, 4, "16", "32Gi") });
    let mut sizes = Sizes::new();
    apply(&mut simulation, manifest);
    sizes.run(&mut simulation, 6_000);
    assert_eq!(web(&simulation).status.available_replicas, replicas);
    (simulation, sizes)
}

pub fn image(simulation: &mut Simulation, image: &str) {
    set_image(simulation, Kind::Deployment, "web", image);
}

pub fn set(simulation: &mut Simulation, patch: serde_json::Value) {
    let kind = loopscope_engine::apiserver::PatchType::Merge;
    let command = Command::Patch { target: target(Kind::Deployment, "web"), kind, patch };
    assert!(simulation.dispatch(command).is_ok());
}

pub fn status_of(simulation: &Simulation, kind: &str) -> (String, String) {
    let web = web(simulation);
    let it = condition(&web.status.conditions, kind).expect("it has the condition");
    (it.status.to_string(), it.reason.to_string())
}

/// Readiness only after 3 s, by a probe of every second.
pub fn slow() -> Behavior {
    Behavior { start_ms: 3_000, ..behaviors().0["app:v1"] }
}

pub fn never() -> Behavior {
    Behavior { is_missing: true, ..behaviors().0["app:v1"] }
}
