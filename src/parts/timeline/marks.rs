//! The marks of events, as in `style/sprite.svg`, drawn with a pen.

use std::f64::consts::{FRAC_PI_2, TAU};

use loopscope_engine::view::Mark;
use web_sys::CanvasRenderingContext2d;

/// Draws a mark around a point; `unit` is a twelfth of its side, `paper` what lies under it.
pub fn mark(pen: &CanvasRenderingContext2d, mark: Mark, (x, y): (f64, f64), unit: f64, paper: &str, ink: &str) {
    let circle = |r: f64| {
        pen.begin_path();
        let _ = pen.arc(x, y, r * unit, 0.0, TAU);
    };
    let line = |points: &[(f64, f64)]| {
        pen.begin_path();
        for (index, (dx, dy)) in points.iter().enumerate() {
            let (x, y) = (x + dx * unit, y + dy * unit);
            if index == 0 { pen.move_to(x, y) } else { pen.line_to(x, y) }
        }
    };
    pen.set_fill_style_str(ink);
    pen.set_stroke_style_str(ink);
    pen.set_line_width(1.5 * unit);
    match mark {
        Mark::You => {
            line(&[(0.0, -5.5), (5.5, 0.0), (0.0, 5.5), (-5.5, 0.0)]);
            pen.fill();
        }
        Mark::Act => pen.fill_rect(x - 4.0 * unit, y - 4.0 * unit, 8.0 * unit, 8.0 * unit),
        Mark::Write => pen.stroke_rect(x - 3.0 * unit, y - 3.0 * unit, 6.0 * unit, 6.0 * unit),
        Mark::Observe | Mark::Diff => {
            circle(3.75);
            pen.set_fill_style_str(paper);
            pen.fill();
            pen.stroke();
            if mark == Mark::Diff {
                pen.set_fill_style_str(ink);
                pen.begin_path();
                let _ = pen.arc(x, y, 3.75 * unit, FRAC_PI_2, 3.0 * FRAC_PI_2);
                pen.fill();
            }
        }
        Mark::Watch | Mark::Clock => {
            circle(1.75);
            pen.fill();
        }
        Mark::World => {
            line(&[(0.0, -3.5), (4.0, 3.5), (-4.0, 3.5), (0.0, -3.5)]);
            pen.stroke();
        }
        Mark::Error => {
            pen.set_line_width(2.0 * unit);
            line(&[(-3.5, -3.5), (3.5, 3.5)]);
            pen.stroke();
            line(&[(3.5, -3.5), (-3.5, 3.5)]);
            pen.stroke();
        }
    }
}
