//! The repository: its history, and its files to change and to commit.

use leptos::prelude::*;
use loopscope_engine::gitops::Preset;
use loopscope_engine::view::CommitRow;
use web_sys::HtmlTextAreaElement;

use super::git;
use crate::atoms::{clock, icon, plural};
use crate::parts::manifest::{Sheet, delayed_lint, editor_view, problems};
use crate::parts::rove::rove_rows;
use crate::session::session;
use crate::ui::{At, State, View, each, view, when};

pub fn history() -> View {
    let rows = git(|it| it.commits.clone());
    let can_roll_back = git(|it| it.app.as_ref().is_some_and(|it| it.settings.preset == Preset::ArgoCd));
    let count = move || plural(rows.with(Vec::len), "commit", "commits");
    let key = |it: &CommitRow| {
        [it.id.as_str(), if it.is_seen { " seen" } else { "" }, if it.is_deployed { " live" } else { "" }].concat()
    };
    view! {
        <section class="desk-part" aria-label="Commits">
            <div class="sec-h"><h3>"History"</h3><span class="sub">"main, "{count}</span></div>
            <ol class="commits" tabindex="0" aria-label="Commits, newest first" on:keydown=rove_rows>
                {each(move || rows.get(), key, move |it| row(it, can_roll_back.get_untracked()))}
            </ol>
        </section>
    }
}

fn row(it: CommitRow, can_roll_back: bool) -> View {
    let session = session();
    let cause = it.cause.0;
    let [revert, back] = ["Revert ", "Roll back to "].map(|verb| [verb, &it.short, ", ", &it.title].concat());
    let (id, other) = (it.id.clone(), it.id.clone());
    let marks = view! {
        {it.is_deployed.then(|| view! { <span class="tag desk-live">{icon("i i12 s-ready", "#i-check")}"live"</span> })}
        {(it.is_seen && !it.is_deployed).then(|| view! { <span class="tag sub">"read by the agent"</span> })}
    };
    let rollback = (can_roll_back && !it.is_deployed).then(|| {
        view! {
            <button class="btn btn-s btn-quiet" type="button" tabindex="-1" aria-label=back title="Sync to this commit, without a commit of its own" on:click={move |_| session.roll_back_to(&other)}>"Roll back"</button>
        }
    });
    view! {
        <li>
            <button class="to" type="button" tabindex="-1" title="Why?" on:click={move |_| session.select_event(cause)}>
                <code>{it.short.clone()}</code><span class="text">{it.title.clone()}</span>
            </button>
            <p class="sub">{it.author.clone()}", "{clock(it.at.0)}" "{marks}</p>
            <span class="commit-do">
                {rollback}
                <button class="btn btn-s btn-quiet" type="button" tabindex="-1" aria-label=revert title="A new commit that takes this one back" on:click={move |_| session.revert_commit(&id)}>"Revert"</button>
            </span>
        </li>
    }
}

pub fn files() -> View {
    let session = session();
    let desk = session.git;
    let field = At::<HtmlTextAreaElement>::new();
    let lint = delayed_lint(desk.editor);
    let typed = Callback::new(move |text: String| {
        desk.is_changed.put(true);
        lint.run(text);
    });
    let sheet = Sheet {
        editor: desk.editor,
        id: "git-editor",
        label: "File in Git",
        described_by: "git-problems git-editor-hint",
        problems_id: "git-problems",
    };
    let is_new = State::new(false);
    let can_remove = move || {
        let path = desk.path.get();
        desk.view.with(|it| it.files.iter().any(|it| it.path == path))
    };
    let placeholder = move || ["Change ", &desk.path.get()].concat();
    let changed = move || if desk.is_changed.get() { "changed, not committed" } else { "as committed" };
    view! {
        <section class="desk-part desk-files" aria-label="Files">
            <div class="sec-h">
                <h3>"Files"</h3>{file_list()}
                <button class="btn btn-s btn-quiet" type="button" aria-expanded={move || crate::atoms::yes(is_new.get())} on:click={move |_| is_new.put(!is_new.get_untracked())}>"New file"</button>
                <span class="sub end">{changed}</span>
            </div>
            {when(move || is_new.get(), move || new_file(is_new))}
            {editor_view(sheet, field, typed)}
            {problems(sheet, field)}
            <div class="desk-in commit-in">
                <label><span class="sub">"message"</span><input class="field field-s" type="text" maxlength="200" autocomplete="off" placeholder=placeholder prop:value={move || desk.message.get()} on:input={move |event| desk.message.put(event_target_value(&event))}/></label>
                <button class="btn btn-s btn-main" type="button" disabled={move || !desk.is_changed.get()} on:click={move |_| session.commit_file(false)}>"Commit"</button>
                <button class="btn btn-s" type="button" disabled={move || !can_remove()} on:click={move |_| session.commit_file(true)}>"Remove file"</button>
            </div>
        </section>
    }
}

fn file_list() -> View {
    let session = session();
    let paths = git(|it| it.files.iter().map(|it| it.path.clone()).collect::<Vec<_>>());
    let path = session.git.path;
    let option = move |it: String| {
        let value = it.clone();
        view! { <option value={value.clone()} prop:selected={move || path.get() == value}>{it}</option> }
    };
    let all = move || {
        let mut all = paths.get();
        let here = path.get();
        if !here.is_empty() && !all.contains(&here) {
            all.push(here);
        }
        all
    };
    view! {
        <span class="pick pick-s">
            <select aria-label="File" on:change={move |event| session.open_file(event_target_value(&event))}>{each(all, String::clone, option)}</select>
            {icon("i i12", "#i-down")}
        </span>
    }
}

fn new_file(is_new: State<bool>) -> View {
    let session = session();
    let name = State::new(String::new());
    let make = move |_| {
        session.new_file(&name.get_untracked());
        is_new.put(false);
    };
    view! {
        <div class="desk-in">
            <label><span class="sub">"name"</span><input class="field field-s" type="text" maxlength="100" autocomplete="off" placeholder="service.yaml" prop:value={move || name.get()} on:input={move |event| name.put(event_target_value(&event))}/></label>
            <button class="btn btn-s" type="button" on:click=make>"Make"</button>
        </div>
    }
}
