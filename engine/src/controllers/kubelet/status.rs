//! A pod's status as its kubelet reports it.
//!
//! Mirrors `pkg/kubelet/{kubelet_pods,status/generate}.go`, v1.36.

use crate::api::{
    Condition, Container, ContainerRunning, ContainerState, ContainerStatus, ContainerTerminated, ContainerWaiting,
    Pod, PodStatus, Timestamp, condition,
};
use crate::client::{ContainerPhase, ContainerRecord, Context, PodRecord};
use crate::sim::{Millis, Time};

/// When a running container's readiness probe first succeeds often enough; at once without a probe. Nothing where it
/// does not run.
pub fn ready_at(spec: &Container, container: &ContainerRecord) -> Option<Time> {
    let since = match container.phase {
        ContainerPhase::Running { since } => since,
        _ => return None,
    };
    let Some(probe) = &spec.readiness_probe else { return Some(since) };
    if container.serves_from.0 == u64::MAX {
        return Some(container.serves_from);
    }
    let first = since + Millis(probe.initial_delay_ms());
    let late = container.serves_from.since(first).0;
    let rounds = late.div_ceil(probe.period_ms()) + u64::try_from(probe.successes() - 1).unwrap_or(0);
    Some(first + Millis(rounds * probe.period_ms()))
}

/// The status to report, where it differs from what the API already has.
pub fn report(pod: &Pod, record: &PodRecord, context: &Context<'_>) -> Option<PodStatus> {
    let status = build(pod, record, context);
    (status != pod.status).then_some(status)
}

fn build(pod: &Pod, record: &PodRecord, context: &Context<'_>) -> PodStatus {
    let epoch = context.wall_millis - context.now.0 as i64;
    let stamp = |at: Time| Timestamp::from_millis(epoch + at.0 as i64);
    let containers: Vec<ContainerStatus> = pod
        .spec
        .containers
        .iter()
        .filter_map(|spec| {
            let container = record.containers.iter().find(|it| it.name == spec.name)?;
            let ready = ready_at(spec, container).is_some_and(|at| at <= context.now);
            Some(container_status(pod, container, ready, context.now, &stamp))
        })
        .collect();
    let mut status = pod.status.clone();
    status.phase = phase(pod, record, &containers).into();
    status.conditions = conditions(pod, &status.phase, record, &containers, context.wall);
    status.start_time.get_or_insert(context.wall);
    status.observed_generation = pod.metadata.generation;
    status.host_ip = format!(
        "192.168.0.{}",
        1 + u8::try_from(pod.spec.node_name.bytes().map(u32::from).sum::<u32>() % 250).unwrap_or(0)
    );
    if status.pod_ip.is_empty() && containers.iter().any(|it| matches!(it.state, ContainerState::Running(_))) {
        let low = pod.metadata.uid.0 as u32;
        status.pod_ip = format!("10.244.{}.{}", (low >> 8) % 250, 2 + low % 250);
    }
    status.container_statuses = containers;
    status
}

fn container_status(
    pod: &Pod,
    container: &ContainerRecord,
    ready: bool,
    now: Time,
    stamp: &impl Fn(Time) -> Timestamp,
) -> ContainerStatus {
    let ended = |(code, since, at): (i32, Time, Time)| {
        let reason = if code == 0 { "Completed" } else { "Error" };
        ContainerState::Terminated(ContainerTerminated {
            exit_code: code,
            reason: reason.into(),
            message: String::new(),
            started_at: stamp(since),
            finished_at: stamp(at),
        })
    };
    let waiting =
        |reason: &str, message: String| ContainerState::Waiting(ContainerWaiting { reason: reason.into(), message });
    let mut last = container.last_exit.map(ended);
    let state = match container.phase {
        ContainerPhase::Waiting | ContainerPhase::Pulling { .. } | ContainerPhase::Starting { .. } => match last {
            Some(_) => waiting("CrashLoopBackOff", String::new()),
            None => waiting("ContainerCreating", String::new()),
        },
        ContainerPhase::ImageFailed { at } if at == now => {
            waiting("ErrImagePull", format!("failed to pull and unpack image \"{}\": not found", container.image))
        }
        ContainerPhase::ImageFailed { .. } => {
            waiting("ImagePullBackOff", format!("Back-off pulling image \"{}\"", container.image))
        }
        ContainerPhase::Running { since } | ContainerPhase::Stopping { since, .. } => {
            ContainerState::Running(ContainerRunning { started_at: stamp(since) })
        }
        ContainerPhase::Exited { code, since, at } => {
            let restarts = pod.spec.restart_policy == "Always" && !pod.is_terminating() && !pod.is_finished();
            if restarts && at < now && container.crashes > 1 {
                last = Some(ended((code, since, at)));
                let delay = super::decide::restart_delay(container.crashes).0 / 1000;
                let text = if delay.is_multiple_of(60) {
                    format!("{}m0s", delay / 60)
                } else if delay > 60 {
                    format!("{}m{}s", delay / 60, delay % 60)
                } else {
                    format!("{delay}s")
                };
                waiting(
                    "CrashLoopBackOff",
                    format!(
                        "back-off {text} restarting failed container={} pod={}_{}({})",
                        container.name, pod.metadata.name, pod.metadata.namespace, pod.metadata.uid
                    ),
                )
            } else {
                ended((code, since, at))
            }
        }
    };
    let started = matches!(state, ContainerState::Running(_));
    ContainerStatus {
        container_id: String::new(),
        image: container.image.to_string(),
        name: container.name.clone(),
        ready: ready && started,
        restart_count: container.restarts,
        started,
        state,
        last_state: last,
        extra: crate::api::Extra::default(),
    }
}

/// `getPhase`: Pending until something has run, Running until all is over for good.
fn phase(pod: &Pod, record: &PodRecord, containers: &[ContainerStatus]) -> &'static str {
    if pod.is_finished() {
        return if pod.status.phase == "Failed" { "Failed" } else { "Succeeded" };
    }
    let over = |status: &ContainerStatus| matches!(status.state, ContainerState::Terminated(_));
    let is_final = record.is_stopping || pod.spec.restart_policy == "Never" || pod.spec.restart_policy == "OnFailure";
    let code = |status: &ContainerStatus| match &status.state {
        ContainerState::Terminated(it) => it.exit_code,
        _ => 0,
    };
    let failed = containers.iter().any(|status| code(status) != 0);
    let ran = |status: &ContainerStatus| {
        status.last_state.is_some() || over(status) || matches!(status.state, ContainerState::Running(_))
    };
    if record.is_stopping && containers.iter().all(|status| !matches!(status.state, ContainerState::Running(_))) {
        return if failed || !containers.iter().any(ran) { "Failed" } else { "Succeeded" };
    }
    if is_final && !containers.is_empty() && containers.iter().all(over) {
        let retries = pod.spec.restart_policy == "OnFailure" && failed && !record.is_stopping;
        return if retries {
            "Running"
        } else if failed {
            "Failed"
        } else {
            "Succeeded"
        };
    }
    if containers.iter().all(ran) && !containers.is_empty() { "Running" } else { "Pending" }
}

fn conditions(
    pod: &Pod,
    phase: &str,
    record: &PodRecord,
    containers: &[ContainerStatus],
    now: Timestamp,
) -> Vec<Condition> {
    let unready: Vec<&str> = containers.iter().filter(|it| !it.ready).map(|it| it.name.as_str()).collect();
    let is_over = matches!(phase, "Succeeded" | "Failed");
    let has_sandbox = !is_over
        && record
            .containers
            .iter()
            .any(|it| !matches!(it.phase, ContainerPhase::Waiting | ContainerPhase::Pulling { .. }));
    let ready = || {
        let all_ready = unready.is_empty() && !containers.is_empty();
        let condition = Condition::new("Ready", all_ready);
        match phase {
            "Succeeded" => Condition::new("Ready", false).because("PodCompleted", ""),
            "Failed" => Condition::new("Ready", false).because("PodFailed", ""),
            _ if all_ready => condition,
            _ => condition
                .because("ContainersNotReady", format!("containers with unready status: [{}]", unready.join(" "))),
        }
    };
    let mut initialized = Condition::new("Initialized", true);
    if phase == "Succeeded" {
        initialized.reason = "PodCompleted".into();
    }
    let wanted = [
        Condition::new("PodReadyToStartContainers", has_sandbox),
        initialized,
        ready(),
        Condition { kind: "ContainersReady".into(), ..ready() },
        Condition::new("PodScheduled", true),
    ];
    let known = &pod.status.conditions;
    let mut all: Vec<Condition> = wanted
        .into_iter()
        .map(|mut new| {
            new.last_transition_time = match condition(known, &new.kind) {
                Some(old) if old.status == new.status => old.last_transition_time,
                _ => Some(now),
            };
            new
        })
        .collect();
    let others = known.iter().filter(|old| !all.iter().any(|new| new.kind == old.kind));
    let others: Vec<Condition> = others.cloned().collect();
    all.extend(others);
    all
}

/// One word for what a status says.
pub fn word(status: &PodStatus) -> &'static str {
    let ready = condition(&status.conditions, "Ready").is_some_and(Condition::is_true);
    match status.phase.as_str() {
        "Succeeded" => "Succeeded",
        "Failed" => "Failed",
        "Running" if ready => "Ready",
        "Running" => "Running",
        _ => "Pending",
    }
}
