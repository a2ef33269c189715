//! What a person may do to a cluster with a bit of everything, at random.

#![allow(dead_code)]

use loopscope_engine::api::{Kind, Labels, Object, ObjectKey};
use loopscope_engine::apiserver::{PatchType, Propagation};
use loopscope_engine::environment::Behavior;
use loopscope_engine::world::{Command, NodeSetup, Scenario, Simulation, Subject, Target};
use proptest::prelude::*;
use serde_json::json;

/// One thing to do, with indexes into whatever is there at that moment.
#[derive(Clone, Debug)]
pub enum Deed {
    Scale(u8, i32),
    Image(u8, u8),
    DeletePod(usize),
    DeleteSet(usize, Option<Propagation>),
    Power(u8, bool),
    Cordon(u8, bool),
    Apply(u8),
    Cut(u8, bool),
    Ready(usize, bool),
    CrashContainer(usize, i32),
    CrashProcess(bool),
    Misbehave(u8, bool),
    /// The StatefulSet, the DaemonSet, the Job, the Service and the budget beside the Deployments.
    ApplyOthers,
    ScaleSet(i32),
    ImageOfOthers(u8, u8),
    DeleteJob,
    Pause(u8, bool),
    Restart(u8),
    Rollback(u8, i64),
    Fences(i32, i32),
    Evict(usize),
    Process(bool, bool),
    AddNode,
    RemoveNode(u8),
    DeleteDeployment(u8, Option<Propagation>),
    MisbehavePod(usize),
    /// A namespace of its own with a Deployment in it, and a budget of pods that is too small for it at first.
    ApplyShop,
    DeleteShop,
    WidenShop,
}

pub fn propagation() -> impl Strategy<Value = Option<Propagation>> {
    let all = [None, Some(Propagation::Background), Some(Propagation::Foreground), Some(Propagation::Orphan)];
    prop::sample::select(all.to_vec())
}

pub fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        (0..2_u8, 0..9_i32).prop_map(|(which, replicas)| Deed::Scale(which, replicas)),
        (0..2_u8, 1..4_u8).prop_map(|(which, tag)| Deed::Image(which, tag)),
        any::<usize>().prop_map(Deed::DeletePod),
        (any::<usize>(), propagation()).prop_map(|(index, how)| Deed::DeleteSet(index, how)),
        (1..5_u8, any::<bool>()).prop_map(|(node, on)| Deed::Power(node, on)),
        (1..5_u8, any::<bool>()).prop_map(|(node, on)| Deed::Cordon(node, on)),
        (0..2_u8).prop_map(Deed::Apply),
        (1..5_u8, any::<bool>()).prop_map(|(node, on)| Deed::Cut(node, on)),
        (any::<usize>(), any::<bool>()).prop_map(|(index, ready)| Deed::Ready(index, ready)),
        (any::<usize>(), 0..3_i32).prop_map(|(index, code)| Deed::CrashContainer(index, code)),
        any::<bool>().prop_map(Deed::CrashProcess),
        (0..3_u8, any::<bool>()).prop_map(|(tag, on)| Deed::Misbehave(tag, on)),
        Just(Deed::ApplyOthers),
        (0..6_i32).prop_map(Deed::ScaleSet),
        (0..2_u8, 1..4_u8).prop_map(|(which, tag)| Deed::ImageOfOthers(which, tag)),
        Just(Deed::DeleteJob),
        (0..2_u8, any::<bool>()).prop_map(|(which, on)| Deed::Pause(which, on)),
        (0..3_u8).prop_map(Deed::Restart),
        (0..2_u8, 0..4_i64).prop_map(|(which, revision)| Deed::Rollback(which, revision)),
        (0..4_i32, 0..3_i32).prop_map(|(surge, unavailable)| Deed::Fences(surge, unavailable)),
        any::<usize>().prop_map(Deed::Evict),
        (any::<bool>(), any::<bool>()).prop_map(|(manager, up)| Deed::Process(manager, up)),
        Just(Deed::AddNode),
        (1..5_u8).prop_map(Deed::RemoveNode),
        (0..2_u8, propagation()).prop_map(|(which, how)| Deed::DeleteDeployment(which, how)),
        any::<usize>().prop_map(Deed::MisbehavePod),
        Just(Deed::ApplyShop),
        Just(Deed::DeleteShop),
        Just(Deed::WidenShop),
    ]
}

/// What leaves every pod healthy: a rollout after the other, up in size, with processes that come and go.
pub fn healthy_deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        3 => (1..4_u8).prop_map(|tag| Deed::Image(0, tag)),
        1 => any::<bool>().prop_map(|on| Deed::Pause(0, on)),
        1 => Just(Deed::Restart(0)),
        1 => (0..4_i64).prop_map(|revision| Deed::Rollback(0, revision)),
        1 => (0..4_i32, 0..3_i32).prop_map(|(surge, unavailable)| Deed::Fences(surge, unavailable)),
        1 => any::<bool>().prop_map(Deed::CrashProcess),
        1 => (any::<bool>(), any::<bool>()).prop_map(|(manager, up)| Deed::Process(manager, up)),
        1 => Just(Deed::AddNode),
        1 => (1..5_u8, any::<bool>()).prop_map(|(node, on)| Deed::Cordon(node, on)),
    ]
}

pub fn manifest(which: u8) -> String {
    let strategy = if which == 0 { "RollingUpdate" } else { "Recreate" };
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: app-{which}}}\nspec:\n  replicas: {}\n  strategy: {{type: {strategy}}}\n  selector: {{matchLabels: {{app: a{which}}}}}\n  template:\n    metadata: {{labels: {{app: a{which}}}}}\n    spec:\n      containers:\n      - name: app\n        image: app:v0\n        readinessProbe: {{tcpSocket: {{port: 80}}, periodSeconds: 1}}\n",
        3 + which
    )
}

/// Pods that get ready whatever their image, and a Job that succeeds.
pub const OTHERS: &str = "\
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
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 2, selector: {matchLabels: {app: a0}}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: all}
spec: {hard: {pods: '1000'}}
";

fn shop(pods: u32) -> String {
    let deployment = manifest(0).replace("{name: app-0}", "{name: till, namespace: shop}");
    format!(
        "apiVersion: v1\nkind: Namespace\nmetadata: {{name: shop}}\n---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: few, namespace: shop}}\nspec: {{hard: {{pods: '{pods}'}}}}\n---\n{deployment}"
    )
}

pub fn scenario(seed: u64) -> Scenario {
    let mut scenario = Scenario::empty(seed);
    let work = Behavior { exit: Some((5_000, 0)), ..Behavior::usual("work:v0") };
    scenario.behaviors.0.insert("work:v0".into(), work);
    scenario
}

pub fn other(kind: Kind, name: &str) -> Target {
    Target { kind, namespace: "default".into(), name: name.into() }
}

pub fn deployment(which: u8) -> Target {
    other(Kind::Deployment, &format!("app-{which}"))
}

fn nth(simulation: &Simulation, kind: Kind, index: usize) -> Option<Target> {
    let keys: Vec<ObjectKey> = simulation.api().objects().of_kind(kind).map(Object::key).collect();
    keys.get(index.checked_rem(keys.len())?).map(Target::from)
}

fn patch(which: u8, patch: serde_json::Value) -> Command {
    Command::Patch { target: deployment(which), kind: PatchType::Merge, patch }
}

fn program(manager: bool) -> String {
    if manager { "kube-controller-manager" } else { "kube-scheduler" }.into()
}

fn misbehavior(tag: u8) -> (String, Behavior) {
    let image = format!("app:v{tag}");
    let usual = Behavior::usual(&image);
    let behavior = match tag {
        0 => Behavior { exit: Some((3_000, 1)), ..usual },
        1 => Behavior { is_missing: true, ..usual },
        _ => Behavior { lapse: Some((1_000, 8_000)), ignores_term: true, ..usual },
    };
    (image, behavior)
}

/// The command that a deed comes to now; none where there is nothing to do it to.
pub fn command(simulation: &Simulation, deed: &Deed) -> Option<Command> {
    let node = |number: &u8| format!("node-{number}");
    Some(match deed {
        Deed::Scale(which, replicas) => Command::Scale { target: deployment(*which), replicas: *replicas },
        Deed::Image(which, tag) => {
            Command::SetImage { target: deployment(*which), container: "app".into(), image: format!("app:v{tag}") }
        }
        Deed::DeletePod(index) => Command::delete(nth(simulation, Kind::Pod, *index)?),
        Deed::DeleteSet(index, propagation) => {
            let target = nth(simulation, Kind::ReplicaSet, *index)?;
            Command::Delete { target, propagation: *propagation, grace: None }
        }
        Deed::Power(number, true) => Command::StartNode { node: node(number) },
        Deed::Power(number, false) => Command::StopNode { node: node(number) },
        Deed::Cordon(number, on) => Command::Cordon { node: node(number), on: *on },
        Deed::Apply(which) => Command::Apply { manifest: manifest(*which) },
        Deed::Cut(number, true) => Command::CutNode { node: node(number) },
        Deed::Cut(number, false) => Command::HealNode { node: node(number) },
        Deed::AddNode => {
            let labels = Labels::from([("disk".to_string(), "ssd".to_string())]);
            Command::AddNode { node: NodeSetup { labels, ..NodeSetup::named("node-4", "4", "8Gi") } }
        }
        Deed::RemoveNode(number) => Command::RemoveNode { node: node(number) },
        Deed::Pause(which, on) => Command::Pause { target: deployment(*which), on: *on },
        Deed::Restart(2) => Command::Restart { target: other(Kind::DaemonSet, "agent") },
        Deed::Restart(which) => Command::Restart { target: deployment(*which) },
        Deed::Rollback(which, to) => Command::Rollback { target: deployment(*which), to_revision: *to },
        Deed::Fences(surge, unavailable) => {
            let fences = json!({"maxSurge": surge, "maxUnavailable": unavailable});
            patch(0, json!({"spec": {"strategy": {"rollingUpdate": fences}}}))
        }
        Deed::DeleteDeployment(which, propagation) => {
            Command::Delete { target: deployment(*which), propagation: *propagation, grace: None }
        }
        Deed::ApplyOthers => Command::Apply { manifest: OTHERS.into() },
        Deed::ScaleSet(replicas) => Command::Scale { target: other(Kind::StatefulSet, "db"), replicas: *replicas },
        Deed::ImageOfOthers(which, tag) => {
            let target = if *which == 0 { other(Kind::StatefulSet, "db") } else { other(Kind::DaemonSet, "agent") };
            Command::SetImage { target, container: "app".into(), image: format!("app:v{tag}") }
        }
        Deed::DeleteJob => Command::delete(other(Kind::Job, "work")),
        Deed::ApplyShop => Command::Apply { manifest: shop(2) },
        Deed::WidenShop => Command::Apply { manifest: shop(100) },
        Deed::DeleteShop => {
            Command::delete(Target { kind: Kind::Namespace, namespace: String::new(), name: "shop".into() })
        }
        programs => return command_to_programs(simulation, programs),
    })
}

fn command_to_programs(simulation: &Simulation, deed: &Deed) -> Option<Command> {
    Some(match deed {
        Deed::Evict(index) => Command::Evict { target: nth(simulation, Kind::Pod, *index)? },
        Deed::Ready(index, ready) => {
            let pod = nth(simulation, Kind::Pod, *index)?;
            Command::SetReady { namespace: pod.namespace, pod: pod.name, ready: *ready }
        }
        Deed::CrashContainer(index, code) => {
            let pod = nth(simulation, Kind::Pod, *index)?;
            Command::CrashContainer { namespace: pod.namespace, pod: pod.name, container: "app".into(), code: *code }
        }
        Deed::CrashProcess(manager) => Command::CrashController { process: program(*manager) },
        Deed::Process(manager, true) => Command::StartController { process: program(*manager) },
        Deed::Process(manager, false) => Command::StopController { process: program(*manager) },
        Deed::Misbehave(tag, on) => {
            let (image, behavior) = misbehavior(*tag);
            let subject = Subject::Image(image);
            match on {
                true => Command::SetBehavior { subject, behavior },
                false => Command::RestoreBehavior { subject },
            }
        }
        Deed::MisbehavePod(index) => {
            let pod = nth(simulation, Kind::Pod, *index)?;
            let (_, behavior) = misbehavior((index % 3) as u8);
            Command::SetBehavior { subject: Subject::Pod { namespace: pod.namespace, name: pod.name }, behavior }
        }
        _ => return None,
    })
}

/// What gives every machine its pods back. One that was removed has to have made itself known.
pub fn uncordon_commands() -> Vec<Command> {
    (1..=4).map(|node| Command::Cordon { node: format!("node-{node}"), on: false }).collect()
}

pub fn uncordon(simulation: &mut Simulation) {
    for command in uncordon_commands() {
        simulation.dispatch(command);
    }
}

/// Takes back all that a person has broken.
pub fn calm(simulation: &mut Simulation) {
    for command in calm_commands(simulation) {
        simulation.dispatch(command);
    }
}

/// What takes it back. No command is made by what another does.
pub fn calm_commands(simulation: &Simulation) -> Vec<Command> {
    let mut all: Vec<Command> =
        [true, false].map(|manager| Command::StartController { process: program(manager) }).into();
    if simulation.api().objects().get(&ObjectKey::new(Kind::ResourceQuota, "shop", "few")).is_some() {
        all.push(Command::Apply { manifest: shop(100) });
    }
    all.extend((0..2).map(|which| Command::Pause { target: deployment(which), on: false }));
    for node in 1..=4 {
        all.push(Command::StartNode { node: format!("node-{node}") });
        all.push(Command::HealNode { node: format!("node-{node}") });
    }
    for entry in simulation.behaviors().0.keys().filter(|name| *name != "work:v0") {
        let pod = entry.strip_prefix('@').and_then(|pod| pod.split_once('/'));
        let subject = match pod {
            Some((namespace, name)) => Subject::Pod { namespace: namespace.into(), name: name.into() },
            None => Subject::Image(entry.clone()),
        };
        all.push(Command::RestoreBehavior { subject });
    }
    for key in simulation.api().objects().of_kind(Kind::Pod).map(Object::key) {
        let (namespace, pod) = (key.namespace.to_string(), key.name.to_string());
        all.push(Command::SetReady { namespace, pod, ready: true });
    }
    all
}
