//! What the tests of workloads have in common: a world of known images, and how to act on it.

#![allow(dead_code)]

use std::rc::Rc;

use loopscope_engine::api::{Kind, Object, ObjectKey, Pod};
use loopscope_engine::apiserver::Effect;
use loopscope_engine::client::What;
use loopscope_engine::environment::{Behavior, Behaviors};
use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::world::{Command, Outcome, Scenario, Simulation, Target};

pub fn world(scenario: Scenario) -> Simulation {
    let mut simulation = Simulation::new(scenario);
    run_for(&mut simulation, 1_000);
    simulation
}

/// Programs that come up after 300 ms, are ready 700 ms later and need a second to stop, as in the recordings.
pub fn behaviors() -> Behaviors {
    let plain = Behavior { pull_ms: 10, start_ms: 290, serve_ms: Some(100), stop_ms: 1_000, ..Behavior::usual("") };
    let images = [
        ("app:v1", plain),
        ("app:v2", plain),
        ("app:never", Behavior { serve_ms: None, ..plain }),
        ("app:crash", Behavior { exit: Some((1_000, 1)), ..plain }),
        ("app:done", Behavior { exit: Some((3_000, 0)), ..plain }),
        ("app:long", Behavior { exit: Some((600_000, 0)), ..plain }),
    ];
    Behaviors(images.into_iter().map(|(name, behavior)| (name.to_string(), behavior)).collect())
}

pub fn scenario() -> Scenario {
    Scenario { behaviors: behaviors(), ..Scenario::empty(7) }
}

pub fn run_for(simulation: &mut Simulation, ms: u64) {
    let until = simulation.now() + Millis(ms);
    assert!(simulation.run_until(until, 10_000_000), "events without end");
}

/// Runs until something holds, and says when that was.
pub fn until(simulation: &mut Simulation, within: u64, holds: impl Fn(&Simulation) -> bool) -> Time {
    let end = simulation.now() + Millis(within);
    while !holds(simulation) {
        assert!(simulation.now() < end, "not within {within} ms");
        run_for(simulation, 10);
    }
    simulation.now()
}

pub fn apply(simulation: &mut Simulation, manifest: &str) {
    let outcome = simulation.dispatch(Command::Apply { manifest: manifest.into() });
    assert!(outcome.is_ok(), "{outcome:?}");
}

/// Gives a command in its text form, and returns what it answered.
#[track_caller]
pub fn command(simulation: &mut Simulation, text: &str) -> Vec<String> {
    let outcome = simulation.dispatch(text.parse().expect("a command"));
    assert!(outcome.is_ok(), "{text}: {outcome:?}");
    outcome.lines
}

pub fn target(kind: Kind, name: &str) -> Target {
    let namespace = if kind.is_namespaced() { "default" } else { "" };
    Target { kind, namespace: namespace.into(), name: name.into() }
}

pub fn scale(simulation: &mut Simulation, kind: Kind, name: &str, replicas: i32) {
    assert!(simulation.dispatch(Command::Scale { target: target(kind, name), replicas }).is_ok());
}

pub fn set_image(simulation: &mut Simulation, kind: Kind, name: &str, image: &str) {
    let command = Command::SetImage { target: target(kind, name), container: "app".into(), image: image.into() };
    let outcome = simulation.dispatch(command);
    assert!(outcome.is_ok(), "{outcome:?}");
}

pub fn delete(simulation: &mut Simulation, kind: Kind, name: &str) -> Outcome {
    simulation.dispatch(Command::delete(target(kind, name)))
}

pub fn object(simulation: &Simulation, kind: Kind, name: &str) -> Option<Object> {
    let namespace = if kind.is_namespaced() { "default" } else { "" };
    simulation.api().objects().get(&ObjectKey::new(kind, namespace, name)).cloned()
}

pub fn pods(simulation: &Simulation) -> Vec<Rc<Pod>> {
    simulation.api().objects().of_kind(Kind::Pod).filter_map(Object::as_pod).cloned().collect()
}

pub fn pod(simulation: &Simulation, name: &str) -> Option<Rc<Pod>> {
    object(simulation, Kind::Pod, name)?.as_pod().cloned()
}

pub fn n_ready(simulation: &Simulation) -> usize {
    pods(simulation).iter().filter(|pod| pod.is_active() && pod.is_ready()).count()
}

pub fn names(pods: &[Rc<Pod>]) -> Vec<String> {
    pods.iter().map(|pod| pod.metadata.name.to_string()).collect()
}

pub fn messages(simulation: &Simulation, reason: &str) -> Vec<String> {
    let events = simulation.api().events.iter().filter(|event| event.draft.reason == reason);
    events.flat_map(|event| vec![event.draft.message.clone(); event.count as usize]).collect()
}

/// Creations and deletions of pods since an instant, in their order: `+db-0`, `-db-0`.
pub fn course(simulation: &Simulation, since: Time) -> Vec<String> {
    let events = simulation.trace().events().filter(|event| event.at >= since);
    let told = events.filter_map(|event| match &event.what {
        What::Wrote { key, method, effect, .. } if key.kind == Kind::Pod => match (*method, effect) {
            ("POST", Effect::Created) => Some(format!("+{}", key.name)),
            ("DELETE", Effect::Deleting) => Some(format!("-{}", key.name)),
            _ => None,
        },
        _ => None,
    });
    told.collect()
}

pub fn requests(simulation: &Simulation, since: Time) -> Vec<String> {
    let events = simulation.trace().events().filter(|event| event.at >= since);
    let told = events.filter_map(|event| match &event.what {
        What::Wrote { key, method, subresource, .. } => Some(format!("{method} {}/{subresource}", key.kind.plural())),
        _ => None,
    });
    told.collect()
}

pub fn workload(kind: &str, name: &str, image: &str, more: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n  {more}\n  selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {name}}}}}\n    spec:\n      containers:\n      - name: app\n        image: {image}\n        readinessProbe: {{tcpSocket: {{port: 80}}, periodSeconds: 1}}\n"
    )
}

pub fn job_manifest(name: &str, image: &str, more: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}}}\nspec:\n  {more}\n  template:\n    spec:\n      restartPolicy: Never\n      containers: [{{name: app, image: \"{image}\"}}]\n"
    )
}
