//! Keys of a text field for code, and texts put into it in a way that the browser can undo.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlTextAreaElement, KeyboardEvent};

use super::editor::LARGE;
use crate::platform;
use crate::ui::At;

const INDENT: &str = "  ";

/// Whether Tab indents: only after an edit, so that it never holds anybody who passes through, and not after Escape.
#[derive(Clone, Copy)]
pub struct Keys {
    indents: StoredValue<bool>,
}

impl Keys {
    pub fn new() -> Self {
        Self { indents: StoredValue::new(false) }
    }

    pub fn entered(self) {
        self.indents.set_value(false);
    }

    pub fn edited(self) {
        self.indents.set_value(true);
    }

    pub fn pressed(self, event: &KeyboardEvent, field: At<HtmlTextAreaElement>, on_text: Callback<String>) {
        let with = event.ctrl_key() || event.alt_key() || event.meta_key();
        match event.key().as_str() {
            "Escape" => self.indents.set_value(false),
            "Tab" if !with && self.indents.get_value() => {
                event.prevent_default();
                if let Some(field) = field.get_untracked() {
                    indent(&field, event.shift_key(), on_text);
                }
            }
            _ => {}
        }
    }
}

/// Indents the lines of the selection, or takes their indent back. Without a selection Tab is two spaces.
fn indent(field: &HtmlTextAreaElement, back: bool, on_text: Callback<String>) {
    let at = |end: Result<Option<u32>, _>| end.ok().flatten().unwrap_or(0) as usize;
    let (start, end) = (at(field.selection_start()), at(field.selection_end()));
    let units: Vec<u16> = field.value().encode_utf16().collect();
    let newline = u16::from(b'\n');
    let selected = units.get(start..end).unwrap_or_default();
    if !back && !selected.contains(&newline) {
        return put(field, INDENT, on_text);
    }
    let first = units.get(..start).and_then(|before| before.iter().rposition(|unit| *unit == newline));
    let first = first.map_or(0, |newline| newline + 1);
    let rest = units.get(end..).unwrap_or_default();
    // A selection that ends at the beginning of a line has nothing of that line.
    let last = if selected.last() == Some(&newline) {
        end - 1
    } else {
        end + rest.iter().position(|unit| *unit == newline).unwrap_or(rest.len())
    };
    let lines = String::from_utf16_lossy(units.get(first..last).unwrap_or_default());
    let changed: Vec<String> = lines.split('\n').map(|line| indented(line, back)).collect();
    let changed = changed.join("\n");
    if changed == lines {
        return;
    }
    let length = |text: &str| u32::try_from(text.encode_utf16().count()).unwrap_or(0);
    let from = u32::try_from(first).unwrap_or(0);
    let _ = field.set_selection_range(from, from + length(&lines));
    put(field, &changed, on_text);
    let caret = if start == end { from + length(&changed) } else { from };
    let _ = field.set_selection_range(caret, from + length(&changed));
}

fn indented(line: &str, back: bool) -> String {
    match back {
        true => line.strip_prefix(INDENT).or_else(|| line.strip_prefix(' ')).unwrap_or(line).to_owned(),
        false if line.is_empty() => String::new(),
        false => [INDENT, line].concat(),
    }
}

/// Replaces the selection of the field that has the focus.
fn put(field: &HtmlTextAreaElement, text: &str, on_text: Callback<String>) {
    if !platform::type_text(text) {
        let _ = field.set_range_text(text);
        on_text.run(field.value());
    }
}

/// Another text in place of the whole. The focus stays where it is; Ctrl+Z brings the old text back, unless the new one
/// is so long that a browser would take minutes to type it.
pub fn put_whole(field: At<HtmlTextAreaElement>, text: String, on_text: Callback<String>) {
    let Some(field) = field.get_untracked().filter(|_| text.len() <= LARGE) else { return on_text.run(text) };
    let before = platform::active_element();
    let _ = field.focus();
    field.select();
    put(&field, &text, on_text);
    let _ = field.set_selection_range(0, 0);
    field.set_scroll_top(0);
    if let Some(before) = before.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
        let _ = before.focus();
    }
}
