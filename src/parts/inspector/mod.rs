//! One object: its spec beside its status.

mod actions;
mod compare;
mod facts;
mod why;

use leptos::prelude::*;
use loopscope_engine::view::Inspection;

use super::rove::rove_tabs;
use crate::atoms::{phrase, yes};
use crate::session::{InspectTab, Session, session};
use crate::ui::{Derived, View, memo, view, when};
use actions::actions;
use compare::compare;
use facts::facts;
use why::why;

pub fn inspector() -> View {
    let session = session();
    let inspection = session.focus.inspection;
    let title = move || {
        inspection.with(|it| it.as_ref().map(|it| it.title.clone())).unwrap_or_else(|| {
            match session.focus.selected.get() {
                Some(key) => [key.kind.name(), " ", &*key.name].concat(),
                None => "Inspector".to_owned(),
            }
        })
    };
    let is_there = memo(move || inspection.with(Option::is_some));
    let tab = session.focus.tab;
    view! {
        <aside class="inspector" id="inspect" aria-labelledby="h-insp">
            <div class="insp-h"><h2 id="h-insp" tabindex="-1">{title}</h2>{when(move || is_there.get(), tabs)}</div>
            {when(move || is_there.get(), move || view! { {actions()}{move || content(tab.get())} })}
            {when(move || !is_there.get(), gone)}
        </aside>
    }
}

fn content(tab: InspectTab) -> View {
    untrack(|| match tab {
        InspectTab::Compare => view! { {compare()}{verdict()}{why()}{facts()} },
        InspectTab::Yaml => yaml(),
    })
}

/// A part of the inspected object that is drawn only when it changes.
fn part<T: PartialEq + Clone + Default + Send + Sync + 'static>(
    session: Session,
    read: impl Fn(&Inspection) -> T + Send + Sync + 'static,
) -> Derived<T> {
    let inspection = session.focus.inspection;
    memo(move || inspection.with(|it| it.as_ref().map(&read)).unwrap_or_default())
}

fn tabs() -> View {
    let tab = session().focus.tab;
    let choice = move |name: &'static str, value: InspectTab| {
        view! {
            <button
                type="button" role="tab" aria-selected={move || yes(tab.get() == value)}
                tabindex={move || if tab.get() == value { "0" } else { "-1" }} on:click={move |_| tab.set(value)}
            >
                {name}
            </button>
        }
    };
    view! {
        <div class="seg" role="tablist" aria-label="View of the object" on:keydown=rove_tabs>
            {choice("Compare", InspectTab::Compare)}{choice("YAML", InspectTab::Yaml)}
        </div>
    }
}

fn verdict() -> View {
    let verdict = part(session(), |it| it.verdict.clone());
    view! { <p class="insp-sec verdict">{move || verdict.with(phrase)}</p> }
}

fn yaml() -> View {
    let yaml = part(session(), |it| it.yaml.clone());
    view! { <pre class="insp-yaml" tabindex="0" role="region" aria-label="YAML">{move || yaml.get()}</pre> }
}

/// Nothing is selected, or it no longer exists.
fn gone() -> View {
    let session = session();
    let text = move || match session.focus.selected.get() {
        Some(key) => [key.kind.name(), " ", &*key.name, " does not exist any more."].concat(),
        None => "Press a pod or a node to see what is wanted of it, and what is.".to_owned(),
    };
    view! {
        <div class="insp-sec empty">
            <p>{text}</p>
            <button class="btn btn-s" type="button" on:click={move |_| session.select_first()}>"Show the first Deployment"</button>
        </div>
        {why()}
    }
}
