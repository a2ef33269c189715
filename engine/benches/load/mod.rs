//! What every benchmark of the engine brings up: a Deployment on an empty cluster.

#![allow(dead_code)]

pub mod hour;

use loopscope_engine::api::{Kind, Object};
use loopscope_engine::sim::Millis;
use loopscope_engine::world::{Command, Scenario, Simulation};

/// Replicas and nodes, as clusters grow.
pub const SIZES: [(usize, usize); 4] = [(10, 3), (100, 5), (1_000, 50), (10_000, 500)];
/// What no page could hold.
pub const LARGEST: (usize, usize) = (100_000, 5_000);

pub fn manifest(replicas: usize) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  replicas: {replicas}\n  selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    spec:\n      containers:\n      - {{name: app, image: 'app:v1', resources: {{requests: {{cpu: 100m}}}}}}\n"
    )
}

fn is_available(simulation: &Simulation, replicas: usize) -> bool {
    let mut deployments = simulation.api().objects().of_kind(Kind::Deployment).filter_map(Object::as_deployment);
    deployments.next().is_some_and(|it| usize::try_from(it.status.available_replicas) == Ok(replicas))
}

/// A cluster to which the Deployment was just applied.
pub fn cluster(replicas: usize, nodes: usize) -> Simulation {
    let mut simulation = Simulation::new(Scenario { max_pods: None, ..Scenario::with_nodes(1, nodes, "8", "32Gi") });
    simulation.dispatch(Command::Apply { manifest: manifest(replicas) });
    simulation
}

/// Runs until all replicas are available.
#[inline(never)]
pub fn bring_up(simulation: &mut Simulation, replicas: usize) {
    while !is_available(simulation, replicas) {
        let until = simulation.now() + Millis(250);
        simulation.run_until(until, usize::MAX);
        assert!(simulation.now().0 < 36_000_000, "{replicas} replicas never became available");
    }
}

fn is_updated(simulation: &Simulation, replicas: usize) -> bool {
    let mut deployments = simulation.api().objects().of_kind(Kind::Deployment).filter_map(Object::as_deployment);
    deployments.next().is_some_and(|it| {
        let status = &it.status;
        let counts = [status.replicas, status.updated_replicas, status.available_replicas];
        status.observed_generation == it.metadata.generation
            && counts.iter().all(|count| usize::try_from(*count) == Ok(replicas))
    })
}

/// Gives the Deployment another image and runs until no pod of the old one is left and all are available.
#[inline(never)]
pub fn roll_out(simulation: &mut Simulation, replicas: usize) {
    let command: Command = "kubectl set image deployment/web app=app:v2".parse().expect("a command");
    simulation.dispatch(command);
    while !is_updated(simulation, replicas) {
        let until = simulation.now() + Millis(250);
        simulation.run_until(until, usize::MAX);
        assert!(simulation.now().0 < 36_000_000, "{replicas} replicas were never updated");
    }
}
