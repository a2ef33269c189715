//! The patch that `kubectl apply` computes, for the words of its errors: what the API server refuses quotes it.

use serde_json::{Map, Value};

use super::errors::Problem;
use super::jsonpath::go;
use super::value::text;
use crate::api::{Kind, Object};
use crate::apiserver::{LAST_APPLIED, configuration, merge_keys};
use crate::manifest::{Manifest, Severity, Stage};

/// Stands in a map of which a list has changed: the server takes such lists out before it prints the patch.
const LIST: &str = "$list";

fn items_differ(live: &[Value], new: &[Value]) -> bool {
    new.iter().any(|item| {
        let own = live.iter().find(|it| text(it, "name") == text(item, "name"));
        own.is_none_or(|own| difference(None, own, item).as_object().is_none_or(|it| !it.is_empty()))
    })
}

/// What changes a live object to what a manifest says, without what an earlier one said.
fn difference(last: Option<&Value>, live: &Value, new: &Value) -> Value {
    let (Value::Object(old), Value::Object(map)) = (live, new) else { return new.clone() };
    let mut patch = Map::new();
    for (name, value) in map.iter().filter(|(_, value)| !value.is_null()) {
        let before = last.and_then(|it| it.get(name));
        match (old.get(name), value) {
            (None, value) => drop(patch.insert(name.clone(), value.clone())),
            (Some(own @ Value::Object(_)), Value::Object(_)) => {
                let inner = difference(before, own, value);
                if inner.as_object().is_some_and(|it| !it.is_empty()) {
                    patch.insert(name.clone(), inner);
                }
            }
            (Some(Value::Array(own)), Value::Array(items)) if merge_keys(name).is_some() => {
                if items_differ(own, items) {
                    patch.insert(LIST.into(), Value::Null);
                }
            }
            (Some(own), value) if own == value => {}
            (Some(_), value) => drop(patch.insert(name.clone(), value.clone())),
        }
    }
    for name in last.and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name) {
        if !map.contains_key(name) {
            patch.insert(name.clone(), Value::Null);
        }
    }
    Value::Object(patch)
}

fn without_lists(value: &mut Value) {
    if let Value::Object(map) = value {
        map.remove(LIST);
        map.values_mut().for_each(without_lists);
    }
}

/// The patch of an apply.
fn patch(live: &Object, new: &Value) -> Value {
    let namespace = &live.meta().namespace;
    let modified = configuration(new, namespace);
    let last = live.meta().annotations.get(LAST_APPLIED).and_then(|it| serde_json::from_str::<Value>(it).ok());
    let mut with_last = modified.clone();
    super::value::set(&mut with_last, "metadata.annotations", {
        let text = [&modified.to_string(), "\n"].concat();
        super::value::object(&[(LAST_APPLIED, text.into())])
    });
    let mut last = last;
    if let Some(annotations) = last.as_mut().and_then(|it| it.pointer_mut("/metadata/annotations")) {
        *annotations = Value::Null;
    }
    let mut patch = difference(last.as_ref(), &live.to_value(), &with_last);
    without_lists(&mut patch);
    patch
}

/// How the server says that a value has the wrong type.
fn wrong_type(upstream: &str) -> Option<String> {
    let rest = upstream.rsplit_once("cannot unmarshal ").map(|(_, rest)| rest)?;
    let (found, _) = rest.split_once(" into Go struct field")?;
    let (_, wanted) = rest.rsplit_once(" of type ")?;
    Some(match (found, wanted) {
        (number, "int32" | "int64") if number.starts_with("number ") && number.contains('.') => {
            ["cannot convert float64 to ", wanted].concat()
        }
        (number, "int32" | "int64") if number.starts_with("number") => return None,
        (_, "int32" | "int64") => ["unrecognized type: ", wanted].concat(),
        ("object", wanted) if wanted.starts_with("[]") => "cannot restore slice from map".into(),
        (number, wanted) if number.starts_with("number") => ["cannot convert int64 to ", wanted].concat(),
        ("bool", wanted) => ["cannot convert bool to ", wanted].concat(),
        _ => return None,
    })
}

/// What the API server says of the patch to an object that is there, where a manifest of one document has a value of
/// the wrong type or an unknown field.
pub fn refusal(manifest: &Manifest, source: &str, live: impl Fn(Kind, &Value) -> Option<Object>) -> Option<Problem> {
    let found: Vec<_> = manifest.diagnostics.iter().filter(|it| it.upstream.is_some()).collect();
    let error = found.iter().find(|it| it.severity == Severity::Error);
    let why = match error {
        Some(it) if it.stage != Stage::Decode || it.path.starts_with("metadata.") => return None,
        Some(it) => {
            let upstream = it.upstream.as_deref()?;
            match upstream.find("quantities must match") {
                Some(at) => upstream[at..].to_string(),
                None => wrong_type(upstream)?,
            }
        }
        None => {
            let mut fields: Vec<&str> = Vec::new();
            for it in found.iter().filter(|it| it.severity == Severity::Warning && it.stage != Stage::Nobody) {
                fields.extend(it.upstream.as_deref());
            }
            crate::sim::sort_by(&mut fields, |a, b| a.cmp(b));
            if fields.is_empty() {
                return None;
            }
            ["strict decoding error: ", &fields.join(", ")].concat()
        }
    };
    // Only now, since reading a long text again takes its time.
    let value = crate::manifest::value(source).ok()?;
    let kind = Kind::find(text(&value, "apiVersion"), text(&value, "kind"))?;
    let live = live(kind, &value)?;
    let quoted = Value::from(go(&patch(&live, &value))).to_string();
    Some(Problem::Plain(["The request is invalid: patch: Invalid value: ", &quoted, ": ", &why].concat()))
}

/// What stands before the server's words where it refuses a patch as a whole.
pub fn during(live: &Object, new: &Value, source: &str) -> String {
    let kind = live.kind();
    let of = |last: &str, name: &str| ["\"", kind.group(), "/", kind.version(), ", ", last, "=", name, "\""].concat();
    let meta = live.meta();
    [
        "error when applying patch:\n",
        &patch(live, new).to_string(),
        "\nto:\nResource: ",
        &of("Resource", kind.plural()),
        ", GroupVersionKind: ",
        &of("Kind", kind.name()),
        "\nName: \"",
        &meta.name,
        "\", Namespace: \"",
        &meta.namespace,
        "\"\nfor: \"",
        source,
        "\": error when patching \"",
        source,
        "\"",
    ]
    .concat()
}
