//! What `kubectl get pods` makes of a pod (`printPod` in `pkg/printers/internalversion/printers.go`, v1.36).

use crate::api::{Condition, ContainerState, ContainerStatus, Pod, Timestamp, condition};

/// READY, STATUS and RESTARTS.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodStatus {
    /// Why it is as it is, whether or not it is to go.
    pub reason: String,
    pub ready: usize,
    pub total: usize,
    pub restarts: i32,
    pub last_restart: Option<Timestamp>,
}

/// A pod's STATUS as `kubectl get pods` prints it.
pub fn status_word(pod: &Pod) -> String {
    match pod.is_terminating() {
        true if pod.status.reason == "NodeLost" => "Unknown".into(),
        true if !pod.is_finished() => "Terminating".into(),
        _ => reason(pod),
    }
}

/// Why a pod is as it is, whether or not it is to go.
pub fn reason(pod: &Pod) -> String {
    if is_fine(pod) { "Running".into() } else { summary(pod).reason }
}

/// Nothing is the matter with it: most pods, most of the time.
pub fn is_fine(pod: &Pod) -> bool {
    let runs = |state: &ContainerState| matches!(state, ContainerState::Running(_));
    pod.status.phase == "Running"
        && pod.status.reason.is_empty()
        && pod.is_ready()
        && pod.status.init_container_statuses.is_empty()
        && pod.status.container_statuses.iter().all(|it| it.ready && runs(&it.state))
}

fn number(words: &str, number: i32) -> String {
    [words, &number.to_string()].concat()
}

fn ended(status: &ContainerStatus) -> Option<Timestamp> {
    match &status.last_state {
        Some(ContainerState::Terminated(it)) => Some(it.finished_at).filter(|at| *at != Timestamp::default()),
        _ => None,
    }
}

/// Why a container that has ended, ended.
fn end_word(reason: &str, signal: i32, exit_code: i32) -> String {
    match (reason, signal) {
        ("", 0) => number("ExitCode:", exit_code),
        ("", signal) => number("Signal:", signal),
        (reason, _) => reason.into(),
    }
}

/// All that the line of a pod says of it.
pub fn summary(pod: &Pod) -> PodStatus {
    let phase = if pod.status.reason.is_empty() { &pod.status.phase } else { &pod.status.reason };
    let sidecars = pod.spec.init_containers.iter().filter(|it| it.is_sidecar()).count();
    let mut it = PodStatus {
        reason: phase.as_str().into(),
        total: pod.spec.containers.len() + sidecars,
        ..PodStatus::default()
    };
    if condition(&pod.status.conditions, "PodScheduled").is_some_and(|it| it.reason == "SchedulingGated") {
        it.reason = "SchedulingGated".into();
    }
    let (mut of_sidecars, mut last_sidecar) = (0, None);
    let mut is_initializing = false;
    for (at, status) in pod.status.init_container_statuses.iter().enumerate() {
        it.restarts += status.restart_count;
        it.last_restart = it.last_restart.max(ended(status));
        let stays = pod.spec.init_containers.iter().any(|known| known.name == status.name && known.is_sidecar());
        if stays {
            of_sidecars += status.restart_count;
            last_sidecar = last_sidecar.max(ended(status));
        }
        it.reason = match &status.state {
            ContainerState::Terminated(it) if it.exit_code == 0 => continue,
            _ if stays && status.started => {
                it.ready += usize::from(status.ready);
                continue;
            }
            ContainerState::Terminated(it) => ["Init:", &end_word(&it.reason, it.signal, it.exit_code)].concat(),
            ContainerState::Waiting(it) if !matches!(it.reason.as_str(), "" | "PodInitializing") => {
                ["Init:", &it.reason].concat()
            }
            _ => ["Init:", &at.to_string(), "/", &pod.spec.init_containers.len().to_string()].concat(),
        };
        is_initializing = true;
        break;
    }
    let is_initialized = condition(&pod.status.conditions, "Initialized").is_some_and(Condition::is_true);
    if !is_initializing || is_initialized {
        (it.restarts, it.last_restart) = (of_sidecars, last_sidecar);
        of_containers(pod, &mut it);
    }
    it
}

fn of_containers(pod: &Pod, it: &mut PodStatus) {
    let mut runs = false;
    for status in pod.status.container_statuses.iter().rev() {
        it.restarts += status.restart_count;
        it.last_restart = it.last_restart.max(ended(status));
        match &status.state {
            ContainerState::Waiting(state) if !state.reason.is_empty() => it.reason = state.reason.to_string(),
            ContainerState::Terminated(state) => it.reason = end_word(&state.reason, state.signal, state.exit_code),
            ContainerState::Running(_) if status.ready => {
                runs = true;
                it.ready += 1;
            }
            _ => {}
        }
    }
    if it.reason == "Completed" && runs {
        it.reason = if pod.is_ready() { "Running".into() } else { "NotReady".into() };
    }
}
