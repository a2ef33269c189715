use leptos::prelude::*;
use loopscope_engine::view::{PodClass, PodRow};

use crate::atoms::{Dial, icon_of, pod_icon, pod_tile, yes};
use crate::session::{PodEntry, session};

/// One pod: a shape, its name and its state's word; a bare shape where there are many.
#[component]
pub fn PodView(
    /// The pod.
    pod: PodEntry,
) -> impl IntoView {
    let session = session();
    let PodEntry { uid, row } = pod;
    let row = RwSignal::from(row);
    let compact = session.board.compact;
    let class = Memo::new(move |_| row.with(|row| row.class));
    let is_pressed = move || {
        let selected = session.focus.selected.read();
        yes(selected.as_ref().is_some_and(|key| row.with(|row| row.key == *key)))
    };
    let is_rover = move || if session.board.rover.get() == Some(uid) { "0" } else { "-1" };
    let shape = icon_of(
        move || pod_icon(class.get()).0,
        move || if compact.get() { pod_tile(class.get()) } else { pod_icon(class.get()).1 },
    );
    view! {
        <li>
            <button
                class="pod" class:is-yours=move || row.with(|row| row.is_yours) type="button" data-uid=uid.to_string()
                tabindex=is_rover aria-pressed=is_pressed aria-label=move || row.with(|row| row.label.clone())
                on:focus=move |_| session.board.rover.set(Some(uid))
                on:click=move |_| session.select(row.with_untracked(|row| row.key.clone()))
            >
                {shape}
                <Show when=move || !compact.get()><Label row/></Show>
            </button>
        </li>
    }
    .into_any()
}

#[component]
fn Label(row: RwSignal<PodRow>) -> impl IntoView {
    let countdown = Signal::derive(move || row.with(|row| row.countdown));
    let dial = Signal::derive(move || match row.with(|row| row.class) {
        PodClass::Creating => "dial s-creating",
        PodClass::NotReady => "dial s-notready",
        PodClass::Terminating => "dial s-terminating",
        PodClass::CrashLoop | PodClass::ImageError | PodClass::Failed => "dial s-bad",
        _ => "dial",
    });
    view! {
        <span class="mono"><i>{move || row.with(|row| row.stem.clone())}</i>{move || row.with(|row| row.tail.clone())}</span>
        <span class="pod-word">
            <Show when=move || countdown.get().is_some()><Dial left=countdown class=dial/></Show>
            {move || row.with(|row| row.word.clone())}
        </span>
    }
}
