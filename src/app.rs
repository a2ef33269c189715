use leptos::prelude::*;
use loopscope_engine::world::Scenario;
use web_sys::Element;

use crate::parts::{
    announcer, dock, help_dialog, inspector, jump, loops, map, shortcuts, simple, title_bar, toasts, transport_bar,
};
use crate::platform;
use crate::session::{Part, Session};
use crate::ui::{self, State, when};

/// The whole page around one simulation.
#[component]
pub fn App(
    /// What to begin with; the small self-healing world unless told otherwise.
    #[prop(optional)]
    scenario: Option<Scenario>,
) -> impl IntoView {
    let session = Session::new(scenario.unwrap_or_else(Scenario::self_healing));
    provide_context(session);
    let help_open = State::new(false);
    shortcuts(session, help_open);
    let fill = move |app: Element| ui::mount(&app, page(session, help_open));
    view! { <div class="app" use:fill></div> }
}

fn page(session: Session, help_open: State<bool>) -> ui::View {
    let part = move || match session.focus.part.get() {
        Part::Map => "map",
        Part::Loops => "loops",
        Part::Inspect => "inspect",
        Part::Manifest => "manifest",
        Part::Events => "events",
    };
    let is_simple = move || session.is_simple.get();
    let frame = move || if is_simple() { "plain" } else { "frame" };
    ui::view! {
        <a class="skip" href="#map">"Skip to simulation"</a>
        <div class=frame data-part=part>
            {title_bar(help_open)}
            {when(is_simple, simple)}
            {when(move || !is_simple(), workspace)}
            {transport_bar()}
            {when(move || !is_simple(), dock)}
        </div>
        {toasts()}
        {announcer()}
        {help_dialog(help_open)}
    }
}

/// What the workspace has above the transport bar.
fn workspace() -> ui::View {
    ui::view! {
        {jump()}
        <main class="stage">
            {loops()}
            {map()}
        </main>
        {inspector()}
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
