//! Small drawings of values over time.

use crate::ui::{View, view};

pub const WIDTH: u64 = 600;
pub const HEIGHT: u64 = 64;

/// What a drawing spans: virtual ms across, values up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axes {
    pub from: u64,
    pub to: u64,
    pub low: i64,
    pub high: i64,
}

impl Axes {
    pub fn x(&self, ms: u64) -> u64 {
        let span = self.to.saturating_sub(self.from).max(1);
        ms.clamp(self.from, self.to.max(self.from)).saturating_sub(self.from) * WIDTH / span
    }

    fn y(&self, value: i64) -> u64 {
        let span = (self.high - self.low).max(1);
        let up = (value.clamp(self.low, self.high) - self.low) * HEIGHT as i64 / span;
        HEIGHT - up.unsigned_abs()
    }

    /// Values that hold until the next one.
    pub fn steps(&self, points: &[(u64, i64)]) -> String {
        let mut path = String::new();
        for (index, (at, value)) in points.iter().enumerate() {
            let until = points.get(index + 1).map_or(self.to, |next| next.0);
            self.join(&mut path, *at, *value);
            self.join(&mut path, until, *value);
        }
        path
    }

    /// Straight lines from value to value.
    pub fn line(&self, points: &[(u64, i64)]) -> String {
        let mut path = String::new();
        for (at, value) in points {
            self.join(&mut path, *at, *value);
        }
        path
    }

    fn join(&self, path: &mut String, ms: u64, value: i64) {
        let join = if path.is_empty() { "M" } else { "L" };
        path.push_str(&[join, &self.x(ms).to_string(), " ", &self.y(value).to_string()].concat());
    }

    /// A value that holds all the time.
    pub fn level(&self, value: i64) -> String {
        self.steps(&[(self.from, value)])
    }
}

/// Lines, each with its class, and in words what they show.
pub fn plot(label: String, lines: Vec<(&'static str, String)>) -> View {
    let line = |(class, path): (&'static str, String)| view! { <path class=class d=path></path> };
    let lines = lines.into_iter().map(line).collect::<View>();
    view! {
        <svg class="plot" viewBox="0 -3 600 70" preserveAspectRatio="none" role="img" aria-label=label>{lines}</svg>
    }
}

/// `01:02`
pub fn brief(ms: u64) -> String {
    let text = crate::atoms::clock(ms);
    text.rsplit_once('.').map_or(text.clone(), |(whole, _)| whole.to_owned())
}

/// `12.5` of 12500
pub fn thousandths(n: u64) -> String {
    let tenths = (n + 50) / 100;
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        rest => [(tenths / 10).to_string().as_str(), ".", &rest.to_string()].concat(),
    }
}

/// `12` of 12400
pub fn whole(n: u64) -> String {
    ((n + 500) / 1_000).to_string()
}

/// `98.2 %` of 982
pub fn permille(n: u32) -> String {
    [thousandths(u64::from(n) * 100).as_str(), " %"].concat()
}
