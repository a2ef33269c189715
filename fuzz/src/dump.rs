//! Whole clusters that somebody brings along.

use loopscope_engine::api::Kind;
use loopscope_engine::dump::{Cluster, looks_like_one, read};
use loopscope_engine::world::{Command, Scenario, Simulation, Target};

use super::share::check_scenario;
use super::sum;
use super::world::{look, n_pods, run_for};

/// Of this many inputs one is played.
const NOW_AND_THEN: u64 = 3;
const MOST_OBJECTS: usize = 120;

pub fn dump(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    looks_like_one(&text);
    let dump = match read(&text) {
        Ok(dump) => dump,
        Err(error) => return assert!(!error.to_string().is_empty(), "it is refused without a word"),
    };
    let n_told: usize = dump.report.read.iter().map(|(_, n)| n).sum();
    assert!(n_told > 0 && dump.cluster.objects().count() >= n_told, "what was read is not there: {:?}", dump.report);
    drop(dump.report.lines());
    check_scenario(&Scenario::of_dump(&dump));
    if dump.cluster.objects().count() <= MOST_OBJECTS && sum(data).is_multiple_of(NOW_AND_THEN) {
        play(&dump.cluster, Scenario::of_dump(&dump));
    }
}

fn play(cluster: &Cluster, scenario: Scenario) {
    let mut simulation = Simulation::new(scenario);
    for object in cluster.objects() {
        assert!(simulation.api().objects().get(&object.key()).is_some(), "{} is lost", object.key());
    }
    look(&simulation);
    run_for(&mut simulation, 20_000);
    for command in meddling(cluster) {
        simulation.dispatch(command);
        run_for(&mut simulation, 5_000);
    }
    if n_pods(&simulation) < MOST_OBJECTS {
        look(&simulation);
    }
}

/// What somebody does who brings a cluster along: it is changed, and breaks.
fn meddling(cluster: &Cluster) -> Vec<Command> {
    let first = |kind: Kind| cluster.objects().find(|it| it.kind() == kind).map(|it| Target::from(&it.key()));
    let mut all = Vec::new();
    for kind in [Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet] {
        all.extend(first(kind).map(|target| Command::Restart { target }));
    }
    all.extend(first(Kind::ReplicaSet).map(|target| Command::Scale { target, replicas: 2 }));
    all.extend(first(Kind::Pod).map(Command::delete));
    all.extend(first(Kind::Node).map(|it| Command::StopNode { node: it.name }));
    all
}
