//! The prompt: a field that grows, with history and completion.

use leptos::prelude::*;
use loopscope_engine::kubectl::{Candidate, is_unfinished};
use wasm_bindgen::JsCast;
use web_sys::{Event, HtmlTextAreaElement, KeyboardEvent};

use super::super::manifest::paste_large;
use super::choices::{Choices, choices_view};
use crate::platform;
use crate::session::{Hold, Session, session};
use crate::ui::{At, View, view};

/// What was entered is kept under this name: so many texts, and no longer ones.
const STORED: &str = "console";
const MOST_KEPT: usize = 100;
const LONGEST_KEPT: usize = 2_000;
/// Between two kept texts.
const BETWEEN: char = '\u{1e}';
/// The field grows up to so many lines.
const MOST_ROWS: usize = 6;

#[derive(Clone, Copy)]
struct Prompt {
    session: Session,
    field: At<HtmlTextAreaElement>,
    choices: Choices,
    /// Entered texts, the newest last, and how far back one is in them; what was in the field before.
    past: StoredValue<Vec<String>>,
    back: StoredValue<usize>,
    draft: StoredValue<String>,
    /// After Escape Tab leaves, until something is typed.
    leaves: StoredValue<bool>,
}

pub fn prompt() -> View {
    let session = session();
    let past = platform::load(STORED).map_or_else(Vec::new, |text| text.split(BETWEEN).map(str::to_owned).collect());
    let prompt = Prompt {
        session,
        field: At::new(),
        choices: Choices::new(),
        past: StoredValue::new(past),
        back: StoredValue::new(0),
        draft: StoredValue::new(String::new()),
        leaves: StoredValue::new(false),
    };
    let line = session.typing.line;
    let choices = prompt.choices;
    let rows = move || line.with(|text| text.split('\n').count().min(MOST_ROWS)).to_string();
    let typed = move |event: Event| {
        choices.close();
        prompt.leaves.set_value(false);
        line.put(event_target_value(&event));
    };
    let pasted = move |event: Event| {
        if let Some(text) = paste_large(event.unchecked_ref(), prompt.field) {
            line.put(text);
        }
    };
    let is_open = move || choices.all.with(|all| !all.is_empty()).then_some("choices");
    view! {
        <div class="prompt">
            {choices_view(choices, move |it| prompt.take(&it))}
            <span class="ps" aria-hidden="true">"$"</span>
            <textarea
                id="prompt" class="prompt-text" at={prompt.field} rows=rows spellcheck="false" autocomplete="off" autocapitalize="off"
                aria-label="kubectl" aria-describedby="prompt-hint" aria-autocomplete="list" aria-controls=is_open
                aria-activedescendant={move || choices.active()} placeholder="kubectl get pods" prop:value={move || line.get()}
                on:input=typed on:paste=pasted on:keydown={move |event| prompt.pressed(event.unchecked_ref())}
                on:blur={move |_| choices.close()} on:focus={move |_| prompt.entered()}
            ></textarea>
            <button class="btn btn-s" type="button" on:click={move |_| prompt.run()}>"Run"</button>
        </div>
    }
}

impl Prompt {
    fn entered(self) {
        self.leaves.set_value(false);
        if let Some(field) = self.field.get_untracked() {
            platform::show_nearest(&field);
        }
    }

    fn pressed(self, event: &KeyboardEvent) {
        let (choices, session) = (self.choices, self.session);
        let with = event.ctrl_key() || event.alt_key() || event.meta_key();
        if event.is_composing() {
            return;
        }
        let is_done = match event.key().as_str() {
            "c" if event.ctrl_key() && self.selection().is_none_or(|(from, to)| from == to) => {
                self.interrupt();
                true
            }
            "l" if event.ctrl_key() => {
                session.clear_console();
                true
            }
            _ if with => false,
            "Enter" if !event.shift_key() => self.enter(),
            "Tab" => self.tab(!event.shift_key()),
            "Escape" => {
                self.leaves.set_value(true);
                choices.close();
                true
            }
            "ArrowUp" if choices.is_open() => {
                choices.shift(false);
                true
            }
            "ArrowDown" if choices.is_open() => {
                choices.shift(true);
                true
            }
            "ArrowUp" => self.recall(true),
            "ArrowDown" => self.recall(false),
            _ => false,
        };
        if is_done {
            event.prevent_default();
        }
    }

    /// Ctrl+C: stops what is under way, or else forgets what was typed.
    fn interrupt(self) {
        match self.session.typing.hold.get_untracked() {
            Hold::Free => self.put(String::new()),
            _ => self.session.stop_line("Ctrl+C"),
        }
    }

    fn enter(self) -> bool {
        if let Some(chosen) = self.choices.chosen() {
            self.take(&chosen);
            return true;
        }
        let session = self.session;
        let is_empty = session.typing.line.with_untracked(|text| text.trim().is_empty());
        if is_empty && session.typing.hold.get_untracked() == Hold::Time {
            session.play();
            return true;
        }
        if session.typing.line.with_untracked(|text| is_unfinished(text)) {
            return false;
        }
        self.run();
        true
    }

    fn run(self) {
        let text = self.session.typing.line.get_untracked();
        self.choices.close();
        if text.trim().is_empty() {
            return;
        }
        self.remember(&text);
        self.put(String::new());
        self.session.run_line(&text);
        platform::next_frame(|| platform::focus_by_id("prompt"));
    }

    fn remember(self, text: &str) {
        self.back.set_value(0);
        let text = text.trim_end();
        if text.len() > LONGEST_KEPT || text.contains(BETWEEN) {
            return;
        }
        self.past.update_value(|past| {
            past.retain(|it| it != text);
            past.push(text.to_owned());
            let surplus = past.len().saturating_sub(MOST_KEPT);
            past.drain(..surplus);
        });
        let all = self.past.with_value(|past| past.join(BETWEEN.encode_utf8(&mut [0; 4])));
        platform::save(STORED, &all);
    }

    /// To an earlier text, or to a later one; not from the middle of a text of several lines.
    fn recall(self, earlier: bool) -> bool {
        let text = self.session.typing.line.get_untracked();
        let (before, after) = text.split_at(self.caret(&text));
        if (if earlier { before } else { after }).contains('\n') {
            return false;
        }
        let (back, n) = (self.back.get_value(), self.past.with_value(Vec::len));
        let next = if earlier { (back + 1).min(n) } else { back.saturating_sub(1) };
        if next == back {
            return true;
        }
        if back == 0 {
            self.draft.set_value(text);
        }
        self.back.set_value(next);
        let recalled = self.past.with_value(|past| past.get(past.len() - next).cloned());
        self.put(recalled.filter(|_| next > 0).unwrap_or_else(|| self.draft.get_value()));
        true
    }

    /// Says whether Tab was used here; else it leads out of the field.
    fn tab(self, on: bool) -> bool {
        if self.choices.is_open() {
            self.choices.shift(on);
            return true;
        }
        let text = self.session.typing.line.get_untracked();
        let before = &text[..self.caret(&text)];
        if !on || self.leaves.get_value() || before.trim().is_empty() {
            return false;
        }
        let found = self.session.complete(before);
        let typed = &before[found.from..];
        match found.all.as_slice() {
            [] => return false,
            // Nothing is left to be completed.
            [only] if only.text == typed && !only.is_whole => return false,
            [only] => self.take(only),
            _ => {
                if found.common().len() > typed.len() {
                    self.replace(typed, found.common());
                }
                self.choices.open(found);
            }
        }
        true
    }

    /// Puts a candidate in the place of the word before the caret.
    fn take(self, it: &Candidate) {
        let text = self.session.typing.line.get_untracked();
        let before = &text[..self.caret(&text)];
        let found = self.session.complete(before);
        let blank = if it.is_whole { " " } else { "" };
        self.replace(&before[found.from..], &[it.text.as_str(), blank].concat());
        self.choices.close();
    }

    /// Types a text over what stands right before the caret.
    fn replace(self, old: &str, new: &str) {
        let Some(field) = self.field.get_untracked() else { return };
        let Some((_, to)) = self.selection() else { return };
        let from = to.saturating_sub(u32::try_from(old.encode_utf16().count()).unwrap_or(0));
        let _ = field.focus();
        let _ = field.set_selection_range(from, to);
        if !platform::type_text(new) {
            let _ = field.set_range_text(new);
            let caret = from + u32::try_from(new.encode_utf16().count()).unwrap_or(0);
            let _ = field.set_selection_range(caret, caret);
            self.session.typing.line.put(field.value());
        }
    }

    fn put(self, text: String) {
        self.session.typing.line.put(text);
        self.choices.close();
        let field = self.field;
        platform::next_frame(move || {
            if let Some(field) = field.get_untracked() {
                let end = field.value().encode_utf16().count() as u32;
                let _ = field.set_selection_range(end, end);
            }
        });
    }

    fn selection(self) -> Option<(u32, u32)> {
        let field = self.field.get_untracked()?;
        Some((field.selection_start().ok()??, field.selection_end().ok()??))
    }

    /// Where the caret is, in bytes of the text.
    fn caret(self, text: &str) -> usize {
        let Some((_, units)) = self.selection() else { return text.len() };
        let mut left = units as usize;
        for (at, c) in text.char_indices() {
            if left == 0 {
                return at;
            }
            left = left.saturating_sub(c.len_utf16());
        }
        text.len()
    }
}
