use loopscope_engine::view::FaultsView;

use super::rove::rove_tabs;
use super::{
    console_pane, events_pane, faults_pane, git_pane, history_pane, infra_pane, manifest_pane, orders_pane,
    properties_pane,
};
use crate::atoms::yes;
use crate::session::{Part, session};
use crate::ui::{State, View, view};

/// The panes below the transport bar: side by side where they fit, else behind tabs.
pub fn dock() -> View {
    let session = session();
    let (pane, first, mid, last) = (session.focus.pane, session.focus.first, session.focus.mid, session.focus.last);
    let tab = move |part: Part, shown: State<Part>| {
        let selected = move || yes(shown.get() == part);
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
            Part::Console | Part::Git | Part::Orders => part.name().to_owned(),
            Part::Infra => "Infrastructure".to_owned(),
            Part::Faults => match session.trouble.faults.with(FaultsView::n_on) {
                0 => "Faults".to_owned(),
                n => ["Faults, ", n.to_string().as_str(), " on"].concat(),
            },
            Part::Properties => match session.trouble.properties.with(super::properties::n_broken) {
                0 => "Properties".to_owned(),
                n => ["Properties, ", n.to_string().as_str(), " broken"].concat(),
            },
            _ => ["Events ", session.transport.seq.get().to_string().as_str()].concat(),
        };
        view! {
            <button
                class="btn btn-s btn-quiet" type="button" role="tab" aria-selected=selected
                tabindex={move || if shown.get() == part { "0" } else { "-1" }}
                on:click={move |_| session.open(part)}
            >{label}</button>
        }
    };
    view! {
        <section class="dock" aria-label="Dock">
            <div class="dock-tabs" role="tablist" aria-label="Dock" on:keydown=rove_tabs>
                {Part::DOCK.map(|part| tab(part, pane))}
            </div>
            <div class="dock-first" role="tablist" aria-label="Dock, first pane" on:keydown=rove_tabs>
                {[Part::Manifest, Part::Console, Part::Git, Part::Infra].map(|part| tab(part, first))}
            </div>
            <div class="dock-mid" role="tablist" aria-label="Events or orders" on:keydown=rove_tabs>
                {[Part::Events, Part::Orders].map(|part| tab(part, mid))}
            </div>
            <div class="dock-in">
                {manifest_pane()}
                {console_pane()}
                {git_pane()}
                {infra_pane()}
                {orders_pane()}
                {events_pane()}
                <div class="dock-last" class:is-wide={move || last.get() != Part::History}>
                    <div class="dock-tabs-last" role="tablist" aria-label="History, faults or properties" on:keydown=rove_tabs>
                        {[Part::History, Part::Faults, Part::Properties].map(|part| tab(part, last))}
                    </div>
                    {history_pane()}
                    {faults_pane()}
                    {properties_pane()}
                </div>
            </div>
        </section>
    }
}
