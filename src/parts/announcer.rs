use leptos::prelude::*;

use crate::session::session;

/// Tells assistive technology what happened, in one sentence, seldom.
#[component]
pub fn Announcer() -> impl IntoView {
    let text = session().announcement;
    view! { <p class="sr" role="status" aria-label="Simulation">{move || text.get()}</p> }.into_any()
}
