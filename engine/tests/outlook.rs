//! What the page says will happen, and when, happens then.

#[path = "common/lab.rs"]
mod lab;

use lab::{Lab, instant};
use loopscope_engine::view::{self, NodeClass};
use loopscope_engine::world::Command;

const WEB: &str = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 3, selector: \
                   {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: app, image: \
                   'app:v1'}]}}}}";

fn class(lab: &Lab) -> NodeClass {
    view::frame(&lab.simulation).map.nodes[1].class
}

fn outlook(lab: &Lab) -> String {
    view::outlook(&lab.simulation).unwrap_or_default()
}

/// The number before ` s` that comes first after some words.
fn seconds_after(text: &str, words: &str) -> u64 {
    let rest = text.split_once(words).unwrap_or_else(|| panic!("no `{words}` in `{text}`")).1;
    rest.split_once(" s").and_then(|(number, _)| number.parse().ok()).expect("a number")
}

#[test]
fn a_dead_nodes_course_is_foretold_with_its_figures() {
    let mut lab = Lab::new(&[("app:v1", instant())]);
    lab.apply(WEB);
    lab.run(20_000);
    assert_eq!(outlook(&lab), "");
    lab.command(Command::StopNode { node: "node-2".into() });
    lab.run(5_000);
    let said = outlook(&lab);
    assert!(
        said.starts_with("node-2 is off. It is marked NotReady after 50 s without a heartbeat, in about "),
        "{said}"
    );
    assert!(said.ends_with(" s, and its pods are evicted 300 s after that."), "{said}");
    let (foretold, since) = (seconds_after(&said, "in about "), lab.now());
    while class(&lab) != NodeClass::Unreachable {
        lab.run(100);
        assert!(lab.now() < since + 70_000);
    }
    // The monitor looks every 5 s.
    let took = (lab.now() - since) / 1_000;
    assert!((foretold..=foretold + 6).contains(&took), "foretold {foretold} s, took {took} s");
    for _ in 0..200 {
        lab.run(10);
        let said = outlook(&lab);
        assert!(said.starts_with("node-2 does not answer. It"), "until then, too, something is said: {said}");
    }
    let said = outlook(&lab);
    assert!(said.starts_with("node-2 does not answer. Its pods are evicted in "), "{said}");
    let (foretold, since) = (seconds_after(&said, "evicted in "), lab.now());
    let is_evicted =
        |lab: &Lab| lab.pods().iter().any(|pod| pod.spec.node_name == "node-2".into() && pod.is_terminating());
    while !is_evicted(&lab) {
        lab.run(100);
        assert!(lab.now() < since + 310_000);
    }
    let took = (lab.now() - since).div_ceil(1_000);
    assert!(took.abs_diff(foretold) <= 1, "foretold {foretold} s, took {took} s");
    lab.run(1_000);
    assert_eq!(outlook(&lab), "", "nothing more is to come of it");
}

#[test]
fn where_no_node_answers_no_eviction_is_foretold() {
    let mut lab = Lab::new(&[("app:v1", instant())]);
    lab.apply(WEB);
    lab.run(20_000);
    for number in 1..=3 {
        lab.command(Command::StopNode { node: format!("node-{number}") });
    }
    assert!(outlook(&lab).starts_with("node-1 is off. "), "of several the first");
    lab.run(90_000);
    assert_eq!(outlook(&lab), "");
    lab.run(600_000);
    assert!(lab.pods().iter().all(|pod| !pod.is_terminating()));
}
