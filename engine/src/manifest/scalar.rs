//! Which value a scalar stands for.
//!
//! Kubernetes reads YAML 1.1 with go-yaml v2 (`sigs.k8s.io/yaml` v1.6, `goyaml.v2/resolve.go`), then turns it into JSON:
//! `yes` and `on` are booleans, `0644` and `0o644` are 420, `08` is 8, `1_000` is 1000, `3.0` becomes `3`.

use serde_json::{Number, Value};

/// The value of a plain scalar, or the reason why JSON cannot hold it.
pub(super) fn plain(text: &str) -> Result<Value, &'static str> {
    let Some(first) = text.bytes().next() else { return Ok(Value::Null) };
    match first {
        b'~' | b'n' | b'N' if matches!(text, "~" | "null" | "Null" | "NULL") => Ok(Value::Null),
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' => {
            Ok(boolean(text).map_or_else(|| text.into(), Value::Bool))
        }
        b'.' => float_name(text).unwrap_or_else(|| Ok(float(text).unwrap_or_else(|| text.into()))),
        b'+' | b'-' | b'0'..=b'9' => float_name(text).unwrap_or_else(|| Ok(number(text))),
        _ => Ok(text.into()),
    }
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

/// Infinity and not-a-number, which JSON does not have.
fn float_name(text: &str) -> Option<Result<Value, &'static str>> {
    match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Some(Err("json: unsupported value: +Inf")),
        "-.inf" | "-.Inf" | "-.INF" => Some(Err("json: unsupported value: -Inf")),
        ".nan" | ".NaN" | ".NAN" => Some(Err("json: unsupported value: NaN")),
        _ => None,
    }
}

fn number(text: &str) -> Value {
    let digits = text.replace('_', "");
    integer(&digits).or_else(|| float(&digits)).unwrap_or_else(|| text.into())
}

/// Go's `strconv.ParseInt` with base 0: the prefix tells the base.
fn integer(text: &str) -> Option<Value> {
    let (negative, body) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let prefix = body.get(..2).unwrap_or_default().to_ascii_lowercase();
    let (digits, radix) = match prefix.as_str() {
        "0x" => (&body[2..], 16),
        "0o" => (&body[2..], 8),
        "0b" => (&body[2..], 2),
        _ if body.len() > 1 && body.starts_with('0') => (&body[1..], 8),
        _ => (body, 10),
    };
    if !digits.starts_with(|c: char| c.is_ascii_hexdigit()) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    if negative {
        return (magnitude <= 1 << 63).then(|| (magnitude as i64).wrapping_neg().into());
    }
    match i64::try_from(magnitude) {
        Ok(value) => Some(value.into()),
        // kubectl keeps numbers of this size as floating point.
        Err(_) => Number::from_f64(magnitude as f64).map(Value::Number),
    }
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_float(text: &str) -> bool {
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = body.split_once(['e', 'E']).map_or((body, None), |(m, e)| (m, Some(e)));
    let all_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mantissa_fits = all_digits(whole) && all_digits(fraction) && !(whole.is_empty() && fraction.is_empty());
    let exponent_fits = exponent.is_none_or(|it| {
        let digits = it.strip_prefix(['+', '-']).unwrap_or(it);
        !digits.is_empty() && all_digits(digits)
    });
    mantissa_fits && exponent_fits
}

fn float(text: &str) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if !is_float(text) {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    if value.abs() <= EXACT && value.trunc() == value {
        // Go's JSON writes a whole number without a fraction.
        return Some((value as i64).into());
    }
    Number::from_f64(value).map(Value::Number)
}

/// A number as Go's JSON encoder writes it, for messages: `9223372036854776000`, `1.2345678901234568e+29`, `1e-7`.
pub(super) fn go_number(number: &Number) -> String {
    let text = number.to_string();
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let (negative, mantissa) = mantissa.strip_prefix('-').map_or((false, mantissa), |rest| (true, rest));
    let sign = if negative { "-" } else { "" };
    let power: i32 = exponent.trim_start_matches('+').parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    match power {
        0..21 => format!("{sign}{digits:0<width$}", width = power.unsigned_abs() as usize + 1),
        21.. => format!("{sign}{mantissa}e+{power}"),
        _ => format!("{sign}{mantissa}e{power}"),
    }
}

/// The text of `!!binary`: base64, with anything that is no UTF-8 replaced.
pub(super) fn binary(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for c in text.bytes().filter(|b| !b.is_ascii_whitespace() && *b != b'=') {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
