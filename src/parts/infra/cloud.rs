//! The cloud, changed by hand behind the tool's back.

use leptos::prelude::event_target_value;
use loopscope_engine::view::{ResourceRow, cloud_types};
use loopscope_engine::world::IacDeed;

use crate::atoms::icon;
use crate::session::{Tone, session};
use crate::ui::{Derived, State, View, view, when};

/// What an autoscaler in the cloud takes where nobody says more: bounds, and what it wants.
const SCALER: [i64; 3] = [2, 10, 8];
const SCALED: &str = "desired_count";

fn text_field(label: &'static str, text: State<String>) -> View {
    view! {
        <label><span class="sub">{label}</span><input class="field field-s" type="text" autocomplete="off" prop:value={move || text.get()} on:input={move |event| text.put(event_target_value(&event))}/></label>
    }
}

/// Buttons that change one object of the cloud.
pub fn hand(row: Derived<Option<ResourceRow>>) -> View {
    let session = session();
    let id = move || row.with(|it| it.as_ref().filter(|it| it.is_there).and_then(|it| it.id.clone()));
    let is_there = move || id().is_some();
    let name = row.with(|it| it.as_ref().and_then(|it| it.id.clone().or(it.address.clone()))).unwrap_or_default();
    let names = row.with(|it| it.iter().flat_map(|it| it.attributes.iter().map(|it| it.name)).collect::<Vec<_>>());
    let can_scale = names.contains(&SCALED);
    let attribute = State::new(names.first().copied().unwrap_or_default().to_owned());
    let value = State::new(String::new());
    let set = move |_| {
        let pair = (attribute.get_untracked(), value.get_untracked().trim().to_owned());
        if pair.1.is_empty() {
            return session.toast("In the cloud: a value is missing", Tone::Error);
        }
        if let Some(id) = id() {
            session.cloud_do(IacDeed::CloudSet { id, attributes: vec![pair] });
        }
    };
    let delete = move |_| {
        if let Some(id) = id() {
            session.cloud_do(IacDeed::CloudDelete { id });
        }
    };
    let option = |it: &str| view! { <option value={it.to_owned()}>{it.to_owned()}</option> };
    let options = move || names.iter().map(|it| option(it)).collect::<View>();
    let summary = ["Change ", &name, " by hand"].concat();
    let scaler = move || if can_scale { autoscaler(row) } else { View::List(Vec::new()) };
    let inside = move || {
        view! {
            <details class="by-hand">
                <summary>{summary.clone()}</summary>
                <div class="desk-in">
                    <label><span class="sub">"attribute"</span><span class="pick pick-s"><select on:change={move |event| attribute.put(event_target_value(&event))}>{options()}</select>{icon("i i12", "#i-down")}</span></label>
                    {text_field("value", value)}
                    <button class="btn btn-s" type="button" on:click=set>"Set in the cloud"</button>
                    <button class="btn btn-s btn-danger" type="button" on:click=delete>"Delete in the cloud"</button>
                </div>
                {scaler()}
            </details>
        }
    };
    view! { {when(is_there, inside)} }
}

/// Lets the cloud itself set the size of a service.
fn autoscaler(row: Derived<Option<ResourceRow>>) -> View {
    let session = session();
    let now = row.with(|it| it.as_ref().and_then(|it| it.scaler.as_ref().map(|it| [it.min, it.max, it.want])));
    let field = |at: usize| State::new(now.unwrap_or(SCALER)[at].to_string());
    let (min, max, want) = (field(0), field(1), field(2));
    let is_on = move || row.with(|it| it.as_ref().is_some_and(|it| it.scaler.is_some()));
    let set = move |_| {
        let number = |text: State<String>| text.with_untracked(|it| it.trim().parse::<i64>().ok());
        let id = row.with(|it| it.as_ref().and_then(|it| it.id.clone()));
        match (id, number(min), number(max), number(want)) {
            (Some(id), Some(min), Some(max), Some(want)) => {
                session.cloud_do(IacDeed::CloudAutoscale { id, min, max, want });
            }
            _ => session.toast("Cloud autoscaler: expected three numbers", Tone::Error),
        }
    };
    let words = move || match is_on() {
        true => "The cloud’s autoscaler is on: every minute it sets desired_count.",
        false => "The cloud’s autoscaler is off.",
    };
    view! {
        <div class="desk-in" role="group" aria-label="Cloud autoscaler">
            {text_field("min", min)}{text_field("max", max)}{text_field("wants", want)}
            <button class="btn btn-s" type="button" on:click=set>"Autoscale"</button>
        </div>
        <p class="sub" role="status">{words}</p>
    }
}

/// Makes an object that nothing manages, and sets quotas.
pub fn make() -> View {
    let session = session();
    let kind = State::new(cloud_types().next().unwrap_or_default().to_owned());
    let pairs = State::new("desired_count=2 image=app:v1".to_owned());
    let most = State::new("1".to_owned());
    let option = |it: &'static str| view! { <option value=it>{it}</option> };
    let create = move |_| {
        let read = |text: &String| {
            let split = |it: &str| it.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
            text.split_whitespace().map(split).collect::<Option<Vec<_>>>()
        };
        match pairs.with_untracked(read) {
            Some(attributes) => session.cloud_do(IacDeed::CloudCreate { kind: kind.get_untracked(), attributes }),
            None => session.toast("In the cloud: expected name=value, with spaces between", Tone::Error),
        }
    };
    let limit = move |_| match most.with_untracked(|it| it.trim().parse::<u64>().ok()) {
        Some(most) => session.cloud_do(IacDeed::CloudQuota { kind: kind.get_untracked(), most }),
        None => session.toast("Quota: expected a number", Tone::Error),
    };
    view! {
        <details class="by-hand">
            <summary>"Make an object by hand, or set a quota"</summary>
            <div class="desk-in">
                <label><span class="sub">"type"</span><span class="pick pick-s"><select on:change={move |event| kind.put(event_target_value(&event))}>{cloud_types().map(option).collect::<View>()}</select>{icon("i i12", "#i-down")}</span></label>
                {text_field("attributes", pairs)}
                <button class="btn btn-s" type="button" on:click=create>"Create in the cloud"</button>
                {text_field("no more than", most)}
                <button class="btn btn-s" type="button" on:click=limit>"Set quota"</button>
            </div>
            <p class="sub">"A quota that is too small lets an apply fail half-way."</p>
        </details>
    }
}
