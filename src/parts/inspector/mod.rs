//! One object: its spec beside its status.

mod compare;
mod facts;
mod why;

use leptos::prelude::*;
use loopscope_engine::api::Kind;
use loopscope_engine::view::Inspection;

use crate::atoms::{icon, phrase, yes};
use crate::session::{InspectTab, Session, session};
use compare::Compare;
use facts::Facts;
use why::Why;

#[component]
pub fn Inspector() -> impl IntoView {
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
    let is_there = Memo::new(move |_| inspection.with(Option::is_some));
    view! {
        <aside class="inspector" id="inspect" aria-labelledby="h-insp">
            <div class="insp-h"><h2 id="h-insp" tabindex="-1">{title}</h2><Show when=move || is_there.get()><Tabs/></Show></div>
            <Show when=move || is_there.get() fallback=Gone>
                <Actions/>
                {move || match session.focus.tab.get() {
                    InspectTab::Compare => view! { <Compare/><Verdict/><Why/><Facts/> }.into_any(),
                    InspectTab::Yaml => view! { <Yaml/> }.into_any(),
                }}
            </Show>
        </aside>
    }
    .into_any()
}

/// A part of the inspected object that is drawn only when it changes.
fn part<T: PartialEq + Clone + Default + Send + Sync + 'static>(
    session: Session,
    read: impl Fn(&Inspection) -> T + Send + Sync + 'static,
) -> Memo<T> {
    let inspection = session.focus.inspection;
    Memo::new(move |_| inspection.with(|it| it.as_ref().map(&read)).unwrap_or_default())
}

#[component]
fn Tabs() -> impl IntoView {
    let tab = session().focus.tab;
    let choice = move |name: &'static str, value: InspectTab| {
        view! {
            <button type="button" role="tab" aria-selected=move || yes(tab.get() == value) on:click=move |_| tab.set(value)>
                {name}
            </button>
        }
    };
    view! {
        <div class="seg" role="tablist" aria-label="View of the object">
            {choice("Compare", InspectTab::Compare)}{choice("YAML", InspectTab::Yaml)}
        </div>
    }
    .into_any()
}

/// What a person may do to the object.
#[component]
fn Actions() -> impl IntoView {
    let session = session();
    let facts = part(session, |it| Some((it.key.clone(), it.can_delete, it.is_stopped)));
    let buttons = move || {
        let (key, can_delete, is_stopped) = facts.get()?;
        let node = key.name.to_string();
        let switch = is_stopped.map(|stopped| {
            let (verb, class) =
                if stopped { ("Restore node", "btn btn-s") } else { ("Kill node", "btn btn-s btn-danger") };
            let act = move |_| {
                if stopped { session.restore_node(node.clone()) } else { session.kill_node(node.clone()) }
            };
            view! { <button class=class type="button" on:click=act>{icon("i i12", "#i-power")}{verb}</button> }
        });
        let delete = can_delete.then(|| {
            let (kind, class) = match key.kind {
                Kind::Pod => ("pod", "btn btn-s btn-danger"),
                kind => (kind.name(), "btn btn-s"),
            };
            view! {
                <button class=class type="button" on:click=move |_| session.delete(key.clone())>
                    {icon("i i12", "#i-trash")}{["Delete ", kind].concat()}
                </button>
            }
        });
        Some(view! { {switch} {delete} })
    };
    view! { <div class="insp-acts" role="group" aria-label="Actions">{buttons}</div> }.into_any()
}

#[component]
fn Verdict() -> impl IntoView {
    let verdict = part(session(), |it| it.verdict.clone());
    view! { <p class="insp-sec verdict">{move || verdict.with(phrase)}</p> }.into_any()
}

#[component]
fn Yaml() -> impl IntoView {
    let yaml = part(session(), |it| it.yaml.clone());
    view! { <pre class="insp-yaml" tabindex="0" role="region" aria-label="YAML">{move || yaml.get()}</pre> }.into_any()
}

/// Nothing is selected, or it no longer exists.
#[component]
fn Gone() -> impl IntoView {
    let session = session();
    let text = move || match session.focus.selected.get() {
        Some(key) => [key.kind.name(), " ", &*key.name, " does not exist any more."].concat(),
        None => "Press a pod or a node to see what is wanted of it, and what is.".to_owned(),
    };
    view! {
        <div class="insp-sec empty">
            <p>{text}</p>
            <button class="btn btn-s" type="button" on:click=move |_| session.select_first()>"Show the first Deployment"</button>
        </div>
        <Why/>
    }
    .into_any()
}
