//! A recording's file as it is written. What only explains is ignored by name; what has no name here is an error.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::{Action, Event, ForeignLoad, Kubelet, Limit, Milestone, Tie, Write};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct File {
    pub schema: String,
    pub scenario: String,
    #[serde(default, rename = "title")]
    _title: IgnoredAny,
    #[serde(default, rename = "about")]
    _about: IgnoredAny,
    #[serde(default, rename = "kubernetes")]
    _kubernetes: IgnoredAny,
    pub namespace: String,
    pub started_at: String,
    pub end_ms: u64,
    pub timing_slack_ms: Slack,
    #[serde(default, rename = "controllerManagerFlags")]
    _flags: IgnoredAny,
    pub client_limit: Limit,
    pub kubelet: Kubelet,
    #[serde(default, rename = "initialNodes")]
    _initial_nodes: IgnoredAny,
    pub initial_objects: Vec<Value>,
    #[serde(default)]
    pub foreign_load: Vec<ForeignLoad>,
    pub manifests: Vec<Value>,
    pub actions: Vec<Action>,
    pub milestones: Vec<Milestone>,
    #[serde(default)]
    pub racy: Vec<String>,
    #[serde(default, rename = "caveats")]
    _caveats: IgnoredAny,
    pub derived: Derived,
    pub trace_encoding: String,
    pub trace: Vec<Map<String, Value>>,
    pub events: Vec<Event>,
    pub writes: Vec<Write>,
    #[serde(default, rename = "stateBeforeScaleDown")]
    _states: IgnoredAny,
    #[serde(default, rename = "victimOrder")]
    _victims: IgnoredAny,
    #[serde(default, rename = "survivor")]
    _survivor: IgnoredAny,
    #[serde(default, rename = "neverReadyPods")]
    _never_ready: IgnoredAny,
    #[serde(default)]
    pub hpa_passes: Vec<Pass>,
    #[serde(default, rename = "loadModel")]
    _load_model: IgnoredAny,
    #[serde(default, rename = "applyLog")]
    _apply_log: IgnoredAny,
    #[serde(default, rename = "kubectlOutput")]
    _kubectl: IgnoredAny,
    #[serde(default, rename = "drainedNode")]
    _drained: IgnoredAny,
    #[serde(default, rename = "bindings")]
    _bindings: IgnoredAny,
}

/// What the autoscaler's controller read, and when. All but the time follows from the load and the pods.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pass {
    pub t: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Slack {
    pub suggested: u64,
    #[serde(default, rename = "apiP50")]
    _api_p50: IgnoredAny,
    #[serde(default, rename = "apiP95")]
    _api_p95: IgnoredAny,
    #[serde(default, rename = "apiMax")]
    pub api_max: u64,
    #[serde(default, rename = "kubeletP50")]
    pub kubelet_p50: u64,
    #[serde(default, rename = "kubeletP95")]
    pub kubelet_p95: u64,
    #[serde(default, rename = "kubeletMax")]
    _kubelet_max: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Derived {
    #[serde(default)]
    pub replica_sets: Vec<CreatedSet>,
    #[serde(default)]
    pub replica_set_spec_steps: Vec<BTreeMap<String, i32>>,
    #[serde(default)]
    pub deterministic_prefix: usize,
    #[serde(default, rename = "agreement")]
    _agreement: IgnoredAny,
    #[serde(default)]
    pub scale_down_ties: Vec<Tie>,
    #[serde(default, rename = "replicaSetSteps")]
    _steps: IgnoredAny,
    #[serde(default, rename = "podTimeline")]
    _timeline: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreatedSet {
    pub name: String,
    pub deployment: String,
    pub rs_ordinal: usize,
    #[serde(rename = "t")]
    _t: IgnoredAny,
    #[serde(rename = "rv")]
    _rv: IgnoredAny,
}
