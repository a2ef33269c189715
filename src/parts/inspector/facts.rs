use loopscope_engine::api::ObjectKey;
use loopscope_engine::view::{ConditionRow, ObjectEvent};

use super::part;
use crate::atoms::icon;
use crate::session::session;
use crate::ui::{View, view};

/// Conditions, relations and Kubernetes Events of the object.
pub fn facts() -> View {
    view! { {conditions()}{relations()}{object_events()} }
}

fn conditions() -> View {
    let conditions = part(session(), |it| it.conditions.clone());
    let row = |it: &ConditionRow| {
        let shape = match it.is_good {
            true => icon("i i14 s-ready", "#i-check"),
            false => icon("i i14 s-bad", "#node-notready"),
        };
        view! {
            <li title={it.message.clone()}>
                {shape}<span class="nowrap">{it.kind.clone()} " " <b>{it.status.clone()}</b></span>
                <span class="sub clip end">{it.reason.clone()}</span>
            </li>
        }
    };
    view! {
        <section class="insp-sec" hidden={move || conditions.with(Vec::is_empty)} aria-labelledby="h-cond">
            <h3 id="h-cond">"Conditions"</h3>
            <ul class="rows">{move || conditions.with(|rows| rows.iter().map(row).collect::<View>())}</ul>
        </section>
    }
}

/// The owner, and what is owned.
fn relations() -> View {
    let session = session();
    let owner = part(session, |it| it.owner.clone());
    let owns = part(session, |it| it.owns.clone());
    let link = move |key: &ObjectKey| {
        let target = key.clone();
        view! {
            <li>
                <span class="sub">{key.kind.name()}</span>
                <button class="link mono clip" type="button" on:click={move |_| session.select(target.clone())}>{key.name.to_string()}</button>
            </li>
        }
    };
    view! {
        <section class="insp-sec" hidden={move || owner.with(Option::is_none)} aria-labelledby="h-owner">
            <h3 id="h-owner">"Owner"</h3>
            <ul class="rows">{move || owner.with(|key| key.as_ref().map(link))}</ul>
        </section>
        <section class="insp-sec" hidden={move || owns.with(Vec::is_empty)} aria-labelledby="h-owns">
            <h3 id="h-owns">"Owns"</h3>
            <ul class="rows">{move || owns.with(|keys| keys.iter().map(link).collect::<View>())}</ul>
        </section>
    }
}

fn object_events() -> View {
    let events = part(session(), |it| it.events.clone());
    let row = |it: &ObjectEvent| {
        let shape = it.is_warning.then(|| icon("i i14 s-notready", "#i-warn"));
        let count = (it.count > 1).then(|| ["×", it.count.to_string().as_str()].concat());
        view! {
            <li>
                {shape}
                <span class="ev"><b>{it.reason.clone()}</b> " " {it.message.clone()} " " <span class="faint">{count}</span></span>
                <span class="faint nowrap end">{it.age.clone()}</span>
            </li>
        }
    };
    view! {
        <section class="insp-sec" hidden={move || events.with(Vec::is_empty)} aria-labelledby="h-kev">
            <h3 id="h-kev">"Kubernetes events"</h3>
            <ul class="rows rows-ev">{move || events.with(|rows| rows.iter().map(row).collect::<View>())}</ul>
        </section>
    }
}
