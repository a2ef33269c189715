//! What a kubelet does next about one pod, as a function of plain values.
//!
//! Mirrors `computePodActions` in `pkg/kubelet/kuberuntime/kuberuntime_manager.go`, v1.36.

use super::memory::{PodMemory, back_off_after, restarts, spec_of};
use super::probes::ProbeKind;
use crate::api::{Container, Kind, Name, ObjectKey, Pod};
use crate::client::{BackOff, ContainerPhase, ContainerRecord, Hook, PodRecord, Pull, Role};
use crate::sim::{Millis, Set, Time};

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Make room for the pod: names, images and roles of its containers.
    Create {
        containers: Vec<(Name, Name, Role)>,
        is_task: bool,
    },
    Pull(Name, Name),
    Start {
        container: Name,
        image: Name,
        restart: bool,
        pulled_in: Option<u64>,
        back_off: Option<BackOff>,
    },
    /// A probe says that a container must be ended; whether it starts anew.
    Kill {
        container: Name,
        probe: ProbeKind,
        grace: Millis,
        hook: Option<Hook>,
        anew: bool,
    },
    Stop {
        grace: Millis,
        hooks: Vec<(Name, Hook)>,
    },
    /// Everything has stopped: the pod object can go.
    Delete,
    /// The pod is gone from the API: what is left of it goes too.
    Remove,
}

fn seconds(seconds: i64) -> Millis {
    Millis(u64::try_from(seconds.max(0)).unwrap_or(0).saturating_mul(1000))
}

fn grace(pod: &Pod) -> Millis {
    seconds(pod.metadata.deletion_grace_period_seconds.unwrap_or_else(|| pod.spec.grace_seconds()))
}

/// What runs before a container is told to stop.
fn hook(spec: &Container) -> Option<Hook> {
    let hook = spec.extra.get("lifecycle")?.get("preStop")?;
    let sleep = hook.get("sleep").and_then(|sleep| sleep.get("seconds")).and_then(|it| it.as_i64());
    match sleep {
        Some(span) => Some(Hook::Sleep(seconds(span))),
        None => (hook.get("exec").is_some() || hook.get("httpGet").is_some()).then_some(Hook::Program),
    }
}

fn stop(pod: &Pod, grace: Millis) -> Work {
    let specs = pod.spec.containers.iter().chain(&pod.spec.init_containers);
    Work::Stop { grace, hooks: specs.filter_map(|spec| Some((spec.name.clone(), hook(spec)?))).collect() }
}

/// Decides what to do now from what is asked for and what is there.
pub fn decide(
    pod: Option<&Pod>,
    record: Option<&PodRecord>,
    memory: &PodMemory,
    images: &Set<Name>,
    now: Time,
) -> Vec<Work> {
    let Some(pod) = pod else {
        return match record {
            Some(record) if record.is_up() && record.is_stopping => Vec::new(),
            Some(record) if record.is_up() => vec![Work::Stop { grace: Millis(0), hooks: Vec::new() }],
            Some(_) => vec![Work::Remove],
            None => Vec::new(),
        };
    };
    if pod.is_terminating() {
        return match record {
            Some(record) if !record.is_stopping => vec![stop(pod, grace(pod))],
            Some(record) if record.is_up() => Vec::new(),
            _ => vec![Work::Delete],
        };
    }
    let Some(record) = record else {
        if pod.is_finished() {
            return Vec::new();
        }
        let works = container_work(pod, &fresh(pod, now), memory, images, now);
        return [Work::Create { containers: roles(pod), is_task: is_task(pod) }].into_iter().chain(works).collect();
    };
    if record.is_stopping {
        return Vec::new();
    }
    if pod.is_finished() || matches!(super::status::phase(pod, record), "Succeeded" | "Failed") {
        // Sidecars have no one to serve any more.
        let grace = seconds(pod.spec.grace_seconds());
        return if record.is_up() { vec![stop(pod, grace)] } else { Vec::new() };
    }
    container_work(pod, record, memory, images, now)
}

fn is_task(pod: &Pod) -> bool {
    matches!(pod.spec.restart_policy.as_str(), "Never" | "OnFailure")
}

/// A pod of which nothing is there yet.
pub fn fresh(pod: &Pod, now: Time) -> PodRecord {
    let containers = roles(pod).into_iter().map(|(name, image, role)| ContainerRecord::new(name, image, role));
    let key = ObjectKey::new(Kind::Pod, pod.metadata.namespace.clone(), pod.metadata.name.clone());
    PodRecord { key, containers: containers.collect(), created: now, is_task: is_task(pod), is_stopping: false }
}

/// A pod's containers in the order in which they start.
fn roles(pod: &Pod) -> Vec<(Name, Name, Role)> {
    let init = pod.spec.init_containers.iter().map(|it| (it, if it.is_sidecar() { Role::Sidecar } else { Role::Init }));
    let all = init.chain(pod.spec.containers.iter().map(|it| (it, Role::Main)));
    all.map(|(it, role)| (it.name.clone(), it.image.as_str().into(), role)).collect()
}

/// Init containers one by one, and when they are through, all others.
fn container_work(pod: &Pod, record: &PodRecord, memory: &PodMemory, images: &Set<Name>, now: Time) -> Vec<Work> {
    let mut works = Vec::new();
    for container in &record.containers {
        works.extend(work_of(pod, container, memory, images, now));
        let may_go_on = match container.role {
            Role::Main => true,
            Role::Init => container.exit().is_some_and(|exit| exit.code == 0 && !container.was_killed),
            Role::Sidecar => memory.of(&container.name).is_some_and(|it| it.is_started()),
        };
        if !may_go_on {
            break;
        }
    }
    works
}

fn work_of(pod: &Pod, container: &ContainerRecord, memory: &PodMemory, images: &Set<Name>, now: Time) -> Option<Work> {
    let (spec, mind) = (spec_of(pod, &container.name)?, memory.of(&container.name));
    let wait = mind.and_then(|mind| mind.wait);
    let restart = match container.phase {
        ContainerPhase::Running { .. } => return kill(pod, spec, mind?.failed_probe()?),
        ContainerPhase::Waiting => false,
        ContainerPhase::Exited(exit) if restarts(pod, container, exit) => true,
        _ => return None,
    };
    let is_due = wait.is_none_or(|wait| wait.is_over(now));
    let is_here = images.contains(&container.image);
    let (name, image) = (container.name.clone(), container.image.clone());
    let pulled_in = match container.pull {
        Pull::UnderWay { .. } => return None,
        _ if !is_due => return None,
        Pull::Done { took } => Some(took),
        Pull::Failed { .. } => return Some(Work::Pull(name, image)),
        Pull::NotAsked => match spec.image_pull_policy.as_str() {
            "Never" if is_here => None,
            "Never" => return None,
            "Always" => return Some(Work::Pull(name, image)),
            _ if is_here => None,
            _ => return Some(Work::Pull(name, image)),
        },
    };
    let back_off = back_off_after(container, now);
    Some(Work::Start { container: name, image, restart, pulled_in, back_off })
}

fn kill(pod: &Pod, spec: &Container, probe: ProbeKind) -> Option<Work> {
    let own = match probe {
        ProbeKind::Startup => spec.startup_probe.as_ref(),
        _ => spec.liveness_probe.as_ref(),
    };
    let own = own.and_then(|probe| probe.extra.get("terminationGracePeriodSeconds")).and_then(|it| it.as_i64());
    Some(Work::Kill {
        container: spec.name.clone(),
        probe,
        grace: seconds(own.unwrap_or_else(|| pod.spec.grace_seconds())),
        hook: hook(spec),
        anew: pod.spec.restart_policy != "Never" || spec.is_sidecar(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::memory::{pull_delay, restart_at};
    use super::*;
    use crate::client::Exit;

    fn exited(code: i32, since: u64, at: u64) -> ContainerPhase {
        ContainerPhase::Exited(Exit { code, since: Time(since), at: Time(at), is_oom: false })
    }

    fn container() -> ContainerRecord {
        ContainerRecord::new("app".into(), "app:v1".into(), Role::Main)
    }

    /// Ends a container's run and starts it again as soon as it may. Returns how long it had to wait.
    fn rerun(container: &mut ContainerRecord, since: u64, at: u64) -> u64 {
        container.last_exit = container.exit();
        container.phase = exited(1, since, at);
        let again = restart_at(container).map_or(Time(at), |until| until.max(Time(at)));
        container.back_off = back_off_after(container, again);
        again.since(Time(at)).0 / 1000
    }

    #[test]
    fn restarts_come_at_once_then_after_ten_seconds_doubling() {
        let (mut it, mut start, mut waits) = (container(), 0, Vec::new());
        for _ in 0..8 {
            let wait = rerun(&mut it, start, start + 2_000);
            start += 2_000 + wait * 1000;
            waits.push(wait);
        }
        assert_eq!(waits, [0, 10, 20, 40, 80, 160, 300, 300]);
        assert_eq!(rerun(&mut it, start, start + 600_001), 0, "ten minutes of health clear the memory");
        let start = start + 600_001;
        assert_eq!(rerun(&mut it, start, start + 2_000), 10);
    }

    /// Recording `v4_real_kubelet_liveness`: killed every 24 s, it restarts at once until the back-off is 40 s.
    #[test]
    fn what_the_kubelet_ended_itself_waits_only_as_its_run_before() {
        let (mut it, mut waits) = (container(), Vec::new());
        let mut start = 0;
        for _ in 0..5 {
            it.was_killed = true;
            let wait = rerun(&mut it, start, start + 24_000);
            start += 24_000 + wait * 1000;
            waits.push(wait);
        }
        assert_eq!(waits, [0, 0, 0, 0, 40], "and is not running again 30 s later");
    }

    #[test]
    fn pulls_back_off_from_ten_to_three_hundred_seconds() {
        let delays: Vec<u64> = (1..=7).map(|failures| pull_delay(failures).0 / 1000).collect();
        assert_eq!(delays, [10, 20, 40, 80, 160, 300, 300]);
    }

    #[test]
    fn a_pod_that_is_gone_is_stopped_and_then_removed() {
        let mut container = container();
        container.phase = ContainerPhase::Running { since: Time(0) };
        let key = ObjectKey::new(Kind::Pod, "default", "a");
        let mut record =
            PodRecord { key, containers: vec![container], created: Time(0), is_task: false, is_stopping: false };
        let decide = |record: Option<&PodRecord>| decide(None, record, &PodMemory::default(), &Set::default(), Time(1));
        assert_eq!(decide(Some(&record)), [Work::Stop { grace: Millis(0), hooks: Vec::new() }]);
        record.containers[0].phase = exited(137, 0, 1);
        assert_eq!(decide(Some(&record)), [Work::Remove]);
        assert_eq!(decide(None), []);
    }
}
