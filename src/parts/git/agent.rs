//! The agent: its two statuses, its last sync, and what can be asked of it.

use loopscope_engine::gitops::{Health, Preset, SyncState};
use loopscope_engine::view::{AppView, LastSync, product};
use loopscope_engine::world::GitDeed;
use web_sys::Event;

use super::{git, settings};
use crate::atoms::{icon, plural};
use crate::session::session;
use crate::ui::{View, memo, view, when};

/// Letters of a commit's name that people read.
const SHORT: usize = 7;

pub fn short(id: &str) -> String {
    id.chars().take(SHORT).collect()
}

pub fn agent() -> View {
    let is_there = git(|it| it.app.is_some());
    view! {
        <section class="desk-part" aria-label="Agent">
            {when(move || is_there.get(), there)}
            {when(move || !is_there.get(), missing)}
        </section>
    }
}

/// A repository that nobody reads.
fn missing() -> View {
    let session = session();
    let button = |preset: Preset| {
        view! { <button class="btn btn-s" type="button" on:click={move |_| session.start_agent(preset)}>"Start "{product(preset)}</button> }
    };
    view! {
        <div class="sec-h"><h3>"No agent"</h3></div>
        <p class="sub">"Commits change nothing until an agent reads them."</p>
        <div class="desk-do">{Preset::ALL.map(button)}</div>
    }
}

fn there() -> View {
    let session = session();
    let app = git(|it| it.app.clone());
    let preset = git(|it| it.app.as_ref().map(|it| it.settings.preset));
    let now = memo(move || session.transport.now_ms.get() / 1_000 * 1_000);
    let name = move || preset.get().map(product);
    let is_argo = move || preset.get() == Some(Preset::ArgoCd);
    let statuses = move || app.with(|it| it.as_ref().map(|it| statuses(it, now.get())));
    let ask = move |deed: GitDeed| move |_: Event| session.git_do(deed.clone());
    view! {
        <div class="sec-h"><h3>{name}</h3><span class="sub">{move || interval(preset.get())}</span></div>
        {statuses}
        <div class="desk-do" role="group" aria-label="Ask the agent">
            <button class="btn btn-s btn-main" type="button" on:click={ask(GitDeed::Sync { prune: false })}>"Sync"</button>
            {when(is_argo, move || view! {
                <button class="btn btn-s" type="button" on:click={ask(GitDeed::Sync { prune: true })}>"Sync and prune"</button>
            })}
            <button class="btn btn-s" type="button" title="Read Git now, not when the interval is over" on:click={ask(GitDeed::Refresh)}>"Refresh"</button>
        </div>
        {settings::settings()}
    }
}

fn interval(preset: Option<Preset>) -> &'static str {
    match preset {
        Some(Preset::ArgoCd) => "timeout.reconciliation 120s, jitter 60s",
        Some(Preset::Flux) => "spec.interval 10m, server-side apply",
        None => "",
    }
}

pub fn sync_icon(sync: SyncState) -> View {
    match sync {
        SyncState::Synced => icon("i i14 s-ready", "#i-check"),
        SyncState::OutOfSync => icon("i i14 s-notready", "#i-warn"),
        SyncState::Unknown => icon("i i14 s-unknown", "#pod-unknown"),
    }
}

pub fn health_icon(health: Health) -> View {
    match health {
        Health::Healthy => icon("i i14 s-ready", "#i-check"),
        Health::Progressing => icon("i i14 s-creating", "#pod-creating"),
        Health::Suspended => icon("i i14 s-unknown", "#i-pause"),
        Health::Missing => icon("i i14 s-notready", "#i-minus"),
        Health::Degraded => icon("i i14 s-bad", "#i-error"),
    }
}

fn statuses(it: &AppView, now: u64) -> View {
    let commit = match &it.revision {
        Some(id) => ["commit ", &short(id)].concat(),
        None => "no commit read yet".to_owned(),
    };
    let condition = it.condition.clone().map(|why| {
        view! { <p class="desk-bad" role="status">{icon("i i14 s-bad", "#i-error")}<span>{why}</span></p> }
    });
    let last = it.last_sync.as_ref().map(|it| last_sync(it, now));
    view! {
        <dl class="statuses">
            <div><dt>"Sync"</dt><dd>{sync_icon(it.sync)}<b>{it.sync.word()}</b><span class="sub">{commit}</span></dd></div>
            <div><dt>"Health"</dt><dd>{health_icon(it.health)}<b>{it.health.word()}</b></dd></div>
            <div><dt>"Last sync"</dt><dd>{last.unwrap_or_else(|| view! { <span class="sub">"none"</span> })}</dd></div>
            <div><dt>"Next"</dt><dd><span>{next(it, now)}</span></dd></div>
        </dl>
        {condition}
    }
}

fn last_sync(it: &LastSync, now: u64) -> View {
    let (shape, word) = match it.succeeded {
        true => (icon("i i14 s-ready", "#i-check"), "Succeeded"),
        false => (icon("i i14 s-bad", "#i-error"), "Failed"),
    };
    let ago = seconds(now.saturating_sub(it.finished.0));
    let by = if it.by_itself { ", automated" } else { ", asked for" };
    let facts = [" ", &short(&it.revision), ", ", &ago, " ago", by].concat();
    view! { {shape}<span><b>{word}</b>{facts}<span class="sub desk-why">{it.message.clone()}</span></span> }
}

/// `3 s`, `2 min 5 s`
fn seconds(ms: u64) -> String {
    let all = ms / 1_000;
    match (all / 60, all % 60) {
        (0, s) => [&s.to_string(), " s"].concat(),
        (m, 0) => [&m.to_string(), " min"].concat(),
        (m, s) => [&m.to_string(), " min ", &s.to_string(), " s"].concat(),
    }
}

/// When it next looks, and why.
fn next(it: &AppView, now: u64) -> String {
    let in_time = |at: u64| match at.saturating_sub(now) {
        0 => "now".to_owned(),
        ms => ["in ", &seconds(ms)].concat(),
    };
    let poll = in_time(it.next_poll.0);
    if it.settings.preset == Preset::Flux {
        return ["applies all of Git ", &poll].concat();
    }
    let heals = it.settings.automated && it.settings.self_heal;
    let delay =
        ["after ", &plural(it.heals as usize, "attempt", "attempts"), " the next waits ", &seconds(it.heal_delay_ms)];
    match it.next_look.filter(|at| heals && it.sync == SyncState::OutOfSync && *at < it.next_poll) {
        Some(at) => ["heals ", &in_time(at.0), ", ", &delay.concat(), "; polls ", &poll].concat(),
        None if heals && it.heals > 0 => ["polls ", &poll, "; healing: ", &delay.concat()].concat(),
        None => ["polls Git ", &poll].concat(),
    }
}
