use serde::Serialize;

use crate::api::{Name, ObjectKey};
use crate::sim::{Millis, Time};

/// Whether the cluster is as Git says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum SyncState {
    #[default]
    Unknown,
    Synced,
    OutOfSync,
}

impl SyncState {
    pub fn word(self) -> &'static str {
        match self {
            SyncState::Unknown => "Unknown",
            SyncState::Synced => "Synced",
            SyncState::OutOfSync => "OutOfSync",
        }
    }
}

/// Whether what is there works; the later, the worse (gitops-engine `pkg/health`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Health {
    #[default]
    Healthy,
    Suspended,
    Progressing,
    Missing,
    Degraded,
}

impl Health {
    pub fn word(self) -> &'static str {
        match self {
            Health::Healthy => "Healthy",
            Health::Suspended => "Suspended",
            Health::Progressing => "Progressing",
            Health::Missing => "Missing",
            Health::Degraded => "Degraded",
        }
    }
}

/// A field in which Git and the cluster differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// `spec.replicas`
    pub path: String,
    /// Empty where Git does not have it.
    pub git: String,
    /// Empty where the cluster does not have it.
    pub live: String,
}

/// One object that the agent looks after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Resource {
    pub key: ObjectKey,
    pub sync: SyncState,
    pub health: Health,
    /// It is in the cluster and no longer in Git.
    pub is_extra: bool,
    pub differences: Vec<Difference>,
}

/// What became of a sync.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Operation {
    pub revision: Name,
    pub succeeded: bool,
    /// `successfully synced (all tasks run)`
    pub message: String,
    pub finished: Time,
    pub by_itself: bool,
}

/// What an agent last found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The newest commit that it has seen.
    pub revision: Option<Name>,
    pub sync: SyncState,
    pub health: Health,
    pub resources: Vec<Resource>,
    /// `ComparisonError` or `SyncError`, and why.
    pub condition: Option<(&'static str, String)>,
    pub operation: Option<Operation>,
    /// Syncs that went well: when, and to which commit. The newest ten.
    pub history: Vec<(Time, Name)>,
    /// Attempts at healing since the last commit.
    pub heals: u32,
    pub poll_at: Time,
    /// The newest version that it wrote itself.
    pub wrote: u64,
    /// Wishes that were carried out.
    pub wishes: u64,
}

/// How long an attempt at healing waits after the sync before it: 0, 2, 6, 18, 54, 162, 300 s
/// (argo-cd `controller/appcontroller.go`, `--self-heal-backoff-*`).
pub fn heal_delay(attempts: u32) -> Millis {
    const CAP: u64 = 300_000;
    match attempts {
        0 => Millis(0),
        n => Millis(2_000u64.saturating_mul(3u64.saturating_pow(n - 1)).min(CAP)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn healing_backs_off() {
        let seconds: Vec<u64> = (0..8).map(|n| heal_delay(n).0 / 1_000).collect();
        assert_eq!(seconds, [0, 2, 6, 18, 54, 162, 300, 300]);
    }
}
