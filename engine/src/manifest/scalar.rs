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
    let value = decimal(text)?;
    if value.abs() <= EXACT && value.trunc() == value {
        // Go's JSON writes a whole number without a fraction.
        return Some((value as i64).into());
    }
    Number::from_f64(value).map(Value::Number)
}

/// Reads what `is_float` lets through; nothing where it is beyond all floating point numbers.
///
/// Rounds as the standard library does for up to 19 digits and exponents of that size, which is more than any field of
/// Kubernetes holds, and carries a tenth of its code and tables into the page.
fn decimal(text: &str) -> Option<f64> {
    let (sign, body) = match text.as_bytes().first()? {
        b'-' => (-1.0, &text[1..]),
        b'+' => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    let (mantissa, exponent) = body.split_once(['e', 'E']).unwrap_or((body, "0"));
    let mut power: i32 = exponent.trim_start_matches('+').parse().unwrap_or(i32::MAX / 2).clamp(-100_000, 100_000);
    let (mut digits, mut count, mut is_fraction) = (0_u64, 0, false);
    for byte in mantissa.bytes() {
        match byte {
            b'.' => is_fraction = true,
            _ if count < 19 => {
                digits = digits * 10 + u64::from(byte - b'0');
                count += i32::from(digits > 0);
                power -= i32::from(is_fraction);
            }
            _ => power += i32::from(!is_fraction),
        }
    }
    let value = sign * scaled(digits, power);
    value.is_finite().then_some(value)
}

/// `digits` times ten to the `power`.
fn scaled(digits: u64, power: i32) -> f64 {
    let steps = power.unsigned_abs().min(400);
    let ten = 10_u128.pow(steps.min(19));
    let mut value = if power >= 0 {
        (u128::from(digits) * ten) as f64
    } else {
        let shift = u128::from(digits).leading_zeros().saturating_sub(1);
        let dividend = u128::from(digits) << shift;
        // The last bit stands for all that is left over, so that the conversion rounds rightly.
        let quotient = (dividend / ten) | u128::from(dividend % ten != 0);
        (0..shift).fold(quotient as f64, |value, _| value / 2.0)
    };
    for _ in 19..steps {
        value = if power > 0 { value * 10.0 } else { value / 10.0 };
    }
    value
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
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_as_the_standard_library_reads_them() {
        let mut seed = 1_u64;
        for round in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let digits = seed >> (round % 60);
            let point = seed.wrapping_mul(31) % 12;
            let text = format!("{}.{:03}e{}", digits % 1_000_000_000_000, digits % 997, point as i64 - 6);
            assert_eq!(decimal(&text), text.parse().ok(), "{text}");
        }
        for text in
            ["0.30000000000000004", "9223372036854775808", "685230.15", "1e-7", ".5", "5.", "-0.0", "1e22", "1e-19"]
        {
            assert_eq!(decimal(text), text.parse().ok(), "{text}");
        }
        assert_eq!(decimal("1e400"), None);
        assert_eq!(decimal("1e99999999999"), None);
        assert_eq!(decimal("1e-400"), Some(0.0));
        assert_eq!(decimal("0e400"), Some(0.0));
    }

    #[test]
    fn numbers_are_written_as_go_writes_them() {
        for (text, written) in
            [("9223372036854775808", "9223372036854776000"), ("1e21", "1e+21"), ("1e-7", "1e-7"), ("0.1", "0.1")]
        {
            let Ok(Value::Number(number)) = plain(text) else { panic!("{text}") };
            assert_eq!(go_number(&number), written);
        }
    }
}
