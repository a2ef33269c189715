//! JSON texts.

use serde_json::Value;

/// A value of a field.
pub(super) enum To<'a> {
    Text(&'a str),
    Number(u64),
    /// JSON already.
    Json(&'a str),
}

pub(super) fn text(out: &mut String, text: &str) {
    out.push_str(&Value::from(text).to_string());
}

/// An object of these fields, without those that are an empty text.
pub(super) fn object(out: &mut String, fields: &[(&str, To<'_>)]) {
    let mut before = '{';
    for (name, value) in fields.iter().filter(|(_, value)| !matches!(value, To::Text(""))) {
        out.push(before);
        before = ',';
        text(out, name);
        out.push(':');
        match value {
            To::Text(value) => text(out, value),
            To::Number(number) => out.push_str(&number.to_string()),
            To::Json(json) => out.push_str(json),
        }
    }
    out.push_str(if before == '{' { "{}" } else { "}" });
}

/// One more object of a list, on a line of its own.
pub(super) fn item(out: &mut String, fields: &[(&str, To<'_>)]) {
    out.push_str(if out.ends_with('[') { "\n" } else { ",\n" });
    object(out, fields);
}
