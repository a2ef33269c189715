//! How a pod is drawn.

use super::{Countdown, PodClass, PodRow};
use crate::api::{Name, Node, Object, ObjectKey, Pod, condition};
use crate::client::Pull;
use crate::controllers::kubelet::{pull_delay, restart_at};
use crate::kubectl::is_fine;
pub use crate::kubectl::reason;
pub use crate::kubectl::status_word;
use crate::world::Simulation;

/// The class of a pod as the API server reports it; the first rule that fits wins, in the order of kubectl's printer.
pub fn classify(pod: &Pod, node: Option<&Node>) -> PodClass {
    classify_on(pod, node.is_some_and(|node| node.readiness() == "Unknown"))
}

/// The same, for whoever knows already whether its node has fallen silent.
pub fn classify_on(pod: &Pod, is_silent: bool) -> PodClass {
    if is_silent && !pod.is_finished() {
        return PodClass::Unknown;
    }
    if pod.is_terminating() {
        return PodClass::Terminating;
    }
    if is_fine(pod) {
        return PodClass::Ready;
    }
    let reason = reason(pod);
    match reason.strip_prefix("Init:").unwrap_or(&reason) {
        "CrashLoopBackOff" => return PodClass::CrashLoop,
        "ImagePullBackOff" | "ErrImagePull" | "ErrImageNeverPull" => return PodClass::ImageError,
        "OOMKilled" | "Error" => return PodClass::Failed,
        _ => {}
    }
    match (pod.status.phase.as_str(), pod.is_ready()) {
        ("Failed", _) => PodClass::Failed,
        ("Succeeded", _) => PodClass::Completed,
        _ if !pod.is_assigned() => PodClass::Pending,
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

/// In a crowd a pod is a bare shape, without a countdown.
pub fn row(simulation: &Simulation, pod: &Pod, node: Option<&Node>, is_crowd: bool) -> PodRow {
    let class = classify(pod, node);
    let key = ObjectKey::new(crate::api::Kind::Pod, pod.metadata.namespace.clone(), pod.metadata.name.clone());
    let (stem, tail) = split_name(&pod.metadata.name);
    let countdown = if is_crowd { None } else { countdown(simulation, pod, class) };
    let word = word(simulation, pod, class, node);
    let place = if pod.is_assigned() { pod.spec.node_name.to_string() } else { "no node".into() };
    let status = status_word(pod);
    let mut label = format!("Pod {}, {word}, {place}", pod.metadata.name);
    if matches!(class, PodClass::ImageError | PodClass::CrashLoop | PodClass::Failed) && status != word {
        label.push_str(&format!(", {status}"));
    }
    if let Some(countdown) = countdown {
        let what = match class {
            PodClass::Terminating => "of grace left",
            PodClass::NotReady => "until the next probe",
            _ => "until the next try",
        };
        label.push_str(&format!(", {} seconds {what}", countdown.left_ms.div_ceil(1000)));
    }
    let restarts = pod.restarts();
    match restarts {
        0 => {}
        1 => label.push_str(", 1 restart"),
        n => label.push_str(&format!(", {n} restarts")),
    }
    let n_ready = pod.status.container_statuses.iter().filter(|it| it.ready).count();
    PodRow {
        uid: pod.metadata.uid,
        status,
        ready: format!("{n_ready}/{}", pod.spec.containers.len()),
        restarts,
        is_yours: simulation.origin(&key).is_some_and(|seq| simulation.is_yours(seq)),
        arriving_at: None,
        node: pod.spec.node_name.clone(),
        owner: pod.metadata.controller().map(|owner| owner.name.clone()).unwrap_or_default(),
        created_ms: created_ms(simulation, pod),
        reported: None,
        is_known: true,
        key,
        stem,
        tail,
        class,
        word,
        countdown,
        label,
    }
}

fn created_ms(simulation: &Simulation, pod: &Pod) -> u64 {
    let began = simulation.wall_millis() - simulation.now().0 as i64;
    let at = pod.metadata.creation_timestamp.map_or(began, |at| at.millis());
    u64::try_from(at - began).unwrap_or(0)
}

fn word(simulation: &Simulation, pod: &Pod, class: PodClass, node: Option<&Node>) -> String {
    match class {
        PodClass::Ready => "Ready".into(),
        PodClass::Completed => "Completed".into(),
        PodClass::Creating => match reason(pod) {
            word if word.starts_with("Init:") => word,
            _ => "Creating".into(),
        },
        PodClass::NotReady => "Not ready".into(),
        PodClass::Pending => "Pending".into(),
        PodClass::Terminating => "Terminating".into(),
        PodClass::ImageError => "Image error".into(),
        PodClass::CrashLoop => format!("Crash loop {}", pod.restarts()),
        PodClass::Failed if reason(pod) == "OOMKilled" => "OOMKilled".into(),
        PodClass::Failed => "Failed".into(),
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
            let total_ms = u64::try_from(pod.metadata.deletion_grace_period_seconds?).ok()?.saturating_mul(1000);
            let left_ms = u64::try_from(until - simulation.wall_millis()).unwrap_or(0).min(total_ms);
            (total_ms > 0).then_some(Countdown { left_ms, total_ms })
        }
        PodClass::CrashLoop | PodClass::ImageError => {
            let machine = simulation.machines().get(&pod.spec.node_name)?;
            let record = machine.runtime.pods.get(&pod.metadata.uid)?;
            let (until, total) = record.containers.iter().find_map(|it| match it.pull {
                Pull::Failed { at } => Some((at + pull_delay(it.failed_pulls), pull_delay(it.failed_pulls))),
                _ => it.back_off.zip(restart_at(it)).map(|(back_off, until)| (until, back_off.delay)),
            })?;
            let left_ms = until.since(simulation.now()).0.min(total.0);
            (total.0 > 0).then_some(Countdown { left_ms, total_ms: total.0 })
        }
        PodClass::NotReady => {
            let status = pod.status.container_statuses.iter().find(|it| !it.ready)?;
            let container = pod.spec.containers.iter().find(|it| it.name == status.name)?;
            let total_ms = container.readiness_probe.as_ref()?.period_ms().max(1);
            let record = simulation.machines().get(&pod.spec.node_name)?.runtime.pods.get(&pod.metadata.uid)?;
            let passed = simulation.now().since(record.created).0 % total_ms;
            Some(Countdown { left_ms: total_ms - passed, total_ms })
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
