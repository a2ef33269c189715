//! Keys within a part that is one stop for Tab.

use wasm_bindgen::JsCast;
use web_sys::{Element, Event, KeyboardEvent};

use crate::platform;

/// The key pressed without Ctrl, Alt or Meta, and what it was pressed on.
fn pressed(event: &Event) -> Option<(String, Element)> {
    let key = event.dyn_ref::<KeyboardEvent>()?;
    let target = event.target()?.dyn_into::<Element>().ok()?;
    (!key.ctrl_key() && !key.alt_key() && !key.meta_key()).then(|| (key.key(), target))
}

/// Arrows choose another tab of the list.
pub fn rove_tabs(event: Event) {
    let Some((key, tab)) = pressed(&event) else { return };
    let Some(list) = tab.closest("[role=tablist]").ok().flatten() else { return };
    let tabs = platform::all(&list, "[role=tab]");
    let Some(here) = tabs.iter().position(|it| *it == tab) else { return };
    let next = match key.as_str() {
        "ArrowRight" => here + 1,
        "ArrowLeft" => here + tabs.len() - 1,
        "Home" => 0,
        "End" => tabs.len() - 1,
        _ => return,
    };
    event.prevent_default();
    if let Some(next) = tabs.get(next % tabs.len()) {
        platform::focus(next);
        platform::press(next);
    }
}

/// In the list of loops: arrows move between their headings.
pub fn rove_loops(event: Event) {
    let Some((key, target)) = pressed(&event) else { return };
    let Some(list) = target.closest("[tabindex='0']").ok().flatten() else { return };
    let all = platform::all(&list, ".loop-open");
    let here = all.iter().position(|it| *it == target);
    let next = match key.as_str() {
        "ArrowDown" => here.map_or(0, |here| here + 1),
        "ArrowUp" => here.map_or(all.len(), |here| here).wrapping_sub(1),
        "Home" => 0,
        "End" => all.len().wrapping_sub(1),
        _ => return,
    };
    if let Some(next) = all.get(next) {
        event.prevent_default();
        platform::focus(next);
    }
}

/// In a list with the focus, or in one of its rows: Up and Down move between rows, Right and Left within one.
pub fn rove_rows(event: Event) {
    let Some((key, target)) = pressed(&event) else { return };
    let Some(list) = target.closest("[tabindex='0']").ok().flatten() else { return };
    let rows = platform::all(&list, "li");
    let row = target.closest("li").ok().flatten();
    let here = row.as_ref().and_then(|row| rows.iter().position(|it| it == row));
    let last = rows.len().checked_sub(1);
    let place = |element: &Element| platform::all(element, "button");
    let next = match key.as_str() {
        "ArrowDown" => here.map_or(last, |here| Some(here + 1)).and_then(|at| place(rows.get(at)?).into_iter().next()),
        "ArrowUp" => {
            here.map_or(last, |here| here.checked_sub(1)).and_then(|at| place(rows.get(at)?).into_iter().next())
        }
        "Home" => rows.first().and_then(|row| place(row).into_iter().next()),
        "End" => rows.last().and_then(|row| place(row).into_iter().next()),
        "ArrowRight" => row.and_then(|row| place(&row).pop()),
        "ArrowLeft" => row.and_then(|row| place(&row).into_iter().next()),
        _ => return,
    };
    if let Some(next) = next {
        event.prevent_default();
        platform::focus(&next);
    }
}
