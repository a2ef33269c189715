use crate::atoms::icon;
use crate::session::session;
use crate::ui::{View, view, when};

/// What one waits for while nothing seems to happen, with its times, and the way there.
pub fn outlook() -> View {
    let session = session();
    let text = session.board.outlook;
    let there = move || {
        view! {
            <p class="outlook">
                <span>{move || text.get()}</span>
                <button class="btn btn-s" type="button" title="Skip to the next change of any object (;)" on:click={move |_| session.skip()}>
                    {icon("i", "#i-skip")}"Skip to the next change"
                </button>
            </p>
        }
    };
    view! { {when(move || text.with(Option::is_some), there)} }
}
