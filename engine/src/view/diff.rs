//! What would change: two versions of an object, field by field.

use serde_json::{Map, Value};

use super::{Change, FieldChange, ObjectDiff};
use crate::api::{Kind, Name, Object};
use crate::apiserver::{LAST_APPLIED, owned_fields};
use crate::manifest::{self, Severity};
use crate::world::{Simulation, namespace_of};

/// Fields listed of one object.
const MOST_FIELDS: usize = 100;
/// Characters of a value.
const MOST_LETTERS: usize = 100;

/// What applying a manifest would change, object by object; computed as the API server would, and nothing is written.
/// Objects that cannot be read are left out: they have diagnostics.
pub fn dry_run(simulation: &Simulation, text: &str) -> Vec<ObjectDiff> {
    let manifest = manifest::read(text);
    let is_broken =
        |index: usize| manifest.diagnostics.iter().any(|it| it.document == index && it.severity == Severity::Error);
    let to_come: Vec<Name> = manifest.documents.iter().map(|it| &it.object).filter_map(named_space).collect();
    let readable = manifest.documents.iter().filter(|it| !is_broken(it.index));
    readable
        .map(|document| {
            let (kind, namespace) = (document.object.kind(), namespace_of(&document.object));
            let name = &document.object.meta().name;
            let key = crate::api::ObjectKey::new(kind, namespace.clone(), name.clone());
            let old = simulation.api().objects().get(&key);
            let (mut fields, refused) = match simulation.api().preview(kind, &namespace, &document.value, &to_come) {
                Ok(new) => (changes(old.map(Object::to_value).as_ref(), &new.to_value()), String::new()),
                Err(error) => (Vec::new(), format!("{} {}: {error}", error.code(), error.reason.name())),
            };
            let more = fields.len().saturating_sub(MOST_FIELDS);
            fields.truncate(MOST_FIELDS);
            ObjectDiff { title: format!("{} {name}", kind.name()), is_new: old.is_none(), refused, fields, more }
        })
        .collect()
}

fn named_space(object: &Object) -> Option<Name> {
    (object.kind() == Kind::Namespace).then(|| object.meta().name.clone())
}

/// The fields that differ, by path. What is reported in `status`, and what the API server counts, is left out.
pub fn changes(old: Option<&Value>, new: &Value) -> Vec<FieldChange> {
    let before = old.map(owned_fields).unwrap_or_default();
    let after = owned_fields(new);
    let mut paths: Vec<&Name> = before.keys().chain(after.keys()).collect();
    crate::sim::sort_by(&mut paths, |a, b| a.cmp(b));
    paths.dedup();
    let shown = paths.into_iter().filter(|path| before.get(*path) != after.get(*path) && !path.ends_with(LAST_APPLIED));
    shown
        .map(|path| {
            let (old, new) = (before.get(path), after.get(path));
            let change = match (old, new) {
                (None, _) => Change::Added,
                (_, None) => Change::Removed,
                _ => Change::Changed,
            };
            FieldChange { change, path: path.trim_start_matches('.').into(), old: text(old), new: text(new) }
        })
        .collect()
}

fn text(value: Option<&Value>) -> String {
    let text = match value {
        None => return String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    match text.char_indices().nth(MOST_LETTERS) {
        Some((at, _)) => [text.get(..at).unwrap_or_default(), "…"].concat(),
        None => text,
    }
}

/// What a person made of a base, on top of what became of it meanwhile. Lists count as one value.
pub fn rebase(base: &Value, mine: &Value, live: &Value) -> Value {
    match (base, mine, live) {
        _ if mine == base => live.clone(),
        (Value::Object(base), Value::Object(mine), Value::Object(live)) => {
            let mut merged = Map::new();
            let nothing = Value::Null;
            let of = |map: &'_ Map<String, Value>, key: &str| map.get(key).cloned().unwrap_or_default();
            for key in live.keys().chain(mine.keys().filter(|key| !live.contains_key(*key))) {
                let value = rebase(&of(base, key), &of(mine, key), &of(live, key));
                if value != nothing {
                    merged.insert(key.clone(), value);
                }
            }
            Value::Object(merged)
        }
        _ => mine.clone(),
    }
}
