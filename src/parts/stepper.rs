use leptos::prelude::*;
use loopscope_engine::api::ObjectKey;
use web_sys::{Event, HtmlInputElement};

use crate::atoms::icon;
use crate::session::{Session, Tone, session};
use crate::ui::{Derived, View, view};

/// `spec.replicas` of an object, as a number with a button at each side.
pub fn stepper(now: Derived<i32>, of: fn(Session) -> Option<ObjectKey>) -> View {
    let session = session();
    let scale = move |replicas| {
        if let Some(key) = of(session) {
            session.scale(key, replicas);
        }
    };
    let change = move |event: Event| {
        let input: HtmlInputElement = event_target(&event);
        if let Ok(n) = input.value().trim().parse::<i32>() {
            scale(n);
        } else {
            session.toast("spec.replicas: expected a whole number", Tone::Error);
        }
        // Refused: the field shows again what is wanted.
        input.set_value(&now.get_untracked().to_string());
    };
    view! {
        <div class="step" role="group" aria-label="spec.replicas">
            <button
                type="button" aria-label="One replica fewer" disabled={move || now.get() <= 0}
                on:click={move |_| scale(now.get_untracked() - 1)}
            >{icon("i i12", "#i-minus")}</button>
            <input
                type="text" inputmode="numeric" size="4" autocomplete="off" aria-label="Replicas"
                prop:value={move || now.get().to_string()} on:change=change
            />
            <button type="button" aria-label="One replica more" on:click={move |_| scale(now.get_untracked() + 1)}>
                {icon("i i12", "#i-plus")}
            </button>
        </div>
    }
}
