//! YAML, JSON and KYAML as kubectl writes them (`sigs.k8s.io/yaml`, go-yaml v2's emitter).

use serde_json::Value;

/// Lines are folded at the first space beyond this column.
const WIDTH: usize = 80;

/// Writes a value as YAML.
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

fn is_special(c: char) -> bool {
    (c < ' ' && c != '\n') || c == '\u{7f}' || c == '\u{feff}' || ('\u{80}'..'\u{a0}').contains(&c)
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
fn is_ambiguous(text: &str) -> bool {
    const WORDS: [&str; 22] = [
        "true", "True", "TRUE", "false", "False", "FALSE", "null", "Null", "NULL", "~", "yes", "Yes", "YES", "no",
        "No", "NO", "on", "On", "ON", "off", "Off", "OFF",
    ];
    const LETTERS: [&str; 7] = ["y", "Y", "n", "N", "<<", ".nan", ".inf"];
    if text.is_empty() || WORDS.contains(&text) || LETTERS.contains(&text) {
        return true;
    }
    let body = text.trim_start_matches(['+', '-']);
    if [".inf", ".Inf", ".INF", ".NaN", ".NAN"].contains(&body) {
        return true;
    }
    is_number(body) || is_time(text) || is_sixty(body)
}

fn is_number(body: &str) -> bool {
    let plain: String = body.chars().filter(|c| *c != '_').collect();
    let digits = |text: &str, radix: u32| !text.is_empty() && text.chars().all(|c| c.is_digit(radix));
    for (prefix, radix) in [("0x", 16), ("0b", 2), ("0o", 8)] {
        if let Some(rest) = plain.strip_prefix(prefix) {
            return digits(rest, radix);
        }
    }
    if !body.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return false;
    }
    let (mantissa, exponent) = plain.split_once(['e', 'E']).map_or((plain.as_str(), None), |(m, e)| (m, Some(e)));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let has_digits = !whole.is_empty() || !part.is_empty();
    has_digits && all(whole) && all(part) && exponent.is_none_or(|it| digits(it.trim_start_matches(['+', '-']), 10))
}

/// `1:30`, which YAML 1.1 takes for ninety.
fn is_sixty(body: &str) -> bool {
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
        out.push_str(&Value::from(text).to_string());
    } else if is_plain(text) {
        fold(out, text, depth);
    } else {
        out.push('\'');
        fold(out, &text.replace('\'', "''"), depth);
        out.push('\'');
    }
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
