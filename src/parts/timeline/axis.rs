//! Where a time is, and which times are written on the ruler.

/// The times between two ticks that read well, in ms.
const STEPS: [u64; 20] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
    1_800_000,
];

/// A stretch of time over a width in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    pub from: u64,
    pub to: u64,
    pub width: f64,
}

impl Axis {
    pub fn x(&self, ms: u64) -> f64 {
        (ms as f64 - self.from as f64) / self.span() * self.width
    }

    pub fn at(&self, x: f64) -> u64 {
        (self.from as f64 + x / self.width.max(1.0) * self.span()).max(0.0).round() as u64
    }

    fn span(&self) -> f64 {
        (self.to.saturating_sub(self.from)).max(1) as f64
    }

    /// The times that are written, `room` pixels apart or more.
    pub fn ticks(&self, room: f64) -> (u64, impl Iterator<Item = u64> + use<>) {
        let least = room / self.width.max(1.0) * self.span();
        let hours = |n: u64| n * 3_600_000;
        let step = STEPS
            .into_iter()
            .find(|it| *it as f64 >= least)
            .unwrap_or_else(|| hours((least as u64).div_ceil(hours(1))));
        let (from, to) = (self.from.div_ceil(step) * step, self.to);
        (step, (from..=to).step_by(step as usize))
    }
}

/// `12.4`
pub fn seconds(ms: u64) -> String {
    [(ms / 1_000).to_string().as_str(), ".", &(ms / 100 % 10).to_string()].concat()
}

/// As precise as the ruler: `12:30`, `12:30.250`.
pub fn tick(ms: u64, step: u64) -> String {
    let text = crate::atoms::clock(ms);
    match step.is_multiple_of(1_000) {
        true => text.split('.').next().unwrap_or_default().to_owned(),
        false => text,
    }
}

#[cfg(all(test, target_arch = "wasm32"))]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn a_time_is_where_it_is_looked_for() {
        let axis = Axis { from: 10_000, to: 20_000, width: 500.0 };
        assert_eq!([10_000, 12_500, 20_000].map(|ms| axis.x(ms)), [0.0, 125.0, 500.0]);
        assert!((10_000..=20_000).step_by(37).all(|ms| axis.at(axis.x(ms)).abs_diff(ms) <= 1));
    }

    #[wasm_bindgen_test]
    fn ticks_have_room_and_read_well() {
        for span in [20, 150, 4_000, 61_000, 3_600_000, 90_000_000] {
            let axis = Axis { from: 3_333, to: 3_333 + span, width: 1_200.0 };
            let (step, ticks) = axis.ticks(80.0);
            let ticks: Vec<u64> = ticks.collect();
            assert!(ticks.len() <= 16 && !ticks.is_empty(), "{span}: {ticks:?}");
            assert!(ticks.iter().all(|it| it % step == 0 && (axis.from..=axis.to).contains(it)));
            assert!(ticks.windows(2).all(|it| axis.x(it[1]) - axis.x(it[0]) > 79.9));
        }
    }
}
