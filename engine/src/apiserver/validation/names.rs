//! Names, labels and ports (`apimachinery/pkg/util/validation`, v1.36). Each returns what is wrong.

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const QUALIFIED: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const CONFIG_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const PERCENT: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
const PORT_RANGE: &str = "must be between 1 and 65535, inclusive";

fn is_lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// Starts and ends with one of `ends`, and has only `ends` and `inner` between.
fn is_word(text: &str, ends: fn(u8) -> bool, inner: &[u8]) -> bool {
    let bytes = text.as_bytes();
    bytes.first().copied().is_some_and(ends)
        && bytes.last().copied().is_some_and(ends)
        && bytes.iter().all(|byte| ends(*byte) || inner.contains(byte))
}

fn is_letter_or_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_qualified_part(text: &str) -> bool {
    is_word(text, is_letter_or_digit, b"-_.")
}

pub(super) fn dns_label(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 63 {
        wrong.push("must be no more than 63 characters".into());
    }
    if !is_word(text, is_lower, b"-") {
        wrong.push(LABEL.into());
    }
    wrong
}

pub(super) fn dns_subdomain(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 253 {
        wrong.push("must be no more than 253 characters".into());
    }
    if !text.split('.').all(|part| is_word(part, is_lower, b"-")) {
        wrong.push(SUBDOMAIN.into());
    }
    wrong
}

/// Names of roles and bindings, which may be almost anything.
pub(super) fn path_segment(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if matches!(text, "." | "..") {
        wrong.push(format!("may not be '{text}'"));
    }
    for forbidden in ['/', '%'].into_iter().filter(|it| text.contains(*it)) {
        wrong.push(format!("may not contain '{forbidden}'"));
    }
    wrong
}

/// What is wrong with a text as the value of a label.
pub fn label_value(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 63 {
        wrong.push("must be no more than 63 bytes".into());
    }
    if !text.is_empty() && !is_qualified_part(text) {
        wrong.push(LABEL_VALUE.into());
    }
    wrong
}

/// A label's or annotation's key, or a resource's name.
pub(super) fn qualified_name(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts.as_slice() {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                wrong.push("prefix part must be non-empty".into());
            } else {
                wrong.extend(dns_subdomain(prefix).into_iter().map(|it| format!("prefix part {it}")));
            }
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {QUALIFIED} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        wrong.push("name part must be non-empty".into());
    } else if name.len() > 63 {
        wrong.push("name part must be no more than 63 bytes".into());
    }
    if !is_qualified_part(name) {
        wrong.push(format!("name part {QUALIFIED}"));
    }
    wrong
}

pub(super) fn config_key(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 253 {
        wrong.push("must be no more than 253 characters".into());
    }
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)) {
        wrong.push(CONFIG_KEY.into());
    } else if text == "." || text == ".." {
        wrong.push(format!("must not be '{text}'"));
    } else if text.starts_with("..") {
        wrong.push("must not start with '..'".into());
    }
    wrong
}

pub(super) fn port_name(text: &str) -> Vec<String> {
    let mut wrong: Vec<&str> = Vec::new();
    if text.len() > 15 {
        wrong.push("must be no more than 15 characters");
    }
    if text.is_empty() || !text.bytes().all(|byte| is_lower(byte) || byte == b'-') {
        wrong.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    }
    if !text.bytes().any(|byte| byte.is_ascii_lowercase()) {
        wrong.push("must contain at least one letter (a-z)");
    }
    if text.contains("--") {
        wrong.push("must not contain consecutive hyphens");
    }
    if text.starts_with('-') || text.ends_with('-') {
        wrong.push("must not begin or end with a hyphen");
    }
    wrong.into_iter().map(Into::into).collect()
}

pub(super) fn port_number(number: i64) -> Option<&'static str> {
    (!(1..=65535).contains(&number)).then_some(PORT_RANGE)
}

pub(super) fn percent(text: &str) -> Option<&'static str> {
    let digits = text.strip_suffix('%').unwrap_or_default();
    let fits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (!fits).then_some(PERCENT)
}
