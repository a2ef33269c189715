//! Load that a person shapes: how much of it there is when, and how much of that comes together in a while.

use serde::{Deserialize, Serialize};

/// The course of a load. Amounts in thousandths: of a request a second for a Service, of a CPU for a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Shape {
    /// From now on this much.
    Steady { amount: u64 },
    /// From one amount to another within so many ms, and that much from then on.
    Ramp { from: u64, to: u64, over_ms: u64 },
    /// Between two amounts as a sine, from the lower one on; so many ms from one low to the next.
    Wave { low: u64, high: u64, period_ms: u64 },
    /// Through these points (ms from now, amount) in straight lines, and as the last one from then on.
    Drawn { points: Vec<(u64, u64)> },
}

/// Something that uses up CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Load {
    pub shape: Shape,
    /// What one request costs, in millionths of a CPU second; nothing for a load that is CPU itself.
    #[serde(default)]
    pub cost_micro: u64,
    /// Requests a second that one pod can take, in thousandths. What its CPU limit allows where nothing is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u64>,
}

impl Load {
    /// A drawn curve has no more points.
    pub const MOST_POINTS: usize = 256;
    /// No amount is larger: a million requests a second.
    pub const MOST: u64 = 1_000_000_000;
    /// No period or ramp is longer, in ms: a day.
    pub const LONGEST_MS: u64 = 86_400_000;
    /// No request costs more: a thousand CPU seconds.
    pub const MOST_COST: u64 = 1_000_000_000;

    /// # Errors
    /// What of it cannot be, in words for the person who asked for it.
    pub fn check(&self) -> Result<(), String> {
        let (amounts, times): (Vec<u64>, Vec<u64>) = match &self.shape {
            Shape::Steady { amount } => (vec![*amount], Vec::new()),
            Shape::Ramp { from, to, over_ms } => (vec![*from, *to], vec![*over_ms]),
            Shape::Wave { low, high, period_ms } => (vec![*low, *high], vec![*period_ms]),
            Shape::Drawn { points } => points.iter().map(|(at, amount)| (*amount, *at)).unzip(),
        };
        match &self.shape {
            Shape::Drawn { points } if points.is_empty() || points.len() > Self::MOST_POINTS => {
                return Err(format!("a drawn load has 1 to {} points", Self::MOST_POINTS));
            }
            Shape::Drawn { points } if points.windows(2).any(|pair| pair[0].0 > pair[1].0) => {
                return Err("the points of a drawn load come in the order of their times".into());
            }
            Shape::Wave { low, high, .. } if low > high => {
                return Err("a wave goes from a lower to a higher amount".into());
            }
            Shape::Wave { period_ms: 0..1_000, .. } => return Err("a wave takes a second at least".into()),
            _ => {}
        }
        if amounts.into_iter().chain(self.capacity).any(|it| it > Self::MOST) {
            return Err(format!("no load is larger than {}", Self::MOST / 1_000));
        }
        if times.into_iter().any(|it| it > Self::LONGEST_MS) {
            return Err("no load takes longer than a day".into());
        }
        if self.cost_micro > Self::MOST_COST {
            return Err("no request costs more than 1000 CPU seconds".into());
        }
        Ok(())
    }
}

/// Half a sine's way from low to high and back, in thousandths, at 24 equal steps of a period.
const WAVE: [u64; 24] =
    [0, 17, 67, 146, 250, 371, 500, 629, 750, 854, 933, 983, 1000, 983, 933, 854, 750, 629, 500, 371, 250, 146, 67, 17];

/// A load's course as straight lines, with its times counted from its beginning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    points: Vec<(u64, u64)>,
    /// It begins again after so many ms.
    period: Option<u64>,
}

impl From<&Shape> for Curve {
    fn from(shape: &Shape) -> Self {
        match shape {
            Shape::Steady { amount } => Self { points: vec![(0, *amount)], period: None },
            Shape::Ramp { from, to, over_ms } => Self { points: vec![(0, *from), (*over_ms, *to)], period: None },
            Shape::Wave { low, high, period_ms } => {
                let at = |step: usize| {
                    let share = WAVE.get(step % WAVE.len()).copied().unwrap_or(0);
                    (period_ms * step as u64 / WAVE.len() as u64, low + (high - low) * share / 1_000)
                };
                Self { points: (0..=WAVE.len()).map(at).collect(), period: Some(*period_ms) }
            }
            Shape::Drawn { points } => Self { points: points.clone(), period: None },
        }
    }
}

impl Curve {
    /// How much there is at an instant; of two points at one time the later counts from then on.
    pub fn amount(&self, at: u64) -> u64 {
        let at = self.period.map_or(at, |period| at % period);
        let next = self.points.partition_point(|(time, _)| *time <= at);
        let after = self.points.get(next);
        match (next.checked_sub(1).and_then(|it| self.points.get(it)), after) {
            (Some(before), Some(after)) => between(*before, *after, at),
            (Some((_, amount)), None) => *amount,
            (None, Some((_, amount))) => *amount,
            (None, None) => 0,
        }
    }

    /// What comes together from one instant to another, in thousandths times ms; of all that is above a cap, only what
    /// is below it.
    pub fn sum(&self, from: u64, to: u64, cap: u64) -> u64 {
        let Some(period) = self.period else { return self.sum_once(from, to, cap) };
        if to <= from {
            return 0;
        }
        let (first, last) = (from / period, to / period);
        if first == last {
            return self.sum_once(from % period, to % period, cap);
        }
        let whole = if last - first > 1 { self.sum_once(0, period, cap) * (last - first - 1) } else { 0 };
        self.sum_once(from % period, period, cap) + whole + self.sum_once(0, to % period, cap)
    }

    fn sum_once(&self, from: u64, to: u64, cap: u64) -> u64 {
        let (mut sum, mut at) = (0, from);
        while at < to {
            let next = self.points.partition_point(|(time, _)| *time <= at);
            let end = self.points.get(next).map_or(to, |(time, _)| (*time).min(to));
            let begin = next.checked_sub(1).and_then(|it| self.points.get(it));
            let (a, b) = match (begin, self.points.get(next)) {
                (Some(before), Some(after)) => (between(*before, *after, at), between(*before, *after, end)),
                (Some((_, amount)), None) | (None, Some((_, amount))) => (*amount, *amount),
                (None, None) => (0, 0),
            };
            sum += below(a, b, end - at, cap);
            at = end;
        }
        sum
    }
}

/// Where a straight line is at a time.
fn between((t0, a0): (u64, u64), (t1, a1): (u64, u64), at: u64) -> u64 {
    let (span, done) = (t1.saturating_sub(t0), at.saturating_sub(t0));
    match span {
        0 => a1,
        _ if a1 >= a0 => a0 + (a1 - a0) * done / span,
        _ => a0 - (a0 - a1) * done / span,
    }
}

/// The area under a straight line from `a` to `b`, as far as it is below a cap.
fn below(a: u64, b: u64, ms: u64, cap: u64) -> u64 {
    let (low, high) = (a.min(b), a.max(b));
    if low >= cap {
        return cap * ms;
    }
    let all = (a + b) * ms / 2;
    if high <= cap {
        return all;
    }
    let over = u128::from(high - cap);
    let above = over * over * u128::from(ms) / (2 * u128::from(high - low));
    all - u64::try_from(above).unwrap_or(u64::MAX).min(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u64 = u64::MAX;

    fn curve(shape: Shape) -> Curve {
        Curve::from(&shape)
    }

    #[test]
    fn a_step_is_the_same_from_its_beginning_on() {
        let it = curve(Shape::Steady { amount: 50_000 });
        assert_eq!((it.amount(0), it.amount(1_000_000)), (50_000, 50_000));
        assert_eq!(it.sum(500, 2_500, ALL), 100_000_000, "50 a second make 100 in 2 s");
        assert_eq!(it.sum(0, 1_000, 20_000), 20_000_000);
    }

    #[test]
    fn a_ramp_rises_and_stays() {
        let it = curve(Shape::Ramp { from: 10_000, to: 100_000, over_ms: 90_000 });
        assert_eq!([0, 45_000, 90_000, 120_000].map(|at| it.amount(at)), [10_000, 55_000, 100_000, 100_000]);
        assert_eq!(it.sum(0, 90_000, ALL), 55_000 * 90_000);
        // Above 55 a second is a triangle of half the height over half the time.
        assert_eq!(it.sum(0, 90_000, 55_000), 55_000 * 90_000 - 45_000 * 45_000 / 2);
        let down = curve(Shape::Ramp { from: 100_000, to: 10_000, over_ms: 90_000 });
        assert_eq!(down.sum(0, 90_000, 55_000), it.sum(0, 90_000, 55_000));
    }

    #[test]
    fn a_wave_comes_back() {
        let it = curve(Shape::Wave { low: 10_000, high: 90_000, period_ms: 120_000 });
        assert_eq!(
            [0, 30_000, 60_000, 90_000, 120_000].map(|at| it.amount(at)),
            [10_000, 50_000, 90_000, 50_000, 10_000]
        );
        let once = it.sum(0, 120_000, ALL);
        assert_eq!(once, 50_000 * 120_000, "as much above as below the middle");
        assert_eq!(it.sum(30_000, 30_000 + 5 * 120_000, ALL), 5 * once);
        let parts: u64 = (0..60).map(|it| it * 10_000).map(|at| it.sum(at, at + 10_000, ALL)).sum();
        assert_eq!(parts, 5 * once, "in pieces as at once");
    }

    #[test]
    fn a_drawn_curve_may_jump() {
        let it = curve(Shape::Drawn { points: vec![(0, 10), (30_000, 10), (30_000, 80), (60_000, 20)] });
        assert_eq!([29_999, 30_000, 45_000, 60_000, 90_000].map(|at| it.amount(at)), [10, 80, 50, 20, 20]);
        assert_eq!(it.sum(0, 60_000, ALL), 10 * 30_000 + 50 * 30_000);
    }

    #[test]
    fn what_cannot_be_is_said() {
        let load = |shape: Shape| Load { shape, cost_micro: 0, capacity: None };
        assert!(load(Shape::Drawn { points: Vec::new() }).check().is_err());
        assert!(load(Shape::Drawn { points: vec![(5, 1), (4, 1)] }).check().is_err());
        assert!(load(Shape::Wave { low: 5, high: 1, period_ms: 60_000 }).check().is_err());
        assert!(load(Shape::Wave { low: 1, high: 5, period_ms: 10 }).check().is_err());
        assert!(load(Shape::Steady { amount: Load::MOST + 1 }).check().is_err());
        assert_eq!(load(Shape::Steady { amount: 0 }).check(), Ok(()));
    }
}
