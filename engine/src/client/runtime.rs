//! The containers that really are on a node, as its kubelet finds them.

use crate::api::{Labels, Name, ObjectKey, Quantity, Uid};
use crate::sim::{Map, Millis, OnWrite, Set, Time};

/// What a container is to its pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// Runs to its end before the next one starts.
    Init,
    /// An init container with `restartPolicy: Always`: it stays.
    Sidecar,
    #[default]
    Main,
}

/// How a run of a container ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Exit {
    pub code: i32,
    pub since: Time,
    pub at: Time,
    /// The kernel killed it for the memory it took.
    pub is_oom: bool,
}

/// Where a container stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContainerPhase {
    /// Nothing was started yet.
    Waiting,
    /// Created; its process comes up at the instant given.
    Starting {
        until: Time,
    },
    Running {
        since: Time,
    },
    /// Told to stop; gone at the instant given.
    Stopping {
        since: Time,
        until: Time,
    },
    Exited(Exit),
}

/// Where the image for a container's next run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pull {
    #[default]
    NotAsked,
    UnderWay {
        since: Time,
    },
    /// It is here; how long it took in ms.
    Done {
        took: u64,
    },
    /// The registry does not have it.
    Failed {
        at: Time,
    },
}

/// A wait that doubles from try to try (`client-go/util/flowcontrol/backoff.go`, v1.36).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BackOff {
    pub delay: Millis,
    pub set_at: Time,
}

/// What the program inside answers to probes, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Answers {
    /// From here on it answers at all.
    pub serves_from: Time,
    /// It says that it is not ready in this span.
    pub lapse: Option<(Time, Time)>,
    /// From here on it answers nothing any more.
    pub hangs_from: Option<Time>,
    /// What a person made it say to readiness probes, from when on.
    pub forced: Vec<(Time, bool)>,
    /// The kubelet knows what it would say without asking.
    pub is_heard: bool,
}

impl Answers {
    pub const NEVER: Time = Time(u64::MAX);

    /// Whether it answers at all: what liveness and startup probes ask.
    pub fn lives(&self, at: Time) -> bool {
        at >= self.serves_from && self.hangs_from.is_none_or(|from| at < from)
    }

    /// What it says to a readiness probe.
    pub fn is_ready(&self, at: Time) -> bool {
        match self.forced.iter().rev().find(|(from, _)| *from <= at) {
            Some((_, ready)) => *ready,
            None => self.lives(at) && self.lapse.is_none_or(|(from, until)| at < from || at >= until),
        }
    }

    /// The first instant after the one given at which an answer may change.
    pub fn next_change(&self, after: Time) -> Option<Time> {
        let lapse = self.lapse.into_iter().flat_map(|(from, until)| [from, until]);
        let forced = self.forced.iter().map(|(from, _)| *from);
        let all = [self.serves_from].into_iter().chain(lapse).chain(self.hangs_from).chain(forced);
        all.filter(|at| *at > after && *at < Self::NEVER).min()
    }
}

/// One container on a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContainerRecord {
    pub name: Name,
    pub image: Name,
    pub role: Role,
    pub phase: ContainerPhase,
    pub pull: Pull,
    /// Pulls in a row that failed.
    pub failed_pulls: u32,
    /// Times it was started again.
    pub restarts: i32,
    /// The kubelet's memory of restarts, which decides how long the next one waits.
    pub back_off: Option<BackOff>,
    /// The kubelet ended the last run in order to start anew.
    pub was_killed: bool,
    pub answers: Answers,
    /// It was told to stop, and takes no new requests from here on.
    pub deaf_from: Option<Time>,
    /// Counts what the machine planned for it: an end that was planned earlier no longer comes.
    pub plan: u32,
    /// How the run before the present one ended.
    pub last_exit: Option<Exit>,
}

impl ContainerRecord {
    pub fn new(name: Name, image: Name, role: Role) -> Self {
        Self {
            name,
            image,
            role,
            phase: ContainerPhase::Waiting,
            pull: Pull::NotAsked,
            failed_pulls: 0,
            restarts: 0,
            back_off: None,
            was_killed: false,
            answers: Answers::default(),
            deaf_from: None,
            plan: 0,
            last_exit: None,
        }
    }

    pub fn is_up(&self) -> bool {
        matches!(self.phase, ContainerPhase::Running { .. } | ContainerPhase::Stopping { .. })
    }

    pub fn exit(&self) -> Option<Exit> {
        match self.phase {
            ContainerPhase::Exited(exit) => Some(exit),
            _ => None,
        }
    }

    /// Since when its process runs.
    pub fn since(&self) -> Option<Time> {
        match self.phase {
            ContainerPhase::Running { since } | ContainerPhase::Stopping { since, .. } => Some(since),
            _ => None,
        }
    }
}

/// One pod's containers on a node, init containers first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PodRecord {
    pub key: ObjectKey,
    pub containers: Vec<ContainerRecord>,
    pub created: Time,
    /// Its containers are to end by themselves: it restarts them at most on failure.
    pub is_task: bool,
    /// It was told to stop: nothing of it starts again.
    pub is_stopping: bool,
}

impl PodRecord {
    pub fn is_up(&self) -> bool {
        self.containers.iter().any(ContainerRecord::is_up)
    }
}

/// What a machine has to offer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hardware {
    pub cpu: Quantity,
    pub memory: Quantity,
    pub pods: u32,
    pub labels: Labels,
}

/// All that is on one node.
#[derive(Clone, Debug, Default)]
pub struct NodeRuntime {
    pub hardware: Hardware,
    /// From here on the node's network is set up and pods can run.
    pub ready_from: Time,
    pub pods: Map<Uid, OnWrite<PodRecord>>,
    pub images: Set<Name>,
}

/// How long a preStop hook takes: what it says itself, or as long as the program wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hook {
    Sleep(Millis),
    Program,
}

/// What a kubelet asks of its container runtime.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RuntimeCall {
    /// Makes room for a pod: its containers' names, images and roles, and whether they are to end by themselves.
    Create {
        containers: Vec<(Name, Name, Role)>,
        is_task: bool,
    },
    Pull {
        container: Name,
    },
    Start {
        container: Name,
        back_off: Option<BackOff>,
    },
    /// Ends one container, so that it can be started anew.
    Kill {
        container: Name,
        grace: Millis,
        hook: Option<Hook>,
    },
    /// Terminates all containers, and kills what is left after the grace period.
    Stop {
        grace: Millis,
        hooks: Vec<(Name, Hook)>,
    },
    Remove,
}
