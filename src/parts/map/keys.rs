use wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent};

use crate::platform;
use crate::session::Session;
use crate::ui::At;

/// Right and Left move between pods, Down and Up through them and the nodes' buttons, Page Up and Page Down between
/// nodes, Home and End to the ends; Delete deletes. A table's headings are a row of their own.
pub fn on_key(session: Session, list: At<Element>, event: &KeyboardEvent) {
    let Some(list) = list.get_untracked() else { return };
    let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
    let Some(target) = target.filter(|it| it.tag_name() == "BUTTON") else { return };
    let key = event.key();
    if event.ctrl_key() || event.alt_key() || event.meta_key() {
        return;
    }
    if key == "Delete" && is_pod(&target) {
        event.prevent_default();
        delete(session, &target);
    } else if let Some(next) = destination(&list, &target, &key) {
        event.prevent_default();
        platform::focus(&next);
    }
}

fn is_pod(button: &Element) -> bool {
    button.has_attribute("data-uid")
}

/// Deletes the pod that a button stands for.
fn delete(session: Session, pod: &Element) {
    let Some(uid) = pod.get_attribute("data-uid") else { return };
    let nodes = session.board.nodes.get_untracked();
    let mut pods: Vec<_> = nodes.iter().flat_map(|node| node.pods.with_untracked(Vec::clone)).collect();
    pods.extend(session.board.unscheduled.get_untracked());
    let found = pods.into_iter().find(|pod| pod.uid.to_string() == uid);
    let key = found.and_then(|pod| pod.row.with_untracked(|row| row.is_known.then(|| row.key.clone())));
    if let Some(key) = key {
        session.delete(key);
    }
}

fn destination(list: &Element, target: &Element, key: &str) -> Option<Element> {
    let all = platform::all(list, "button");
    let here = all.iter().position(|it| it == target)?;
    let (before, after) = (all.get(..here)?, all.get(here + 1..)?);
    let is_heading = |it: &&Element| it.closest("thead").ok().flatten().is_some();
    if is_heading(&target) && key != "ArrowDown" {
        return match key {
            "ArrowRight" => after.first(),
            "ArrowLeft" => before.last(),
            _ => None,
        }
        .filter(is_heading)
        .cloned();
    }
    let mut pods = all.iter().filter(|it| is_pod(it));
    match key {
        "ArrowDown" if is_heading(&target) => after.iter().find(|it| !is_heading(it)),
        "ArrowDown" => after.first(),
        "ArrowUp" => before.last(),
        "ArrowRight" => after.iter().find(|it| is_pod(it)),
        "ArrowLeft" => before.iter().rev().find(|it| is_pod(it)),
        "Home" => pods.next(),
        "End" => pods.next_back(),
        "PageDown" => first_of_other_card(&all, target, &mut after.iter()),
        "PageUp" => first_of_other_card(&all, target, &mut before.iter().rev()),
        _ => None,
    }
    .cloned()
}

/// The first pod of the next card that `walk` comes to.
fn first_of_other_card<'a>(
    all: &'a [Element],
    target: &Element,
    walk: &mut dyn Iterator<Item = &'a Element>,
) -> Option<&'a Element> {
    let card = |button: &Element| button.closest(".node, tbody").ok().flatten();
    let own = card(target);
    for button in walk {
        let other = card(button);
        if is_pod(button) && other != own {
            return all.iter().find(|it| is_pod(it) && card(it) == other);
        }
    }
    None
}
