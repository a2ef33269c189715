//! Which stretch of the run the timeline shows, and what is in it.

use loopscope_engine::history::Branch;
use loopscope_engine::view::{self, Stretch, Timeline};
use loopscope_engine::world::Sample;

use super::{Core, Session};
use crate::platform::wall_ms;
use crate::ui::State;

/// While playing, the timeline is drawn at most this often, in wall ms.
const EVERY_MS: f64 = 200.0;
/// The shortest stretch that is shown, and by how much a step of zooming changes it.
const LEAST_MS: u64 = 20;
const STEP: u64 = 3;

#[derive(Clone, Copy)]
pub struct Lanes {
    pub shown: State<Timeline>,
    /// The same curve in the branch that lies beside.
    pub beside: State<Vec<Sample>>,
    /// First and last ms of what is shown, and whether that is a part of the run only.
    pub window: State<(u64, u64)>,
    pub is_zoomed: State<bool>,
    /// The time and the number of events so far, as last drawn.
    pub cursor: State<(u64, u64)>,
    /// Events of the whole run.
    pub n: State<u64>,
    /// The lanes are unfolded.
    pub are_open: State<bool>,
    /// So many columns they have room for.
    pub columns: State<usize>,
}

impl Lanes {
    pub(super) fn new() -> Self {
        Self {
            shown: State::new(Timeline::default()),
            beside: State::new(Vec::new()),
            window: State::new((0, whole(0))),
            is_zoomed: State::new(false),
            cursor: State::new((0, 0)),
            n: State::new(0),
            are_open: State::new(crate::platform::is_wide()),
            columns: State::new(0),
        }
    }
}

/// The axis of a run that has come so far, in ms: with room ahead, so that it stays as it is for a while.
fn whole(end: u64) -> u64 {
    let mut unit = 10_000;
    loop {
        let fits = [unit, unit / 2 * 3, unit * 2, unit * 3].into_iter().find(|it| end < *it);
        match fits {
            Some(to) => return to,
            None => unit *= 4,
        }
    }
}

impl Core {
    /// Derives the timeline, where it is due.
    pub(super) fn show_timeline(&mut self, session: Session, wall: f64, at_once: bool) {
        // Loops, details and this take turns while time runs fast.
        let is_turn = !session.is_fast() || ![self.loops_at, self.details_at, self.events_at].contains(&wall);
        if !at_once && (wall - self.timeline_at < EVERY_MS || !is_turn) {
            return;
        }
        self.timeline_at = wall;
        let lanes = &session.lanes;
        let Some(branch) = self.history.branch(self.history.current()) else { return };
        let now = self.sim().now().0;
        let old = lanes.window.get_untracked();
        let (mut from, mut to) = match lanes.is_zoomed.get_untracked() {
            true => old,
            false => (0, whole(branch.end.at.0)),
        };
        // Where the cursor leaves what is shown, that goes along.
        let was_inside = self.cursor_seen.is_some_and(|it| (from..=to).contains(&it));
        if !(from..=to).contains(&now) && was_inside && self.cursor_seen != Some(now) {
            let span = to - from;
            from = now.saturating_sub(span / 4);
            to = from + span;
        }
        self.cursor_seen = Some(now);
        let has_lanes = session.is_embedded || !session.is_simple.get_untracked();
        let columns = if lanes.are_open.get_untracked() && has_lanes { lanes.columns.get_untracked() } else { 0 };
        let stretch = Stretch { from_ms: from, to_ms: to, columns };
        lanes.window.put((from, to));
        lanes.n.put(branch.record().n());
        lanes.cursor.put((now, self.sim().trace().visible_count()));
        lanes.shown.put(view::timeline(self.sim(), branch.record(), branch.steps(), stretch));
        let other = session.past.beside.get_untracked().and_then(|id| self.history.branch(id)).map(Branch::record);
        lanes.beside.put(other.map_or_else(Vec::new, |it| view::curve_in(it, stretch)));
    }
}

impl Session {
    fn show_window(self, window: (u64, u64), is_zoomed: bool) {
        self.lanes.window.put(window);
        self.lanes.is_zoomed.put(is_zoomed);
        self.draw_timeline();
    }

    pub fn draw_timeline(self) {
        self.with_core(|core| core.show_timeline(self, wall_ms(), true));
    }

    /// Shows a stretch of the run only, from one ms to another.
    pub fn zoom_to(self, a: u64, b: u64) {
        let (from, to) = (a.min(b), a.max(b).max(a.min(b) + LEAST_MS));
        let all = whole(self.past.end_ms.get_untracked());
        if to - from >= all {
            return self.show_all();
        }
        self.show_window((from, to), true);
    }

    /// Shows a shorter stretch around the cursor, or around the middle where the cursor is elsewhere; or a longer one.
    pub fn zoom(self, closer: bool) {
        let (from, to) = self.lanes.window.get_untracked();
        let now = self.transport.now_ms.get_untracked();
        self.zoom_around(if (from..=to).contains(&now) { now } else { from.midpoint(to) }, closer);
    }

    /// The same around an instant that is shown, in ms.
    pub fn zoom_around(self, middle: u64, closer: bool) {
        let (from, to) = self.lanes.window.get_untracked();
        let span = if closer { ((to - from) / STEP).max(LEAST_MS) } else { (to - from) * STEP };
        let all = whole(self.past.end_ms.get_untracked());
        // What rounding took away on the way in does not count.
        if span + STEP > all {
            return self.show_all();
        }
        // What lies there stays where it is on the screen.
        let before = u128::from(middle.saturating_sub(from)) * u128::from(span) / u128::from((to - from).max(1));
        let from = middle.saturating_sub(before as u64).min(all.saturating_sub(span));
        self.zoom_to(from, from + span);
    }

    /// Shows what comes a part of the stretch later, or earlier.
    pub fn shift_window(self, part: f64) {
        let (from, to) = self.lanes.window.get_untracked();
        let span = to - from;
        let last = whole(self.past.end_ms.get_untracked()).saturating_sub(span);
        let from = from.saturating_add_signed((span as f64 * part) as i64).min(last);
        self.zoom_to(from, from + span);
    }

    /// Shows the whole run again.
    pub fn show_all(self) {
        self.show_window((0, whole(self.past.end_ms.get_untracked())), false);
    }

    pub fn unfold_lanes(self, open: bool) {
        self.lanes.are_open.put(open);
        self.draw_timeline();
    }

    /// The timeline has room for another number of columns.
    pub fn fit_timeline(self, columns: usize) {
        if self.lanes.columns.get_untracked() != columns {
            self.lanes.columns.put(columns);
            self.draw_timeline();
        }
    }

    /// So many ms of virtual time forward, or back.
    pub fn seek_by(self, ms: i64) {
        self.seek_to(self.bound_for().saturating_add_signed(ms));
    }
}

#[cfg(all(test, target_arch = "wasm32"))]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::whole;

    #[wasm_bindgen_test]
    fn the_axis_has_room_ahead_and_seldom_changes() {
        let all: Vec<u64> = (0..4_000).map(|second| whole(second * 1_000)).collect();
        assert!(all.iter().enumerate().all(|(second, to)| *to > second as u64 * 1_000));
        assert!(all.iter().enumerate().skip(10).all(|(second, to)| *to <= second as u64 * 2_000 + 1_000));
        let mut different = all;
        different.dedup();
        assert!(different.len() < 20, "{different:?}");
    }
}
