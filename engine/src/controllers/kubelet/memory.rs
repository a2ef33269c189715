//! What a kubelet keeps in mind of a pod between two turns; a crash of the kubelet loses it.

use super::admission::Refusal;
use super::adopt::BEFORE;
use super::probes::{ProbeKind, Prober};
use crate::api::{Container, Name, Pod, Probe, Uid};
use crate::client::{BackOff, ContainerRecord, Exit, PodRecord, Pull, Role};
use crate::sim::{Digest, Millis, Time};

/// The first back-off of a container that keeps exiting or an image that cannot be had, and its cap
/// (`MaxContainerBackOff`, v1.36).
const BACKOFF: u64 = 10_000;
const BACKOFF_CAP: u64 = 300_000;
/// A run that lasted this long clears the memory of earlier ones.
const FORGOTTEN_AFTER: Millis = Millis(2 * BACKOFF_CAP);
/// After a failed turn the kubelet looks again in this time, and up to half as long again (`backOffPeriod`).
const LOOK_AGAIN: u64 = 10_000;
/// A failed pull is looked at again when the pod's sandbox is noticed, on the next round of the kubelet's loop.
const NEXT_ROUND: u64 = 1_000;

/// A wait for a back-off to run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The exit or the failure that is waited out.
    pub of: Time,
    pub until: Time,
    /// When the kubelet looks again.
    pub next: Time,
    /// How often it has looked since.
    pub round: u32,
}

impl Wait {
    pub fn is_over(&self, now: Time) -> bool {
        self.round > 0 && now >= self.until && now >= self.next
    }
}

/// What is kept in mind of a container.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// The run that the probes are about.
    run: Option<Time>,
    started: Option<Time>,
    probers: [Option<Prober>; 3],
    pub wait: Option<Wait>,
}

/// Something noticed in a turn that an Event tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Noticed {
    Started,
    ProbeFailed(ProbeKind, Time),
    BackOffRestart,
    PullFailed,
    BackOffPull,
}

/// What is kept in mind of a pod.
#[derive(Clone, Debug, Default)]
pub struct PodMemory {
    /// It was found to fit.
    pub is_admitted: bool,
    /// It does not fit: when that is to be told, and why.
    pub refused: Option<(Time, Refusal)>,
    /// The version of the newest status written: hearing of it is no news.
    pub version: u64,
    /// When it was last looked at: what came due since then calls for another look.
    looked: Time,
    /// By name; there are few.
    containers: Vec<(Name, Memory)>,
}

/// The spec of a container, among the init containers or the others.
pub fn spec_of<'a>(pod: &'a Pod, name: &Name) -> Option<&'a Container> {
    pod.spec.containers.iter().chain(&pod.spec.init_containers).find(|it| it.name == *name)
}

/// Whether a container that exited is to run again (`computePodActions`, v1.36).
pub fn restarts(pod: &Pod, container: &ContainerRecord, exit: Exit) -> bool {
    let failed = exit.code != 0 || container.was_killed;
    match (container.role, pod.spec.restart_policy.as_str()) {
        (Role::Sidecar, _) => true,
        (_, "Never") => false,
        (Role::Init, _) | (_, "OnFailure") => failed,
        _ => true,
    }
}

/// The exit from which the back-off of a restart counts: where the kubelet itself ended the run, the one before.
fn counted_exit(container: &ContainerRecord) -> Option<Time> {
    let exit = if container.was_killed { container.last_exit } else { container.exit() };
    exit.map(|exit| exit.at)
}

fn is_forgotten(back_off: BackOff, exit: Time) -> bool {
    exit.since(back_off.set_at) > FORGOTTEN_AFTER
}

/// Until when a container that exited is left alone (`doBackOff`, v1.36). One that the kubelet itself ended is judged by
/// the run before as long as it is ended and started in one go; if it has to wait, its own end counts.
pub fn restart_at(container: &ContainerRecord) -> Option<Time> {
    let (counted, back_off) = (counted_exit(container)?, container.back_off?);
    if counted == BEFORE {
        return Some(back_off.set_at);
    }
    if is_forgotten(back_off, counted) {
        return None;
    }
    let (until, ended) = (counted + back_off.delay, container.exit()?.at);
    Some(if until > ended { ended + back_off.delay } else { until })
}

/// The back-off that a restart leaves behind for the next: 10 s, then twice the last, up to 300 s.
pub fn back_off_after(container: &ContainerRecord, now: Time) -> Option<BackOff> {
    let Some(exit) = counted_exit(container) else { return container.back_off };
    let delay = match container.back_off {
        Some(known) if !is_forgotten(known, exit) => (known.delay.0 * 2).min(BACKOFF_CAP),
        _ => BACKOFF,
    };
    Some(BackOff { delay: Millis(delay), set_at: now })
}

/// How long an image is not asked for again after so many failures in a row.
pub fn pull_delay(failures: u32) -> Millis {
    Millis((BACKOFF << failures.saturating_sub(1).min(10)).min(BACKOFF_CAP))
}

impl PodMemory {
    pub fn of(&self, name: &Name) -> Option<&Memory> {
        self.containers.iter().find(|(known, _)| known == name).map(|(_, memory)| memory)
    }

    fn of_mut(&mut self, name: &Name) -> Option<&mut Memory> {
        let known = self.containers.iter().position(|(known, _)| known == name);
        let at = known.unwrap_or_else(|| {
            self.containers.reserve_exact(1);
            self.containers.push((name.clone(), Memory::default()));
            self.containers.len() - 1
        });
        self.containers.get_mut(at).map(|(_, memory)| memory)
    }

    /// Takes a look at the pod's containers: asks probes that are due, counts waits on. Returns what an Event tells.
    pub fn look(&mut self, pod: &Pod, uid: Uid, record: &PodRecord, now: Time) -> Vec<(Name, Noticed)> {
        let mut noticed = Vec::new();
        self.looked = now;
        for container in &record.containers {
            let (Some(memory), Some(spec)) = (self.of_mut(&container.name), spec_of(pod, &container.name)) else {
                continue;
            };
            let mut found = memory.look_at_run(spec, container, record, now);
            if !record.is_stopping {
                found.extend(memory.look_at_wait(pod, uid, container, now));
            }
            noticed.extend(found.into_iter().map(|it| (container.name.clone(), it)));
        }
        noticed
    }

    /// A container runs, and its probes have long said what they say.
    pub(super) fn remember_run(&mut self, spec: &Container, uid: Uid, is_started: bool, is_ready: bool) {
        let Some(memory) = self.of_mut(&spec.name) else { return };
        memory.run = Some(BEFORE);
        memory.started = is_started.then_some(BEFORE);
        if !is_started {
            return;
        }
        let settled = |kind, probe: &Option<Probe>, answer| Some(Prober::settled(kind, probe.as_ref()?, uid, answer));
        memory.probers[ProbeKind::Liveness as usize] = settled(ProbeKind::Liveness, &spec.liveness_probe, true);
        memory.probers[ProbeKind::Readiness as usize] = settled(ProbeKind::Readiness, &spec.readiness_probe, is_ready);
    }

    /// A container waits.
    pub(super) fn remember_wait(&mut self, name: &Name, wait: Wait) {
        if let Some(memory) = self.of_mut(name) {
            memory.wait = Some(wait);
        }
    }

    /// When the kubelet must look again by itself.
    pub fn wakes_at(&self, record: &PodRecord) -> Option<Time> {
        let times = record.containers.iter().flat_map(|container| {
            let memory = self.of(&container.name);
            let probers = memory.map(|memory| memory.probers).unwrap_or_default();
            let is_up = container.is_up();
            let probes = probers.into_iter().flatten().filter(move |_| is_up);
            let probes = probes.filter_map(|prober| prober.wakes_at(&container.answers));
            let wait = memory.and_then(|memory| memory.wait).map(|wait| wait.next);
            let answers = Some(&container.answers).filter(|answers| answers.is_heard && is_up);
            let heard = answers.and_then(|answers| answers.next_change(self.looked));
            probes.chain(wait.filter(|_| !record.is_stopping)).chain(heard)
        });
        times.filter(|at| *at > self.looked).min()
    }
}

impl Memory {
    pub fn is_started(&self) -> bool {
        self.started.is_some()
    }

    fn verdict(&self, kind: ProbeKind) -> Option<bool> {
        self.probers.get(kind as usize).copied().flatten().and_then(|prober| prober.verdict())
    }

    /// Whether a container that runs is to count as ready.
    pub fn is_ready(&self) -> bool {
        let has_probe = self.probers.get(ProbeKind::Readiness as usize).is_some_and(Option::is_some);
        self.is_started() && (!has_probe || self.verdict(ProbeKind::Readiness) == Some(true))
    }

    /// The probe for whose sake the container must be ended.
    pub fn failed_probe(&self) -> Option<ProbeKind> {
        [ProbeKind::Startup, ProbeKind::Liveness].into_iter().find(|kind| self.verdict(*kind) == Some(false))
    }

    fn look_at_run(
        &mut self,
        spec: &Container,
        container: &ContainerRecord,
        record: &PodRecord,
        now: Time,
    ) -> Vec<Noticed> {
        let Some(since) = container.since() else {
            (self.run, self.started, self.probers) = (None, None, Default::default());
            return Vec::new();
        };
        let mut noticed = Vec::new();
        if self.run != Some(since) {
            (self.run, self.started, self.probers) = (Some(since), None, Default::default());
            noticed.push(Noticed::Started);
        }
        let seen = record.created;
        let is_ending = record.is_stopping;
        let mut ask = |kind: ProbeKind, from: Time, probe: &Probe, slot: &mut Option<Prober>| {
            let prober = slot.get_or_insert_with(|| Prober::new(kind, probe, seen, since, from));
            let failed = prober.ask(&container.answers, now);
            noticed.extend(failed.into_iter().map(|at| Noticed::ProbeFailed(kind, at)));
        };
        let [startup, liveness, readiness] = &mut self.probers;
        match &spec.startup_probe {
            Some(probe) if self.started.is_none() && !is_ending => {
                ask(ProbeKind::Startup, since, probe, startup);
                let has_started = startup.is_some_and(|prober| prober.verdict() == Some(true));
                self.started = has_started.then_some(now);
            }
            Some(_) => {}
            None => self.started = Some(since),
        }
        let Some(started) = self.started else { return noticed };
        // What is ending anyway is only asked whether it is still ready.
        if let Some(probe) = spec.liveness_probe.as_ref().filter(|_| !is_ending) {
            ask(ProbeKind::Liveness, started, probe, liveness);
        }
        if let Some(probe) = &spec.readiness_probe {
            ask(ProbeKind::Readiness, started, probe, readiness);
        }
        noticed
    }

    fn look_at_wait(&mut self, pod: &Pod, uid: Uid, container: &ContainerRecord, now: Time) -> Option<Noticed> {
        let exit = container.exit().filter(|exit| restarts(pod, container, *exit));
        let (of, until, pause, tells) = match (container.pull, exit) {
            (Pull::Failed { at }, _) => {
                (at, at + pull_delay(container.failed_pulls), Some(NEXT_ROUND), Noticed::BackOffPull)
            }
            (Pull::NotAsked, Some(exit)) => (exit.at, restart_at(container)?, None, Noticed::BackOffRestart),
            _ => {
                // A restart is shown as the wait that it ends until the container runs.
                self.wait = self.wait.filter(|_| container.since().is_none());
                return None;
            }
        };
        match &mut self.wait {
            Some(wait) if wait.of == of => {
                if now < wait.next || wait.is_over(now) {
                    return None;
                }
                wait.round += 1;
                wait.next = if now < until { whole_second(until) } else { now };
                (now < until && wait.round == 1).then_some(tells)
            }
            _ if now >= until && pause.is_none() => {
                self.wait = None;
                None
            }
            wait => {
                let pause = pause.unwrap_or_else(|| jittered(until.since(now).0.min(LOOK_AGAIN), uid, of));
                *wait = Some(Wait { of, until, next: whole_second(now + Millis(pause)), round: 0 });
                Some(if tells == Noticed::BackOffPull { Noticed::PullFailed } else { tells })
            }
        }
    }
}

/// The kubelet's loop looks for work once a second.
fn whole_second(at: Time) -> Time {
    Time(at.0.div_ceil(1000) * 1000)
}

/// A pause and up to half as much again; by a hash, where the kubelet draws at random.
fn jittered(pause: u64, uid: Uid, of: Time) -> u64 {
    let mut digest = Digest::default();
    digest.bytes(&uid.0.to_le_bytes());
    digest.bytes(&of.0.to_le_bytes());
    pause + (digest.value() >> 16) % (pause / 2 + 1)
}
