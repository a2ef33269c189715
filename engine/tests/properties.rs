//! Whatever a person does: once they stop, every workload converges and stays.

use loopscope_engine::api::{Kind, Object, ObjectKey};
use loopscope_engine::client::What;
use loopscope_engine::environment::Behavior;
use loopscope_engine::sim::Millis;
use loopscope_engine::world::{Command, Scenario, Simulation, Subject, Target};
use proptest::prelude::*;

/// One thing to do, with indexes into whatever is there at that moment.
#[derive(Clone, Debug)]
enum Deed {
    Scale(u8, i32),
    Image(u8, u8),
    DeletePod(usize),
    DeleteSet(usize),
    Power(u8, bool),
    Cordon(u8, bool),
    Apply(u8),
    Cut(u8, bool),
    Ready(usize, bool),
    CrashContainer(usize, i32),
    CrashProcess(bool),
    Misbehave(u8, bool),
    /// The StatefulSet, the DaemonSet and the Job beside the Deployments.
    ApplyOthers,
    ScaleSet(i32),
    ImageOfOthers(u8, u8),
    DeleteJob,
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        (0..2_u8, 0..9_i32).prop_map(|(which, replicas)| Deed::Scale(which, replicas)),
        (0..2_u8, 1..4_u8).prop_map(|(which, tag)| Deed::Image(which, tag)),
        any::<usize>().prop_map(Deed::DeletePod),
        any::<usize>().prop_map(Deed::DeleteSet),
        (1..4_u8, any::<bool>()).prop_map(|(node, on)| Deed::Power(node, on)),
        (1..4_u8, any::<bool>()).prop_map(|(node, on)| Deed::Cordon(node, on)),
        (0..2_u8).prop_map(Deed::Apply),
        (1..4_u8, any::<bool>()).prop_map(|(node, on)| Deed::Cut(node, on)),
        (any::<usize>(), any::<bool>()).prop_map(|(index, ready)| Deed::Ready(index, ready)),
        (any::<usize>(), 0..3_i32).prop_map(|(index, code)| Deed::CrashContainer(index, code)),
        any::<bool>().prop_map(Deed::CrashProcess),
        (0..3_u8, any::<bool>()).prop_map(|(tag, on)| Deed::Misbehave(tag, on)),
        Just(Deed::ApplyOthers),
        (0..6_i32).prop_map(Deed::ScaleSet),
        (0..2_u8, 1..4_u8).prop_map(|(which, tag)| Deed::ImageOfOthers(which, tag)),
        Just(Deed::DeleteJob),
    ]
}

fn manifest(which: u8) -> String {
    let strategy = if which == 0 { "RollingUpdate" } else { "Recreate" };
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: app-{which}}}\nspec:\n  replicas: {}\n  strategy: {{type: {strategy}}}\n  selector: {{matchLabels: {{app: a{which}}}}}\n  template:\n    metadata: {{labels: {{app: a{which}}}}}\n    spec:\n      containers:\n      - name: app\n        image: app:v0\n        readinessProbe: {{tcpSocket: {{port: 80}}, periodSeconds: 1}}\n",
        3 + which
    )
}

/// Pods that get ready whatever their image, and a Job that succeeds.
const OTHERS: &str = "\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: app, image: \"app:v0\"}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: app, image: \"app:v0\"}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: work}
spec:
  completions: 3
  parallelism: 2
  backoffLimit: 1000
  template:
    spec: {restartPolicy: Never, containers: [{name: app, image: \"work:v0\"}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: a0}, ports: [{port: 80}]}
";

fn scenario(seed: u64) -> Scenario {
    let mut scenario = Scenario::empty(seed);
    let work = Behavior { exit: Some((5_000, 0)), ..Behavior::usual("work:v0") };
    scenario.behaviors.0.insert("work:v0".into(), work);
    scenario
}

fn other(kind: Kind, name: &str) -> Target {
    Target { kind, namespace: "default".into(), name: name.into() }
}

fn deployment(which: u8) -> Target {
    Target { kind: Kind::Deployment, namespace: "default".into(), name: format!("app-{which}") }
}

fn nth(simulation: &Simulation, kind: Kind, index: usize) -> Option<Target> {
    let keys: Vec<ObjectKey> = simulation.api().objects().of_kind(kind).map(Object::key).collect();
    keys.get(index.checked_rem(keys.len())?).map(Target::from)
}

fn command(simulation: &Simulation, deed: &Deed) -> Option<Command> {
    Some(match deed {
        Deed::Scale(which, replicas) => Command::Scale { target: deployment(*which), replicas: *replicas },
        Deed::Image(which, tag) => {
            Command::SetImage { target: deployment(*which), container: "app".into(), image: format!("app:v{tag}") }
        }
        Deed::DeletePod(index) => Command::delete(nth(simulation, Kind::Pod, *index)?),
        Deed::DeleteSet(index) => Command::delete(nth(simulation, Kind::ReplicaSet, *index)?),
        Deed::Power(node, true) => Command::StartNode { node: format!("node-{node}") },
        Deed::Power(node, false) => Command::StopNode { node: format!("node-{node}") },
        Deed::Cordon(node, on) => Command::Cordon { node: format!("node-{node}"), on: *on },
        Deed::Apply(which) => Command::Apply { manifest: manifest(*which) },
        Deed::Cut(node, true) => Command::CutNode { node: format!("node-{node}") },
        Deed::Cut(node, false) => Command::HealNode { node: format!("node-{node}") },
        Deed::Ready(index, ready) => {
            let pod = nth(simulation, Kind::Pod, *index)?;
            Command::SetReady { namespace: pod.namespace, pod: pod.name, ready: *ready }
        }
        Deed::CrashContainer(index, code) => {
            let pod = nth(simulation, Kind::Pod, *index)?;
            Command::CrashContainer { namespace: pod.namespace, pod: pod.name, container: "app".into(), code: *code }
        }
        Deed::CrashProcess(manager) => {
            let process = if *manager { "kube-controller-manager" } else { "kube-scheduler" };
            Command::CrashController { process: process.into() }
        }
        Deed::Misbehave(tag, on) => {
            let image = format!("app:v{tag}");
            let usual = Behavior::usual(&image);
            let behavior = match *tag {
                0 => Behavior { exit: Some((3_000, 1)), ..usual },
                1 => Behavior { is_missing: true, ..usual },
                _ => Behavior { lapse: Some((1_000, 8_000)), ignores_term: true, ..usual },
            };
            let subject = Subject::Image(image);
            match on {
                true => Command::SetBehavior { subject, behavior },
                false => Command::RestoreBehavior { subject },
            }
        }
        Deed::ApplyOthers => Command::Apply { manifest: OTHERS.into() },
        Deed::ScaleSet(replicas) => Command::Scale { target: other(Kind::StatefulSet, "db"), replicas: *replicas },
        Deed::ImageOfOthers(which, tag) => {
            let target = if *which == 0 { other(Kind::StatefulSet, "db") } else { other(Kind::DaemonSet, "agent") };
            Command::SetImage { target, container: "app".into(), image: format!("app:v{tag}") }
        }
        Deed::DeleteJob => Command::delete(other(Kind::Job, "work")),
    })
}

fn run_for(simulation: &mut Simulation, ms: u64) -> Result<(), TestCaseError> {
    let until = simulation.now() + Millis(ms);
    prop_assert!(simulation.run_until(until, 3_000_000), "events without end");
    Ok(())
}

fn check_invariants(simulation: &Simulation) -> Result<(), TestCaseError> {
    let objects = simulation.api().objects();
    for object in objects.of_kind(Kind::Pod) {
        let owners = object.meta().owner_references.iter().filter(|owner| owner.controller).count();
        prop_assert!(owners <= 1, "{} has {owners} controllers", object.key());
    }
    for deployment in objects.of_kind(Kind::Deployment).filter_map(Object::as_deployment) {
        let sets = objects.controlled_by(deployment.metadata.uid).filter_map(Object::as_replica_set);
        for set in sets {
            prop_assert!(set.spec.wanted() >= 0);
        }
    }
    Ok(())
}

fn check_convergence(simulation: &Simulation) -> Result<(), TestCaseError> {
    let objects = simulation.api().objects();
    for deployment in objects.of_kind(Kind::Deployment).filter_map(Object::as_deployment) {
        let (wanted, status) = (deployment.spec.wanted(), &deployment.status);
        let name = &deployment.metadata.name;
        prop_assert_eq!(status.observed_generation, deployment.metadata.generation, "{} has not been looked at", name);
        prop_assert_eq!(
            (status.replicas, status.updated_replicas, status.available_replicas),
            (wanted, wanted, wanted),
            "{} {:?}",
            name,
            status
        );
        let pods = objects.controlled_by(deployment.metadata.uid).flat_map(|set| objects.controlled_by(set.meta().uid));
        let pods: Vec<_> = pods.filter_map(Object::as_pod).collect();
        prop_assert_eq!(pods.len(), wanted as usize, "nothing is left over of {}", name);
        for pod in pods {
            prop_assert!(pod.is_ready());
            prop_assert_eq!(&pod.spec.containers[0].image, &deployment.spec.template.spec.containers[0].image);
        }
    }
    check_others(simulation)
}

/// The same of the other workloads, where they are there.
fn check_others(simulation: &Simulation) -> Result<(), TestCaseError> {
    let objects = simulation.api().objects();
    let find = |kind: Kind, name: &str| objects.get(&other(kind, name).key());
    if let Some(set) = find(Kind::StatefulSet, "db").and_then(Object::as_stateful_set) {
        let wanted = set.spec.replicas.unwrap_or(1);
        let status = &set.status;
        let got = (status.replicas, status.ready_replicas, status.current_replicas, status.updated_replicas);
        prop_assert_eq!(got, (wanted, wanted, wanted, wanted), "{:?}", status);
        prop_assert_eq!(&status.current_revision, &status.update_revision);
        let pods = objects.owned(set.metadata.uid, Kind::Pod).map(|pod| pod.meta().name.to_string());
        let names: Vec<String> = (0..wanted).map(|number| format!("db-{number}")).collect();
        prop_assert_eq!(pods.collect::<Vec<_>>(), names);
    }
    if let Some(set) = find(Kind::DaemonSet, "agent").and_then(Object::as_daemon_set) {
        let status = &set.status;
        let got = (status.desired_number_scheduled, status.number_ready, status.updated_number_scheduled);
        prop_assert_eq!(got, (3, 3, 3), "{:?}", status);
        prop_assert_eq!(objects.owned(set.metadata.uid, Kind::Pod).count(), 3);
    }
    let jobs = find(Kind::Job, "work").and_then(Object::as_job);
    if let Some(job) = jobs {
        prop_assert_eq!((job.status.succeeded, job.status.active), (3, 0), "{:?}", job.status);
        let last = job.status.conditions.last().map(|it| it.kind.as_str());
        prop_assert_eq!(last, Some("Complete"));
    }
    let owner = jobs.map(|job| job.metadata.uid);
    for pod in objects.of_kind(Kind::Pod) {
        let meta = pod.meta();
        let is_of_job = meta.controller().is_some_and(|owner| owner.kind == "Job");
        prop_assert!(!is_of_job || meta.controller().map(|owner| owner.uid) == owner, "left over: {}", pod.key());
        prop_assert!(meta.finalizers.is_empty(), "held for ever: {}", pod.key());
    }
    if let Some(service) = find(Kind::Service, "web") {
        let slices = objects.owned(service.meta().uid, Kind::EndpointSlice).filter_map(Object::as_endpoint_slice);
        let listed: usize = slices.map(|slice| slice.endpoints.len()).sum();
        let app = objects.get(&deployment(0).key()).and_then(Object::as_deployment);
        prop_assert_eq!(listed as i32, app.map_or(0, |app| app.spec.wanted()));
    }
    Ok(())
}

fn writes(simulation: &Simulation) -> usize {
    simulation.trace().events().filter(|event| matches!(event.what, What::Wrote { .. })).count()
}

/// Takes back all that a person has broken.
fn calm(simulation: &mut Simulation) {
    for node in 1..=3 {
        simulation.dispatch(Command::StartNode { node: format!("node-{node}") });
        simulation.dispatch(Command::HealNode { node: format!("node-{node}") });
        simulation.dispatch(Command::Cordon { node: format!("node-{node}"), on: false });
    }
    for tag in 0..4 {
        simulation.dispatch(Command::RestoreBehavior { subject: Subject::Image(format!("app:v{tag}")) });
    }
    let keys: Vec<ObjectKey> = simulation.api().objects().of_kind(Kind::Pod).map(Object::key).collect();
    for key in keys {
        let (namespace, pod) = (key.namespace.to_string(), key.name.to_string());
        simulation.dispatch(Command::SetReady { namespace, pod, ready: true });
    }
}

fn stable(deeds: &[(Deed, u64)], seed: u64) -> Result<(), TestCaseError> {
    let mut simulation = Simulation::new(scenario(seed));
    for which in 0..2 {
        simulation.dispatch(Command::Apply { manifest: manifest(which) });
    }
    for (deed, pause) in deeds {
        run_for(&mut simulation, *pause)?;
        if let Some(command) = command(&simulation, deed) {
            simulation.dispatch(command);
        }
        check_invariants(&simulation)?;
    }
    calm(&mut simulation);
    run_for(&mut simulation, 900_000)?;
    check_convergence(&simulation)?;
    let before = writes(&simulation);
    run_for(&mut simulation, 200_000)?;
    prop_assert_eq!(writes(&simulation), before, "a converged world only hums");
    check_convergence(&simulation)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn after_any_deeds_every_workload_converges_and_stays(
        deeds in prop::collection::vec((deed(), 0..30_000_u64), 1..14),
        seed in any::<u64>(),
    ) {
        stable(&deeds, seed)?;
    }

    #[test]
    fn the_journal_alone_gives_the_same_trace(
        deeds in prop::collection::vec((deed(), 0..20_000_u64), 1..8),
        seed in any::<u64>(),
    ) {
        let mut first = Simulation::new(scenario(seed));
        for (deed, pause) in &deeds {
            run_for(&mut first, *pause)?;
            if let Some(command) = command(&first, deed) {
                first.dispatch(command);
            }
        }
        run_for(&mut first, 60_000)?;
        let journal = serde_json::to_string(first.journal()).expect("commands can be written");
        let journal: Vec<loopscope_engine::world::JournalEntry> = serde_json::from_str(&journal).expect("and read");
        let mut second = Simulation::new(scenario(seed));
        for entry in journal {
            prop_assert!(second.run_until(entry.at, 3_000_000));
            second.dispatch(entry.command);
        }
        prop_assert!(second.run_until(first.now(), 3_000_000));
        prop_assert_eq!(first.trace().digest(), second.trace().digest());
    }
}
