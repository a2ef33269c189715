/// A number or a percentage (`intstr.IntOrString`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IntOrPercent {
    Int(i32),
    Text(String),
}

impl Default for IntOrPercent {
    fn default() -> Self {
        Self::Int(0)
    }
}

impl IntOrPercent {
    pub fn percent(percent: i32) -> Self {
        Self::Text(format!("{percent}%"))
    }

    /// The percentage of a text such as `25%`; nothing where the text is not one.
    pub fn as_percent(&self) -> Option<i32> {
        match self {
            Self::Int(_) => None,
            Self::Text(text) => text.strip_suffix('%')?.parse().ok(),
        }
    }

    /// The value for a total, percentages rounded up or down
    /// (`intstr.GetScaledValueFromIntOrPercent`, apimachinery v1.36). A text that is no percentage counts as 0.
    pub fn scaled(&self, total: i32, round_up: bool) -> i32 {
        match self {
            Self::Int(value) => *value,
            Self::Text(_) => {
                let product = i64::from(self.as_percent().unwrap_or(0)) * i64::from(total);
                let value = if round_up { -(-product).div_euclid(100) } else { product.div_euclid(100) };
                value.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_round_as_asked() {
        assert_eq!(IntOrPercent::percent(25).scaled(10, true), 3);
        assert_eq!(IntOrPercent::percent(25).scaled(10, false), 2);
        assert_eq!(IntOrPercent::percent(25).scaled(3, false), 0);
        assert_eq!(IntOrPercent::Int(4).scaled(10, true), 4);
    }
}
