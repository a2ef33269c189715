//! Worlds for what is read, and what must hold of any.

use std::rc::Rc;

use loopscope_engine::api::Kind;
use loopscope_engine::export;
use loopscope_engine::history::History;
use loopscope_engine::sim::Millis;
use loopscope_engine::view;
use loopscope_engine::world::{Instant, JournalEntry, Scenario, Simulation, read_journal, write_journal};

use super::MOST_EVENTS;

thread_local! {
    static SMALL: Simulation = {
        let mut simulation = Simulation::new(Scenario { manifest: MANIFEST.into(), ..Scenario::empty(3) });
        run_for(&mut simulation, 5_000);
        simulation
    };
}

const MANIFEST: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: app:v1
        resources: {requests: {cpu: 100m, memory: 64Mi}}
        readinessProbe: {tcpSocket: {port: 80}, periodSeconds: 1}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 1
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: app, image: 'db:v1'}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: blue}
";

/// A world with a bit of everything, that has come to rest.
pub fn small() -> Simulation {
    SMALL.with(Clone::clone)
}

/// Lets time pass; says whether it all could.
pub fn run_for(simulation: &mut Simulation, ms: u64) -> bool {
    let until = simulation.now() + Millis(ms);
    simulation.run_until(until, MOST_EVENTS)
}

/// Everything that the page may derive from a world.
pub fn look(simulation: &Simulation) {
    let frame = view::frame(simulation);
    assert_eq!(frame.now_ms, simulation.now().0);
    for look in
        [view::MapLook { by_owner: true, ..Default::default() }, view::MapLook { truth: true, ..Default::default() }]
    {
        drop(view::frame_as(simulation, look));
    }
    for key in view::objects(simulation).iter().take(40) {
        let seen = view::inspect(simulation, key);
        assert!(seen.is_some(), "{key} is listed, and cannot be inspected");
        drop((view::ownership(simulation, key), view::yaml(simulation, key, true), view::load_on(simulation, key)));
        drop(view::simple(simulation, Some(key)));
    }
    for event in view::events(simulation, 30) {
        assert!(!view::why(simulation, event.seq).is_empty(), "an event without a cause: {}", event.seq);
        drop(view::led_to(simulation, event.seq));
    }
    for fight in view::fights(simulation) {
        drop(view::cures(simulation, &fight));
    }
    drop((
        view::announce(simulation),
        view::outlook(simulation),
        view::invariants(simulation),
        view::faults(simulation),
    ));
    drop((view::crowd(simulation), view::page(simulation, 0, 50), view::picture(simulation), view::orders(simulation)));
    drop((view::git(simulation), view::app(simulation), view::infra(simulation), view::room(simulation)));
    drop((view::autoscalers(simulation), view::traffic(simulation), view::same_shape(simulation)));
    drop((view::twin_side(simulation), view::twin_why(simulation), view::mendings(simulation)));
    drop((export::trace_json(simulation), export::chrome_trace(simulation)));
}

/// A journal is the same text after it was read, and the same commands.
pub fn check_text(steps: &[Rc<JournalEntry>]) {
    let text = write_journal(steps);
    let read = match read_journal(&text) {
        Ok(read) => read,
        Err(error) => panic!("a journal of its own cannot be read: {error:?}\n{text}"),
    };
    assert_eq!(read.len(), steps.len(), "{text}");
    for (read, step) in read.iter().zip(steps) {
        assert_eq!(read, &**step, "{text}");
    }
}

/// Commands alone give the same run, whichever way one comes to its end.
pub fn check_replay(simulation: &Simulation) {
    let (end, digest) = (simulation.instant(), simulation.trace().digest());
    let steps = simulation.journal().to_vec();
    let mut history = History::of(simulation.scenario().clone(), steps.clone(), end);
    let mut refused = Vec::new();
    while !history.run_to(end, MOST_EVENTS, &mut refused) {}
    assert_eq!(history.simulation().trace().digest(), digest, "replayed it is another run\n{}", write_journal(&steps));
    let Some(step) = steps.get(steps.len() / 2) else { return };
    history.seek(Instant::before(steps.len() / 2, step));
    let there = history.simulation().trace().digest();
    history.seek(end);
    assert_eq!(
        history.simulation().trace().digest(),
        digest,
        "after a seek it is another run\n{}",
        write_journal(&steps)
    );
    history.seek(Instant::before(steps.len() / 2, step));
    assert_eq!(history.simulation().trace().digest(), there, "a seek leads elsewhere\n{}", write_journal(&steps));
}

/// How many pods there are.
pub fn n_pods(simulation: &Simulation) -> usize {
    simulation.api().objects().of_kind(Kind::Pod).count()
}
