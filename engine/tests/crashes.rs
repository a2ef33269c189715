//! A process that crashes at any boundary of any of its requests: the world ends up the same.

use std::collections::BTreeSet;

use loopscope_engine::api::{Kind, Object};
use loopscope_engine::apiserver::{PatchType, Propagation};
use loopscope_engine::client::{Author, LoopIndex, What};
use loopscope_engine::environment::Behavior;
use loopscope_engine::sim::{Millis, Seq, Time};
use loopscope_engine::world::{Command, ProcessKind, Scenario, Simulation, Target};
use serde_json::{Value, json};

/// A bit of everything that controllers look after.
const WORLD: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 5
      containers:
      - {name: app, image: 'app:v1', readinessProbe: {tcpSocket: {port: 80}, periodSeconds: 1}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: old}
spec:
  replicas: 2
  strategy: {type: Recreate}
  selector: {matchLabels: {app: old}}
  template:
    metadata: {labels: {app: old}}
    spec: {containers: [{name: app, image: 'app:v1'}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: app, image: 'app:v1'}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: app, image: 'app:v1'}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: all}
spec: {hard: {pods: '100'}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Pod
metadata: {name: till, namespace: shop}
spec: {containers: [{name: app, image: 'app:v1'}]}
";

const JOB: &str = "\
apiVersion: batch/v1
kind: Job
metadata: {name: work}
spec:
  completions: 3
  parallelism: 2
  ttlSecondsAfterFinished: 8
  template:
    spec: {restartPolicy: Never, containers: [{name: app, image: 'work:v1'}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: kept}
spec:
  completions: 2
  template:
    spec: {restartPolicy: Never, containers: [{name: app, image: 'work:v1'}]}
";

/// How long all of it takes, with the second that a crash costs.
const ALL: Millis = Millis(50_000);

fn target(kind: Kind, name: &str) -> Target {
    let namespace = if kind.is_namespaced() { "default" } else { "" };
    Target { kind, namespace: namespace.into(), name: name.into() }
}

fn converged() -> Simulation {
    let quick = Behavior { pull_ms: 1, start_ms: 200, serve_ms: Some(500), stop_ms: 700, ..Behavior::usual("") };
    let mut scenario = Scenario::empty(7);
    for (image, exit) in [("app:v1", None), ("app:v2", None), ("work:v1", Some((2_000, 0)))] {
        scenario.behaviors.0.insert(image.into(), Behavior { exit, ..quick });
    }
    let mut simulation = Simulation::new(scenario);
    assert!(simulation.dispatch(Command::Apply { manifest: WORLD.into() }).is_ok());
    assert!(simulation.run_until(Time(25_000), usize::MAX));
    simulation
}

/// Rollouts, Jobs, deletions and a taint: every controller of the controller manager has something to do.
fn begin(simulation: &mut Simulation) {
    let image = |kind: Kind, name: &str| {
        let target = target(kind, name);
        Command::SetImage { target, container: "app".into(), image: "app:v2".into() }
    };
    let taints = json!({"spec": {"taints": [{"key": "repair", "effect": "NoExecute"}]}});
    let foreground = Some(Propagation::Foreground);
    for command in [
        image(Kind::Deployment, "web"),
        image(Kind::Deployment, "old"),
        image(Kind::StatefulSet, "db"),
        image(Kind::DaemonSet, "agent"),
        Command::Apply { manifest: JOB.into() },
        Command::Delete { target: target(Kind::Deployment, "old"), propagation: foreground, grace: None },
        Command::delete(target(Kind::Namespace, "shop")),
        Command::Patch { target: target(Kind::Node, "node-3"), kind: PatchType::Merge, patch: taints },
    ] {
        let outcome = simulation.dispatch(command);
        assert!(outcome.is_ok(), "{outcome:?}");
    }
}

/// What is there in the end, without identities, places and times.
fn end_state(simulation: &Simulation) -> Vec<String> {
    const FREE: [&str; 21] = [
        "name",
        "uid",
        "resourceVersion",
        "generation",
        "observedGeneration",
        "podIP",
        "podIPs",
        "hostIP",
        "hostIPs",
        "addresses",
        "nodeName",
        "generateName",
        "pod-template-hash",
        "message",
        "startedAt",
        "finishedAt",
        "containerID",
        "controller-uid",
        "batch.kubernetes.io/controller-uid",
        "disruptedPods",
        "kubectl.kubernetes.io/last-applied-configuration",
    ];
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                let is_free = |key: &str| FREE.contains(&key) || key.ends_with("Timestamp") || key.ends_with("Time");
                map.retain(|key, _| !is_free(key));
                map.values_mut().for_each(strip);
            }
            Value::Array(all) => {
                all.iter_mut().for_each(strip);
                all.sort_by_key(Value::to_string);
            }
            _ => {}
        }
    }
    let is_told = |object: &&Object| !matches!(object.kind(), Kind::Lease | Kind::Node);
    let objects = simulation.api().objects().iter().map(|(_, object)| object).filter(is_told);
    let mut all: Vec<String> = objects
        .map(|object| {
            let mut value = object.to_value();
            strip(&mut value);
            format!("{} {value}", object.kind().name())
        })
        .collect();
    all.sort();
    all
}

/// How often the process has sent, and how often a request of it has arrived, by the trace since an event.
fn requests(simulation: &Simulation, process: &ProcessKind, since: Seq) -> (usize, usize) {
    let is_its = |at: &LoopIndex| {
        let index = simulation.loops()[at.0 as usize].process;
        simulation.processes()[index].kind == *process
    };
    let last = simulation.trace().last_seq();
    let newer = (since.0 + 1..=last.0).filter_map(|seq| simulation.trace().get(Seq(seq)));
    let arrived = newer.filter(|event| match &event.what {
        What::Wrote { author: Author::Loop(at), .. } | What::Refused { author: Author::Loop(at), .. } => is_its(at),
        _ => false,
    });
    let under_way = simulation.requests_in_flight().filter(|(at, _)| is_its(at)).count();
    (under_way, arrived.count())
}

/// Ends the process now and starts it a second later; then lets everything come to its end.
fn crashed(mut simulation: Simulation, program: &str, end: Time) -> Vec<String> {
    let process = || program.to_string();
    assert_eq!(simulation.dispatch(Command::StopController { process: process() }).lines.len(), 1);
    let restart = simulation.now() + Millis(1_000);
    assert!(simulation.run_until(restart, usize::MAX));
    assert!(simulation.dispatch(Command::StartController { process: process() }).is_ok());
    assert!(simulation.run_until(end, usize::MAX));
    end_state(&simulation)
}

/// Crashes the process before it sends, while a request is under way and right after one has arrived, each time anew.
/// The boundaries are shared out among so many tests, of which this one is number `part`.
/// Returns how many boundaries there were, and which loops had sent something.
fn crash_everywhere(program: &str, process: &ProcessKind, part: usize, of: usize) -> (usize, BTreeSet<String>) {
    let mut simulation = converged();
    begin(&mut simulation);
    let end = simulation.now() + ALL;
    let expected = {
        let mut undisturbed = simulation.clone();
        assert!(undisturbed.run_until(end, usize::MAX));
        end_state(&undisturbed)
    };
    let check = |simulation: &Simulation, when: &str| {
        let state = crashed(simulation.clone(), program, end);
        if state != expected {
            let more: Vec<_> = state.iter().filter(|it| !expected.contains(it)).collect();
            let less: Vec<_> = expected.iter().filter(|it| !state.contains(it)).collect();
            panic!("crashed {when} at {}: {more:#?} instead of {less:#?}", simulation.now().0);
        }
    };
    let (mut boundaries, mut loops) = (0, BTreeSet::new());
    let mut check = |simulation: &Simulation, when: &str| {
        if boundaries % of == part {
            check(simulation, when);
        }
        boundaries += 1;
    };
    // The world as it was one event ago.
    let mut before = simulation.clone();
    while simulation.next_at().is_some_and(|at| at < Time(end.0 - 25_000)) {
        let (under_way, _) = requests(&simulation, process, simulation.trace().last_seq());
        simulation.run_until(end, 1);
        let (still, arrived) = requests(&simulation, process, before.trace().last_seq());
        if still > under_way {
            check(&before, "before a request");
            check(&simulation, "with a request under way");
        }
        if arrived > 0 {
            check(&simulation, "after a request");
        }
        before.run_until(end, 1);
        for (at, _) in simulation.requests_in_flight() {
            loops.insert(simulation.loops()[at.0 as usize].name.to_string());
        }
    }
    println!("{boundaries} boundaries of {program}");
    (boundaries, loops)
}

fn crash_the_manager(part: usize) {
    let (boundaries, loops) = crash_everywhere("kube-controller-manager", &ProcessKind::ControllerManager, part, 3);
    assert!(boundaries > 200, "there are more than {boundaries}");
    for name in [
        "Deployment",
        "ReplicaSet",
        "StatefulSet",
        "DaemonSet",
        "Job",
        "Finished Jobs",
        "EndpointSlice",
        "Garbage collector",
        "Namespaces",
        "Disruption budgets",
        "Resource quotas",
        "Taint eviction",
    ] {
        assert!(loops.contains(name), "{name} sends something: {loops:?}");
    }
}

#[test]
fn a_crash_of_the_controller_manager_at_any_request_leads_to_the_same_end() {
    crash_the_manager(0);
}

#[test]
fn a_crash_of_the_controller_manager_at_any_request_leads_to_the_same_end_2() {
    crash_the_manager(1);
}

#[test]
fn a_crash_of_the_controller_manager_at_any_request_leads_to_the_same_end_3() {
    crash_the_manager(2);
}

#[test]
fn a_crash_of_the_scheduler_at_any_request_leads_to_the_same_end() {
    let (boundaries, _) = crash_everywhere("kube-scheduler", &ProcessKind::Scheduler, 0, 1);
    assert!(boundaries > 30, "there are more than {boundaries}");
}
