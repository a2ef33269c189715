//! The lessons that come with the page.

use leptos::prelude::WithValue;
use leptos::task::spawn_local;
use loopscope_engine::lesson::Listed;

use crate::atoms::{icon, plural};
use crate::opening::list_of_lessons;
use crate::parts::deeds::Sheets;
use crate::parts::opened::open_one;
use crate::parts::rove::rove_rows;
use crate::parts::sheet::sheet;
use crate::platform;
use crate::session::{Session, lessons_done, session};
use crate::ui::{State, View, view};

/// How far the list has come.
#[derive(Clone, PartialEq)]
enum Listing {
    Reading,
    Here(Vec<Listed>),
    Failed(String),
}

/// The list in their order, with what was done of it.
pub fn lessons_dialog(sheets: Sheets) -> View {
    let open = sheets.lessons;
    let dialog = sheet(open);
    let listing = State::new(Listing::Reading);
    read(listing);
    let content = move || match listing.get() {
        Listing::Reading => view! {
            <p role="status">"Reading the list of lessons…"</p>
            <progress aria-label="Reading the list of lessons"></progress>
        },
        Listing::Failed(why) => view! {
            <p role="alert">{why}</p>
            <p class="card-acts">
                <button class="btn btn-main" type="button" on:click={move |_| read(listing)}>"Try again"</button>
            </p>
        },
        Listing::Here(all) => list(sheets, all),
    };
    // By itself it gives the focus back; taken off the page it would not.
    let close = move |_| {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    view! {
        <dialog class="dialog lessons" aria-labelledby="h-lessons" at=dialog on:close={move |_| open.put(false)}>
            <header>
                <h2 id="h-lessons">"Lessons"</h2>
                <button class="btn btn-s btn-icon btn-quiet" type="button" aria-label="Close" on:click=close>
                    {icon("i", "#i-x")}
                </button>
            </header>
            <div>{content}</div>
        </dialog>
    }
}

fn read(listing: State<Listing>) {
    listing.put(Listing::Reading);
    spawn_local(async move {
        let found = list_of_lessons().await;
        listing.put(match found {
            Ok(all) => Listing::Here(all),
            Err(why) => Listing::Failed(why),
        });
        platform::next_frame(|| {
            let _ = platform::focus_first(".lesson-list .lesson-to, .lessons .btn-main");
        });
    });
}

/// Opens the lesson after another one; the list where there is none.
pub fn open_after(session: Session, sheets: Sheets, id: String) {
    spawn_local(async move {
        let all = list_of_lessons().await.unwrap_or_default();
        let at = all.iter().position(|it| it.id == id);
        match at.and_then(|at| all.into_iter().nth(at + 1)) {
            Some(next) => open_one(session, sheets, next.id),
            None => sheets.lessons.put(true),
        }
    });
}

fn list(sheets: Sheets, all: Vec<Listed>) -> View {
    let session = session();
    let done = lessons_done();
    let here = session.learning().filter(|it| !it.is_over.get_untracked());
    let here = here.map(|it| it.script.with_value(|it| it.id.clone()));
    let n_done = all.iter().filter(|it| done.contains(&it.id)).count();
    let minutes: u32 = all.iter().map(|it| it.minutes).sum();
    let count = [plural(all.len(), "lesson", "lessons").as_str(), ", ", &minutes.to_string(), " min in all. "].concat();
    let sofar =
        if n_done == 0 { "None done yet.".to_owned() } else { [n_done.to_string().as_str(), " done."].concat() };
    let row = |one: Listed| {
        let (is_done, is_here) = (done.contains(&one.id), here.as_deref() == Some(one.id.as_str()));
        row(sheets, one, is_done, is_here)
    };
    view! {
        <p class="sub">{count}{sofar}</p>
        <ol class="lesson-list" tabindex="0" aria-label="Lessons, arrow keys move" on:keydown=rove_rows>
            {all.into_iter().map(row).collect::<View>()}
        </ol>
    }
}

fn row(sheets: Sheets, one: Listed, is_done: bool, is_here: bool) -> View {
    let session = session();
    let Listed { id, title, summary, minutes, n_steps, is_free, .. } = one;
    let steps = plural(n_steps as usize, "step", "steps");
    let steps = if is_free { plural(n_steps as usize, "challenge", "challenges") } else { steps };
    let facts = [minutes.to_string().as_str(), " min, ", &steps].concat();
    let mark = if is_done { "#i-check" } else { "#ring-idle" };
    let note = match (is_done, is_here) {
        (true, true) => ", done, open now",
        (true, false) => ", done",
        (false, true) => ", open now",
        _ => "",
    };
    view! {
        <li>
            <button
                class="lesson-to" type="button" aria-current={is_here.then_some("true")}
                on:click={move |_| open_one(session, sheets, id.clone())}
            >
                {icon("i", mark)}
                <span class="lesson-name"><b>{title}</b><span class="sr">{note}</span><span class="sub">{facts}</span></span>
                <span class="lesson-about">{summary}</span>
            </button>
        </li>
    }
}
