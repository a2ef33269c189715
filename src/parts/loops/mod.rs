//! Every loop is one row of the same three columns. That sameness is the lesson.

mod picture;
mod row;
mod shape;

use loopscope_engine::world::Command;

use super::rove::rove_loops;
use crate::atoms::{icon, phrase, yes};
use crate::session::{LoopEntry, LoopsView, Session, session};
use crate::ui::{Content, View, each, memo, view, when};
pub use row::loop_row;

pub fn loops() -> View {
    let board = session().board;
    let shown = memo(move || {
        let all = board.all_loops.get();
        board.loops.with(|rows| rows.iter().filter(|row| all || row.is_active).cloned().collect::<Vec<LoopEntry>>())
    });
    let how = board.loops_view;
    let is_picture = move || how.get() == LoopsView::Picture;
    let is_shape = move || how.get() == LoopsView::Shape;
    let are_rows = move || !is_picture() && !is_shape();
    let rows = move || {
        view! {
            <div class="col-heads" aria-hidden="true">
                <span>"Queue"</span>
                <div class="phases">
                    <span>{icon("i", "#ph-observe")}"Observe"</span>
                    <span>{icon("i", "#ph-diff")}"Diff"</span>
                    <span>{icon("i", "#ph-act")}"Act"</span>
                </div>
            </div>
            <ol class="loop-list">
                {each(move || shown.get(), |row| row.id.0.to_string(), move |entry| loop_row(entry, shown))}
            </ol>
        }
    };
    view! {
        <section class="loops" id="loops" aria-labelledby="h-loops">
            <div class="panel-h">
                <h2 class="h" id="h-loops">"Loops"</h2>{now()}{super::twin_button()}{when(are_rows, which)}{forms()}
            </div>
            <div class="loops-in" tabindex="0" role="group" aria-label="Loops, arrow keys move" on:keydown=rove_loops>
                {when(is_picture, picture::picture)}
                {when(is_shape, shape::shape)}
                {when(are_rows, rows)}
            </div>
            {store()}
        </section>
    }
}

/// Rows, cards, all in one picture, or five kinds laid over each other.
fn forms() -> View {
    let session = session();
    let how = session.board.loops_view;
    let choice = move |form: LoopsView| {
        view! {
            <button
                type="button" aria-pressed={move || yes(how.get() == form)} on:click={move |_| session.show_loops_as(form)}
            >{form.name()}</button>
        }
    };
    view! { <div class="seg" role="group" aria-label="Loops shown as">{LoopsView::ALL.map(choice)}</div> }
}

/// The sentence of now; before anything happened, what to do.
pub fn now() -> View {
    let session = session();
    let started = session.transport.started;
    let invitation = move || match session.is_simple.get_untracked() {
        true => view! {
            <span>"A simulated Kubernetes in your browser, slow enough to watch its control loops think."</span>
            <span><b>"Press play"</b>": they will create what the manifest asks for. Then delete a pod, and watch them replace it."</span>
        },
        false => view! {
            <span><b>"Press play"</b>": the loops of a simulated Kubernetes will create what the manifest asks for."</span>
            <span class="sub">"Then delete a pod, and watch them replace it."</span>
        },
    };
    let sentence = move || {
        session.board.now.with(|now| {
            now.as_ref().map(|now| {
                let seq = now.seq;
                let because = (!now.because.is_empty()).then(|| {
                    let text = now.because.clone();
                    if session.is_simple.get_untracked() {
                        return view! { <span class="sub">{text}</span> };
                    }
                    view! {
                        <button class="because sub" type="button" title="Show why" on:click={move |_| session.select_event(seq)}>
                            {text}
                        </button>
                    }
                });
                view! { <span>{phrase(&now.text)}</span> {because} }
            })
        })
    };
    let title = move || now_words(session);
    view! { <p class="now" class:is-first={move || !started.get()} title=title>{move || if started.get() { sentence().content() } else { invitation() }}</p> }
}

/// All of the sentence, where there may be no room for it.
fn now_words(session: Session) -> Option<String> {
    session
        .board
        .now
        .with(|now| now.as_ref().map(|now| [now.text.plain().as_str(), " ", now.because.as_str()].concat()))
}

/// Only loops that ran lately, or all.
fn which() -> View {
    let board = session().board;
    let n_active = move || board.loops.with(|rows| rows.iter().filter(|row| row.is_active).count());
    let n_all = move || board.loops.with(Vec::len);
    let choice = move |name: &'static str, all: bool, count: Box<dyn Fn() -> usize>| {
        view! {
            <button type="button" aria-pressed={move || yes(board.all_loops.get() == all)} on:click={move |_| board.all_loops.set(all)}>
                {name} " " {count}
            </button>
        }
    };
    view! {
        <div class="seg" role="group" aria-label="Loops shown">
            {choice("Active", false, Box::new(n_active))}
            {choice("All", true, Box::new(n_all))}
        </div>
    }
}

/// The API server, which closes every loop.
fn store() -> View {
    let store = session().board.store;
    let flight = move || store.with(|it| it.in_flight.as_ref().map(|(_, request)| request.clone()));
    view! {
        <div class="store">
            <p><b>"API server"</b> " rv " <b>{move || store.with(|it| it.resource_version)}</b></p>
            <p class="store-watch">{move || store.with(|it| it.watches)} " watches"</p>
            <div class="procs">{switch("controllers", "kube-controller-manager", 0)}{switch("scheduler", "kube-scheduler", 1)}</div>
            <p class="flight" hidden={move || flight().is_none()}><span class="clip">{flight}</span></p>
        </div>
    }
}

/// Stops a process whose loops are among the rows, and starts it again.
fn switch(name: &'static str, process: &'static str, index: usize) -> View {
    let session = session();
    let store = session.board.store;
    let is_up = memo(move || store.with(|it| it.are_up[index]));
    let words = move || [if is_up.get() { "Stop " } else { "Start " }, name].concat();
    let act = move |_| {
        let process = process.to_owned();
        session.meddle(match is_up.get_untracked() {
            true => Command::StopController { process },
            false => Command::StartController { process },
        });
    };
    view! {
        <button class="btn btn-s btn-quiet" type="button" title=process on:click=act>{icon("i i12", "#i-power")}<span>{words}</span></button>
    }
}
