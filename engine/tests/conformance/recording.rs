//! Reads a recording (`schema` `k8s-oracle-trace/2`).
//!
//! What is in a recording and not known here is not understood, and nothing is guessed: reading fails with its name.

mod file;
mod op;

use std::collections::BTreeMap;
use std::rc::Rc;

use loopscope_engine::api::MicroTime;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use file::{CreatedSet, File};
pub use op::*;

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
    /// How late its real kubelet said that a pod was ready or not, at most, in ms: kubemark's may send five requests a
    /// second.
    pub word_late_ms: u64,
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
    /// When the autoscaler's controller had its passes.
    pub passes: Vec<i64>,
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

/// The autoscaler's passes: those that read metrics, and those that show in what they wrote.
fn passes(read: &[file::Pass], writes: &[Write]) -> Vec<i64> {
    const APART: i64 = 5_000;
    let wrote = writes.iter().filter(|it| it.by == AUTOSCALER).map(|it| it.t as i64);
    let mut all: Vec<i64> = read.iter().map(|it| it.t).chain(wrote).collect();
    all.sort_unstable();
    all.dedup_by(|next, before| *next - *before < APART);
    all
}

/// The autoscaler's controller as the audit log names it.
pub const AUTOSCALER: &str = "controller/horizontal-pod-autoscaler";

impl Recording {
    /// The CPU that all ready pods use together, in thousandths, from so many ms on.
    pub fn loads(&self) -> impl Iterator<Item = (i64, u64)> {
        self.actions.iter().filter_map(|it| match it.op {
            Op::MetricsSet { cpu_milli } => Some((it.t as i64, cpu_milli)),
            _ => None,
        })
    }

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
        let word_late_ms = trace.iter().map(word_late).max().unwrap_or(0);
        let references = References::of(&trace, &file.derived.replica_sets);
        let mut spec_steps = file.derived.replica_set_spec_steps;
        for step in &mut spec_steps {
            step.remove("t");
        }
        let passes = passes(&file.hpa_passes, &file.writes);
        Ok(Self {
            name: file.scenario,
            namespace: file.namespace,
            started_at,
            end_ms: file.end_ms,
            slack_ms: file.timing_slack_ms.suggested,
            answer_ms: file.timing_slack_ms.api_max,
            kubelet_late_ms: u64::midpoint(file.timing_slack_ms.kubelet_p50, file.timing_slack_ms.kubelet_p95),
            word_late_ms,
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
            passes,
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

impl Recording {
    /// Whether nodes stop and come back. The recorder's kubelet then says nothing more of the pods that the node
    /// controller called unready meanwhile, while ours, as the real one, says how they are.
    pub fn has_nodes_that_return(&self) -> bool {
        self.actions.iter().any(|it| matches!(it.op, Op::NodeBack { .. }))
    }

    /// Whether a node joins. The recorder creates it bare and posts its status in a second write; a kubelet creates it
    /// whole.
    pub fn is_joined(&self, node: &str) -> bool {
        self.actions.iter().any(|it| matches!(&it.op, Op::NodeJoin { node: it } if it["metadata"]["name"] == node))
    }

    /// Whether a text says that a pod found no room on a node that was still bare.
    pub fn is_bareness(&self, text: &str) -> bool {
        text.contains("Too many pods") && self.actions.iter().any(|it| matches!(it.op, Op::NodeJoin { .. }))
    }

    /// Whether a node's kubelet says of itself how it is.
    pub fn tells_of(&self, node: &str) -> bool {
        self.actions.iter().any(|it| matches!(&it.op, Op::NodeStatus { node: it, .. } if it == node))
    }
}

impl Recording {
    /// Whether anything ever ran in a pod: `Pod/web-865c8744-kmp42`.
    pub fn ever_ran(&self, object: &str) -> bool {
        let is_it = |it: &&Change| object.strip_prefix("Pod/") == Some(&it.name) && it.kind == "Pod";
        !object.starts_with("Pod/")
            || self.trace.iter().filter(is_it).any(|it| it.fields.get("phase").is_some_and(|it| it == "Running"))
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

/// How long after its readiness changed a pod's status says so; timestamps have whole seconds.
fn word_late(change: &Change) -> u64 {
    if change.kind != "Pod" || !change.changed.iter().any(|it| it == "conditions") {
        return 0;
    }
    let conditions = change.fields.get("conditions").and_then(Value::as_array).into_iter().flatten();
    let newest = conditions.filter_map(|it| it["lastTransitionMs"].as_i64()).max();
    newest.map_or(0, |at| u64::try_from(change.t as i64 - at - 1_000).unwrap_or(0))
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
