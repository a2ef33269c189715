use loopscope_engine::view::{Asked, ConditionRow, Kin, ObjectEvent};

use super::part;
use crate::atoms::icon;
use crate::parts::rove::rove_rows;
use crate::session::session;
use crate::ui::{View, view};

/// Shown where a list is empty.
fn empty(text: &'static str, is_empty: impl Fn() -> bool + 'static) -> View {
    view! { <p class="insp-sec sub" hidden={move || !is_empty()}>{text}</p> }
}

pub fn conditions() -> View {
    let session = session();
    let conditions = part(session, |it| it.conditions.clone());
    let row = move |it: &ConditionRow| {
        let shape = match it.is_good {
            true => icon("i i14 s-ready", "#i-check"),
            false => icon("i i14 s-bad", "#node-notready"),
        };
        let meaning = (!it.meaning.is_empty()).then(|| ["True means: ", it.meaning].concat());
        let colon = if it.reason.is_empty() || it.message.is_empty() { "" } else { ": " };
        let said = [it.reason.as_str(), colon, it.message.as_str()].concat();
        view! {
            <li>
                <p class="cond-h">{shape}{ask_button(it)}<span class="faint end nowrap">"for "{it.age.clone()}</span></p>
                <p class="sub">{meaning}</p>
                <p>{said}</p>
            </li>
        }
    };
    view! {
        <ul class="insp-sec conds">{move || conditions.with(|rows| rows.iter().map(row).collect::<View>())}</ul>
        {empty("It has no conditions.", move || conditions.with(Vec::is_empty))}
    }
}

/// A condition and its status, which says why when it is pressed.
fn ask_button(it: &ConditionRow) -> View {
    let session = session();
    let kind = it.kind.clone();
    let title = ["Why is ", it.kind.as_str(), " ", &it.status, "?"].concat();
    let ask = move |_| {
        if let Some(key) = session.focus.selected.get_untracked() {
            session.ask(&key, &Asked::Condition(kind.clone()), title.clone());
        }
    };
    view! {
        <button class="ask" type="button" title="Why? Shows what made it so" on:click=ask>{it.kind.clone()}" "<b>{it.status.clone()}</b></button>
    }
}

/// What owns it and what it owns, as a tree.
pub fn kin() -> View {
    let session = session();
    let kin = part(session, |it| it.kin.clone());
    let row = move |it: &Kin| {
        let (key, name) = (it.key.clone(), it.key.name.to_string());
        let current = it.is_self.then_some("true");
        view! {
            <li data-depth={it.depth.min(4).to_string()}>
                <span class="sub">{it.key.kind.name()}</span>
                <button class="link mono" type="button" tabindex="-1" aria-current=current on:click={move |_| session.select(key.clone())}>{name}</button>
                <span class="sub end">{it.state.clone()}</span>
            </li>
        }
    };
    view! {
        <div class="insp-sec" tabindex="0" role="group" aria-label="Owners and owned, arrow keys move" on:keydown=rove_rows>
            <ul class="rows kin">{move || kin.with(|rows| rows.iter().map(row).collect::<View>())}</ul>
        </div>
        {empty("Nothing owns it, and it owns nothing.", move || kin.with(Vec::is_empty))}
    }
}

pub fn object_events() -> View {
    let session = session();
    let events = part(session, |it| it.events.clone());
    let chain = session.focus.chain;
    let row = move |it: &ObjectEvent| {
        let (shape, word) = match it.is_warning {
            true => (icon("i i14 s-notready", "#i-warn"), "Warning "),
            false => (icon("i i14 faint", "#i-info"), ""),
        };
        let count = (it.count > 1).then(|| ["×", it.count.to_string().as_str(), " over ", it.over.as_str()].concat());
        let seq = it.seq;
        let pressed = move || crate::atoms::yes(chain.with(|it| it.as_ref().is_some_and(|it| it.seq == seq)));
        view! {
            <li>
                {shape}
                <button class="ev" type="button" tabindex="-1" aria-pressed=pressed on:click={move |_| session.select_event(seq)}>
                    <span class="sr">{word}</span><b>{it.reason.clone()}</b>" "{it.message.clone()}
                </button>
                <span class="faint end">{it.age.clone()}" "{count}</span>
            </li>
        }
    };
    view! {
        <div class="insp-sec" tabindex="0" role="group" aria-label="Kubernetes Events, arrow keys move" on:keydown=rove_rows>
            <ul class="rows rows-ev">{move || events.with(|rows| rows.iter().map(row).collect::<View>())}</ul>
        </div>
        {empty("No Events about it are kept.", move || events.with(Vec::is_empty))}
    }
}
