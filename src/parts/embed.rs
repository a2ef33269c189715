//! The page in another page's frame: one idea, the parts that were asked for, one row of controls, no rails.

use leptos::prelude::*;
use leptos::task::spawn_local;
use loopscope_engine::view::{Convergence, Summary};
use web_sys::{Element, Event, HtmlAnchorElement};

use super::deeds::{Sheets, deed_of};
use super::loops::loop_row;
use super::simple::{code, deeds};
use super::transport::speed_choice;
use super::{announcer, console_pane, map, opened_dialog, timeline, titlebar, toasts};
use crate::atoms::{clock, icon, icon_when};
use crate::embed::{self, Asked, Controls, Piece};
use crate::platform;
use crate::session::{LoopEntry, Session, StepBy, session};
use crate::ui::{At, State, View, each, effect, memo, view, when};

pub fn embed_page(asked: Asked, session: Session, sheets: Sheets) -> View {
    let Asked { pieces, controls, title, back, notes, .. } = asked;
    let title = title.unwrap_or_else(|| session.scenario.get_value());
    let label = ["Loopscope: ", title.as_str()].concat();
    let has_timeline = pieces.contains(&Piece::Timeline);
    let parts = pieces.into_iter().map(part).collect::<View>();
    let note =
        |text: String| view! { <p class="em-note" role="note">{icon("i i14", "#i-warn")}<span>{text}</span></p> };
    let (head, body, foot) = (At::<Element>::new(), At::<Element>::new(), At::<Element>::new());
    follow_size([head, body, foot]);
    view! {
        <main class="embed" aria-label=label>
            <div class="em-head" at=head>
                {header(title, back, session)}
                {notes.into_iter().map(note).collect::<View>()}
            </div>
            <div class="em-mid" tabindex="0" role="group" aria-label="Simulation"><div class="em-body" at=body>{parts}</div></div>
            <div class="em-foot" at=foot>
                {(controls == Controls::Full).then(|| actions(session))}
                {(controls != Controls::Nothing).then(|| time_row(session, has_timeline))}
            </div>
        </main>
        {toasts(sheets)}
        {announcer()}
        {opened_dialog(sheets)}
    }
}

fn follow_size(of: [At<Element>; 3]) {
    let watches = StoredValue::new_local(Vec::new());
    effect(move || {
        let there: Vec<Element> = of.iter().filter_map(At::get).collect();
        if there.len() == of.len() {
            watches.set_value(embed::follow_size(&there));
        }
    });
}

/// In place of a world that does not exist.
pub fn no_such_scenario(words: &str) -> View {
    let full = platform::bare_address();
    view! {
        <main class="embed" aria-label="Loopscope">
            <div class="em-head"></div>
            <div class="em-mid"><div class="em-body">
                <div class="card-fail" role="alert">
                    <h1>"Nothing to show here"</h1>
                    <p>{words.to_owned()}</p>
                    <p><a href=full target="_blank" rel="noopener">"Open Loopscope"</a></p>
                </div>
            </div></div>
        </main>
    }
}

/// Keys that work while the frame has the focus: those of the simple view, but for what a frame has not.
pub fn embed_keys(session: Session, sheets: Sheets) {
    platform::on_window_key(move |key| {
        let deed = deed_of(&key.name).filter(|it| it.is_first && key.is_free && !sheets.is_open());
        if let Some(run) = deed.and_then(|it| it.run) {
            key.event.prevent_default();
            run(session, sheets);
        }
    });
}

/// What the prose around may speak of, by name.
pub fn reference(name: &str) -> Vec<Element> {
    let found = |selector: &str| platform::everything(selector);
    match name.split_once('/') {
        None => match name {
            "loop" => found(".em-loop"),
            "queue" => found(".em-loop .queue"),
            "code" => found(".code"),
            "map" => found("#map"),
            "diff" => found(".em-diff"),
            "timeline" => found(".tl"),
            "console" => found(".pane-console"),
            "actions" => found(".deeds"),
            "transport" => found(".em-tr"),
            "time" => found(".em-tr .clock"),
            "want" => found(".em-want"),
            "is" => found(".em-is"),
            "state" => found(".em-h .ro-word"),
            _ => Vec::new(),
        },
        Some(("loop", phase)) => {
            let at = ["observe", "diff", "act"].iter().position(|it| *it == phase);
            at.and_then(|at| found(".em-loop .phase").into_iter().nth(at)).into_iter().collect()
        }
        Some(("code", line)) => {
            let at = line.parse::<usize>().ok().and_then(|line| line.checked_sub(1));
            at.and_then(|at| found(".code li").into_iter().nth(at)).into_iter().collect()
        }
        Some(("node", node)) => found("#map .node").into_iter().filter(|it| is_headed(it, node)).collect(),
        Some(("pod", pod)) if !pod.is_empty() => found("#map .pod").into_iter().filter(|it| is_pod(it, pod)).collect(),
        Some(("pods", state)) if !state.is_empty() && state.bytes().all(|it| it.is_ascii_lowercase()) => {
            let shapes = found(&["#map .pod > .s-", state].concat());
            shapes.iter().filter_map(|it| it.parent_element()).collect()
        }
        _ => Vec::new(),
    }
}

fn is_headed(card: &Element, name: &str) -> bool {
    let heading = card.query_selector("h3").ok().flatten();
    heading.and_then(|it| it.text_content()).is_some_and(|it| it.trim() == name)
}

/// `Pod web-db9d6c5cd-kj82j, Ready, node-1`: by the whole of its name, or its beginning or end.
fn is_pod(pod: &Element, name: &str) -> bool {
    let label = pod.get_attribute("aria-label").unwrap_or_default();
    let own = label.strip_prefix("Pod ").and_then(|it| it.split(',').next()).unwrap_or_default();
    own.starts_with(name) || own.ends_with(name)
}

fn header(title: String, back: Option<String>, session: Session) -> View {
    let summary = session.board.summary;
    let read = |number: fn(&Summary) -> i32| memo(move || summary.with(number).to_string());
    let (want, is) = (read(|it| it.want), read(|it| it.ready));
    let has_work = move || summary.with(|it| it.convergence != Convergence::Empty);
    let back =
        back.map(|url| view! { <a class="em-link" href=url target="_blank" rel="noopener">"To the article"</a> });
    view! {
        <header class="em-h">
            <h1>{title}</h1>
            {when(has_work, move || view! {
                <dl class="ro" aria-label="Want and is">
                    <div class="em-want"><dt>"want"</dt><dd>{move || want.get()}</dd></div>
                    <div class="em-is"><dt>"is"</dt><dd>{move || is.get()}</dd></div>
                </dl>
            })}
            {when(has_work, titlebar::state)}
            <span class="em-links">{back}{open_full(session)}</span>
        </header>
    }
}

/// Leads to the same moment in the full page. The link to it is made when it is wanted, since that takes time.
fn open_full(session: Session) -> View {
    let link = At::<HtmlAnchorElement>::new();
    // The moment that the link leads to: its time and its state.
    let made = State::new(None::<(u64, u64)>);
    let now = move || session.moment(false).map(|it| (it.at.at.0, it.digest));
    let open = move |event: Event| {
        let wanted = now();
        if made.get_untracked() == wanted {
            return;
        }
        event.prevent_default();
        session.pause();
        let wanted = now();
        spawn_local(async move {
            if let (Some(url), Some(link)) = (embed::link_to_now(session).await, link.get_untracked()) {
                link.set_href(&url);
                made.put(wanted);
                platform::press(&link);
            }
        });
    };
    let full = platform::bare_address();
    view! {
        <a class="em-link" href=full target="_blank" rel="noopener" title="The same moment in the full page" at=link on:click=open>
            "Open full"{icon("i i14", "#i-out")}
        </a>
    }
}

fn part(piece: Piece) -> View {
    match piece {
        Piece::Loop => one_loop(),
        Piece::Code => view! { <div class="em-part"><h2 class="sr">"The loop"</h2>{code()}</div> },
        Piece::Map => view! { <div class="em-part">{map()}</div> },
        Piece::Diff => view! {
            <section class="em-part em-diff" aria-label="Spec and status">{super::inspector::spec_and_status()}</section>
        },
        Piece::Timeline => {
            view! { <section class="em-part em-wide em-lanes" aria-label="Timeline">{timeline()}</section> }
        }
        Piece::Console => view! { <div class="em-part em-wide em-console">{console_pane()}</div> },
    }
}

/// The loop that the simple view has; where there are no nodes that one has nothing to do, and the one that ran last is shown.
fn one_loop() -> View {
    let session = session();
    let board = session.board;
    let shown = memo(move || {
        let of = board.simple.with(|it| it.of).filter(|_| board.n_nodes.get() > 0);
        board.loops.with(|rows| {
            let found = match of {
                Some(of) => rows.iter().find(|row| row.id == of),
                // Before anything has run: the one after which the scenario is called.
                None => rows.iter().max_by_key(|row| {
                    State::from(row.row.clone())
                        .with(|it| (it.last_active_ms, session.scenario.with_value(|name| *name == it.name)))
                }),
            };
            found.cloned().into_iter().collect::<Vec<LoopEntry>>()
        })
    });
    let cause = move || board.now.with(|now| now.as_ref().map_or_else(String::new, |it| it.because.clone()));
    let version = move || board.store.with(|it| it.resource_version).to_string();
    view! {
        <section class="em-part em-loop" aria-labelledby="h-em-loop">
            <h2 class="sr" id="h-em-loop">"One loop"</h2>
            <ol class="loop-list">
                {each(move || shown.get(), |row| row.id.0.to_string(), move |entry| loop_row(entry, shown))}
            </ol>
            <dl class="em-lines">
                <div><dt>"Cause"</dt><dd>{move || match cause() {
                    text if text.is_empty() => "…".to_owned(),
                    text => text,
                }}</dd></div>
                <div><dt>"API server"</dt><dd>"rv " {version}</dd></div>
            </dl>
        </section>
    }
}

fn actions(session: Session) -> View {
    let simple = session.board.simple;
    let has_any = move || simple.with(|it| it.victim.is_some() || it.target.is_some() || !it.node.is_empty());
    when(has_any, move || deeds(session))
}

/// Play, step, where in time we are, how fast, and from the start again.
fn time_row(session: Session, has_timeline: bool) -> View {
    let playing = session.transport.playing;
    let name = move || if playing.get() { "Pause" } else { "Play" };
    let invites = move || !session.transport.started.get();
    view! {
        <section class="timeline em-tr" aria-label="Time">
            <div class="keys" role="group" aria-label="Transport">
                <button
                    class="btn btn-icon btn-play" class:btn-main=invites type="button" title="Play or pause (K)" aria-label=name
                    on:click={move |_| session.toggle()}
                >{icon_when("i", playing, "#i-pause", "#i-play")}</button>
                <button
                    class="btn btn-icon" type="button" title="Previous event (,)" aria-label="Previous event"
                    on:click={move |_| session.step_back(StepBy::Event)}
                >{icon("i", "#i-back")}</button>
                <button
                    class="btn btn-icon" type="button" title="Next event (.)" aria-label="Next event"
                    on:click={move |_| session.step_on(StepBy::Event)}
                >{icon("i", "#i-step")}</button>
            </div>
            {(!has_timeline).then(|| view! { <div class="em-scrub">{timeline()}</div> })}
            <p class="clock"><span role="timer" aria-live="off" aria-label="Virtual time">{move || clock(session.transport.now_ms.get())}</span></p>
            {speed_choice()}
            <button
                class="btn btn-quiet btn-icon" type="button" title="To the start (Home)" aria-label="To the start"
                on:click={move |_| session.seek_start()}
            >{icon("i", "#i-restart")}</button>
        </section>
    }
}
