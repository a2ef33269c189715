//! Machines that are cut off, join and leave; processes that crash.

#[path = "common/lab.rs"]
mod lab;

use lab::{Lab, instant};
use loopscope_engine::api::{Kind, Labels};
use loopscope_engine::client::What;
use loopscope_engine::environment::Behavior;
use loopscope_engine::world::{Command, NodeSetup, Scenario, Simulation, Target};

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

/// `backoffEnsureLease` waits for seven seconds at the most, however long nobody has answered.
#[test]
fn a_kubelet_that_nobody_answers_tries_its_lease_again_within_seven_seconds() {
    let mut lab = lab();
    let node = lab.pods()[0].spec.node_name.to_string();
    lab.command(Command::CutNode { node: node.clone() });
    lab.run(600_000);
    let retries = |lab: &Lab| -> Vec<u64> {
        let failed = lab.simulation.trace().events().filter_map(|event| match event.what {
            What::Failed { key, retry, .. } if key.kind == Kind::Node && *key.name == *node => Some(retry.0),
            _ => None,
        });
        failed.collect()
    };
    let told = retries(&lab);
    assert_eq!(told[..7], [200, 400, 800, 1_600, 3_200, 6_400, 7_000], "{told:?}");
    assert!(told.len() > 30 && told[7..].iter().all(|it| *it == 7_000), "{told:?}");
    lab.command(Command::HealNode { node: node.clone() });
    let renewed = lab.watch(20_000, |lab| lab.node(&node).map(|it| it.readiness().to_string()));
    assert_eq!(renewed.last().map(|(_, it)| it.as_deref()), Some(Some("True")), "{renewed:?}");
}

/// Recording `j6_kubelet_reports_not_ready`, without its short tolerations.
#[test]
fn without_its_network_plugin_a_node_keeps_what_runs_and_takes_nothing_new() {
    let mut lab = lab();
    let pod = lab.pods()[0].clone();
    let (name, node) = (pod.metadata.name.to_string(), pod.spec.node_name.to_string());
    lab.command(Command::BreakNode { node: node.clone() });
    lab.run(1_000);
    let broken = lab.node(&node).expect("there");
    assert_eq!(broken.readiness(), "False", "its kubelet says so at once");
    assert!(broken.spec.taints.iter().any(|taint| taint.key == "node.kubernetes.io/not-ready"));
    lab.pod(
        "new",
        &format!(
            "{{nodeName: {node}, tolerations: [{{operator: Exists}}], containers: [{{name: app, image: 'app:v1'}}]}}"
        ),
    );
    lab.run(10_000);
    assert_eq!((lab.status(&name), lab.status("new")), ("Running 0".into(), "Pending 0".into()));
    lab.delete(&name);
    lab.run(10_000);
    assert_eq!(lab.find(&name), None, "what is there can be ended");
    assert_eq!(
        lab.command(Command::MendNode { node: node.clone() }),
        [format!("network plugin of node/{node} is sound")]
    );
    lab.run(10_000);
    let mended = lab.node(&node).expect("there");
    assert_eq!((mended.readiness(), lab.status("new").as_str()), ("True", "Running 0"));
    assert!(mended.spec.taints.is_empty(), "{mended:?}");
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

#[test]
fn one_taint_in_place_of_another_is_a_change() {
    let mut lab = lab();
    let tolerations = "[{key: repair, operator: Exists}]";
    lab.pod(
        "calm",
        &format!("{{nodeName: node-1, tolerations: {tolerations}, containers: [{{name: app, image: 'app:v1'}}]}}"),
    );
    lab.run(3_000);
    let mut taint = |key: &str| {
        let text = format!(
            "kubectl patch node/node-1 --type=merge -p '{{\"spec\":{{\"taints\":[{{\"key\":\"{key}\",\"effect\":\"NoExecute\"}}]}}}}'"
        );
        lab.command(text.parse().expect("a command"));
        lab.run(10_000);
        lab.status("calm")
    };
    assert_eq!(taint("repair"), "Running 0");
    assert_eq!(taint("fire"), "gone");
}

/// Recording `h08_three_of_five_nodes_dead`: with more than 55 % of a small zone silent nobody is evicted; once a node
/// returns, the others are tainted NoExecute 10 s apart.
#[test]
fn three_of_five_nodes_dead_evict_nobody_until_one_returns() {
    let quick = Behavior { start_ms: 500, serve_ms: Some(0), stop_ms: 700, ..instant() };
    let mut scenario = Scenario::with_nodes(7, 5, "8", "32Gi");
    scenario.behaviors.0.insert("app:v1".into(), quick);
    let mut lab = Lab { simulation: Simulation::new(scenario) };
    let tolerations = "      tolerations:\n      - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 8}\n      - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 8}\n      containers:";
    lab.apply(&WEB.replace("replicas: 3", "replicas: 10").replace("      containers:", tolerations));
    lab.run(10_000);
    assert_eq!(ready(&lab), 10);
    // One pass of the node monitor finds all three: their heartbeats fall into the same half of 10 s.
    let dead = ["node-1", "node-2", "node-5"];
    for node in dead {
        lab.command(Command::StopNode { node: node.into() });
    }
    let effects = |lab: &Lab, node: &str| {
        let taints = lab.node(node).expect("the object stays").spec.taints.clone();
        taints.iter().map(|taint| taint.effect.to_string()).collect::<Vec<_>>()
    };
    lab.run(75_000);
    for node in dead {
        assert_eq!(effects(&lab, node), ["NoSchedule"], "{node}");
    }
    lab.run(25_000);
    assert!(lab.pods().iter().all(|pod| !pod.is_terminating()), "nobody is evicted");
    lab.command(Command::StartNode { node: "node-1".into() });
    let count = |lab: &Lab| dead.iter().filter(|node| effects(lab, node).contains(&"NoExecute".to_string())).count();
    let seen = lab.watch(60_000, count);
    let changes: Vec<u64> = seen.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert_eq!(seen.iter().map(|(_, n)| *n).collect::<Vec<_>>(), [0, 1, 2]);
    assert!((9_900..=10_100).contains(&changes[1]), "{changes:?}");
    lab.run(20_000);
    assert_eq!(lab.pods().iter().filter(|pod| pod.is_terminating()).count(), 4, "two on each of the silent ones");
    assert_eq!(ready(&lab), 10);
}

/// A node that is deleted and makes itself known again within the quarantine keeps its pods.
#[test]
fn the_pod_collector_gives_a_node_forty_seconds() {
    let mut lab = lab();
    let pod = lab.pods()[0].clone();
    let (uid, node) = (pod.metadata.uid, pod.spec.node_name.to_string());
    lab.command(Command::RemoveNode { node: node.clone() });
    lab.run(30_000);
    assert!(lab.pods().iter().any(|it| it.metadata.uid == uid && !it.is_terminating()));
    lab.command(Command::StartNode { node: node.clone() });
    lab.run(100_000);
    assert!(lab.pods().iter().any(|it| it.metadata.uid == uid), "it came back in time");
    lab.command(Command::RemoveNode { node });
    let there = lab.watch(80_000, |lab| lab.pods().iter().any(|it| it.metadata.uid == uid));
    let gone = there.last().filter(|(_, there)| !there).expect("it is collected").0 - there[0].0;
    assert!((40_000..=60_100).contains(&gone), "after {gone} ms: 40 s, seen every 20 s");
    lab.run(20_000);
    assert_eq!((lab.pods().len(), ready(&lab)), (3, 3));
}

/// Recording `j5_all_nodes_dead`: when one of three comes back, the others get a fresh look and are tainted after 15 s
/// and 25 s.
#[test]
fn after_all_nodes_were_dead_the_others_get_a_fresh_look() {
    let mut lab = lab();
    for node in ["node-1", "node-2", "node-3"] {
        lab.command(Command::StopNode { node: node.into() });
    }
    lab.run(100_000);
    let count = |lab: &Lab| {
        let nodes = ["node-1", "node-2", "node-3"].map(|name| lab.node(name).expect("the object stays"));
        nodes.iter().filter(|node| node.spec.taints.iter().any(|taint| taint.effect == "NoExecute")).count()
    };
    let early = count(&lab);
    lab.command(Command::StartNode { node: "node-2".into() });
    let seen = lab.watch(40_000, count);
    let since: Vec<u64> = seen.iter().map(|(at, _)| at - seen[0].0).collect();
    // The first that fell silent may have been tainted before the others did.
    assert_eq!(seen.last().map(|(_, n)| *n), Some(2), "{seen:?}");
    assert!(early > 0 || (15_000..15_500).contains(&since[1]), "{seen:?}");
    let last = since.last().copied().unwrap_or_default();
    assert!((15_000..25_500).contains(&last), "{seen:?}");
}
