use leptos::prelude::*;

use super::{EventsPane, ManifestPane};
use crate::atoms::yes;
use crate::session::{Part, session};

/// The panes below the transport bar: side by side where they fit, else behind tabs.
#[component]
pub fn Dock() -> impl IntoView {
    let session = session();
    let tab = move |part: Part| {
        let selected = move || yes(session.focus.pane.get() == part);
        let label = move || match part {
            Part::Manifest => match session.editor.problems.with(|it| super::manifest::n_errors(it)) {
                0 => "Manifest".to_owned(),
                1 => "Manifest, 1 error".to_owned(),
                n => ["Manifest, ", n.to_string().as_str(), " errors"].concat(),
            },
            _ => ["Events ", session.transport.seq.get().to_string().as_str()].concat(),
        };
        view! {
            <button
                class="btn btn-s btn-quiet" type="button" role="tab" aria-selected=selected
                on:click=move |_| session.focus.open(part)
            >{label}</button>
        }
    };
    view! {
        <section class="dock" aria-label="Dock">
            <div class="dock-tabs" role="tablist" aria-label="Dock">{tab(Part::Manifest)}{tab(Part::Events)}</div>
            <div class="dock-in">
                <ManifestPane/>
                <EventsPane/>
            </div>
        </section>
    }
    .into_any()
}
