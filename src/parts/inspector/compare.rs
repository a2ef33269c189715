use leptos::prelude::*;
use loopscope_engine::view::{Asked, CompareRow, Edit};
use loopscope_engine::world::Command;
use web_sys::{Event, HtmlInputElement};

use super::part;
use super::writers::owner_of;
use crate::atoms::{phrase, yes};
use crate::parts::stepper;
use crate::session::session;
use crate::ui::{Content, Derived, View, each, memo, view, when};

/// What is wanted beside what is, field by field.
pub fn compare() -> View {
    let rows = part(session(), |it| it.rows.clone());
    view! {
        {when(move || rows.with(|rows| !rows.is_empty()), move || table(rows))}
    }
}

fn table(rows: Derived<Vec<CompareRow>>) -> View {
    let caption = part(session(), |it| [it.title.as_str(), ": spec beside status"].concat());
    let kind = |row: &CompareRow| match row.edit {
        None => "",
        Some(Edit::Replicas(_)) => "#",
        Some(Edit::Image { .. }) => "=",
        Some(Edit::Paused(_)) => "!",
    };
    view! {
            <table class="cmp">
                <caption class="sr">{move || caption.get()}</caption>
                <thead>
                    <tr>
                        <th scope="col">"Field"</th><th scope="col" class="want">"Spec, want"</th>
                        <th scope="col" class="is">"Status, is"</th><th scope="col">"Differs"</th>
                    </tr>
                </thead>
                <tbody>
                    {each(move || rows.get(), move |row| [kind(row), row.field.as_str()].concat(), move |first| line(first, rows))}
                </tbody>
            </table>
    }
}

fn line(first: CompareRow, rows: Derived<Vec<CompareRow>>) -> View {
    let field = first.field.clone();
    let edit = first.edit.clone();
    let row = memo(move || {
        let found = rows.with(|rows| rows.iter().find(|row| row.field == first.field).cloned());
        found.unwrap_or_else(|| first.clone())
    });
    let edit_now = memo(move || row.with(|row| row.edit.clone()));
    let owner = owner_of(edit.clone());
    let want = match edit {
        Some(Edit::Replicas(_)) => {
            let now = memo(move || edit_now.with(|it| if let Some(Edit::Replicas(n)) = it { *n } else { 0 }));
            stepper(now, |session| session.focus.selected.get_untracked())
        }
        Some(Edit::Image { .. }) => image_field(edit_now),
        Some(Edit::Paused(_)) => {
            paused_switch(memo(move || edit_now.with(|it| matches!(it, Some(Edit::Paused(true))))))
        }
        None => (move || row.with(|row| phrase(&row.want))).content(),
    };
    let session = session();
    let is_gone = part(session, |it| it.gone.is_some());
    let ask = move |_| {
        let CompareRow { field, is, .. } = row.get_untracked();
        let title = ["Why is ", field.as_str(), ": ", &is.plain(), "?"].concat();
        if let Some(key) = session.focus.selected.get_untracked() {
            session.ask(&key, &Asked::Row(field), title);
        }
    };
    let differs = move || if row.with(|row| row.is_off) { "delta" } else { "same" };
    view! {
        <tr class:is-off={move || row.with(|row| row.is_off)}>
            <th scope="row">{field}</th>
            <td class="want">{want}{owner}</td>
            <td class="is">
                <button class="ask" type="button" title="Why? Shows what made it so" disabled={move || is_gone.get() || session.is_embedded} on:click=ask>
                    {move || row.with(|row| phrase(&row.is))}
                </button>
            </td>
            <td class=differs>{move || row.with(|row| row.differs.clone())}</td>
        </tr>
    }
}

/// `spec.paused`
fn paused_switch(on: Derived<bool>) -> View {
    let session = session();
    let change = move |_| {
        if let Some(key) = session.focus.selected.get_untracked() {
            session.act(Command::Pause { target: (&key).into(), on: !on.get_untracked() });
        }
    };
    view! {
        <button class="btn btn-s" type="button" role="switch" aria-checked={move || yes(on.get())} aria-label="spec.paused" on:click=change>
            {move || yes(on.get())}
        </button>
    }
}

/// A container's image.
fn image_field(edit: Derived<Option<Edit>>) -> View {
    let session = session();
    let parts = move || match edit.get() {
        Some(Edit::Image { container, image }) => (container, image),
        _ => Default::default(),
    };
    let label = move || ["Image of container ", parts().0.as_str()].concat();
    let change = move |event: Event| {
        let input: HtmlInputElement = event_target(&event);
        let (container, image) = untrack(parts);
        let wanted = input.value().trim().to_owned();
        if let Some(key) = session.focus.selected.get_untracked().filter(|_| !wanted.is_empty() && wanted != image) {
            session.set_image(key, container, wanted);
        }
        input.set_value(&untrack(parts).1);
    };
    view! {
        <input
            class="field field-s mono" type="text" autocomplete="off" spellcheck="false" aria-label=label
            prop:value={move || parts().1} on:change=change
        />
    }
}
