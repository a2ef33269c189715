//! Pods that run before their kubelet has ever looked at them, as the clusters that people bring along have them: what is
//! on the node, and what the kubelet would remember, as far as the pod's status tells.
//!
//! The world's clock has no time before its beginning. What was earlier stands at 0, where nothing else ever happens, and
//! the kubelet goes on saying of it what the status says.

use super::decide::fresh;
use super::memory::{PodMemory, Wait, spec_of};
use crate::api::{ContainerState, ContainerStatus, ContainerTerminated, Pod, Uid};
use crate::client::{Answers, BackOff, ContainerPhase, ContainerRecord, Exit, PodRecord, Pull};
use crate::sim::{Millis, Time};

/// When all happened that was before the world began.
pub const BEFORE: Time = Time(0);
/// Failures in a row after which an image is asked for every 300 s.
const MANY: u32 = 6;
/// A program that is still starting up gets this long.
const STARTING: Time = Time(5_000);

/// What is on a node of a pod that it has let in, and what its kubelet keeps in mind. Nothing of a pod that has ended or
/// that the kubelet has yet to see.
pub fn adopt(pod: &Pod, wall_millis: i64) -> Option<(PodRecord, PodMemory)> {
    if pod.is_finished() || pod.status.start_time.is_none() {
        return None;
    }
    let mut record = fresh(pod, BEFORE);
    let mut memory = PodMemory::default();
    memory.is_admitted = true;
    for container in &mut record.containers {
        let Some(known) = pod.statuses().find(|it| it.name == container.name) else { continue };
        take_over(container, known, &mut memory, (pod.metadata.uid, wall_millis));
        let is_started = known.started || spec_of(pod, &container.name).is_some_and(|it| it.startup_probe.is_none());
        if let (Some(spec), ContainerPhase::Running { .. }) = (spec_of(pod, &container.name), container.phase) {
            container.answers = answers(known.ready, is_started);
            memory.remember_run(spec, pod.metadata.uid, is_started, known.ready);
        }
    }
    Some((record, memory))
}

fn exit_of(ended: &ContainerTerminated) -> Exit {
    Exit { code: ended.exit_code, since: BEFORE, at: BEFORE, is_oom: ended.reason == "OOMKilled" }
}

/// Puts a container where its status says that it is.
fn take_over(
    container: &mut ContainerRecord,
    known: &ContainerStatus,
    memory: &mut PodMemory,
    (uid, wall_millis): (Uid, i64),
) {
    container.restarts = known.restart_count.max(0);
    let last = match &known.last_state {
        Some(ContainerState::Terminated(ended)) => Some(ended),
        _ => None,
    };
    container.last_exit = last.map(exit_of);
    match &known.state {
        ContainerState::Running(_) => container.phase = ContainerPhase::Running { since: BEFORE },
        ContainerState::Terminated(ended) => container.phase = ContainerPhase::Exited(exit_of(ended)),
        ContainerState::Waiting(waiting) => match (waiting.reason.as_str(), last) {
            ("CrashLoopBackOff", Some(ended)) => {
                container.phase = ContainerPhase::Exited(exit_of(ended));
                container.last_exit = None;
                let delay = told_delay(&waiting.message).unwrap_or_else(|| usual_delay(container.restarts));
                let since = u64::try_from(wall_millis - ended.finished_at.millis()).unwrap_or(0);
                let wait = wait(delay.0.saturating_sub(since));
                // Of an exit before the beginning this is the end of the wait.
                container.back_off = Some(BackOff { delay, set_at: wait.until });
                memory.remember_wait(&container.name, wait);
            }
            ("ErrImagePull" | "ImagePullBackOff", _) => {
                container.pull = Pull::Failed { at: BEFORE };
                container.failed_pulls = MANY;
                // When it is asked for next is not told: somewhere within the five minutes, after the first.
                memory.remember_wait(&container.name, wait(60_000 + uid.0 as u64 % 240_000));
            }
            ("ContainerCreating" | "PodInitializing" | "ErrImageNeverPull" | "", _) => {}
            // It waits for something that is not simulated, and goes on doing so.
            _ => container.pull = Pull::UnderWay { since: BEFORE },
        },
    }
}

fn wait(left: u64) -> Wait {
    let until = Time(left.max(1));
    Wait { of: BEFORE, until, next: Time(until.0.div_ceil(1_000) * 1_000), round: 1 }
}

/// The delay in `back-off 5m0s restarting failed container`, as Go writes it.
fn told_delay(message: &str) -> Option<Millis> {
    let span = message.strip_prefix("back-off ")?.split(' ').next()?.strip_suffix('s')?;
    let (minutes, seconds) = span.split_once('m').unwrap_or(("0", span));
    let (minutes, seconds): (u64, u64) = (minutes.parse().ok()?, seconds.parse().ok()?);
    (minutes < 60 && seconds < 60).then(|| Millis::from_secs(minutes * 60 + seconds))
}

fn usual_delay(restarts: i32) -> Millis {
    Millis((10_000_u64 << restarts.saturating_sub(1).clamp(0, 5)).min(300_000))
}

/// What a program that runs answers from now on.
fn answers(is_ready: bool, is_started: bool) -> Answers {
    let serves_from = if is_started { BEFORE } else { STARTING };
    // Why it is not ready nobody knows, and so it stays.
    let lapse = (is_started && !is_ready).then_some((BEFORE, Answers::NEVER));
    Answers { serves_from, lapse, is_heard: lapse.is_some(), ..Answers::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_read_as_the_kubelet_wrote_it() {
        let told = |text: &str| told_delay(text).map(|it| it.0);
        assert_eq!(told("back-off 10s restarting failed container=app pod=a_b(c)"), Some(10_000));
        assert_eq!(told("back-off 2m40s restarting failed container=app"), Some(160_000));
        assert_eq!(told("back-off 5m0s restarting failed container=app"), Some(300_000));
        assert_eq!(told("back-off x restarting"), None);
        assert_eq!([1, 2, 6, 90].map(|it| usual_delay(it).0), [10_000, 20_000, 300_000, 300_000]);
    }
}
