//! JSON and KYAML as kubectl writes them.

use serde_json::Value;

use crate::manifest::is_ambiguous;

/// JSON with indentation by so many spaces.
pub fn to_json(value: &Value, by: usize) -> String {
    let mut out = String::new();
    json(&mut out, value, by, 0);
    out
}

fn spaces(out: &mut String, count: usize) {
    for _ in 0..count {
        out.push(' ');
    }
}

fn json(out: &mut String, value: &Value, by: usize, depth: usize) {
    let (open, close, count) = match value {
        Value::Object(map) if !map.is_empty() => ('{', '}', map.len()),
        Value::Array(items) if !items.is_empty() => ('[', ']', items.len()),
        Value::String(_) => return out.push_str(&go_json(&value.to_string())),
        other => return out.push_str(&other.to_string()),
    };
    out.push(open);
    out.push('\n');
    let mut left = count;
    let mut each = |out: &mut String, name: Option<&str>, value: &Value| {
        spaces(out, by * (depth + 1));
        if let Some(name) = name {
            out.push_str(&go_json(&Value::from(name).to_string()));
            out.push_str(": ");
        }
        json(out, value, by, depth + 1);
        left -= 1;
        out.push_str(if left > 0 { ",\n" } else { "\n" });
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(name, value)| each(out, Some(name), value)),
        Value::Array(items) => items.iter().for_each(|value| each(out, None, value)),
        _ => {}
    }
    spaces(out, by * depth);
    out.push(close);
}

/// Go's encoder writes what could be taken for HTML as numbers.
pub fn go_json(text: &str) -> String {
    if !text.contains(['<', '>', '&']) {
        return text.into();
    }
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// KYAML: YAML that is written like JSON (`sigs.k8s.io/yaml/kyaml`).
pub fn to_kyaml(value: &Value) -> String {
    let mut out = String::from("---\n");
    kyaml(&mut out, value, 0);
    out.push('\n');
    out
}

fn indent(out: &mut String, depth: usize) {
    spaces(out, 2 * depth);
}

fn kyaml(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push_str("{\n");
            for (name, value) in map {
                indent(out, depth + 1);
                let is_bare =
                    !is_ambiguous(name) && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
                out.push_str(&if is_bare { name.clone() } else { Value::from(name.as_str()).to_string() });
                out.push_str(": ");
                kyaml(out, value, depth + 1);
                out.push_str(",\n");
            }
            indent(out, depth);
            out.push('}');
        }
        Value::Array(items) if items.iter().any(|it| it.is_object() || it.is_array()) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                kyaml(out, item, depth);
            }
            out.push(']');
        }
        Value::Array(items) if !items.is_empty() => {
            out.push_str("[\n");
            for item in items {
                indent(out, depth + 1);
                kyaml(out, item, depth + 1);
                out.push_str(",\n");
            }
            indent(out, depth);
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}
