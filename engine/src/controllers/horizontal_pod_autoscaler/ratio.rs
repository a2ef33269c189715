//! How far a metric is from its target, in the numbers that Kubernetes reckons with.
//!
//! These are the only floating-point numbers of the engine that decide anything: upstream's own
//! (`replica_calculator.go`, v1.36), operation by operation, since `ceil` of a product that is not quite a whole number
//! is one more pod. IEEE 754 doubles give the same results natively and in WebAssembly.

/// How much a ratio may differ from 1 without anything being scaled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances {
    pub down: f64,
    pub up: f64,
}

impl Tolerances {
    /// `--horizontal-pod-autoscaler-tolerance` (v1.36).
    pub const DEFAULT: f64 = 0.1;

    /// From what `behavior` says of each direction, in thousandths.
    pub fn new(down_milli: Option<i64>, up_milli: Option<i64>) -> Self {
        let read = |milli: Option<i64>| milli.map_or(Self::DEFAULT, |it| it as f64 * 0.001);
        Self { down: read(down_milli), up: read(up_milli) }
    }

    pub fn holds(&self, ratio: Ratio) -> bool {
        1.0 - self.down <= ratio.0 && ratio.0 <= 1.0 + self.up
    }
}

/// What is used, as a multiple of what is to be used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio(f64);

impl Ratio {
    pub fn of(used: i64, target: i64) -> Self {
        Self(used as f64 / target as f64)
    }

    /// Of a total that so many pods share, to a target for each of them.
    pub fn of_each(used: i64, target: i64, count: i32) -> Self {
        Self(used as f64 / (target as f64 * f64::from(count)))
    }

    pub fn is_above(self) -> bool {
        self.0 > 1.0
    }

    pub fn is_below(self) -> bool {
        self.0 < 1.0
    }

    /// So many pods would bring the ratio to 1, where there are `count` now.
    pub fn times(self, count: i64) -> i32 {
        whole(self.0 * count as f64)
    }
}

/// The whole pods that a total needs, with a target for each.
pub fn shares(total: i64, target: i64) -> i32 {
    whole(total as f64 / target as f64)
}

/// What each of so many has of a total, rounded up.
pub fn share(total: i64, count: i32) -> i64 {
    let total = total as f64;
    if total >= i64::MAX as f64 { i64::MAX } else { (total / f64::from(count)).ceil() as i64 }
}

/// More than an `int32` holds is as many as it holds.
fn whole(value: f64) -> i32 {
    value.ceil().clamp(f64::from(i32::MIN), f64::from(i32::MAX)) as i32
}

/// The most that there may be after a policy's share is added.
pub fn grown(count: i32, percent: i32) -> i32 {
    whole(f64::from(count) * (1.0 + f64::from(percent) / 100.0))
}

/// The fewest that there may be after a policy's share is taken away.
pub fn shrunk(count: i32, percent: i32) -> i32 {
    (f64::from(count) * (1.0 - f64::from(percent) / 100.0)) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tolerance_reaches_a_tenth_either_way() {
        let usual = Tolerances::new(None, None);
        for (percent, holds) in [(54, true), (55, true), (56, false), (45, true), (44, false)] {
            assert_eq!(usual.holds(Ratio::of(percent, 50)), holds, "{percent} %");
        }
        assert!(!Tolerances::new(None, Some(10)).holds(Ratio::of(102, 100)));
        assert!(Tolerances::new(Some(900), None).holds(Ratio::of(30, 100)));
    }

    /// 25 pods at 56 % of a target of 50 % would be 28 in decimal numbers; Kubernetes makes 29 of them, as here.
    #[test]
    fn products_are_rounded_up_as_doubles_are() {
        assert_eq!(Ratio::of(56, 50).times(25), 29);
        assert_eq!(Ratio::of(110, 50).times(25), 56);
        assert_eq!(Ratio::of(115, 100).times(20), 23);
        assert_eq!(Ratio::of(56, 50).times(3), 4);
        assert_eq!((grown(10, 10), grown(3, 50)), (11, 5));
        assert_eq!(shrunk(100, 1), 99);
        assert_eq!(Ratio::of(i64::MAX, 1).times(3), i32::MAX);
    }
}
