use leptos::ev;
use leptos::prelude::{GetValue, on_cleanup, window_event_listener};
use loopscope_engine::world::{Instant, Scenario};
use web_sys::HtmlDialogElement;

use super::deeds::Sheets;
use crate::opening::{
    Card, Stage, begin_anew, has_link, lesson_asked, open_address, open_file, open_lesson, stay, take_scenario,
    take_steps,
};
use crate::platform;
use crate::session::Session;
use crate::ui::{At, State, View, effect, memo, view};

/// The progress of what is being opened, and what there is to say when it could not be.
pub fn opened_dialog(sheets: Sheets) -> View {
    let stage = sheets.stage;
    let dialog = At::<HtmlDialogElement>::new();
    effect(move || {
        let Some(dialog) = dialog.get() else { return };
        match stage.with(|it| *it == Stage::Closed) {
            false if !dialog.open() => drop(dialog.show_modal()),
            true if dialog.open() => dialog.close(),
            _ => {}
        }
        if stage.with(|it| matches!(it, Stage::Told(_))) {
            platform::next_frame(|| {
                let _ = platform::focus_first(".opened .btn-main");
            });
        }
    });
    // Closed by Escape, or because there is nothing more to say.
    let closed = move |_| {
        if stage.with_untracked(|it| *it != Stage::Closed) {
            stay(stage);
        }
    };
    let card = memo(move || match stage.get() {
        Stage::Told(card) => Some(card),
        _ => None,
    });
    view! {
        <dialog class="dialog opened" aria-label="Opening" at=dialog on:close=closed>
            {move || match card.get() {
                Some(card) => card_view(sheets, card),
                None => progress_view(stage),
            }}
        </dialog>
    }
}

fn progress_view(stage: State<Stage>) -> View {
    let percent = move || match stage.get() {
        Stage::Playing(percent) => percent.min(100),
        _ => 0,
    };
    let words = move || match stage.get() {
        Stage::Playing(_) => ["Playing it up to that moment: ", &percent().to_string(), " %"].concat(),
        _ => "Reading it…".to_owned(),
    };
    view! {
        <div>
            <p role="status">{words}</p>
            <progress max="100" aria-label="Opening" value={move || percent().to_string()}></progress>
            <p class="sub">"What you have open stays until it is ready."</p>
            <p class="card-acts"><button class="btn" type="button" on:click={move |_| stay(stage)}>"Cancel"</button></p>
        </div>
    }
}

fn card_view(sheets: Sheets, card: Card) -> View {
    let stage = sheets.stage;
    let Card { title, words, list, scenario, n_steps, is_open, is_told } = card;
    let steps = [n_steps.to_string().as_str(), if n_steps == 1 { " command" } else { " commands" }].concat();
    let steps = (n_steps > 0).then(|| {
        let name = ["Play the ", &steps, " before it"].concat();
        view! { <button class="btn" type="button" on:click={move |_| take_steps(stage)}>{name}</button> }
    });
    let lessons = move |_| {
        stay(stage);
        sheets.lessons.put(true);
    };
    let other = if is_told {
        View::List(Vec::new())
    } else if scenario.is_empty() {
        view! { <button class="btn" type="button" on:click=lessons>"See the lessons"</button> }
    } else {
        let alone = ["Open ", scenario.as_str(), " without it"].concat();
        view! { <button class="btn" type="button" on:click={move |_| take_scenario(stage)}>{alone}</button> }
    };
    let list = (!list.is_empty()).then(|| {
        let class = if is_told { "" } else { "mono" };
        let item = |line: String| view! { <li class=class>{line}</li> };
        view! { <ul class="opened-list">{list.into_iter().map(item).collect::<View>()}</ul> }
    });
    let leave = if is_open { "Go on with it" } else { "Keep what is open" };
    view! {
        <div role="alert">
            <h2>{title}</h2>
            <p>{words}</p>
            {list}
            <p class="card-acts">
                <button class="btn btn-main" type="button" on:click={move |_| stay(stage)}>{leave}</button>
                {other}
                {steps}
            </p>
        </div>
    }
}

/// Begins a scenario of the list. What was open can be had back.
pub fn open_anew(session: Session, sheets: Sheets, name: &str) {
    let Some(scenario) = Scenario::built_in(name) else { return };
    session.pause();
    let before = session.moment(false).filter(|it| it.at != Instant::default());
    begin_anew(sheets.stage, scenario, before);
}

/// The one after the one that is open, in the list's order.
pub fn open_next(session: Session, sheets: Sheets) {
    let name = session.scenario.get_value();
    let here = Scenario::CATALOG.iter().position(|it| it.name == name);
    let next = here.map_or(0, |here| (here + 1) % Scenario::CATALOG.len());
    open_anew(session, sheets, Scenario::CATALOG[next].name);
}

/// Opens one of the lessons that come with the page.
pub fn open_one(session: Session, sheets: Sheets, id: String) {
    sheets.lessons.put(false);
    session.pause();
    if let Some(scenario) = session.scenario_now() {
        open_lesson(sheets.stage, scenario, id, false, false);
    }
}

/// Opens the first of some files.
pub fn open_files(session: Session, sheets: Sheets, files: Option<web_sys::FileList>) {
    let file = files.and_then(|files| files.get(0));
    if let (Some(file), Some(scenario)) = (file, session.scenario_now()) {
        sheets.share.put(false);
        session.pause();
        open_file(sheets.stage, scenario, file);
    }
}

/// Opens links in the address, now and whenever it changes, and files that are dropped on the page. A world that has
/// just been opened is not opened again.
pub fn openings(session: Session, sheets: Sheets, is_fresh: bool) {
    let open = move |is_first: bool| {
        let is_asked = has_link() || (is_first && lesson_asked().is_some());
        if !is_asked {
            return;
        }
        if let Some(scenario) = session.scenario_now() {
            session.with_all(move || open_address(sheets.stage, scenario, is_first));
        }
    };
    if is_fresh {
        open(true);
    }
    let changed = window_event_listener(ev::hashchange, move |_| open(false));
    let over = window_event_listener(ev::dragover, |event| event.prevent_default());
    let dropped = window_event_listener(ev::drop, move |event| {
        if !event.default_prevented() {
            event.prevent_default();
            let files = event.data_transfer().and_then(|data| data.files());
            session.with_all(move || open_files(session, sheets, files));
        }
    });
    on_cleanup(move || {
        changed.remove();
        over.remove();
        dropped.remove();
    });
}
