//! Values as YAML.

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
        Value::String(text) if is_block(text) => {
            out.push_str(if text.ends_with('\n') { "|" } else { "|-" });
            for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
                out.push('\n');
                if !line.is_empty() {
                    indent(out, depth + 1);
                }
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
    let is_simple = text.chars().all(|c| is_printable(c) && c != '\n' && c != '\t');
    if first_is_plain && is_simple && !looks_like_a_number && !is_a_word && !breaks {
        out.push_str(text);
    } else {
        quoted(out, text);
    }
}

/// Whether a text of several lines is read from a block as it was written.
fn is_block(text: &str) -> bool {
    let begins_well = !text.starts_with([' ', '\t', '\n']);
    let ends_well = !text.ends_with("\n\n") && !text.ends_with(" \n") && !text.ends_with([' ', '\t']);
    text.contains('\n') && begins_well && ends_well && !text.contains("\n\t") && text.chars().all(is_printable)
}

/// YAML takes it in a text without an escape, and as itself.
fn is_printable(c: char) -> bool {
    let is_special = "\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}".contains(c);
    matches!(c, '\n' | '\t') || !(c.is_control() || is_special)
}

/// In double quotes, whatever is in it.
fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if is_printable(c) => out.push(c),
            c => {
                out.push_str("\\u");
                let digit = |shift: u32| char::from_digit(u32::from(c) >> shift & 15, 16);
                out.extend([12, 8, 4, 0].into_iter().filter_map(digit));
            }
        }
    }
    out.push('"');
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

    proptest::proptest! {
        /// Whatever a text holds, it is read as it was written.
        #[test]
        fn every_text_is_read_as_it_was_written(
            text in "[ \\t\\n\\r#:'\"a-c\\-|>\\\\\u{0}\u{7f}\u{85}\u{a0}\u{2028}\u{feff}ä😀]{0,20}",
            key in "[a-c #:\\-]{1,5}",
        ) {
            let value = serde_json::json!({ key: text, "list": [text, { "deep": text }] });
            let written = to_yaml(&value);
            proptest::prop_assert_eq!(crate::manifest::value(&written), Ok(value), "{}", written);
        }
    }
}
