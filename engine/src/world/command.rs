use serde::{Deserialize, Serialize};

use crate::api::{Kind, Name, ObjectKey};
use crate::apiserver::{PatchType, Propagation};
use crate::manifest::Diagnostic;
use crate::sim::Time;

/// Which object a command is about, as the journal writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    pub kind: Kind,
    #[serde(default)]
    pub namespace: String,
    pub name: String,
}

impl Target {
    pub fn key(&self) -> ObjectKey {
        ObjectKey::new(self.kind, self.namespace.as_str(), self.name.as_str())
    }
}

impl From<&ObjectKey> for Target {
    fn from(key: &ObjectKey) -> Self {
        Self { kind: key.kind, namespace: key.namespace.to_string(), name: key.name.to_string() }
    }
}

/// Everything that a person can do. There is no other way into the simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "do")]
pub enum Command {
    /// `kubectl apply -f -`
    Apply { manifest: String },
    /// `kubectl scale`
    Scale { target: Target, replicas: i32 },
    /// `kubectl set image`
    SetImage { target: Target, container: String, image: String },
    /// `kubectl patch`
    Patch {
        target: Target,
        #[serde(rename = "type")]
        kind: PatchType,
        patch: serde_json::Value,
    },
    /// `kubectl delete`, with `--cascade` and `--grace-period`
    Delete {
        target: Target,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        propagation: Option<Propagation>,
        /// Seconds; the pod's own where not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grace: Option<i64>,
    },
    /// The eviction of a pod, as `kubectl drain` asks for it.
    Evict { target: Target },
    /// `kubectl cordon` and `uncordon`
    Cordon { node: String, on: bool },
    /// Cuts a node's power.
    StopNode { node: String },
    /// Gives it back.
    StartNode { node: String },
}

impl Command {
    /// A deletion as kubectl does it where nothing else is asked for.
    pub fn delete(target: Target) -> Self {
        Self::Delete { target, propagation: None, grace: None }
    }
}

/// A command with the time it was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    pub at: Time,
    pub command: Command,
}

/// What a command came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// `deployment.apps/web configured`
    pub lines: Vec<String>,
    /// What was refused, with its place in the manifest where there is one, and what was only noted.
    pub problems: Vec<Diagnostic>,
}

impl Outcome {
    pub fn is_ok(&self) -> bool {
        !self.problems.iter().any(|problem| problem.severity == crate::manifest::Severity::Error)
    }
}

/// The namespace of a request that names none.
pub fn default_namespace() -> Name {
    "default".into()
}
