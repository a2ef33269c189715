//! A pod's status as its kubelet reports it.
//!
//! Mirrors `pkg/kubelet/{kubelet_pods,status/generate}.go`, v1.36.

use super::adopt::BEFORE;
use super::memory::{PodMemory, restart_at, restarts, spec_of};
use crate::api::{
    Condition, ContainerRunning, ContainerState, ContainerStatus, ContainerTerminated, ContainerWaiting, Extra, Pod,
    PodStatus, Text, Timestamp, condition,
};
use crate::client::{ContainerPhase, ContainerRecord, Context, Exit, PodRecord, Pull, Role};
use crate::sim::Time;

/// The status to report, where it differs from what the API already has.
pub fn report(pod: &Pod, record: &PodRecord, memory: &PodMemory, context: &Context<'_>) -> Option<PodStatus> {
    let status = build(pod, record, memory, context);
    (status != pod.status).then_some(status)
}

fn build(pod: &Pod, record: &PodRecord, memory: &PodMemory, context: &Context<'_>) -> PodStatus {
    let scribe = Scribe { pod, memory, context, epoch: context.wall_millis - context.now.0 as i64 };
    let of = |is_init: bool| -> Vec<ContainerStatus> {
        let containers = record.containers.iter().filter(|it| (it.role != Role::Main) == is_init);
        containers.map(|it| scribe.container_status(it)).collect()
    };
    let (containers, init) = (of(false), of(true));
    let phase = match phase(pod, record) {
        // The end is told when nothing runs any more (`mergePodStatus`).
        "Succeeded" | "Failed" if record.is_up() && !pod.is_finished() => "Running",
        phase => phase,
    };
    let known = &pod.status;
    let mut host_ip = known.host_ip.clone();
    if host_ip.is_empty() {
        let sum: u32 = pod.spec.node_name.bytes().map(u32::from).sum();
        host_ip = format!("192.168.0.{}", 1 + sum % 250).into();
    }
    let runs = |it: &ContainerStatus| matches!(it.state, ContainerState::Running(_));
    let mut ip = known.pod_ip.clone();
    if ip.is_empty() && containers.iter().chain(&init).any(runs) {
        ip = pod_ip(pod).into();
    }
    PodStatus {
        conditions: conditions(pod, phase, record, &containers, context.wall),
        container_statuses: containers,
        init_container_statuses: init,
        host_ip,
        message: known.message.clone(),
        nominated_node_name: known.nominated_node_name.clone(),
        observed_generation: pod.metadata.generation,
        phase: phase.into(),
        pod_ip: ip,
        qos_class: known.qos_class.clone(),
        reason: known.reason.clone(),
        start_time: known.start_time.or(Some(context.wall)),
        extra: known.extra.clone(),
    }
}

/// A made-up address, always the same for the same pod.
pub fn pod_ip(pod: &Pod) -> String {
    let low = pod.metadata.uid.0 as u32;
    format!("10.244.{}.{}", (low >> 8) % 250, 2 + low % 250)
}

/// The reference of an image as a container runtime completes it.
pub fn reference(image: &str) -> String {
    match image.split_once('/') {
        None => format!("docker.io/library/{image}"),
        Some((first, _)) if first.contains(['.', ':']) || first == "localhost" => image.into(),
        Some(_) => format!("docker.io/{image}"),
    }
}

/// Why a pull failed, in the runtime's words.
pub fn pull_error(image: &str) -> String {
    let full = reference(image);
    format!("failed to pull and unpack image \"{full}\": failed to resolve reference \"{full}\": {full}: not found")
}

/// A span as Go writes it.
fn span(seconds: u64) -> String {
    if seconds < 60 { format!("{seconds}s") } else { format!("{}m{}s", seconds / 60, seconds % 60) }
}

struct Scribe<'a> {
    pod: &'a Pod,
    memory: &'a PodMemory,
    context: &'a Context<'a>,
    epoch: i64,
}

impl Scribe<'_> {
    fn stamp(&self, at: Time) -> Timestamp {
        Timestamp::from_millis(self.epoch + at.0 as i64)
    }

    fn ended(&self, container: &ContainerRecord, exit: Exit) -> ContainerState {
        let known = self.known(container).filter(|_| exit.since == BEFORE);
        if let Some(told) = known.and_then(|known| self.told(known, exit)) {
            return told;
        }
        let reason = match exit {
            Exit { is_oom: true, .. } => "OOMKilled",
            Exit { code: 0, .. } => "Completed",
            _ => "Error",
        };
        ContainerState::Terminated(ContainerTerminated {
            exit_code: exit.code,
            reason: reason.into(),
            started_at: self.stamp(exit.since),
            finished_at: self.stamp(exit.at),
            ..ContainerTerminated::default()
        })
    }

    /// What was told of a run that began before the world did, now that it has ended.
    fn told(&self, known: &ContainerStatus, exit: Exit) -> Option<ContainerState> {
        let finished_at = self.stamp(exit.at);
        for state in [Some(&known.state), known.last_state.as_ref()].into_iter().flatten() {
            match state {
                ContainerState::Terminated(ended) if exit.at == BEFORE || ended.finished_at == finished_at => {
                    return Some(state.clone());
                }
                ContainerState::Running(running) if exit.at > BEFORE => {
                    let is_killed = exit.is_oom.then_some("OOMKilled");
                    let reason = is_killed.unwrap_or(if exit.code == 0 { "Completed" } else { "Error" });
                    return Some(ContainerState::Terminated(ContainerTerminated {
                        exit_code: exit.code,
                        reason: reason.into(),
                        started_at: running.started_at,
                        finished_at,
                        ..ContainerTerminated::default()
                    }));
                }
                _ => {}
            }
        }
        None
    }

    /// What the status says of a container to which nothing has happened since before the world began.
    fn inherited(&self, container: &ContainerRecord) -> Option<&ContainerStatus> {
        let known = self.known(container).filter(|known| known.restart_count == container.restarts)?;
        let wait = self.memory.of(&container.name).and_then(|mind| mind.wait);
        let waits = wait.is_some_and(|wait| wait.of == BEFORE) && !self.pod.is_terminating();
        let is_so = match (container.phase, &known.state) {
            (
                ContainerPhase::Running { since: BEFORE } | ContainerPhase::Stopping { since: BEFORE, .. },
                ContainerState::Running(_),
            ) => true,
            (ContainerPhase::Exited(Exit { at: BEFORE, .. }), ContainerState::Terminated(_)) => true,
            (ContainerPhase::Exited(Exit { at: BEFORE, .. }), ContainerState::Waiting(_)) => waits,
            (ContainerPhase::Waiting, ContainerState::Waiting(_)) => match container.pull {
                Pull::Failed { at: BEFORE } => waits,
                Pull::UnderWay { since: BEFORE } => true,
                _ => false,
            },
            _ => false,
        };
        is_so.then_some(known)
    }

    fn known(&self, container: &ContainerRecord) -> Option<&ContainerStatus> {
        self.pod.statuses().find(|status| status.name == container.name)
    }

    fn container_status(&self, container: &ContainerRecord) -> ContainerStatus {
        // While it is ended for a probe's sake and started again the kubelet has no eye for its status.
        let now = self.context.now;
        let is_again = match container.phase {
            ContainerPhase::Starting { .. } => container.restarts > 0,
            ContainerPhase::Exited(exit) => {
                container.was_killed
                    && !self.pod.is_terminating()
                    && restarts(self.pod, container, exit)
                    && restart_at(container).is_none_or(|at| at <= now)
            }
            _ => false,
        };
        if let Some(known) = self.known(container).filter(|_| is_again) {
            return known.clone();
        }
        let (state, last) = match self.inherited(container) {
            Some(known) => (known.state.clone(), known.last_state.clone()),
            None => self.state(container),
        };
        // What the kubelet knows of a run beyond that it keeps for as long as it lasts.
        let same = self.known(container).filter(|known| known.restart_count == container.restarts);
        let mind = self.memory.of(&container.name);
        let is_up = container.is_up();
        let started = is_up && mind.is_some_and(|mind| mind.is_started());
        let is_ready = match container.role {
            Role::Init => container.exit().is_some_and(|exit| exit.code == 0),
            _ => {
                let says_so = !container.answers.is_heard || container.answers.is_ready(self.context.now);
                started && says_so && mind.is_some_and(|mind| mind.is_ready())
            }
        };
        ContainerStatus {
            container_id: same.map_or_else(String::new, |it| it.container_id.clone()),
            image: same.map_or_else(|| container.image.clone(), |it| it.image.clone()),
            image_id: same.map_or_else(Text::default, |it| it.image_id.clone()),
            name: container.name.clone(),
            ready: is_ready,
            restart_count: container.restarts,
            started,
            state,
            last_state: last,
            extra: same.map_or_else(Extra::default, |it| it.extra.clone()),
        }
    }

    /// The state of a container, and that of its run before.
    fn state(&self, container: &ContainerRecord) -> (ContainerState, Option<ContainerState>) {
        let last = || container.last_exit.map(|exit| self.ended(container, exit));
        let waiting = |(reason, message): (&'static str, String)| {
            ContainerState::Waiting(ContainerWaiting { reason: reason.into(), message: message.into() })
        };
        match container.phase {
            ContainerPhase::Running { since } | ContainerPhase::Stopping { since, .. } => {
                (ContainerState::Running(ContainerRunning { started_at: self.stamp(since) }), last())
            }
            ContainerPhase::Exited(exit) => {
                let is_to_restart = !self.pod.is_terminating() && restarts(self.pod, container, exit);
                match self.reason_to_wait(container, Some(exit)).filter(|_| is_to_restart) {
                    Some(reason) => (waiting(reason), Some(self.ended(container, exit))),
                    None => (self.ended(container, exit), last()),
                }
            }
            ContainerPhase::Waiting | ContainerPhase::Starting { .. } => {
                let reason = self.reason_to_wait(container, None);
                let usual =
                    if self.pod.spec.init_containers.is_empty() { "ContainerCreating" } else { "PodInitializing" };
                (waiting(reason.unwrap_or((usual, String::new()))), last())
            }
        }
    }

    /// Why a container does not run although it should: the reason and the message of its state.
    fn reason_to_wait(&self, container: &ContainerRecord, exit: Option<Exit>) -> Option<(&'static str, String)> {
        let (pod, image) = (self.pod, &container.image);
        let wait = self.memory.of(&container.name).and_then(|mind| mind.wait);
        let round = wait.map_or(0, |wait| wait.round);
        match (container.pull, exit) {
            (Pull::Failed { .. }, _) if round == 0 => Some(("ErrImagePull", pull_error(image))),
            (Pull::Failed { .. }, _) => {
                let message = format!("Back-off pulling image \"{image}\": ErrImagePull: {}", pull_error(image));
                Some(("ImagePullBackOff", message))
            }
            (_, Some(exit)) if round > 0 && wait.is_some_and(|wait| wait.of == exit.at) => {
                let delay = container.back_off.map_or(0, |it| it.delay.0 / 1000);
                let message = format!(
                    "back-off {} restarting failed container={} pod={}_{}({})",
                    span(delay),
                    container.name,
                    pod.metadata.name,
                    pod.metadata.namespace,
                    pod.metadata.uid
                );
                Some(("CrashLoopBackOff", message))
            }
            (Pull::NotAsked, None) if container.phase == ContainerPhase::Waiting => {
                let never = spec_of(pod, &container.name).is_some_and(|spec| spec.image_pull_policy == "Never");
                let is_missing = self.context.runtime.is_some_and(|runtime| !runtime.images.contains(image));
                let message = || format!("Container image \"{image}\" is not present with pull policy of Never");
                (never && is_missing).then(|| ("ErrImageNeverPull", message()))
            }
            _ => None,
        }
    }
}

/// An init container that has not done its work.
fn is_incomplete(container: &ContainerRecord) -> bool {
    match container.role {
        Role::Main => false,
        Role::Init => container.exit().is_none_or(|exit| exit.code != 0),
        Role::Sidecar => !container.is_up(),
    }
}

/// `getPhase`: Pending until something has run, Running until all is over for good.
pub fn phase(pod: &Pod, record: &PodRecord) -> &'static str {
    match pod.status.phase.as_str() {
        "Failed" => return "Failed",
        "Succeeded" => return "Succeeded",
        _ => {}
    }
    let mains = || record.containers.iter().filter(|it| it.role == Role::Main);
    let succeeded =
        mains().all(|it| it.exit().is_some_and(|exit| exit.code == 0 && (record.is_stopping || !it.was_killed)));
    if record.is_stopping && !record.is_up() {
        return if succeeded { "Succeeded" } else { "Failed" };
    }
    let mut inits = record.containers.iter().filter(|it| it.role == Role::Init);
    if inits.any(|it| it.exit().is_some_and(|exit| exit.code != 0 && !restarts(pod, it, exit))) {
        return "Failed";
    }
    let has_run = |it: &ContainerRecord| it.exit().is_some() || it.last_exit.is_some() || it.is_up();
    if !mains().all(has_run) {
        return "Pending";
    }
    let is_final = |it: &ContainerRecord| it.exit().is_some_and(|exit| !restarts(pod, it, exit));
    match mains().all(is_final) {
        true if succeeded => "Succeeded",
        true => "Failed",
        false => "Running",
    }
}

fn conditions(
    pod: &Pod,
    phase: &str,
    record: &PodRecord,
    containers: &[ContainerStatus],
    now: Timestamp,
) -> Vec<Condition> {
    let names = |names: Vec<&str>| names.join(" ");
    let unready: Vec<&str> = containers.iter().filter(|it| !it.ready).map(|it| it.name.as_str()).collect();
    let incomplete: Vec<&str> =
        record.containers.iter().filter(|it| is_incomplete(it)).map(|it| it.name.as_str()).collect();
    let is_over = matches!(phase, "Succeeded" | "Failed");
    let has_sandbox = !is_over
        && record.containers.iter().any(|it| !matches!(it.phase, ContainerPhase::Waiting) || it.pull != Pull::NotAsked);
    let initialized = match phase {
        "Succeeded" => Condition::new("Initialized", true).because("PodCompleted", ""),
        _ if incomplete.is_empty() || record.is_stopping => Condition::new("Initialized", true),
        _ => Condition::new("Initialized", false)
            .because("ContainersNotInitialized", format!("containers with incomplete status: [{}]", names(incomplete))),
    };
    let all_ready = unready.is_empty() && !containers.is_empty();
    let ready = match phase {
        "Succeeded" => Condition::new("Ready", false).because("PodCompleted", ""),
        "Failed" => Condition::new("Ready", false).because("PodFailed", ""),
        _ if all_ready => Condition::new("Ready", true),
        _ => Condition::new("Ready", false)
            .because("ContainersNotReady", format!("containers with unready status: [{}]", names(unready))),
    };
    let wanted = [
        Condition::new("PodReadyToStartContainers", has_sandbox),
        initialized,
        ready.clone(),
        Condition { kind: "ContainersReady".into(), ..ready },
        Condition::new("PodScheduled", true),
    ];
    let known = &pod.status.conditions;
    let mut all: Vec<Condition> = wanted
        .into_iter()
        .map(|mut new| {
            match condition(known, &new.kind) {
                Some(old) if old.status == new.status => {
                    // What others have written beside it stays.
                    let (reason, message) = (new.reason, new.message);
                    Condition { reason, message, ..old.clone() }
                }
                _ => {
                    new.last_transition_time = Some(now);
                    new
                }
            }
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
