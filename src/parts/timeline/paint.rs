//! Draws the ruler and the curve on one canvas, the lanes on another.

use loopscope_engine::view::{Heap, Lane, Mark, Sample, Timeline, TimelineLane};
use wasm_bindgen::JsValue;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, HtmlElement};

use super::axis::{Axis, tick};
use super::marks::mark;
use crate::platform;

/// Heights in sixteenths of the page's letter size, as in `style/timeline.css`.
const RULER: f64 = 24.0;
const CURVE: f64 = 36.0;
const ROW: f64 = 16.0;
/// The width of a column, and the room of a time on the ruler.
const COLUMN: f64 = 6.0;
const ROOM: f64 = 84.0;
/// So far a canvas reaches beyond the plot at either end.
const EDGE: f64 = 6.0;
/// What is still to come is drawn paler.
const LATER: f64 = 0.45;

/// `--ink` and so on, in this order.
#[derive(Default, PartialEq)]
struct Colors {
    ink: String,
    plain: String,
    faint: String,
    you: String,
    bad: String,
    hairline: String,
    raised: String,
    paper: String,
    family: String,
}

#[derive(Default)]
pub struct Painter {
    /// Device pixels in a CSS pixel, and in a sixteenth of the page's letter size.
    ratio: f64,
    unit: f64,
    width: f64,
    colors: Colors,
}

impl Painter {
    pub fn css_width(&self) -> f64 {
        if self.ratio > 0.0 { self.width / self.ratio } else { 0.0 }
    }

    pub fn n_columns(&self) -> usize {
        (self.width / (COLUMN * self.unit).max(1.0)) as usize
    }

    /// Looks how large things are to be, and in which colours; says whether that has changed.
    pub fn measure(&mut self, plot: &HtmlElement, probe: &HtmlElement) -> bool {
        let ratio = web_sys::window().map_or(1.0, |it| it.device_pixel_ratio());
        let width = (plot.get_bounding_client_rect().width() * ratio).floor();
        let unit = platform::rem() / 16.0 * ratio;
        let tokens = ["--ink", "--ink-2", "--ink-3", "--you", "--s-bad", "--hairline", "--raised", "--surface"];
        let Some((colors, family)) = platform::colors(probe, tokens) else { return false };
        let [ink, plain, faint, you, bad, hairline, raised, paper] = colors;
        let colors = Colors { ink, plain, faint, you, bad, hairline, raised, paper, family };
        if (ratio, unit, width) == (self.ratio, self.unit, self.width) && colors == self.colors {
            return false;
        }
        (self.ratio, self.unit, self.width, self.colors) = (ratio, unit, width, colors);
        width > 0.0
    }

    /// `now` is where the cursor is, `end` how far the run is known, both in ms.
    pub fn draw(
        &mut self,
        (top, low): (&HtmlCanvasElement, &HtmlCanvasElement),
        shown: &Timeline,
        beside: &[Sample],
        (now, end): (u64, u64),
    ) {
        let axis = Axis { from: shown.stretch.from_ms, to: shown.stretch.to_ms, width: self.width };
        if self.width <= 0.0 || axis.to == 0 {
            return;
        }
        if let Some(pen) = self.pen(top, RULER + CURVE) {
            let brush = Brush { pen: &pen, axis, unit: self.unit, colors: &self.colors, now, end };
            brush.ruler();
            brush.curve(&shown.curve, beside);
        }
        if shown.stretch.columns == 0 {
            return;
        }
        if let Some(pen) = self.pen(low, ROW * shown.lanes.len() as f64) {
            let brush = Brush { pen: &pen, axis, unit: self.unit, colors: &self.colors, now, end };
            brush.lanes(shown);
        }
    }

    /// A canvas of the right size with nothing on it. Setting the size or the letters lays out the page, so that is done
    /// only where they differ.
    fn pen(&self, canvas: &HtmlCanvasElement, height: f64) -> Option<CanvasRenderingContext2d> {
        let pen = platform::pen(canvas)?;
        let edge = (EDGE * self.unit).round();
        let (width, height) = ((self.width + 2.0 * edge) as u32, (height * self.unit).round() as u32);
        if (canvas.width(), canvas.height()) != (width, height) {
            canvas.set_width(width);
            canvas.set_height(height);
            let size = ((12.0 * self.unit).round() as i32).to_string();
            pen.set_font(&[&size, "px ", &self.colors.family].concat());
            let _ = canvas.style().set_property("block-size", &platform::px(f64::from(height) / self.ratio));
        }
        let _ = pen.set_transform(1.0, 0.0, 0.0, 1.0, edge, 0.0);
        pen.clear_rect(-edge, 0.0, f64::from(width), f64::from(height));
        Some(pen)
    }
}

struct Brush<'a> {
    pen: &'a CanvasRenderingContext2d,
    axis: Axis,
    unit: f64,
    colors: &'a Colors,
    now: u64,
    end: u64,
}

impl Brush<'_> {
    /// A line of one device pixel.
    fn upright(&self, ms: u64, from: f64, to: f64) {
        self.pen.fill_rect(self.axis.x(ms).round(), from, self.unit.floor().max(1.0), to - from);
    }

    fn ticks(&self, from: f64, to: f64) {
        self.pen.set_fill_style_str(&self.colors.hairline);
        let (_, ticks) = self.axis.ticks(ROOM * self.unit);
        ticks.for_each(|ms| self.upright(ms, from, to));
        if self.end > self.now {
            self.pen.set_fill_style_str(&self.colors.faint);
            self.upright(self.end, from, to);
        }
    }

    fn ruler(&self) {
        self.ticks(RULER * 0.7 * self.unit, (RULER + CURVE) * self.unit);
        let (step, ticks) = self.axis.ticks(ROOM * self.unit);
        self.pen.set_fill_style_str(&self.colors.faint);
        for ms in ticks {
            let x = self.axis.x(ms) + 4.0 * self.unit;
            let text = tick(ms, step);
            // A time that would be cut off is left out.
            if x + text.len() as f64 * 7.0 * self.unit < self.axis.width {
                let _ = self.pen.fill_text(&text, x, 15.0 * self.unit);
            }
        }
    }

    /// Want dashed, is as a line, the gap between them shaded; another branch's in dots.
    fn curve(&self, steps: &[Sample], beside: &[Sample]) {
        let highest = steps.iter().chain(beside).map(|it| it.want.max(it.ready)).max().unwrap_or(1).max(1);
        let (top, room) = ((RULER + 4.0) * self.unit, (CURVE - 8.0) * self.unit);
        let y = |n: i32| top + room * (1.0 - f64::from(n.max(0)) / f64::from(highest));
        let end = self.end.min(self.axis.to);
        for (index, step) in steps.iter().enumerate() {
            let until = steps.get(index + 1).map_or(end, |next| next.at.0).min(end);
            if step.want != step.ready && until > step.at.0 {
                let (x, to) = (self.axis.x(step.at.0), self.axis.x(until));
                let (a, b) = (y(step.want), y(step.ready));
                self.pen.set_global_alpha(if step.at.0 >= self.now { 0.08 } else { 0.16 });
                self.pen.set_fill_style_str(&self.colors.bad);
                self.pen.fill_rect(x, a.min(b), to - x, (a - b).abs());
            }
        }
        self.pen.set_global_alpha(1.0);
        let line = |steps: &[Sample], of: fn(&Sample) -> i32, from: u64, to: u64| {
            self.pen.begin_path();
            for (index, step) in steps.iter().enumerate() {
                let until = steps.get(index + 1).map_or(end, |next| next.at.0).min(to);
                let begin = step.at.0.max(from);
                if until >= begin {
                    let y = y(of(step));
                    self.pen.line_to(self.axis.x(begin), y);
                    self.pen.line_to(self.axis.x(until), y);
                }
            }
            self.pen.stroke();
        };
        let style = |color: &str, width: f64, dashes: &[f64]| {
            self.pen.set_stroke_style_str(color);
            self.pen.set_line_width(width * self.unit);
            let dashes: js_sys::Array = dashes.iter().map(|it| JsValue::from_f64(it * self.unit)).collect();
            let _ = self.pen.set_line_dash(&dashes);
        };
        style(&self.colors.faint, 1.25, &[2.0, 3.0]);
        line(beside, |it| it.ready, 0, end);
        style(&self.colors.plain, 1.25, &[5.0, 3.0]);
        line(steps, |it| it.want, 0, end);
        style(&self.colors.ink, 1.75, &[]);
        line(steps, |it| it.ready, 0, self.now.min(end));
        if self.now < end {
            self.pen.set_global_alpha(LATER);
            line(steps, |it| it.ready, self.now, end);
            self.pen.set_global_alpha(1.0);
        }
    }

    fn lanes(&self, shown: &Timeline) {
        let height = ROW * self.unit * shown.lanes.len() as f64;
        // Where events are only counted.
        self.pen.set_fill_style_str(&self.colors.raised);
        for (from, to) in &shown.thinned {
            let (x, to) = (self.axis.x(*from).max(0.0), self.axis.x(*to).min(self.axis.width));
            self.pen.fill_rect(x, 0.0, (to - x).max(0.0), height);
        }
        self.ticks(0.0, height);
        for (index, lane) in shown.lanes.iter().enumerate() {
            let y = (index as f64 + 0.5) * ROW * self.unit;
            self.pen.set_fill_style_str(&self.colors.hairline);
            self.pen.fill_rect(0.0, y.round(), self.axis.width, self.unit.floor().max(1.0));
            if lane.lane == Lane::Faults {
                self.faults(shown, y);
            }
            match lane.strokes.is_empty() {
                true => self.heaps(lane, y),
                false => self.strokes(lane, y),
            }
        }
    }

    /// What is broken, from when to when.
    fn faults(&self, shown: &Timeline, y: f64) {
        for span in &shown.faults {
            let x = self.axis.x(span.from_ms).max(0.0);
            let to = self.axis.x(span.to_ms.unwrap_or(self.end).min(self.end)).min(self.axis.width);
            self.pen.set_global_alpha(0.16);
            self.pen.set_fill_style_str(&self.colors.bad);
            self.pen.fill_rect(x, y - 7.0 * self.unit, (to - x).max(self.unit), 14.0 * self.unit);
            self.pen.set_global_alpha(1.0);
            if to - x > (span.what.len() as f64 * 7.0 + 20.0) * self.unit {
                self.pen.set_fill_style_str(&self.colors.ink);
                let _ = self.pen.fill_text(&span.what, x + 10.0 * self.unit, y + 4.0 * self.unit);
            }
        }
    }

    fn color(&self, kind: Mark, is_yours: bool) -> &str {
        match (kind, is_yours) {
            (Mark::Error, _) => &self.colors.bad,
            (_, true) => &self.colors.you,
            _ => &self.colors.plain,
        }
    }

    /// The lighter marks first, so that the heavier ones are seen.
    fn strokes(&self, lane: &TimelineLane, y: f64) {
        for weight in 0..=Mark::Error.weight() {
            for stroke in lane.strokes.iter().filter(|it| it.mark.weight() == weight) {
                self.pen.set_global_alpha(if stroke.at.0 > self.now { LATER } else { 1.0 });
                let ink = self.color(stroke.mark, stroke.is_yours);
                mark(self.pen, stroke.mark, (self.axis.x(stroke.at.0), y), self.unit, &self.colors.paper, ink);
            }
        }
        self.pen.set_global_alpha(1.0);
    }

    /// How many there are: bars, in proportion to the square root, so that one is seen beside a thousand.
    fn heaps(&self, lane: &TimelineLane, y: f64) {
        let most = lane.columns.iter().map(|it| it.n).max().unwrap_or(0);
        if most == 0 {
            return;
        }
        let width = self.axis.width / lane.columns.len().max(1) as f64;
        let now = self.axis.x(self.now);
        let bottom = y + 7.0 * self.unit;
        for (index, heap) in lane.columns.iter().enumerate().filter(|(_, it)| it.n > 0) {
            let x = index as f64 * width;
            self.pen.set_global_alpha(if x > now { LATER } else { 1.0 });
            self.bar(heap, (x, bottom, (width - self.unit).max(1.0)), (f64::from(heap.n) / f64::from(most)).sqrt());
        }
        self.pen.set_global_alpha(1.0);
    }

    fn bar(&self, heap: &Heap, (x, bottom, width): (f64, f64, f64), share: f64) {
        let height = (2.0 + 12.0 * share) * self.unit;
        let is_bad = heap.mark == Mark::Error;
        self.pen.set_fill_style_str(self.color(if is_bad { Mark::Act } else { heap.mark }, heap.is_yours));
        self.pen.fill_rect(x, bottom - height, width, height);
        if is_bad {
            self.pen.set_fill_style_str(&self.colors.bad);
            self.pen.fill_rect(x, bottom - height, width, 3.0 * self.unit);
        }
    }
}
