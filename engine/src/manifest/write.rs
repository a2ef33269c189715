//! Values as YAML, as kubectl writes them (`sigs.k8s.io/yaml`, go-yaml v2's emitter).

use serde_json::Value;

use super::scalar as resolve;

/// Lines are folded at the first space beyond this column.
const WIDTH: usize = 80;

/// A value as YAML in the style of `kubectl get -o yaml`: keys in order, two spaces, lists at their key's depth.
pub fn to_yaml(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => write(&mut out, value, 0, false),
        Value::Array(items) if !items.is_empty() => write(&mut out, value, 0, false),
        _ => {
            leaf(&mut out, value, 0);
            out.push('\n');
        }
    }
    out
}

fn indent(out: &mut String, depth: usize) {
    for _ in 0..depth {
        out.push_str("  ");
    }
}

fn write(out: &mut String, value: &Value, depth: usize, mut is_inline: bool) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if !std::mem::take(&mut is_inline) {
                    indent(out, depth);
                }
                scalar(out, key, usize::MAX);
                out.push(':');
                child(out, value, depth, true);
            }
        }
        Value::Array(items) => {
            for item in items {
                if !std::mem::take(&mut is_inline) {
                    indent(out, depth);
                }
                out.push('-');
                child(out, item, depth, false);
            }
        }
        _ => {}
    }
}

fn child(out: &mut String, value: &Value, depth: usize, of_map: bool) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            if of_map {
                out.push('\n');
            } else {
                out.push(' ');
            }
            write(out, value, depth + 1, !of_map);
        }
        Value::Array(items) if !items.is_empty() => {
            if of_map {
                out.push('\n');
                write(out, value, depth, false);
            } else {
                out.push(' ');
                write(out, value, depth + 1, true);
            }
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
        Value::String(text) if text.contains('\n') && can_be_literal(text) => literal(out, text, depth),
        Value::String(text) => scalar(out, text, depth),
        Value::Object(_) => out.push_str("{}"),
        Value::Array(_) => out.push_str("[]"),
        other => out.push_str(&other.to_string()),
    }
}

/// Nothing that stands in a text without an escape.
fn is_special(c: char) -> bool {
    (c.is_control() && c != '\n') || "\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}".contains(c)
}

fn can_be_literal(text: &str) -> bool {
    let has_space_before_break = text.contains(" \n") || text.ends_with(' ');
    !has_space_before_break && !text.chars().any(is_special)
}

fn literal(out: &mut String, text: &str, depth: usize) {
    out.push('|');
    if text.starts_with([' ', '\n']) {
        out.push('2');
    }
    let body = match text.strip_suffix('\n') {
        None => {
            out.push('-');
            text
        }
        Some(body) if body.ends_with('\n') || body.is_empty() => {
            out.push('+');
            body
        }
        Some(body) => body,
    };
    for line in body.split('\n') {
        out.push('\n');
        if !line.is_empty() {
            indent(out, depth + 1);
            out.push_str(line);
        }
    }
}

/// What YAML 1.1 would read as something else than a text.
pub fn is_ambiguous(text: &str) -> bool {
    text == "<<" || !matches!(resolve::plain(text), Ok(Value::String(_))) || is_time(text) || is_sixty(text)
}

/// `1:30`, which YAML 1.1 takes for ninety.
fn is_sixty(text: &str) -> bool {
    let body = text.trim_start_matches(['+', '-']);
    body.contains(':')
        && body.starts_with(|c: char| c.is_ascii_digit())
        && body.split(':').skip(1).all(|part| {
            let whole = part.split('.').next().unwrap_or_default();
            matches!(whole.len(), 1 | 2) && whole.bytes().all(|b| b.is_ascii_digit()) && whole < "60"
        })
        && body.bytes().all(|b| b.is_ascii_digit() || b == b':' || b == b'.' || b == b'_')
}

/// `2026-11-30`, or with a time behind it.
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |from: usize, to: usize| bytes.get(from..to).is_some_and(|it| it.iter().all(u8::is_ascii_digit));
    digits(0, 4)
        && bytes.get(4) == Some(&b'-')
        && matches!(bytes.len(), 8..)
        && bytes.iter().all(|b| b.is_ascii_digit() || b"-:.TtZz +".contains(b))
        && bytes.iter().filter(|b| **b == b'-').count() >= 2
}

/// Whether a text may stand without quotes (`yaml_emitter_analyze_scalar`).
fn is_plain(text: &str) -> bool {
    let mut before = ' ';
    let chars: Vec<char> = text.chars().collect();
    if text.starts_with("---") || text.starts_with("...") || text.starts_with(' ') || text.ends_with(' ') {
        return false;
    }
    for (index, c) in chars.iter().enumerate() {
        let ends = chars.get(index + 1).is_none_or(|next| matches!(next, ' ' | '\t' | '\n'));
        let is_indicator = match c {
            '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`'
                if index == 0 =>
            {
                true
            }
            '?' | '-' if index == 0 => ends,
            ':' => ends,
            '#' => before == ' ' || before == '\t',
            _ => false,
        };
        if is_indicator {
            return false;
        }
        before = *c;
    }
    true
}

/// Writes a text, quoted where it would otherwise be read as something else; folded where it is long.
fn scalar(out: &mut String, text: &str, depth: usize) {
    let is_odd = text.chars().any(|c| is_special(c) || c == '\n');
    if is_odd || is_ambiguous(text) {
        quoted(out, text);
    } else if is_plain(text) {
        fold(out, text, depth);
    } else {
        out.push('\'');
        fold(out, &text.replace('\'', "''"), depth);
        out.push('\'');
    }
}

/// In double quotes, whatever is in it.
fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        let short = match c {
            '"' | '\\' => Some(c),
            '\0' => Some('0'),
            '\t' => Some('t'),
            '\n' => Some('n'),
            '\r' => Some('r'),
            _ => None,
        };
        match short {
            Some(letter) => out.extend(['\\', letter]),
            None if is_special(c) => {
                let (letter, shifts): (_, &[u32]) =
                    if u32::from(c) < 256 { ('x', &[4, 0]) } else { ('u', &[12, 8, 4, 0]) };
                out.extend(['\\', letter]);
                let digit = |shift: &u32| char::from_digit(u32::from(c) >> shift & 15, 16);
                out.extend(shifts.iter().filter_map(digit).map(|it| it.to_ascii_uppercase()));
            }
            None => out.push(c),
        }
    }
    out.push('"');
}

fn fold(out: &mut String, text: &str, depth: usize) {
    if depth == usize::MAX {
        out.push_str(text);
        return;
    }
    let mut column = out.len() - out.rfind('\n').map_or(0, |at| at + 1);
    let chars: Vec<char> = text.chars().collect();
    for (index, c) in chars.iter().enumerate() {
        let next = chars.get(index + 1);
        if *c == ' ' && column > WIDTH && index > 0 && next.is_some_and(|it| *it != ' ') && chars[index - 1] != ' ' {
            out.push('\n');
            indent(out, depth + 1);
            column = 2 * (depth + 1);
        } else {
            out.push(*c);
            column += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
    - --x
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

    #[test]
    fn texts_are_quoted_as_go_yaml_quotes_them() {
        for (text, written) in [
            ("--x", "--x"),
            ("true", "\"true\""),
            ("3", "\"3\""),
            ("1e3", "\"1e3\""),
            ("0x1f", "\"0x1f\""),
            ("a: b", "'a: b'"),
            ("it's", "it's"),
            ("'q'", "'''q'''"),
            ("*", "'*'"),
            ("", "\"\""),
            ("2026-11-30T04:45:31Z", "\"2026-11-30T04:45:31Z\""),
            ("1:30", "\"1:30\""),
            ("app:v1", "app:v1"),
            ("25%", "25%"),
            ("10.0.0.1", "10.0.0.1"),
            ("a\nb", "|-\n  a\n  b"),
            ("a\n", "|\n  a"),
        ] {
            assert_eq!(to_yaml(&serde_json::json!({ "a": text })), ["a: ", written, "\n"].concat());
        }
    }

    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[ \\t\\n\\r#:'\"a-c\\-|>\\\\\u{0}\u{7f}\u{85}\u{a0}\u{2028}\u{feff}ä😀]{0,20}",
            "[-+]{0,2}[0-9._:exobEXTZ~-]{0,12}",
            "[a-z<~%@`!&*?{}\\[\\],=.]{0,5}",
            "([a-c#:'\"-]{1,9} {1,2}){9,30}[a-c]",
        ]
    }

    proptest! {
        /// Whatever a text holds, it is read as it was written.
        #[test]
        fn every_text_is_read_as_it_was_written(text in any_text(), key in "[a-c #:\\-]{1,5}") {
            let value = serde_json::json!({ key: text, "list": [text, { "deep": text, "next": 1 }, [text]] });
            let written = to_yaml(&value);
            prop_assert_eq!(crate::manifest::value(&written), Ok(value), "{}", written);
        }
    }
}
