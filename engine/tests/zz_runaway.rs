use loopscope_engine::api::Kind;
use loopscope_engine::sim::Millis;
use loopscope_engine::world::{Command, Latency, Scenario, Simulation};

#[test]
#[ignore]
fn runaway() {
    for resync in [1_000, 1_500, 2_000, 2_500, 3_000, 3_500, 4_500, 7_000] {
        let latency = Latency { watch: 2_000, ..Latency::default() };
        let mut simulation = Simulation::new(Scenario { latency, resync_ms: Some(resync), ..Scenario::empty(1) });
        let off: Command = "controller expectations-off kube-controller-manager".parse().unwrap();
        simulation.dispatch(off);
        let manifest = "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web}\nspec:\n  replicas: 3\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {terminationGracePeriodSeconds: 1, containers: [{name: app, image: 'app:v1'}]}\n";
        simulation.dispatch(Command::Apply { manifest: manifest.into() });
        let (mut most, mut line) = (0, Vec::new());
        let start = std::time::Instant::now();
        for n in 0..600 {
            let until = simulation.now() + Millis(1_000);
            simulation.run_until(until, 10_000_000);
            let pods = simulation.api().objects().of_kind(Kind::Pod).count();
            most = most.max(pods);
            if n % 20 == 0 { line.push(pods); }
            if start.elapsed().as_secs() > 25 { line.push(999_999); break; }
        }
        println!("resync {resync}: most {most}, now {} at {} ms: {line:?}", simulation.api().objects().n_pods(), simulation.now().0);
    }
}
