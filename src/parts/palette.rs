use leptos::prelude::event_target_value;
use wasm_bindgen::JsCast;
use web_sys::{Event, KeyboardEvent};

use super::deeds::{DEEDS, Sheets, key_words};
use super::sheet::sheet;
use crate::atoms::yes;
use crate::platform;
use crate::session::session;
use crate::ui::{State, View, each, effect, memo, view};

/// Every command by its name: type some letters, choose with the arrows, Enter.
pub fn palette(sheets: Sheets) -> View {
    let session = session();
    let open = sheets.palette;
    let dialog = sheet(open);
    let typed = State::new(String::new());
    let at = State::new(0_usize);
    let found = memo(move || typed.with(|typed| find(typed)));
    let chosen = memo(move || found.with(|found| found.get(at.get()).copied()));
    let run = move |index: usize| {
        // Closed first: that gives the focus back, and the command may want it elsewhere.
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
        if let Some(run) = DEEDS.get(index).and_then(|deed| deed.run) {
            run(session, sheets);
        }
    };
    let on_key = move |event: Event| {
        let Some(key) = event.dyn_ref::<KeyboardEvent>().map(KeyboardEvent::key) else { return };
        let (n, now) = (found.get_untracked().len(), at.get_untracked());
        match key.as_str() {
            "ArrowDown" if n > 0 => at.put((now + 1) % n),
            "ArrowUp" if n > 0 => at.put((now + n - 1) % n),
            "Enter" => {
                if let Some(index) = chosen.get_untracked() {
                    run(index);
                }
            }
            _ => return,
        }
        event.prevent_default();
    };
    effect(move || {
        if open.get() {
            typed.put(String::new());
            at.put(0);
        }
    });
    effect(move || {
        if let Some(index) = chosen.get() {
            platform::show(&id(index));
        }
    });
    let type_in = move |event: Event| {
        typed.put(event_target_value(&event));
        at.put(0);
    };
    let row = move |index: usize| {
        let deed = &DEEDS[index];
        let key = deed.keys.first().map(|key| view! { <kbd>{key_words(key)}</kbd> });
        view! {
            <li
                role="option" id={id(index)} aria-selected={move || yes(chosen.get() == Some(index))}
                on:click={move |_| run(index)}
            ><span class="grow">{deed.name}</span>{key}</li>
        }
    };
    let is_empty = move || found.with(Vec::is_empty);
    view! {
        <dialog class="dialog palette" aria-label="Commands" at=dialog on:close={move |_| open.put(false)}>
            <input
                class="field" type="text" role="combobox" aria-label="Command" aria-expanded="true" aria-autocomplete="list"
                aria-controls="palette-list" aria-activedescendant={move || chosen.get().map(id)} autocomplete="off"
                spellcheck="false" placeholder="Type a command" prop:value={move || typed.get()} on:input=type_in on:keydown=on_key
            />
            <ul role="listbox" id="palette-list" aria-label="Commands" hidden=is_empty>
                {each(move || found.get(), |index| index.to_string(), row)}
            </ul>
            <p class="sub" role="status">{move || if is_empty() { "No command has these words." } else { "" }}</p>
        </dialog>
    }
}

fn id(index: usize) -> String {
    ["deed-", index.to_string().as_str()].concat()
}

/// The commands whose name has all the typed words.
fn find(typed: &str) -> Vec<usize> {
    let typed = typed.to_ascii_lowercase();
    let fits = |name: &str| {
        let name = name.to_ascii_lowercase();
        typed.split_ascii_whitespace().all(|word| name.contains(word))
    };
    let fitting = DEEDS.iter().enumerate().filter(|(_, deed)| deed.run.is_some() && fits(deed.name));
    fitting.map(|(index, _)| index).collect()
}
