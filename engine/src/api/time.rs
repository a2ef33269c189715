use std::fmt;

/// An instant as the API writes it (`metav1.Time`): whole seconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub i64);

/// An instant as leases write it (`metav1.MicroTime`), kept in milliseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MicroTime(pub i64);

/// The last second of the year 9999: RFC 3339 has no later one.
const LAST: i64 = 253_402_300_799;

/// Days since 1970-01-01 to year, month, day in the proleptic Gregorian calendar.
fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = (doy - (153 * mp + 2) / 5 + 1) as u32;
    let month = if mp < 10 { mp + 3 } else { mp - 9 } as u32;
    (yoe + era * 400 + i64::from(month <= 2), month, day)
}

fn days_from_civil(year: i64, month: u32, day: u32) -> i64 {
    let y = year - i64::from(month <= 2);
    let era = y.div_euclid(400);
    let yoe = y.rem_euclid(400);
    let mp = i64::from((month + 9) % 12);
    let doy = (153 * mp + 2) / 5 + i64::from(day) - 1;
    let doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    era * 146_097 + doe - 719_468
}

fn write_date_time(f: &mut fmt::Formatter<'_>, seconds: i64) -> fmt::Result {
    let (year, month, day) = civil_from_days(seconds.div_euclid(86_400));
    let s = seconds.rem_euclid(86_400);
    write!(f, "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_date_time(f, self.0)?;
        f.write_str("Z")
    }
}

impl fmt::Display for MicroTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_date_time(f, self.0.div_euclid(1000))?;
        write!(f, ".{:03}000Z", self.0.rem_euclid(1000))
    }
}

/// Reads RFC 3339 and returns milliseconds since 1970-01-01 UTC.
fn parse_rfc3339(text: &str) -> Option<i64> {
    let field = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let at = |index: usize, allowed: &str| text.as_bytes().get(index).is_some_and(|b| allowed.as_bytes().contains(b));
    if !(at(4, "-") && at(7, "-") && at(10, "Tt ") && at(13, ":") && at(16, ":")) {
        return None;
    }
    let within = |range: std::ops::Range<usize>, from: i64, to: i64| field(range).filter(|it| (from..=to).contains(it));
    let (month, day) = (within(5..7, 1, 12)?, within(8..10, 1, 31)?);
    let days = days_from_civil(within(0..4, 0, 9_999)?, month as u32, day as u32);
    let seconds = days * 86_400 + within(11..13, 0, 23)? * 3600 + within(14..16, 0, 59)? * 60 + within(17..19, 0, 60)?;
    let mut rest = text.get(19..)?;
    let mut millis = 0;
    if let Some(fraction) = rest.strip_prefix('.') {
        let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        millis = format!("{:0<3}", fraction.get(..digits)?).get(..3)?.parse::<i64>().ok()?;
        rest = fraction.get(digits..)?;
    }
    let offset = match rest {
        "Z" | "z" => 0,
        _ => {
            let sign = match rest.as_bytes().first()? {
                b'+' => 1,
                b'-' => -1,
                _ => return None,
            };
            sign * (rest.get(1..3)?.parse::<i64>().ok()? * 3600 + rest.get(4..6)?.parse::<i64>().ok()? * 60)
        }
    };
    Some((seconds - offset) * 1000 + millis)
}

impl Timestamp {
    /// The timestamp of an instant in milliseconds since 1970, cut to whole seconds as the API does.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.div_euclid(1000))
    }

    /// Reads RFC 3339.
    pub fn parse(text: &str) -> Option<Self> {
        parse_rfc3339(text).map(Self::from_millis)
    }

    pub fn millis(self) -> i64 {
        self.0.saturating_mul(1000)
    }

    /// So many seconds later, but no later than can be written.
    pub fn plus(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds).min(LAST))
    }
}

impl MicroTime {
    /// Reads RFC 3339.
    pub fn parse(text: &str) -> Option<Self> {
        parse_rfc3339(text).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_and_read_as_rfc3339() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_796_025_600, "2026-11-30T08:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(Timestamp(seconds).to_string(), text);
            assert_eq!(parse_rfc3339(text), Some(seconds * 1000));
        }
        assert_eq!(parse_rfc3339("2026-11-30T09:00:00.25+01:00"), Some(1_796_025_600_250));
        assert_eq!(parse_rfc3339("yesterday"), None);
        for wrong in ["2026--1-30T08:00:00Z", "2026-11--1T08:00:00Z", "2026-13-01T08:00:00Z", "2026-11-30T25:00:00Z"] {
            assert_eq!(parse_rfc3339(wrong), None, "{wrong}");
        }
        assert_eq!(Timestamp(0).plus(i64::MAX).to_string(), "9999-12-31T23:59:59Z");
        assert_eq!(MicroTime(1_796_025_600_250).to_string(), "2026-11-30T08:00:00.250000Z");
    }
}
