use leptos::prelude::*;
use loopscope_engine::view::{CompareRow, Edit};
use web_sys::HtmlInputElement;

use super::part;
use crate::atoms::{icon, phrase};
use crate::session::{Session, Tone, session};

/// What is wanted beside what is, field by field.
#[component]
pub fn Compare() -> impl IntoView {
    let session = session();
    let rows = part(session, |it| it.rows.clone());
    let caption = part(session, |it| [it.title.as_str(), ": spec beside status"].concat());
    let kind = |row: &CompareRow| match row.edit {
        None => 0,
        Some(Edit::Replicas(_)) => 1,
        Some(Edit::Image { .. }) => 2,
    };
    view! {
        <Show when=move || rows.with(|rows| !rows.is_empty())>
            <table class="cmp">
                <caption class="sr">{move || caption.get()}</caption>
                <thead>
                    <tr>
                        <th scope="col">"Field"</th><th scope="col" class="want">"Spec, want"</th>
                        <th scope="col" class="is">"Status, is"</th><th scope="col">"Differs"</th>
                    </tr>
                </thead>
                <tbody>
                    <For
                        each=move || rows.get() key=move |row| (row.field.clone(), kind(row))
                        children=move |first| view! { <Row first rows/> }
                    />
                </tbody>
            </table>
        </Show>
    }
    .into_any()
}

#[component]
fn Row(first: CompareRow, rows: Memo<Vec<CompareRow>>) -> impl IntoView {
    let field = first.field.clone();
    let edit = first.edit.clone();
    let row = Memo::new(move |_| {
        let found = rows.with(|rows| rows.iter().find(|row| row.field == first.field).cloned());
        found.unwrap_or_else(|| first.clone())
    });
    let edit_now = Memo::new(move |_| row.with(|row| row.edit.clone()));
    let want = match edit {
        Some(Edit::Replicas(_)) => view! { <Stepper edit=edit_now/> }.into_any(),
        Some(Edit::Image { .. }) => view! { <ImageField edit=edit_now/> }.into_any(),
        None => (move || row.with(|row| phrase(&row.want))).into_any(),
    };
    let differs = move || if row.with(|row| row.is_off) { "delta" } else { "same" };
    view! {
        <tr class:is-off=move || row.with(|row| row.is_off)>
            <th scope="row">{field}</th>
            <td class="want">{want}</td>
            <td class="is">{move || row.with(|row| phrase(&row.is))}</td>
            <td class=differs>{move || row.with(|row| row.differs.clone())}</td>
        </tr>
    }
    .into_any()
}

/// `spec.replicas` of the selected object, as a number with a button at each side.
#[component]
fn Stepper(edit: Memo<Option<Edit>>) -> impl IntoView {
    let session = session();
    let now = move || match edit.get() {
        Some(Edit::Replicas(n)) => n,
        _ => 0,
    };
    let change = move |event| {
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
                type="button" aria-label="One replica fewer" disabled=move || now() <= 0
                on:click=move |_| scale(session, untrack(now) - 1)
            >{icon("i i12", "#i-minus")}</button>
            <input
                type="text" inputmode="numeric" size="4" autocomplete="off" aria-label="Replicas"
                prop:value=move || now().to_string() on:change=change
            />
            <button type="button" aria-label="One replica more" on:click=move |_| scale(session, untrack(now) + 1)>
                {icon("i i12", "#i-plus")}
            </button>
        </div>
    }
    .into_any()
}

fn scale(session: Session, replicas: i32) {
    if let Some(key) = session.focus.selected.get_untracked() {
        session.scale(key, replicas);
    }
}

/// A container's image.
#[component]
fn ImageField(edit: Memo<Option<Edit>>) -> impl IntoView {
    let session = session();
    let parts = move || match edit.get() {
        Some(Edit::Image { container, image }) => (container, image),
        _ => Default::default(),
    };
    let label = move || ["Image of container ", parts().0.as_str()].concat();
    let change = move |event| {
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
            prop:value=move || parts().1 on:change=change
        />
    }
    .into_any()
}
