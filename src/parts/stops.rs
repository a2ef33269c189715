//! Steps of all kinds, and what play stops at.

use leptos::prelude::{event_target_value, untrack};
use loopscope_engine::api::Kind;
use loopscope_engine::world::{Goal, Of};

use crate::atoms::icon;
use crate::platform;
use crate::session::{LoopEntry, Session, StepBy, Stop, session};
use crate::ui::{Derived, State, View, each, effect, memo, view, when};

/// What one can stop at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Selected,
    Condition,
    Loop,
    Conflict,
    Refusal,
}

const CHOICES: [(What, &str); 5] = [
    (What::Selected, "the selected object changes"),
    (What::Condition, "a condition changes"),
    (What::Loop, "a loop acts"),
    (What::Conflict, "a write conflicts (409)"),
    (What::Refusal, "a request is refused"),
];

/// Kinds that have conditions, with their types.
const CONDITIONS: [(Kind, &[&str]); 6] = [
    (Kind::Pod, &["Ready", "PodScheduled", "ContainersReady", "Initialized", "DisruptionTarget"]),
    (Kind::Node, &["Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"]),
    (Kind::Deployment, &["Available", "Progressing", "ReplicaFailure"]),
    (Kind::ReplicaSet, &["ReplicaFailure"]),
    (Kind::Job, &["Complete", "Failed", "Suspended"]),
    (Kind::PodDisruptionBudget, &["DisruptionAllowed"]),
];
const STATUSES: [&str; 3] = ["True", "False", "Unknown"];

pub fn stops() -> View {
    let session = session();
    let close = move |_| {
        session.transport.stops_open.put(false);
        platform::focus_by_id("stops-open");
    };
    view! {
        <section class="stops" id="stops" aria-labelledby="h-stops">
            <div class="stops-h">
                <h2 class="h" id="h-stops">"Steps and stops"</h2>
                <button class="btn btn-s btn-quiet" type="button" on:click=close>{icon("i i12", "#i-x")}"Close"</button>
            </div>
            <div class="steps-by" role="group" aria-label="Steps">{StepBy::ALL.map(step)}</div>
            {form()}
            {list()}
        </section>
    }
}

/// Back and on by one kind of event.
fn step(by: StepBy) -> View {
    let session = session();
    let label = |way: &str| [way, " ", by.name()].concat();
    view! {
        <span class="step-by">
            <button class="btn btn-s btn-icon" type="button" aria-label={label("Back to the previous")} on:click={move |_| session.step_back(by)}>
                {icon("i i12", "#i-back")}
            </button>
            <span>{by.name()}</span>
            <button class="btn btn-s btn-icon" type="button" aria-label={label("On to the next")} on:click={move |_| session.step_on(by)}>
                {icon("i i12", "#i-step")}
            </button>
        </span>
    }
}

/// A choice among words, by its index.
fn pick(label: &'static str, id: &'static str, at: State<usize>, options: Derived<Vec<String>>) -> View {
    let option = move |(index, words): (usize, &String)| {
        view! { <option value={index.to_string()} prop:selected={move || at.get() == index}>{words.clone()}</option> }
    };
    let all = move || options.with(|all| all.iter().enumerate().map(option).collect::<View>());
    let change = move |event| {
        if let Ok(index) = event_target_value(&event).parse() {
            at.put(index);
        }
    };
    view! {
        <span class="pick pick-s"><select id=id aria-label=label on:change=change>{all}</select>{icon("i i12", "#i-down")}</span>
    }
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|it| (*it).to_owned()).collect()
}

/// What is chosen of a new stop, by its places in the lists.
#[derive(Clone, Copy)]
struct Chosen {
    session: Session,
    what: State<usize>,
    whose: State<usize>,
    kind: State<usize>,
    status: State<usize>,
    at: State<usize>,
}

impl Chosen {
    fn new(session: Session) -> Self {
        let [what, whose, kind, status, at] = [0; 5].map(State::<usize>::new);
        Self { session, what, whose, kind, status, at }
    }

    fn what(self) -> What {
        CHOICES.get(self.what.get()).map_or(What::Selected, |it| it.0)
    }

    /// Whose condition, with the condition types there are. The selected object comes first, where it has any.
    fn subject(self) -> (Of, &'static [&'static str]) {
        let selected = self.session.focus.selected.get();
        let own = selected.and_then(|key| CONDITIONS.iter().find(|it| it.0 == key.kind).map(|it| (key, it.1)));
        match (own, self.whose.get()) {
            (Some((key, types)), 0) => (Of::Object(key), types),
            (own, index) => {
                let (kind, types) = CONDITIONS[(index - usize::from(own.is_some())).min(CONDITIONS.len() - 1)];
                (Of::Kind(kind), types)
            }
        }
    }

    /// Sets the stop.
    fn add(self) {
        let session = self.session;
        match untrack(|| self.what()) {
            What::Selected => match session.focus.selected.get_untracked() {
                // Once more adds nothing.
                Some(key) => {
                    let words = [key.kind.name(), " ", &*key.name, " changes"].concat();
                    session.stop_at(Goal::Change(key), words);
                }
                None => session.needs_selection(),
            },
            What::Condition => {
                let (of, types) = untrack(|| self.subject());
                let kind = types.get(self.kind.get_untracked()).or(types.first()).copied().unwrap_or("Ready");
                session.stop_at_condition(of, kind, STATUSES[self.status.get_untracked().min(2)]);
            }
            What::Loop => {
                let index = self.at.get_untracked();
                let found = session.board.loops.with_untracked(|all| all.get(index).map(|it| (it.id.0, name(it))));
                if let Some((id, name)) = found {
                    session.stop_at_loop(id, &name);
                }
            }
            What::Conflict => session.stop_at(Goal::Conflict, "a write conflicts (409)".to_owned()),
            What::Refusal => session.stop_at(Goal::Refusal, "a request is refused".to_owned()),
        }
    }
}

fn name(it: &LoopEntry) -> String {
    it.row.with_untracked(|it| it.name.clone())
}

fn form() -> View {
    let session = session();
    let chosen = Chosen::new(session);
    let what = memo(move || chosen.what());
    let subjects = memo(move || {
        let selected = session.focus.selected.get().filter(|key| CONDITIONS.iter().any(|it| it.0 == key.kind));
        let own = selected.map(|key| [key.kind.name(), " ", &*key.name].concat());
        own.into_iter()
            .chain(CONDITIONS.iter().map(|(kind, _)| ["any ", kind.name()].concat()))
            .collect::<Vec<String>>()
    });
    let kinds = memo(move || words(chosen.subject().1));
    let loops = memo(move || session.board.loops.with(|all| all.iter().map(name).collect::<Vec<String>>()));
    // Another list begins with its first.
    effect(move || {
        subjects.with(|_| chosen.whose.put(0));
    });
    effect(move || {
        kinds.with(|_| chosen.kind.put(0));
    });
    let fixed = |all: Vec<String>| memo(move || all.clone());
    view! {
        <div class="stop-form" role="group" aria-label="New stop">
            <span>"Stop when"</span>
            {pick("Stop when", "stop-what", chosen.what, fixed(CHOICES.iter().map(|it| it.1.to_owned()).collect()))}
            {when(move || what.get() == What::Condition, move || view! {
                {pick("Of which object", "stop-of", chosen.whose, subjects)}
                {pick("Condition", "stop-kind", chosen.kind, kinds)}
                <span>"becomes"</span>
                {pick("Status", "stop-status", chosen.status, fixed(words(&STATUSES)))}
            })}
            {when(move || what.get() == What::Loop, move || pick("Loop", "stop-loop", chosen.at, loops))}
            <button class="btn btn-s btn-main" type="button" on:click={move |_| chosen.add()}>"Add"</button>
        </div>
    }
}

fn list() -> View {
    let session = session();
    let is_empty = move || session.stops.with(Vec::is_empty);
    let row = move |stop: Stop| {
        let id = stop.id;
        let is_on = move || session.stops.with(|all| all.iter().any(|it| it.id == id && it.is_on));
        let label = ["Remove: ", stop.words.as_str()].concat();
        let remove = move |_| {
            session.remove_stop(id);
            platform::focus_by_id("stop-what");
        };
        view! {
            <li>
                <label class="check"><input type="checkbox" prop:checked=is_on on:change={move |_| session.set_stop(id, !is_on())}/>{stop.words}</label>
                <button class="btn btn-s btn-quiet btn-icon" type="button" aria-label=label on:click=remove>{icon("i i12", "#i-x")}</button>
            </li>
        }
    };
    view! {
        <p class="sub" hidden={move || !is_empty()}>"Nothing yet: play goes on until you pause it. Stops change nothing in the world."</p>
        <ul class="stop-list" aria-label="Stops" hidden=is_empty>{each(move || session.stops.get(), |it| it.id.to_string(), row)}</ul>
    }
}
