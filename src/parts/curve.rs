use std::fmt::Write;

use crate::session::{Curve, session};
use crate::ui::{View, memo, view};

/// How much virtual time the curve shows.
const SPAN_MS: u64 = 60_000;
const WIDTH: u64 = 600;
const HEIGHT: u64 = 24;

/// Want and is over the last minute, as frames showed them: the gap is what the loops work on.
pub fn curve_view() -> View {
    let curve = session().curve;
    // All three at once, and the same for as long as they differ by less than a pixel.
    let drawn = memo(move || curve.with(shapes));
    let shapes = move |of: fn(&Shapes) -> &String| move || drawn.with(|it| of(it).clone());
    let label = move || {
        curve.with(|curve| match curve.samples.back() {
            Some(last) => ["ready ", last.ready.to_string().as_str(), " of ", last.want.to_string().as_str()].concat(),
            None => "nothing yet".to_owned(),
        })
    };
    view! {
        <figure class="curve-box">
            <figcaption><span class="key-ready">"ready"</span> <span class="key-want">"want"</span> <span class="sub">"last 60 s"</span></figcaption>
            <svg viewBox="0 -1 600 26" preserveAspectRatio="none" role="img" aria-label=label>
                <path class="gap" d={shapes(|it| &it.gap)}></path>
                <path class="want" d={shapes(|it| &it.want)}></path>
                <path class="curve" d={shapes(|it| &it.ready)}></path>
            </svg>
        </figure>
    }
}

#[derive(PartialEq)]
struct Shapes {
    gap: String,
    want: String,
    ready: String,
}

/// Steps of both lines, and the area between them.
fn shapes(curve: &Curve) -> Shapes {
    let start = curve.now_ms.saturating_sub(SPAN_MS);
    let highest = curve.samples.iter().map(|it| it.want.max(it.ready)).max().unwrap_or(1).max(1) as u64;
    let x = |ms: u64| (ms.clamp(start, start + SPAN_MS) - start) * WIDTH / SPAN_MS;
    let y = |n: i32| HEIGHT - (n.max(0) as u64) * (HEIGHT - 2) / highest;
    let (mut want, mut ready, mut gap) = (String::new(), String::new(), String::new());
    for (index, sample) in curve.samples.iter().enumerate() {
        let until = curve.samples.get(index + 1).map_or(curve.now_ms, |next| next.at_ms);
        if until < start {
            continue;
        }
        let (from, to) = (x(sample.at_ms), x(until));
        let join = if want.is_empty() { 'M' } else { 'L' };
        let _ = write!(want, "{join}{from} {0}L{to} {0}", y(sample.want));
        let _ = write!(ready, "{join}{from} {0}L{to} {0}", y(sample.ready));
        if sample.want != sample.ready {
            let _ = write!(gap, "M{from} {0}H{to}V{1}H{from}z", y(sample.want), y(sample.ready));
        }
    }
    Shapes { gap, want, ready }
}
