//! Reads a recording (`schema` `k8s-oracle-trace/2`).
//!
//! What is in a recording and not known here is not understood, and nothing is guessed: reading fails with its name.

use std::collections::BTreeMap;
use std::rc::Rc;

use loopscope_engine::api::MicroTime;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

const SCHEMA: &str = "k8s-oracle-trace/2";

/// One recording. Times are ms since its start.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The file's name without its ending.
    pub name: String,
    pub namespace: String,
    /// Wall clock at its start, in ms since 1970.
    pub started_at: i64,
    pub end_ms: u64,
    /// How late the recorder may be, in ms.
    pub slack_ms: u64,
    /// The longest that its API server took to answer a write, in ms.
    pub answer_ms: u64,
    /// How late its fake kubelet was, in ms: between what half of its deeds and what nearly all of them were.
    pub kubelet_late_ms: u64,
    pub client_limit: Limit,
    pub kubelet: Kubelet,
    /// Manifests of the nodes and of all else that is there at the start.
    pub initial_objects: Vec<Value>,
    pub manifests: Vec<Value>,
    pub actions: Vec<Action>,
    pub milestones: Vec<Milestone>,
    pub racy: Vec<String>,
    /// Sizes of ReplicaSets by name, as they changed.
    pub spec_steps: Vec<BTreeMap<String, i32>>,
    /// So many of these steps wait for nothing that may come earlier or later.
    pub deterministic_prefix: usize,
    /// Scale-downs that chose among equals.
    pub ties: Vec<Tie>,
    /// What watches told, in the order of versions.
    pub trace: Vec<Change>,
    pub events: Vec<Event>,
    pub writes: Vec<Write>,
    /// Pods of other namespaces that took room on the nodes.
    pub foreign_load: Vec<ForeignLoad>,
    references: References,
}

/// Which object a random name stands for.
#[derive(Clone, Debug, Default)]
struct References {
    /// By the pod's name.
    pods: BTreeMap<String, PodRef>,
    /// The ReplicaSets of each name, in the order of their creation.
    sets: BTreeMap<String, Vec<SetRef>>,
}

/// A pod by its owner and the order in which that owner created its pods, from 0. Only pods with generated names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodRef {
    pub owner: String,
    pub ordinal: usize,
}

/// A ReplicaSet by its Deployment and the order in which that created its ReplicaSets, from 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SetRef {
    pub deployment: String,
    pub ordinal: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeType {
    Added,
    Modified,
    Deleted,
}

/// A watch event, with all fields of the object as it then was.
#[derive(Clone, Debug)]
pub struct Change {
    pub t: u64,
    pub rv: u64,
    pub change: ChangeType,
    pub kind: String,
    pub name: String,
    pub fields: Rc<Map<String, Value>>,
    /// Names of the fields that this event changed, those that vanished included.
    pub changed: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    pub qps: u32,
    pub burst: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Kubelet {
    pub kind: KubeletKind,
    pub delays_ms: Delays,
    #[serde(default)]
    pub by_image_tag: BTreeMap<String, Delays>,
    #[serde(default)]
    pub by_pod: Vec<PodDelays>,
    #[serde(default, rename = "probeRule")]
    _probe_rule: IgnoredAny,
    #[serde(default, rename = "notes")]
    _notes: IgnoredAny,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum KubeletKind {
    Fake,
    Real,
}

/// What is told of a pod's life: not at all, never (null), or after so many ms.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Delays {
    #[serde(default, deserialize_with = "told")]
    pub start: Option<Option<u64>>,
    #[serde(default, deserialize_with = "told")]
    pub ready: Option<Option<u64>>,
    #[serde(default, deserialize_with = "told")]
    pub term: Option<Option<u64>>,
    #[serde(default, deserialize_with = "told")]
    pub exit_after_ms: Option<Option<u64>>,
    #[serde(default)]
    pub exit_code: i32,
}

fn told<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Option<u64>>, D::Error> {
    Option::<u64>::deserialize(from).map(Some)
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PodDelays {
    pub name: String,
    #[serde(default, rename = "ref")]
    _reference: IgnoredAny,
    #[serde(default, deserialize_with = "told")]
    pub start: Option<Option<u64>>,
    #[serde(default, deserialize_with = "told")]
    pub ready: Option<Option<u64>>,
    #[serde(default, deserialize_with = "told")]
    pub term: Option<Option<u64>>,
}

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

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Milestone {
    pub name: String,
    /// `Pod/web-865c8744-kmp42`
    pub object: String,
    #[serde(default, rename = "ref")]
    _reference: IgnoredAny,
    #[serde(default)]
    pub value: Value,
    pub t: u64,
    pub rv: u64,
    /// The action that caused it.
    pub after: usize,
    #[serde(rename = "msAfterCause")]
    _ms_after_cause: IgnoredAny,
    /// ms after that action.
    pub window_ms: (i64, i64),
    #[serde(default)]
    pub phase_free: bool,
    #[serde(default)]
    pub phase: Option<String>,
    /// Another milestone that it follows, and how long after it.
    #[serde(default)]
    pub rel_to: Option<usize>,
    #[serde(default, rename = "relMs")]
    _rel_ms: IgnoredAny,
    #[serde(default)]
    pub rel_window_ms: Option<(i64, i64)>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tie {
    pub t: u64,
    pub rs: Value,
    pub victims: Vec<usize>,
    pub tied: Vec<usize>,
    pub by: String,
    #[serde(default)]
    pub uid_order_held: Option<bool>,
}

/// An Event object as a watch told it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Event {
    pub t: u64,
    pub watch: String,
    pub rv: u64,
    #[serde(rename = "type")]
    pub kind: String,
    pub reason: String,
    pub message: String,
    /// `Pod/web-865c8744-kmp42`
    pub about: String,
    pub component: String,
    #[serde(default)]
    pub action: Option<String>,
    #[serde(default)]
    pub count: Option<u32>,
    #[serde(default)]
    pub series_count: Option<u32>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Write {
    pub t: u64,
    pub done_ms: u64,
    /// `controller/replicaset-controller`, `kube-scheduler`, `admin`, `admin/kubectl`, `kubelet`, `apiserver`
    pub by: String,
    pub verb: String,
    /// With its subresource: `pods/binding`
    pub resource: String,
    pub name: String,
    pub code: u16,
    #[serde(default)]
    pub rv: Option<u64>,
    #[serde(default)]
    pub error: Option<String>,
    #[serde(default)]
    pub error_reason: Option<String>,
    #[serde(default)]
    pub spec_replicas: Option<i32>,
    #[serde(default)]
    pub patch: Option<Value>,
    #[serde(default)]
    pub request: Option<Value>,
    #[serde(default)]
    pub delete_options: Option<Value>,
    pub in_trace: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ForeignLoad {
    pub node: String,
    pub cpu_milli: u64,
    pub mem_mi: u64,
    pub from_ms: u64,
    /// None: to the end.
    pub to_ms: Option<u64>,
}

/// A file as it is written. What only explains is ignored by name.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    schema: String,
    scenario: String,
    #[serde(default, rename = "title")]
    _title: IgnoredAny,
    #[serde(default, rename = "about")]
    _about: IgnoredAny,
    #[serde(default, rename = "kubernetes")]
    _kubernetes: IgnoredAny,
    namespace: String,
    started_at: String,
    end_ms: u64,
    timing_slack_ms: Slack,
    #[serde(default, rename = "controllerManagerFlags")]
    _flags: IgnoredAny,
    client_limit: Limit,
    kubelet: Kubelet,
    #[serde(default, rename = "initialNodes")]
    _initial_nodes: IgnoredAny,
    initial_objects: Vec<Value>,
    #[serde(default)]
    foreign_load: Vec<ForeignLoad>,
    manifests: Vec<Value>,
    actions: Vec<Action>,
    milestones: Vec<Milestone>,
    #[serde(default)]
    racy: Vec<String>,
    #[serde(default, rename = "caveats")]
    _caveats: IgnoredAny,
    derived: Derived,
    trace_encoding: String,
    trace: Vec<Map<String, Value>>,
    events: Vec<Event>,
    writes: Vec<Write>,
    #[serde(default, rename = "stateBeforeScaleDown")]
    _states: IgnoredAny,
    #[serde(default, rename = "victimOrder")]
    _victims: IgnoredAny,
    #[serde(default, rename = "survivor")]
    _survivor: IgnoredAny,
    #[serde(default, rename = "neverReadyPods")]
    _never_ready: IgnoredAny,
    #[serde(default, rename = "hpaPasses")]
    _hpa_passes: IgnoredAny,
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Slack {
    suggested: u64,
    #[serde(default, rename = "apiP50")]
    _api_p50: IgnoredAny,
    #[serde(default, rename = "apiP95")]
    _api_p95: IgnoredAny,
    #[serde(default, rename = "apiMax")]
    api_max: u64,
    #[serde(default, rename = "kubeletP50")]
    kubelet_p50: u64,
    #[serde(default, rename = "kubeletP95")]
    kubelet_p95: u64,
    #[serde(default, rename = "kubeletMax")]
    _kubelet_max: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Derived {
    #[serde(default)]
    replica_sets: Vec<CreatedSet>,
    #[serde(default)]
    replica_set_spec_steps: Vec<BTreeMap<String, i32>>,
    #[serde(default)]
    deterministic_prefix: usize,
    #[serde(default, rename = "agreement")]
    _agreement: IgnoredAny,
    #[serde(default)]
    scale_down_ties: Vec<Tie>,
    #[serde(default, rename = "replicaSetSteps")]
    _steps: IgnoredAny,
    #[serde(default, rename = "podTimeline")]
    _timeline: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CreatedSet {
    name: String,
    deployment: String,
    rs_ordinal: usize,
    #[serde(rename = "t")]
    _t: IgnoredAny,
    #[serde(rename = "rv")]
    _rv: IgnoredAny,
}

/// The fields that a trace may tell of an object, all kinds together.
const FIELDS: &[&str] = &[
    "addressType",
    "allocatable",
    "annotations",
    "conditions",
    "containers",
    "createdMs",
    "deletionGraceSeconds",
    "deletionMs",
    "endpoints",
    "finalizers",
    "generation",
    "images",
    "labels",
    "nodeName",
    "nominatedNodeName",
    "owners",
    "phase",
    "podIP",
    "ports",
    "requests",
    "spec",
    "startMs",
    "status",
    "statusObservedGeneration",
    "taints",
    "tolerations",
    "uid",
    "unschedulable",
];

impl Recording {
    /// Reads a file's text. The error is one line, and names what is not understood.
    pub fn read(text: &str) -> Result<Self, String> {
        let file: File = serde_json::from_str(text).map_err(not_understood)?;
        if file.schema != SCHEMA {
            return Err(format!("not understood: schema {}", file.schema));
        }
        if file.trace_encoding != "delta" {
            return Err(format!("not understood: traceEncoding {}", file.trace_encoding));
        }
        let started_at = MicroTime::parse(&file.started_at).ok_or("startedAt is no time")?.0;
        let trace = decode(file.trace)?;
        let references = References::of(&trace, &file.derived.replica_sets);
        let mut spec_steps = file.derived.replica_set_spec_steps;
        for step in &mut spec_steps {
            step.remove("t");
        }
        Ok(Self {
            name: file.scenario,
            namespace: file.namespace,
            started_at,
            end_ms: file.end_ms,
            slack_ms: file.timing_slack_ms.suggested,
            answer_ms: file.timing_slack_ms.api_max,
            kubelet_late_ms: u64::midpoint(file.timing_slack_ms.kubelet_p50, file.timing_slack_ms.kubelet_p95),
            client_limit: file.client_limit,
            kubelet: file.kubelet,
            initial_objects: file.initial_objects,
            manifests: file.manifests,
            actions: file.actions,
            milestones: file.milestones,
            racy: file.racy,
            spec_steps,
            deterministic_prefix: file.derived.deterministic_prefix,
            ties: file.derived.scale_down_ties,
            trace,
            events: file.events,
            writes: file.writes,
            foreign_load: file.foreign_load,
            references,
        })
    }

    /// Which pod a generated name stands for.
    pub fn pod(&self, name: &str) -> Option<&PodRef> {
        self.references.pods.get(name)
    }

    /// Which ReplicaSet a name stands for; the newest, where it was created again.
    pub fn replica_set(&self, name: &str) -> Option<&SetRef> {
        self.references.sets.get(name)?.last()
    }
}

impl References {
    fn of(trace: &[Change], created: &[CreatedSet]) -> Self {
        let mut all = Self::default();
        for set in created {
            let reference = SetRef { deployment: set.deployment.clone(), ordinal: set.rs_ordinal };
            all.sets.entry(set.name.clone()).or_default().push(reference);
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for change in trace.iter().filter(|it| it.kind == "Pod" && it.change == ChangeType::Added) {
            let Some(owner) = controller(&change.fields).filter(|(kind, _)| kind != "StatefulSet") else { continue };
            let count = counts.entry(owner.1.clone()).or_default();
            all.pods.insert(change.name.clone(), PodRef { owner: owner.1, ordinal: *count });
            *count += 1;
        }
        all
    }
}

/// Kind and name of the owner that controls an object.
pub fn controller(fields: &Map<String, Value>) -> Option<(String, String)> {
    let owner = fields.get("owners")?.as_array()?.iter().find(|it| it["controller"] == true)?;
    Some((owner["kind"].as_str()?.into(), owner["name"].as_str()?.into()))
}

/// serde says ``unknown field `x`, expected …``; what was expected helps nobody in a list of results.
fn not_understood(error: serde_json::Error) -> String {
    let text = error.to_string();
    for what in ["unknown field", "unknown variant"] {
        if let Some(name) = text.split(what).nth(1).and_then(|rest| rest.split('`').nth(1)) {
            let what = if what == "unknown variant" { "operation or value" } else { "field" };
            return format!("not understood: {what} {name}");
        }
    }
    format!("not understood: {text}")
}

fn decode(records: Vec<Map<String, Value>>) -> Result<Vec<Change>, String> {
    let mut known: BTreeMap<(String, String), Rc<Map<String, Value>>> = BTreeMap::new();
    records.into_iter().map(|record| decode_one(record, &mut known)).collect()
}

fn decode_one(
    mut record: Map<String, Value>,
    known: &mut BTreeMap<(String, String), Rc<Map<String, Value>>>,
) -> Result<Change, String> {
    let mut number = |name: &str| {
        record.remove(name).and_then(|it| it.as_u64()).ok_or_else(|| format!("a trace record without {name}"))
    };
    let (t, rv) = (number("t")?, number("rv")?);
    let mut text = |name: &str| match record.remove(name) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(format!("a trace record without {name}")),
    };
    let (change, kind, name) = (text("type")?, text("kind")?, text("name")?);
    let change = match change.as_str() {
        "ADDED" => ChangeType::Added,
        "MODIFIED" => ChangeType::Modified,
        "DELETED" => ChangeType::Deleted,
        other => return Err(format!("not understood: trace type {other}")),
    };
    let unset: Vec<String> = match record.remove("unset") {
        Some(list) => serde_json::from_value(list).map_err(|_| "unset is no list of names")?,
        None => Vec::new(),
    };
    if let Some(field) = record.keys().find(|it| !FIELDS.contains(&it.as_str())) {
        return Err(format!("not understood: trace field {field} of {kind}"));
    }
    let key = (kind.clone(), name.clone());
    let mut changed: Vec<String> = record.keys().cloned().collect();
    let before = if change == ChangeType::Added { None } else { known.get(&key) };
    let mut fields = before.map(|it| Map::clone(it)).unwrap_or_default();
    fields.extend(record);
    for name in &unset {
        fields.remove(name);
    }
    changed.extend(unset);
    let fields = Rc::new(fields);
    if change == ChangeType::Deleted {
        known.remove(&key);
    } else {
        known.insert(key, Rc::clone(&fields));
    }
    Ok(Change { t, rv, change, kind, name, fields, changed })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minimal(op: &str, record: &str) -> String {
        format!(
            r#"{{"schema":"k8s-oracle-trace/2","scenario":"x","namespace":"n","startedAt":"2026-11-30T04:03:10.772Z","endMs":1,
"timingSlackMs":{{"suggested":1}},"clientLimit":{{"qps":20,"burst":30}},"kubelet":{{"kind":"fake","delaysMs":{{"start":1,"ready":null}}}},
"initialObjects":[],"manifests":[],"actions":[{{"t":0,"op":{op}}}],"milestones":[],"derived":{{}},"traceEncoding":"delta",
"trace":[{record}],"events":[],"writes":[]}}"#
        )
    }

    const PLAIN: &str = r#"{"t":1,"type":"ADDED","kind":"Pod","name":"p","rv":2,"phase":"Pending"}"#;

    #[test]
    fn what_is_unknown_is_named() {
        let read = |op: &str, record: &str| Recording::read(&minimal(op, record)).map(drop);
        assert_eq!(read(r#"{"type":"observe"}"#, PLAIN), Ok(()));
        let error = |op, record| read(op, record).unwrap_err();
        assert_eq!(error(r#"{"type":"juggle"}"#, PLAIN), "not understood: operation or value juggle");
        assert_eq!(error(r#"{"type":"observe","loudly":true}"#, PLAIN), "not understood: field loudly");
        let odd = r#"{"t":1,"type":"ADDED","kind":"Pod","name":"p","rv":2,"mood":"good"}"#;
        assert_eq!(error(r#"{"type":"observe"}"#, odd), "not understood: trace field mood of Pod");
    }

    #[test]
    fn a_delta_is_laid_over_what_was_known() {
        let records = format!(
            "{PLAIN},{},{}",
            r#"{"t":3,"type":"MODIFIED","kind":"Pod","name":"p","rv":4,"nodeName":"n"}"#,
            r#"{"t":5,"type":"DELETED","kind":"Pod","name":"p","rv":6,"unset":["nodeName"]}"#
        );
        let it = Recording::read(&minimal(r#"{"type":"observe"}"#, &records)).unwrap();
        let told: Vec<String> = it.trace.iter().map(|it| Value::Object((*it.fields).clone()).to_string()).collect();
        assert_eq!(told, [r#"{"phase":"Pending"}"#, r#"{"nodeName":"n","phase":"Pending"}"#, r#"{"phase":"Pending"}"#]);
        assert_eq!(it.started_at, 1_796_011_390_772);
        assert_eq!(it.kubelet.delays_ms.ready, Some(None));
    }
}
