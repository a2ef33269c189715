use gloo_timers::callback::Timeout;
use leptos::html::Div;
use leptos::prelude::*;

use crate::atoms::icon;
use crate::platform::active_element;
use crate::session::{Session, Toast, Tone, session};

/// So long a toast stays unless it has the focus, in wall ms.
const STAYS_MS: u32 = 8_000;

/// Short answers to what a person did.
#[component]
pub fn Toasts() -> impl IntoView {
    let session = session();
    view! {
        <div class="toasts" role="region" aria-label="Messages">
            <For each=move || session.toasts.get() key=|toast| toast.id children=|toast| view! { <ToastView toast/> }/>
        </div>
    }
    .into_any()
}

#[component]
fn ToastView(toast: Toast) -> impl IntoView {
    let session = session();
    let node = NodeRef::<Div>::new();
    let timer = StoredValue::new_local(None);
    leave_later(session, toast.id, node, timer);
    let is_error = toast.tone == Tone::Error;
    let role = if is_error { "alert" } else { "status" };
    view! {
        <div class="toast" class:toast-bad=is_error role=role node_ref=node>
            {is_error.then(|| icon("i", "#i-error"))}
            <span class="grow">{toast.text}</span>
            <button
                class="btn btn-s btn-icon" type="button" aria-label="Dismiss"
                on:click=move |_| session.dismiss(toast.id)
            >{icon("i i12", "#i-x")}</button>
        </div>
    }
}

/// Dismisses the toast after a while; again after a while when it has the focus then.
fn leave_later(session: Session, id: u32, node: NodeRef<Div>, timer: StoredValue<Option<Timeout>, LocalStorage>) {
    let timeout = Timeout::new(STAYS_MS, move || {
        let is_focused =
            node.try_get_untracked().flatten().is_some_and(|toast| toast.contains(active_element().as_deref()));
        if is_focused { leave_later(session, id, node, timer) } else { session.dismiss(id) }
    });
    let _ = timer.try_set_value(Some(timeout));
}
