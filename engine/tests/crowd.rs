//! A crowd tells the same as the map of a few pods does.

#[path = "common/lab.rs"]
mod lab;

use lab::{Lab, instant};
use loopscope_engine::api::{Kind, Uid};
use loopscope_engine::environment::Behavior;
use loopscope_engine::view::{self, Column, Counts, Listing, MapLook, MapView, NodeClass, PodClass};
use loopscope_engine::world::{Command, Scenario, Simulation};

fn deployment(name: &str, replicas: usize, image: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{containers: [{{name: app, image: '{image}', resources: {{requests: {{cpu: 10m}}}}}}]}}
"
    )
}

/// A cluster of four nodes with pods in most states, and one node lost.
fn mixed(replicas: usize) -> Lab {
    let mut scenario = Scenario::with_nodes(7, 4, "4", "8Gi");
    for (image, behavior) in [
        ("app:v1", instant()),
        ("app:slow", Behavior { pull_ms: 600_000, ..instant() }),
        ("app:crash", Behavior { exit: Some((1_000, 1)), ..instant() }),
        ("app:gone", Behavior { is_missing: true, ..instant() }),
    ] {
        scenario.behaviors.0.insert(image.into(), behavior);
    }
    let mut lab = Lab { simulation: Simulation::new(scenario) };
    for (name, image) in [("good", "app:v1"), ("slow", "app:slow"), ("bad", "app:crash"), ("gone", "app:gone")] {
        lab.apply(&deployment(name, replicas, image));
    }
    lab.pod("homeless", "{nodeSelector: {no: where}, containers: [{name: app, image: 'app:v1'}]}");
    lab.run(40_000);
    lab.command(Command::StopNode { node: "node-2".into() });
    lab.command(Command::Cordon { node: "node-3".into(), on: true });
    lab.run(60_000);
    lab
}

/// Each node with its class, its counts and its pods' classes; nothing for what has no node.
type Told = Vec<(Option<String>, Option<NodeClass>, Counts, Vec<(Uid, PodClass)>)>;

fn told_by_rows(map: &MapView) -> Told {
    let rows = |rows: &[view::PodRow]| rows.iter().map(|row| (row.uid, row.class)).collect();
    let card = |card: &view::NodeCard| {
        (Some(card.key.name.to_string()), Some(card.class), card.counts.clone(), rows(&card.pods))
    };
    let mut told: Told = map.nodes.iter().map(card).collect();
    let mut counts: Counts = Vec::new();
    for row in &map.unscheduled {
        match counts.iter_mut().find(|(class, _)| *class == row.class) {
            Some((_, n)) => *n += 1,
            None => counts.push((row.class, 1)),
        }
    }
    told.push((None, None, counts, rows(&map.unscheduled)));
    told
}

fn told_by_crowd(crowd: &view::Crowd) -> Told {
    let flock = |it: &view::Flock| {
        let pods = it.pods.iter().map(|dot| (dot.uid, dot.class)).collect();
        (it.key.as_ref().map(|key| key.name.to_string()), it.class, it.counts.clone(), pods)
    };
    crowd.flocks.iter().map(flock).collect()
}

#[test]
fn a_crowd_has_the_same_pods_in_the_same_places_and_states_as_the_plain_map() {
    let lab = mixed(30);
    let map = view::frame(&lab.simulation).map;
    assert!(!map.is_crowd && map.crowd.flocks.is_empty());
    let (crowd, message) = view::crowd(&lab.simulation);
    assert_eq!(told_by_crowd(&crowd), told_by_rows(&map));
    assert_eq!((crowd.n_pods(), crowd.counts()), (map.n_pods, map.counts));
    assert_eq!(message, map.unscheduled_message);
    let classes: Vec<PodClass> = crowd.counts().into_iter().map(|(class, _)| class).collect();
    assert!(classes.len() >= 6, "{classes:?}");
}

#[test]
fn the_pages_of_a_list_follow_its_order_and_its_filter() {
    let lab = mixed(60);
    let all = view::frame(&lab.simulation).map.n_pods;
    let rows = |look: MapLook, list: &Listing| {
        let mut rows: Vec<view::PodRow> = Vec::new();
        let (_, n) = view::listed(&lab.simulation, look, list, 0, 50);
        for from in (0..n).step_by(50) {
            let (map, again) = view::listed(&lab.simulation, look, list, from, 50);
            assert!(again == n && map.is_crowd && map.n_pods == all);
            let mut page: Vec<_> = map.nodes.into_iter().flat_map(|node| node.pods).chain(map.unscheduled).collect();
            assert_eq!(page.len(), 50.min(n - from));
            if let Some((column, back)) = list.order {
                page.sort_by(|a, b| view::compare(a, b, column));
                if back {
                    page.reverse();
                }
            }
            rows.extend(page);
        }
        assert_eq!(rows.len(), n);
        rows
    };
    let plain = rows(MapLook::default(), &Listing::default());
    assert_eq!(plain.len(), all);
    for back in [false, true] {
        let mut expected = plain.clone();
        expected.sort_by(|a, b| view::compare(a, b, Column::State));
        if back {
            expected.reverse();
        }
        let list = Listing { order: Some((Column::State, back)), filter: String::new() };
        let uids = |rows: &[view::PodRow]| rows.iter().map(|row| row.uid).collect::<Vec<_>>();
        assert_eq!(uids(&rows(MapLook::default(), &list)), uids(&expected), "across all pages");
    }
    let list = Listing { order: None, filter: "node-2".into() };
    let found = rows(MapLook::default(), &list);
    assert_eq!(found.len(), plain.iter().filter(|row| *row.node == *"node-2").count());
    assert!(!found.is_empty() && found.len() < all);
    assert_eq!(rows(MapLook { by_owner: true, truth: true }, &Listing::default()).len(), all);
    assert_eq!(rows(MapLook::default(), &Listing { order: None, filter: "nothing".into() }).len(), 0);
}

#[test]
fn many_pods_are_told_as_a_crowd_and_page_by_page_in_words() {
    let lab = mixed(60);
    let map = view::frame(&lab.simulation).map;
    assert!(map.is_crowd && map.nodes.is_empty() && map.unscheduled.is_empty());
    assert_eq!(map.n_pods, map.crowd.n_pods());
    let mut pages: Vec<(Uid, PodClass)> = Vec::new();
    for page in 0..map.n_pods.div_ceil(50) {
        let map = view::page(&lab.simulation, page * 50, 50);
        let rows: Vec<_> = map.nodes.iter().flat_map(|node| &node.pods).chain(&map.unscheduled).collect();
        assert_eq!(rows.len(), 50.min(map.n_pods - page * 50));
        let is_said = |row: &&view::PodRow| row.label.contains(&*row.key.name) && !row.status.is_empty();
        assert!(rows.iter().all(is_said));
        pages.extend(rows.iter().map(|row| (row.uid, row.class)));
    }
    let all: Vec<_> = told_by_crowd(&map.crowd).into_iter().flat_map(|(.., pods)| pods).collect();
    assert_eq!(pages, all);
    let row = view::pod_row(&lab.simulation, all[0].0).expect("it is there");
    assert_eq!((row.key.kind, row.class), (Kind::Pod, all[0].1));
}

#[test]
fn a_crowd_can_be_grouped_by_owner_and_show_what_really_is() {
    let lab = mixed(60);
    let plain = view::frame(&lab.simulation).map;
    let look = MapLook { by_owner: true, truth: false };
    let map = view::frame_as(&lab.simulation, look).map;
    assert!(map.is_crowd && map.nodes.is_empty());
    let told = told_by_crowd(&map.crowd);
    let n = |name: &str| told.iter().find(|(key, ..)| key.as_deref() == Some(name)).map(|(.., pods)| pods.len());
    assert_eq!(["good", "slow", "bad", "gone"].map(n), [Some(60); 4]);
    assert_eq!((map.n_pods, map.crowd.counts()), (plain.n_pods, plain.counts.clone()));

    let look = MapLook { by_owner: false, truth: true };
    let truth = view::frame_as(&lab.simulation, look).map;
    let is_lost = |it: &&view::Flock| it.key.as_ref().is_some_and(|key| *key.name == *"node-2");
    let classes = |map: &MapView| map.crowd.flocks.iter().find(is_lost).map(|it| it.counts.clone());
    assert_eq!(classes(&plain), Some(vec![(PodClass::Unknown, 60)]));
    assert_ne!(classes(&truth), classes(&plain));
}
