use crate::session::session;
use crate::ui::{View, view};

/// Tells assistive technology what happened, in one sentence, seldom.
pub fn announcer() -> View {
    let text = session().announcement;
    view! { <p class="sr" role="status" aria-label="Simulation">{move || text.get()}</p> }
}
