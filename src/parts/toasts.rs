use gloo_timers::callback::Timeout;
use leptos::prelude::*;
use web_sys::Element;

use super::deeds::Sheets;
use crate::atoms::icon;
use crate::opening::take_back;
use crate::platform::active_element;
use crate::session::{Session, Toast, Tone, session};
use crate::ui::{At, View, each, effect, view, when};

/// So long a toast stays unless it has the focus, in wall ms.
const STAYS_MS: u32 = 8_000;

/// Short answers to what a person did.
pub fn toasts(sheets: Sheets) -> View {
    let session = session();
    view! {
        <div class="toasts" role="region" aria-label="Messages">
            {when(move || session.past.offer.with(Option::is_some), offer)}
            {when(move || session.past.before.with(Option::is_some), move || before(sheets))}
            {each(move || session.toasts.get(), |toast| toast.id.to_string(), toast_view)}
        </div>
    }
}

/// The steps from before a reload: nothing of them is done unless it is wanted, and it is there until something else is done.
fn offer() -> View {
    let session = session();
    let what = move || session.past.offer.get().unwrap_or_default();
    effect(move || {
        if session.was_acted_in() {
            session.past.offer.put(None);
        }
    });
    view! {
        <div class="toast" role="status">
            <span class="grow">"Restore what you did before the reload? (" {what} ")"</span>
            <button class="btn btn-s" type="button" on:click={move |_| session.take_offer()}>"Restore"</button>
            <button class="btn btn-s btn-icon" type="button" aria-label="Dismiss" on:click={move |_| session.drop_offer()}>
                {icon("i i12", "#i-x")}
            </button>
        </div>
    }
}

/// What was open before this scenario was begun: there until something is done in this one.
fn before(sheets: Sheets) -> View {
    let session = session();
    effect(move || {
        if session.was_acted_in() {
            session.past.before.put(None);
        }
    });
    let what = move || session.past.before.get().unwrap_or_default();
    let back = move |_| {
        session.pause();
        take_back(sheets.stage);
    };
    view! {
        <div class="toast" role="status">
            <span class="grow">{what}" was open, and is kept as you left it."</span>
            <button class="btn btn-s" type="button" on:click=back>"Undo"</button>
            <button class="btn btn-s btn-icon" type="button" aria-label="Dismiss" on:click={move |_| session.past.before.put(None)}>
                {icon("i i12", "#i-x")}
            </button>
        </div>
    }
}

fn toast_view(toast: Toast) -> View {
    let session = session();
    let node = At::<Element>::new();
    let timer = StoredValue::new_local(None);
    leave_later(session, toast.id, node, timer);
    let is_error = toast.tone == Tone::Error;
    let role = if is_error { "alert" } else { "status" };
    view! {
        <div class="toast" class:toast-bad=is_error role=role at=node>
            {is_error.then(|| icon("i", "#i-error"))}
            <span class="grow">{toast.text}</span>
            <button
                class="btn btn-s btn-icon" type="button" aria-label="Dismiss"
                on:click={move |_| session.dismiss(toast.id)}
            >{icon("i i12", "#i-x")}</button>
        </div>
    }
}

/// Dismisses the toast after a while; again after a while when it has the focus then.
fn leave_later(session: Session, id: u32, node: At<Element>, timer: StoredValue<Option<Timeout>, LocalStorage>) {
    let timeout = Timeout::new(STAYS_MS, move || {
        let is_focused = node.get_untracked().is_some_and(|toast| toast.contains(active_element().as_deref()));
        if is_focused { leave_later(session, id, node, timer) } else { session.dismiss(id) }
    });
    let _ = timer.try_set_value(Some(timeout));
}
