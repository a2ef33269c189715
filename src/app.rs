use leptos::prelude::*;
use loopscope_engine::world::Scenario;

use crate::parts::{
    Announcer, Dock, HelpDialog, Inspector, Jump, Loops, Map, TitleBar, Toasts, TransportBar, shortcuts,
};
use crate::platform;
use crate::session::{Part, Session};

/// The whole page around one simulation.
#[component]
pub fn App(
    /// What to begin with; the small self-healing world unless told otherwise.
    #[prop(optional)]
    scenario: Option<Scenario>,
) -> impl IntoView {
    let session = Session::new(scenario.unwrap_or_else(Scenario::self_healing));
    provide_context(session);
    let help_open = RwSignal::new(false);
    shortcuts(session, help_open);
    let part = move || match session.focus.part.get() {
        Part::Map => "map",
        Part::Loops => "loops",
        Part::Inspect => "inspect",
        Part::Manifest => "manifest",
        Part::Events => "events",
    };
    view! {
        <a class="skip" href="#map">"Skip to simulation"</a>
        <div class="app">
            <div class="frame" data-part=part>
                <TitleBar help_open/>
                <Jump/>
                <main class="stage">
                    <Loops/>
                    <Map/>
                </main>
                <Inspector/>
                <TransportBar/>
                <Dock/>
            </div>
            <Toasts/>
            <Announcer/>
            <HelpDialog open=help_open/>
        </div>
    }
}

/// Takes the place of the static shell.
pub fn start() {
    platform::install_panic_card();
    if let Some(shell) = document().get_element_by_id("shell") {
        shell.remove();
    }
    mount_to_body(|| view! { <App/> });
    if let Some(root) = document().document_element() {
        let _ = root.set_attribute("data-ready", "");
    }
}
