//! What `docs/fidelity.md` calls simpler, and no other test shows.

#[path = "common/lab.rs"]
mod lab;
#[path = "common/play.rs"]
mod play;

use std::rc::Rc;

use lab::{Lab, instant};
use loopscope_engine::api::{Kind, ObjectKey, Support};
use loopscope_engine::apiserver::{EventDraft, EventLog};
use loopscope_engine::environment::Behavior;
use loopscope_engine::manifest::{Severity, read};
use loopscope_engine::sim::{Seq, Time};
use loopscope_engine::world::{Latency, Scenario};
use play::{apply, n_ready, object, run_for, scenario, until, workload, world};

#[test]
fn of_every_kind_that_nothing_acts_on_it_is_said() {
    let stored = Kind::ALL.iter().filter(|kind| kind.support() == Support::StoredOnly);
    let mut said = 0;
    for kind in stored {
        let name = kind.name();
        let manifest = read(&format!("apiVersion: {}\nkind: {name}\nmetadata: {{name: x}}\n", kind.api_version()));
        let message = format!("{name} is stored and shown; no controller acts on it yet");
        let notices = manifest.diagnostics.iter().filter(|it| it.severity == Severity::NotSimulated);
        assert_eq!(notices.map(|it| it.message.as_str()).collect::<Vec<_>>(), [message.as_str()]);
        said += 1;
    }
    assert!(said > 20, "{said}");
}

#[test]
fn the_newest_five_thousand_events_are_kept_and_repeats_counted_among_them() {
    let draft = |message: String| {
        let about = ObjectKey::new(Kind::Pod, "default", "p");
        Rc::new(EventDraft { about, is_warning: false, reason: "Told", message, component: "test" })
    };
    let mut log = EventLog::default();
    log.record(draft("first".into()), Time(0), Seq(1));
    for n in 1..5_000 {
        log.record(draft(n.to_string()), Time(1), Seq(2));
    }
    log.record(draft("first".into()), Time(2), Seq(3));
    let counts = |log: &EventLog| {
        log.iter().filter(|it| it.draft.message == "first").map(|it| (it.count, it.last.0)).collect::<Vec<_>>()
    };
    assert_eq!(counts(&log), [(2, 2)]);
    log.record(draft("one more".into()), Time(3), Seq(4));
    log.record(draft("first".into()), Time(4), Seq(5));
    assert_eq!(counts(&log), [(1, 4)], "the one before was dropped");
    for n in 0..6_000 {
        log.record(draft(format!("later {n}")), Time(5), Seq(6));
    }
    assert_eq!((log.iter().count(), counts(&log).len()), (5_000, 0));
}

/// The controllers hear of everything ten seconds late. What was written before the newest 4,096 writes no watch can
/// tell them any more: 410 Gone, and they list.
#[test]
fn a_watcher_that_falls_behind_the_log_lists_again() {
    let latency = Latency { watch: 10_000, ..Latency::default() };
    let mut simulation = world(Scenario { latency, ..scenario() });
    apply(&mut simulation, &workload("ReplicaSet", "web", "app:v1", "replicas: 2"));
    let version = object(&simulation, Kind::ReplicaSet, "web").expect("there").meta().resource_version;
    let config = |n: usize| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c}}, data: {{a: 'n{n}'}}}}");
    for n in 0..4_000 {
        apply(&mut simulation, &config(n));
    }
    assert!(simulation.api().change(version).is_some());
    for n in 4_000..4_200 {
        apply(&mut simulation, &config(n));
    }
    assert!(simulation.api().change(version).is_none(), "the log no longer reaches back");
    until(&mut simulation, 120_000, |it| n_ready(it) == 2);
    run_for(&mut simulation, 60_000);
    assert_eq!((n_ready(&simulation), play::pods(&simulation).len()), (2, 2));
}

/// Who wants an image that is on its way to the node waits for it; another image comes beside it.
#[test]
fn an_image_is_pulled_once_for_a_node_and_others_beside_it() {
    let slow = |pull_ms| Behavior { pull_ms, ..instant() };
    let mut lab = Lab::new(&[("i:slow", slow(8_000)), ("i:other", slow(3_000))]);
    let spec = |image: &str| format!("{{nodeName: node-1, containers: [{{name: app, image: '{image}'}}]}}");
    lab.pod("a", &spec("i:slow"));
    let running = |name: &str| {
        let name = name.to_string();
        move |lab: &Lab| lab.status(&name) == "Running 0"
    };
    lab.watch(4_000, |_| ());
    lab.pod("b", &spec("i:slow"));
    lab.pod("c", &spec("i:other"));
    let begun = lab.now();
    let seen = lab.watch(10_000, |lab| [running("a")(lab), running("b")(lab), running("c")(lab)]);
    let since = |which: usize| seen.iter().find(|(_, runs)| runs[which]).map_or(u64::MAX, |(at, _)| at - begun);
    for (which, after) in [(0, 4_000), (1, 4_000), (2, 3_000)] {
        assert!((after - 100..=after + 500).contains(&since(which)), "{seen:?}");
    }
}
