//! How a step stands, and what came of it.

use std::rc::Rc;

use leptos::prelude::WithValue;
use loopscope_engine::lesson::{Explain, Prediction, Step, number_text};

use super::open_after;
use super::words::{prose, sentence};
use crate::atoms::{clock, icon, icon_of};
use crate::parts::deeds::Sheets;
use crate::session::{Came, Learning, Script, Session, Stand};
use crate::ui::{Content, State, View, view};

/// Whether the goal is met, and what is left of its time.
pub fn stand(learning: Learning) -> View {
    let stand = learning.stand;
    let words = move || match stand.get() {
        Stand::Reading => "",
        Stand::Met => "The goal is met",
        Stand::Late => "Its time is over. It can still be met, or replay the step",
        Stand::Before => "This is before the step began",
        Stand::Waiting(..) => "Waiting for the goal",
    };
    let left = move || match stand.get() {
        Stand::Waiting(left, _) => [span(left).as_str(), " left"].concat(),
        _ => String::new(),
    };
    let share = move || match stand.get() {
        Stand::Waiting(left, of) => (of.saturating_sub(left) * 100 / of.max(1)).to_string(),
        Stand::Reading | Stand::Before => "0".to_owned(),
        Stand::Met | Stand::Late => "100".to_owned(),
    };
    let shape = move || match stand.get() {
        Stand::Met => "#i-check",
        Stand::Late => "#i-warn",
        _ => "#ring-observe",
    };
    let is_waiting = move || matches!(stand.get(), Stand::Waiting(..));
    view! {
        <div class="waits" class:is-met={move || stand.get() == Stand::Met}>
            <p class="bet-row"><span class="waits-word" role="status">{icon_of(|| "i i14", shape)}<span>{words}</span></span><span class="strong">{left}</span></p>
            <progress class="meter" max="100" value=share aria-label="Time of this step" hidden={move || !is_waiting()}></progress>
        </div>
    }
}

/// `45 s`, `6 min 5 s`, `3 h`
fn span(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let mut parts = Vec::new();
    for (n, unit) in [(hours, " h"), (minutes, " min"), (seconds, " s")] {
        if n > 0 || (unit == " s" && parts.is_empty()) {
            parts.push([n.to_string().as_str(), unit].concat());
        }
    }
    parts.truncate(2);
    parts.join(" ")
}

/// What came of the step, once its goal was met.
pub fn came(
    session: Session,
    learning: Learning,
    sheets: Sheets,
    script: Rc<Script>,
    at: usize,
    lit: State<String>,
) -> View {
    View::Live(Box::new(move || {
        let step = script.course.steps.get(at).filter(|_| learning.at.get_untracked() == at);
        match (step, learning.came.get()) {
            (Some(step), Some(came)) => told(session, learning, sheets, step, &came, lit),
            _ => View::List(Vec::new()),
        }
    }))
}

fn told(session: Session, learning: Learning, sheets: Sheets, step: &Step, came: &Came, lit: State<String>) -> View {
    let bet = learning.bet.get_untracked();
    let verdict = step.prediction.as_ref().zip(came.answer).map(|(asked, answer)| verdict(asked, bet, answer, lit));
    let links: Vec<View> =
        step.explain.iter().zip(&came.events).filter_map(|(it, seq)| Some(link(session, it, (*seq)?))).collect();
    let links = (!links.is_empty()).then(|| {
        view! { <ul class="lesson-why" aria-label="What explains it">{links.into_iter().collect::<View>()}</ul> }
    });
    let when = ["met at ", clock(came.at_ms).as_str()].concat();
    let is_last = learning.at.get_untracked() + 1 == learning.script.with_value(|it| it.course.steps.len());
    let end = is_last.then(|| {
        let misconception = learning.script.with_value(|it| it.course.misconception.clone());
        let words = "That was the last step. What many believe, and you have seen otherwise: ";
        let next = move |_| open_after(session, sheets, learning.script.with_value(|it| it.id.clone()));
        view! {
            <p class="lesson-end">{words}<q>{misconception}</q></p>
            <p><button class="btn btn-s btn-main" type="button" on:click=next>"Next lesson"</button></p>
        }
    });
    view! {
        <div class="lesson-came" id="lesson-came">
            {verdict}
            <div class="prose">{prose(&step.then, lit)}</div>
            {links}
            {end}
            <p class="sub">{when}</p>
        </div>
    }
}

/// The bet beside what came.
fn verdict(asked: &Prediction, bet: Option<i64>, answer: i64, lit: State<String>) -> View {
    let words = |it: i64| match &asked.range {
        Some((_, _, unit)) => {
            let text = number_text(rounded(it));
            let unit = if text == "1" { unit.strip_suffix('s').unwrap_or(unit) } else { unit };
            [text.as_str(), " ", unit].concat()
        }
        None => {
            let at = usize::try_from(it / 1_000 - 1).unwrap_or(usize::MAX);
            asked.choices.get(at).map_or_else(String::new, |it| quoted(&it.text.plain()))
        }
    };
    let is_right = bet.is_some_and(|bet| asked.is_right(bet, answer));
    let is_as_told = asked.is_right(asked.answer, answer);
    let taken = bet.map_or_else(String::new, |bet| ["You bet ", &words(bet)].concat());
    let was = ["It was ", &words(answer), "."].concat();
    let said = match bet {
        Some(bet) if words(bet) == words(answer) => taken + ", and so it was.",
        // What the lesson says of it begins with the choice that came true.
        Some(_) if is_as_told && asked.range.is_none() => taken + ".",
        None if is_as_told && asked.range.is_none() => String::new(),
        Some(_) => [taken.as_str(), ". ", &was].concat(),
        None => was,
    };
    let shape = if is_right { "#i-check" } else { "#i-info" };
    let why = match (is_as_told, is_right) {
        (true, true) => sentence(&asked.right, lit),
        (true, false) => sentence(&asked.wrong, lit),
        (false, _) => {
            "That is not what the lesson expects: something else was done first. Replay the step to see it.".content()
        }
    };
    view! {
        <p class="verdict" class:is-right=is_right>{icon("i i14", shape)}<span><b>{said}</b>" "{why}</span></p>
    }
}

/// A choice inside of a sentence.
fn quoted(text: &str) -> String {
    ["\u{201c}", text.trim_end_matches('.'), "\u{201d}"].concat()
}

/// Of a number in thousandths as much as one would say: `50`, `2.3`, `0.03`.
fn rounded(it: i64) -> i64 {
    let to = match it.abs() {
        10_000.. => 1_000,
        1_000.. => 100,
        _ => 10,
    };
    (it + it.signum() * to / 2) / to * to
}

/// Leads to an event, and shows why it happened.
fn link(session: Session, explain: &Explain, seq: u64) -> View {
    let words = explain.text.plain();
    let title = ["Why: ", words.as_str()].concat();
    let go = move |_| {
        session.select_event(seq);
        session.follow_link(seq, title.clone());
    };
    view! { <li><button class="link" type="button" title="Goes to that moment, and shows its causes" on:click=go>{words.content()}</button></li> }
}
