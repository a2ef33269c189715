//! Fields that a type does not have, taken out of a part of an object as the API server takes them out.

use serde_json::Value;

use super::schema::{Schema, Type};
use crate::api::Kind;

struct Walk {
    schema: Schema,
    path: String,
    found: Vec<String>,
}

impl Walk {
    fn value(&mut self, kind: Type, value: &mut Value) {
        let length = self.path.len();
        match (kind, value) {
            (Type::Struct(name), Value::Object(map)) => {
                let is_top = self.path.is_empty();
                map.retain(|key, value| {
                    // Directives of a strategic merge patch are no fields, and what is reported is in no manifest.
                    if key.starts_with('$') || is_top && matches!(key.as_str(), "apiVersion" | "kind" | "status") {
                        return true;
                    }
                    self.path.push_str(if is_top { "" } else { "." });
                    self.path.push_str(key);
                    let field = self.schema.field(name, key);
                    match field {
                        Some(field) => self.value(field.kind, value),
                        // What is taken away is not said to be there.
                        None if value.is_null() => {}
                        None => self.found.push(["unknown field \"", &self.path, "\""].concat()),
                    }
                    self.path.truncate(length);
                    field.is_some()
                });
            }
            (Type::List(item), Value::Array(items)) => {
                for (index, value) in items.iter_mut().enumerate() {
                    self.path.push_str(&["[", &index.to_string(), "]"].concat());
                    self.value(Type::named(item), value);
                    self.path.truncate(length);
                }
            }
            (Type::Map(item), Value::Object(map)) => {
                for (key, value) in map {
                    self.path.push_str(&["[", key, "]"].concat());
                    self.value(Type::named(item), value);
                    self.path.truncate(length);
                }
            }
            _ => {}
        }
    }
}

/// Takes the fields that a kind does not have out of a merge patch, and names them in the server's words:
/// `unknown field "spec.foo"`. The numbers of list items are those of the patch.
pub fn take_unknown(kind: Kind, patch: &mut Value) -> Vec<String> {
    let mut walk = Walk { schema: Schema::new(), path: String::new(), found: Vec::new() };
    if walk.schema.has(kind.name()) {
        walk.value(Type::Struct(kind.name()), patch);
    }
    walk.found
}

/// The same of the value that an operation of a JSON patch puts at a path such as `/spec/template`; whether the path
/// itself is that of a field which is unknown.
pub fn take_unknown_at(kind: Kind, pointer: &str, value: &mut Value) -> (Vec<String>, bool) {
    let mut walk = Walk { schema: Schema::new(), path: String::new(), found: Vec::new() };
    let mut at = Type::Struct(kind.name());
    if !walk.schema.has(kind.name()) {
        return (Vec::new(), false);
    }
    for part in pointer.split('/').skip(1).map(|it| it.replace("~1", "/").replace("~0", "~")) {
        let is_top = walk.path.is_empty();
        at = match at {
            Type::Struct(_) if is_top && matches!(part.as_str(), "apiVersion" | "kind" | "status") => Type::Any,
            Type::Struct(name) => {
                walk.path += if is_top { "" } else { "." };
                walk.path += &part;
                match walk.schema.field(name, &part) {
                    Some(field) => field.kind,
                    None => return (vec![["unknown field \"", &walk.path, "\""].concat()], true),
                }
            }
            Type::List(inner) | Type::Map(inner) => {
                walk.path += &["[", &part, "]"].concat();
                Type::named(inner)
            }
            _ => return (Vec::new(), false),
        };
    }
    walk.value(at, value);
    (walk.found, false)
}
