use leptos::prelude::*;
use loopscope_engine::view::{CompareRow, Edit};
use web_sys::{Event, HtmlInputElement};

use super::part;
use crate::atoms::{icon, phrase};
use crate::session::{Session, Tone, session};
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
    let want = match edit {
        Some(Edit::Replicas(_)) => stepper(edit_now),
        Some(Edit::Image { .. }) => image_field(edit_now),
        None => (move || row.with(|row| phrase(&row.want))).content(),
    };
    let differs = move || if row.with(|row| row.is_off) { "delta" } else { "same" };
    view! {
        <tr class:is-off={move || row.with(|row| row.is_off)}>
            <th scope="row">{field}</th>
            <td class="want">{want}</td>
            <td class="is">{move || row.with(|row| phrase(&row.is))}</td>
            <td class=differs>{move || row.with(|row| row.differs.clone())}</td>
        </tr>
    }
}

/// `spec.replicas` of the selected object, as a number with a button at each side.
fn stepper(edit: Derived<Option<Edit>>) -> View {
    let session = session();
    let now = move || match edit.get() {
        Some(Edit::Replicas(n)) => n,
        _ => 0,
    };
    let change = move |event: Event| {
        let input: HtmlInputElement = event_target(&event);
        if let Ok(n) = input.value().trim().parse::<i32>() {
            scale(session, n);
        } else {
            session.toast("spec.replicas: expected a whole number", Tone::Error);
        }
        // Refused: the field shows again what is wanted.
        input.set_value(&untrack(now).to_string());
    };
    view! {
        <div class="step" role="group" aria-label="spec.replicas">
            <button
                type="button" aria-label="One replica fewer" disabled={move || now() <= 0}
                on:click={move |_| scale(session, untrack(now) - 1)}
            >{icon("i i12", "#i-minus")}</button>
            <input
                type="text" inputmode="numeric" size="4" autocomplete="off" aria-label="Replicas"
                prop:value={move || now().to_string()} on:change=change
            />
            <button type="button" aria-label="One replica more" on:click={move |_| scale(session, untrack(now) + 1)}>
                {icon("i i12", "#i-plus")}
            </button>
        </div>
    }
}

fn scale(session: Session, replicas: i32) {
    if let Some(key) = session.focus.selected.get_untracked() {
        session.scale(key, replicas);
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
