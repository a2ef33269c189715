//! A crowd on one canvas. The table says the same in words, and this in one sentence what it has been asked about.

mod grid;
mod look;
mod paint;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leptos::prelude::*;
use loopscope_engine::api::{Kind, Uid};
use loopscope_engine::view::Crowd;
use wasm_bindgen::JsCast;
use web_sys::{Event, HtmlCanvasElement, HtmlElement, KeyboardEvent, MouseEvent};

use crate::platform::{self, Watch};
use crate::session::{Session, session};
use crate::ui::{At, State, View, effect, memo, view};
use grid::{Place, Rect};
use look::Sheet;
use paint::{Painter, px};

/// What a crowd is made of, for as long as it is shown.
struct Parts {
    session: Session,
    painter: RefCell<Painter>,
    field: At<HtmlElement>,
    canvas: At<HtmlCanvasElement>,
    probe: At<HtmlElement>,
    /// Where the pod is that the keys have reached, and what is inspected.
    here: At<HtmlElement>,
    chosen: At<HtmlElement>,
    /// The pod under the pointer.
    pointed: State<Option<Uid>>,
    /// The focus is here, and was brought here by keys.
    by_keys: State<bool>,
    /// The last place of the pod that the keys have reached: when it goes, its neighbour is next.
    last: Cell<Place>,
    is_waiting: Cell<bool>,
}

pub fn crowd() -> View {
    let session = session();
    let parts = Rc::new(Parts {
        session,
        painter: RefCell::default(),
        field: At::new(),
        canvas: At::new(),
        probe: At::new(),
        here: At::new(),
        chosen: At::new(),
        pointed: State::new(None),
        by_keys: State::new(false),
        last: Cell::default(),
        is_waiting: Cell::default(),
    });
    follow(&parts);
    let Parts { field, canvas, probe, here, chosen, pointed, by_keys, .. } = *parts;
    let said = sentence(&parts);
    let on = |act: fn(&Rc<Parts>, Event)| {
        let parts = parts.clone();
        move |event| act(&parts, event)
    };
    view! {
        <div
            class="crowd" role="application" tabindex="0" aria-label="Pods as shapes" aria-describedby="crowd-how" at=field
            on:keydown={on(|parts, event| parts.key(event.unchecked_ref()))}
            on:mousemove={on(|parts, event| parts.point(event.unchecked_ref()))}
            on:mouseleave={move |_| pointed.put(None)}
            on:click={on(|parts, event| parts.press(event.unchecked_ref()))}
            on:focus={on(|parts, _| parts.by_keys.put(parts.field.get_untracked().is_some_and(|it| it.matches(":focus-visible") == Ok(true))))}
            on:blur={move |_| by_keys.put(false)}
        >
            <i class="crowd-chosen" hidden="" at=chosen></i>
            <canvas class="crowd-canvas" aria-hidden="true" at=canvas></canvas>
            <i class="crowd-here" hidden="" at=here></i>
            <i hidden="" class="crowd-probe" at=probe></i>
        </div>
        <p class="sr" id="crowd-how">"Arrows move between pods, Page Up and Page Down between nodes. Enter inspects the pod, Shift and Enter its node, Delete deletes the pod. T shows all as a table."</p>
        <p class="crowd-said" aria-live="polite">{said}</p>
    }
}

/// Draws when something has changed, and only then.
fn follow(parts: &Rc<Parts>) {
    let all = parts.clone();
    effect(move || {
        let board = &all.session.board;
        board.rover.track();
        all.by_keys.track();
        all.session.focus.selected.track();
        board.crowd.with(|crowd| all.update(crowd));
    });
    let all = parts.clone();
    let watch = StoredValue::new_local(None);
    effect(move || {
        let Some(field) = all.field.get() else { return };
        let all = all.clone();
        let told = move |is_scroll| if is_scroll { all.scrolled() } else { all.look_later() };
        watch.set_value(Some(Watch::new(&field, Rc::new(told))));
    });
}

/// The pod under the pointer, else the one that the keys have reached.
fn sentence(parts: &Rc<Parts>) -> impl Fn() -> String + use<> {
    let parts = parts.clone();
    let (session, pointed, by_keys) = (parts.session, parts.pointed, parts.by_keys);
    let board = session.board;
    // Anew when the pod gets into another state, but not with every second of one.
    let pod = memo(move || {
        let uid = pointed.get().or_else(|| board.rover.get().filter(|_| by_keys.get()))?;
        let all = |crowd: &Crowd| crowd.flocks.iter().flat_map(|it| &it.pods).find(|dot| dot.uid == uid).copied();
        board.crowd.with(all).map(|dot| (dot.uid, dot.class))
    });
    move || {
        let row = pod.get().and_then(|(uid, _)| session.pod(uid));
        row.map(|row| row.label).unwrap_or_default()
    }
}

fn place_of(crowd: &Crowd, uid: Uid) -> Option<Place> {
    let in_flock = |(flock, it): (usize, &loopscope_engine::view::Flock)| {
        it.pods.iter().position(|dot| dot.uid == uid).map(|at| (flock, at))
    };
    crowd.flocks.iter().enumerate().find_map(in_flock)
}

fn pod_at(crowd: &Crowd, (flock, at): Place) -> Option<Uid> {
    crowd.flocks.get(flock)?.pods.get(at).map(|dot| dot.uid)
}

impl Parts {
    /// Brings the canvas up to date, and the marks of what is chosen.
    fn update(self: &Rc<Self>, crowd: &Crowd) {
        let (Some(field), Some(canvas)) = (self.field.get_untracked(), self.canvas.get_untracked()) else { return };
        if crowd.flocks.is_empty() {
            return;
        }
        let mut painter = self.painter.borrow_mut();
        if painter.is_outgrown(crowd) {
            return self.look_later();
        }
        if painter.arrange(&field, crowd) {
            painter.place(&field, &canvas);
        }
        painter.draw(&canvas, crowd);
        let rover = self.rover(crowd);
        let here = rover.filter(|_| self.by_keys.get_untracked()).and_then(|place| painter.grid.cell(place));
        mark(self.here, here, &painter);
        let key = self.session.focus.selected.get_untracked();
        let chosen = key.and_then(|key| match key.kind {
            Kind::Pod => painter.grid.cell(place_of(crowd, self.session.uid(&key)?)?),
            _ => painter.grid.heading(crowd.flocks.iter().position(|it| it.key.as_ref() == Some(&key))?),
        });
        mark(self.chosen, chosen, &painter);
    }

    /// Where the keys have got to: where a pod has gone, to the next in its place.
    fn rover(&self, crowd: &Crowd) -> Option<Place> {
        let rover = self.session.board.rover;
        let found = rover.get_untracked().and_then(|uid| place_of(crowd, uid));
        let place = found.or_else(|| {
            let (flock, at) = self.last.get();
            let n = crowd.flocks.get(flock).map_or(0, |it| it.pods.len());
            let first = || crowd.flocks.iter().position(|it| !it.pods.is_empty()).map(|flock| (flock, 0));
            if n > 0 { Some((flock, at.min(n - 1))) } else { first() }
        })?;
        self.last.set(place);
        rover.put(pod_at(crowd, place));
        Some(place)
    }

    /// Looks again how large everything is to be, in the next frame.
    fn look_later(self: &Rc<Self>) {
        if self.is_waiting.replace(true) {
            return;
        }
        let all = self.clone();
        platform::next_frame(move || {
            all.is_waiting.set(false);
            all.look();
        });
    }

    fn look(self: &Rc<Self>) {
        let (Some(field), Some(probe)) = (self.field.get_untracked(), self.probe.get_untracked()) else { return };
        let crowd = self.session.board.crowd;
        let is_new = crowd.with_untracked(|crowd| self.painter.borrow_mut().measure(&field, &probe, crowd));
        if is_new {
            let all = self.clone();
            let done = move |sheet: Sheet| {
                all.painter.borrow_mut().set_sheet(sheet);
                all.session.board.crowd.with_untracked(|crowd| all.update(crowd));
            };
            let painter = self.painter.borrow();
            Sheet::make(&painter.colors, painter.grid.sizes, Rc::new(done));
        }
        crowd.with_untracked(|crowd| self.update(crowd));
        self.scrolled();
    }

    /// Shows what has come into view.
    fn scrolled(self: &Rc<Self>) {
        let (Some(field), Some(canvas)) = (self.field.get_untracked(), self.canvas.get_untracked()) else { return };
        let mut painter = self.painter.borrow_mut();
        painter.place(&field, &canvas);
        self.session.board.crowd.with_untracked(|crowd| painter.draw(&canvas, crowd));
    }

    /// The flock, and the cell of it, under the pointer.
    fn under(&self, event: &MouseEvent) -> Option<(usize, Option<usize>)> {
        let field = self.field.get_untracked()?;
        let origin = field.get_bounding_client_rect();
        let painter = self.painter.borrow();
        let (x, y) = painter.at(event.client_x() - origin.left() as i32, event.client_y() - origin.top() as i32);
        painter.grid.hit(x, y)
    }

    fn point(&self, event: &MouseEvent) {
        let place = self.under(event);
        let crowd = self.session.board.crowd;
        let pod = place.and_then(|(flock, at)| crowd.with_untracked(|crowd| pod_at(crowd, (flock, at?))));
        self.pointed.put(pod);
        let has_key = |flock: usize| crowd.with_untracked(|it| it.flocks.get(flock).is_some_and(|it| it.key.is_some()));
        let is_heading = place.is_some_and(|(flock, at)| at.is_none() && has_key(flock));
        if let Some(field) = self.field.get_untracked() {
            let _ = field.class_list().toggle_with_force("is-over", pod.is_some() || is_heading);
        }
    }

    fn press(&self, event: &MouseEvent) {
        let Some((flock, at)) = self.under(event) else { return };
        let crowd = self.session.board.crowd;
        match at {
            None => self.select_flock(flock),
            Some(at) => {
                if let Some(uid) = crowd.with_untracked(|crowd| pod_at(crowd, (flock, at))) {
                    self.session.board.rover.put(Some(uid));
                    self.select(uid);
                }
            }
        }
    }

    fn select(&self, uid: Uid) {
        if let Some(row) = self.session.pod(uid) {
            self.session.select(row.key);
        }
    }

    fn select_flock(&self, flock: usize) {
        // In the simple view nodes are not inspected.
        if self.session.is_simple.get_untracked() {
            return;
        }
        let key = self.session.board.crowd.with_untracked(|crowd| crowd.flocks.get(flock)?.key.clone());
        if let Some(key) = key {
            self.session.select(key);
        }
    }

    fn key(&self, event: &KeyboardEvent) {
        if event.ctrl_key() || event.alt_key() || event.meta_key() {
            return;
        }
        let crowd = self.session.board.crowd;
        let rover = self.session.board.rover;
        let Some(uid) = rover.get_untracked() else { return };
        match event.key().as_str() {
            "Enter" if event.shift_key() => self.select_flock(self.last.get().0),
            "Enter" | " " => self.select(uid),
            "Delete" => {
                if let Some(row) = self.session.pod(uid) {
                    self.session.delete(row.key);
                }
            }
            key => {
                let painter = self.painter.borrow();
                let to = crowd.with_untracked(|crowd| {
                    let from = place_of(crowd, uid)?;
                    pod_at(crowd, painter.grid.step(crowd, from, key)?)
                });
                let Some(to) = to else { return };
                drop(painter);
                // What is inspected goes along.
                if self.session.focus.selected.get_untracked().is_some_and(|key| self.session.uid(&key) == Some(uid)) {
                    self.select(to);
                }
                rover.put(Some(to));
                if let Some(here) = self.here.get_untracked() {
                    platform::next_frame(move || platform::show_nearest(&here));
                }
            }
        }
        self.by_keys.put(true);
        event.prevent_default();
    }
}

/// Puts a mark over a part of the canvas, or away.
fn mark(mark: At<HtmlElement>, rect: Option<Rect>, painter: &Painter) {
    let Some(mark) = mark.get_untracked() else { return };
    let Some(rect) = rect else {
        mark.set_hidden(true);
        return;
    };
    let [x, y, width, height] = rect.map(|n| px(painter.css(n)));
    let style = mark.style();
    for (name, value) in
        [("inline-size", &width), ("block-size", &height), ("translate", &[x.as_str(), " ", &y].concat())]
    {
        if style.get_property_value(name).as_ref() != Ok(value) {
            let _ = style.set_property(name, value);
        }
    }
    mark.set_hidden(false);
}
