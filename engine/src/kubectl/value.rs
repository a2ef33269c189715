//! Reading fields of objects as the API writes them.

use serde_json::{Map, Value};

static NULL: Value = Value::Null;

/// The field at a path such as `spec.replicas`; null where there is none.
pub fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    let mut value = value;
    for part in path.split('.') {
        let found = match value {
            Value::Object(map) => map.get(part),
            Value::Array(items) => part.parse::<usize>().ok().and_then(|index| items.get(index)),
            _ => None,
        };
        let Some(found) = found else { return &NULL };
        value = found;
    }
    value
}

/// A text; empty where there is none.
pub fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    at(value, path).as_str().unwrap_or_default()
}

/// A whole number; 0 where there is none.
pub fn int(value: &Value, path: &str) -> i64 {
    at(value, path).as_i64().unwrap_or(0)
}

pub fn flag(value: &Value, path: &str) -> bool {
    at(value, path).as_bool().unwrap_or(false)
}

/// The items of a list; none where there is no list.
pub fn list<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    at(value, path).as_array().map_or(&[], Vec::as_slice)
}

/// Names and values of a map; none where there is no map.
pub fn map<'a>(value: &'a Value, path: &str) -> Option<&'a Map<String, Value>> {
    at(value, path).as_object()
}

pub fn has(value: &Value, path: &str) -> bool {
    !at(value, path).is_null()
}

/// A number or a text as it stands.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// `a=1,b=2`, or `<none>`.
pub fn labels(map: Option<&Map<String, Value>>) -> String {
    let mut out = String::new();
    for (name, value) in map.into_iter().flatten() {
        if !out.is_empty() {
            out.push(',');
        }
        out += &[name.as_str(), "=", value.as_str().unwrap_or_default()].concat();
    }
    or_none(out)
}

pub fn or_none(text: String) -> String {
    or(text, "<none>")
}

pub fn or(text: String, other: &str) -> String {
    if text.is_empty() { other.into() } else { text }
}

/// Puts a value at a path, making maps on the way.
pub fn set(value: &mut Value, path: &str, new: Value) {
    let mut value = value;
    for part in path.split('.') {
        if !value.is_object() {
            *value = Value::Object(Map::new());
        }
        let Value::Object(map) = value else { return };
        value = map.entry(part).or_insert(Value::Null);
    }
    *value = new;
}

/// A JSON object of pairs that are known only when it runs.
pub fn object(pairs: &[(&str, Value)]) -> Value {
    let mut map = Map::new();
    for (name, value) in pairs {
        map.insert((*name).into(), value.clone());
    }
    Value::Object(map)
}

/// A label selector (`metav1.LabelSelector`) as kubectl writes it: `app=web,tier in (a,b)`.
pub fn selector(selector: &Value) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (key, value) in map(selector, "matchLabels").into_iter().flatten() {
        parts.push([key.as_str(), "=", value.as_str().unwrap_or_default()].concat());
    }
    for it in list(selector, "matchExpressions") {
        let key = text(it, "key");
        let mut values: Vec<&str> = list(it, "values").iter().filter_map(Value::as_str).collect();
        crate::sim::sort_by(&mut values, |a, b| a.cmp(b));
        let values = values.join(",");
        parts.push(match text(it, "operator") {
            "In" => [key, " in (", &values, ")"].concat(),
            "NotIn" => [key, " notin (", &values, ")"].concat(),
            "Exists" => key.into(),
            _ => ["!", key].concat(),
        });
    }
    let key_of = |part: &str| {
        let part = part.trim_start_matches('!');
        part[..part.find(['=', ' ']).unwrap_or(part.len())].to_string()
    };
    crate::sim::sort_by(&mut parts, |a, b| key_of(a).cmp(&key_of(b)));
    or_none(parts.join(","))
}
