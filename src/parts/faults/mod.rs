//! What can be broken on purpose: labelled switches, each of them a command of the journal.

mod words;

use leptos::prelude::event_target_value;
use loopscope_engine::view::{Fault, FaultRow, FaultsView, QUOTA, SERVER};
use web_sys::Event;

use super::rove::rove_rows;
use crate::atoms::{clock, icon, yes};
use crate::session::{Part, Session, session};
use crate::ui::{Derived, State, View, each, memo, view, when};
use words::{Word, word};

/// What belongs together, and what its switches are about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    Program,
    Server,
    Node,
    Image,
    Quota,
}

const GROUPS: [(&str, About, &[Fault]); 6] = [
    ("Controllers", About::Program, &[Fault::Crash, Fault::CrashLater, Fault::Pause, Fault::Stop]),
    ("Watch", About::Program, &[Fault::Stale, Fault::Gone]),
    ("API server", About::Server, &[Fault::Down, Fault::Slow, Fault::Refusing]),
    ("Nodes", About::Node, &[Fault::Power, Fault::Cut, Fault::Network]),
    ("Programs", About::Image, &[Fault::Missing, Fault::CrashLoop, Fault::SlowStart]),
    ("Quota", About::Quota, &[Fault::Quota]),
];

/// The crash that waits for its requests is told how many.
const MOST_REQUESTS: u32 = 1_000;

impl About {
    /// What the choice above the switches is called, where there is one.
    fn label(self) -> Option<&'static str> {
        match self {
            About::Program => Some("Program"),
            About::Node => Some("Node"),
            About::Image => Some("Image"),
            About::Server | About::Quota => None,
        }
    }

    fn all(self, view: &FaultsView) -> &[String] {
        match self {
            About::Program => &view.programs,
            About::Node => &view.nodes,
            About::Image => &view.images,
            About::Server | About::Quota => &[],
        }
    }

    fn chosen(self, session: Session) -> Option<State<Option<String>>> {
        let trouble = session.trouble;
        match self {
            About::Program => Some(trouble.program),
            About::Node => Some(trouble.node),
            About::Image => Some(trouble.image),
            About::Server | About::Quota => None,
        }
    }
}

/// What the switches of a group are about now: what was chosen as long as it is there, else the first.
fn target(session: Session, about: About) -> Derived<String> {
    memo(move || {
        let fixed = match about {
            About::Server => SERVER,
            About::Quota => QUOTA,
            _ => "",
        };
        session.trouble.faults.with(|view| {
            let all = about.all(view);
            let wish = about.chosen(session).and_then(|it| it.get()).filter(|it| all.contains(it));
            wish.or_else(|| all.first().cloned()).unwrap_or_else(|| fixed.to_owned())
        })
    })
}

pub fn faults_pane() -> View {
    let session = session();
    let is_open = move || session.focus.pane.get() == Part::Faults;
    let is_last = move || session.focus.last.get() == Part::Faults;
    let n_on = memo(move || session.trouble.faults.with(FaultsView::n_on));
    let summary = move || match n_on.get() {
        0 => "nothing is broken; each switch is a step of the history".to_owned(),
        n => [n.to_string().as_str(), " on"].concat(),
    };
    view! {
        <section class="pane pane-faults" class:is-open=is_open class:is-last=is_last aria-labelledby="h-faults">
            <div class="pane-h">
                <h2 class="h" id="h-faults" tabindex="-1">"Faults"</h2>
                <p class="sub faults-sum" role="status">{summary}</p>
                <button class="btn btn-s" type="button" disabled={move || n_on.get() == 0} on:click={move |_| session.mend_all()}>"All mended"</button>
            </div>
            <div class="faults">
                {when(move || n_on.get() > 0, on_now)}
                <div class="fault-groups">{GROUPS.map(group)}</div>
            </div>
        </section>
    }
}

/// All that is on, whatever the switches below are about.
fn on_now() -> View {
    let session = session();
    let rows = move || session.trouble.faults.with(|view| view.rows.iter().filter(|it| it.is_on).cloned().collect());
    let key = |row: &FaultRow| [row.target.as_str(), " ", row.fault.word(), &state_words(row)].concat();
    let row = move |it: FaultRow| {
        let (fault, target) = (it.fault, it.target.clone());
        let label = ["Mend: ", &it.target, " ", fault.word()].concat();
        let mend = (!fault.is_brief()).then(|| {
            let target = target.clone();
            view! {
                <button
                    class="btn btn-s" type="button" tabindex="-1" aria-label=label
                    on:click={move |_| session.switch_fault(fault, &target, false)}
                >"Mend"</button>
            }
        });
        view! {
            <li>
                {icon("i i14 s-bad", "#i-error")}
                <span class="fault-now"><b>{it.target.clone()}</b>" "{fault.word()}<span class="sub">", "{state_words(&it)}</span></span>
                {mend}
            </li>
        }
    };
    view! {
        <ul class="faults-on" tabindex="0" aria-label="On now" on:keydown=rove_rows>{each(rows, key, row)}</ul>
    }
}

/// `on since 00:12.345`, `once at 00:12.345`
fn state_words(row: &FaultRow) -> String {
    let when = row.at_ms.map(clock);
    match (row.is_on, when, row.left) {
        (true, Some(when), Some(left)) => {
            let requests = if left == 1 { " request" } else { " requests" };
            ["on since ", when.as_str(), ", in ", &left.to_string(), requests].concat()
        }
        (true, Some(when), None) => ["on since ", when.as_str()].concat(),
        (true, None, _) => "on from the beginning".to_owned(),
        (false, Some(when), _) => ["over, last at ", when.as_str()].concat(),
        (false, None, _) => "off".to_owned(),
    }
}

fn group((name, about, faults): (&'static str, About, &'static [Fault])) -> View {
    let session = session();
    let target = target(session, about);
    let id = ["faults-", &name.to_ascii_lowercase().replace(' ', "-")].concat();
    let is_empty = move || about.label().is_some() && target.with(String::is_empty);
    let switches = move || faults.iter().map(|fault| switch(*fault, target)).collect::<View>();
    let after = faults.contains(&Fault::CrashLater).then(|| requests(session));
    view! {
        <section class="fault-group" aria-labelledby={id.clone()}>
            <div class="fault-h"><h3 id={id.clone()}>{name}</h3>{choice(session, name, about, target)}{after}</div>
            <p class="empty-s" hidden={move || !is_empty()}>"There is nothing of this kind."</p>
            <ul class="fault-list" tabindex="0" aria-labelledby=id hidden=is_empty on:keydown=rove_rows>{switches()}</ul>
        </section>
    }
}

/// Which program, node or image the switches are about.
fn choice(session: Session, group: &'static str, about: About, target: Derived<String>) -> Option<View> {
    let (label, chosen) = (about.label()?, about.chosen(session)?);
    let all = memo(move || session.trouble.faults.with(|view| about.all(view).to_vec()));
    let options = move || {
        let option = |name: &String| {
            let own = name.clone();
            let is_it = move || target.with(|it| *it == own);
            view! { <option value={name.clone()} prop:selected=is_it>{name.clone()}</option> }
        };
        all.with(|all| all.iter().map(option).collect::<View>())
    };
    let label = [label, " of: ", group].concat();
    Some(view! {
        <span class="pick pick-s">
            <select aria-label=label on:change={move |event: Event| chosen.put(Some(event_target_value(&event)))}>{options}</select>
            {icon("i i12", "#i-down")}
        </span>
    })
}

/// After how many requests a program is to crash.
fn requests(session: Session) -> View {
    let n = session.trouble.requests;
    let change = move |event: Event| {
        let now = event_target_value(&event).trim().parse::<u32>().ok().filter(|n| (1..=MOST_REQUESTS).contains(n));
        n.set(now.unwrap_or_else(|| n.get_untracked()));
    };
    view! {
        <label class="sub fault-after">"crash after"
            <input
                class="field field-s" type="text" inputmode="numeric" autocomplete="off" aria-label="Crash after so many requests"
                prop:value={move || n.get().to_string()} on:change=change
            />
            "requests"
        </label>
    }
}

/// One switch with its state, what it does, and what to look at.
fn switch(fault: Fault, target: Derived<String>) -> View {
    let session = session();
    let Word { name, does, look } = word(fault);
    let row = memo(move || session.trouble.faults.with(|view| target.with(|it| view.row(fault, it).cloned())));
    let is_on = move || row.with(|row| row.as_ref().is_some_and(|it| it.is_on));
    let state = move || row.with(|row| row.as_ref().map_or_else(|| off(fault), state_words));
    let label = move || match fault {
        Fault::Down | Fault::Slow | Fault::Refusing => [SERVER, ": ", name].concat(),
        Fault::Quota => name.to_owned(),
        _ => target.with(|it| [name, ": ", it].concat()),
    };
    let press = move |_| {
        let was_on = row.get_untracked().is_some_and(|it| it.is_on);
        let on = fault.is_brief() || !was_on;
        session.switch_fault(fault, &target.get_untracked(), on);
    };
    let id = ["fault-", fault.word()].concat().replace(' ', "-");
    let checked = move || (!fault.is_brief()).then(|| yes(is_on()));
    let role = if fault.is_brief() { None } else { Some("switch") };
    view! {
        <li class="fault" class:is-on=is_on>
            <button
                class="btn btn-s fault-do" class:is-brief={fault.is_brief()} type="button" tabindex="-1" role=role aria-checked=checked
                aria-label=label aria-describedby={id.clone()} on:click=press
            ><i class="knob" aria-hidden="true"></i>{name}</button>
            <span class="fault-state">{state}</span>
            <p class="sub" id=id>{does}" "{look}</p>
        </li>
    }
}

fn off(fault: Fault) -> String {
    if fault.is_brief() { "not yet" } else { "off" }.to_owned()
}
