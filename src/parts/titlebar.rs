use leptos::prelude::*;
use loopscope_engine::sim::sort_by;
use loopscope_engine::view::{Asked, Convergence, PodClass, Summary};
use loopscope_engine::world::Scenario;
use web_sys::{Event, HtmlInputElement};

use super::deeds::Sheets;
use super::opened::open_anew;
use crate::atoms::{icon, icon_of, pod_icon, signed, yes};
use crate::platform;
use crate::session::{Session, session};
use crate::ui::{Derived, State, View, memo, view};

/// What is wanted, what is, and the difference: the first thing one reads.
pub fn title_bar(sheets: Sheets) -> View {
    let session = session();
    view! {
        <header class="bar">
            <a class="skip" href="#map">"Skip to simulation"</a>
            <h1 class="brand">{icon("i i20", "#brand")}<span>"Loopscope"</span></h1>
            <div class="bar-mid">
                {scenarios(session, sheets)}
                {readout()}
            </div>
            {tools(sheets)}
        </header>
    }
}

/// The scenario that is open; another one begins anew.
fn scenarios(session: Session, sheets: Sheets) -> View {
    let name = session.scenario.get_value();
    let choose = move |event: Event| {
        let select: HtmlInputElement = event_target(&event);
        let chosen = select.value();
        select.set_value(&session.scenario.get_value());
        session.with_all(move || open_anew(session, sheets, &chosen));
    };
    let option = |name: &str, open: &str| {
        let is_open = name == open;
        let name = name.to_owned();
        view! { <option selected=is_open>{name}</option> }
    };
    let own = Scenario::CATALOG.iter().all(|it| it.name != name).then(|| option(&name, &name));
    let all = Scenario::CATALOG.iter().map(|it| option(it.name, &name)).collect::<View>();
    view! {
        <span class="pick scenario" title={name.clone()}><select aria-label="Scenario" on:change=choose>{own}{all}</select>{icon("i i12", "#i-down")}</span>
    }
}

fn readout() -> View {
    let summary = session().board.summary;
    let is_off = move || summary.with(|it| it.difference() != 0);
    let wants = move || {
        summary.with(|it| {
            let verb = if it.subject.ends_with(" workloads") { " want" } else { " wants" };
            [it.subject.as_str(), verb].concat()
        })
    };
    view! {
        <section class="readout" aria-label="Want and is">
            <dl class="ro">
                <div><dt>{wants}</dt><dd>{number(|it| it.want, Asked::Wanted, "wanted")}</dd></div>
                <div><dt>"ready now"</dt><dd>{number(|it| it.ready, Asked::Ready, "ready")}</dd></div>
                <div class="ro-delta" class:is-off=is_off>
                    <dt>"difference"</dt><dd>{move || signed(summary.with(Summary::difference))}</dd>
                </div>
            </dl>
            <div class="ro-state">{state()}{shapes()}</div>
        </section>
    }
}

/// A number of the only workload, which says why when it is pressed; of many workloads just the number. No stop for Tab:
/// the inspector asks the same.
fn number(read: fn(&Summary) -> i32, asked: Asked, word: &'static str) -> View {
    let session = session();
    let summary = session.board.summary;
    let text = memo(move || summary.with(read).to_string());
    let is_one = memo(move || {
        !session.is_simple.get() && summary.with(|it| !it.subject.is_empty() && !it.subject.ends_with(" workloads"))
    });
    let ask = move |_| session.ask_first(&asked, ["Why are ", text.get_untracked().as_str(), " ", word, "?"].concat());
    view! {
        <button class="ask" type="button" tabindex="-1" title="Why? Shows what made it so" disabled={move || !is_one.get()} on:click=ask>{move || text.get()}</button>
    }
}

/// Whether all is as wanted, in a word.
pub fn state() -> View {
    let summary = session().board.summary;
    let state = memo(move || summary.with(|it| it.convergence));
    let class = move || match state.get() {
        Convergence::Converged => "i s-ready",
        Convergence::Stuck => "i s-bad",
        _ => "i",
    };
    let shape = move || match state.get() {
        Convergence::Empty => "#ring-idle",
        Convergence::Converged => "#i-check",
        Convergence::Converging => "#ring-act",
        Convergence::Stuck => "#i-error",
    };
    let word = move || match state.get() {
        Convergence::Empty => "Nothing asked for",
        Convergence::Converged => "Converged",
        Convergence::Converging => "Converging",
        Convergence::Stuck => "Stuck",
    };
    let stuck = memo(move || summary.with(|it| it.stuck.clone()));
    let why = move || {
        stuck.with(|it| it.as_ref().map(|it| view! { ": " {it.why.clone()} <small class="sub">{it.remedy}</small> }))
    };
    view! {
        <p class="ro-word" class:is-stuck={move || stuck.with(Option::is_some)}>{icon_of(class, shape)}<span>{word}{why}</span></p>
    }
}

/// One shape for each wanted replica.
fn shapes() -> View {
    let summary = session().board.summary;
    let slots = memo(move || summary.with(|it| (it.slots.clone(), it.more_slots)));
    let label = move || slots.with(|(slots, _)| counts(slots));
    let list = move || {
        slots.with(|(slots, _)| {
            let shape = |class: &PodClass| {
                let (class, href) = pod_icon(*class);
                view! { <li>{icon(class, href)}</li> }
            };
            slots.iter().map(shape).collect::<View>()
        })
    };
    let more = move || slots.with(|(_, more)| (*more > 0).then(|| ["+", more.to_string().as_str()].concat()));
    view! {
        <ul class="slots" aria-label=label>{list}</ul>
        {move || more().map(|text| view! { <span class="sub">{text}</span> })}
    }
}

/// `3 ready, 1 creating`
fn counts(slots: &[PodClass]) -> String {
    let mut sorted = slots.to_vec();
    sort_by(&mut sorted, Ord::cmp);
    let parts: Vec<String> = sorted
        .chunk_by(|a, b| a == b)
        .map(|run| [run.len().to_string().as_str(), " ", run.first().copied().map_or("", PodClass::name)].concat())
        .collect();
    parts.join(", ")
}

/// Undo is to rewind, redo to go forward again.
fn undo_redo() -> View {
    let session = session();
    let steps = session.past.steps;
    let last = memo(move || steps.with(|steps| steps.iter().rfind(|it| !it.is_to_come).map(|it| it.words.plain())));
    let next = memo(move || steps.with(|steps| steps.iter().find(|it| it.is_to_come).map(|it| it.words.plain())));
    let label = |verb: &'static str, of: Derived<Option<String>>| {
        move || of.with(|of| of.as_ref().map_or_else(|| verb.to_owned(), |words| [verb, ": ", words].concat()))
    };
    view! {
        <button
            class="btn btn-quiet btn-icon" type="button" aria-label={label("Undo", last)} title="Rewind to before the last thing that you did (Ctrl+Z, U)"
            disabled={move || last.with(Option::is_none)} on:click={move |_| session.undo()}
        >{icon("i", "#i-undo")}</button>
        <button
            class="btn btn-quiet btn-icon" type="button" aria-label={label("Redo", next)} title="Forward to the next thing that you did (Ctrl+Shift+Z)"
            disabled={move || next.with(Option::is_none)} on:click={move |_| session.redo()}
        >{icon("i", "#i-redo")}</button>
    }
}

fn tools(sheets: Sheets) -> View {
    let session = session();
    let simple = session.is_simple;
    let is_work = move || !simple.get() && !session.twins.are_shown.get();
    let dark = State::new(platform::theme_is_dark());
    // Until it is switched, the theme is the system's, and that may change while the page is open.
    platform::on_change("(prefers-color-scheme: dark)", move || dark.put(platform::theme_is_dark()));
    let switch = move |_: Event| {
        let now_dark = !platform::theme_is_dark();
        platform::set_theme(now_dark);
        dark.set(now_dark);
    };
    view! {
        <div class="tools" role="group" aria-label="Tools">
            {undo_redo()}
            <button class="btn" type="button" title="Simple view or workspace (V)" on:pointerenter={|_| platform::want_rest()}
                on:click={move |_| session.with_all(move || session.switch_view())}>
                {move || if is_work() { "Simple view" } else { "Open the workspace" }}
            </button>
            <button
                id="theme" class="btn btn-quiet" type="button" title="Dark theme (D)" aria-label="Dark theme"
                aria-pressed={move || yes(dark.get())} on:click=switch
            >{icon("i", "#i-theme")}<span aria-hidden="true">"Theme"</span></button>
            <button class="btn btn-quiet" type="button" title="Lessons (L)" on:click={move |_| session.with_all(move || sheets.lessons.put(true))}>
                {icon("i", "#i-learn")}<span>"Lessons"</span>
            </button>
            <button class="btn btn-quiet" type="button" title="Link to this moment, files, pictures" on:click={move |_| session.with_all(move || sheets.share.put(true))}>
                {icon("i", "#i-share")}<span>"Share"</span>
            </button>
            <button class="btn btn-quiet" type="button" title="Help (?)" on:click={move |_| session.with_all(move || sheets.help.set(true))}>
                {icon("i", "#i-help")}<span>"Help"</span>
            </button>
        </div>
    }
}
