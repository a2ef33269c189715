//! A recorded course of kubectl commands, with the cluster's state at each.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use loopscope_engine::api::MicroTime;
use serde_json::Value;

pub struct Recording {
    pub name: String,
    pub state: Vec<Value>,
    pub state_clock: i64,
    /// Objects of other kinds and places that are there from the beginning.
    pub others: Vec<Value>,
    pub changes: Vec<Change>,
    pub steps: Vec<Step>,
    pub metrics: Option<Value>,
}

pub struct Change {
    /// In milliseconds since 1970.
    pub clock: i64,
    pub is_gone: bool,
    pub object: Value,
}

pub struct Step {
    pub cmd: String,
    pub stdin: Option<String>,
    pub files: Vec<(String, String)>,
    pub stdout: String,
    pub stderr: String,
    pub exit: Option<i32>,
    pub clock: i64,
    pub stopped_after: Option<i64>,
    /// When the last line of a step that waits came out, since its start.
    pub live_end: Option<i64>,
}

fn clock(value: &Value) -> i64 {
    MicroTime::parse(value.as_str().unwrap_or_default()).map_or(0, |it| it.0)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().into()
}

impl Recording {
    pub fn parse(name: &str, source: &str) -> Self {
        let value: Value = serde_json::from_str(source).unwrap_or_else(|error| panic!("{name}: {error}"));
        let list = |field: &str| value[field].as_array().cloned().unwrap_or_default();
        let others =
            list("initialObjects").iter().filter(|it| it["fromStep"] == 0).map(|it| it["object"].clone()).collect();
        let mut changes: Vec<Change> = list("changes").iter().map(change).collect();
        changes.sort_by_key(|it| it.clock);
        let steps = list("steps").iter().map(step).collect();
        let metrics = value.get("metrics").cloned();
        // A millisecond aside, what was there when the first step began.
        let state_clock = clock(&value["stateClock"]) - 10;
        Self { name: name.into(), state: list("state"), state_clock, others, changes, steps, metrics }
    }

    /// The changes later than an instant.
    pub fn after(&self, clock: i64) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(move |it| it.clock > clock)
    }

    /// Whether quotas were recorded: of those that were not, a step's own effects stay.
    pub fn has_quotas(&self) -> bool {
        self.state.iter().chain(self.changes.iter().map(|it| &it.object)).any(|it| it["kind"] == "ResourceQuota")
    }

    /// The objects at an instant.
    pub fn at(&self, clock: i64) -> impl Iterator<Item = &Value> {
        let id = |it: &Value| [text(&it["kind"]), text(&it["metadata"]["namespace"]), text(&it["metadata"]["name"])];
        let state = if clock < self.state_clock { &[] } else { self.state.as_slice() };
        let mut objects: BTreeMap<[String; 3], &Value> = state.iter().map(|it| (id(it), it)).collect();
        for change in self.changes.iter().take_while(|it| it.clock <= clock) {
            if change.is_gone {
                objects.remove(&id(&change.object));
            } else {
                objects.insert(id(&change.object), &change.object);
            }
        }
        objects.into_values()
    }
}

fn change(it: &Value) -> Change {
    Change { clock: clock(&it["clock"]), is_gone: it["type"] == "DELETED", object: it["object"].clone() }
}

fn step(it: &Value) -> Step {
    let files = match &it["files"] {
        Value::Object(map) => map.iter().map(|(name, body)| (name.clone(), text(body))).collect(),
        _ => Vec::new(),
    };
    Step {
        cmd: text(&it["cmd"]),
        stdin: it["stdin"].as_str().map(str::to_string),
        files,
        stdout: text(&it["stdout"]),
        stderr: text(&it["stderr"]),
        exit: it["exit"].as_i64().map(|it| it as i32),
        clock: clock(&it["clock"]),
        stopped_after: it["stoppedAfterMs"].as_i64(),
        live_end: it["live"].as_array().and_then(|it| it.last()).and_then(|it| it["ms"].as_i64()),
    }
}

/// The folder with the recordings.
pub fn folder() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = std::env::var_os("CONFORMANCE_DIR").map(PathBuf::from);
    let base = named.map_or_else(
        || own.join("tests/data"),
        |named| {
            let in_workspace = own.join("..").join(&named);
            if !named.exists() && in_workspace.exists() { in_workspace } else { named }
        },
    );
    base.join("kubectl")
}

/// All recordings of a folder by their names, packed or not.
pub fn read(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = file.file_name().to_string_lossy().to_string();
        if let Some(stem) = name.strip_suffix(".json") {
            found.push((stem.to_string(), std::fs::read_to_string(file.path()).expect("a recording")));
        } else if let Some(stem) = name.strip_suffix(".json.gz") {
            let mut text = String::new();
            let packed = std::fs::File::open(file.path()).expect("a recording");
            GzDecoder::new(packed).read_to_string(&mut text).expect("a packed recording");
            found.push((stem.to_string(), text));
        }
    }
    found.sort();
    found
}
