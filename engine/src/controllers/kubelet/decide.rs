//! What a kubelet does next about one pod, as a function of plain values.

use crate::api::{Name, Pod};
use crate::client::{ContainerPhase, ContainerRecord, NodeRuntime, PodRecord};
use crate::sim::{Millis, Time};

/// The first back-off of a container that keeps exiting, and its cap (`MaxContainerBackOff`, v1.36).
const BACKOFF: Millis = Millis(10_000);
const BACKOFF_CAP: Millis = Millis(300_000);

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Make room for the pod: names and images of its containers.
    Create(Vec<(Name, Name)>),
    Pull(Name, Name),
    Start {
        container: Name,
        image: Name,
        restart: bool,
        pulled_in: Option<u64>,
    },
    /// A container that keeps exiting, or an image that cannot be had, is left alone for a while.
    BackOff {
        container: Name,
        wait: Millis,
        is_new: bool,
    },
    Stop {
        grace_ms: u64,
    },
    /// Everything has stopped: the pod object can go.
    Delete,
    /// The pod is gone from the API: what is left of it goes too.
    Remove,
    Nothing,
}

/// How long a container waits before it starts for another time after so many exits in a row: 0, 10, 20, 40 … 300 s.
pub fn restart_delay(crashes: u32) -> Millis {
    match crashes {
        0 | 1 => Millis(0),
        n => Millis((BACKOFF.0 << (n - 2).min(10)).min(BACKOFF_CAP.0)),
    }
}

fn grace_ms(pod: &Pod) -> u64 {
    let seconds = pod.metadata.deletion_grace_period_seconds.unwrap_or_else(|| pod.spec.grace_seconds());
    u64::try_from(seconds.max(0)).unwrap_or(0) * 1000
}

/// Decides the next thing to do from what is asked for and what is there.
pub fn decide(pod: Option<&Pod>, record: Option<&PodRecord>, runtime: Option<&NodeRuntime>, now: Time) -> Work {
    let Some(pod) = pod else {
        return match record {
            Some(record) if record.containers.iter().any(ContainerRecord::is_up) && !record.is_stopping => {
                Work::Stop { grace_ms: 0 }
            }
            Some(record) if record.containers.iter().any(ContainerRecord::is_up) => Work::Nothing,
            Some(_) => Work::Remove,
            None => Work::Nothing,
        };
    };
    if pod.is_terminating() {
        return match record {
            None => Work::Delete,
            Some(record) if !record.is_stopping => Work::Stop { grace_ms: grace_ms(pod) },
            Some(record) if record.containers.iter().any(ContainerRecord::is_up) => Work::Nothing,
            Some(_) => Work::Delete,
        };
    }
    if pod.is_finished() {
        return Work::Nothing;
    }
    let Some(record) = record else {
        let containers = pod.spec.containers.iter();
        return Work::Create(containers.map(|it| (it.name.clone(), it.image.as_str().into())).collect());
    };
    if record.is_stopping {
        return Work::Nothing;
    }
    record
        .containers
        .iter()
        .map(|container| work_of(pod, container, runtime, now))
        .find(|work| *work != Work::Nothing)
        .unwrap_or(Work::Nothing)
}

fn work_of(pod: &Pod, container: &ContainerRecord, runtime: Option<&NodeRuntime>, now: Time) -> Work {
    let is_here = runtime.is_some_and(|runtime| runtime.images.contains(&container.image));
    let start = |restart| Work::Start {
        container: container.name.clone(),
        image: container.image.clone(),
        restart,
        pulled_in: container.pulled_in.filter(|_| !restart),
    };
    match container.phase {
        ContainerPhase::Waiting if !is_here => Work::Pull(container.name.clone(), container.image.clone()),
        ContainerPhase::Waiting => start(false),
        ContainerPhase::ImageFailed { at } => {
            let wait = (at + restart_delay(container.crashes + 1)).since(now);
            if wait == Millis(0) {
                return Work::Pull(container.name.clone(), container.image.clone());
            }
            Work::BackOff { container: container.name.clone(), wait, is_new: false }
        }
        ContainerPhase::Exited { code, at, .. } => {
            let again = match pod.spec.restart_policy.as_str() {
                "Never" => false,
                "OnFailure" => code != 0,
                _ => true,
            };
            if !again {
                return Work::Nothing;
            }
            let wait = (at + restart_delay(container.crashes)).since(now);
            if wait == Millis(0) {
                return start(true);
            }
            Work::BackOff { container: container.name.clone(), wait, is_new: at == now }
        }
        _ => Work::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restarts_come_at_once_then_after_ten_seconds_doubling() {
        let delays: Vec<u64> = (1..=8).map(|crashes| restart_delay(crashes).0 / 1000).collect();
        assert_eq!(delays, [0, 10, 20, 40, 80, 160, 300, 300]);
    }

    #[test]
    fn a_pod_that_is_gone_is_stopped_and_then_removed() {
        let mut container = ContainerRecord::new("app".into(), "app:v1".into());
        container.phase = ContainerPhase::Running { since: Time(0) };
        let key = crate::api::ObjectKey::new(crate::api::Kind::Pod, "default", "a");
        let mut record = PodRecord { key, containers: vec![container], is_stopping: false };
        assert_eq!(decide(None, Some(&record), None, Time(1)), Work::Stop { grace_ms: 0 });
        record.containers[0].phase = ContainerPhase::Exited { code: 137, since: Time(0), at: Time(1) };
        assert_eq!(decide(None, Some(&record), None, Time(1)), Work::Remove);
        assert_eq!(decide(None, None, None, Time(1)), Work::Nothing);
    }
}
