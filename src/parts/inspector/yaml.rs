use leptos::prelude::*;
use web_sys::{HtmlInputElement, HtmlTextAreaElement};

use super::part;
use crate::parts::manifest::{Sheet, changes_view, delayed_lint, editor_view, go_to_first, problems};
use crate::platform;
use crate::session::{Base, Session, Tone, session};
use crate::ui::{At, View, memo, view, when};

/// The object as the API server has it, to read, to copy, and to change in place.
pub fn yaml() -> View {
    let session = session();
    let base = session.focus.base;
    let is_edited = memo(move || {
        let selected = session.focus.selected.get();
        base.with(|base| base.as_ref().is_some_and(|base| Some(&base.key) == selected.as_ref()))
    });
    view! {
        {when(move || !is_edited.get(), read)}
        {when(move || is_edited.get(), write)}
    }
}

fn read() -> View {
    let session = session();
    let yaml = part(session, |it| it.yaml.clone());
    let is_gone = part(session, |it| it.gone.is_some());
    let managed = session.focus.managed;
    let switch = move |event| session.show_managed(event_target::<HtmlInputElement>(&event).checked());
    let copy = move |_| match platform::copy(&yaml.get_untracked()) {
        true => session.toast("YAML copied", Tone::Answer),
        false => session.toast("This browser lets the page copy nothing: select the text instead", Tone::Error),
    };
    let edit = move |_| {
        session.edit();
        platform::next_frame(|| platform::begin("draft"));
    };
    // Kinds that are written all the time are not tracked.
    let untracked = move || managed.get() && yaml.with(|text| !text.contains("\n  managedFields:"));
    view! {
        <div class="yaml-h">
            <label class="check"><input type="checkbox" prop:checked={move || managed.get()} on:change=switch/>"managedFields"</label>
            <button class="btn btn-s" type="button" on:click=copy>"Copy"</button>
            <button class="btn btn-s" type="button" id="edit" hidden={move || is_gone.get()} on:click=edit>"Edit"</button>
        </div>
        <p class="insp-sec sub" hidden={move || !untracked()}>"Loopscope keeps no managedFields for this kind."</p>
        <pre class="insp-yaml" tabindex="0" role="region" aria-label="YAML">{move || yaml.get()}</pre>
    }
}

fn write() -> View {
    let session = session();
    let draft = session.focus.draft;
    let field = At::<HtmlTextAreaElement>::new();
    let changed = delayed_lint(draft);
    let sheet = Sheet {
        editor: draft,
        id: "draft",
        label: "YAML to edit",
        described_by: "draft-problems draft-hint",
        problems_id: "draft-problems",
    };
    let is_conflict = move || draft.problems.with(|all| all.iter().any(|it| it.message.starts_with("409 Conflict")));
    let leave = || platform::next_frame(|| platform::focus_by_id("edit"));
    let save = move |_| match session.save_edited() {
        true => leave(),
        false => go_to_first(draft, field),
    };
    let cancel = move |_| {
        session.stop_editing();
        leave();
    };
    let rebase = move |_| {
        session.rebase_edited();
        platform::next_frame(|| platform::begin("draft"));
    };
    view! {
        <div class="yaml-h">
            <span class="sub grow">"Saved as an update of "<span class="nowrap">{move || version(session.focus.base.get())}</span></span>
            <button class="btn btn-s btn-quiet" type="button" on:click=cancel>"Cancel"</button>
            <button class="btn btn-s btn-main" type="button" on:click=save>"Save"</button>
        </div>
        <div class="insp-sec conflict" hidden={move || !is_conflict()}>
            <p>"Changed meanwhile:"</p>
            {move || is_conflict().then(|| meanwhile(session))}
            <button class="btn btn-s" type="button" on:click=rebase>"Redo my changes on the newest version"</button>
        </div>
        {editor_view(sheet, field, changed)}
        {problems(sheet, field)}
    }
}

fn meanwhile(session: Session) -> View {
    let changes = untrack(|| session.changed_meanwhile());
    if changes.is_empty() {
        return view! { <p class="sub">"only what the server writes itself: status and versions"</p> };
    }
    changes_view(&changes)
}

/// `resourceVersion 412`
fn version(base: Option<Base>) -> String {
    let yaml = base.map(|base| base.yaml).unwrap_or_default();
    let number = yaml.lines().find_map(|line| line.strip_prefix("  resourceVersion: "));
    ["resourceVersion ", number.unwrap_or_default().trim_matches('"')].concat()
}
