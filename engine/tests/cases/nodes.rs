//! N: nodes and scheduling.

use loopscope_engine::api::Taint;
use loopscope_engine::sim::Millis;
use loopscope_engine::view;
use loopscope_engine::world::NodeSetup;

use super::*;
use crate::play::{behaviors, delete, messages, object, pod, scale, scenario, set_image};

const NOT_READY_AFTER: std::ops::RangeInclusive<u64> = 40_000..=60_500;

fn ready_of(simulation: &Simulation, node: &str) -> String {
    state_of(simulation, Kind::Node, node, "Ready")
}

/// `unreachable:NoExecute`
fn taints(simulation: &Simulation, node: &str) -> Vec<String> {
    let all = object(simulation, Kind::Node, node).and_then(|it| it.as_node().map(|it| it.spec.taints.clone()));
    let told = |it: &Taint| format!("{}:{}", it.key.rsplit('/').next().unwrap_or_default(), it.effect);
    all.unwrap_or_default().iter().map(told).collect()
}

/// Endpoints that get traffic.
fn serving(simulation: &Simulation) -> usize {
    let slices = simulation.api().objects().of_kind(Kind::EndpointSlice).filter_map(Object::as_endpoint_slice);
    slices.flat_map(|slice| slice.endpoints.clone()).filter(|it| it.conditions.ready).count()
}

/// READY and STATUS of the pods on a node, as `kubectl get pods` prints them.
fn printed(simulation: &Simulation, node: &str) -> Vec<(String, String)> {
    let map = view::frame(simulation).map;
    let card = map.nodes.iter().find(|it| *it.key.name == *node).expect("the node is on the map");
    card.pods.iter().map(|row| (row.ready.clone(), row.status.clone())).collect()
}

fn with_service(simulation: &mut Simulation) {
    apply(
        simulation,
        "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}",
    );
    run_for(simulation, 1_000);
}

fn six(phase: u64) -> Simulation {
    let mut simulation = start(scenario(), 6);
    with_service(&mut simulation);
    run_for(&mut simulation, phase);
    assert_eq!((on(&simulation, "node-2").len(), serving(&simulation)), (2, 6));
    simulation
}

/// A node loses its power: Ready=Unknown after 40 to 60 s, by the phases of heartbeat and check; in the same moment its
/// pods are Ready=False and out of the endpoints, and are still printed as running. Deleted 300 s later, replaced at
/// once, and Terminating until the Node goes.
fn lose_power(phase: u64) {
    let mut simulation = six(phase);
    let killed = simulation.now();
    let since = |at: Time| at.since(killed).0;
    set_power(&mut simulation, &["node-2"], false);
    let unknown = until(&mut simulation, 61_000, |it| ready_of(it, "node-2") == "Unknown NodeStatusUnknown");
    assert!(NOT_READY_AFTER.contains(&since(unknown)), "phase {phase}: Unknown after {} ms", since(unknown));
    let told = condition_of(&simulation, Kind::Node, "node-2", "Ready").expect("there").message;
    assert_eq!(told.as_str(), "Kubelet stopped posting node status.");
    let out = until(&mut simulation, 500, |it| n_ready(it) == 4 && serving(it) == 4);
    assert!(out.since(unknown) <= Millis(100), "in the same pass: {:?}", out.since(unknown));
    let running = ("1/1".to_string(), "Running".to_string());
    assert_eq!(printed(&simulation, "node-2"), [running.clone(), running]);
    assert_eq!(messages(&simulation, "NodeNotReady").iter().filter(|it| *it == "Node is not ready").count(), 2);
    let marked = until(&mut simulation, 320_000, |it| terminating(it) > 0);
    assert!((340_000..=366_000).contains(&since(marked)), "phase {phase}: deleted after {} ms", since(marked));
    assert!((299_000..=306_500).contains(&marked.since(unknown).0), "{:?}", marked.since(unknown));
    let replaced = until(&mut simulation, 200, |it| pods(it).len() == 8);
    assert!(replaced.since(marked) <= Millis(100), "at once");
    until(&mut simulation, 10_000, |it| n_ready(it) == 6 && serving(it) == 6);
    run_for(&mut simulation, 600_000);
    assert_eq!((terminating(&simulation), pods(&simulation).len()), (2, 8), "nobody confirms their end");
    assert!(printed(&simulation, "node-2").iter().all(|(_, status)| status == "Terminating"));
    delete(&mut simulation, Kind::Node, "node-2");
    let deleted = simulation.now();
    let gone = until(&mut simulation, 70_000, |it| pods(it).len() == 6);
    assert!((40_000..=62_000).contains(&gone.since(deleted).0), "{:?}", gone.since(deleted));
}

#[test]
fn n1_a_node_without_power_is_unknown_within_a_minute_and_emptied_after_six() {
    for phase in [0, 2_400, 4_800, 7_200, 9_600] {
        lose_power(phase);
    }
}

/// Back at 200 s: the taints go, the eviction is off, the pods are ready again, and nothing has moved. Back at 500 s:
/// the old pods end, the new ones stay where they are.
#[test]
fn n2_a_node_that_returns_in_time_keeps_its_pods_and_one_that_does_not_ends_them() {
    let mut simulation = six(0);
    let before = uids(&simulation);
    set_power(&mut simulation, &["node-2"], false);
    run_for(&mut simulation, 200_000);
    assert_eq!(taints(&simulation, "node-2"), ["unreachable:NoSchedule", "unreachable:NoExecute"]);
    assert_eq!(n_ready(&simulation), 4);
    set_power(&mut simulation, &["node-2"], true);
    run_for(&mut simulation, 20_000);
    assert_eq!((taints(&simulation, "node-2"), n_ready(&simulation), serving(&simulation)), (Vec::new(), 6, 6));
    run_for(&mut simulation, 600_000);
    assert_eq!((uids(&simulation), terminating(&simulation)), (before.clone(), 0));
    let cancelled = messages(&simulation, "TaintManagerEviction");
    assert_eq!(cancelled.iter().filter(|it| it.starts_with("Cancelling deletion of Pod default/web-")).count(), 2);

    let lost: Vec<u128> = on(&simulation, "node-2").iter().map(|pod| pod.metadata.uid.0).collect();
    set_power(&mut simulation, &["node-2"], false);
    run_for(&mut simulation, 500_000);
    assert_eq!((n_ready(&simulation), pods(&simulation).len()), (6, 8), "two wait to be confirmed");
    let placed: Vec<(u128, String)> = pods(&simulation)
        .iter()
        .filter(|pod| pod.is_active())
        .map(|pod| (pod.metadata.uid.0, pod.spec.node_name.to_string()))
        .collect();
    set_power(&mut simulation, &["node-2"], true);
    run_for(&mut simulation, 60_000);
    let now: Vec<(u128, String)> =
        pods(&simulation).iter().map(|pod| (pod.metadata.uid.0, pod.spec.node_name.to_string())).collect();
    assert_eq!(now, placed, "the old pods are gone, the new ones where they were");
    assert!(now.iter().all(|(uid, node)| !lost.contains(uid) && node != "node-2"));
}

/// After N2 a node is empty, and stays so: what runs never moves. Only what is new uses it.
#[test]
fn n3_nothing_moves_to_an_empty_node_but_what_is_new() {
    let mut simulation = six(0);
    set_power(&mut simulation, &["node-2"], false);
    run_for(&mut simulation, 500_000);
    set_power(&mut simulation, &["node-2"], true);
    run_for(&mut simulation, 60_000);
    let before = uids(&simulation);
    run_for(&mut simulation, 86_400_000);
    assert_eq!((uids(&simulation), on(&simulation, "node-2").len()), (before, 0), "nobody balances");
    command(&mut simulation, "kubectl rollout restart deployment/web");
    run_for(&mut simulation, 60_000);
    assert_eq!((pods(&simulation).len(), n_ready(&simulation)), (6, 6));
    let spread: Vec<usize> = ["node-1", "node-2", "node-3"].map(|node| on(&simulation, node).len()).into();
    assert!(spread[1] >= 2, "{spread:?}");
}

fn five(dead: &[&str]) -> Simulation {
    let scenario = Scenario { behaviors: behaviors(), ..Scenario::with_nodes(7, 5, "4", "8Gi") };
    let mut simulation = start(scenario, 10);
    set_power(&mut simulation, dead, false);
    run_for(&mut simulation, 3_600_000);
    simulation
}

/// Three of five nodes are 60 %, at least 55 % and more than two: in a zone of at most 50 nodes evictions are off, and
/// the pods on the dead nodes stay. Two of five are an ordinary loss.
#[test]
fn n4_a_big_outage_stops_healing() {
    let mut simulation = five(&["node-1", "node-2", "node-3"]);
    assert_eq!((terminating(&simulation), pods(&simulation).len()), (0, 10), "an hour later");
    for node in ["node-1", "node-2", "node-3"] {
        assert_eq!(taints(&simulation, node), ["unreachable:NoSchedule"]);
    }
    assert_eq!(n_ready(&simulation), on(&simulation, "node-4").len() + on(&simulation, "node-5").len());
    // One returns: 40 % are none any more, and the others are evicted.
    set_power(&mut simulation, &["node-1"], true);
    run_for(&mut simulation, 400_000);
    assert_eq!(n_ready(&simulation), 10);
    let simulation = five(&["node-1", "node-2"]);
    assert_eq!(n_ready(&simulation), 10, "two of five: evicted and replaced");
    assert!(terminating(&simulation) > 0);
}

/// When the last nodes die as well, the controller takes it that it is itself cut off: it takes its NoExecute taints back.
#[test]
fn n4_when_all_nodes_are_dead_the_taints_that_evict_are_taken_back() {
    let mut simulation = six(0);
    set_power(&mut simulation, &["node-2"], false);
    run_for(&mut simulation, 100_000);
    assert_eq!(taints(&simulation, "node-2"), ["unreachable:NoSchedule", "unreachable:NoExecute"]);
    set_power(&mut simulation, &["node-1", "node-3"], false);
    run_for(&mut simulation, 3_600_000);
    for node in ["node-1", "node-2", "node-3"] {
        assert_eq!(taints(&simulation, node), ["unreachable:NoSchedule"], "{node}");
    }
    assert_eq!((terminating(&simulation), pods(&simulation).len(), n_ready(&simulation)), (0, 6, 0));
}

/// A kubelet that is gone for 24 hours: its pods are Terminating for 24 hours, since nobody else can say that they have
/// ended. A Deployment has its replacement, a StatefulSet waits for the name.
#[test]
fn n5_a_pod_on_a_dead_node_is_terminating_for_a_day() {
    let mut simulation = world(scenario());
    apply(&mut simulation, &workload("StatefulSet", "db", "app:v1", "replicas: 1"));
    until(&mut simulation, 10_000, |it| n_ready(it) == 1);
    let node = pods(&simulation)[0].spec.node_name.to_string();
    for other in ["node-1", "node-2", "node-3"].into_iter().filter(|it| *it != node) {
        command(&mut simulation, &format!("kubectl cordon {other}"));
    }
    apply(&mut simulation, &web(1));
    until(&mut simulation, 10_000, |it| n_ready(it) == 2);
    for other in ["node-1", "node-2", "node-3"].into_iter().filter(|it| *it != node) {
        command(&mut simulation, &format!("kubectl uncordon {other}"));
    }
    set_power(&mut simulation, &[&node], false);
    run_for(&mut simulation, 86_400_000);
    let db = pod(&simulation, "db-0").expect("it has not ended");
    assert!(db.is_terminating() && !db.is_ready());
    let web: Vec<_> = pods(&simulation).into_iter().filter(|pod| pod.metadata.labels["app"] == "web").collect();
    assert_eq!(
        web.iter().map(|pod| (pod.is_terminating(), pod.is_ready())).filter(|it| *it == (true, false)).count(),
        1
    );
    assert_eq!(web.iter().filter(|pod| pod.is_active() && pod.is_ready()).count(), 1);
    assert_eq!((web.len(), pods(&simulation).len()), (2, 3));
    // Whoever knows better says so by deleting the Node; the pod collector comes round within a minute.
    delete(&mut simulation, Kind::Node, &node);
    until(&mut simulation, 70_000, |it| pod(it, "db-0").is_some_and(|new| new.metadata.uid != db.metadata.uid));
    until(&mut simulation, 10_000, |it| n_ready(it) == 2 && pods(it).len() == 2);
}

fn asking(name: &str, cpu: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {{containers: [{{name: app, image: 'app:v1', resources: {{requests: {{cpu: '{cpu}'}}}}}}]}}}}\n---\n"
    )
}

/// What fits nowhere waits and says why; nobody is moved for it. A change that may help wakes it, and without any it is
/// tried again after five minutes.
#[test]
fn n6_a_pod_that_fits_nowhere_waits_for_a_change() {
    let mut simulation = world(scenario());
    apply(
        &mut simulation,
        &workload("Deployment", "web", "app:v1", "replicas: 3")
            .replace("        readinessProbe", "        resources: {requests: {cpu: '1'}}\n        readinessProbe"),
    );
    until(&mut simulation, 10_000, |it| n_ready(it) == 3);
    let before = uids(&simulation);
    // 9 of 12 cores are free, 3 on each node.
    apply(&mut simulation, &asking("big", "3500m"));
    run_for(&mut simulation, 1_000);
    let why = "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.";
    let told = |it: &Simulation| condition_of(it, Kind::Pod, "big", "PodScheduled");
    assert_eq!(state_of(&simulation, Kind::Pod, "big", "PodScheduled"), "False Unschedulable");
    assert_eq!(told(&simulation).expect("there").message.as_str(), why);
    assert_eq!(pod(&simulation, "big").expect("there").status.phase, "Pending");
    assert_eq!(messages(&simulation, "FailedScheduling"), [why]);
    let tries = |it: &Simulation| messages(it, "FailedScheduling").len();
    run_for(&mut simulation, 290_000);
    assert_eq!(tries(&simulation), 1);
    run_for(&mut simulation, 20_000);
    assert_eq!(tries(&simulation), 2, "after five minutes");
    let others = uids(&simulation);
    assert!(before.iter().all(|uid| others.contains(uid)), "none was moved or preempted");
    command(&mut simulation, "node add node-4 --cpu=8 --memory=8Gi");
    let added = simulation.now();
    let bound = until(&mut simulation, 10_000, |it| pod(it, "big").is_some_and(|pod| pod.is_assigned()));
    assert_eq!(pod(&simulation, "big").expect("there").spec.node_name.as_str(), "node-4");
    assert!(bound.since(added) <= Millis(6_000), "as soon as its taint is gone: {:?}", bound.since(added));
}

fn taint(simulation: &mut Simulation, node: &str, key: &str) {
    let taints =
        if key.is_empty() { String::new() } else { format!("{{\"key\":\"{key}\",\"effect\":\"NoSchedule\"}}") };
    command(simulation, &format!("kubectl patch node/{node} --type=merge -p '{{\"spec\":{{\"taints\":[{taints}]}}}}'"));
    run_for(simulation, 100);
}

/// Where in the order of binding a pod stands that failed so often, so long ago, when it is woken amid six fresh ones.
fn place_behind_fresh_pods(failures: usize, wait: u64) -> usize {
    let nodes =
        ["n-1", "n-2", "n-3"].map(|name| NodeSetup::named(name, if name == "n-3" { "16" } else { "4" }, "32Gi"));
    let mut simulation = world(Scenario { nodes: nodes.into(), ..scenario() });
    taint(&mut simulation, "n-3", "hold");
    apply(&mut simulation, &asking("big", "10"));
    run_for(&mut simulation, 100);
    for n in 1..failures {
        taint(&mut simulation, "n-2", &format!("try-{n}"));
    }
    assert_eq!(messages(&simulation, "FailedScheduling").len(), failures);
    // The last try was some 95 ms ago.
    run_for(&mut simulation, wait - 95);
    let fresh = |from: usize| (from..from + 3).map(|n| asking(&format!("fresh-{n}"), "100m")).collect::<String>();
    apply(&mut simulation, &fresh(0));
    command(&mut simulation, "kubectl patch node/n-3 --type=merge -p '{\"spec\":{\"taints\":[]}}'");
    apply(&mut simulation, &fresh(3));
    run_for(&mut simulation, 1_000);
    let bound = messages(&simulation, "Scheduled");
    assert_eq!(bound.len(), 7, "{bound:?}");
    bound.iter().position(|it| it.contains("default/big ")).expect("it is bound")
}

/// The back-off of 1, 2, 4, 8, 10, 10 s: until it is over a pod stands behind all others. (With nobody else to place,
/// the scheduler of 1.36 does not let it wait: `SchedulerPopFromBackoffQ`.)
#[test]
fn n6_a_pod_that_failed_stands_behind_the_others_for_its_back_off() {
    for (index, backoff) in [1_000, 2_000, 4_000, 8_000, 10_000, 10_000].into_iter().enumerate() {
        let places = [backoff - 200, backoff + 200].map(|wait| place_behind_fresh_pods(index + 1, wait));
        assert_eq!(places, [6, 3], "after {} failures", index + 1);
    }
}

/// A budget that wants all of one pod forbids its eviction for ever; it limits neither rollouts nor scaling nor a crash of
/// the node. What helps is a second replica, or a budget that allows one to be missing.
#[test]
fn n7_a_budget_of_a_singleton_forbids_evictions_and_nothing_else() {
    let mut simulation = start(scenario(), 1);
    let budget = |rule: &str| {
        format!(
            "{{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {{name: web}}, spec: {{{rule}, selector: {{matchLabels: {{app: web}}}}}}}}"
        )
    };
    apply(&mut simulation, &budget("minAvailable: 1"));
    run_for(&mut simulation, 2_000);
    // As `kubectl drain` does: every five seconds, for an hour.
    for _ in 0..720 {
        let evict = evict(&simulation);
        let told = refusal(&mut simulation, evict);
        assert_eq!(told, "Cannot evict pod as it would violate the pod's disruption budget.");
        run_for(&mut simulation, 5_000);
    }
    let refused = simulation.trace().events().rev().find_map(|event| match &event.what {
        What::Refused { code, .. } => Some(*code),
        _ => None,
    });
    assert_eq!(refused, Some(429));
    set_image(&mut simulation, Kind::Deployment, "web", "app:v2");
    until(&mut simulation, 20_000, |it| {
        let all = pods(it);
        all.len() == 1 && all[0].spec.containers[0].image == "app:v2" && all[0].is_ready()
    });
    scale(&mut simulation, Kind::Deployment, "web", 2);
    until(&mut simulation, 10_000, |it| n_ready(it) == 2);
    run_for(&mut simulation, 1_000);
    let allowed = evict(&simulation);
    assert!(simulation.dispatch(allowed).is_ok(), "with two of them");
    until(&mut simulation, 10_000, |it| n_ready(it) == 2 && pods(it).len() == 2);
    scale(&mut simulation, Kind::Deployment, "web", 1);
    until(&mut simulation, 10_000, |it| pods(it).len() == 1);
    apply(&mut simulation, &budget("maxUnavailable: 1").replace("spec: {", "spec: {minAvailable: null, "));
    run_for(&mut simulation, 1_000);
    let allowed = evict(&simulation);
    assert!(simulation.dispatch(allowed).is_ok(), "with a budget that allows it");
    until(&mut simulation, 10_000, |it| n_ready(it) == 1 && pods(it).len() == 1);
    apply(&mut simulation, &budget("minAvailable: 1").replace("spec: {", "spec: {maxUnavailable: null, "));
    let node = pods(&simulation)[0].spec.node_name.to_string();
    set_power(&mut simulation, &[&node], false);
    run_for(&mut simulation, 400_000);
    assert_eq!((n_ready(&simulation), terminating(&simulation)), (1, 1), "no budget holds a crash up");
    scale(&mut simulation, Kind::Deployment, "web", 0);
    run_for(&mut simulation, 20_000);
    assert_eq!(pods(&simulation).iter().filter(|pod| pod.is_active()).count(), 0, "nor scaling down");
}
