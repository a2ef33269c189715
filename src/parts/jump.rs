use leptos::prelude::*;

use crate::session::{Part, session};

/// On a narrow screen: which part is shown.
#[component]
pub fn Jump() -> impl IntoView {
    let focus = session().focus;
    let tab = move |part: Part| {
        let current = move || (focus.part.get() == part).then_some("true");
        view! {
            <button type="button" aria-current=current on:click=move |_| focus.open(part)>{part.name()}</button>
        }
    };
    view! {
        <nav class="jump" aria-label="Parts">{Part::ALL.map(tab).collect_view()}</nav>
    }
    .into_any()
}
