use leptos::prelude::*;
use loopscope_engine::manifest::{Diagnostic, Severity};
use wasm_bindgen::JsCast;
use web_sys::{ClipboardEvent, Element, HtmlTextAreaElement};

use super::{lexer, n_errors, typing};
use crate::atoms::icon;
use crate::platform;
use crate::session::Editor;
use crate::ui::{At, State, View, memo, view};

/// A text and how it is called on the page.
#[derive(Clone, Copy)]
pub struct Sheet {
    pub editor: Editor,
    /// The element's id.
    pub id: &'static str,
    pub label: &'static str,
    /// The ids of its problems and of its hint.
    pub described_by: &'static str,
    pub problems_id: &'static str,
}

/// Longer lines are not coloured to their end: nobody reads them here.
const MAX_COLOURED: usize = 400;
/// From so many bytes on a pasted text is large.
pub const LARGE: usize = 200_000;

/// Which lines are in sight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Window {
    first: usize,
    count: usize,
    /// How far the first of them is above the edge, and the text beyond the left one, in CSS pixels.
    above: f64,
    left: f64,
}

/// A text field with line numbers, marks and colours. Only the lines in sight are drawn.
pub fn editor_view(sheet: Sheet, field: At<HtmlTextAreaElement>, on_text: Callback<String>) -> View {
    let Sheet { editor, id, label, described_by, .. } = sheet;
    let keys = typing::Keys::new();
    let ruler = At::<Element>::new();
    let window = State::new(Window { count: 40, ..Window::default() });
    let look = move || {
        if let (Some(field), Some(ruler)) = (field.get_untracked(), ruler.get_untracked()) {
            let line = ruler.get_bounding_client_rect().height().max(1.0);
            let top = f64::from(field.scroll_top());
            let first = (top / line).floor();
            let count = (f64::from(field.client_height()) / line).ceil() as usize + 2;
            let left = f64::from(field.scroll_left());
            window.set(Window { first: first as usize, count, above: first * line - top, left });
        }
    };
    let invalid = move || editor.problems.with(|it| n_errors(it) > 0).then_some("true");
    view! {
        <div class="editor">
            {lines(editor, window)}
            <textarea
                id=id class="editor-text" at=field wrap="off" spellcheck="false" autocomplete="off" autocapitalize="off"
                aria-label=label aria-invalid=invalid aria-describedby=described_by
                prop:value={move || editor.text.get()}
                on:keydown={move |event| keys.pressed(event.unchecked_ref(), field, on_text)}
                on:input={move |event| { keys.edited(); on_text.run(event_target_value(&event)); look() }}
                on:paste={move |event| { if let Some(text) = paste_large(event.unchecked_ref(), field) { on_text.run(text); look() } }}
                on:scroll={move |_| look()} on:focus={move |_| { keys.entered(); look() }}
            ></textarea>
            <div class="ruler" aria-hidden="true" at=ruler>"0"</div>
        </div>
        <p class="tab-hint sub" id={[id, "-hint"].concat()}>"Tab indents once you have edited. Esc, then Tab, leaves."</p>
    }
}

/// A browser types a pasted text as a person would, which takes minutes for megabytes: those are put in at once.
pub fn paste_large(event: &ClipboardEvent, field: At<HtmlTextAreaElement>) -> Option<String> {
    let text = event.clipboard_data()?.get_data("text/plain").ok().filter(|text| text.len() > LARGE)?;
    event.prevent_default();
    let field = field.get_untracked()?;
    field.set_range_text(&text).ok()?;
    Some(field.value())
}

/// Line numbers, marks and colours of the lines in sight.
fn lines(editor: Editor, window: State<Window>) -> View {
    let down = move || platform::px(window.get().above);
    let left = move || platform::px(-window.get().left);
    let shown = memo(move || {
        let window = window.get();
        (window.first, window.count)
    });
    let numbers = move || {
        let (first, count) = shown.get();
        editor.problems.with(|problems| {
            let n_lines = editor.text.with(|text| text.split('\n').skip(first).take(count).count());
            (first + 1..=first + n_lines).map(|line| number(line, problems)).collect::<View>()
        })
    };
    let codes = move || {
        let (first, count) = shown.get();
        editor.problems.with(|problems| {
            editor.text.with(|text| {
                let lines = text.split('\n').enumerate().skip(first).take(count);
                lines.map(|(index, line)| code(index + 1, line, problems)).collect::<View>()
            })
        })
    };
    view! {
        <div class="gutter" aria-hidden="true"><ol style:inset-block-start=down>{numbers}</ol></div>
        <div class="hl" aria-hidden="true"><ol style:inset-block-start=down style:inset-inline-start=left>{codes}</ol></div>
    }
}

fn number(line: usize, problems: &[Diagnostic]) -> View {
    let worst = problems.iter().find(|it| it.line as usize == line && it.severity != Severity::NotSimulated);
    let mark = worst.map(|it| match it.severity {
        Severity::Error => icon("i i12 s-bad", "#i-error"),
        _ => icon("i i12 s-notready", "#i-warn"),
    });
    view! { <li>{mark}<span class="ln">{line}</span></li> }
}

fn code(number: usize, line: &str, problems: &[Diagnostic]) -> View {
    let cut = line.char_indices().nth(MAX_COLOURED).map_or(line.len(), |(at, _)| at);
    let (coloured, rest) = line.split_at(cut);
    let parts = lexer::tokens(coloured).into_iter().map(|(token, text)| {
        let text = text.to_owned();
        view! { <span class={token.class()}>{text}</span> }
    });
    let here = || problems.iter().filter(move |it| it.line as usize == number && it.severity != Severity::NotSimulated);
    let is_err = here().any(|it| it.severity == Severity::Error);
    let marks = here().map(|it| {
        let class = if it.severity == Severity::Error { "sq" } else { "sq sq-warn" };
        let start = [it.column.saturating_sub(1).to_string().as_str(), "ch"].concat();
        let width = [it.length.max(1).to_string().as_str(), "ch"].concat();
        view! { <i class=class style:inset-inline-start=start style:inline-size=width></i> }
    });
    let rest = (!rest.is_empty()).then_some("…");
    view! { <li class:is-err=is_err>{parts.collect::<View>()}{rest}{marks.collect::<View>()}</li> }
}
