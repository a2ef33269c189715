use leptos::prelude::*;
use loopscope_engine::view::EventRow;
use web_sys::HtmlElement;

use super::rove::rove_rows;
use crate::atoms::{clock, icon, mark_icon, phrase, yes};
use crate::platform;
use crate::session::{Part, session};
use crate::ui::{At, Derived, View, each, effect, memo, view};

/// What happened, newest last, each with the event that caused it.
pub fn events_pane() -> View {
    let session = session();
    let events = session.focus.events;
    let list = At::<HtmlElement>::new();
    // Follows the newest event unless the person has scrolled up.
    let follows = StoredValue::new(true);
    let scrolled = move |_| {
        let at_end = list.get_untracked().is_none_or(|list| platform::is_near_end(&list, 48));
        follows.set_value(at_end);
    };
    effect(move || {
        events.track();
        if let Some(list) = list.get_untracked().filter(|_| follows.get_value()) {
            platform::next_frame(move || list.set_scroll_top(list.scroll_height()));
        }
    });
    let live = move || if session.transport.playing.get() { "off" } else { "polite" };
    let is_open = move || session.focus.pane.get() == Part::Events;
    let is_mid = move || session.focus.mid.get() == Part::Events;
    let selected = memo(move || session.focus.chain.with(|chain| chain.as_ref().map(|it| it.seq)));
    view! {
        <section class="pane pane-events" class:is-open=is_open class:is-mid=is_mid aria-labelledby="h-ev">
            <div class="pane-h"><h2 class="h" id="h-ev">"Events"</h2><span class="sub">"press one to see why it happened"</span></div>
            <div class="log" id="log" tabindex="0" role="log" aria-live=live aria-labelledby="h-ev" at=list on:scroll=scrolled on:keydown=rove_rows>
                <p class="empty-s" hidden={move || events.with(|it| !it.is_empty())}>"Nothing has happened yet."</p>
                <ol>
                    {each(move || events.get(), key, move |event| event_line(event, selected))}
                </ol>
            </div>
        </section>
    }
}

/// In another branch the same number is another event.
fn key(event: &EventRow) -> String {
    [event.seq.to_string().as_str(), " ", &event.time_ms.to_string(), " ", &event.who, &event.text.0].concat()
}

fn event_line(event: EventRow, selected: Derived<Option<u64>>) -> View {
    let session = session();
    let seq = event.seq;
    let (class, href) = mark_icon(event.mark);
    let is_on = move || yes(selected.get() == Some(seq));
    // Heartbeats and their like have no number: why shows them.
    let cause = event.cause.zip(event.cause_number).map(|(cause, number)| {
        let label = ["Caused by event ", number.to_string().as_str()].concat();
        view! {
            <button class="by" type="button" tabindex="-1" aria-label=label on:click={move |_| session.select_event(cause)}>"#" {number}</button>
        }
    });
    view! {
        <li class:is-you={event.is_yours}>
            <button class="what" type="button" tabindex="-1" aria-pressed=is_on on:click={move |_| session.select_event(seq)}>
                <span class="no">{event.number.unwrap_or_default()}</span>
                <span class="at">{clock(event.time_ms)}</span>
                {icon(class, href)}
                <span class="who">{event.who}</span>
                <span class="text">{phrase(&event.text)}</span>
            </button>
            {cause}
        </li>
    }
}
