//! The map grouped by owner, as it really is, and as a list; from real runs.

#[path = "common/lab.rs"]
mod lab;

use lab::{Lab, instant};
use loopscope_engine::api::{Kind, ObjectKey};
use loopscope_engine::environment::Behavior;
use loopscope_engine::view::{self, Column, Convergence, MapLook, MapView, NodeCard, PodClass, PodRow};
use loopscope_engine::world::{Command, Target};

fn map(lab: &Lab, by_owner: bool, truth: bool) -> MapView {
    view::frame_as(&lab.simulation, MapLook { by_owner, truth }).map
}

fn owners(lab: &Lab) -> Vec<NodeCard> {
    map(lab, true, false).nodes
}

fn web(replicas: i32, more: &str) -> String {
    format!(
        "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web}}, spec: {{replicas: {replicas}, selector: \
         {{matchLabels: {{app: web}}}}, template: {{metadata: {{labels: {{app: web}}}}, spec: {{{more}containers: \
         [{{name: app, image: 'app:v1'}}]}}}}}}}}"
    )
}

fn target(kind: Kind, name: &str) -> Target {
    Target { kind, namespace: "default".into(), name: name.into() }
}

fn set_image(lab: &mut Lab, image: &str) {
    let target = target(Kind::Deployment, "web");
    lab.command(Command::SetImage { target, container: "app".into(), image: image.into() });
}

/// Kind, name, wanted, ready, pods.
fn told(card: &NodeCard) -> (String, String, i32, usize, usize) {
    let facts = card.owner.as_ref().expect("an owner's card");
    (card.word.clone(), card.key.name.to_string(), facts.want, facts.ready, card.pods.len())
}

#[test]
fn each_workload_has_a_card_with_what_is_wanted_and_ready() {
    let mut lab = Lab::new(&[("app:v1", instant()), ("app:done", Behavior { exit: Some((60_000, 0)), ..instant() })]);
    lab.apply(&web(3, ""));
    for (kind, name) in [("StatefulSet", "db"), ("DaemonSet", "agent"), ("ReplicaSet", "lone")] {
        let size = if kind == "DaemonSet" { "" } else { "replicas: 2, " };
        lab.apply(&format!(
            "{{apiVersion: apps/v1, kind: {kind}, metadata: {{name: {name}}}, spec: {{{size}selector: {{matchLabels: \
             {{app: {name}}}}}, template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: [{{name: app, \
             image: 'app:v1'}}]}}}}}}}}"
        ));
    }
    lab.apply(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: report}, spec: {template: {spec: {restartPolicy: Never, \
         containers: [{name: app, image: 'app:done'}]}}}}",
    );
    lab.pod("single", "{containers: [{name: app, image: 'app:v1'}]}");
    lab.pod("stuck", "{nodeSelector: {no: where}, containers: [{name: app, image: 'app:v1'}]}");
    lab.run(20_000);
    let cards = owners(&lab);
    let expected = [
        ("Deployment", "web", 3, 3, 3),
        ("ReplicaSet", "lone", 2, 2, 2),
        ("StatefulSet", "db", 2, 2, 2),
        ("DaemonSet", "agent", 3, 3, 3),
        ("Job", "report", 1, 1, 1),
        ("bare pods", "", 2, 1, 2),
    ]
    .map(|(kind, name, want, ready, pods)| (kind.to_string(), name.to_string(), want, ready, pods));
    let mut found: Vec<_> = cards.iter().map(told).collect();
    assert_eq!(found.pop(), Some(expected[5].clone()), "bare pods come last");
    for card in &expected[..5] {
        assert!(found.contains(card), "{card:?} is missing in {found:?}");
    }
    assert_eq!(found.len(), 5);
    let states: Vec<Convergence> = cards.iter().filter_map(|card| Some(card.owner.as_ref()?.convergence)).collect();
    assert_eq!(states.iter().filter(|it| **it == Convergence::Converged).count(), 5, "{states:?}");

    // Every pod is in one card, says its node, and is the same pod as on the map by node.
    let by_node = map(&lab, false, false);
    let (mut here, mut there) = (uids(&cards), uids(&by_node.nodes));
    there.extend(by_node.unscheduled.iter().map(|row| row.uid.to_string()));
    here.sort();
    there.sort();
    assert_eq!(here, there);
    let by_owner = map(&lab, true, false);
    assert_eq!((by_owner.n_pods, by_owner.counts, by_owner.unscheduled.len()), (by_node.n_pods, by_node.counts, 0));
    let agents = &cards.iter().find(|card| *card.key.name == *"agent").expect("it is there").pods;
    let mut nodes: Vec<&str> = agents.iter().map(|row| row.node.as_str()).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, ["node-1", "node-2", "node-3"]);
    let stuck = cards.last().expect("it is there").pods.iter().find(|row| *row.key.name == *"stuck");
    assert_eq!(stuck.map(|row| row.node.as_str()), Some(""));
}

fn uids(cards: &[NodeCard]) -> Vec<String> {
    cards.iter().flat_map(|card| &card.pods).map(|row| row.uid.to_string()).collect()
}

/// New or old, wanted, ready, pods of each part.
fn parts(card: &NodeCard) -> Vec<(bool, Option<i32>, usize, usize)> {
    let facts = card.owner.as_ref().expect("an owner's card");
    facts.parts.iter().map(|part| (part.is_new, part.want, part.ready, part.n)).collect()
}

#[test]
fn a_rollout_shows_the_old_and_the_new_template_apart() {
    let mut lab = Lab::new(&[("app:v1", instant()), ("app:gone", Behavior { is_missing: true, ..instant() })]);
    lab.apply(&web(4, ""));
    lab.run(20_000);
    assert_eq!(parts(&owners(&lab)[0]), [(true, Some(4), 4, 4)]);
    let old = owners(&lab)[0].pods[0].owner.clone();
    set_image(&mut lab, "app:gone");
    lab.run(20_000);
    let card = owners(&lab).remove(0);
    assert_eq!(parts(&card), [(true, Some(2), 0, 2), (false, Some(3), 3, 3)]);
    let facts = card.owner.as_ref().expect("an owner's card");
    assert_eq!((facts.want, facts.ready, facts.convergence), (4, 3, Convergence::Stuck), "no image, no progress");
    assert_eq!(facts.parts[1].name, old);
    assert!(card.pods[..2].iter().all(|row| row.owner == facts.parts[0].name), "the parts follow each other");
    assert!(card.pods[2..].iter().all(|row| row.owner == old));
}

#[test]
fn a_stateful_set_has_parts_while_two_revisions_are_there() {
    let mut lab = Lab::new(&[("app:v1", instant()), ("app:v2", Behavior { serve_ms: None, ..instant() })]);
    let set = |image: &str| {
        format!(
            "{{apiVersion: apps/v1, kind: StatefulSet, metadata: {{name: db}}, spec: {{replicas: 3, selector: \
             {{matchLabels: {{app: db}}}}, template: {{metadata: {{labels: {{app: db}}}}, spec: {{containers: [{{name: \
             app, image: '{image}', readinessProbe: {{tcpSocket: {{port: 80}}}}}}]}}}}}}}}"
        )
    };
    lab.apply(&set("app:v1"));
    lab.run(60_000);
    assert_eq!((told(&owners(&lab)[0]).3, parts(&owners(&lab)[0])), (3, vec![]));
    lab.apply(&set("app:v2"));
    lab.run(60_000);
    assert_eq!(parts(&owners(&lab)[0]), [(true, None, 0, 1), (false, None, 2, 2)]);
    assert_eq!(*owners(&lab)[0].pods[0].key.name, *"db-2", "the last one is changed first");
}

#[test]
fn pods_whose_owner_is_gone_are_bare() {
    let mut lab = Lab::new(&[("app:v1", instant())]);
    lab.apply(&web(2, ""));
    lab.run(20_000);
    let set = owners(&lab)[0].pods[0].owner.clone();
    lab.command(Command::StopController { process: "kube-controller-manager".into() });
    lab.command(Command::delete(target(Kind::Deployment, "web")));
    lab.run(1_000);
    assert_eq!(owners(&lab).iter().map(told).collect::<Vec<_>>(), [("ReplicaSet".into(), set.to_string(), 0, 2, 2)]);
    lab.command(Command::delete(target(Kind::ReplicaSet, &set)));
    lab.run(1_000);
    assert_eq!(owners(&lab).iter().map(told).collect::<Vec<_>>(), [("bare pods".into(), String::new(), 0, 2, 2)]);
}

/// What the map shows of a node: its word and what is reported of it, its pods likewise, and the message.
type Shown = (String, Option<String>, Vec<(PodClass, String, Option<String>)>, Option<String>);

fn shown(lab: &Lab, truth: bool, node: &str) -> Shown {
    let map = map(lab, false, truth);
    let card = map.nodes.into_iter().find(|card| *card.key.name == *node).expect("the node is on the map");
    let row = |row: PodRow| (row.class, row.word, row.reported);
    (card.word, card.reported, card.pods.into_iter().map(row).collect(), card.message)
}

fn some(text: &str) -> Option<String> {
    Some(text.into())
}

const ON_2: &str = "nodeName: node-2, ";

#[test]
fn where_all_is_as_reported_truth_is_the_same_map() {
    let mut lab = Lab::new(&[("app:v1", instant()), ("app:crash", Behavior { exit: Some((1_000, 1)), ..instant() })]);
    lab.apply(&web(5, ""));
    lab.pod("buggy", "{containers: [{name: app, image: 'app:crash'}, {name: side, image: 'app:v1'}]}");
    lab.pod("over", "{restartPolicy: Never, containers: [{name: app, image: 'app:crash'}]}");
    lab.pod("homeless", "{nodeSelector: {no: where}, containers: [{name: app, image: 'app:v1'}]}");
    lab.run(100_000);
    assert_eq!(map(&lab, false, true), map(&lab, false, false));
    assert_eq!(map(&lab, true, true), map(&lab, true, false));
}

#[test]
fn a_node_that_is_cut_off_goes_on_with_what_it_last_heard() {
    let mut lab = Lab::new(&[("app:v1", instant())]);
    lab.pod("a", &format!("{{{ON_2}containers: [{{name: app, image: 'app:v1'}}]}}"));
    lab.pod("b", &format!("{{{ON_2}containers: [{{name: app, image: 'app:v1'}}]}}"));
    lab.run(20_000);
    lab.command(Command::CutNode { node: "node-2".into() });
    lab.run(1_000);
    let ready = || (PodClass::Ready, "Ready".to_string(), None);
    let unheard = some("node-2 is cut off; the API server has not noticed yet.");
    assert_eq!(
        shown(&lab, true, "node-2"),
        ("Cut off".into(), some("reported Ready"), vec![ready(), ready()], unheard)
    );
    assert_eq!(shown(&lab, false, "node-2").0, "Ready");

    // A deletion that the kubelet has not heard of, and a pod that it has not heard of.
    lab.delete("b");
    lab.pod("c", &format!("{{{ON_2}containers: [{{name: app, image: 'app:v1'}}]}}"));
    lab.run(1_000);
    let (_, _, pods, message) = shown(&lab, true, "node-2");
    let expected = [
        ready(),
        (PodClass::Ready, "Ready".into(), some("reported Terminating")),
        (PodClass::Pending, "No container".into(), some("reported Creating")),
    ];
    assert_eq!(pods, expected);
    assert!(message.is_some_and(|text| text.ends_with("yet. 2 pods are not as reported.")));

    // After a while the API server knows nothing any more. The containers run on.
    lab.run(70_000);
    let (word, reported, pods, message) = shown(&lab, true, "node-2");
    assert_eq!((word.as_str(), reported), ("Cut off", some("reported Unreachable")));
    assert_eq!(pods.iter().map(|pod| pod.0).collect::<Vec<_>>(), [PodClass::Ready, PodClass::Ready, PodClass::Pending]);
    assert!(
        pods.iter().all(|pod| pod.2.as_ref().is_some_and(|text| text.starts_with("reported Unknown "))),
        "{pods:?}"
    );
    assert!(message.is_some_and(|text| text.ends_with("Really runs 2 pods; the API server last heard of 2.")));
    let believed = shown(&lab, false, "node-2").2;
    assert!(believed.iter().all(|pod| pod.0 == PodClass::Unknown && pod.2.is_none()), "{believed:?}");

    // Deleted by force: the API server forgets the pod, and its container runs.
    lab.command(Command::Delete { target: target(Kind::Pod, "a"), propagation: None, grace: Some(0) });
    lab.run(100);
    let map = map(&lab, false, true);
    let ghost = map.nodes[1].pods.iter().find(|row| *row.key.name == *"a").expect("its container runs");
    assert_eq!((ghost.class, ghost.is_known), (PodClass::Ready, false));
    assert_eq!(ghost.reported.as_deref(), Some("gone from the API server"));
    assert_eq!(ghost.label, "Pod a, Ready, gone from the API server, node-2");
    assert!(
        shown(&lab, true, "node-2")
            .3
            .is_some_and(|text| text.ends_with("Really runs 2 pods; the API server last heard of 1."))
    );
    let bare = view::frame_as(&lab.simulation, MapLook { by_owner: true, truth: true }).map.nodes.pop();
    assert_eq!(bare.and_then(|card| card.message).as_deref(), Some("3 pods are not as reported."));

    lab.command(Command::HealNode { node: "node-2".into() });
    lab.run(60_000);
    let ready = vec![(PodClass::Ready, "Ready".to_string(), None)];
    assert_eq!(shown(&lab, true, "node-2"), ("Ready".into(), None, ready, None), "only c is left, and it runs");
}

#[test]
fn a_machine_without_a_node_object_has_a_card_only_in_truth() {
    let mut lab = Lab::new(&[("app:v1", instant())]);
    lab.apply(&web(2, ON_2));
    lab.run(20_000);
    lab.command(Command::delete(Target { namespace: String::new(), ..target(Kind::Node, "node-2") }));
    lab.run(1_000);
    let names = |truth: bool| {
        let map = map(&lab, false, truth);
        map.nodes.iter().map(|card| card.key.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(false), ["node-1", "node-3"]);
    assert_eq!(names(true), ["node-1", "node-2", "node-3"]);
    let (word, reported, pods, _) = shown(&lab, true, "node-2");
    assert_eq!((word.as_str(), reported), ("On", some("no Node object")));
    assert_eq!(pods.len(), 2, "they run there");
    assert!(map(&lab, false, true).unscheduled.is_empty(), "and nowhere else");
    lab.run(120_000);
    let n_pods: usize = map(&lab, false, true).nodes.iter().map(|card| card.pods.len()).sum();
    assert_eq!(n_pods, map(&lab, false, true).n_pods);
    lab.command(Command::StopNode { node: "node-2".into() });
    assert_eq!(map(&lab, false, true).nodes.len(), 2, "a machine that is off and has no Node is nothing");
}

#[test]
fn on_a_stopped_node_nothing_runs_whatever_is_reported() {
    let mut lab = Lab::new(&[("app:v1", instant())]);
    lab.apply(&web(2, ON_2));
    lab.run(20_000);
    lab.command(Command::StopNode { node: "node-2".into() });
    lab.run(1_000);
    let (word, reported, pods, message) = shown(&lab, true, "node-2");
    assert_eq!((word.as_str(), reported), ("Off", some("reported Ready")));
    let stopped = (PodClass::Pending, "Not running".to_string(), some("reported Ready"));
    assert_eq!(pods, [stopped.clone(), stopped]);
    let said = "node-2 is off; the API server has not noticed yet. Really runs 0 pods; the API server believes 2.";
    assert_eq!(message.as_deref(), Some(said));
    let facts = map(&lab, true, true).nodes[0].owner.clone().expect("an owner's card");
    assert_eq!((facts.want, facts.ready), (2, 0), "the owner's card shows the truth too");
    lab.run(70_000);
    assert!(
        shown(&lab, true, "node-2")
            .3
            .is_some_and(|text| text.ends_with("Really runs 0 pods; the API server last heard of 2."))
    );
    lab.command(Command::StartNode { node: "node-2".into() });
    lab.run(60_000);
    assert_eq!(map(&lab, false, true), map(&lab, false, false), "the kubelet has told all");
}

#[test]
fn a_program_that_nobody_asks_may_not_be_ready() {
    let mut lab = Lab::new(&[("app:v1", Behavior { serve_ms: None, ..instant() })]);
    lab.pod("mute", &format!("{{{ON_2}containers: [{{name: app, image: 'app:v1'}}]}}"));
    lab.run(20_000);
    let pods = shown(&lab, true, "node-2").2;
    assert_eq!(pods, [(PodClass::NotReady, "Not ready".into(), some("reported Ready"))], "it has no readiness probe");
}

fn names(rows: &mut [PodRow], column: Column) -> Vec<String> {
    rows.sort_by(|a, b| view::compare(a, b, column));
    rows.iter().map(|row| row.key.name.to_string()).collect()
}

#[test]
fn the_list_is_ordered_by_any_column_and_found_by_any_word() {
    let mut lab = Lab::new(&[("app:v1", instant()), ("app:crash", Behavior { exit: Some((1_000, 1)), ..instant() })]);
    lab.command(Command::AddNode { node: loopscope_engine::world::NodeSetup::named("node-10", "4", "8Gi") });
    lab.run(10_000);
    let one = |node: &str, image: &str| format!("{{nodeName: {node}, containers: [{{name: app, image: '{image}'}}]}}");
    lab.pod("zebra", &one("node-2", "app:v1"));
    lab.run(3_000);
    lab.pod("buggy", &one("node-10", "app:crash"));
    lab.run(3_000);
    lab.pod("alpha", "{nodeSelector: {no: where}, containers: [{name: app, image: 'app:v1'}]}");
    lab.run(3_000);
    lab.pod("pair", &one("node-1", "app:v1").replace("}]", "}, {name: two, image: 'app:v1'}]"));
    lab.run(30_000);
    let map = map(&lab, false, false);
    let mut rows: Vec<PodRow> = map.nodes.into_iter().flat_map(|node| node.pods).chain(map.unscheduled).collect();
    for (column, expected) in [
        (Column::Name, ["alpha", "buggy", "pair", "zebra"]),
        (Column::State, ["pair", "zebra", "alpha", "buggy"]),
        (Column::Status, ["buggy", "alpha", "pair", "zebra"]),
        (Column::Ready, ["alpha", "buggy", "zebra", "pair"]),
        (Column::Restarts, ["alpha", "pair", "zebra", "buggy"]),
        (Column::Age, ["pair", "alpha", "buggy", "zebra"]),
        (Column::Node, ["alpha", "pair", "zebra", "buggy"]),
    ] {
        assert_eq!(names(&mut rows, column), expected, "{column:?}");
    }
    for (filter, expected) in [
        ("", vec!["alpha", "pair", "zebra", "buggy"]),
        ("  PAIR ", vec!["pair"]),
        ("node-1", vec!["pair", "buggy"]),
        ("crash node-1", vec!["buggy"]),
        ("unscheduled", vec!["alpha"]),
        ("pending", vec!["alpha"]),
        ("ready node-2", vec!["zebra"]),
        ("nothing of the kind", vec![]),
    ] {
        let found = rows.iter().filter(|row| view::matches(row, filter));
        assert_eq!(found.map(|row| row.key.name.as_str()).collect::<Vec<_>>(), expected, "{filter:?}");
    }
    lab.apply(&web(1, ""));
    lab.run(5_000);
    let key = ObjectKey::new(Kind::Deployment, "default", "web");
    let card = owners(&lab).into_iter().find(|card| card.key == key).expect("it is there");
    assert!(card.pods.iter().all(|row| view::matches(row, &row.owner)), "found by its ReplicaSet's name");
    assert_eq!(card.pods[0].created_ms, lab.now() - 5_000 - lab.now() % 1_000, "in virtual time, whole seconds");
}
