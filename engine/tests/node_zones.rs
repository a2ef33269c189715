//! Nodes that die one by one, by zones and all together: what is tainted when, as recorded.

#[path = "common/play.rs"]
mod play;

use loopscope_engine::api::{Kind, Labels, Object};
use loopscope_engine::world::{Command, NodeSetup, Scenario, Simulation};
use play::{apply, pods, run_for, scenario, world};

fn node(name: &str, zone: &str) -> NodeSetup {
    let label = ("topology.kubernetes.io/zone".to_string(), zone.to_string());
    let labels: Labels = if zone.is_empty() { Labels::new() } else { [label].into() };
    NodeSetup { labels, ..NodeSetup::named(name, "8", "32Gi") }
}

fn cluster(nodes: &[(&str, &str)]) -> Simulation {
    let nodes = nodes.iter().map(|(name, zone)| node(name, zone)).collect();
    world(Scenario { nodes, ..scenario() })
}

fn web(simulation: &mut Simulation, replicas: usize, seconds: u32) {
    apply(
        simulation,
        &format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  replicas: {replicas}\n  selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    spec:\n      containers: [{{name: app, image: 'app:v1'}}]\n      tolerations:\n      - {{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: {seconds}}}\n"
        ),
    );
    run_for(simulation, 8_000);
}

fn stop(simulation: &mut Simulation, nodes: &[&str]) {
    for node in nodes {
        assert!(simulation.dispatch(Command::StopNode { node: node.to_string() }).is_ok());
    }
}

fn start(simulation: &mut Simulation, nodes: &[&str]) {
    for node in nodes {
        assert!(simulation.dispatch(Command::StartNode { node: node.to_string() }).is_ok());
    }
}

/// `node-1 unreachable:NoExecute`, of all nodes.
fn taints(simulation: &Simulation) -> Vec<String> {
    let nodes = simulation.api().objects().of_kind(Kind::Node).filter_map(Object::as_node);
    let tell = |node: &str, key: &str, effect: &str| format!("{node} {}:{effect}", key.rsplit('/').next().unwrap());
    nodes.flat_map(|node| node.spec.taints.iter().map(|it| tell(&node.metadata.name, &it.key, &it.effect))).collect()
}

/// Every taint that comes (`+`) and goes (`-`) for so long, with seconds from now, in steps of 100 ms.
fn watch(simulation: &mut Simulation, seconds: u64) -> Vec<(f64, String)> {
    let begin = simulation.now();
    let mut known = taints(simulation);
    let mut seen = Vec::new();
    for _ in 0..seconds * 10 {
        run_for(simulation, 100);
        let at = simulation.now().since(begin).0 as f64 / 1000.0;
        let present = taints(simulation);
        seen.extend(present.iter().filter(|it| !known.contains(it)).map(|it| (at, format!("+{it}"))));
        seen.extend(known.iter().filter(|it| !present.contains(it)).map(|it| (at, format!("-{it}"))));
        known = present;
    }
    seen
}

fn told(seen: &[(f64, String)]) -> Vec<&str> {
    seen.iter().map(|(_, it)| it.as_str()).collect()
}

fn between(seen: &[(f64, String)], from: usize, to: usize) -> f64 {
    seen[to].0 - seen[from].0
}

/// Recording `h08_three_of_five_nodes_dead`: taints against new pods only; when one of three is back, the others are
/// tainted 10 s and 20 s after the next pass.
#[test]
fn three_of_five_dead_nodes_keep_their_pods_until_one_is_back() {
    let mut simulation = cluster(&[("n1", ""), ("n2", ""), ("n3", ""), ("n4", ""), ("n5", "")]);
    web(&mut simulation, 5, 8);
    stop(&mut simulation, &["n1", "n2", "n5"]);
    let seen = watch(&mut simulation, 100);
    let three = ["+n1 unreachable:NoSchedule", "+n2 unreachable:NoSchedule", "+n5 unreachable:NoSchedule"];
    assert_eq!(told(&seen), three);
    assert!((39.5..=61.5).contains(&seen[2].0), "{seen:?}");
    assert!(pods(&simulation).iter().all(|pod| !pod.is_terminating()));
    start(&mut simulation, &["n1"]);
    let seen = watch(&mut simulation, 60);
    let two = ["-n1 unreachable:NoSchedule", "+n2 unreachable:NoExecute", "+n5 unreachable:NoExecute"];
    assert_eq!(told(&seen), two);
    assert!(seen[0].0 < 1.5 && (10.0..=16.0).contains(&seen[1].0), "{seen:?}");
    assert!((9.9..=10.2).contains(&between(&seen, 1, 2)), "{seen:?}");
    assert_eq!(pods(&simulation).iter().filter(|pod| pod.is_terminating()).count(), 2);
    start(&mut simulation, &["n2", "n5"]);
    let seen = watch(&mut simulation, 10);
    let mut gone = told(&seen);
    gone.sort_unstable();
    assert_eq!(
        gone,
        [
            "-n2 unreachable:NoExecute",
            "-n2 unreachable:NoSchedule",
            "-n5 unreachable:NoExecute",
            "-n5 unreachable:NoSchedule"
        ]
    );
    // NoSchedule goes with the status, NoExecute with the next pass (`j6`: 8 ms and 3.7 s).
    let at = |what: &str| seen.iter().find(|(_, it)| it == what).map_or(99.0, |(at, _)| *at);
    assert!(at("-n2 unreachable:NoSchedule") < 1.5 && at("-n2 unreachable:NoExecute") < 6.5, "{seen:?}");
}

/// Recording `j5_all_nodes_dead`.
#[test]
fn when_all_nodes_die_nothing_is_evicted_until_one_is_back() {
    let mut simulation = cluster(&[("n1", ""), ("n2", ""), ("n3", "")]);
    web(&mut simulation, 3, 5);
    stop(&mut simulation, &["n1", "n2", "n3"]);
    let seen = watch(&mut simulation, 150);
    assert_eq!(told(&seen), ["+n1 unreachable:NoSchedule", "+n2 unreachable:NoSchedule", "+n3 unreachable:NoSchedule"]);
    start(&mut simulation, &["n1"]);
    let seen = watch(&mut simulation, 60);
    assert_eq!(told(&seen), ["-n1 unreachable:NoSchedule", "+n2 unreachable:NoExecute", "+n3 unreachable:NoExecute"]);
    assert!((10.0..=16.0).contains(&seen[1].0) && (9.9..=10.2).contains(&between(&seen, 1, 2)), "{seen:?}");
}

/// The nodes of a zone that goes down as a whole are tainted at the usual pace, each zone by itself.
#[test]
fn a_zone_that_goes_down_is_evacuated_and_a_second_one_stops_it() {
    let nodes = [("a1", "a"), ("a2", "a"), ("a3", "a"), ("b1", "b"), ("b2", "b"), ("c1", "c")];
    let mut simulation = cluster(&nodes);
    web(&mut simulation, 6, 600);
    stop(&mut simulation, &["a1", "a2", "a3", "b1"]);
    let seen = watch(&mut simulation, 90);
    let evicting: Vec<(f64, String)> = seen.into_iter().filter(|(_, it)| it.ends_with("NoExecute")).collect();
    let order = [
        "+a1 unreachable:NoExecute",
        "+b1 unreachable:NoExecute",
        "+a3 unreachable:NoExecute",
        "+a2 unreachable:NoExecute",
    ];
    assert_eq!(told(&evicting), order);
    assert!(between(&evicting, 0, 1) < 5.2 && (19.0..=20.2).contains(&between(&evicting, 0, 3)), "{evicting:?}");
    // Now the rest goes: the controller takes back what it did.
    stop(&mut simulation, &["b2", "c1"]);
    let seen = watch(&mut simulation, 70);
    let gone: Vec<&str> = told(&seen).into_iter().filter(|it| it.ends_with("NoExecute")).collect();
    let mut sorted = gone.clone();
    sorted.sort_unstable();
    let all: Vec<String> = ["a1", "a2", "a3", "b1"].map(|node| format!("-{node} unreachable:NoExecute")).into();
    let back: Vec<&&str> = sorted.iter().filter(|it| it.starts_with('-')).collect();
    assert!(all.iter().all(|it| back.iter().any(|there| **there == it.as_str())), "{seen:?}");
    assert!(taints(&simulation).iter().all(|it| it.ends_with("NoSchedule")), "{:?}", taints(&simulation));
    assert!(pods(&simulation).iter().all(|pod| !pod.is_terminating()), "no toleration ran out");
}

/// A zone of more than 50 nodes goes on at a tenth of the pace.
#[test]
fn a_large_zone_that_is_mostly_down_is_tainted_every_100_s() {
    let names: Vec<String> = (0..60).map(|n| format!("n{n:02}")).collect();
    let nodes: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "big")).collect();
    let mut simulation = cluster(&nodes);
    let dead: Vec<&str> = names[..40].iter().map(String::as_str).collect();
    stop(&mut simulation, &dead);
    let seen = watch(&mut simulation, 300);
    let evicting: Vec<(f64, String)> = seen.into_iter().filter(|(_, it)| it.ends_with("NoExecute")).collect();
    // Those that fall silent before the others are no disruption yet.
    let slow: Vec<f64> = evicting.windows(2).map(|pair| pair[1].0 - pair[0].0).filter(|gap| *gap > 20.0).collect();
    assert!(slow.len() >= 2 && slow.iter().all(|gap| (99.0..=105.5).contains(gap)), "{evicting:?}");
    assert!(evicting.len() <= 5, "{evicting:?}");
}

#[test]
fn a_node_without_a_kubelet_is_given_a_minute() {
    let mut simulation = cluster(&[("n1", ""), ("n2", ""), ("n3", "")]);
    run_for(&mut simulation, 6_000);
    apply(&mut simulation, "apiVersion: v1\nkind: Node\nmetadata: {name: ghost}\n");
    let seen = watch(&mut simulation, 75);
    assert_eq!(told(&seen), ["+ghost unreachable:NoSchedule", "+ghost unreachable:NoExecute"]);
    assert!((60.0..=66.0).contains(&seen[0].0), "{seen:?}");
    let ghost = play::object(&simulation, Kind::Node, "ghost").expect("there").as_node().cloned().expect("a node");
    let ready = loopscope_engine::api::condition(&ghost.status.conditions, "Ready").expect("it has one");
    assert_eq!(
        (ready.reason.as_str(), ready.message.as_str()),
        ("NodeStatusNeverUpdated", "Kubelet never posted node status.")
    );
    let told = play::messages(&simulation, "RegisteredNode");
    assert_eq!(told, ["Node ghost event: Registered Node ghost in Controller"]);
}

/// A node that is down for good: with the out-of-service taint its pods go at once, without anybody's confirmation
/// (`gcTerminating` of the pod collector).
#[test]
fn the_pods_of_a_node_out_of_service_are_let_go() {
    let mut simulation = cluster(&[("n1", ""), ("n2", "")]);
    apply(&mut simulation, &play::workload("StatefulSet", "db", "app:v1", "replicas: 1"));
    run_for(&mut simulation, 8_000);
    let old = play::pod(&simulation, "db-0").expect("it runs");
    let node = old.spec.node_name.to_string();
    stop(&mut simulation, &[&node]);
    run_for(&mut simulation, 80_000);
    play::delete(&mut simulation, Kind::Pod, "db-0");
    run_for(&mut simulation, 60_000);
    assert!(play::pod(&simulation, "db-0").expect("nobody confirms its end").is_terminating());
    let taint = "{key: node.kubernetes.io/out-of-service, value: nodeshutdown, effect: NoExecute}";
    let patch = format!("{{apiVersion: v1, kind: Node, metadata: {{name: {node}}}, spec: {{taints: [{taint}]}}}}");
    apply(&mut simulation, &patch);
    run_for(&mut simulation, 25_000);
    let new = play::pod(&simulation, "db-0").expect("a new one");
    assert!(new.metadata.uid != old.metadata.uid && new.spec.node_name != old.spec.node_name, "{new:?}");
    assert!(new.is_ready());
}

/// A pod that never had a node, and that a finalizer holds, at least fails (`gcUnscheduledTerminating`).
#[test]
fn a_pod_that_never_had_a_node_fails_as_it_goes() {
    let mut simulation = cluster(&[("n1", "")]);
    apply(
        &mut simulation,
        "{apiVersion: v1, kind: Pod, metadata: {name: held, finalizers: [example.com/hold]}, spec: {nodeSelector: {no: where}, containers: [{name: app, image: 'app:v1'}]}}",
    );
    run_for(&mut simulation, 2_000);
    play::delete(&mut simulation, Kind::Pod, "held");
    run_for(&mut simulation, 25_000);
    assert_eq!(play::pod(&simulation, "held").expect("held").status.phase, "Failed");
}
