use loopscope_engine::api::{ObjectKey, Uid};
use loopscope_engine::view::{PodClass, PodRow};

use crate::atoms::{dial, icon, icon_of, pod_icon, yes};
use crate::session::{PodEntry, Session, session};
use crate::ui::{State, View, memo, view, when};

/// One pod: a shape, its name and its state's word.
pub fn pod_view(pod: PodEntry) -> View {
    let session = session();
    let PodEntry { uid, row } = pod;
    let row = State::from(row);
    let class = memo(move || row.with(|row| row.class));
    let is_pressed = move || {
        let is_selected = |key: &ObjectKey| row.with(|row| row.key == *key);
        yes(session.focus.selected.with(|selected| selected.as_ref().is_some_and(is_selected)))
    };
    let shape = icon_of(move || pod_icon(class.get()).0, move || pod_icon(class.get()).1);
    view! {
        <li>
            <button
                class="pod" class:is-yours={move || row.with(|row| row.is_yours)} type="button" data-uid={uid.to_string()}
                tabindex={rover(uid)} aria-pressed=is_pressed aria-label={move || row.with(|row| row.label.clone())}
                on:focus={move |_| session.board.rover.set(Some(uid))}
                on:click={move |_| session.select(row.with_untracked(|row| row.key.clone()))}
            >
                {shape}
                {label(row)}
            </button>
        </li>
    }
}

/// Tab leads to one pod only, arrows to the others.
pub fn rover(uid: Uid) -> impl Fn() -> &'static str {
    let rover = session().board.rover;
    move || if rover.get() == Some(uid) { "0" } else { "-1" }
}

fn label(row: State<PodRow>) -> View {
    let session = session();
    let countdown = move || row.with(|row| row.countdown);
    let ends = move || match row.with(|row| row.class) {
        PodClass::Creating => "dial s-creating",
        PodClass::NotReady => "dial s-notready",
        PodClass::Terminating => "dial s-terminating",
        PodClass::CrashLoop | PodClass::ImageError | PodClass::Failed => "dial s-bad",
        _ => "dial",
    };
    view! {
        <span class="mono">
            <i>{move || row.with(|row| row.stem.trim_end_matches('…').to_owned())}</i>
            {move || row.with(|row| elided(row).map(|text| view! { <s>{text}</s> }))}
            {move || row.with(|row| row.tail.clone())}
        </span>
        " "
        <span class="pod-word">
            {when(move || countdown().is_some(), move || dial(countdown, ends))}
            {move || row.with(|row| row.word.clone())}
        </span>
        " "
        {reported(move || row.with(|row| row.reported.clone()))}
        " "
        {move || place(session, row)}
    }
}

/// Where the cards are workloads, each pod says its node.
fn place(session: Session, row: State<PodRow>) -> Option<View> {
    super::is_by_owner(session).then(|| view! { <span class="pod-node">{node_name(row)}</span> })
}

pub fn node_name(row: State<PodRow>) -> String {
    row.with(|row| if row.node.is_empty() { "no node".to_owned() } else { row.node.to_string() })
}

/// Marks what is not as the API server reports it.
pub fn reported(text: impl Fn() -> Option<String> + 'static) -> View {
    let mark = move || text().map(|text| view! { <span class="unlike">{icon("i i12", "#ph-diff")}{text}</span> });
    view! { {mark} }
}

/// The middle of the name, for which the sheet draws dots: what is seen is then part of what is said.
fn elided(row: &PodRow) -> Option<String> {
    let stem = row.stem.strip_suffix('…')?;
    let middle = row.key.name.strip_prefix(stem)?.strip_suffix(&*row.tail)?;
    Some(middle.to_owned())
}
