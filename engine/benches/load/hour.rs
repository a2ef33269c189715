//! An hour of 1,000 pods in which people do things: what rewinding is measured on.

use std::rc::Rc;

use loopscope_engine::history::History;
use loopscope_engine::sim::Time;
use loopscope_engine::world::{Command, Instant, JournalEntry, Scenario};

pub const REPLICAS: usize = 1_000;
const NODES: usize = 50;
pub const END: Time = Time(3_600_000);

/// With a readiness probe every ten seconds, Kubernetes' default, on each pod.
fn manifest() -> String {
    super::manifest(REPLICAS).replace("resources:", "readinessProbe: {httpGet: {path: /, port: 80}}, resources:")
}

/// A rollout, a dead node that comes back, scaling down and up, a rollback, and a crash of the controllers; the last
/// minute has a rolling update under way.
const DEEDS: [(u64, &str); 10] = [
    (300, "kubectl set image deployment/web app=app:v2"),
    (900, "node stop node-7"),
    (1_500, "node start node-7"),
    (1_800, "kubectl scale deployment/web --replicas=300"),
    (2_100, "kubectl scale deployment/web --replicas=1000"),
    (2_700, "kubectl rollout undo deployment/web"),
    (3_000, "controller crash kube-controller-manager"),
    (3_300, "node cut node-9"),
    (3_400, "node heal node-9"),
    (3_540, "kubectl rollout restart deployment/web"),
];

/// The hour, all of it still to come.
pub fn hour() -> History {
    let step = |at: u64, command: Command| Rc::new(JournalEntry { at: Time(at * 1_000), nth: None, command });
    let mut steps = vec![step(0, Command::Apply { manifest: manifest() })];
    steps.extend(DEEDS.map(|(at, text)| step(at, text.parse().expect("a command"))));
    History::of(Scenario::with_nodes(1, NODES, "8", "32Gi"), steps, Instant::default())
}

pub fn play(history: &mut History) {
    let mut refused = Vec::new();
    while !history.run_to(Instant::end_of(END), usize::MAX, &mut refused) {}
    assert!(refused.is_empty(), "{refused:?}");
}
