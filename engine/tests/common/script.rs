//! One run with a bit of everything, for comparing traces: here twice, and natively with WebAssembly.
//!
//! The page's browser tests include this file as well.

use loopscope_engine::api::{Kind, Object};
use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::world::{Command, Scenario, Simulation, Target};

/// The trace's digest after each stage of the run, as text: one line a stage.
pub fn run() -> String {
    let mut simulation = Simulation::new(Scenario::self_healing());
    let mut lines = String::new();
    let mut stage = |simulation: &mut Simulation, name: &str, ms: u64| {
        let until = simulation.now() + Millis(ms);
        assert!(simulation.run_until(until, 10_000_000));
        let trace = simulation.trace();
        lines.push_str(&format!("{name} {} {:016x}\n", trace.last_seq().0, trace.digest()));
    };
    let web = Target { kind: Kind::Deployment, namespace: "default".into(), name: "web".into() };
    stage(&mut simulation, "created", 20_000);
    simulation.dispatch(Command::delete(first_pod(&simulation)));
    stage(&mut simulation, "deleted", 10_000);
    simulation.dispatch(Command::Scale { target: web.clone(), replicas: 7 });
    stage(&mut simulation, "scaled", 3_000);
    simulation.dispatch(Command::SetImage {
        target: web.clone(),
        container: "nginx".into(),
        image: "nginx:1.28".into(),
    });
    stage(&mut simulation, "rolling", 4_000);
    simulation.dispatch(Command::StopNode { node: "node-2".into() });
    stage(&mut simulation, "node lost", 420_000);
    simulation.dispatch(Command::StartNode { node: "node-2".into() });
    simulation.dispatch(Command::Apply { manifest: "kind: Nonsense\n".into() });
    simulation.dispatch(Command::Scale { target: web, replicas: 2 });
    stage(&mut simulation, "node back", 60_000);
    lines
}

fn first_pod(simulation: &Simulation) -> Target {
    let pod = simulation.api().objects().of_kind(Kind::Pod).next().map(Object::key);
    pod.as_ref().map(Target::from).expect("the Deployment has pods")
}

/// A step-by-step run is the same run: events do not depend on how far one call lets time go.
#[allow(dead_code)]
pub fn digest_in_small_steps(step: u64, until: u64) -> u64 {
    let mut simulation = Simulation::new(Scenario::self_healing());
    while simulation.now() < Time(until) {
        let next = Time((simulation.now().0 + step).min(until));
        simulation.run_until(next, 1_000_000);
    }
    simulation.trace().digest()
}
