//! Every state in which a pod or a node is drawn, from real runs.

#[path = "common/lab.rs"]
mod lab;

use std::collections::BTreeMap;

use lab::{Lab, instant};
use loopscope_engine::api::{Kind, ObjectKey};
use loopscope_engine::environment::Behavior;
use loopscope_engine::view::{self, BEHAVIORS, Convergence, NodeClass, PodClass};
use loopscope_engine::world::{Command, NodeSetup, Subject};

const ONE: &str = "containers: [{name: app, image: 'IMAGE'}]";

fn spec(image: &str, more: &str) -> String {
    format!("{{{more}{}}}", ONE.replace("IMAGE", image))
}

/// Each pod by name: how it is drawn, its word and its countdown.
fn rows(lab: &Lab) -> BTreeMap<String, (PodClass, String, bool)> {
    let map = view::frame(&lab.simulation).map;
    let placed = map.nodes.iter().flat_map(|node| &node.pods);
    placed
        .chain(&map.unscheduled)
        .map(|row| (row.key.name.to_string(), (row.class, row.word.clone(), row.countdown.is_some())))
        .collect()
}

#[test]
fn all_ten_pod_states_come_out_of_real_runs() {
    let mut lab = Lab::new(&[
        ("app:v1", instant()),
        ("app:slow", Behavior { pull_ms: 600_000, ..instant() }),
        ("app:deaf", Behavior { ignores_term: true, ..instant() }),
        ("app:crash", Behavior { exit: Some((1_000, 1)), ..instant() }),
        ("app:done", Behavior { exit: Some((1_000, 0)), ..instant() }),
        ("app:gone", Behavior { is_missing: true, ..instant() }),
        ("app:oom", Behavior { exit: Some((1_000, 1)), is_oom: true, ..instant() }),
    ]);
    let probe = "{tcpSocket: {port: 80}}";
    lab.command(Command::Cordon { node: "node-3".into(), on: true });
    for (name, spec) in [
        ("pending", spec("app:v1", "nodeSelector: {no: where}, ")),
        ("creating", spec("app:slow", "")),
        ("init", format!("{{initContainers: [{{name: i, image: 'app:v1'}}], {}}}", ONE.replace("IMAGE", "app:v1"))),
        ("unready", format!("{{containers: [{{name: app, image: 'app:v1', readinessProbe: {probe}}}]}}")),
        ("ready", spec("app:v1", "nodeName: node-1, ")),
        ("terminating", spec("app:deaf", "nodeName: node-1, terminationGracePeriodSeconds: 600, ")),
        ("crash-loop", spec("app:crash", "")),
        ("image-error", spec("app:gone", "")),
        ("failed", spec("app:crash", "restartPolicy: Never, ")),
        ("oom", spec("app:oom", "restartPolicy: Never, ")),
        ("completed", spec("app:done", "restartPolicy: Never, ")),
        ("unknown", spec("app:v1", "nodeName: node-3, ")),
    ] {
        lab.pod(name, &spec);
    }
    lab.run(100);
    lab.command(Command::SetReady { namespace: "default".into(), pod: "unready".into(), ready: false });
    lab.command(Command::StopNode { node: "node-3".into() });
    lab.run(80_000);
    lab.delete("terminating");
    lab.run(2_000);
    lab.watch(60_000, |lab| rows(lab)["crash-loop"].0 == PodClass::CrashLoop);
    while rows(&lab)["crash-loop"].0 != PodClass::CrashLoop {
        lab.run(500);
    }
    let rows = rows(&lab);
    for (name, class, word, counts) in [
        ("pending", PodClass::Pending, "Pending", false),
        ("creating", PodClass::Creating, "Creating", false),
        ("init", PodClass::Creating, "Init:0/1", false),
        ("unready", PodClass::NotReady, "Not ready", true),
        ("ready", PodClass::Ready, "Ready", false),
        ("terminating", PodClass::Terminating, "Terminating", true),
        ("crash-loop", PodClass::CrashLoop, "Crash loop ", true),
        ("image-error", PodClass::ImageError, "Image error", true),
        ("failed", PodClass::Failed, "Failed", false),
        ("oom", PodClass::Failed, "OOMKilled", false),
        ("completed", PodClass::Completed, "Completed", false),
        ("unknown", PodClass::Unknown, "Unknown ", false),
    ] {
        let row = &rows[name];
        assert_eq!((row.0, row.2), (class, counts), "{name}: {row:?}");
        assert!(row.1.starts_with(word), "{name}: {row:?}");
    }
    let words = [
        "pending",
        "creating",
        "unready",
        "terminating",
        "crash-loop",
        "image-error",
        "failed",
        "oom",
        "completed",
        "unknown",
    ]
    .map(|name| view::status_word(&lab.get(name)));
    assert_eq!(
        words,
        [
            "Pending",
            "ContainerCreating",
            "Running",
            "Terminating",
            "CrashLoopBackOff",
            "ImagePullBackOff",
            "Error",
            "OOMKilled",
            "Completed",
            "Running"
        ],
        "STATUS as kubectl prints it"
    );
}

#[test]
fn all_four_node_states_come_out_of_real_runs() {
    let mut lab = Lab::new(&[]);
    lab.command(Command::StopNode { node: "node-2".into() });
    lab.run(70_000);
    lab.command(Command::Cordon { node: "node-3".into(), on: true });
    lab.command(Command::AddNode { node: NodeSetup::named("node-4", "4", "8Gi") });
    lab.run(2_000);
    let cards: Vec<_> = view::frame(&lab.simulation)
        .map
        .nodes
        .iter()
        .map(|card| (card.key.name.to_string(), card.class, card.word.clone(), card.message.is_some()))
        .collect();
    let expected = [
        ("node-1", NodeClass::Ready, "Ready", false),
        ("node-2", NodeClass::Unreachable, "Unreachable", true),
        ("node-3", NodeClass::Cordoned, "Cordoned", true),
        ("node-4", NodeClass::NotReady, "NotReady", true),
    ]
    .map(|(name, class, word, message)| (name.to_string(), class, word.to_string(), message));
    assert_eq!(cards, expected);
    lab.command(Command::StopNode { node: "node-3".into() });
    let off = view::frame(&lab.simulation).map.nodes[2].message.clone();
    assert_eq!(off.as_deref(), Some("node-3 is off; the API server has not noticed yet."));
    lab.command(Command::CutNode { node: "node-1".into() });
    let message = |lab: &Lab| view::frame(&lab.simulation).map.nodes[0].message.clone().unwrap_or_default();
    assert_eq!(message(&lab), "node-1 is cut off; the API server has not noticed yet.");
    lab.run(70_000);
    assert!(message(&lab).contains("It is cut off: its containers go on."), "{}", message(&lab));
    assert_eq!(view::frame(&lab.simulation).map.nodes[2].word, "Unreachable, cordoned");
}

/// What the page's menu offers, each on a pod of its own.
#[test]
fn every_behavior_of_the_menu_does_what_it_says() {
    let mut lab = Lab::new(&[]);
    let name = |index: usize| format!("p{index}");
    for (index, words) in BEHAVIORS.iter().enumerate() {
        let image = format!("image:{index}");
        let behavior = view::behavior(&image, index);
        lab.command(Command::SetBehavior { subject: Subject::Image(image.clone()), behavior });
        let probe = "{tcpSocket: {port: 80}, periodSeconds: 1}";
        let kind = if index == 5 { "livenessProbe" } else { "readinessProbe" };
        let probes = format!("{kind}: {probe}");
        lab.pod(&name(index), &format!("{{containers: [{{name: app, image: '{image}', {probes}}}]}}"));
        let key = ObjectKey::new(Kind::Pod, "default", name(index).as_str());
        let inspection = view::inspect(&lab.simulation, &key).expect("it is there");
        assert_eq!(inspection.programs[0].behavior, Some(index), "{words}");
    }
    let mut seen: Vec<Vec<PodClass>> = vec![Vec::new(); BEHAVIORS.len()];
    for _ in 0..100 {
        lab.run(1_000);
        let rows = rows(&lab);
        for (index, seen) in seen.iter_mut().enumerate() {
            let class = rows[&name(index)].0;
            if seen.last() != Some(&class) {
                seen.push(class);
            }
        }
    }
    let last = |index: usize| *seen[index].last().expect("seen");
    assert_eq!(last(0), PodClass::Ready);
    for index in [1, 2, 3] {
        assert!(seen[index].contains(&PodClass::CrashLoop), "{}: {:?}", BEHAVIORS[index], seen[index]);
    }
    assert_eq!(last(4), PodClass::NotReady);
    assert!(lab.get(&name(5)).restarts() > 0, "a liveness probe ended it");
    assert_eq!(last(7), PodClass::Creating);
    assert_eq!(last(8), PodClass::ImageError);
    lab.delete(&name(6));
    lab.run(25_000);
    assert_eq!(rows(&lab)[&name(6)].0, PodClass::Terminating, "its grace period is 30 s");
}

#[test]
fn the_readout_counts_every_kind_of_workload() {
    let mut lab = Lab::new(&[("app:v1", instant())]);
    let summary = |lab: &Lab| {
        let summary = view::frame(&lab.simulation).summary;
        (summary.subject.clone(), summary.want, summary.ready, summary.convergence)
    };
    assert_eq!(summary(&lab), ("nothing".into(), 0, 0, Convergence::Empty));
    let template = "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: \
                    [{name: app, image: 'app:v1'}]}}";
    lab.apply(&format!("{{apiVersion: apps/v1, kind: DaemonSet, metadata: {{name: agent}}, spec: {{{template}}}}}"));
    lab.run(5_000);
    assert_eq!(summary(&lab), ("agent".into(), 3, 3, Convergence::Converged));
    let set = template.replace("a: b", "a: c");
    lab.apply(&format!(
        "{{apiVersion: apps/v1, kind: StatefulSet, metadata: {{name: db}}, spec: {{replicas: 2, {set}}}}}"
    ));
    assert_eq!(summary(&lab), ("2 workloads".into(), 5, 3, Convergence::Converging));
    lab.run(5_000);
    assert_eq!(summary(&lab), ("2 workloads".into(), 5, 5, Convergence::Converged));
    let job = "template: {spec: {restartPolicy: Never, containers: [{name: app, image: 'job:v1'}]}}";
    lab.apply(&format!(
        "{{apiVersion: batch/v1, kind: Job, metadata: {{name: once}}, spec: {{completions: 2, {job}}}}}"
    ));
    assert_eq!(summary(&lab), ("3 workloads".into(), 6, 5, Convergence::Converging));
    lab.run(60_000);
    assert_eq!(summary(&lab), ("3 workloads".into(), 5, 5, Convergence::Converged), "a finished Job wants nothing");
}
