//! Git beside what is there, object by object.

use loopscope_engine::view::GitRow;

use super::agent::{health_icon, sync_icon};
use super::git;
use crate::atoms::icon;
use crate::session::session;
use crate::ui::{View, view};

pub fn resources() -> View {
    let rows = git(|it| it.rows.clone());
    let mistake = git(|it| it.mistake.clone());
    let prunes = git(|it| it.app.as_ref().is_some_and(|it| it.settings.prune));
    let has_some = move || !rows.with(Vec::is_empty);
    let list = move || rows.with(|all| all.iter().map(|it| row(it, prunes.get())).collect::<View>());
    let wrong = move || {
        mistake.get().map(|why| {
            view! { <p class="desk-bad">{icon("i i14 s-bad", "#i-error")}<span>"The newest commit cannot be read: "<span class="mono">{why}</span>". The cluster stays as it is."</span></p> }
        })
    };
    view! {
        <section class="desk-part" aria-label="Git and live">
            <div class="sec-h"><h3>"Git | live"</h3><span class="sub">"newest commit against the cluster, now"</span></div>
            {wrong}
            <p class="sub" hidden=has_some>"No objects in Git."</p>
            <ul class="synced">{list}</ul>
        </section>
    }
}

fn row(it: &GitRow, prunes: bool) -> View {
    let session = session();
    let key = it.key.clone();
    let name = [it.key.kind.name(), " ", &*it.key.name].concat();
    let found = match it.found {
        Some((sync, health)) => view! {
            <span class="tag">{sync_icon(sync)}{sync.word()}</span><span class="tag">{health_icon(health)}{health.word()}</span>
        },
        None => view! { <span class="sub">"not read yet"</span> },
    };
    let words = match (it.is_extra, it.is_missing) {
        (true, _) if prunes => "In the cluster and not in Git: the next sync deletes it.",
        (true, _) => "In the cluster and not in Git: kept, since prune is off.",
        (_, true) => "In Git and not in the cluster.",
        _ => "",
    };
    let is_there = !it.is_missing;
    let link = if is_there {
        view! { <button class="link" type="button" on:click={move |_| session.select(key.clone())}>{name}</button> }
    } else {
        view! { <span>{name}</span> }
    };
    view! {
        <li>
            <div class="synced-h">{link}<span class="end">{found}</span></div>
            {(!words.is_empty()).then(|| view! { <p class="sub">{words}</p> })}
            {(!it.fields.is_empty()).then(|| fields(it))}
        </li>
    }
}

fn fields(it: &GitRow) -> View {
    let none = || view! { <span class="sub">"none"</span> };
    let value = |text: &str| {
        if text.is_empty() {
            none()
        } else {
            view! { <span>{text.to_owned()}</span> }
        }
    };
    let line = |it: &loopscope_engine::gitops::Difference| {
        view! { <tr><th scope="row">{it.path.clone()}</th><td>{value(&it.git)}</td><td>{value(&it.live)}</td></tr> }
    };
    let label = ["Differences of ", it.key.kind.name(), " ", &*it.key.name].concat();
    view! {
        <table class="sides-of mono" aria-label=label>
            <thead><tr><th scope="col">"Field"</th><th scope="col">"Git"</th><th scope="col">"Live"</th></tr></thead>
            <tbody>{it.fields.iter().map(line).collect::<View>()}</tbody>
        </table>
    }
}
