//! The small worlds: one Deployment, three pods, two nodes, and what goes wrong.

use loopscope_engine::api::{Kind, Object};
use loopscope_engine::apiserver::PatchType;
use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::world::{CONTROLLER_MANAGER, Command, Scenario, Server, Simulation, Target};
use serde_json::json;

const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      tolerations:
      - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 1}
      containers: [{name: app, image: 'app:v1'}]
";

/// Something a person does, which may come at any moment.
pub type Deed = fn(&mut Simulation);

#[derive(Clone, Copy)]
pub struct World {
    pub name: &'static str,
    /// What happens before all orders are gone through.
    pub begin: fn() -> Simulation,
    /// In this order, each at any moment.
    pub deeds: &'static [Deed],
    /// What must be mended before all can be as it is wanted.
    pub mend: Deed,
}

pub const WORLDS: [World; 9] = [
    World { name: "created", begin: created, deeds: &[], mend: nothing },
    World { name: "pod-deleted", begin: settled, deeds: &[delete_pod], mend: nothing },
    World { name: "node-lost", begin: node_lost, deeds: &[], mend: start_node },
    World { name: "crash-while-rolling", begin: rolling, deeds: &[crash], mend: nothing },
    World { name: "crash-while-creating", begin: created, deeds: &[crash], mend: nothing },
    World { name: "scaled-while-rolling", begin: rolling, deeds: &[|it| scale(it, 4)], mend: nothing },
    World { name: "scaled-down-and-up", begin: scaled_down, deeds: &[|it| scale(it, 3)], mend: nothing },
    World { name: "conflict", begin: rolling, deeds: &[annotate], mend: nothing },
    World { name: "refused", begin: pod_deleted, deeds: &[refuse], mend: serve },
];

/// The same as the first, with a controller that does not wait for its cache: it must be found out.
pub const GUILTY: World = World { name: "expectations-off", begin: without_expectations, deeds: &[], mend: nothing };

fn do_now(simulation: &mut Simulation, command: Command) {
    let outcome = simulation.dispatch(command);
    assert!(outcome.is_ok(), "{outcome:?}");
}

fn web() -> Target {
    Target { kind: Kind::Deployment, namespace: "default".into(), name: "web".into() }
}

fn nothing(_: &mut Simulation) {}

fn empty() -> Simulation {
    let mut simulation = Simulation::new(Scenario::with_nodes(1, 2, "4", "8Gi"));
    assert!(simulation.run_until(Time(12_000), 100_000));
    until_quiet(&mut simulation);
    simulation
}

/// Goes on to where nothing is on its way and no clock comes round soon.
fn until_quiet(simulation: &mut Simulation) {
    for _ in 0..10_000 {
        if simulation.next_at().is_none_or(|at| at.since(simulation.now()) > Millis(1_500)) {
            return;
        }
        let next = simulation.next_at().unwrap_or_default();
        simulation.run_until(next, 10_000);
    }
}

fn created() -> Simulation {
    let mut simulation = empty();
    do_now(&mut simulation, Command::Apply { manifest: WEB.into() });
    simulation
}

fn without_expectations() -> Simulation {
    let mut simulation = empty();
    do_now(&mut simulation, Command::SetExpectations { process: CONTROLLER_MANAGER.into(), on: false });
    do_now(&mut simulation, Command::Apply { manifest: WEB.into() });
    simulation
}

fn settled() -> Simulation {
    let mut simulation = created();
    let later = simulation.now() + Millis(20_000);
    assert!(simulation.run_until(later, 100_000));
    until_quiet(&mut simulation);
    assert_eq!(super::rules::unfinished(&simulation), None);
    simulation
}

fn first_pod(simulation: &Simulation) -> Option<Target> {
    simulation.api().objects().of_kind(Kind::Pod).map(Object::key).next().as_ref().map(Target::from)
}

fn delete_pod(simulation: &mut Simulation) {
    if let Some(pod) = first_pod(simulation) {
        do_now(simulation, Command::delete(pod));
    }
}

fn pod_deleted() -> Simulation {
    let mut simulation = settled();
    delete_pod(&mut simulation);
    simulation
}

fn rolling() -> Simulation {
    let mut simulation = settled();
    let image = "app:v2".to_string();
    do_now(&mut simulation, Command::SetImage { target: web(), container: "app".into(), image });
    simulation
}

fn scaled_down() -> Simulation {
    let mut simulation = settled();
    scale(&mut simulation, 1);
    simulation
}

fn scale(simulation: &mut Simulation, replicas: i32) {
    do_now(simulation, Command::Scale { target: web(), replicas });
}

fn crash(simulation: &mut Simulation) {
    do_now(simulation, Command::CrashController { process: CONTROLLER_MANAGER.into() });
}

/// Whoever has read the ReplicaSets or the Deployment before now writes with an old version.
fn annotate(simulation: &mut Simulation) {
    let objects = simulation.api().objects();
    let all = objects.of_kind(Kind::ReplicaSet).chain(objects.of_kind(Kind::Deployment));
    for key in all.map(Object::key).collect::<Vec<_>>() {
        let patch = json!({"metadata": {"annotations": {"note": "seen"}}});
        do_now(simulation, Command::Patch { target: Target::from(&key), kind: PatchType::Merge, patch });
    }
}

fn refuse(simulation: &mut Simulation) {
    do_now(simulation, Command::SetServer { server: Server::Refusing });
}

fn serve(simulation: &mut Simulation) {
    do_now(simulation, Command::SetServer { server: Server::Up });
}

/// A node is without power, and has just been found out.
fn node_lost() -> Simulation {
    let mut simulation = settled();
    do_now(&mut simulation, Command::StopNode { node: "node-2".into() });
    let is_found = |simulation: &Simulation| {
        simulation.api().objects().of_kind(Kind::Node).filter_map(Object::as_node).any(|it| it.readiness() == "Unknown")
    };
    for _ in 0..100_000 {
        if is_found(&simulation) {
            return simulation;
        }
        let next = simulation.next_at().unwrap_or_default();
        simulation.run_until(next, 1);
    }
    panic!("the node was never found out");
}

fn start_node(simulation: &mut Simulation) {
    do_now(simulation, Command::StartNode { node: "node-2".into() });
}
