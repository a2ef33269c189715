//! What other programs open is what they expect, and holds what happened.

use std::collections::{BTreeMap, BTreeSet};

use loopscope_engine::api::{Kind, Object};
use loopscope_engine::client::{TurnPhase, What};
use loopscope_engine::export::*;
use loopscope_engine::share::state_words;
use loopscope_engine::sim::Time;
use loopscope_engine::view::{self, MapLook, PodClass};
use loopscope_engine::world::{Command, Scenario, Simulation, Target};
use serde_json::Value;

fn pods(simulation: &Simulation) -> Vec<String> {
    let pods = simulation.api().objects().of_kind(Kind::Pod).filter_map(Object::as_pod);
    pods.map(|it| it.metadata.name.to_string()).collect()
}

/// A world in which most things have happened: healing, scaling, a dead node, a refusal.
fn eventful() -> Simulation {
    let mut simulation = Simulation::new(Scenario { name: "A <b> & \"c\"".into(), ..Scenario::self_healing() });
    simulation.run_until(Time(8_000), usize::MAX);
    let pod = Target { kind: Kind::Pod, namespace: "default".into(), name: pods(&simulation).swap_remove(0) };
    simulation.dispatch(Command::delete(pod));
    simulation.run_until(Time(12_000), usize::MAX);
    for (ms, command) in [
        (13_000, "kubectl scale deployment/web --replicas=6"),
        (14_000, "kubectl delete pod/none"),
        (60_000, "node stop node-2"),
        (120_000, "controller crash kube-controller-manager"),
        (400_000, "image nginx:1.28 behave --missing"),
        (401_000, "kubectl set image deployment/web nginx=nginx:1.28"),
    ] {
        simulation.run_until(Time(ms), usize::MAX);
        simulation.dispatch(command.parse().expect("a command"));
    }
    simulation.run_until(Time(420_000), usize::MAX);
    simulation
}

fn crowd() -> Simulation {
    let mut simulation = Simulation::new(Scenario::with_nodes(1, 12, "8", "16Gi"));
    let manifest = Scenario::self_healing().manifest.replace("replicas: 3", "replicas: 200");
    simulation.dispatch(Command::Apply { manifest });
    simulation.run_until(Time(4_000), usize::MAX);
    simulation
}

fn text<'a>(event: &'a Value, name: &str) -> &'a str {
    event[name].as_str().unwrap_or_else(|| panic!("{name} of {event} is a text"))
}

fn number(event: &Value, name: &str) -> u64 {
    event[name].as_u64().unwrap_or_else(|| panic!("{name} of {event} is a number"))
}

fn track(event: &Value) -> (u64, u64) {
    (number(event, "pid"), number(event, "tid"))
}

/// The trace-event format, as far as it is used here (Google's document "Trace Event Format", 2016): which fields each
/// phase needs, slices of a thread that do not overlap in part, arrows with two ends in slices.
fn check_trace_events(json: &str) -> Vec<Value> {
    let root: Value = serde_json::from_str(json).expect("it is JSON");
    assert_eq!(root["displayTimeUnit"], "ms");
    let events = root["traceEvents"].as_array().expect("a list").clone();
    let mut slices: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    let (mut arrows, mut named): (BTreeMap<u64, Vec<&Value>>, BTreeSet<_>) = (BTreeMap::new(), BTreeSet::new());
    for event in &events {
        match text(event, "ph") {
            "M" => {
                assert!(!event["args"]["name"].as_str().expect("a name").is_empty(), "{event}");
                assert!(named.insert((text(event, "name").to_owned(), track(event))), "named once: {event}");
            }
            "X" => {
                assert!(!text(event, "name").is_empty() && !text(event, "cat").is_empty(), "{event}");
                let (from, duration) = (number(event, "ts"), number(event, "dur"));
                assert!(duration > 0, "{event}");
                slices.entry(track(event)).or_default().push((from, from + duration));
            }
            "s" | "f" => {
                assert_eq!((text(event, "name"), text(event, "cat")), ("cause", "cause"));
                assert_eq!(event["bp"].as_str(), (event["ph"] == "f").then_some("e"), "{event}");
                arrows.entry(number(event, "id")).or_default().push(event);
            }
            other => panic!("no phase {other}"),
        }
    }
    for (track, all) in &mut slices {
        assert!(named.contains(&("thread_name".into(), *track)), "{track:?} has no name");
        assert!(named.contains(&("process_name".into(), (track.0, 0))), "{} has no name", track.0);
        all.sort_by_key(|(from, until)| (*from, u64::MAX - until));
        let mut open: Vec<u64> = Vec::new();
        for (from, until) in all {
            open.retain(|end| *end > *from);
            assert!(open.iter().all(|end| *end >= *until), "slices of {track:?} overlap at {from}");
            open.push(*until);
        }
    }
    for (id, ends) in arrows {
        assert_eq!(ends.len(), 2, "arrow {id}");
        assert_eq!((text(ends[0], "ph"), text(ends[1], "ph")), ("s", "f"), "arrow {id}");
        assert!(number(ends[0], "ts") <= number(ends[1], "ts"), "arrow {id} points back: {ends:?}");
        for end in ends {
            let at = number(end, "ts");
            let inside =
                slices.get(&track(end)).is_some_and(|all| all.iter().any(|(from, to)| *from <= at && at < *to));
            assert!(inside, "an end of arrow {id} is in no slice: {end}");
        }
    }
    events
}

fn count(events: &[Value], category: &str) -> usize {
    events.iter().filter(|it| it["cat"] == category && it["ph"] == "X").count()
}

#[test]
fn the_trace_opens_in_perfetto() {
    let simulation = eventful();
    let events = check_trace_events(&chrome_trace(&simulation));
    let kept: Vec<_> = simulation.trace().all_events().collect();
    let n = |is: fn(&What) -> bool| kept.iter().filter(|it| is(&it.what)).count();
    assert_eq!(count(&events, "phase"), n(|it| matches!(it, What::Reached { .. })));
    let is_observe = |it: &What| matches!(it, What::Reached { phase: TurnPhase::Observe, .. });
    assert!(count(&events, "turn") >= n(is_observe) && count(&events, "turn") > 100);
    assert_eq!(count(&events, "request"), n(|it| matches!(it, What::Wrote { .. } | What::Refused { .. })));
    let others = |it: &What| !matches!(it, What::Reached { .. } | What::Wrote { .. } | What::Refused { .. });
    assert_eq!(count(&events, "event"), n(others));
    let first = kept.first().expect("something happened").seq;
    let caused = kept.iter().filter(|it| it.cause.is_some_and(|cause| cause >= first)).count();
    let arrows = events.iter().filter(|it| it["ph"] == "f").count();
    assert!(arrows * 100 > caused * 99, "{arrows} arrows for {caused} causes");
    let names: Vec<&str> =
        events.iter().filter(|it| it["name"] == "process_name").filter_map(|it| it["args"]["name"].as_str()).collect();
    for name in ["You", "API server", "kube-controller-manager", "kube-scheduler", "kubelet node-1"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let delete = events.iter().find(|it| it["cat"] == "event" && it["pid"] == 1 && number(it, "ts") / 1_000 == 8_000);
    assert!(text(&delete.expect("it was commanded")["args"], "text").contains("deleted"));
}

#[test]
fn a_crowd_that_acts_at_once_gets_a_thread_for_each_request() {
    check_trace_events(&chrome_trace(&crowd()));
    check_trace_events(&chrome_trace(&Simulation::new(Scenario::empty(1))));
}

#[test]
fn the_trace_of_our_own_has_every_event() {
    let simulation = eventful();
    let root: Value = serde_json::from_str(&trace_json(&simulation)).expect("it is JSON");
    assert_eq!((&root["loopscope"], &root["scenario"]), (&"trace/1".into(), &"A <b> & \"c\"".into()));
    assert_eq!(root["state"], state_words(simulation.trace().digest()));
    assert_eq!(root["happened"], simulation.trace().last_seq().0);
    let events = root["events"].as_array().expect("a list");
    assert_eq!(events.len(), simulation.trace().all_events().count());
    for (event, kept) in events.iter().zip(simulation.trace().all_events()) {
        assert_eq!((number(event, "seq"), number(event, "atMs")), (kept.seq.0, kept.at.0));
        assert_eq!(event["cause"].as_u64(), kept.cause.map(|it| it.0));
        assert!(!text(event, "who").is_empty() && !text(event, "kind").is_empty());
    }
    let refused: Vec<&str> = events.iter().filter(|it| it["kind"] == "refused").map(|it| text(it, "text")).collect();
    assert!(refused.iter().any(|it| it.contains("not found")), "{refused:?}");
}

const SPRITE: &str = include_str!("../../style/sprite.svg");

fn drawn(simulation: &Simulation, look: MapLook, is_dark: bool) -> String {
    let (map, summary) = (view::map(simulation, look), view::summary(simulation));
    picture(&MapPicture { simulation, map: &map, summary: &summary, sprite: SPRITE, is_dark })
}

/// Well-formed, complete in itself, and without anything that runs.
fn check_svg(svg: &str) -> roxmltree::Document<'_> {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{error} in {svg}"));
    let root = document.root_element();
    assert_eq!((root.tag_name().name(), root.tag_name().namespace()), ("svg", Some("http://www.w3.org/2000/svg")));
    let ids: BTreeSet<&str> = document.descendants().filter_map(|it| it.attribute("id")).collect();
    let known = ["svg", "title", "desc", "defs", "symbol", "rect", "use", "text", "g", "path", "circle"];
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        assert!(known.contains(&node.tag_name().name()), "{:?}", node.tag_name());
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            assert!(!name.starts_with("on") && name != "style" && !value.contains("var("), "{name}={value}");
            assert!(!value.contains("url(") && !value.contains("//"), "{name}={value}");
            if name == "href" {
                assert!(value.strip_prefix('#').is_some_and(|id| ids.contains(id)), "{value} leads nowhere");
            }
        }
    }
    document
}

#[test]
fn the_picture_opens_alone_and_shows_every_pod() {
    let simulation = eventful();
    for look in [MapLook::default(), MapLook { by_owner: true, truth: false }, MapLook { by_owner: false, truth: true }]
    {
        let map = view::map(&simulation, look);
        let rows: Vec<_> = map.nodes.iter().flat_map(|it| &it.pods).chain(&map.unscheduled).collect();
        assert!(rows.len() >= 6);
        for is_dark in [false, true] {
            let svg = drawn(&simulation, look, is_dark);
            let document = check_svg(&svg);
            let titles: Vec<_> =
                document.descendants().filter(|it| it.has_tag_name(("http://www.w3.org/2000/svg", "title"))).collect();
            assert_eq!(titles[0].text(), Some("A <b> & \"c\""));
            for row in &rows {
                assert!(titles.iter().any(|it| it.text() == Some(row.label.as_str())), "{}", row.label);
            }
            assert!(svg.contains(&state_words(simulation.trace().digest())));
        }
    }
    assert_ne!(drawn(&simulation, MapLook::default(), true), drawn(&simulation, MapLook::default(), false));
}

#[test]
fn the_picture_of_a_crowd_has_a_shape_for_each_pod() {
    let simulation = crowd();
    let svg = drawn(&simulation, MapLook::default(), false);
    let document = check_svg(&svg);
    let shapes = document.descendants().filter(|it| it.attribute("href").is_some_and(|it| it.starts_with("#tile-")));
    assert_eq!(shapes.count(), 200);
    check_svg(&drawn(&Simulation::new(Scenario { nodes: Vec::new(), ..Scenario::empty(1) }), MapLook::default(), true));
    let odd = Scenario { name: "\u{0}\u{1b}\u{ffff}]]>&<".into(), ..Scenario::empty(1) };
    check_svg(&drawn(&Simulation::new(odd), MapLook::default(), false));
}

#[test]
fn nothing_in_a_picture_lies_over_another_thing() {
    for simulation in [eventful(), crowd()] {
        let svg = drawn(&simulation, MapLook::default(), false);
        let document = check_svg(&svg);
        let read = |it: roxmltree::Node<'_, '_>, name| it.attribute(name).and_then(|it| it.parse::<u32>().ok());
        let area = |it: roxmltree::Node<'_, '_>| {
            Some((read(it, "x")?, read(it, "y")?, read(it, "width")?, read(it, "height")?))
        };
        let of = |tag: &'static str| {
            document.descendants().filter(move |it| it.tag_name().name() == tag).filter_map(area).collect::<Vec<_>>()
        };
        let (cards, shapes) = (of("rect"), of("use"));
        let meets = |a: &(u32, u32, u32, u32), b: &(u32, u32, u32, u32)| {
            a.0 < b.0 + b.2 && b.0 < a.0 + a.2 && a.1 < b.1 + b.3 && b.1 < a.1 + a.3
        };
        for all in [&cards, &shapes] {
            for (at, one) in all.iter().enumerate() {
                assert!(all[at + 1..].iter().all(|other| !meets(one, other)), "{one:?}");
            }
        }
        let inside = |a: &(u32, u32, u32, u32), b: &(u32, u32, u32, u32)| {
            b.0 <= a.0 && a.0 + a.2 <= b.0 + b.2 && b.1 <= a.1 && a.1 + a.3 <= b.1 + b.3
        };
        for shape in &shapes {
            assert!(cards.iter().any(|card| inside(shape, card)), "{shape:?} is on no card");
        }
        assert!(cards.iter().all(|it| it.0 + it.2 <= WIDTH));
    }
}

/// Light and dark as `style/tokens.css` has them, and shapes that are in the sprite.
#[test]
fn the_picture_has_the_pages_colours_and_shapes() {
    let tokens = include_str!("../../style/tokens.css");
    let looks = PodClass::ALL.map(pod_look);
    for (token, (light, dark)) in TOKENS.into_iter().chain(looks.map(|(_, token, ink)| (token, ink))) {
        let line = format!("--{token}: light-dark({light}, {dark})");
        assert!(tokens.contains(&line), "{line}");
    }
    for (shape, ..) in looks {
        for size in ["pod", "tile"] {
            assert!(SPRITE.contains(&format!("<symbol id=\"{size}-{shape}\"")), "{size}-{shape}");
        }
    }
}
