//! What was done to the cluster.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::Delays;

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Action {
    pub t: u64,
    #[serde(default, rename = "action")]
    _action: IgnoredAny,
    pub op: Op,
    #[serde(default)]
    pub result: Option<Answer>,
    #[serde(default)]
    pub waited: Vec<Wait>,
}

/// The answer to an action's request; no version where it was refused or the answer has none.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub code: u16,
    #[serde(default)]
    pub rv: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Wait {
    Ms(u64),
    Complete(String),
    Until(Until),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Until {
    pub kind: String,
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub names: Vec<String>,
    #[serde(default)]
    pub count: Option<usize>,
    #[serde(default)]
    pub phase: Option<String>,
    #[serde(default)]
    pub taint: Option<String>,
    #[serde(default)]
    pub ready: Option<String>,
    #[serde(default)]
    pub reason: Option<String>,
    #[serde(default)]
    pub available_replicas: Option<i32>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    pub kind: String,
    pub name: String,
    /// Kept as it is: names are looked up in the recording's own trace.
    #[serde(default, rename = "ref")]
    pub reference: Option<Value>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Op {
    Create {
        target: Target,
        manifest: usize,
    },
    Apply {
        target: Target,
        manifest: usize,
        field_manager: String,
        #[serde(default)]
        force: bool,
    },
    Patch {
        target: Target,
        patch_type: PatchKind,
        patch: Value,
        #[serde(default)]
        field_manager: Option<String>,
    },
    Replace {
        target: Target,
        body: String,
        set: Value,
        #[serde(default)]
        field_manager: Option<String>,
    },
    Scale {
        target: Target,
        replicas: i32,
        patch_type: PatchKind,
        subresource: String,
        #[serde(default)]
        field_manager: Option<String>,
    },
    Delete {
        target: Target,
        delete_options: DeleteOptions,
    },
    Cordon {
        node: String,
        #[serde(default)]
        by: Option<String>,
        #[serde(default)]
        calls: Vec<Call>,
    },
    Uncordon {
        node: String,
        #[serde(default)]
        by: Option<String>,
        #[serde(default)]
        calls: Vec<Call>,
    },
    Drain {
        node: String,
        #[serde(default)]
        args: Vec<String>,
        retry_ms: u64,
        #[serde(default)]
        by: Option<String>,
        #[serde(default)]
        calls: Vec<Call>,
    },
    NodeJoin {
        node: Value,
    },
    NodeStop {
        nodes: Vec<String>,
    },
    NodeBack {
        nodes: Vec<String>,
    },
    NodeStatus {
        node: String,
        conditions: Vec<Value>,
    },
    ProcessStop {
        process: String,
    },
    ProcessContinue {
        process: String,
    },
    ProcessKill {
        process: String,
    },
    ProcessStart {
        process: String,
    },
    KubeletSet {
        #[serde(default)]
        target: Option<Target>,
        #[serde(default)]
        ready: Option<bool>,
        #[serde(default)]
        delays_ms: Option<Delays>,
    },
    MetricsSet {
        cpu_milli: u64,
    },
    Observe {},
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PatchKind {
    Merge,
    Strategic,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeleteOptions {
    #[serde(default)]
    pub grace_period_seconds: Option<i64>,
    #[serde(default)]
    pub propagation_policy: Option<String>,
}

/// A call that kubectl made.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Call {
    pub t: u64,
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub node: Option<String>,
    #[serde(default)]
    pub target: Option<Target>,
    #[serde(default)]
    pub delete_options: Option<DeleteOptions>,
    pub code: u16,
}
