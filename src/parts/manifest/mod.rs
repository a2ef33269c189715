//! The manifest: a text to edit, what is wrong with it, and Apply.

mod diff;
mod editor;
mod lexer;
mod problems;
mod samples;
mod typing;

use gloo_timers::callback::Timeout;
use leptos::prelude::*;
use loopscope_engine::manifest::{Diagnostic, Severity};
use wasm_bindgen::JsCast;
use web_sys::{DragEvent, Event, HtmlTextAreaElement};

use crate::atoms::icon;
use crate::platform;
use crate::session::{Editor, Part, session};
use crate::ui::{At, View, view, when};
pub use diff::{changes_view, diff_view};
pub use editor::{Sheet, editor_view, paste_large};
pub use problems::problems;
use samples::{SAMPLES, Sample};

/// Typing rests so long before the text is looked over, in wall ms.
const LINT_AFTER_MS: u32 = 250;

pub fn n_errors(problems: &[Diagnostic]) -> usize {
    problems.iter().filter(|it| it.severity == Severity::Error).count()
}

/// Takes what is typed, and looks it over once the typing rests.
pub fn delayed_lint(editor: Editor) -> Callback<String> {
    let waiting = StoredValue::new_local(None::<Timeout>);
    Callback::new(move |text: String| {
        editor.text.set(text);
        editor.diff.put(None);
        editor.is_new.put(true);
        let lint = Timeout::new(LINT_AFTER_MS, move || {
            // What the API server answered meanwhile tells more.
            if editor.is_new.get_untracked() {
                editor.lint();
            }
        });
        let _ = waiting.try_set_value(Some(lint));
    })
}

pub fn manifest_pane() -> View {
    let session = session();
    let editor = session.editor;
    let field = At::<HtmlTextAreaElement>::new();
    let is_open = move || session.focus.pane.get() == Part::Manifest;
    let is_first = move || session.focus.first.get() == Part::Manifest;
    let editing = session.typing.editing;
    let is_editing = move || editing.with(Option::is_some);
    let changed = delayed_lint(editor);
    let apply = move |_| {
        let is_done = if editing.with_untracked(Option::is_some) { session.finish_editing() } else { session.apply() };
        if !is_done {
            go_to_first(editor, field);
        }
    };
    let compare = move |_| {
        session.compare();
        platform::next_frame(|| platform::bring_up(".pane-manifest > .under"));
    };
    let sheet = Sheet {
        editor,
        id: "editor",
        label: "Manifest",
        described_by: "problems editor-hint",
        problems_id: "problems",
    };
    view! {
        <section
            class="pane pane-manifest" class:is-open=is_open class:is-first=is_first aria-labelledby="h-man"
            on:dragover={|event: Event| event.prevent_default()}
            on:drop={move |event: Event| {
                event.prevent_default();
                let event: DragEvent = event.unchecked_into();
                open_file(event.data_transfer().and_then(|data| data.files()), field, changed);
            }}
        >
            <div class="pane-h">
                <h2 class="h" id="h-man">"Manifest"</h2>
                {when(move || !is_editing(), move || view! { {sample_list(field, changed)}{file_button(field, changed)} })}
                <button class="btn btn-s" type="button" on:click=compare>"Compare"</button>
                {when(is_editing, move || view! {
                    <button class="btn btn-s" type="button" on:click={move |_| session.cancel_editing()}>"Cancel"</button>
                })}
                <button class="btn btn-s" type="button" on:click=apply>"Apply"</button>
            </div>
            <p class="edited" role="status">{move || editing.get().map(edited_words)}</p>
            {editor_view(sheet, field, changed)}
            {problems(sheet, field)}
        </section>
    }
}

/// What is in the editor while the console edits an object.
fn edited_words(command: String) -> View {
    view! {
        {icon("i i14", "#i-info")}
        <span>"In place of the manifest: " <code>{command}</code> ". Apply writes the object, Cancel leaves it as it was."</span>
    }
}

fn sample_list(field: At<HtmlTextAreaElement>, on_text: Callback<String>) -> View {
    let session = session();
    let option = |(index, it): (usize, &Sample)| view! { <option value={index.to_string()}>{it.name}</option> };
    let options = SAMPLES.iter().enumerate().map(option).collect::<View>();
    let change = move |event: Event| {
        let index = event_target_value(&event).parse::<usize>().ok();
        let Some(sample) = index.and_then(|index| SAMPLES.get(index)) else { return };
        if let Some((image, index)) = sample.program {
            session.set_program(image, index);
        }
        typing::put_whole(field, sample.text.to_owned(), on_text);
    };
    view! {
        <span class="pick pick-s">
            <select aria-label="Load a sample" on:change=change><option value="">"Samples"</option>{options}</select>
            {icon("i i12", "#i-down")}
        </span>
    }
}

/// Leads to the first thing that is wrong, once it is drawn.
pub fn go_to_first(editor: Editor, field: At<HtmlTextAreaElement>) {
    if let Some(problem) = editor.problems.with_untracked(|all| all.first().filter(|it| it.line > 0).cloned()) {
        platform::next_frame(move || go_to(editor, field, &problem));
    }
}

/// Puts the caret where the problem is.
fn go_to(editor: Editor, field: At<HtmlTextAreaElement>, problem: &Diagnostic) {
    let Some(field) = field.get_untracked() else { return };
    let (line, column, length) = (problem.line.max(1), problem.column.max(1), problem.length);
    let (start, end) = editor.text.with_untracked(|text| span(text, line, column, length));
    let lines = editor.text.with_untracked(|text| text.split('\n').count());
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

fn open_file(files: Option<web_sys::FileList>, field: At<HtmlTextAreaElement>, on_text: Callback<String>) {
    if let Some(file) = files.and_then(|files| files.get(0)) {
        leptos::task::spawn_local(async move {
            if let Some(text) = platform::file_text(file).await {
                typing::put_whole(field, text, on_text);
            }
        });
    }
}

fn file_button(field: At<HtmlTextAreaElement>, on_text: Callback<String>) -> View {
    let chosen = move |event: Event| {
        let input: web_sys::HtmlInputElement = event_target(&event);
        open_file(input.files(), field, on_text);
        input.set_value("");
    };
    view! {
        <label class="btn btn-s btn-quiet open-file">
            <input class="sr" type="file" accept=".yaml,.yml,.json,text/yaml,application/json" on:change=chosen/>
            "Open file…"
        </label>
    }
}
