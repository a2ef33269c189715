//! Names that a recording and a run have in common.
//!
//! Generated names differ from run to run. Each is replaced by what it stands for: `web#1` is the second ReplicaSet of
//! the Deployment web, `web#1/3` the fourth pod of that ReplicaSet, `agent/2` the third pod of the DaemonSet agent.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::recording::{Change, ChangeType, controller};

#[derive(Debug, Default)]
pub struct Names {
    /// What each ReplicaSet is called, by name; the first that had the name.
    sets: BTreeMap<String, String>,
    /// What each pod with a generated name is called: its owner, and its number among those that the owner created.
    pods: BTreeMap<String, (String, usize)>,
    slices: BTreeMap<String, String>,
    /// Hashes of templates and revisions.
    hashes: BTreeMap<String, String>,
    namespace: String,
}

impl Names {
    pub fn of(changes: &[Change], namespace: &str) -> Self {
        let mut all = Self { namespace: namespace.into(), ..Self::default() };
        let mut sets_of: BTreeMap<String, usize> = BTreeMap::new();
        let mut pods_of: BTreeMap<String, usize> = BTreeMap::new();
        for change in changes {
            all.learn_hashes(change);
            if change.change != ChangeType::Added {
                continue;
            }
            let owner = controller(&change.fields);
            match (change.kind.as_str(), owner) {
                ("ReplicaSet", Some((_, deployment))) => {
                    let number = sets_of.entry(deployment.clone()).or_default();
                    all.sets.entry(change.name.clone()).or_insert(format!("{deployment}#{number}"));
                    *number += 1;
                }
                ("Pod", Some((kind, owner))) if kind != "StatefulSet" => {
                    let owner = all.sets.get(&owner).cloned().unwrap_or(owner);
                    let number = pods_of.entry(owner.clone()).or_default();
                    all.pods.insert(change.name.clone(), (owner, *number));
                    *number += 1;
                }
                ("EndpointSlice", Some((_, service))) => {
                    all.slices.insert(change.name.clone(), format!("{service}/slice"));
                }
                _ => {}
            }
        }
        all
    }

    fn learn_hashes(&mut self, change: &Change) {
        let owner = controller(&change.fields).map_or_else(|| change.name.clone(), |(_, name)| name);
        let label = |key: &str| change.fields.get("labels")?.get(key)?.as_str();
        let revision = |key: &str| change.fields.get("status")?.get(key)?.as_str();
        if change.kind == "ReplicaSet"
            && let Some(hash) = label("pod-template-hash")
        {
            let number = self.hashes.values().filter(|it| it.starts_with(&format!("hash {owner} "))).count();
            self.hashes.entry(hash.into()).or_insert(format!("hash {owner} {number}"));
        }
        let revisions = ["currentRevision", "updateRevision"].map(revision).into_iter().flatten();
        let revisions: Vec<String> = revisions.map(str::to_string).collect();
        let labels = label("controller-revision-hash").map(str::to_string);
        for text in revisions.into_iter().chain(labels) {
            let bare = text.strip_prefix(&format!("{owner}-")).unwrap_or(&text);
            let number = self.hashes.values().filter(|it| it.starts_with(&format!("revision {owner} "))).count();
            self.hashes.entry(bare.into()).or_insert(format!("revision {owner} {number}"));
        }
    }

    /// What an object is called: `ReplicaSet web#0`, `Pod web#0/3`, `Node node-1`.
    pub fn object(&self, kind: &str, name: &str) -> String {
        match kind {
            "ReplicaSet" => format!("{kind} {}", self.sets.get(name).map_or(name, |it| it)),
            "EndpointSlice" => format!("{kind} {}", self.slices.get(name).map_or(name, |it| it)),
            "Pod" => match self.pods.get(name) {
                Some((owner, number)) => format!("{kind} {owner}/{number}"),
                None => format!("{kind} {name}"),
            },
            _ => format!("{kind} {name}"),
        }
    }

    /// As [`Names::object`], with all pods of one owner called the same.
    pub fn group(&self, kind: &str, name: &str) -> String {
        match self.pods.get(name).filter(|_| kind == "Pod") {
            Some((owner, _)) => format!("{kind} {owner}/*"),
            None => self.object(kind, name),
        }
    }

    /// The hash here of the template that is called so.
    pub fn find_hash(&self, called: &str) -> Option<&str> {
        self.hashes.iter().find(|(_, it)| *it == called).map(|(hash, _)| hash.as_str())
    }

    /// The name here of what is called so elsewhere.
    pub fn find(&self, kind: &str, called: &str) -> Option<String> {
        let matches = |name: &&String| self.object(kind, name) == called;
        match kind {
            "ReplicaSet" => self.sets.keys().find(matches).cloned(),
            "Pod" => self.pods.keys().find(matches).cloned(),
            _ => None,
        }
    }

    /// A text with all generated names replaced; pods of one owner are told apart by nothing.
    pub fn text(&self, text: &str) -> String {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let mut told = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            told.push_str(&self.word(word));
            let next = after.chars().next();
            told.extend(next);
            rest = after.get(next.map_or(0, char::len_utf8)..).unwrap_or_default();
        }
        told
    }

    fn word(&self, word: &str) -> String {
        if let Some((owner, _)) = self.pods.get(word) {
            return format!("{owner}/*");
        }
        if let Some(name) = self.sets.get(word).or_else(|| self.slices.get(word)).or_else(|| self.hashes.get(word)) {
            return name.clone();
        }
        if let Some(set) = word.rsplit_once('-').and_then(|(set, end)| self.sets.get(set).filter(|_| end.len() == 5)) {
            // A pod that was to be created, and was refused.
            return format!("{set}/*");
        }
        if word == self.namespace {
            return "NAMESPACE".into();
        }
        if is_uuid(word) {
            return "UID".into();
        }
        // A revision's name: that of its owner and a hash.
        match word.rsplit_once('-').and_then(|(owner, hash)| Some((owner, self.hashes.get(hash)?))) {
            Some((owner, hash)) => format!("{owner}-{hash}"),
            None => word.into(),
        }
    }

    /// A value with all texts and keys as [`Names::text`] writes them.
    pub fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.text(text).into(),
            Value::Array(list) => list.iter().map(|it| self.value(it)).collect(),
            Value::Object(map) => {
                let told: Map<String, Value> = map.iter().map(|(key, it)| (key.clone(), self.value(it))).collect();
                told.into()
            }
            other => other.clone(),
        }
    }
}

fn is_uuid(word: &str) -> bool {
    word.len() == 36 && word.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn generated_names_are_told_by_what_they_stand_for() {
        let owned = |kind: &str, name: &str, by: &str, owner: &str| {
            let owner = serde_json::json!({"owners": [{"kind": by, "name": owner, "controller": true}],
                "labels": {"pod-template-hash": "5d5f"}});
            let fields = Rc::new(owner.as_object().unwrap().clone());
            let (kind, name) = (kind.to_string(), name.to_string());
            Change { t: 0, rv: 0, change: ChangeType::Added, kind, name, fields, changed: Vec::new() }
        };
        let changes = [
            owned("ReplicaSet", "web-5d5f", "Deployment", "web"),
            owned("Pod", "web-5d5f-x2", "ReplicaSet", "web-5d5f"),
        ];
        let names = Names::of(&changes, "t-1");
        assert_eq!(names.object("Pod", "web-5d5f-x2"), "Pod web#0/0");
        assert_eq!(names.text("Created pod: web-5d5f-x2 in t-1/web."), "Created pod: web#0/* in NAMESPACE/web.");
        assert_eq!(names.find("Pod", "Pod web#0/0").as_deref(), Some("web-5d5f-x2"));
        assert_eq!(names.text("fde401b6-993b-4b39-8093-39b1d42df67f 5d5f"), "UID hash web 0");
    }
}
