//! Ages and dates as kubectl writes them.

use crate::api::Timestamp;

fn number(value: i64) -> String {
    value.to_string()
}

/// `apimachinery/pkg/util/duration.HumanDuration`, v1.36, of milliseconds.
pub fn human(ms: i64) -> String {
    let s = ms / 1_000;
    if s < -1 {
        return "<invalid>".into();
    }
    let two = |big: i64, unit: &str, small: i64, small_unit: &str| match small {
        0 => [&number(big), unit].concat(),
        _ => [&number(big), unit, &number(small), small_unit].concat(),
    };
    let (m, h) = (s / 60, s / 3600);
    match s {
        ..0 => "0s".into(),
        0..=119 => two(s, "s", 0, ""),
        120..=599 => two(m, "m", s % 60, "s"),
        600..=10_799 => two(m, "m", 0, ""),
        10_800..=28_799 => two(h, "h", m % 60, "m"),
        28_800..=172_799 => two(h, "h", 0, ""),
        172_800..=691_199 => two(h / 24, "d", h % 24, "h"),
        691_200..=63_071_999 => two(h / 24, "d", 0, ""),
        63_072_000..=252_287_999 => two(h / 24 / 365, "y", h / 24 % 365, "d"),
        _ => two(h / 24 / 365, "y", 0, ""),
    }
}

/// Since an instant as the API writes it; `<unknown>` where there is none.
pub fn since(text: &str, now_ms: i64) -> String {
    match millis(text) {
        Some(then) => human(now_ms - then),
        None => "<unknown>".into(),
    }
}

/// An instant as the API writes it, in milliseconds since 1970.
pub fn millis(text: &str) -> Option<i64> {
    crate::api::MicroTime::parse(text).map(|it| it.0)
}

/// `Mon, 30 Nov 2026 04:36:50 +0000`
pub fn date(text: &str) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let Some(ms) = millis(text) else { return String::new() };
    let seconds = ms.div_euclid(1_000);
    if seconds == 0 {
        // Go's zero time, which the API writes as null.
        return "Mon, 01 Jan 0001 00:00:00 +0000".into();
    }
    let iso = Timestamp(seconds).to_string();
    let day = DAYS[usize::try_from(seconds.div_euclid(86_400).rem_euclid(7)).unwrap_or(0)];
    let month = iso.get(5..7).and_then(|it| it.parse::<usize>().ok()).unwrap_or(1);
    let month = MONTHS.get(month.wrapping_sub(1)).unwrap_or(&"Jan");
    let part = |range: std::ops::Range<usize>| iso.get(range).unwrap_or_default();
    [day, ", ", part(8..10), " ", month, " ", part(0..4), " ", part(11..19), " +0000"].concat()
}

/// `2026-11-30 04:37:09.650000000 +0000`, as `diff` dates files.
pub fn file_time(ms: i64) -> String {
    let iso = Timestamp::from_millis(ms).to_string();
    let fraction = (1_000 + ms.rem_euclid(1_000)).to_string();
    let part = |range: std::ops::Range<usize>| iso.get(range).unwrap_or_default();
    [part(0..10), " ", part(11..19), ".", fraction.get(1..).unwrap_or_default(), "000000 +0000"].concat()
}

/// Reads a duration as Go writes it: `1h2m3.5s`, `500ms`, or plain seconds. In milliseconds.
pub fn duration(text: &str) -> Option<i64> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0_i64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (amount, after) = rest.split_at(digits);
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, later) = after.split_at(end);
        let factor = match unit {
            "ns" | "us" | "µs" => 0,
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        let (whole, part) = amount.split_once('.').unwrap_or((amount, ""));
        if whole.is_empty() && part.is_empty() {
            return None;
        }
        let mut value = if whole.is_empty() { 0 } else { whole.parse::<i64>().ok()? }.checked_mul(factor)?;
        let mut scale = factor;
        for digit in part.bytes() {
            scale /= 10;
            value = value.checked_add(i64::from(digit.checked_sub(b'0')?).checked_mul(scale)?)?;
        }
        total = total.checked_add(value)?;
        rest = later;
    }
    // A hundred thousand years are enough for anybody.
    Some(sign * total.min(1 << 52))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_written_as_kubectl_writes_them() {
        for (seconds, text) in [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (600, "10m"),
            (10_800, "3h"),
            (10_860, "3h1m"),
            (28_800, "8h"),
            (172_800, "2d"),
            (180_000, "2d2h"),
            (691_200, "8d"),
            (63_072_000, "2y"),
            (-5, "<invalid>"),
        ] {
            assert_eq!(human(seconds * 1_000), text);
        }
        assert_eq!(date("2026-11-30T04:36:50Z"), "Mon, 30 Nov 2026 04:36:50 +0000");
        assert_eq!(
            [duration("1m30s"), duration("1.5s"), duration("5x"), duration("0")],
            [Some(90_000), Some(1_500), None, Some(0)]
        );
    }
}
