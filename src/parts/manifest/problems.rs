use loopscope_engine::manifest::{Diagnostic, Severity};
use web_sys::HtmlTextAreaElement;

use super::{Sheet, diff_view, go_to};
use crate::atoms::{icon, plural};
use crate::session::Editor;
use crate::ui::{At, View, memo, view};

/// So many problems are listed; the rest is counted.
const LISTED: usize = 30;

/// What is wrong, where; what is kept without effect; and what Apply answered.
pub fn problems(sheet: Sheet, field: At<HtmlTextAreaElement>) -> View {
    let Sheet { editor, problems_id, .. } = sheet;
    let of = move |not_simulated: bool| {
        memo(move || {
            let is_wanted = |it: &&Diagnostic| (it.severity == Severity::NotSimulated) == not_simulated;
            editor.problems.with(|all| all.iter().filter(is_wanted).cloned().collect::<Vec<_>>())
        })
    };
    let (wrong, idle) = (of(false), of(true));
    let is_quiet = move || {
        editor.problems.with(Vec::is_empty) && editor.answer.with(Vec::is_empty) && editor.diff.with(Option::is_none)
    };
    let role = move || if editor.refused.get() { "alert" } else { "status" };
    view! {
        <div class="under" tabindex="0" role="region" aria-label="Answer" hidden=is_quiet>
            <div id=problems_id role=role aria-label="Problems">
                <ul class="problems">
                    {move || wrong.with(|all| all.iter().take(LISTED).map(|it| problem(editor, field, it)).collect::<View>())}
                </ul>
                {move || more(wrong.with(Vec::len))}
            </div>
            <div role="status" aria-label="Difference">{move || editor.diff.with(|it| it.as_ref().map(|it| diff_view(it)))}</div>
            <pre class="answer" role="status" hidden={move || editor.answer.with(Vec::is_empty)}>
                {move || editor.answer.with(|lines| lines.join("\n"))}
            </pre>
            <details class="idle" hidden={move || idle.with(Vec::is_empty)}>
                <summary>{move || ["Not simulated: ", plural(idle.with(Vec::len), "place", "places").as_str()].concat()}</summary>
                <p class="sub">"Valid Kubernetes: accepted and kept, without effect here."</p>
                <ul class="problems">
                    {move || idle.with(|all| all.iter().map(|it| problem(editor, field, it)).collect::<View>())}
                </ul>
            </details>
        </div>
    }
}

fn more(n: usize) -> Option<View> {
    let left = n.checked_sub(LISTED).filter(|left| *left > 0)?;
    Some(view! { <p class="sub problem-more">{plural(left, "more problem", "more problems")}</p> })
}

/// `Line 9, column 15, spec.replicas: expected a whole number, found "three". Try replicas: 3`
fn problem(editor: Editor, field: At<HtmlTextAreaElement>, it: &Diagnostic) -> View {
    let target = it.clone();
    let shape = match it.severity {
        Severity::Error => icon("i i14 s-bad", "#i-error"),
        Severity::Warning => icon("i i14 s-notready", "#i-warn"),
        Severity::NotSimulated => icon("i i14 faint", "#i-info"),
    };
    let place = (it.line > 0).then(|| {
        view! { <b>"Line " {it.line} ", column " {it.column}</b> }
    });
    let path = (!it.path.is_empty() && !it.message.contains(&it.path)).then(|| [" ", it.path.as_str(), ":"].concat());
    let hint = it.hint.clone().map(|hint| view! { " " <span class="hint">{hint}</span> });
    view! {
        <li>
            <button type="button" on:click={move |_| go_to(editor, field, &target)}>
                {shape}<span>{place}{path} " " {it.message.clone()}{hint}</span>
            </button>
        </li>
    }
}
