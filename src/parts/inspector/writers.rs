//! Who owns each field of an object, and who has written it.

use loopscope_engine::view::{Edit, FieldOwner, FieldRow, WriteMark};

use super::fights::fights;
use super::plot::{WIDTH, brief};
use crate::session::{Closer, session};
use crate::ui::{Derived, View, memo, view};

/// So many writes of a field are listed, the newest ones.
const LISTED: usize = 8;

/// A part of what is seen from closer by.
pub fn closer<T: PartialEq + Clone + Send + Sync + 'static>(
    read: impl Fn(&Closer) -> T + Send + Sync + 'static,
) -> Derived<T> {
    let closer = session().focus.closer;
    memo(move || closer.with(&read))
}

fn fields_of(it: &Closer) -> Vec<FieldRow> {
    it.ownership.as_ref().map(|it| it.fields.clone()).unwrap_or_default()
}

/// The owners of what is edited in a row of the comparison: `by kubectl (scale)`.
pub fn owner_of(edit: Option<Edit>) -> Option<View> {
    let ending = match edit? {
        Edit::Replicas(_) => ".spec.replicas".to_owned(),
        Edit::Paused(_) => ".spec.paused".to_owned(),
        Edit::Image { container, .. } => ["containers[name=\"", &container, "\"].image"].concat(),
    };
    let words = closer(move |it| {
        let fields = it.ownership.as_ref().map(|it| it.fields.as_slice()).unwrap_or_default();
        let found = fields.iter().find(|it| it.path.ends_with(&ending))?;
        let names: Vec<&str> = found.owners.iter().map(|it| it.manager.as_str()).collect();
        let title: Vec<String> = found.owners.iter().map(owner_words).collect();
        (!names.is_empty()).then(|| (["by ", &names.join(", ")].concat(), title.join("; ")))
    });
    let text = move || words.with(|it| it.as_ref().map(|it| it.0.clone()));
    let title = move || words.with(|it| it.as_ref().map(|it| ["Owner: ", &it.1].concat()));
    Some(view! { <p class="own sub" title=title>{text}</p> })
}

/// `kubectl (scale), update, since 00:15`
fn owner_words(it: &FieldOwner) -> String {
    let how = if it.is_apply { ", apply" } else { ", update" };
    let since = it.since_ms.map(|ms| [", since ", &brief(ms)].concat()).unwrap_or_default();
    [it.manager.as_str(), how, &since].concat()
}

/// The panel: fights, and all fields with their owners and writers.
pub fn fields() -> View {
    let fields = closer(fields_of);
    view! {
        {fights()}
        <p class="insp-sec sub">"Each field with its owners as managedFields tells them, and who has changed it."</p>
        <ul class="insp-sec owned">{move || fields.with(|all| all.iter().map(field).collect::<View>())}</ul>
    }
}

fn field(it: &FieldRow) -> View {
    let owner = |it: &FieldOwner| {
        let how = if it.is_apply { "Apply" } else { "Update" };
        let since = it.since_ms.map(|ms| ["since ", &brief(ms)].concat());
        view! { <li><b>{it.manager.clone()}</b>" "<span class="sub">{how}" "{since}</span></li> }
    };
    let owners = match it.owners.is_empty() {
        true => view! { <li class="sub">"nobody: a default"</li> },
        false => it.owners.iter().map(owner).collect(),
    };
    view! {
        <li>
            <p class="field-h"><span class="mono">{it.path.clone()}</span><span class="end mono">{it.value.clone()}</span></p>
            <ul class="owners" aria-label="Owners">{owners}</ul>
            {(it.writes.len() > 1).then(|| lanes(&it.writes))}
            {(!it.writes.is_empty()).then(|| writes(&it.writes))}
        </li>
    }
}

/// Who wrote when, a lane for each. The list of writes says the same in words.
pub fn lanes(writes: &[WriteMark]) -> View {
    let mut names: Vec<&str> = Vec::new();
    for write in writes {
        if !names.contains(&write.manager.as_str()) {
            names.push(&write.manager);
        }
    }
    let from = writes.first().map_or(0, |it| it.time_ms);
    let span = writes.last().map_or(0, |it| it.time_ms).saturating_sub(from).max(1);
    let lane = |name: &&str| {
        let mark = |it: &WriteMark| {
            let x = ((it.time_ms - from) * (WIDTH - 8) / span).to_string();
            view! { <rect x=x y="4" width="8" height="8"></rect> }
        };
        let marks = writes.iter().filter(|it| it.manager == *name).map(mark).collect::<View>();
        view! {
            <div class="lane"><span class="sub">{(*name).to_owned()}</span><svg viewBox="0 0 600 16" preserveAspectRatio="none"><path d="M0 8H600"></path>{marks}</svg></div>
        }
    };
    view! { <div class="lanes" aria-hidden="true">{names.iter().map(lane).collect::<View>()}</div> }
}

/// The newest writes in words, each of which says why when it is pressed.
pub fn writes(all: &[WriteMark]) -> View {
    let session = session();
    let line = |it: &WriteMark| {
        let seq = it.seq;
        let value = |text: &str| if text.is_empty() { "nothing".to_owned() } else { text.to_owned() };
        let words = [it.manager.as_str(), ": ", &value(&it.from), " → ", &value(&it.to)].concat();
        view! {
            <li>
                <span class="sub">{brief(it.time_ms)}</span>
                <button class="ask" type="button" title="Why? Shows what made it so" on:click={move |_| session.select_event(seq)}>{words}</button>
            </li>
        }
    };
    let more = all.len().saturating_sub(LISTED);
    let earlier = (more > 0).then(|| {
        let text = [more.to_string().as_str(), " earlier"].concat();
        view! { <li class="sub">{text}</li> }
    });
    let lines = all.iter().rev().take(LISTED).map(line).collect::<View>();
    view! { <ol class="writes" aria-label="Writes, newest first">{lines}{earlier}</ol> }
}
