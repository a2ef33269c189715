//! The whole run on one axis: a scrubber, the curve of want and is, a lane for everybody who acts. What is drawn stands
//! in words beside it.

mod axis;
mod marks;
mod paint;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leptos::prelude::*;
use loopscope_engine::view::TimelineLane;
use wasm_bindgen::JsCast;
use web_sys::{Event, HtmlCanvasElement, HtmlElement, HtmlInputElement, KeyboardEvent, PointerEvent, WheelEvent};

use crate::atoms::{clock, icon, yes};
use crate::platform::{self, Watch};
use crate::session::{Session, session};
use crate::ui::{At, State, View, each, effect, memo, view};
use axis::{Axis, seconds};
use paint::Painter;

/// A press that moves the pointer less than this is a click, in CSS pixels.
const SLIP: f64 = 4.0;
/// A line of a wheel that counts lines, what makes it zoom by one step, and how much more a pinch counts.
const LINE: f64 = 16.0;
const NOTCH: f64 = 100.0;
const PINCH: f64 = 4.0;

struct Parts {
    session: Session,
    painter: RefCell<Painter>,
    plot: At<HtmlElement>,
    top: At<HtmlCanvasElement>,
    low: At<HtmlCanvasElement>,
    probe: At<HtmlElement>,
    scrub: At<HtmlInputElement>,
    head: At<HtmlElement>,
    brush: At<HtmlElement>,
    /// The instant that the scrubber was moved to and that is still to be gone to; and the one that it shows meanwhile.
    wanted: Cell<Option<u64>>,
    target: State<Option<u64>>,
    is_asked: Cell<bool>,
    is_waiting: Cell<bool>,
    /// Where the pointer went down, in CSS pixels from the beginning of the plot, and whether it has moved since.
    drag: Cell<Option<(f64, bool)>>,
    /// How far the wheel was turned since it last zoomed, in CSS pixels.
    turned: Cell<f64>,
}

pub fn timeline() -> View {
    let session = session();
    let parts = Rc::new(Parts {
        session,
        painter: RefCell::default(),
        plot: At::new(),
        top: At::new(),
        low: At::new(),
        probe: At::new(),
        scrub: At::new(),
        head: At::new(),
        brush: At::new(),
        wanted: Cell::default(),
        target: State::new(None),
        is_asked: Cell::default(),
        is_waiting: Cell::default(),
        drag: Cell::default(),
        turned: Cell::default(),
    });
    follow(&parts);
    let Parts { plot, top, low, probe, scrub, head, brush, .. } = *parts;
    let on = |act: fn(&Rc<Parts>, &Event)| {
        let parts = parts.clone();
        move |event: Event| act(&parts, &event)
    };
    let is_open = session.lanes.are_open;
    let words = move || {
        let (now, seq) = session.lanes.cursor.get();
        [&seconds(now), " seconds, event ", seq.to_string().as_str(), " of ", &session.lanes.n.get().to_string()]
            .concat()
    };
    view! {
        <div
            class="tl" class:is-open={move || is_open.get()} on:pointerdown={on(Parts::down)} on:pointermove={on(Parts::moved)}
            on:pointerup={on(Parts::up)} on:pointercancel={on(|parts, _| parts.let_go())} on:wheel={on(Parts::wheel)}
        ><div class="tl-in">
            <div class="tl-top">
                {tools(session)}
                <div class="tl-plot" at=plot>
                    <canvas class="tl-canvas" role="img" aria-label={curve_words(session)} at=top></canvas>
                    <input
                        class="scrub" type="range" aria-label="Moment" step="1" title="Drag, or press; Home and End, arrows, Alt and arrows for a second"
                        aria-valuetext=words at=scrub on:input={on(Parts::scrubbed)} on:keydown={on(Parts::key)}
                    />
                </div>
            </div>
            <div class="tl-low">
                {names(session)}
                <div class="tl-plot"><canvas class="tl-canvas" aria-hidden="true" at=low></canvas></div>
            </div>
            <div class="tl-over" aria-hidden="true"><i class="tl-head" at=head></i><i class="tl-brush" hidden="" at=brush></i></div>
            <i hidden="" at=probe></i>
        </div></div>
    }
}

/// Zooming and folding, and what the curve says now.
fn tools(session: Session) -> View {
    let lanes = session.lanes;
    let is_whole = move || !lanes.is_zoomed.get();
    let said = move || {
        session.board.summary.with(|it| ["ready ", &it.ready.to_string(), ", want ", &it.want.to_string()].concat())
    };
    let is_thinned = memo(move || lanes.shown.with(|it| !it.thinned.is_empty()));
    let window = move || {
        let (from, to) = lanes.window.get();
        match (lanes.is_zoomed.get(), is_thinned.get()) {
            (true, false) => [seconds(from).as_str(), " to ", &seconds(to), " s"].concat(),
            (_, true) => "shaded: only counted".to_owned(),
            _ => String::new(),
        }
    };
    view! {
        <div class="tl-names">
            <div class="tl-tools" role="group" aria-label="Stretch of time">
                <button class="btn btn-s btn-quiet" type="button" aria-label="Longer stretch" title="Longer stretch (-)" disabled=is_whole on:click={move |_| session.zoom(false)}>"−"</button>
                <button class="btn btn-s btn-quiet" type="button" aria-label="Shorter stretch" title="Shorter stretch (+), or drag over the lanes" on:click={move |_| session.zoom(true)}>"+"</button>
                <button class="btn btn-s btn-quiet" type="button" title="The whole run (0)" disabled=is_whole on:click={move |_| session.show_all()}>"Whole run"</button>
                <button
                    class="btn btn-s btn-quiet tl-fold" type="button" aria-label="Lanes" title="Fold or unfold the lanes" aria-expanded={move || yes(lanes.are_open.get())}
                    on:click={move |_| session.unfold_lanes(!lanes.are_open.get_untracked())}
                >{icon("i i12", "#i-down")}</button>
            </div>
            <p class="tl-said"><b>{said}</b><span class="sub">{window}</span></p>
        </div>
    }
}

/// What the curve shows, in words.
fn curve_words(session: Session) -> impl Fn() -> String {
    let words = memo(move || {
        let lanes = session.lanes;
        let (now, _) = lanes.cursor.get();
        lanes.shown.with(|it| {
            let here = it.curve.iter().rev().find(|step| step.at.0 <= now).or(it.curve.first());
            let Some(here) = here else { return "Nothing is wanted in this stretch".to_owned() };
            let least = it.curve.iter().map(|step| step.ready).min().unwrap_or(0);
            [
                "Curve of want and is: ready ",
                &here.ready.to_string(),
                " of ",
                &here.want.to_string(),
                ", at least ",
                &least.to_string(),
                " in this stretch",
            ]
            .concat()
        })
    });
    move || words.get()
}

/// The lanes in words: what each of them holds of the stretch that is shown.
fn names(session: Session) -> View {
    let shown = session.lanes.shown;
    let keys = memo(move || shown.with(|it| it.lanes.iter().map(|lane| lane.name.clone()).collect::<Vec<String>>()));
    let row = move |name: String| {
        let is_you = name == "You";
        let facts = {
            let name = name.clone();
            memo(move || {
                shown.with(|it| it.lanes.iter().find(|lane| lane.name == name).map_or_else(String::new, facts))
            })
        };
        let n = {
            let name = name.clone();
            memo(move || {
                shown.with(|it| it.lanes.iter().find(|lane| lane.name == name).map_or(0, |lane| lane.n)).to_string()
            })
        };
        view! {
            <li class:is-you=is_you><span class="clip">{name}</span><span class="sub" aria-hidden="true">{move || n.get()}</span><span class="sr">{move || facts.get()}</span></li>
        }
    };
    let spans = move || {
        shown.with(|it| {
            let span = |it: &loopscope_engine::view::FaultSpan| {
                let until = it.to_ms.map_or_else(|| " on".to_owned(), |to| [" to ", clock(to).as_str()].concat());
                [it.what.as_str(), " from ", &clock(it.from_ms), &until].concat()
            };
            it.faults.iter().map(span).collect::<Vec<String>>().join("; ")
        })
    };
    let thinned = move || {
        shown.with(|it| {
            let part = |(from, to): &(u64, u64)| {
                ["From ", &clock(*from), " to ", &clock(*to), " events are only counted. They come back where you go."]
                    .concat()
            };
            it.thinned.iter().map(part).collect::<Vec<String>>().join(" ")
        })
    };
    view! {
        <div class="tl-names">
            <ul class="lane-names" aria-label="Lanes">{each(move || keys.get(), Clone::clone, row)}</ul>
            <p class="sr">{spans}</p>
            <p class="sr">{thinned}</p>
        </div>
    }
}

/// `, 12 events in this stretch, 3 of them because of you, the first at 00:12.400`
fn facts(lane: &TimelineLane) -> String {
    let yours: u64 = lane.columns.iter().filter(|it| it.is_yours).map(|it| u64::from(it.n)).sum();
    let mut text = [", ", lane.n.to_string().as_str(), " events in this stretch"].concat();
    if !lane.strokes.is_empty() {
        let yours = lane.strokes.iter().filter(|it| it.is_yours).count();
        text.push_str(&[", ", &yours.to_string(), " because of you"].concat());
    } else if yours > 0 {
        text.push_str(", some because of you");
    }
    if let Some(first) = lane.strokes.first() {
        text.push_str(&[", the first at ", &clock(first.at.0)].concat());
    }
    text
}

/// Draws when something has changed, and only then.
fn follow(parts: &Rc<Parts>) {
    let all = parts.clone();
    effect(move || {
        let (lanes, past) = (&all.session.lanes, &all.session.past);
        lanes.shown.track();
        lanes.beside.track();
        lanes.cursor.track();
        past.is_past.track();
        all.draw();
    });
    let all = parts.clone();
    effect(move || all.show_cursor());
    let all = parts.clone();
    effect(move || {
        if all.session.past.seeking.get().is_none() {
            match all.wanted.get() {
                Some(_) => all.go_later(),
                None => all.target.put(None),
            }
        }
    });
    let all = parts.clone();
    let watch = StoredValue::new_local(None);
    effect(move || {
        let Some(plot) = all.plot.get() else { return };
        let again = all.clone();
        let told = move |is_scroll: bool| {
            if !is_scroll {
                again.look_later();
            }
        };
        watch.set_value(Some(Watch::new(&plot, Rc::new(told))));
        all.look_later();
    });
}

impl Parts {
    fn axis(&self) -> Axis {
        let (from, to) = self.session.lanes.window.get_untracked();
        Axis { from, to, width: self.painter.borrow().css_width() }
    }

    fn look_later(self: &Rc<Self>) {
        if self.is_waiting.replace(true) {
            return;
        }
        let all = self.clone();
        platform::next_frame(move || {
            all.is_waiting.set(false);
            let (Some(plot), Some(probe)) = (all.plot.get_untracked(), all.probe.get_untracked()) else { return };
            if all.painter.borrow_mut().measure(&plot, &probe) {
                let columns = all.painter.borrow().n_columns();
                all.session.fit_timeline(columns);
                all.draw();
                all.show_cursor();
            }
        });
    }

    fn draw(&self) {
        let (Some(top), Some(low)) = (self.top.get_untracked(), self.low.get_untracked()) else { return };
        let (lanes, past) = (&self.session.lanes, &self.session.past);
        let now = self.session.transport.now_ms.get_untracked();
        let end = if past.is_past.get_untracked() { past.end_ms.get_untracked() } else { now };
        let mut painter = self.painter.borrow_mut();
        lanes.shown.with_untracked(|shown| {
            lanes.beside.with_untracked(|beside| painter.draw((&top, &low), shown, beside, (now, end)));
        });
    }

    /// Puts the scrubber and its line to where time is, or is to be.
    fn show_cursor(&self) {
        let lanes = &self.session.lanes;
        let now = self.session.transport.now_ms.get();
        let at = self.target.get().unwrap_or(now);
        let (from, to) = lanes.window.get();
        lanes.columns.track();
        let (Some(scrub), Some(head)) = (self.scrub.get(), self.head.get()) else { return };
        let axis = self.axis();
        // Not drawn anew for less than a pixel.
        let step = ((to - from) as f64 / axis.width.max(1.0)).max(1.0) as u64;
        for (text, old, set) in [
            (from, scrub.min(), HtmlInputElement::set_min as fn(&HtmlInputElement, &str)),
            (to, scrub.max(), HtmlInputElement::set_max),
        ] {
            let text = text.to_string();
            if text != old {
                set(&scrub, &text);
            }
        }
        let shown = if self.session.transport.playing.get_untracked() { at / step * step } else { at };
        let value = shown.clamp(from, to).to_string();
        if scrub.value() != value {
            scrub.set_value(&value);
        }
        let is_outside = !(from..=to).contains(&at);
        let _ = scrub.class_list().toggle_with_force("is-outside", is_outside);
        head.set_hidden(is_outside);
        let _ = head.style().set_property("translate", &platform::px(axis.x(shown.clamp(from, to))));
    }

    fn scrubbed(self: &Rc<Self>, _: &Event) {
        let value = self.scrub.get_untracked().map(|it| it.value());
        if let Some(ms) = value.and_then(|it| it.parse().ok()) {
            self.want(ms);
        }
    }

    /// Goes there with the next frame; of several only the last counts.
    fn want(self: &Rc<Self>, ms: u64) {
        if self.session.transport.playing.get_untracked() {
            self.session.pause();
        }
        self.wanted.set(Some(ms));
        self.target.put(Some(ms.min(self.session.past.end_ms.get_untracked())));
        self.go_later();
    }

    fn go_later(self: &Rc<Self>) {
        if self.is_asked.replace(true) {
            return;
        }
        let all = self.clone();
        platform::next_frame(move || {
            all.is_asked.set(false);
            let is_seeking = || all.session.past.seeking.get_untracked().is_some();
            // One way at a time is gone to its end: else a drag would never arrive anywhere.
            if is_seeking() {
                return;
            }
            if let Some(ms) = all.wanted.take() {
                all.session.seek_ms(ms);
            }
            if !is_seeking() {
                all.target.put(None);
            }
        });
    }

    /// What the scrubber's keys do that are not those of the page: a second up or down, instead of a millisecond.
    fn key(self: &Rc<Self>, event: &Event) {
        let Some(key) = event.dyn_ref::<KeyboardEvent>() else { return };
        let by = match key.key().as_str() {
            "ArrowUp" => 1_000,
            "ArrowDown" => -1_000,
            _ => return,
        };
        self.session.seek_by(by);
        event.prevent_default();
    }

    /// Where the pointer is on the plot, in CSS pixels from its beginning; nothing beside it.
    fn under(&self, event: &Event) -> Option<(f64, &'static str)> {
        let pointer = event.dyn_ref::<PointerEvent>()?;
        let place = self.plot.get_untracked()?.get_bounding_client_rect();
        let x = f64::from(pointer.client_x()) - place.left();
        let is_scrub = pointer.target().is_some_and(|it| it.dyn_ref::<HtmlInputElement>().is_some());
        let how = match (is_scrub, pointer.shift_key()) {
            (true, false) => return None,
            (true, true) => "scrub",
            _ => "plot",
        };
        (-SLIP..=place.width() + SLIP).contains(&x).then_some((x, how))
    }

    fn down(self: &Rc<Self>, event: &Event) {
        let is_first = event.dyn_ref::<PointerEvent>().is_some_and(|it| it.button() == 0);
        let Some((x, how)) = self.under(event).filter(|_| is_first) else { return };
        if let (Some(pointer), Some(field)) = (event.dyn_ref::<PointerEvent>(), self.field()) {
            let _ = field.set_pointer_capture(pointer.pointer_id());
        }
        if how == "scrub" {
            event.prevent_default();
        }
        self.drag.set(Some((x, false)));
    }

    fn field(&self) -> Option<web_sys::Element> {
        self.plot.get_untracked()?.closest(".tl").ok().flatten()
    }

    /// The pointer's place while it is down, kept within the plot.
    fn dragged(&self, event: &Event) -> Option<(f64, f64)> {
        let (from, _) = self.drag.get()?;
        let place = self.plot.get_untracked()?.get_bounding_client_rect();
        let x = f64::from(event.dyn_ref::<PointerEvent>()?.client_x()) - place.left();
        Some((from.clamp(0.0, place.width()), x.clamp(0.0, place.width())))
    }

    fn moved(self: &Rc<Self>, event: &Event) {
        let Some((from, to)) = self.dragged(event) else { return };
        let has_moved = self.drag.get().is_some_and(|it| it.1) || (to - from).abs() > SLIP;
        self.drag.set(Some((from, has_moved)));
        let Some(brush) = self.brush.get_untracked().filter(|_| has_moved) else { return };
        brush.set_hidden(false);
        let _ = brush.style().set_property("inline-size", &platform::px((to - from).abs()));
        let _ = brush.style().set_property("translate", &platform::px(from.min(to)));
    }

    fn up(self: &Rc<Self>, event: &Event) {
        let (Some((from, to)), Some((_, has_moved))) = (self.dragged(event), self.drag.get()) else { return };
        self.let_go();
        let axis = self.axis();
        match has_moved {
            true => self.session.zoom_to(axis.at(from), axis.at(to)),
            false => self.want(axis.at(to)),
        }
    }

    /// The wheel zooms around the pointer, and sideways it moves along. Where the page itself scrolls it needs Ctrl, which
    /// a pinch brings along.
    fn wheel(self: &Rc<Self>, event: &Event) {
        let Some(wheel) = event.dyn_ref::<WheelEvent>() else { return };
        if self.session.is_simple.get_untracked() || !(wheel.ctrl_key() || platform::is_page_fixed()) {
            return;
        }
        let Some(place) = self.plot.get_untracked().map(|it| it.get_bounding_client_rect()) else { return };
        event.prevent_default();
        let pixels = if wheel.delta_mode() == WheelEvent::DOM_DELTA_PIXEL { 1.0 } else { LINE };
        let (along, turn) = (wheel.delta_x() * pixels, wheel.delta_y() * pixels);
        if along.abs() > turn.abs() {
            return self.session.shift_window(along / place.width());
        }
        // A pinch comes in small pieces, a notch of a wheel in one.
        let turned = self.turned.get() + if wheel.ctrl_key() { turn * PINCH } else { turn };
        self.turned.set(turned);
        if turned.abs() >= NOTCH {
            self.turned.set(0.0);
            let x = (f64::from(wheel.client_x()) - place.left()).clamp(0.0, place.width());
            self.session.zoom_around(self.axis().at(x), turned < 0.0);
        }
    }

    fn let_go(&self) {
        self.drag.set(None);
        if let Some(brush) = self.brush.get_untracked() {
            brush.set_hidden(true);
        }
    }
}
