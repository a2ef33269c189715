use serde_json::Value;

/// A value as YAML in the style of `kubectl get -o yaml`: keys in order, two spaces, lists at their key's depth.
pub fn to_yaml(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value, 0, false);
    out
}

fn indent(out: &mut String, depth: usize) {
    for _ in 0..depth {
        out.push_str("  ");
    }
}

fn write(out: &mut String, value: &Value, depth: usize, inline_first: bool) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (index, (key, value)) in map.iter().enumerate() {
                if index > 0 || !inline_first {
                    indent(out, depth);
                }
                scalar(out, key);
                out.push(':');
                nested(out, value, depth);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                indent(out, depth);
                out.push_str("- ");
                write(out, item, depth + 1, true);
            }
        }
        _ => {
            leaf(out, value, depth);
            out.push('\n');
        }
    }
}

fn nested(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            write(out, value, depth + 1, false);
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            write(out, value, depth, false);
        }
        _ => {
            out.push(' ');
            leaf(out, value, depth);
            out.push('\n');
        }
    }
}

fn leaf(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::String(text) if text.contains('\n') => {
            out.push_str(if text.ends_with('\n') { "|" } else { "|-" });
            for line in text.trim_end_matches('\n').split('\n') {
                out.push('\n');
                indent(out, depth + 1);
                out.push_str(line);
            }
        }
        Value::String(text) => scalar(out, text),
        Value::Object(_) => out.push_str("{}"),
        Value::Array(_) => out.push_str("[]"),
        other => out.push_str(&other.to_string()),
    }
}

/// Writes a text, quoted where it would otherwise be read as something else.
fn scalar(out: &mut String, text: &str) {
    let first_is_plain = text.starts_with(|c: char| c.is_ascii_alphanumeric() || "./_(".contains(c));
    let looks_like_a_number = text.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && text.bytes().all(|b| b.is_ascii_digit() || b"_:.-TZeEx+".contains(&b));
    let is_a_word = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word));
    let breaks = text.contains(": ") || text.contains(" #") || text.ends_with(':') || text.ends_with(' ');
    if first_is_plain && !looks_like_a_number && !is_a_word && !breaks {
        out.push_str(text);
    } else {
        out.push_str(&Value::from(text).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_kubectl_writes_them() {
        let value = serde_json::json!({
            "apiVersion": "v1",
            "metadata": { "labels": { "app": "web" }, "name": "a" },
            "spec": { "containers": [{ "image": "nginx:1", "name": "app", "args": ["--x", "true"] }], "empty": {}, "count": 3, "text": "3" },
        });
        let expected = "\
apiVersion: v1
metadata:
  labels:
    app: web
  name: a
spec:
  containers:
  - args:
    - \"--x\"
    - \"true\"
    image: nginx:1
    name: app
  count: 3
  empty: {}
  text: \"3\"
";
        assert_eq!(to_yaml(&value), expected);
        let read = crate::manifest::read(&to_yaml(&value).replace("apiVersion: v1", "apiVersion: v1\nkind: Pod"));
        assert_eq!(read.documents.len(), 1, "{:?}", read.diagnostics);
    }
}
