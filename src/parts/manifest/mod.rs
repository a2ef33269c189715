//! The manifest: a text to edit, what is wrong with it, and Apply.

mod editor;
mod lexer;
mod problems;

use gloo_timers::callback::Timeout;
use leptos::prelude::*;
use loopscope_engine::manifest::{Diagnostic, Severity};
use wasm_bindgen::JsCast;
use web_sys::{DragEvent, Event, HtmlTextAreaElement};

use crate::platform;
use crate::session::{Part, Session, session};
use crate::ui::{At, View, view};
use editor::editor_view;
use problems::problems;

/// Typing rests so long before the text is looked over, in wall ms.
const LINT_AFTER_MS: u32 = 250;

pub fn n_errors(problems: &[Diagnostic]) -> usize {
    problems.iter().filter(|it| it.severity == Severity::Error).count()
}

pub fn manifest_pane() -> View {
    let session = session();
    let field = At::<HtmlTextAreaElement>::new();
    let waiting = StoredValue::new_local(None::<Timeout>);
    let is_open = move || session.focus.pane.get() == Part::Manifest;
    let changed = Callback::new(move |text: String| {
        session.editor.text.set(text);
        let lint = Timeout::new(LINT_AFTER_MS, move || session.lint());
        let _ = waiting.try_set_value(Some(lint));
    });
    let apply = move |_| {
        let _ = waiting.try_set_value(None);
        if !session.apply() {
            let first = session.editor.problems.with_untracked(|all| all.first().cloned());
            if let Some(problem) = first {
                platform::next_frame(move || go_to(session, field, &problem));
            }
        }
    };
    view! {
        <section
            class="pane pane-manifest" class:is-open=is_open aria-labelledby="h-man"
            on:dragover={|event: Event| event.prevent_default()}
            on:drop={move |event: Event| {
                event.prevent_default();
                let event: DragEvent = event.unchecked_into();
                open_file(event.data_transfer().and_then(|data| data.files()), changed);
            }}
        >
            <div class="pane-h">
                <h2 class="h" id="h-man">"Manifest"</h2>
                {file_button(changed)}
                <button class="btn btn-s" type="button" on:click=apply>"Apply"</button>
            </div>
            {editor_view(field, changed)}
            {problems(field)}
        </section>
    }
}

/// Puts the caret where the problem is.
fn go_to(session: Session, field: At<HtmlTextAreaElement>, problem: &Diagnostic) {
    let Some(field) = field.get_untracked() else { return };
    let (line, column, length) = (problem.line.max(1), problem.column.max(1), problem.length);
    let (start, end) = session.editor.text.with_untracked(|text| span(text, line, column, length));
    let lines = session.editor.text.with_untracked(|text| text.split('\n').count());
    let line_height = field.scroll_height() / i32::try_from(lines.max(1)).unwrap_or(i32::MAX);
    let top = i32::try_from(line).unwrap_or(1).saturating_sub(3).saturating_mul(line_height);
    platform::select_range(&field, start, end, top);
}

/// Line, column and length in characters, as UTF-16 offsets of a text field.
fn span(text: &str, line: u32, column: u32, length: u32) -> (u32, u32) {
    let skipped = line as usize - 1;
    let before: usize = text.split('\n').take(skipped).map(|line| units(line) + 1).sum();
    let row = text.split('\n').nth(skipped).unwrap_or_default();
    let lead: usize = row.chars().take(column as usize - 1).map(char::len_utf16).sum();
    let marked: usize = row.chars().skip(column as usize - 1).take(length as usize).map(char::len_utf16).sum();
    let start = u32::try_from(before + lead).unwrap_or(u32::MAX);
    (start, start.saturating_add(u32::try_from(marked).unwrap_or(0)))
}

fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

fn open_file(files: Option<web_sys::FileList>, then: Callback<String>) {
    if let Some(file) = files.and_then(|files| files.get(0)) {
        leptos::task::spawn_local(async move {
            if let Some(text) = platform::file_text(file).await {
                then.run(text);
            }
        });
    }
}

fn file_button(on_text: Callback<String>) -> View {
    let chosen = move |event: Event| {
        let input: web_sys::HtmlInputElement = event_target(&event);
        open_file(input.files(), on_text);
        input.set_value("");
    };
    view! {
        <label class="btn btn-s btn-quiet open-file">
            <input class="sr" type="file" accept=".yaml,.yml,.json,text/yaml,application/json" on:change=chosen/>
            "Open file…"
        </label>
    }
}
