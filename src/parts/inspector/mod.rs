//! One object: its spec beside its status, what it says of itself, whom it belongs to, its YAML.

mod actions;
mod compare;
mod facts;
mod fights;
mod flow;
mod gone;
mod load;
pub mod plot;
mod scaler;
mod why;
mod writers;
mod yaml;

use leptos::prelude::*;
use loopscope_engine::view::Inspection;

use super::rove::rove_tabs;
use crate::atoms::{phrase, yes};
use crate::session::{InspectTab, Session, session};
use crate::ui::{Derived, View, memo, view, when};
use actions::actions;
pub use actions::deeds_on;
use compare::compare;
use facts::{conditions, kin, object_events};
use fights::fights;
use flow::flow;
use gone::gone;
use load::load;
use scaler::scaler;
use why::why;
use writers::fields;
use yaml::yaml;

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
    // Causes stand below, or above the Events where one of those was pressed; the YAML needs the room.
    let place = memo(move || match tab.get() {
        _ if !is_there.get() => Some(false),
        InspectTab::Yaml => None,
        tab => Some(tab == InspectTab::Events && session.focus.chain.with(Option::is_some)),
    });
    view! {
        <aside class="inspector" id="inspect" aria-labelledby="h-insp">
            <div class="insp-h"><h2 id="h-insp" tabindex="-1">{title}</h2></div>
            {when(move || is_there.get(), move || view! { {gone()}{actions()}{tabs()} })}
            {when(move || place.get() == Some(true), why)}
            {when(move || is_there.get(), move || view! { {move || panel(tab.get())} })}
            {when(move || !is_there.get(), nothing)}
            {when(move || place.get() == Some(false), why)}
        </aside>
    }
}

fn panel(tab: InspectTab) -> View {
    let content = untrack(|| match tab {
        InspectTab::Compare => view! { {compare()}{verdict()}{fights()}{scaler()}{load()} },
        InspectTab::Fields => fields(),
        InspectTab::Conditions => conditions(),
        InspectTab::Kin => kin(),
        InspectTab::Events => object_events(),
        InspectTab::Yaml => yaml(),
    });
    view! { <div class="insp-panel" id="insp-panel" role="tabpanel" aria-labelledby={id_of(tab)}>{content}</div> }
}

fn id_of(tab: InspectTab) -> &'static str {
    match tab {
        InspectTab::Compare => "tab-compare",
        InspectTab::Fields => "tab-fields",
        InspectTab::Conditions => "tab-cond",
        InspectTab::Kin => "tab-kin",
        InspectTab::Events => "tab-kev",
        InspectTab::Yaml => "tab-yaml",
    }
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
    let session = session();
    let tab = session.focus.tab;
    let count = |read: fn(&Inspection) -> usize| part(session, read);
    let choice = move |name: &'static str, value: InspectTab, count: Option<Derived<usize>>| {
        let n = move || count.map(|it| it.get()).filter(|n| *n > 0).map(|n| [" ", n.to_string().as_str()].concat());
        view! {
            <button
                type="button" role="tab" id={id_of(value)} aria-controls="insp-panel"
                aria-selected={move || yes(tab.get() == value)}
                tabindex={move || if tab.get() == value { "0" } else { "-1" }} on:click={move |_| session.inspect(value)}
            >
                {name}<span class="faint">{n}</span>
            </button>
        }
    };
    view! {
        <div class="insp-tabs" role="tablist" aria-label="View of the object" on:keydown=rove_tabs>
            {choice("Spec | Status", InspectTab::Compare, None)}
            {choice("Fields", InspectTab::Fields, None)}
            {choice("Conditions", InspectTab::Conditions, None)}
            {choice("Owners", InspectTab::Kin, None)}
            {choice("Events", InspectTab::Events, Some(count(|it| it.events.len())))}
            {choice("YAML", InspectTab::Yaml, None)}
        </div>
    }
}

/// Spec beside status, for a page that has no inspector.
pub fn spec_and_status() -> View {
    let title = part(session(), |it| it.title.clone());
    view! { <h2 class="h">{move || title.get()}</h2>{compare()}{verdict()} }
}

fn verdict() -> View {
    let verdict = part(session(), |it| it.verdict.clone());
    view! { <p class="insp-sec verdict">{move || verdict.with(phrase)}</p> }
}

/// A way to another object.
fn link(key: loopscope_engine::api::ObjectKey) -> View {
    let session = session();
    let name = key.name.to_string();
    view! { <button class="link mono" type="button" on:click={move |_| session.select(key.clone())}>{name}</button> }
}

/// Nothing is selected, or it was gone before anybody looked.
fn nothing() -> View {
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
    }
}
