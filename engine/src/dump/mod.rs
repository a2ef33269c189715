//! A whole cluster as `kubectl get -A -o yaml` (or json) prints it: read, rid of what is nobody's business, and told of.
//!
//! What is kept is a [`Cluster`]: the objects as they stood, a line of JSON each, with which a scenario begins. Values
//! of the environment and the like are dropped while reading; a stand-in takes the place of each, one for equal values,
//! so that two templates that differed still do ([docs/dump.md](../../../docs/dump.md)).

mod clean;
mod parse;
mod report;

use std::fmt;
use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::api::{Condition, Kind, Name, Node, Object, ObjectKey, Quantity};
use crate::apiserver::{Usage, apply_defaults, validate_create};
use crate::manifest::Diagnostic;
use crate::sim::Map;
use clean::Cleaner;
pub use clean::uid_of;
pub use report::{LeftOut, Report};

/// What makes a dump.
pub const COMMAND: &str = "kubectl get nodes,deploy,rs,sts,ds,po,svc,hpa,pdb -A -o yaml";
const NOTHING: &str = "No nodes and no pods are in it, so it is no dump of a cluster. One is made by `";

/// Bytes that a dump may have: more is refused before anything of it is read.
pub const MOST_BYTES: usize = 64 * 1024 * 1024;
/// Objects that are taken.
const MOST_OBJECTS: usize = 200_000;
/// Pods that one workload may ask for: a slip of the hand is not to fill all memory.
const MOST_REPLICAS: i32 = 10_000;
/// Wall clocks that a world may begin at: from 1970 to 2200, in seconds.
const CLOCKS: std::ops::Range<i64> = 0..7_258_118_400;

/// The kinds that a world is made of, in the order in which they are told.
pub const TAKEN: [Kind; 15] = [
    Kind::Node,
    Kind::Namespace,
    Kind::Deployment,
    Kind::ReplicaSet,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::Job,
    Kind::Pod,
    Kind::Service,
    Kind::HorizontalPodAutoscaler,
    Kind::PodDisruptionBudget,
    Kind::ResourceQuota,
    Kind::PriorityClass,
    Kind::ControllerRevision,
    Kind::EndpointSlice,
];

/// What a dump holds.
#[derive(Clone, Debug)]
pub struct Dump {
    pub cluster: Cluster,
    /// The newest time that is named in it, in ms since 1970: when it was made, as far as it tells.
    pub taken_ms: Option<i64>,
    pub report: Report,
}

/// Why nothing of a dump can be used, and where that is, from 1; 0 where it is about the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unreadable {
    pub message: String,
    pub line: usize,
    pub column: usize,
    pub is_too_large: bool,
    /// It holds neither nodes nor pods.
    pub is_nothing: bool,
}

impl Unreadable {
    fn whole(message: String) -> Self {
        Self { message, ..Self::default() }
    }

    /// That a text of so many bytes is not even looked at.
    pub fn too_large(bytes: usize) -> Self {
        let mb = |bytes: usize| bytes.div_ceil(1024 * 1024).to_string();
        let words = ["The dump has ", &mb(bytes), " MB; at most ", &mb(MOST_BYTES), " MB are read. "];
        let hint = "Leave out kinds that are not simulated, --show-managed-fields, or some namespaces.";
        Self { is_too_large: true, ..Self::whole(words.concat() + hint) }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "Line {}, column {}: ", self.line, self.column)?;
        }
        f.write_str(&self.message)
    }
}

impl From<Diagnostic> for Unreadable {
    fn from(it: Diagnostic) -> Self {
        let hint = it.hint.map_or_else(String::new, |hint| [". ", &hint].concat());
        let message = it.message + &hint;
        Self { message, line: it.line as usize, column: it.column as usize, ..Self::default() }
    }
}

impl From<serde_json::Error> for Unreadable {
    fn from(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        // Its own words end with the place.
        let reason = text.split(" at line ").next().unwrap_or_default();
        let message = ["This is not valid JSON: ", reason].concat();
        Self { message, line, column, ..Self::default() }
    }
}

/// The objects of a cluster as they stood, a line of JSON each. Copies share it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cluster(Name);

impl Cluster {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn of<'a>(objects: impl Iterator<Item = &'a Object>) -> Self {
        let mut text = String::new();
        for object in objects {
            // Whatever some reader of YAML takes for a line break or no text at all is written as an escape.
            for c in object.to_value().to_string().chars() {
                if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') {
                    text.push_str(&format!("\\u{:04x}", u32::from(c)));
                } else {
                    text.push(c);
                }
            }
            text.push('\n');
        }
        Self(text.into())
    }

    /// The objects.
    pub fn objects(&self) -> impl Iterator<Item = Object> {
        self.0.lines().filter_map(|line| {
            let value: Value = serde_json::from_str(line).ok()?;
            let kind = Kind::by_name(value.get("kind")?.as_str()?)?;
            Object::from_value(kind, value).ok()
        })
    }
}

impl Serialize for Cluster {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Cluster {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(String::deserialize(deserializer)?.into()))
    }
}

/// Whether a text may be a dump rather than a file of ours: objects of Kubernetes, as YAML or JSON.
pub fn looks_like_one(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let begins = |word: &str| text.starts_with(word);
    begins("{") || begins("apiVersion:") || begins("kind:") || begins("items:") || begins("---")
}

/// Reads a dump.
///
/// # Errors
/// Why nothing of it can be used. What is only wrong with some of its objects is in the report.
pub fn read(text: &str) -> Result<Dump, Unreadable> {
    if text.len() > MOST_BYTES {
        return Err(Unreadable::too_large(text.len()));
    }
    let mut reader = Reader::default();
    parse::each(text, &mut |value, line| reader.take(value, line))?;
    reader.finish()
}

#[derive(Default)]
struct Reader {
    cleaner: Cleaner,
    objects: Vec<Object>,
    /// Where each of them is.
    known: Map<ObjectKey, ()>,
    report: Report,
}

impl Reader {
    /// Takes one object as it was written.
    fn take(&mut self, mut value: Value, line: Option<u32>) {
        let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (version, name) = (text("apiVersion"), text("kind"));
        if name.is_empty() {
            return self.report.broken("something without a kind", line, "an object begins with apiVersion and kind");
        }
        let Some(kind) = Kind::find(&version, &name) else { return self.report.leave_out(&name, &version) };
        if kind == Kind::Lease {
            // Nodes get new ones; theirs tell how late it was.
            return self.cleaner.note_times(&value);
        }
        if !TAKEN.contains(&kind) || !is_of_use(kind, &value) {
            return self.report.leave_out(&name, "");
        }
        if self.objects.len() >= MOST_OBJECTS {
            return self.report.leave_out(&name, "beyond the limit");
        }
        if kind == Kind::HorizontalPodAutoscaler && !asks_for_cpu_alone(&value) {
            return self.report.leave_out(&name, "by metrics that are not simulated");
        }
        let who = clean::described(&name, &value);
        self.cleaner.clean(kind, &mut value);
        let read = Object::from_value(kind, value).map_err(|error| [&error.path, ": ", &error.message].concat());
        match read.and_then(sound) {
            Ok(object) if self.known.contains_key(&object.key()) => self.report.note_twice(),
            Ok(object) => {
                self.known.insert(object.key(), ());
                self.objects.push(object);
            }
            Err(why) => self.report.broken(&who, line, &why),
        }
    }

    /// Nodes that pods run on and that are not in the dump: as large as they must be, and with as much again.
    fn make_up_nodes(&mut self) {
        let mut needed: Map<Name, Usage> = Map::default();
        for pod in self.objects.iter().filter_map(Object::as_pod).filter(|it| it.is_assigned() && !it.is_finished()) {
            let node = &pod.spec.node_name;
            if !self.known.contains_key(&ObjectKey::node(node.clone())) {
                needed.or_default(node.clone()).add(Usage::of(pod));
            }
        }
        for (name, usage) in needed.iter() {
            let mut node = made_up(name, usage);
            // Its static pods know who it is.
            let all = self.objects.iter().flat_map(|it| &it.meta().owner_references);
            let mut known = all.filter(|it| it.kind == "Node" && it.name == *name);
            node.metadata.uid = known.next().map_or(node.metadata.uid, |it| it.uid);
            self.objects.push(Object::Node(Rc::new(node)));
            let n = usage.pods.to_string();
            let words = ["Node ", name, " is made up: ", &n, " of the pods run there, and the dump does not have it."];
            self.report.notes.push(words.concat());
        }
    }

    fn finish(mut self) -> Result<Dump, Unreadable> {
        self.make_up_nodes();
        let count = |kind: Kind| self.objects.iter().filter(|it| it.kind() == kind).count();
        self.report.read = TAKEN.into_iter().map(|kind| (kind, count(kind))).filter(|(_, n)| *n > 0).collect();
        self.report.dropped = self.cleaner.dropped();
        if self.report.count(Kind::Node) + self.report.count(Kind::Pod) == 0 {
            let found = self.report.lines();
            let found = if found.is_empty() { String::new() } else { [" ", &found.join(" ")].concat() };
            let is_nothing = true;
            return Err(Unreadable { is_nothing, ..Unreadable::whole([NOTHING, COMMAND, "`.", &found].concat()) });
        }
        let taken = self.cleaner.newest.filter(|it| CLOCKS.contains(it)).map(|it| it * 1_000);
        Ok(Dump { cluster: Cluster::of(self.objects.iter()), taken_ms: taken, report: self.report })
    }
}

fn made_up(name: &Name, usage: &Usage) -> Node {
    let mut node = Node::default();
    node.metadata.name = name.clone();
    node.metadata.uid = uid_of(&["Node//", name].concat());
    node.metadata.labels.insert("kubernetes.io/hostname".into(), name.to_string());
    let amounts = [
        ("cpu", Quantity::from_milli(usage.cpu_milli.saturating_mul(2).max(4_000))),
        ("memory", Quantity::from_bytes(usage.memory_bytes.saturating_mul(2).max(8 << 30))),
        ("pods", Quantity::from_units(usage.pods.saturating_mul(2).max(110))),
    ];
    for (resource, amount) in amounts {
        node.status.capacity.insert(resource.into(), amount);
        node.status.allocatable.insert(resource.into(), amount);
    }
    node.status.conditions.push(Condition::new("Ready", true).because("KubeletReady", ""));
    node
}

/// Whether CPU is all that an autoscaler goes by: what pods use of anything else nobody knows here.
fn asks_for_cpu_alone(value: &Value) -> bool {
    let metrics = value.pointer("/spec/metrics").and_then(Value::as_array).into_iter().flatten();
    let text = |it: &Value, path: &str| it.pointer(path).and_then(Value::as_str).map(str::to_owned);
    let mut metrics = metrics.map(|it| (text(it, "/type"), text(it, "/resource/name")));
    metrics.all(|(kind, name)| kind.as_deref() == Some("Resource") && name.as_deref() == Some("cpu"))
}

/// Of some kinds only what a controller made that is here too.
fn is_of_use(kind: Kind, value: &Value) -> bool {
    let owners: &[&str] = match kind {
        Kind::ControllerRevision => &["StatefulSet", "DaemonSet"],
        Kind::EndpointSlice => &["Service"],
        _ => return true,
    };
    let all = value.pointer("/metadata/ownerReferences").and_then(Value::as_array).into_iter().flatten();
    all.filter_map(|it| it.get("kind")?.as_str()).any(|it| owners.contains(&it))
}

/// An object that the API server could hold, with its defaults.
fn sound(mut object: Object) -> Result<Object, String> {
    apply_defaults(&mut object);
    if let Some(error) = validate_create(&object).into_iter().next() {
        return Err([&error.path, ": ", &error.message].concat());
    }
    let wanted = match &object {
        Object::Deployment(it) => it.spec.replicas,
        Object::ReplicaSet(it) => it.spec.replicas,
        Object::StatefulSet(it) => it.spec.replicas,
        Object::Job(it) => it.spec.parallelism.max(it.spec.completions),
        _ => None,
    };
    match wanted.filter(|it| *it > MOST_REPLICAS) {
        Some(n) => Err(format!("it asks for {n} pods; a simulation takes {MOST_REPLICAS} of one workload")),
        None => Ok(object),
    }
}
