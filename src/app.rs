use std::any::Any;
use std::cell::RefCell;

use leptos::prelude::*;
use loopscope_engine::world::Scenario;
use web_sys::{Element, HtmlElement};

use crate::embed;
use crate::opening::{Opened, Stage, lesson_asked};
use crate::parts::{
    DOCK, INSPECTOR, LOOPS, Sheets, announcer, dock, help_dialog, inspector, jump, lesson, lessons_dialog, loops, map,
    opened_dialog, openings, palette, share_dialog, shortcuts, simple, splitter, title_bar, toasts, transport_bar,
    twins,
};
use crate::platform;
use crate::session::{Part, Session, Tone, kept_steps};
use crate::ui::{self, when};

/// The whole page around one simulation.
#[component]
pub fn App(
    /// What to begin with; the small self-healing world unless told otherwise.
    #[prop(optional)]
    scenario: Option<Scenario>,
    /// A world that has been opened.
    #[prop(optional_no_strip)]
    opened: Option<Opened>,
) -> impl IntoView {
    let is_fresh = opened.is_none();
    let mut is_first = is_fresh && lesson_asked().is_none();
    let sheets = Sheets::new();
    let session = match opened {
        Some(opened) => {
            let session = Session::of(opened.history, opened.selected);
            // A lesson says itself that it is there, and needs the room.
            match opened.lesson.as_ref().is_some_and(|it| it.lesson.has_course()) && !opened.is_link {
                true => session.say(&opened.words),
                false => session.toast(opened.words, Tone::Answer),
            }
            session.past.before.put(opened.before);
            if let Some(taught) = opened.lesson {
                is_first = taught.is_first;
                session.show_workspace();
                session.teach(&taught);
                if !taught.is_first {
                    platform::next_frame(|| platform::focus_by_id("h-step"));
                }
            }
            if let Some(card) = opened.card {
                sheets.stage.put(Stage::Told(card));
            }
            session
        }
        None => Session::new(scenario.or_else(asked).unwrap_or_else(Scenario::self_healing)),
    };
    provide_context(session);
    if is_first {
        session.restore();
        session.keep_over_reloads();
    }
    if !platform::keeps() {
        session.toast(
            "This browser refuses storage: settings and steps last until you leave. Allow site data for this page to keep them.",
            Tone::Answer,
        );
    }
    shortcuts(session, sheets);
    openings(session, sheets, is_fresh);
    let fill = move |app: Element| ui::mount(&app, page(session, sheets));
    view! { <div class="app" use:fill></div> }
}

fn page(session: Session, sheets: Sheets) -> ui::View {
    let part = move || match session.focus.part.get() {
        Part::Learn => "learn",
        Part::Map => "map",
        Part::Loops => "loops",
        Part::Inspect => "inspect",
        Part::Manifest => "manifest",
        Part::Console => "console",
        Part::Git => "git",
        Part::Infra => "infra",
        Part::Orders => "orders",
        Part::Events => "events",
        Part::History => "history",
        Part::Faults => "faults",
        Part::Properties => "properties",
    };
    let is_simple = move || session.is_simple.get();
    let is_twin = move || !is_simple() && session.twins.are_shown.get();
    let is_work = move || !is_simple() && !is_twin();
    let frame = move || match (is_simple(), is_twin()) {
        (true, _) => "plain",
        (_, true) => "frame is-twin",
        _ => "frame",
    };
    let is_taught = move || !is_simple() && session.is_taught();
    ui::view! {
        <div class=frame class:is-taught=is_taught data-part=part>
            {title_bar(sheets)}
            {transport_bar()}
            {when(is_simple, simple)}
            {when(is_twin, twins)}
            {when(is_work, move || workspace(sheets))}
            {when(is_work, || ui::view! { {splitter(&DOCK)}{dock()} })}
        </div>
        {toasts(sheets)}
        {announcer()}
        {help_dialog(sheets.help)}
        {share_dialog(sheets)}
        {when(move || sheets.lessons.get(), move || lessons_dialog(sheets))}
        {opened_dialog(sheets)}
        {palette(sheets)}
    }
}

/// What the workspace has above the transport bar.
fn workspace(sheets: Sheets) -> ui::View {
    ui::view! {
        {jump()}
        {lesson(sheets)}
        <main class="stage">
            {loops()}
            {splitter(&LOOPS)}
            {map()}
        </main>
        {splitter(&INSPECTOR)}
        {inspector()}
    }
}

/// The scenario that the address asks for.
fn asked() -> Option<Scenario> {
    platform::asked(platform::SCENARIO).and_then(|id| Scenario::called(&id))
}

/// Takes the place of the static shell.
pub fn start() {
    let root = document().document_element();
    if root.as_ref().is_some_and(|root| root.has_attribute("data-failed")) {
        return;
    }
    platform::begin_rest();
    platform::install_panic_card(kept_steps);
    if platform::is_embedded() {
        return platform::with_rest(Box::new(embed::begin), Box::new(|why| wasm_bindgen::throw_str(&why)));
    }
    // Another scenario than the first has more to show.
    if platform::view_is_simple() && platform::asked(platform::SCENARIO).is_none() {
        return begin();
    }
    // Nobody catches it but the page's first script, which says what to do.
    platform::with_rest(Box::new(begin), Box::new(|why| wasm_bindgen::throw_str(&why)));
}

fn begin() {
    leave_shell();
    show(None);
    say_ready();
}

/// Takes the static shell away.
pub fn leave_shell() {
    if let Some(shell) = document().get_element_by_id("shell") {
        shell.remove();
    }
}

/// From now on the program answers.
pub fn say_ready() {
    if let Some(root) = document().document_element() {
        let _ = root.set_attribute("data-ready", "");
    }
}

thread_local! {
    /// The page, as long as it is shown.
    static SHOWN: RefCell<Option<Box<dyn Any>>> = const { RefCell::new(None) };
}

/// Shows what `mount` puts into the body, in place of what was there.
pub fn keep<T: Any>(mount: impl FnOnce(HtmlElement) -> T) {
    // Its listeners and signals go first.
    drop(SHOWN.with(RefCell::take));
    let Some(body) = document().body() else { return };
    let shown = mount(body);
    SHOWN.with(|it| it.replace(Some(Box::new(shown))));
}

fn show(opened: Option<Opened>) {
    keep(move |body| mount_to(body, move || view! { <App opened/> }));
}

/// Puts another world into the page, with nothing left of the one before.
pub fn put(opened: Opened) {
    if platform::is_embedded() { embed::put(opened) } else { show(Some(opened)) }
}
