//! What somebody expects, asked for before anything happens.

use loopscope_engine::lesson::{Choice, Prediction, number_text, read_bet};
use web_sys::{Event, HtmlInputElement};

use super::words::sentence;
use crate::atoms::icon;
use crate::session::{Learning, Session};
use crate::ui::{State, View, view};

/// One in thousandths.
const ONE: i64 = 1_000;

pub fn bet(session: Session, learning: Learning, asked: &Prediction, lit: State<String>) -> View {
    let is_closed = move || !learning.can_bet.get();
    let field = match &asked.range {
        Some((least, most, unit)) => number(session, learning, (*least, *most), unit.clone()),
        None => asked.choices.iter().enumerate().map(|(at, it)| choice(session, learning, at, it, lit)).collect(),
    };
    let note = move || match (learning.can_bet.get(), learning.bet.with(Option::is_some)) {
        (true, false) => "Your bet, before you let it run",
        (true, true) => "Your bet is taken down",
        (false, true) => "Your bet stands",
        (false, false) => "You made no bet. Replay the step to make one",
    };
    view! {
        <fieldset class="bet" disabled=is_closed>
            <legend class="bet-ask">{sentence(&asked.question, lit)}</legend>
            {field}
            <p class="sub">{note}</p>
        </fieldset>
    }
}

/// A number with a button at each side.
fn number(session: Session, learning: Learning, (least, most): (i64, i64), unit: String) -> View {
    let now = learning.bet;
    let by = move |step: i64| {
        let next = now.get_untracked().map_or(least, |it| (it + step).clamp(least, most));
        session.bet(Some(next));
    };
    let change = move |event: Event| {
        let input: HtmlInputElement = leptos::prelude::event_target(&event);
        if let Some(bet) = read_bet(&input.value()) {
            session.bet(Some(bet.clamp(least, most)));
        } else if input.value().trim().is_empty() {
            session.bet(None);
        }
        // Refused: the field shows again what holds.
        input.set_value(&now.get_untracked().map(number_text).unwrap_or_default());
    };
    let text = move || now.get().map(number_text).unwrap_or_default();
    view! {
        <p class="bet-row">
            <span class="step" role="group" aria-label="Your bet">
                <button type="button" aria-label="One fewer" disabled={move || now.get().is_some_and(|it| it <= least)} on:click={move |_| by(-ONE)}>{icon("i i12", "#i-minus")}</button>
                <input type="text" inputmode="decimal" size="4" autocomplete="off" aria-label="Your bet" placeholder="?" prop:value=text on:change=change/>
                <button type="button" aria-label="One more" disabled={move || now.get().is_some_and(|it| it >= most)} on:click={move |_| by(ONE)}>{icon("i i12", "#i-plus")}</button>
            </span>
            <span>{unit}</span>
        </p>
    }
}

fn choice(session: Session, learning: Learning, at: usize, choice: &Choice, lit: State<String>) -> View {
    let value = (at as i64 + 1) * ONE;
    view! {
        <label class="bet-choice">
            <input
                type="radio" name="bet" prop:checked={move || learning.bet.get() == Some(value)}
                on:change={move |_| session.bet(Some(value))}
            />
            <span>{sentence(&choice.text, lit)}</span>
        </label>
    }
}
