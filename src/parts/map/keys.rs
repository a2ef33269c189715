use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlUListElement, KeyboardEvent};

use crate::platform;
use crate::session::Session;
use crate::ui::At;

/// Arrows move between pods, Page Up and Page Down between nodes, Home and End to the ends; Delete deletes.
pub fn on_key(session: Session, list: At<HtmlUListElement>, event: &KeyboardEvent) {
    let Some(list) = list.get_untracked() else { return };
    let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
    let Some(pod) = target.filter(|it| it.class_list().contains("pod")) else { return };
    let key = event.key();
    if event.ctrl_key() || event.alt_key() || event.meta_key() {
        return;
    }
    if key == "Delete" {
        event.prevent_default();
        delete(session, &pod);
    } else if let Some(next) = destination(&list, &pod, &key) {
        event.prevent_default();
        platform::focus(&next);
    }
}

/// Deletes the pod that a button stands for.
fn delete(session: Session, pod: &Element) {
    let Some(uid) = pod.get_attribute("data-uid") else { return };
    let nodes = session.board.nodes.get_untracked();
    let mut pods: Vec<_> = nodes.iter().flat_map(|node| node.pods.with_untracked(Vec::clone)).collect();
    pods.extend(session.board.unscheduled.get_untracked());
    let found = pods.into_iter().find(|pod| pod.uid.to_string() == uid);
    if let Some(key) = found.map(|pod| pod.row.with_untracked(|row| row.key.clone())) {
        session.delete(key);
    }
}

fn destination(list: &HtmlUListElement, pod: &Element, key: &str) -> Option<Element> {
    let all = all(list, ".pod");
    let here = all.iter().position(|it| it == pod)?;
    match key {
        "ArrowRight" | "ArrowDown" => all.get(here + 1),
        "ArrowLeft" | "ArrowUp" => all.get(here.checked_sub(1)?),
        "Home" => all.first(),
        "End" => all.last(),
        "PageDown" => first_of_other_card(&all, pod, all.get(here..)?.iter()),
        "PageUp" => first_of_other_card(&all, pod, all.get(..here)?.iter().rev()),
        _ => None,
    }
    .cloned()
}

/// The first pod of the next card that `walk` comes to.
fn first_of_other_card<'a>(
    all: &'a [Element],
    pod: &Element,
    mut walk: impl Iterator<Item = &'a Element>,
) -> Option<&'a Element> {
    let card = |pod: &Element| pod.closest(".node").ok().flatten();
    let own = card(pod);
    let other = card(walk.find(|it| card(it) != own)?);
    all.iter().find(|it| card(it) == other)
}

fn all(list: &HtmlUListElement, selector: &str) -> Vec<Element> {
    let Ok(found) = list.query_selector_all(selector) else { return Vec::new() };
    (0..found.length()).filter_map(|index| found.item(index)?.dyn_into().ok()).collect()
}
