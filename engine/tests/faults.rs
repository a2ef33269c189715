//! Machines that are cut off, join and leave; processes that crash.

#[path = "common/lab.rs"]
mod lab;

use lab::{Lab, instant};
use loopscope_engine::api::{Kind, Labels, Object};
use loopscope_engine::client::{Author, What};
use loopscope_engine::environment::Behavior;
use loopscope_engine::sim::Millis;
use loopscope_engine::world::{Command, NodeSetup, ProcessKind, Simulation, Target};
use serde_json::Value;

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
      terminationGracePeriodSeconds: 5
      containers:
      - {name: app, image: 'app:v1', readinessProbe: {tcpSocket: {port: 80}, periodSeconds: 1}}
";

fn lab() -> Lab {
    let quick = Behavior { start_ms: 200, serve_ms: Some(500), stop_ms: 700, ..instant() };
    let mut lab = Lab::new(&[("app:v1", quick), ("app:v2", quick)]);
    lab.apply(WEB);
    lab.run(15_000);
    assert_eq!(ready(&lab), 3);
    lab
}

fn ready(lab: &Lab) -> usize {
    lab.pods().iter().filter(|pod| pod.is_active() && pod.is_ready()).count()
}

fn web() -> Target {
    Target { kind: Kind::Deployment, namespace: "default".into(), name: "web".into() }
}

fn runs_on(lab: &Lab, node: &str) -> usize {
    let machine = lab.simulation.machines().get(node).unwrap();
    machine.runtime.pods.values().filter(|record| record.is_up()).count()
}

#[test]
fn a_node_that_is_cut_off_goes_on_and_catches_up_when_healed() {
    let mut lab = lab();
    let lost = lab.pods()[0].clone();
    let node = lost.spec.node_name.to_string();
    lab.command(Command::CutNode { node: node.clone() });
    let cut = lab.now();
    let seen = lab.watch(70_000, |lab| lab.node(&node).map(|it| it.readiness().to_string()));
    let unknown = seen.iter().find(|(_, it)| it.as_deref() == Some("Unknown")).expect("it falls silent").0 - cut;
    assert!((40_000..=60_500).contains(&unknown), "silent after {unknown} ms");
    assert_eq!(runs_on(&lab, &node), 1, "its container runs on, and nobody knows");
    lab.run(320_000);
    assert_eq!(ready(&lab), 3, "a replacement runs elsewhere");
    assert!(lab.get(&lost.metadata.name).is_terminating(), "nobody can confirm its end");
    assert_eq!(runs_on(&lab, &node), 1, "the old one still runs: one more than was asked for");
    let newest = lab.pods().into_iter().max_by_key(|pod| pod.metadata.creation_timestamp).expect("a pod");
    let key = loopscope_engine::api::ObjectKey::new(Kind::Pod, "default", newest.metadata.name.clone());
    let links = loopscope_engine::view::why(&lab.simulation, lab.simulation.origin(&key).expect("kept").0);
    assert!(links[0].is_you && links[0].text.contains("cut"), "{links:#?}");
    lab.command(Command::HealNode { node: node.clone() });
    lab.run(30_000);
    assert_eq!((lab.find(&lost.metadata.name), runs_on(&lab, &node)), (None, 0), "it hears that the pod is to go");
    let back = lab.node(&node).expect("there");
    assert!(back.readiness() == "True" && back.spec.taints.is_empty(), "{back:?}");
    assert_eq!((lab.pods().len(), ready(&lab)), (3, 3));
}

#[test]
fn a_short_cut_is_noticed_by_nobody() {
    let mut lab = lab();
    let before: Vec<_> = lab.pods().iter().map(|pod| pod.metadata.uid).collect();
    let node = lab.pods()[0].spec.node_name.to_string();
    lab.command(Command::CutNode { node: node.clone() });
    lab.run(25_000);
    assert_eq!(lab.command(Command::CutNode { node: node.clone() }), [format!("node/{node} is already cut off")]);
    lab.command(Command::HealNode { node: node.clone() });
    lab.run(60_000);
    assert_eq!(lab.pods().iter().map(|pod| pod.metadata.uid).collect::<Vec<_>>(), before);
    assert_eq!((ready(&lab), lab.node(&node).expect("there").readiness()), (3, "True"));
    assert_eq!(lab.pods().iter().map(|pod| pod.restarts()).sum::<i32>(), 0);
}

#[test]
fn what_was_ordered_during_a_cut_is_done_after_it() {
    let mut lab = lab();
    let pod = lab.pods()[0].clone();
    let (name, node) = (pod.metadata.name.to_string(), pod.spec.node_name.to_string());
    lab.command(Command::CutNode { node: node.clone() });
    lab.delete(&name);
    lab.run(20_000);
    assert!(lab.get(&name).is_terminating() && runs_on(&lab, &node) >= 1);
    lab.command(Command::HealNode { node });
    lab.run(15_000);
    assert_eq!((lab.find(&name), lab.pods().len(), ready(&lab)), (None, 3, 3));
}

fn setup(name: &str) -> NodeSetup {
    let labels: Labels = [("disk".to_string(), "ssd".to_string())].into();
    NodeSetup { labels, ..NodeSetup::named(name, "8", "16Gi") }
}

#[test]
fn a_new_machine_joins_by_itself_and_takes_pods_once_it_is_ready() {
    let mut lab = lab();
    lab.pod("wants-ssd", "{nodeSelector: {disk: ssd}, containers: [{name: app, image: 'app:v1'}]}");
    lab.run(3_000);
    assert_eq!(lab.status("wants-ssd"), "Pending 0");
    lab.command(Command::AddNode { node: setup("node-4") });
    let read = |lab: &Lab| lab.node("node-4").map(|node| (node.readiness().to_string(), node.spec.taints.len()));
    let seen = lab.watch(15_000, read);
    let states: Vec<_> = seen.iter().filter_map(|(_, it)| it.clone()).collect();
    assert_eq!(states.first(), Some(&("False".to_string(), 1)), "it joins with a taint");
    assert_eq!(states.last(), Some(&("True".to_string(), 0)));
    let node = lab.node("node-4").expect("joined");
    assert_eq!((node.allocatable("cpu").milli(), node.metadata.labels["disk"].as_str()), (8_000, "ssd"));
    lab.run(10_000);
    assert_eq!(
        (lab.status("wants-ssd"), lab.get("wants-ssd").spec.node_name.as_str().to_string()),
        ("Running 0".into(), "node-4".into())
    );
    let again = lab.simulation.dispatch(Command::AddNode { node: setup("node-4") });
    assert_eq!(again.problems[0].message, "nodes \"node-4\" already exists");
    let odd = lab.simulation.dispatch(Command::AddNode { node: NodeSetup { cpu: "lots".into(), ..setup("node-5") } });
    assert!(odd.problems[0].message.contains("must be a positive quantity"), "{odd:?}");
    lab.run(400_000);
    assert_eq!(lab.node("node-4").expect("there").readiness(), "True", "it keeps reporting");
}

#[test]
fn a_machine_that_is_removed_is_gone_and_may_come_back() {
    let mut lab = lab();
    let node = lab.pods()[0].spec.node_name.to_string();
    assert_eq!(lab.command(Command::RemoveNode { node: node.clone() }), [format!("node \"{node}\" deleted")]);
    lab.run(5_000);
    assert!(lab.node(&node).is_none());
    assert_eq!(runs_on(&lab, &node), 0);
    let leases = lab.simulation.api().objects().of_kind(Kind::Lease).count();
    assert_eq!(leases, 2);
    lab.command(Command::StartNode { node: node.clone() });
    lab.run(20_000);
    assert_eq!(lab.node(&node).expect("it makes itself known again").readiness(), "True");
}

#[test]
fn a_live_node_that_is_deleted_does_not_join_again_by_itself() {
    let mut lab = lab();
    let target = Target { kind: Kind::Node, namespace: String::new(), name: "node-1".into() };
    lab.command(Command::delete(target));
    lab.run(60_000);
    assert!(lab.node("node-1").is_none(), "only a kubelet that starts registers");
}

#[test]
fn a_controller_that_is_stopped_finds_the_present_when_it_starts() {
    let mut lab = lab();
    let stop = |process: &str| Command::StopController { process: process.into() };
    assert_eq!(lab.command(stop("kube-controller-manager")), ["kube-controller-manager stopped"]);
    let scale = |replicas| Command::Scale { target: web(), replicas };
    for replicas in [9, 5] {
        lab.command(scale(replicas));
        lab.run(10_000);
    }
    assert_eq!(lab.pods().len(), 3, "nobody acts");
    let start = Command::StartController { process: "kube-controller-manager".into() };
    lab.command(start.clone());
    assert_eq!(lab.command(start), ["kube-controller-manager is already running"]);
    let most = lab.watch(20_000, |lab| lab.pods().len()).into_iter().map(|(_, n)| n).max();
    assert_eq!((most, ready(&lab)), (Some(5), 5), "what was asked for in between never mattered");
    lab.command(stop("kube-scheduler"));
    lab.command(scale(6));
    lab.run(10_000);
    assert_eq!(lab.pods().iter().filter(|pod| !pod.is_assigned()).count(), 1);
    lab.command(Command::StartController { process: "kube-scheduler".into() });
    lab.run(10_000);
    assert_eq!(ready(&lab), 6);
    assert!(!lab.simulation.dispatch(stop("etcd")).is_ok());
}

#[test]
fn a_controller_that_crashes_comes_back_by_itself() {
    let mut lab = lab();
    lab.command(Command::Scale { target: web(), replicas: 8 });
    lab.run(12);
    lab.command(Command::CrashController { process: "kube-controller-manager".into() });
    lab.run(900);
    assert!(!lab.simulation.processes()[0].is_up);
    lab.run(20_000);
    assert!(lab.simulation.processes()[0].is_up);
    assert_eq!((lab.pods().len(), ready(&lab)), (8, 8));
}

/// Requests of the controller manager that have arrived since an event.
fn arrived_since(simulation: &Simulation, seq: loopscope_engine::sim::Seq) -> usize {
    let is_manager = |at: loopscope_engine::client::LoopIndex| {
        let process = simulation.loops()[at.0 as usize].process;
        simulation.processes()[process].kind == ProcessKind::ControllerManager
    };
    let events = simulation.trace().events().rev().take_while(|event| event.seq > seq);
    let by_manager = events.filter(|event| match &event.what {
        What::Wrote { author: Author::Loop(at), .. } | What::Refused { author: Author::Loop(at), .. } => {
            is_manager(*at)
        }
        _ => false,
    });
    by_manager.count()
}

/// What is there in the end, without names, identities and times.
fn end_state(simulation: &Simulation) -> Vec<String> {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.retain(|key, _| {
                    !matches!(
                        key.as_str(),
                        "name"
                            | "uid"
                            | "resourceVersion"
                            | "generation"
                            | "observedGeneration"
                            | "podIP"
                            | "hostIP"
                            | "nodeName"
                            | "generateName"
                            | "pod-template-hash"
                            | "message"
                            | "startedAt"
                            | "startTime"
                    ) && !key.ends_with("Timestamp")
                        && !key.ends_with("Time")
                });
                map.values_mut().for_each(strip);
            }
            Value::Array(all) => all.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let kinds = [Kind::Deployment, Kind::ReplicaSet, Kind::Pod];
    let objects = kinds.into_iter().flat_map(|kind| simulation.api().objects().of_kind(kind));
    let mut all: Vec<String> = objects
        .map(|object: &Object| {
            let mut value = object.to_value();
            strip(&mut value);
            value.to_string()
        })
        .collect();
    all.sort();
    all
}

/// Rolls out a new image, crashes the controller manager after its n-th request and starts it a second later.
/// Returns the end state, or nothing if there are not so many requests.
fn rollout_with_crash(begin: &Simulation, n: Option<usize>) -> Option<Vec<String>> {
    let mut simulation = begin.clone();
    let seq = simulation.trace().last_seq();
    let image = Command::SetImage { target: web(), container: "app".into(), image: "app:v2".into() };
    assert!(simulation.dispatch(image).is_ok());
    let end = simulation.now() + Millis(60_000);
    if let Some(n) = n {
        let mut last = seq;
        let mut arrived = 0;
        while arrived < n {
            if simulation.next_at().is_none_or(|at| at > end) {
                return None;
            }
            simulation.run_until(end, 1);
            arrived += arrived_since(&simulation, last);
            last = simulation.trace().last_seq();
        }
        let process = || "kube-controller-manager".to_string();
        assert!(simulation.dispatch(Command::StopController { process: process() }).is_ok());
        let restart = simulation.now() + Millis(1_000);
        simulation.run_until(restart, usize::MAX);
        assert!(simulation.dispatch(Command::StartController { process: process() }).is_ok());
    }
    simulation.run_until(end + Millis(30_000), usize::MAX);
    Some(end_state(&simulation))
}

#[test]
fn a_crash_at_any_request_of_a_rollout_leads_to_the_same_end() {
    let begin = lab().simulation;
    let expected = rollout_with_crash(&begin, None).expect("a rollout");
    assert_eq!(expected.len(), 6, "a Deployment, two ReplicaSets, three pods: {expected:#?}");
    assert_eq!(expected.iter().filter(|it| it.contains("app:v2") && it.contains("\"phase\":\"Running\"")).count(), 3);
    let mut n = 1;
    while let Some(state) = rollout_with_crash(&begin, Some(n)) {
        assert_eq!(state, expected, "crashed after request {n}");
        n += 1;
    }
    assert!(n > 20, "a rollout of three takes more than {n} requests");
}
