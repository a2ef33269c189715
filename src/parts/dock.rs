use super::rove::rove_tabs;
use super::{events_pane, history_pane, manifest_pane};
use crate::atoms::yes;
use crate::session::{Part, session};
use crate::ui::{View, view};

/// The panes below the transport bar: side by side where they fit, else behind tabs.
pub fn dock() -> View {
    let session = session();
    let tab = move |part: Part| {
        let selected = move || yes(session.focus.pane.get() == part);
        let label = move || match part {
            Part::Manifest => match session.editor.problems.with(|it| super::manifest::n_errors(it)) {
                0 => "Manifest".to_owned(),
                1 => "Manifest, 1 error".to_owned(),
                n => ["Manifest, ", n.to_string().as_str(), " errors"].concat(),
            },
            Part::History => match session.past.steps.with(Vec::len) {
                0 => "History".to_owned(),
                n => ["History ", n.to_string().as_str()].concat(),
            },
            _ => ["Events ", session.transport.seq.get().to_string().as_str()].concat(),
        };
        view! {
            <button
                class="btn btn-s btn-quiet" type="button" role="tab" aria-selected=selected
                tabindex={move || if session.focus.pane.get() == part { "0" } else { "-1" }}
                on:click={move |_| session.focus.open(part)}
            >{label}</button>
        }
    };
    view! {
        <section class="dock" aria-label="Dock">
            <div class="dock-tabs" role="tablist" aria-label="Dock" on:keydown=rove_tabs>{tab(Part::Manifest)}{tab(Part::Events)}{tab(Part::History)}</div>
            <div class="dock-in">
                {manifest_pane()}
                {events_pane()}
                {history_pane()}
            </div>
        </section>
    }
}
