//! Names that depend on a hash: what the recording calls `web-865c8744` has other letters here.

use serde_json::Value;

/// Pairs of hashes, theirs and ours.
#[derive(Clone, Debug, Default)]
pub struct Names(Vec<(String, String)>);

impl Names {
    /// Learns that two names that end in a hash are of one object.
    pub fn learn(&mut self, theirs: &str, ours: &str) {
        let tail = |name: &str| name.rsplit('-').next().unwrap_or(name).to_string();
        let pair = (tail(theirs), tail(ours));
        self.0.retain(|(theirs, _)| *theirs != pair.0);
        self.0.push(pair);
    }

    pub fn ours(&self, text: &str) -> String {
        self.0.iter().fold(text.to_string(), |text, (theirs, ours)| text.replace(theirs, ours))
    }

    pub fn theirs(&self, text: &str) -> String {
        self.0.iter().fold(text.to_string(), |text, (theirs, ours)| text.replace(ours, theirs))
    }

    /// A value with our names for theirs.
    pub fn ours_in(&self, value: &Value) -> Value {
        each_text(value, &|text| self.ours(text))
    }

    pub fn theirs_in(&self, value: &Value) -> Value {
        each_text(value, &|text| self.theirs(text))
    }
}

fn each_text(value: &Value, change: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(text)),
        Value::Array(items) => items.iter().map(|item| each_text(item, change)).collect(),
        Value::Object(map) => map.iter().map(|(key, item)| (change(key), each_text(item, change))).collect(),
        other => other.clone(),
    }
}
