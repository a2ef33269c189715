use leptos::prelude::event_target_value;
use loopscope_engine::api::Kind;
use loopscope_engine::world::Command;
use wasm_bindgen::JsCast;
use web_sys::{Event, KeyboardEvent};

use super::deeds::{DEEDS, Sheets, key_words};
use super::inspector::deeds_on;
use super::sheet::sheet;
use crate::atoms::yes;
use crate::platform;
use crate::session::{Session, session};
use crate::ui::{State, View, each, effect, memo, view};

/// Something that can be done, in words.
#[derive(Clone, PartialEq)]
struct Choice {
    /// Its index in the list of deeds; beyond those, what is done to an object.
    n: usize,
    words: String,
}

/// Every command by its name, and what can be done to the selected object and to nodes: type some letters, choose with the
/// arrows, Enter.
pub fn palette(sheets: Sheets) -> View {
    let session = session();
    let open = sheets.palette;
    let dialog = sheet(open);
    let typed = State::new(String::new());
    let at = State::new(0_usize);
    let found = memo(move || if open.get() { typed.with(|typed| find(session, typed)) } else { Vec::new() });
    let chosen = memo(move || found.with(|found| found.get(at.get()).map(|choice| choice.n)));
    let run = move |n: usize| {
        let act = found.get_untracked().into_iter().find(|choice| choice.n == n && n >= DEEDS.len());
        // Closed first: that gives the focus back, and the command may want it elsewhere.
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
        let all = act.map(|act| (act.words, typed.with_untracked(|typed| on_objects(session, number_in(typed)))));
        match all {
            Some((words, all)) => {
                if let Some((_, command)) = all.into_iter().find(|(known, _)| *known == words) {
                    session.meddle(command);
                }
            }
            None => DEEDS.get(n).and_then(|deed| deed.run).into_iter().for_each(|run| run(session, sheets)),
        }
    };
    let on_key = move |event: Event| {
        let Some(key) = event.dyn_ref::<KeyboardEvent>().map(KeyboardEvent::key) else { return };
        let (n, now) = (found.get_untracked().len(), at.get_untracked());
        match key.as_str() {
            "ArrowDown" if n > 0 => at.put((now + 1) % n),
            "ArrowUp" if n > 0 => at.put((now + n - 1) % n),
            "Enter" => {
                if let Some(n) = chosen.get_untracked() {
                    run(n);
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
        if let Some(n) = chosen.get() {
            platform::show(&id(n));
        }
    });
    let type_in = move |event: Event| {
        typed.put(event_target_value(&event));
        at.put(0);
    };
    let row = move |choice: Choice| {
        let n = choice.n;
        let key = DEEDS.get(n).and_then(|deed| deed.keys.first()).map(|key| view! { <kbd>{key_words(key)}</kbd> });
        view! {
            <li
                role="option" id={id(n)} aria-selected={move || yes(chosen.get() == Some(n))} on:click={move |_| run(n)}
            ><span class="grow">{choice.words}</span>{key}</li>
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
                {each(move || found.get(), |choice| choice.words.clone(), row)}
            </ul>
            <p class="sub" role="status">{move || if is_empty() { "No command has these words." } else { "" }}</p>
        </dialog>
    }
}

fn id(n: usize) -> String {
    ["deed-", n.to_string().as_str()].concat()
}

/// The commands whose name has all the typed words.
fn find(session: Session, typed: &str) -> Vec<Choice> {
    let typed = typed.to_ascii_lowercase();
    let fits = |words: &str| {
        let words = words.to_ascii_lowercase();
        typed.split_ascii_whitespace().all(|word| words.contains(word))
    };
    let listed = DEEDS.iter().enumerate().filter(|(_, deed)| deed.run.is_some());
    let mut found: Vec<Choice> = listed.map(|(n, deed)| Choice { n, words: deed.name.to_owned() }).collect();
    let acts = on_objects(session, number_in(&typed));
    found.extend(acts.into_iter().enumerate().map(|(n, (words, _))| Choice { n: DEEDS.len() + n, words }));
    found.retain(|choice| fits(&choice.words));
    found
}

fn number_in(typed: &str) -> Option<i32> {
    typed.split_ascii_whitespace().find_map(|word| word.parse().ok())
}

/// What can be done to the selected object, and to the power of the nodes on the map.
fn on_objects(session: Session, asked: Option<i32>) -> Vec<(String, Command)> {
    let selected = session.focus.inspection.with_untracked(|it| it.as_ref().map(|it| deeds_on(it, asked)));
    let mut all = selected.unwrap_or_default();
    for card in session.board.nodes.get_untracked().iter().filter(|card| card.key.kind == Kind::Node) {
        let node = card.key.name.to_string();
        let (verb, command) = match card.card.with_untracked(|it| it.faults.is_stopped) {
            true => ("Restore node ", Command::StartNode { node: node.clone() }),
            false => ("Kill node ", Command::StopNode { node: node.clone() }),
        };
        if !all.iter().any(|(_, known)| *known == command) {
            all.push(([verb, node.as_str()].concat(), command));
        }
    }
    all
}
