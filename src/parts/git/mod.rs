//! GitOps: a repository, the agent that reads it, and Git beside what is there.

mod agent;
mod repository;
mod resources;
mod settings;

use loopscope_engine::api::{Kind, ObjectKey};
use loopscope_engine::gitops::{Preset, Settings};
use loopscope_engine::view::GitView;

use crate::session::{Part, session};
use crate::ui::{Derived, View, memo, view, when};

/// Git and an autoscaler that both say a size.
const FIGHT: &str = include_str!("fight.yaml");
const SCALER: &str = include_str!("scaler.yaml");

pub fn git_pane() -> View {
    let focus = session().focus;
    let is_open = move || focus.pane.get() == Part::Git;
    let is_first = move || focus.first.get() == Part::Git;
    view! {
        <section class="pane pane-desk pane-git" class:is-open=is_open class:is-first=is_first aria-labelledby="h-git">
            <div class="pane-h">
                <h2 class="h" id="h-git">"Git"</h2>
                <span class="sub">"what shall be, and the agent that makes it so"</span>
            </div>
            {when(move || is_open() || is_first(), desk)}
        </section>
    }
}

/// A part of what is shown, which tells only when it differs.
fn git<T: PartialEq + Send + Sync + 'static>(
    read: impl Fn(&GitView) -> T + Copy + Send + Sync + 'static,
) -> Derived<T> {
    let desk = session().git;
    memo(move || desk.view.with(read))
}

fn desk() -> View {
    let has_begun = git(|it| !it.commits.is_empty() || it.app.is_some());
    let whole = || {
        view! { <div class="desk desk-4">{agent::agent()}{resources::resources()}{repository::history()}{repository::files()}</div> }
    };
    view! { {when(move || !has_begun.get(), begin)}{when(move || has_begun.get(), whole)} }
}

/// Nothing is there yet: what it is, and three ways to begin.
fn begin() -> View {
    let session = session();
    let manifest = move |preset: Preset| {
        session.begin_git(session.editor.text.get_untracked(), Settings::of(preset));
    };
    let fight = move |_| {
        let settings = Settings { self_heal: true, ..Settings::of(Preset::ArgoCd) };
        session.begin_git(FIGHT.to_owned(), settings);
        session.apply_beside(SCALER);
        session.select(ObjectKey::new(Kind::Deployment, "default", "web"));
    };
    view! {
        <div class="desk-none">
            <p>"GitOps: a Git repository says what the cluster shall be, and an agent makes it so, again and again. A change is a commit, and so is the way back. What is changed in the cluster itself is drift."</p>
            <div class="cures" role="group" aria-label="Begin with">
                <button class="btn btn-wrap" type="button" on:click={move |_| manifest(Preset::ArgoCd)}>
                    <b>"The manifest, with Argo CD"</b>
                    <span class="sub">"Commits the editor’s text. The agent polls Git every 120 s and up to 60 s more, and syncs new commits; selfHeal and prune are off."</span>
                </button>
                <button class="btn btn-wrap" type="button" on:click={move |_| manifest(Preset::Flux)}>
                    <b>"The manifest, with Flux"</b>
                    <span class="sub">"Commits the editor’s text. The agent applies all of Git every 10 minutes by server-side apply, and prunes."</span>
                </button>
                <button class="btn btn-wrap" type="button" on:click=fight>
                    <b>"A fight: Git against an autoscaler"</b>
                    <span class="sub">"Git says 2 replicas, an autoscaler beside it at least 4. Argo CD with selfHeal undoes the one, the autoscaler the other."</span>
                </button>
            </div>
        </div>
    }
}
