use loopscope_engine::view::{Change, FieldChange, ObjectDiff};

use crate::atoms::plural;
use crate::ui::{View, view};

/// So many objects are shown; the rest is counted.
const LISTED: usize = 60;

/// What applying the manifest would change.
pub fn diff_view(all: &[ObjectDiff]) -> View {
    let is_same = |it: &ObjectDiff| !it.is_new && it.refused.is_empty() && it.fields.is_empty();
    let head = if all.is_empty() {
        "Nothing to compare: no object could be read."
    } else if all.iter().all(is_same) {
        "No changes: the cluster has all of it already."
    } else {
        "Apply would change this:"
    };
    let left = all.len().saturating_sub(LISTED);
    let more = (left > 0).then(|| view! { <p>{plural(left, "more object", "more objects")}</p> });
    view! {
        <div class="diff">
            <p><b>{head}</b></p>
            {all.iter().take(LISTED).map(object).collect::<View>()}
            {more}
        </div>
    }
}

fn object(it: &ObjectDiff) -> View {
    let n = it.fields.len() + it.more;
    let words = if !it.refused.is_empty() {
        ["refused, ", it.refused.as_str()].concat()
    } else if it.is_new {
        ["new, ", plural(n, "field", "fields").as_str()].concat()
    } else if n == 0 {
        "no changes".to_owned()
    } else {
        plural(n, "field changes", "fields change")
    };
    let class = if it.refused.is_empty() { "sub" } else { "s-bad" };
    let head = view! { <b>{it.title.clone()}</b>" "<span class=class>{words}</span> };
    if n == 0 {
        return view! { <p class="diff-h">{head}</p> };
    }
    let more = (it.more > 0).then(|| view! { <p class="sub">{it.more}" more"</p> });
    view! {
        <details open={!it.is_new}>
            <summary>{head}</summary>
            {changes_view(&it.fields)}{more}
        </details>
    }
}

/// Fields with their old and new values.
pub fn changes_view(fields: &[FieldChange]) -> View {
    let line = |it: &FieldChange| {
        let (class, mark, word) = match it.change {
            Change::Added => ("d-add", "+", "added "),
            Change::Changed => ("d-mod", "~", "changed "),
            Change::Removed => ("d-del", "−", "removed "),
        };
        let values = match it.change {
            Change::Added => it.new.clone(),
            Change::Removed => it.old.clone(),
            Change::Changed => [it.old.as_str(), " → ", it.new.as_str()].concat(),
        };
        view! {
            <li class=class>
                <span class="d-mark" aria-hidden="true">{mark}</span><span class="sr">{word}</span>
                <span class="d-path">{it.path.clone()}</span>" "<span class="d-value">{values}</span>
            </li>
        }
    };
    view! { <ul class="changes mono">{fields.iter().map(line).collect::<View>()}</ul> }
}
