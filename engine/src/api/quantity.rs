use std::fmt;
use std::str::FromStr;

/// How a quantity was written, which decides how it is written back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuantityFormat {
    /// `100m`, `2k`, `1.5`
    DecimalSi,
    /// `64Mi`
    BinarySi,
    /// `1e3`
    DecimalExponent,
}

/// An amount of a resource in billionths of its unit (`resource.Quantity`, apimachinery v1.36).
///
/// Amounts finer than a billionth are rounded up, as Kubernetes does.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    nano: i128,
    format: QuantityFormat,
}

const NANO: i128 = 1_000_000_000;
const BINARY: [(&str, i128); 6] =
    [("Ei", 1 << 60), ("Pi", 1 << 50), ("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)];
const DECIMAL: [(&str, i32); 10] =
    [("E", 18), ("P", 15), ("T", 12), ("G", 9), ("M", 6), ("k", 3), ("", 0), ("m", -3), ("u", -6), ("n", -9)];
/// Kubernetes caps a quantity with a binary suffix at 2⁶³ − 1.
const MAX_BINARY_NANO: i128 = (i64::MAX as i128) * NANO;
/// No other amount is larger here.
const MAX_NANO: i128 = 10_i128.pow(36);

impl Quantity {
    pub const ZERO: Self = Self { nano: 0, format: QuantityFormat::DecimalSi };

    pub fn from_units(units: i64) -> Self {
        Self { nano: i128::from(units) * NANO, format: QuantityFormat::DecimalSi }
    }

    pub fn from_milli(milli: i64) -> Self {
        Self { nano: i128::from(milli) * (NANO / 1000), format: QuantityFormat::DecimalSi }
    }

    pub fn from_micro(micro: i64) -> Self {
        Self { nano: i128::from(micro) * 1_000, format: QuantityFormat::DecimalSi }
    }

    pub fn from_bytes(bytes: i64) -> Self {
        Self { nano: i128::from(bytes) * NANO, format: QuantityFormat::BinarySi }
    }

    /// The same amount, to be written with decimal suffixes.
    #[must_use]
    pub fn decimal(self) -> Self {
        Self { format: QuantityFormat::DecimalSi, ..self }
    }

    fn rounded_up(self, unit: i128) -> i64 {
        // Most amounts are small, and dividing such takes a tenth of the time.
        if let (Ok(nano), Ok(unit)) = (i64::try_from(self.nano), i64::try_from(unit)) {
            return nano.div_euclid(unit) + i64::from(nano.rem_euclid(unit) != 0);
        }
        (-((-self.nano).div_euclid(unit))).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// Thousandths of the unit, rounded up.
    pub fn milli(self) -> i64 {
        self.rounded_up(NANO / 1000)
    }

    /// Millionths of the unit, rounded up.
    pub fn micro(self) -> i64 {
        (-((-self.nano).div_euclid(1_000))).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// Whole units, rounded up.
    pub fn units(self) -> i64 {
        self.rounded_up(NANO)
    }

    pub fn is_negative(self) -> bool {
        self.nano < 0
    }

    /// The sum, written as the first amount is, or as the second where the first is nothing (`Quantity.Add`).
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let format = if self.nano == 0 { other.format } else { self.format };
        Self { nano: (self.nano + other.nano).clamp(-MAX_NANO, MAX_NANO), format }
    }

    /// What is left.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.plus(Self { nano: -other.nano, ..other })
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nano == other.nano
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.nano.cmp(&other.nano)
    }
}

impl Default for Quantity {
    fn default() -> Self {
        Self::ZERO
    }
}

/// Reads `digits[.digits]` scaled by `10^power` (or by `factor`) into billionths, rounding away from zero.
fn scale(digits: &str, factor: i128, power: i32) -> Option<i128> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut mantissa: i128 = 0;
    for b in whole.bytes().chain(fraction.bytes()) {
        mantissa = mantissa.checked_mul(10)?.checked_add(i128::from(b - b'0'))?;
        if mantissa > 10_i128.pow(30) {
            return Some(MAX_NANO);
        }
    }
    let mut exponent = 9 + power - i32::try_from(fraction.len()).ok()?;
    let mut value = mantissa;
    if factor > 1 {
        value = value.checked_mul(factor).unwrap_or(MAX_NANO);
    }
    while exponent > 0 {
        value = value.checked_mul(10).unwrap_or(MAX_NANO);
        if value >= MAX_NANO {
            return Some(MAX_NANO);
        }
        exponent -= 1;
    }
    if exponent < 0 {
        let divisor = 10_i128.checked_pow(exponent.unsigned_abs())?;
        value = -((-value).div_euclid(divisor));
    }
    Some(value.min(MAX_NANO))
}

impl FromStr for Quantity {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const BAD: &str = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
        let (sign, body) = match text.as_bytes().first() {
            Some(b'-') => (-1, &text[1..]),
            Some(b'+') => (1, &text[1..]),
            _ => (1, text),
        };
        let split = body.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(body.len());
        let (digits, suffix) = body.split_at(split);
        let (factor, power, format) = if let Some((_, factor)) = BINARY.iter().find(|(name, _)| *name == suffix) {
            (*factor, 0, QuantityFormat::BinarySi)
        } else if let Some((_, power)) = DECIMAL.iter().find(|(name, _)| *name == suffix) {
            (1, *power, QuantityFormat::DecimalSi)
        } else {
            let exponent = suffix.strip_prefix(['e', 'E']).and_then(|rest| rest.parse::<i32>().ok()).ok_or(BAD)?;
            (1, exponent.clamp(-40, 40), QuantityFormat::DecimalExponent)
        };
        if body.is_empty() {
            return Err(BAD);
        }
        // A suffix without digits counts as 0, as in Kubernetes.
        let nano = scale(digits, factor, power).ok_or(BAD)?;
        let nano = if format == QuantityFormat::BinarySi { nano.min(MAX_BINARY_NANO) } else { nano };
        Ok(Self { nano: sign * nano, format })
    }
}

impl fmt::Display for Quantity {
    /// Writes the canonical form: no fraction, the largest suffix that fits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nano == 0 {
            return f.write_str("0");
        }
        let whole = self.nano % NANO == 0;
        if self.format == QuantityFormat::BinarySi && whole && (self.nano / NANO).abs() >= 1024 {
            let units = self.nano / NANO;
            for (suffix, factor) in BINARY {
                if units % factor == 0 {
                    return write!(f, "{}{suffix}", units / factor);
                }
            }
            return write!(f, "{units}");
        }
        for (suffix, power) in DECIMAL {
            let unit = 10_i128.pow((power + 9) as u32);
            if self.nano % unit == 0 {
                return if self.format == QuantityFormat::DecimalExponent && power != 0 {
                    write!(f, "{}e{power}", self.nano / unit)
                } else {
                    write!(f, "{}{suffix}", self.nano / unit)
                };
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_written_in_canonical_form() {
        for (text, canonical, milli) in [
            ("100m", "100m", 100),
            ("0.1", "100m", 100),
            ("1500m", "1500m", 1500),
            ("2", "2", 2000),
            ("1000m", "1", 1000),
            ("64Mi", "64Mi", 67_108_864_000),
            ("1024Mi", "1Gi", 1_073_741_824_000),
            ("1.5Gi", "1536Mi", 1_610_612_736_000),
            ("1.1Gi", "1181116006400m", 1_181_116_006_400),
            ("1e3", "1e3", 1_000_000),
            ("128974848", "128974848", 128_974_848_000),
            ("-1", "-1", -1000),
            ("0", "0", 0),
        ] {
            let quantity: Quantity = text.parse().unwrap();
            assert_eq!(quantity.to_string(), canonical, "{text}");
            assert_eq!(quantity.milli(), milli, "{text}");
        }
        assert!("ten".parse::<Quantity>().is_err());
        assert!("1 Gi".parse::<Quantity>().is_err());
    }
}
