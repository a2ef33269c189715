//! The scheduler as a person meets it: who goes where, who waits and why, who has to leave.
//!
//! Figures and texts come from recordings of kube-scheduler v1.36.2.

use std::collections::BTreeMap;
use std::rc::Rc;

use loopscope_engine::api::{Condition, Kind, Object, ObjectKey, Pod, condition};
use loopscope_engine::sim::Millis;
use loopscope_engine::world::{Command, NodeSetup, Scenario, Simulation, Target};

fn apply(simulation: &mut Simulation, manifest: &str) {
    let outcome = simulation.dispatch(Command::Apply { manifest: manifest.into() });
    assert!(outcome.is_ok(), "{outcome:?}");
}

fn run_for(simulation: &mut Simulation, ms: u64) {
    let until = simulation.now() + Millis(ms);
    assert!(simulation.run_until(until, 10_000_000), "events without end");
}

fn pods(simulation: &Simulation, app: &str) -> Vec<Rc<Pod>> {
    let all = simulation.api().objects().of_kind(Kind::Pod).filter_map(Object::as_pod);
    all.filter(|pod| pod.metadata.labels.get("app").map(String::as_str) == Some(app)).cloned().collect()
}

fn per_node(pods: &[Rc<Pod>]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for pod in pods {
        *counts.entry(pod.spec.node_name.to_string()).or_default() += 1;
    }
    counts
}

/// Messages of one reason with the name of the object they are about, in order.
fn events(simulation: &Simulation, reason: &str) -> Vec<(String, String)> {
    let all = simulation.api().events.iter().filter(|event| event.draft.reason == reason);
    all.map(|event| (event.draft.about.name.to_string(), event.draft.message.clone())).collect()
}

fn why_unscheduled(pod: &Pod) -> &str {
    let scheduled = condition(&pod.status.conditions, "PodScheduled");
    scheduled.filter(|it| !it.is_true() && it.reason == "Unschedulable").map_or("", |it| it.message.as_str())
}

fn deployment(name: &str, replicas: i32, spec: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  replicas: {replicas}\n  selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {name}}}}}\n    spec: {spec}\n"
    )
}

fn label(simulation: &mut Simulation, node: &str, key: &str, value: &str) {
    apply(simulation, &format!("apiVersion: v1\nkind: Node\nmetadata: {{name: {node}, labels: {{{key}: {value}}}}}\n"));
}

fn taint(simulation: &mut Simulation, node: &str, taints: &str) {
    apply(simulation, &format!("apiVersion: v1\nkind: Node\nmetadata: {{name: {node}}}\nspec: {{taints: {taints}}}\n"));
}

/// The cluster of recording `x8_scheduler_placement`: three sizes, two zones.
fn uneven() -> Simulation {
    let sizes = [("node-a", "4", "8Gi", "z1"), ("node-b", "8", "16Gi", "z1"), ("node-c", "16", "32Gi", "z2")];
    let nodes = sizes.iter().map(|(name, cpu, memory, _)| NodeSetup::named(*name, cpu, memory)).collect();
    let mut simulation = Simulation::new(Scenario { nodes, ..Scenario::empty(3) });
    for (node, .., zone) in sizes {
        label(&mut simulation, node, "topology.kubernetes.io/zone", zone);
    }
    run_for(&mut simulation, 1_000);
    simulation
}

/// Recording `x8_scheduler_placement`: node-c takes 5 of 12, node-b 4, node-a 3, in the recorded order of the pods.
#[test]
fn equal_pods_are_weighed_over_nodes_of_different_size_and_zone() {
    let mut simulation = uneven();
    let spec = "{containers: [{name: app, image: 'app:v1', resources: {requests: {cpu: 500m, memory: 512Mi}}}]}";
    apply(&mut simulation, &deployment("web", 12, spec));
    run_for(&mut simulation, 5_000);
    let nodes = per_node(&pods(&simulation, "web"));
    assert_eq!(nodes, [("node-a", 3), ("node-b", 4), ("node-c", 5)].map(|(node, n)| (node.to_string(), n)).into());
    let order: Vec<char> =
        events(&simulation, "Scheduled").iter().filter_map(|(_, message)| message.chars().last()).collect();
    assert_eq!(order.iter().collect::<String>(), "cbacbcacbacb");
}

/// The same recording: a hard spread over zones of 7 pods comes out as 4 and 3.
#[test]
fn a_hard_spread_keeps_zones_within_the_skew() {
    let mut simulation = uneven();
    let spec = "{containers: [{name: app, image: 'app:v1', resources: {requests: {cpu: 100m}}}], topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: hard}}}]}";
    apply(&mut simulation, &deployment("hard", 7, spec));
    run_for(&mut simulation, 5_000);
    let nodes = per_node(&pods(&simulation, "hard"));
    let zone_2 = nodes.get("node-c").copied().unwrap_or(0);
    assert!([3, 4].contains(&zone_2), "{nodes:?}");
    assert_eq!(nodes.values().sum::<usize>(), 7);
    simulation.dispatch(Command::Cordon { node: "node-c".into(), on: true });
    let target = Target { kind: Kind::Deployment, namespace: "default".into(), name: "hard".into() };
    simulation.dispatch(Command::Scale { target, replicas: 12 });
    run_for(&mut simulation, 5_000);
    let pending: Vec<_> = pods(&simulation, "hard").into_iter().filter(|pod| !pod.is_assigned()).collect();
    let expected = "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match pod topology spread constraints. no new claims to deallocate, preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.";
    assert!(!pending.is_empty());
    assert!(pending.iter().all(|pod| why_unscheduled(pod) == expected), "{}", why_unscheduled(&pending[0]));
}

const APART: &str = "{containers: [{name: app, image: 'app:v1', resources: {requests: {cpu: 100m}}}], affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}}";

/// Recording `h27_anti_affinity_more_replicas_than_nodes`.
#[test]
fn pods_that_keep_apart_wait_for_a_node_of_their_own() {
    let mut simulation = Simulation::new(Scenario::empty(5));
    apply(&mut simulation, &deployment("web", 5, APART));
    run_for(&mut simulation, 5_000);
    let all = pods(&simulation, "web");
    let (placed, pending): (Vec<_>, Vec<_>) = all.into_iter().partition(|pod| pod.is_assigned());
    assert_eq!((per_node(&placed).len(), pending.len()), (3, 2));
    let expected = "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.";
    assert!(pending.iter().all(|pod| why_unscheduled(pod) == expected), "{}", why_unscheduled(&pending[0]));
    let victim = placed[0].metadata.name.to_string();
    let target = Target { kind: Kind::Pod, namespace: "default".into(), name: victim };
    simulation.dispatch(Command::delete(target));
    run_for(&mut simulation, 40_000);
    let placed = pods(&simulation, "web").into_iter().filter(|pod| pod.is_assigned()).count();
    assert_eq!(placed, 3, "one of the waiting pods took the node that became free");
}

#[test]
fn pods_stay_away_from_those_that_do_not_want_them() {
    let mut simulation = Simulation::new(Scenario::empty(5));
    apply(&mut simulation, &deployment("web", 3, &APART.replace("app: web", "tier: x")));
    run_for(&mut simulation, 3_000);
    let bare = "apiVersion: v1\nkind: Pod\nmetadata: {name: x, labels: {app: x, tier: x}}\nspec: {containers: [{name: app, image: 'app:v1'}]}\n";
    apply(&mut simulation, bare);
    run_for(&mut simulation, 1_000);
    let pod = &pods(&simulation, "x")[0];
    let text = why_unscheduled(pod);
    let expected = "node(s) didn't satisfy existing pods anti-affinity rules. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.";
    // The Deployment has put its pods wherever it liked: only nodes that have one refuse.
    let n_nodes = per_node(&pods(&simulation, "web")).len();
    assert_eq!(n_nodes, 3, "equal pods spread over equal nodes");
    assert_eq!(text, format!("0/3 nodes are available: 3 {expected}"));
}

#[test]
fn a_pod_that_wants_company_waits_for_it() {
    let mut simulation = Simulation::new(Scenario::empty(5));
    let near = "{containers: [{name: app, image: 'app:v1'}], affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: db}}}]}}}";
    apply(&mut simulation, &deployment("near", 4, near));
    run_for(&mut simulation, 2_000);
    let expected = "0/3 nodes are available: 3 node(s) didn't match pod affinity rules. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.";
    assert!(pods(&simulation, "near").iter().all(|pod| why_unscheduled(pod) == expected));
    apply(&mut simulation, &deployment("db", 1, "{containers: [{name: app, image: 'app:v1'}]}"));
    run_for(&mut simulation, 3_000);
    let nodes = per_node(&pods(&simulation, "near"));
    let db = per_node(&pods(&simulation, "db"));
    assert_eq!(nodes.keys().collect::<Vec<_>>(), db.keys().collect::<Vec<_>>(), "all where the database is");
    let itself = "{containers: [{name: app, image: 'app:v1'}], affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: club}}}]}}}";
    apply(&mut simulation, &deployment("club", 4, itself));
    run_for(&mut simulation, 3_000);
    let club = per_node(&pods(&simulation, "club"));
    assert_eq!(club.values().copied().collect::<Vec<_>>(), [4], "the first may begin, the others follow: {club:?}");
}

/// Recording `l_unschedulable_then_node_added`: texts for selectors, taints and sizes; what changes wakes who waits.
#[test]
fn a_waiting_pod_is_placed_once_the_reason_goes() {
    let nodes = [("n-1", "8"), ("n-2", "8"), ("n-3", "8"), ("big", "16")];
    let nodes = nodes.iter().map(|(name, cpu)| NodeSetup::named(*name, cpu, "32Gi")).collect();
    let mut simulation = Simulation::new(Scenario { nodes, ..Scenario::empty(7) });
    let sel =
        "{containers: [{name: app, image: 'app:v1', resources: {requests: {cpu: 100m}}}], nodeSelector: {disk: ssd}}";
    apply(&mut simulation, &deployment("sel", 1, sel));
    run_for(&mut simulation, 1_000);
    assert_eq!(
        why_unscheduled(&pods(&simulation, "sel")[0]),
        "0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling."
    );
    label(&mut simulation, "big", "disk", "ssd");
    run_for(&mut simulation, 500);
    assert_eq!(pods(&simulation, "sel")[0].spec.node_name.as_str(), "big");
    taint(&mut simulation, "big", "[{key: dedicated, value: db, effect: NoSchedule}]");
    let big = "{containers: [{name: app, image: 'app:v1', resources: {requests: {cpu: '10'}}}]}";
    apply(&mut simulation, &deployment("big", 1, big));
    run_for(&mut simulation, 1_000);
    assert_eq!(
        why_unscheduled(&pods(&simulation, "big")[0]),
        "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 Insufficient cpu. no new claims to deallocate, preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling."
    );
    taint(&mut simulation, "big", "[]");
    run_for(&mut simulation, 500);
    assert_eq!(pods(&simulation, "big")[0].spec.node_name.as_str(), "big");
}

#[test]
fn two_pods_do_not_share_a_port_of_the_node() {
    let mut simulation = Simulation::new(Scenario::empty(5));
    let spec = "{containers: [{name: app, image: 'app:v1', ports: [{containerPort: 80, hostPort: 80}]}]}";
    apply(&mut simulation, &deployment("web", 4, spec));
    run_for(&mut simulation, 2_000);
    let (placed, pending): (Vec<_>, Vec<_>) = pods(&simulation, "web").into_iter().partition(|pod| pod.is_assigned());
    assert_eq!((per_node(&placed).len(), pending.len()), (3, 1));
    assert!(why_unscheduled(&pending[0]).starts_with(
        "0/3 nodes are available: 3 node(s) didn't have free ports for the requested pod ports. no new claims"
    ));
}

#[test]
fn preferred_nodes_are_taken_where_they_can_be() {
    let mut simulation = Simulation::new(Scenario::empty(5));
    label(&mut simulation, "node-2", "disk", "ssd");
    let spec = "{containers: [{name: app, image: 'app:v1'}], affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: disk, operator: In, values: [ssd]}]}}]}}}";
    apply(
        &mut simulation,
        &format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: p, labels: {{app: p}}}}\nspec: {spec}\n"),
    );
    run_for(&mut simulation, 1_000);
    assert_eq!(pods(&simulation, "p")[0].spec.node_name.as_str(), "node-2");
    taint(&mut simulation, "node-1", "[{key: slow, effect: PreferNoSchedule}]");
    taint(&mut simulation, "node-3", "[{key: slow, effect: PreferNoSchedule}]");
    let plain = "apiVersion: v1\nkind: Pod\nmetadata: {name: q, labels: {app: q}}\nspec: {containers: [{name: app, image: 'app:v1'}]}\n";
    apply(&mut simulation, plain);
    run_for(&mut simulation, 1_000);
    assert_eq!(pods(&simulation, "q")[0].spec.node_name.as_str(), "node-2", "the others are shunned where it can be");
}

/// Recording `x5_preemption`: 3 nodes of 8 cores hold 6 pods of 3.5; one of 4 cores and higher priority comes.
#[test]
fn a_pod_of_higher_priority_makes_others_leave() {
    let nodes = (1..=3).map(|n| NodeSetup::named(format!("node-{n}"), "8", "32Gi")).collect();
    let mut simulation = Simulation::new(Scenario { nodes, ..Scenario::empty(5) });
    apply(
        &mut simulation,
        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n",
    );
    let low = "{containers: [{name: app, image: 'app:v1', resources: {requests: {cpu: 3500m}}}]}";
    apply(&mut simulation, &deployment("low", 6, low));
    run_for(&mut simulation, 10_000);
    let vip = "{priorityClassName: high, priority: 1000, containers: [{name: app, image: 'app:v1', resources: {requests: {cpu: '4'}}}]}";
    apply(&mut simulation, &deployment("vip", 1, vip));
    run_for(&mut simulation, 100);
    let pod = Rc::clone(&pods(&simulation, "vip")[0]);
    assert_eq!(why_unscheduled(&pod), "0/3 nodes are available: 3 Insufficient cpu.");
    let nominated = pod.status.nominated_node_name.to_string();
    let leaving: Vec<_> = pods(&simulation, "low").into_iter().filter(|pod| pod.is_terminating()).collect();
    assert_eq!(leaving.len(), 1);
    assert_eq!(leaving[0].spec.node_name.as_str(), nominated);
    let target = condition(&leaving[0].status.conditions, "DisruptionTarget").cloned().unwrap();
    assert_eq!(
        (target.reason.as_str(), target.message.as_str()),
        ("PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod")
    );
    let message = format!("Preempted by pod {} on node {nominated}", pod.metadata.uid);
    assert_eq!(events(&simulation, "Preempted"), [(leaving[0].metadata.name.to_string(), message)]);
    let waiting: Vec<_> = pods(&simulation, "low").into_iter().filter(|pod| !pod.is_assigned()).collect();
    assert_eq!(waiting.len(), 1, "the victim's replacement");
    assert_eq!(
        why_unscheduled(&waiting[0]),
        "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."
    );
    run_for(&mut simulation, 40_000);
    let pod = &pods(&simulation, "vip")[0];
    assert_eq!(pod.spec.node_name.as_str(), nominated);
    assert!(pod.is_ready() && pod.status.nominated_node_name.is_empty());
    let scheduled = condition(&pod.status.conditions, "PodScheduled").is_some_and(Condition::is_true);
    assert!(scheduled);
    assert_eq!(pods(&simulation, "low").iter().filter(|pod| !pod.is_assigned()).count(), 1, "it still waits");
}

/// The same recording: what happens meanwhile wakes the pod, and it is told to wait for the one that leaves.
#[test]
fn a_pod_that_others_leave_for_does_not_make_more_leave() {
    let nodes = (1..=3).map(|n| NodeSetup::named(format!("node-{n}"), "8", "32Gi")).collect();
    let mut simulation = Simulation::new(Scenario { nodes, ..Scenario::empty(5) });
    let low = "{containers: [{name: app, image: 'app:v1', resources: {requests: {cpu: 3500m}}}]}";
    apply(&mut simulation, &deployment("low", 6, low));
    apply(&mut simulation, &deployment("tiny", 1, "{containers: [{name: app, image: 'app:v1'}]}"));
    run_for(&mut simulation, 10_000);
    apply(
        &mut simulation,
        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n",
    );
    let vip = "{priorityClassName: high, priority: 1000, containers: [{name: app, image: 'app:v1', resources: {requests: {cpu: '4'}}}]}";
    let tiny = pods(&simulation, "tiny")[0].metadata.name.to_string();
    let target = Target { kind: Kind::Pod, namespace: "default".into(), name: tiny };
    simulation.dispatch(Command::delete(target));
    run_for(&mut simulation, 200);
    apply(&mut simulation, &deployment("vip", 1, vip));
    run_for(&mut simulation, 50);
    let mut texts = Vec::new();
    for _ in 0..400 {
        run_for(&mut simulation, 10);
        let text = why_unscheduled(&pods(&simulation, "vip")[0]).to_string();
        if texts.last() != Some(&text) {
            texts.push(text);
        }
    }
    assert!(
        texts.iter().any(|text| text == "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to a terminating pod on the nominated node."),
        "{texts:#?}"
    );
    run_for(&mut simulation, 40_000);
    assert_eq!(events(&simulation, "Preempted").len(), 1);
}

#[test]
fn a_budget_turns_preemption_elsewhere() {
    let nodes = (1..=2).map(|n| NodeSetup::named(format!("node-{n}"), "4", "32Gi")).collect();
    let mut simulation = Simulation::new(Scenario { nodes, ..Scenario::empty(5) });
    let pod = |name: &str, node: &str, priority: i32| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{app: {name}}}}}\nspec: {{priority: {priority}, nodeSelector: {{kubernetes.io/hostname: {node}}}, containers: [{{name: app, image: 'app:v1', resources: {{requests: {{cpu: '3'}}}}}}]}}\n"
        )
    };
    apply(&mut simulation, &pod("guarded", "node-1", 0));
    apply(&mut simulation, &pod("free", "node-2", 0));
    let budget = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {minAvailable: 1, selector: {matchLabels: {app: guarded}}}\n";
    apply(&mut simulation, budget);
    run_for(&mut simulation, 10_000);
    apply(
        &mut simulation,
        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n",
    );
    let vip = "apiVersion: v1\nkind: Pod\nmetadata: {name: vip, labels: {app: vip}}\nspec: {priorityClassName: high, priority: 1000, containers: [{name: app, image: 'app:v1', resources: {requests: {cpu: '3'}}}]}\n";
    apply(&mut simulation, vip);
    run_for(&mut simulation, 100);
    assert_eq!(pods(&simulation, "vip")[0].status.nominated_node_name.as_str(), "node-2");
    assert!(!pods(&simulation, "guarded")[0].is_terminating());
}

#[test]
fn higher_priorities_are_placed_first() {
    let mut simulation = Simulation::new(Scenario::empty(5));
    apply(
        &mut simulation,
        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n",
    );
    let mut manifest = String::new();
    for n in 0..20 {
        manifest += &format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: low-{n:02}, labels: {{app: low}}}}\nspec: {{containers: [{{name: app, image: 'app:v1'}}]}}\n"
        );
    }
    manifest += "---\napiVersion: v1\nkind: Pod\nmetadata: {name: vip, labels: {app: vip}}\nspec: {priorityClassName: high, priority: 1000, containers: [{name: app, image: 'app:v1'}]}\n";
    apply(&mut simulation, &manifest);
    run_for(&mut simulation, 2_000);
    let order: Vec<String> = events(&simulation, "Scheduled").into_iter().map(|(name, _)| name).collect();
    assert_eq!(order.len(), 21);
    let at = order.iter().position(|name| name == "vip").unwrap();
    assert!(at <= 1, "only one that was under way went before it: {order:?}");
}

#[test]
fn a_pod_of_another_scheduler_is_left_alone() {
    let mut simulation = Simulation::new(Scenario::empty(5));
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {app: p}}\nspec: {schedulerName: mine, containers: [{name: app, image: 'app:v1'}]}\n";
    apply(&mut simulation, pod);
    run_for(&mut simulation, 2_000);
    let pod = &pods(&simulation, "p")[0];
    assert!(!pod.is_assigned() && why_unscheduled(pod).is_empty());
}

#[test]
fn a_waiting_pod_is_tried_again_every_five_minutes() {
    let mut simulation = Simulation::new(Scenario::empty(5));
    apply(
        &mut simulation,
        &deployment("big", 1, "{containers: [{name: app, image: 'app:v1', resources: {requests: {cpu: '64'}}}]}"),
    );
    run_for(&mut simulation, 10_000);
    let count = |simulation: &Simulation| -> u64 {
        let all = simulation.api().events.iter().filter(|it| it.draft.reason == "FailedScheduling");
        all.map(|event| u64::from(event.count)).sum()
    };
    assert_eq!(count(&simulation), 1);
    run_for(&mut simulation, 300_000);
    assert_eq!(count(&simulation), 2);
    let version = simulation.api().objects().get(&key_of(&simulation)).map(|pod| pod.meta().resource_version);
    run_for(&mut simulation, 300_000);
    assert_eq!(count(&simulation), 3);
    let later = simulation.api().objects().get(&key_of(&simulation)).map(|pod| pod.meta().resource_version);
    assert_eq!(version, later, "nothing new, nothing written");
}

fn key_of(simulation: &Simulation) -> ObjectKey {
    ObjectKey::new(Kind::Pod, "default", pods(simulation, "big")[0].metadata.name.clone())
}
