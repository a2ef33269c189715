//! Lines between panels that can be dragged, moved with the arrow keys, or pressed for the next size.

use gloo_timers::callback::Timeout;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement, KeyboardEvent, PointerEvent};

use crate::platform;
use crate::ui::{State, View, view};

/// One line. Sizes are in tenths of a rem, so that larger text has larger panels.
#[derive(Clone, Copy)]
pub struct Split {
    name: &'static str,
    /// The custom property and the setting that hold the size.
    property: &'static str,
    /// The panel whose size it is.
    panel: &'static str,
    is_vertical: bool,
    /// The panel comes before the line; dragging away from it makes it larger.
    is_before: bool,
    least: i32,
    most: i32,
    first: i32,
}

pub static LOOPS: Split = Split {
    name: "Height of the loops",
    property: "--loops",
    panel: ".loops",
    is_vertical: false,
    is_before: true,
    least: 90,
    most: 400,
    first: 205,
};
pub static INSPECTOR: Split = Split {
    name: "Width of the inspector",
    property: "--insp",
    panel: ".inspector",
    is_vertical: true,
    is_before: false,
    least: 160,
    most: 400,
    first: 225,
};
pub static DOCK: Split = Split {
    name: "Height of the dock",
    property: "--dock",
    panel: ".dock",
    is_vertical: false,
    is_before: false,
    least: 60,
    most: 400,
    first: 130,
};

/// What an arrow key moves a line by.
const STEP: i32 = 10;
/// A press waits so long, in wall ms, whether it becomes a double click: that must find the line where it was.
const DOUBLE_MS: u32 = 300;

fn root() -> Option<HtmlElement> {
    document().document_element()?.dyn_into().ok()
}

impl Split {
    /// `size-loops`: the page's first script reads it, too, so that nothing jumps.
    fn setting(&self) -> String {
        ["size-", &self.property[2..]].concat()
    }

    fn size(&self) -> i32 {
        let kept = platform::load(&self.setting()).and_then(|text| text.parse().ok());
        kept.map_or(self.first, |size: i32| size.clamp(self.least, self.most))
    }

    fn put(&self, size: i32) -> i32 {
        let size = size.clamp(self.least, self.most);
        if let Some(root) = root() {
            let rem = [(size / 10).to_string().as_str(), ".", (size % 10).to_string().as_str(), "rem"].concat();
            let _ = root.style().set_property(self.property, &rem);
        }
        platform::save(&self.setting(), &size.to_string());
        size
    }

    /// As before anybody moved it: the sheet's own size.
    fn reset(&self) -> i32 {
        if let Some(root) = root() {
            let _ = root.style().remove_property(self.property);
        }
        platform::forget(&self.setting());
        self.first
    }

    /// The next of the sizes small, first and large.
    fn next(&self, size: i32) -> i32 {
        let large = (self.first + self.most) / 2;
        [self.least, self.first, large].into_iter().find(|it| *it > size).unwrap_or(self.least)
    }

    /// The panel's size as it is drawn, whether or not anybody has set it.
    fn drawn(&self) -> Option<i32> {
        let panel = document().query_selector(self.panel).ok().flatten()?.get_bounding_client_rect();
        let px = if self.is_vertical { panel.width() } else { panel.height() };
        Some((px / platform::rem() * 10.0).round() as i32)
    }

    /// The panel's size if the line were where the pointer is.
    fn under(&self, pointer: &PointerEvent) -> Option<i32> {
        let panel = document().query_selector(self.panel).ok().flatten()?.get_bounding_client_rect();
        let px = match (self.is_vertical, self.is_before) {
            (false, true) => f64::from(pointer.client_y()) - panel.top(),
            (false, false) => panel.bottom() - f64::from(pointer.client_y()),
            (true, true) => f64::from(pointer.client_x()) - panel.left(),
            (true, false) => panel.right() - f64::from(pointer.client_x()),
        };
        Some((px / platform::rem() * 10.0) as i32)
    }
}

/// Gives all panels the sizes that they had at first.
pub fn reset_all() {
    for split in [&LOOPS, &INSPECTOR, &DOCK] {
        split.reset();
    }
}

pub fn splitter(split: &'static Split) -> View {
    let size = State::new(split.size());
    // Whether the pointer is down on the line, and has moved it since.
    let drag = State::new((false, false));
    let press = StoredValue::new_local(None::<Timeout>);
    let on_key = move |event: Event| {
        let Some(key) = event.dyn_ref::<KeyboardEvent>() else { return };
        let (less, more) = match (split.is_vertical, split.is_before) {
            (false, true) => ("ArrowUp", "ArrowDown"),
            (false, false) => ("ArrowDown", "ArrowUp"),
            (true, true) => ("ArrowLeft", "ArrowRight"),
            (true, false) => ("ArrowRight", "ArrowLeft"),
        };
        let now = split.drawn().unwrap_or(size.get_untracked());
        size.put(match key.key().as_str() {
            key if key == less => split.put(now - STEP),
            key if key == more => split.put(now + STEP),
            "Home" => split.put(split.least),
            "End" => split.put(split.most),
            "Enter" => split.put(split.next(now)),
            _ => return,
        });
        event.prevent_default();
        event.stop_propagation();
    };
    let down = move |event: Event| {
        if let (Some(pointer), Some(line)) = (event.dyn_ref::<PointerEvent>(), target(&event)) {
            let _ = line.set_pointer_capture(pointer.pointer_id());
            drag.put((true, false));
        }
    };
    let moved = move |event: Event| {
        if let (true, Some(new)) = (drag.get_untracked().0, event.dyn_ref().and_then(|pointer| split.under(pointer))) {
            if (new - size.get_untracked()).abs() > 2 {
                drag.put((true, true));
            }
            if drag.get_untracked().1 {
                size.put(split.put(new));
            }
        }
    };
    let up = move |_: Event| {
        if let (true, false) = drag.get_untracked() {
            press.set_value(Some(Timeout::new(DOUBLE_MS, move || {
                size.put(split.put(split.next(size.get_untracked())))
            })));
        }
        drag.put((false, false));
    };
    let reset = move |_: Event| {
        press.set_value(None);
        size.put(split.reset());
    };
    // A landmark of its own: it is part of neither of the panels that it lies between.
    view! {
        <section class="sizes" aria-label={split.name}><div
            class="split" class:is-vertical={split.is_vertical} role="separator" tabindex="0" aria-label={split.name}
            aria-orientation={if split.is_vertical { "vertical" } else { "horizontal" }}
            aria-valuemin={(split.least / 10).to_string()} aria-valuemax={(split.most / 10).to_string()}
            aria-valuenow={move || (size.get() / 10).to_string()} aria-valuetext={move || [(size.get() / 10).to_string().as_str(), " lines of text"].concat()}
            title="Drag, or press for the next size; double click resets"
            on:focus={move |_| size.put(split.drawn().unwrap_or(size.get_untracked()))} on:keydown=on_key on:pointerdown=down on:pointermove=moved on:pointerup=up
            on:pointercancel={move |_| drag.put((false, false))} on:dblclick=reset
        ></div></section>
    }
}

fn target(event: &Event) -> Option<Element> {
    event.target()?.dyn_into().ok()
}
