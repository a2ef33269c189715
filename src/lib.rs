//! The page.
use leptos::prelude::*;

/// The page's root.
#[component]
pub fn App() -> impl IntoView {
    view! { <h1>"Loopscope"</h1> }
}
