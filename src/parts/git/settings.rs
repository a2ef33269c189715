//! How the agent is set.

use leptos::prelude::event_target_value;
use loopscope_engine::gitops::{Ignored, Preset, Settings};

use super::git;
use crate::atoms::icon;
use crate::session::session;
use crate::ui::{State, View, each, view, when};

/// A switch: its name for users of Argo CD and of Flux (none where the product has no such thing), what it does, and where it is.
struct Switch {
    argo: &'static str,
    flux: &'static str,
    words: &'static str,
    get: fn(&Settings) -> bool,
    set: fn(&mut Settings, bool),
}

static SWITCHES: [Switch; 5] = [
    Switch {
        argo: "automated sync",
        flux: "not suspended",
        words: "applies new commits by itself",
        get: |it| it.automated,
        set: |it, on| it.automated = on,
    },
    Switch {
        argo: "selfHeal",
        flux: "",
        words: "undoes changes made in the cluster",
        get: |it| it.self_heal,
        set: |it, on| it.self_heal = on,
    },
    Switch {
        argo: "prune",
        flux: "prune",
        words: "deletes what has left Git",
        get: |it| it.prune,
        set: |it, on| it.prune = on,
    },
    Switch {
        argo: "allowEmpty",
        flux: "",
        words: "lets an empty repository delete everything",
        get: |it| it.allow_empty,
        set: |it, on| it.allow_empty = on,
    },
    Switch {
        argo: "webhook",
        flux: "webhook receiver",
        words: "Git tells of commits, within a second",
        get: |it| it.webhook,
        set: |it, on| it.webhook = on,
    },
];

pub fn settings() -> View {
    let preset = git(|it| it.app.as_ref().map(|it| it.settings.preset));
    let switches = move || {
        let is_argo = preset.get() == Some(Preset::ArgoCd);
        let has = |it: &&'static Switch| is_argo || !it.flux.is_empty();
        SWITCHES.iter().filter(has).map(|it| switch(if is_argo { it.argo } else { it.flux }, it)).collect::<View>()
    };
    let is_argo = move || preset.get() == Some(Preset::ArgoCd);
    view! {
        <details class="desk-set" open="">
            <summary>"Settings"</summary>
            <div class="switches">{switches}</div>
            {when(is_argo, ignored)}
        </details>
    }
}

fn switch(name: &'static str, it: &'static Switch) -> View {
    let session = session();
    let get = it.get;
    let is_on = git(move |view| view.app.as_ref().is_some_and(|app| get(&app.settings)));
    let change = move |_| {
        session.set_agent(|settings| {
            let is_on = (it.get)(settings);
            (it.set)(settings, !is_on);
        });
    };
    view! {
        <label class="check"><input type="checkbox" prop:checked={move || is_on.get()} on:change=change/><span>{name}" "<span class="sub">{it.words}</span></span></label>
    }
}

/// Fields in which Git and the cluster may differ.
fn ignored() -> View {
    let session = session();
    let all = git(|it| it.app.as_ref().map(|it| it.settings.ignored.clone()).unwrap_or_default());
    let respects = git(|it| it.app.as_ref().is_some_and(|it| it.settings.respect_ignored));
    let (kind, pointer) = (State::new("Deployment".to_owned()), State::new(String::new()));
    let row = move |it: Ignored| {
        let words = [it.kind.as_str(), " ", &it.pointer].concat();
        let label = ["No longer ignore ", &words].concat();
        view! {
            <li><span class="mono">{words}</span>
                <button class="btn btn-s btn-quiet btn-icon" type="button" aria-label=label on:click={move |_| session.ignore_difference(&it.kind, &it.pointer, false)}>{icon("i i12", "#i-x")}</button>
            </li>
        }
    };
    let add = move |_| {
        let (kind, path) = (kind.get_untracked(), pointer.get_untracked());
        if !path.trim().is_empty() {
            session.ignore_difference(&kind, &path, true);
            pointer.put(String::new());
        }
    };
    view! {
        <div class="ignored" role="group" aria-label="ignoreDifferences">
            <p class="sub">"ignoreDifferences"</p>
            <ul>{each(move || all.get(), |it| [it.kind.as_str(), &it.pointer].concat(), row)}</ul>
            <div class="desk-in">
                <label><span class="sub">"kind"</span><input class="field field-s" type="text" autocomplete="off" prop:value={move || kind.get()} on:input={move |event| kind.put(event_target_value(&event))}/></label>
                <label><span class="sub">"JSON pointer"</span><input class="field field-s" type="text" autocomplete="off" placeholder="/spec/replicas" prop:value={move || pointer.get()} on:input={move |event| pointer.put(event_target_value(&event))}/></label>
                <button class="btn btn-s" type="button" on:click=add>"Ignore"</button>
            </div>
            <label class="check"><input type="checkbox" prop:checked={move || respects.get()} on:change={move |_| session.set_agent(|it| it.respect_ignored = !it.respect_ignored)}/><span>"RespectIgnoreDifferences "<span class="sub">"a sync leaves them alone, too"</span></span></label>
        </div>
    }
}
