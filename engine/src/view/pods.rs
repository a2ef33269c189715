//! How a pod is drawn.

use super::{Countdown, PodClass, PodRow};
use crate::api::{ContainerState, Name, Node, Object, ObjectKey, Pod, condition};
use crate::client::ContainerPhase;
use crate::controllers::kubelet::restart_delay;
use crate::world::Simulation;

/// The reason that a container waits or ended, the first that has one.
fn reason(pod: &Pod) -> &str {
    let of = |state: &ContainerState| match state {
        ContainerState::Waiting(it) => Some(it.reason.clone()),
        ContainerState::Terminated(it) => Some(it.reason.clone()),
        ContainerState::Running(_) => None,
    };
    let statuses = &pod.status.container_statuses;
    let found = statuses.iter().find(|status| of(&status.state).is_some_and(|reason| !reason.is_empty()));
    match found.map(|status| &status.state) {
        Some(ContainerState::Waiting(it)) => &it.reason,
        Some(ContainerState::Terminated(it)) => &it.reason,
        _ => "",
    }
}

/// The class of a pod as the API server reports it; the first rule that fits wins, in the order of kubectl's printer.
pub fn classify(pod: &Pod, node: Option<&Node>) -> PodClass {
    let reason = reason(pod);
    if node.is_some_and(|node| node.readiness() == "Unknown") && !pod.is_finished() {
        return PodClass::Unknown;
    }
    if pod.is_terminating() {
        return PodClass::Terminating;
    }
    match reason {
        "CrashLoopBackOff" => return PodClass::CrashLoop,
        "ImagePullBackOff" | "ErrImagePull" => return PodClass::ImageError,
        _ => {}
    }
    if pod.status.phase == "Failed" || matches!(reason, "OOMKilled" | "Error") {
        return PodClass::Failed;
    }
    if pod.status.phase == "Succeeded" {
        return PodClass::Completed;
    }
    if !pod.is_assigned() {
        return PodClass::Pending;
    }
    match (pod.status.phase.as_str(), pod.is_ready()) {
        ("Running", true) => PodClass::Ready,
        ("Running", false) => PodClass::NotReady,
        _ => PodClass::Creating,
    }
}

/// The part of a pod's name that it shares with its siblings, as short as it gets, and its own part.
pub fn split_name(name: &str) -> (String, String) {
    let Some((rest, tail)) = name.rsplit_once('-') else { return (String::new(), name.into()) };
    match rest.rsplit_once('-') {
        Some((stem, _)) => (format!("{stem}…"), tail.into()),
        None => (format!("{rest}-"), tail.into()),
    }
}

pub fn row(simulation: &Simulation, pod: &Pod, node: Option<&Node>) -> PodRow {
    let class = classify(pod, node);
    let key = ObjectKey::new(crate::api::Kind::Pod, pod.metadata.namespace.clone(), pod.metadata.name.clone());
    let (stem, tail) = split_name(&pod.metadata.name);
    let countdown = countdown(simulation, pod, class);
    let word = word(simulation, pod, class, node);
    let place = if pod.is_assigned() { pod.spec.node_name.to_string() } else { "no node".into() };
    let mut label = format!("Pod {}, {word}, {place}", pod.metadata.name);
    if let Some(countdown) = countdown {
        let what = if class == PodClass::Terminating { "of grace left" } else { "until the next try" };
        label.push_str(&format!(", {} seconds {what}", countdown.left_ms.div_ceil(1000)));
    }
    if pod.restarts() > 0 {
        label.push_str(&format!(", {} restarts", pod.restarts()));
    }
    PodRow {
        uid: pod.metadata.uid,
        is_yours: simulation.origin(&key).is_some_and(|seq| simulation.is_yours(seq)),
        arriving_at: None,
        key,
        stem,
        tail,
        class,
        word,
        countdown,
        label,
    }
}

fn word(simulation: &Simulation, pod: &Pod, class: PodClass, node: Option<&Node>) -> String {
    match class {
        PodClass::Ready => "Ready".into(),
        PodClass::Completed => "Completed".into(),
        PodClass::Creating => "Creating".into(),
        PodClass::NotReady => "Not ready".into(),
        PodClass::Pending => "Pending".into(),
        PodClass::Terminating => "Terminating".into(),
        PodClass::ImageError => "Image error".into(),
        PodClass::CrashLoop => format!("Crash loop {}", pod.restarts()),
        PodClass::Failed => match reason(pod) {
            "" | "Error" => "Failed".into(),
            reason => reason.into(),
        },
        PodClass::Unknown => {
            let since = node
                .and_then(|node| condition(&node.status.conditions, "Ready"))
                .and_then(|ready| ready.last_transition_time);
            let seconds = since.map_or(0, |since| (simulation.wall().0 - since.0).max(0));
            format!("Unknown {seconds} s")
        }
    }
}

fn countdown(simulation: &Simulation, pod: &Pod, class: PodClass) -> Option<Countdown> {
    match class {
        PodClass::Terminating => {
            let until = pod.metadata.deletion_timestamp?.millis();
            let total_ms = u64::try_from(pod.metadata.deletion_grace_period_seconds?).ok()? * 1000;
            let left_ms = u64::try_from(until - simulation.wall_millis()).unwrap_or(0).min(total_ms);
            (total_ms > 0).then_some(Countdown { left_ms, total_ms })
        }
        PodClass::CrashLoop => {
            let machine = simulation.machines().get(&pod.spec.node_name)?;
            let record = machine.runtime.pods.get(&pod.metadata.uid)?;
            let (at, delay) = record.containers.iter().find_map(|it| match it.phase {
                ContainerPhase::Exited { at, .. } => Some((at, restart_delay(it.crashes))),
                _ => None,
            })?;
            let left_ms = (at + delay).since(simulation.now()).0;
            (delay.0 > 0).then_some(Countdown { left_ms, total_ms: delay.0 })
        }
        _ => None,
    }
}

/// The pods of a Deployment that still count, or are on their way out.
pub fn pods_of(simulation: &Simulation, uid: crate::api::Uid) -> impl Iterator<Item = &std::rc::Rc<Pod>> {
    let objects = simulation.api().objects();
    let sets = objects.controlled_by(uid).filter_map(Object::as_replica_set);
    sets.flat_map(move |set| objects.controlled_by(set.metadata.uid)).filter_map(Object::as_pod)
}

pub fn node_of<'a>(simulation: &'a Simulation, name: &Name) -> Option<&'a Node> {
    simulation.api().objects().get(&ObjectKey::node(name.clone()))?.as_node().map(|node| &**node)
}
