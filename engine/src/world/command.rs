use serde::{Deserialize, Serialize};

use super::{Mishap, NodeSetup, RoomSetting, Server, Switch, Type};
use crate::api::{Kind, Name, ObjectKey};
use crate::apiserver::{PatchType, Propagation};
use crate::environment::{Behavior, Load};
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

/// Whose behavior: that of all programs of an image, or of one pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Subject {
    Image(String),
    Pod {
        #[serde(default)]
        namespace: String,
        name: String,
    },
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Subject::Image(image) => write!(f, "image {image}"),
            Subject::Pod { name, .. } => write!(f, "pod/{name}"),
        }
    }
}

/// Everything that a person can do. There is no other way into the simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "do")]
pub enum Command {
    /// `kubectl apply -f -`
    Apply {
        manifest: String,
    },
    /// `kubectl replace -f -`
    Replace {
        manifest: String,
    },
    /// `kubectl scale`
    Scale {
        target: Target,
        replicas: i32,
    },
    /// `kubectl set image`
    SetImage {
        target: Target,
        container: String,
        image: String,
    },
    /// `kubectl rollout undo`; revision 0 is the one before the present one.
    Rollback {
        target: Target,
        #[serde(default)]
        to_revision: i64,
    },
    /// `kubectl rollout pause` and `resume`
    Pause {
        target: Target,
        on: bool,
    },
    /// `kubectl rollout restart`
    Restart {
        target: Target,
    },
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
    /// Any other request that kubectl makes, under the name of its field manager.
    Request {
        manager: String,
        ask: super::Ask,
    },
    /// Something with Git, or with the agent that reads it.
    Git {
        deed: super::GitDeed,
    },
    /// Something with infrastructure as code, or with the cloud.
    Iac {
        deed: super::IacDeed,
    },
    /// The eviction of a pod, as `kubectl drain` asks for it.
    Evict {
        target: Target,
    },
    /// `kubectl cordon` and `uncordon`
    Cordon {
        node: String,
        on: bool,
    },
    /// Cuts a node's power.
    StopNode {
        node: String,
    },
    /// Gives it back.
    StartNode {
        node: String,
    },
    /// Cuts a node off from the API server. Its kubelet and its containers go on.
    CutNode {
        node: String,
    },
    /// Gives it its network back.
    HealNode {
        node: String,
    },
    /// Breaks a node's network plugin: its kubelet says that it is not ready. What runs there goes on.
    BreakNode {
        node: String,
    },
    /// Mends it.
    MendNode {
        node: String,
    },
    /// Switches on a machine that was not there before; it joins by itself.
    AddNode {
        node: NodeSetup,
    },
    /// Switches a machine off and deletes its Node object.
    RemoveNode {
        node: String,
    },
    /// Lets an image's programs, or those of one pod, behave in another way from now on.
    SetBehavior {
        subject: Subject,
        behavior: Behavior,
    },
    /// Lets them behave as those that nobody described.
    RestoreBehavior {
        subject: Subject,
    },
    /// Lets requests come to a Service, or work to a workload's pods, in this way from now on.
    SetLoad {
        target: Target,
        load: Load,
    },
    /// Lets no more come.
    StopLoad {
        target: Target,
    },
    /// Makes a pod's programs answer readiness probes in this way from now on.
    SetReady {
        #[serde(default)]
        namespace: String,
        pod: String,
        ready: bool,
    },
    /// Ends a container's process with an exit code.
    CrashContainer {
        #[serde(default)]
        namespace: String,
        pod: String,
        container: String,
        code: i32,
    },
    /// Ends `kube-controller-manager` or `kube-scheduler`; requests under way arrive all the same.
    StopController {
        process: String,
    },
    StartController {
        process: String,
    },
    /// As `StopController`; it comes back by itself a second later.
    CrashController {
        process: String,
    },
    /// Whether the controllers of `kube-controller-manager` wait until their cache shows what they wrote, as they always
    /// do in Kubernetes. Without, they act on a cache that is behind. Holds across crashes.
    SetExpectations {
        process: String,
        on: bool,
    },
    /// Switches something else at one of them. All but a pause and a stalled watch outlive a crash.
    SetSwitch {
        process: String,
        switch: Switch,
        on: bool,
    },
    /// Lets something happen to the next of the events about pods that its watch brings.
    DisturbWatch {
        process: String,
        mishap: Mishap,
        next: u32,
        #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
        of: Option<Type>,
    },
    /// Ends its watch with 410 Gone, as an API server does that no longer knows the version: it lists again.
    BreakWatch {
        process: String,
    },
    /// Crashes it right after it has sent so many more requests; it comes back by itself a second later. With none, what
    /// was said before no longer holds.
    CrashAfter {
        process: String,
        requests: u32,
    },
    /// Lets a person run the script that starts so many pods more, one after the other. It may crash after so many of its
    /// requests.
    RunScript {
        by: String,
        count: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        crash_after: Option<u32>,
    },
    /// Says something to a room's thermostat, or does something to the room.
    SetRoom {
        setting: RoomSetting,
    },
    /// How the API server answers from now on.
    SetServer {
        server: Server,
    },
}

impl Command {
    /// First words of commands that no shell has.
    pub const OWN_WORDS: [&str; 14] = [
        "node",
        "controller",
        "image",
        "load",
        "pod",
        "container",
        "watch",
        "script",
        "room",
        "server",
        "git",
        "gitops",
        "terraform",
        "cloud",
    ];

    /// The text of objects that comes with it.
    pub fn manifest(&self) -> Option<&str> {
        match self {
            Self::Apply { manifest } | Self::Replace { manifest } => Some(manifest),
            _ => None,
        }
    }

    /// Whether it breaks or mends something that no client of the API server could, or is about a quota, which takes room
    /// away from all others.
    pub fn is_disturbance(&self) -> bool {
        use Command::*;
        match self {
            Delete { target, .. } => target.kind == Kind::ResourceQuota,
            Request { ask, .. } => ask.target().is_some_and(|it| it.kind == Kind::ResourceQuota),
            Apply { .. } | Replace { .. } | Scale { .. } | SetImage { .. } | Rollback { .. } | Pause { .. } => false,
            Restart { .. } | Patch { .. } | Evict { .. } | Cordon { .. } | Git { .. } | Iac { .. } => false,
            StopNode { .. } | StartNode { .. } | CutNode { .. } | HealNode { .. } | BreakNode { .. } => true,
            MendNode { .. } | AddNode { .. } | RemoveNode { .. } | SetBehavior { .. } | RestoreBehavior { .. } => true,
            SetReady { .. } | CrashContainer { .. } | StopController { .. } | StartController { .. } => true,
            CrashController { .. } | SetExpectations { .. } | SetLoad { .. } | StopLoad { .. } => true,
            RunScript { .. } => false,
            SetRoom { setting } => setting.is_disturbance(),
            SetSwitch { .. } | DisturbWatch { .. } | BreakWatch { .. } | CrashAfter { .. } | SetServer { .. } => true,
        }
    }

    /// A deletion as kubectl does it where nothing else is asked for.
    pub fn delete(target: Target) -> Self {
        Self::Delete { target, propagation: None, grace: None }
    }
}

/// A command with the time it was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    pub at: Time,
    /// After how many of the things that happen at that time; after all of them where nothing is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
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
    /// Why nothing came of it.
    pub fn refusal(&self) -> Option<&str> {
        let mut errors = self.problems.iter().filter(|it| it.severity == crate::manifest::Severity::Error);
        errors.next().filter(|_| self.lines.is_empty()).map(|it| it.upstream.as_deref().unwrap_or(&it.message))
    }

    pub fn is_ok(&self) -> bool {
        !self.problems.iter().any(|problem| problem.severity == crate::manifest::Severity::Error)
    }
}

/// The namespace of a request that names none.
pub fn default_namespace() -> Name {
    "default".into()
}
