//! The readout says that nothing can converge, and why, from what the API server says; and says nothing of the kind while
//! something is under way.

#[path = "common/lab.rs"]
mod lab;

use lab::{Lab, instant};
use loopscope_engine::api::Kind;
use loopscope_engine::environment::Behavior;
use loopscope_engine::view::{self, Convergence, MapLook, PodClass};
use loopscope_engine::world::{Command, NodeSetup, Target};

/// `Converged`, `Stuck: 3 pods fit no node, Insufficient cpu`.
fn word(lab: &Lab) -> String {
    let summary = view::summary(&lab.simulation);
    match (summary.convergence, summary.stuck) {
        (Convergence::Stuck, Some(stuck)) => format!("Stuck: {}", stuck.why),
        (other, None) => format!("{other:?}"),
        other => panic!("{other:?}"),
    }
}

fn remedy(lab: &Lab) -> &'static str {
    view::summary(&lab.simulation).stuck.map_or("", |it| it.remedy)
}

fn deployment(replicas: i32, cpu: &str, image: &str) -> String {
    format!(
        "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web}}, spec: {{replicas: {replicas}, selector: \
         {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: [{{name: app, \
         image: '{image}', resources: {{requests: {{cpu: {cpu}}}}}}}]}}}}}}}}"
    )
}

fn web() -> Target {
    Target { kind: Kind::Deployment, namespace: "default".into(), name: "web".into() }
}

fn lab() -> Lab {
    Lab::new(&[("app:v1", instant())])
}

#[test]
fn pods_that_fit_nowhere_are_stuck_until_there_is_room() {
    let mut lab = lab();
    lab.apply(&deployment(6, "2500m", "app:v1"));
    assert_eq!(word(&lab), "Converging", "nobody has tried yet");
    lab.run(20_000);
    let words = (word(&lab), remedy(&lab));
    assert_eq!(
        (words.0.as_str(), words.1),
        ("Stuck: 3 pods fit no node, Insufficient cpu", "Add a node, scale down or ask for less.")
    );
    let said = view::announce(&lab.simulation);
    assert!(said.contains("stuck: 3 pods fit no node, Insufficient cpu"), "{said}");
    let owner = view::frame_as(&lab.simulation, MapLook { by_owner: true, truth: false }).map.nodes;
    assert_eq!(owner[0].owner.as_ref().map(|it| it.convergence), Some(Convergence::Stuck));
    lab.command(Command::AddNode { node: NodeSetup::named("node-4", "8", "8Gi") });
    lab.run(20_000);
    assert_eq!(word(&lab), "Converged");
    for number in 1..=4 {
        lab.command(Command::Cordon { node: format!("node-{number}"), on: true });
    }
    lab.command(Command::Scale { target: web(), replicas: 7 });
    lab.run(5_000);
    assert_eq!(word(&lab), "Stuck: 1 pod fits no node, node(s) were unschedulable");
    assert_eq!(remedy(&lab), "Uncordon a node or add one.");
}

/// A pod that fits nowhere is no reason to give up while others are still on their way.
#[test]
fn nothing_is_stuck_while_something_is_under_way() {
    let mut lab = Lab::new(&[("app:v1", Behavior { start_ms: 5_000, ..instant() })]);
    lab.apply(&deployment(4, "2500m", "app:v1"));
    let words = lab.course(20_000, word);
    assert_eq!(words, ["Converging", "Stuck: 1 pod fits no node, Insufficient cpu"]);
    let refused = lab.watch(0, |lab| lab.pods().iter().filter(|pod| !pod.is_assigned()).count());
    assert_eq!(refused[0].1, 1);
    let first = lab.pods().into_iter().find(|pod| pod.is_assigned()).expect("three are placed");
    lab.delete(&first.metadata.name);
    assert_eq!(word(&lab), "Converging", "what goes makes room");
}

#[test]
fn dead_nodes_are_stuck_only_when_none_is_left() {
    let mut lab = lab();
    lab.apply(&deployment(3, "100m", "app:v1"));
    lab.run(10_000);
    lab.command(Command::StopNode { node: "node-1".into() });
    let words = lab.course(400_000, word);
    assert_eq!(words, ["Converged", "Converging", "Converged"], "the pods are replaced in the end");
    lab.command(Command::StopNode { node: "node-2".into() });
    lab.command(Command::StopNode { node: "node-3".into() });
    let words = lab.course(1_200_000, word);
    assert_eq!(words.last().map(String::as_str), Some("Stuck: no node answers"), "{words:?}");
    assert!(words.len() <= 3, "it is said once, and not taken back: {words:?}");
    assert_eq!(remedy(&lab), "Restore a node or add one.");
    for number in 1..=3 {
        lab.command(Command::StartNode { node: format!("node-{number}") });
    }
    lab.run(120_000);
    assert_eq!(word(&lab), "Converged");
}

#[test]
fn images_quotas_and_crashes_are_named() {
    let mut lab = Lab::new(&[("app:v1", instant()), ("app:v2", instant())]);
    lab.behave("app:v9", view::behavior("app:v9", 8));
    lab.behave("app:v3", view::behavior("app:v3", 1));
    lab.apply(&deployment(2, "100m", "app:v1"));
    lab.run(10_000);
    let image = |image: &str| Command::SetImage { target: web(), container: "app".into(), image: image.into() };
    lab.command(image("app:v2"));
    let words = lab.course(10_000, word);
    assert!(!words.iter().any(|it| it.starts_with("Stuck")), "a rollout that goes on: {words:?}");
    lab.command(image("app:v9"));
    lab.run(60_000);
    assert_eq!(word(&lab), "Stuck: 1 pod cannot pull app:v9");
    lab.command(image("app:v3"));
    lab.run(120_000);
    assert_eq!(word(&lab), "Stuck: 2 pods keep crashing");
    assert_eq!(remedy(&lab), "Set an image that runs, or roll back.");
    lab.command(image("app:v1"));
    lab.run(60_000);
    assert_eq!(word(&lab), "Converged");
    lab.apply("{apiVersion: v1, kind: ResourceQuota, metadata: {name: few}, spec: {hard: {pods: '3'}}}");
    lab.run(5_000);
    lab.command(Command::Scale { target: web(), replicas: 5 });
    lab.run(20_000);
    assert_eq!(word(&lab), "Stuck: 2 pods refused, exceeded quota: few");
    assert_eq!(remedy(&lab), "Raise the quota or scale down.");
}

#[test]
fn stopped_processes_and_a_pause_are_named() {
    let mut lab = lab();
    let process = |name: &str| name.to_owned();
    lab.command(Command::StopController { process: process("kube-scheduler") });
    lab.apply(&deployment(2, "100m", "app:v1"));
    lab.run(10_000);
    assert_eq!(word(&lab), "Stuck: the scheduler is stopped");
    lab.command(Command::StartController { process: process("kube-scheduler") });
    lab.run(10_000);
    assert_eq!(word(&lab), "Converged");
    lab.command(Command::StopController { process: process("kube-controller-manager") });
    lab.command(Command::Scale { target: web(), replicas: 4 });
    lab.run(10_000);
    assert_eq!(word(&lab), "Stuck: the controllers are stopped");
    lab.command(Command::StartController { process: process("kube-controller-manager") });
    lab.run(10_000);
    let patch = serde_json::json!({"spec": {"paused": true}});
    lab.command(Command::Patch { target: web(), kind: loopscope_engine::apiserver::PatchType::Merge, patch });
    lab.run(5_000);
    assert_eq!(word(&lab), "Converged", "a pause that holds nothing up");
    lab.command(Command::SetImage { target: web(), container: "app".into(), image: "app:v2".into() });
    lab.run(5_000);
    assert_eq!(word(&lab), "Stuck: web is paused");
}

#[test]
fn a_deadline_is_named_where_nothing_else_is_found() {
    let mut lab = lab();
    lab.behave("app:v4", view::behavior("app:v4", 4));
    lab.apply(&deployment(2, "100m", "app:v1").replace("replicas: 2", "progressDeadlineSeconds: 30, replicas: 2"));
    lab.run(10_000);
    assert_eq!(word(&lab), "Converged");
    let probe = "image: 'app:v4', readinessProbe: {tcpSocket: {port: 80}, periodSeconds: 1}";
    let text = deployment(2, "100m", "app:v1").replace("image: 'app:v1'", probe);
    lab.apply(&text.replace("replicas: 2", "progressDeadlineSeconds: 30, replicas: 2"));
    let words = lab.course(60_000, word);
    assert_eq!(words, ["Converging", "Stuck: no progress within 30 s"], "a pod may always become ready yet");
}

/// The header's shapes stand in the order of the map's.
#[test]
fn the_readouts_shapes_are_in_the_maps_order() {
    let mut lab = lab();
    lab.apply(&deployment(6, "2500m", "app:v1"));
    lab.run(20_000);
    let first = lab.pods().into_iter().find(|pod| *pod.spec.node_name == *"node-1").expect("one is there");
    lab.command(Command::delete(Target {
        kind: Kind::Pod,
        namespace: "default".into(),
        name: first.metadata.name.to_string(),
    }));
    let mut n_seen = 0;
    for _ in 0..200 {
        lab.run(10);
        let frame = view::frame(&lab.simulation);
        let rows = frame.map.nodes.iter().flat_map(|card| &card.pods).chain(&frame.map.unscheduled);
        let on_map: Vec<PodClass> = rows.map(|row| row.class).filter(|it| *it != PodClass::Terminating).collect();
        assert_eq!(frame.summary.slots[..on_map.len()], on_map);
        n_seen += usize::from(!on_map.is_sorted());
    }
    assert!(n_seen > 0, "the best does not always come first");
}

/// Why pods have no node is said alike for few and for many.
#[test]
fn a_crowd_says_the_same_of_pods_without_a_node() {
    let said = |replicas: i32| {
        let mut lab = lab();
        lab.apply(&deployment(replicas, "3", "app:v1"));
        lab.run(60_000);
        let map = view::frame(&lab.simulation).map;
        (map.is_crowd, map.unscheduled_message.expect("some wait"))
    };
    let (few, many) = (said(5), said(160));
    assert_eq!((few.0, many.0), (false, true));
    assert_eq!(few.1, many.1);
}
