//! The configuration, as text.

use leptos::prelude::Callback;
use web_sys::HtmlTextAreaElement;

use crate::parts::manifest::{Sheet, editor_view, problems};
use crate::session::session;
use crate::ui::{At, View, view};

pub fn config() -> View {
    let session = session();
    let desk = session.infra;
    let field = At::<HtmlTextAreaElement>::new();
    let typed = Callback::new(move |text: String| desk.typed(text));
    let sheet = Sheet {
        editor: desk.editor,
        id: "infra-editor",
        label: "Configuration",
        described_by: "infra-problems infra-editor-hint",
        problems_id: "infra-problems",
    };
    let changed = move || if desk.is_changed.get() { "changed, not written" } else { "as written" };
    view! {
        <section class="desk-part desk-files" aria-label="Configuration">
            <div class="sec-h">
                <h3>"Configuration"</h3><span class="sub">"main.yaml, "{changed}</span>
                <button class="btn btn-s btn-main end" type="button" disabled={move || !desk.is_changed.get()} on:click={move |_| { session.write_config(); }}>"Write"</button>
            </div>
            {editor_view(sheet, field, typed)}
            {problems(sheet, field)}
            <p class="sub">"What an autoscaler may change belongs into "<code>"lifecycle: {ignore_changes: [desired_count]}"</code>"."</p>
        </section>
    }
}
