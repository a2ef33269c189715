//! The containers that really are on a node, as its kubelet finds them.

use crate::api::{Name, ObjectKey, Uid};
use crate::sim::{Map, Set, Time};

/// Where a container stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ContainerPhase {
    /// Nothing was done yet.
    Waiting,
    /// Its image is on the way.
    Pulling {
        since: Time,
    },
    /// Its image could not be had.
    ImageFailed {
        at: Time,
    },
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
    Exited {
        code: i32,
        since: Time,
        at: Time,
    },
}

/// One container on a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContainerRecord {
    pub name: Name,
    pub image: Name,
    pub phase: ContainerPhase,
    /// Times it was started again.
    pub restarts: i32,
    /// Exits in a row without a long run between them: they decide the back-off.
    pub crashes: u32,
    /// When the program inside begins to answer probes, once it runs.
    pub serves_from: Time,
    /// How its last run ended: exit code, start, end.
    pub last_exit: Option<(i32, Time, Time)>,
    /// How long its image took to arrive in ms; nothing where it was there.
    pub pulled_in: Option<u64>,
}

impl ContainerRecord {
    pub fn new(name: Name, image: Name) -> Self {
        Self {
            name,
            image,
            phase: ContainerPhase::Waiting,
            restarts: 0,
            crashes: 0,
            serves_from: Time::default(),
            last_exit: None,
            pulled_in: None,
        }
    }

    pub fn is_up(&self) -> bool {
        matches!(self.phase, ContainerPhase::Running { .. } | ContainerPhase::Stopping { .. })
    }

    pub fn is_over(&self) -> bool {
        matches!(self.phase, ContainerPhase::Exited { .. })
    }
}

/// One pod's containers on a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PodRecord {
    pub key: ObjectKey,
    pub containers: Vec<ContainerRecord>,
    /// It was told to stop: nothing of it starts again.
    pub is_stopping: bool,
}

/// All that is on one node.
#[derive(Clone, Debug, Default)]
pub struct NodeRuntime {
    pub pods: Map<Uid, PodRecord>,
    pub images: Set<Name>,
}

/// What a kubelet asks of its container runtime.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RuntimeCall {
    /// Makes room for a pod: its containers' names and images.
    Create {
        containers: Vec<(Name, Name)>,
    },
    Pull {
        container: Name,
    },
    Start {
        container: Name,
    },
    /// Terminates all containers, and kills what is left after the grace period in ms.
    Stop {
        grace_ms: u64,
    },
    Remove,
}
