use leptos::prelude::event_target_value;
use loopscope_engine::api::{Kind, ObjectKey};
use loopscope_engine::view::{BEHAVIORS, Edit, Inspection, NodeFaults, Program, RunningContainer, behavior};
use loopscope_engine::world::{Command, Goal, Subject};

use super::part;
use crate::atoms::{icon, yes};
use crate::session::{Stop, session};
use crate::ui::{View, view};

#[derive(Clone, PartialEq)]
struct Facts {
    key: ObjectKey,
    is_gone: bool,
    can_delete: bool,
    can_roll_back: bool,
    faults: Option<NodeFaults>,
    containers: Vec<RunningContainer>,
}

impl Facts {
    fn of(it: &Inspection) -> Self {
        Self {
            key: it.key.clone(),
            is_gone: it.gone.is_some(),
            can_delete: it.can_delete,
            can_roll_back: it.can_roll_back,
            faults: it.faults,
            containers: it.containers.clone(),
        }
    }

    /// What a person may do: the words, the shape before them, and the command.
    fn all(&self) -> Vec<(String, &'static str, Command)> {
        let (kind, name) = (self.key.kind, || self.key.name.to_string());
        let mut all = Vec::new();
        let mut add = |words: &str, shape, command| all.push((words.to_owned(), shape, command));
        if let Some(NodeFaults { is_stopped, is_cut, is_cordoned }) = self.faults {
            let node = name;
            match is_stopped {
                true => add("Restore node", "#i-power", Command::StartNode { node: node() }),
                false => add("Kill node", "#i-power", Command::StopNode { node: node() }),
            }
            match is_cut {
                true => add("Reconnect", "", Command::HealNode { node: node() }),
                false => add("Cut off", "", Command::CutNode { node: node() }),
            }
            let words = if is_cordoned { "Uncordon" } else { "Cordon" };
            add(words, "", Command::Cordon { node: node(), on: !is_cordoned });
            add("Remove node", "#i-trash", Command::RemoveNode { node: node() });
        }
        if self.can_roll_back {
            add("Roll back", "", Command::Rollback { target: (&self.key).into(), to_revision: 0 });
        }
        if self.can_delete {
            let kind = if kind == Kind::Pod { "pod" } else { kind.name() };
            add(&["Delete ", kind].concat(), "#i-trash", Command::delete((&self.key).into()));
        }
        if kind == Kind::Pod && !self.is_gone {
            add("Evict", "", Command::Evict { target: (&self.key).into() });
            let namespace = || self.key.namespace.to_string();
            for container in &self.containers {
                let words = if self.containers.len() == 1 { "container" } else { container.name.as_str() };
                let (pod, container) = (name(), container.name.clone());
                let command = Command::CrashContainer { namespace: namespace(), pod, container, code: 1 };
                add(&["Crash ", words].concat(), "", command);
            }
            if !self.containers.is_empty() {
                let ready = !self.containers.iter().all(|it| it.is_ready);
                let words = if ready { "Make ready" } else { "Make unready" };
                add(words, "", Command::SetReady { namespace: namespace(), pod: name(), ready });
            }
        }
        all
    }
}

/// The same in whole words, for where the object is not in sight: `Evict web-6d4cf56db6-4kx7m`. Of what has replicas also
/// one more, one fewer, and as many as asked for.
pub fn deeds_on(it: &Inspection, asked: Option<i32>) -> Vec<(String, Command)> {
    let facts = Facts::of(it);
    let name = &*it.key.name;
    let mut all: Vec<(String, Command)> = Vec::new();
    let now = it.rows.iter().find_map(|row| match row.edit {
        Some(Edit::Replicas(n)) => Some(n),
        _ => None,
    });
    if let Some(now) = now.filter(|_| it.gone.is_none()) {
        let sizes = asked.map_or([Some(now + 1), Some(now - 1)], |asked| [Some(asked), None]);
        for replicas in sizes.into_iter().flatten().filter(|n| *n >= 0) {
            let words = ["Scale ", name, " to ", replicas.to_string().as_str()].concat();
            all.push((words, Command::Scale { target: (&it.key).into(), replicas }));
        }
    }
    all.extend(facts.all().into_iter().map(|(words, _, command)| ([words.as_str(), " ", name].concat(), command)));
    all
}

/// What a person may do to the object, and to the programs of its images.
pub fn actions() -> View {
    let session = session();
    let facts = part(session, |it| Some(Facts::of(it)));
    let programs = part(session, |it| it.programs.clone());
    let buttons = move || {
        let all = facts.get().map(|it| it.all()).unwrap_or_default();
        let button = |(words, shape, command): (String, &'static str, Command)| {
            let is_drastic = matches!(words.as_str(), "Kill node" | "Remove node" | "Delete pod");
            let class = if is_drastic { "btn btn-s btn-danger" } else { "btn btn-s" };
            let shape = (!shape.is_empty()).then(|| icon("i i12", shape));
            view! {
                <button class=class type="button" on:click={move |_| session.meddle(command.clone())}>{shape}{words}</button>
            }
        };
        all.into_iter().map(button).collect::<View>()
    };
    view! {
        <div class="insp-acts" role="group" aria-label="Actions">{buttons}{stop_switch()}{other_objects()}</div>
        <ul class="insp-sec programs" hidden={move || programs.with(Vec::is_empty)}>
            {move || programs.with(|all| all.iter().map(program).collect::<View>())}
        </ul>
    }
}

/// Whether play stops when the object changes.
fn stop_switch() -> View {
    let session = session();
    let is_on = move || {
        let key = session.focus.selected.get();
        let is_it = |it: &Stop| it.is_on && matches!((&it.goal, &key), (Goal::Change(it), Some(key)) if it == key);
        session.stops.with(|all| all.iter().any(is_it))
    };
    view! {
        <button
            class="btn btn-s stop-switch" type="button" title="Play stops when it changes" aria-pressed={move || yes(is_on())}
            on:click={move |_| session.switch_stop_at_selected()}
        >{icon("i i12", "#i-stop")}"Stop when it changes"</button>
    }
}

/// How the programs of an image behave, wherever they run.
fn program(program: &Program) -> View {
    let session = session();
    let image = program.image.clone();
    let now = program.behavior;
    let option = |(index, words): (usize, &&'static str)| {
        view! { <option value={index.to_string()} prop:selected={now == Some(index)}>{*words}</option> }
    };
    let described = now.is_none().then(|| view! { <option prop:selected=true>"as the scenario says"</option> });
    let options = BEHAVIORS.iter().enumerate().map(option).collect::<View>();
    let label = ["Program of ", image.as_str()].concat();
    let name = image.clone();
    let change = move |event| {
        let subject = Subject::Image(image.clone());
        match event_target_value(&event).parse() {
            Ok(0) => session.meddle(Command::RestoreBehavior { subject }),
            Ok(index) => session.meddle(Command::SetBehavior { subject, behavior: behavior(&image, index) }),
            Err(_) => {}
        }
    };
    view! {
        <li>
            <span class="mono clip" title={name.clone()}>{name}</span>
            <span class="pick pick-s"><select aria-label=label on:change=change>{described}{options}</select>{icon("i i12", "#i-down")}</span>
        </li>
    }
}

/// A way to whatever is not on the map.
fn other_objects() -> View {
    let session = session();
    let objects = session.focus.objects;
    let selected = session.focus.selected;
    let option = move |(index, key): (usize, &ObjectKey)| {
        let own = key.clone();
        let is_on = move || selected.with(|it| it.as_ref() == Some(&own));
        let words = [key.kind.name(), " ", &*key.name].concat();
        view! { <option value={index.to_string()} prop:selected=is_on>{words}</option> }
    };
    let options = move || objects.with(|all| all.iter().enumerate().map(option).collect::<View>());
    let is_elsewhere = move || objects.with(|all| selected.with(|it| it.as_ref().is_none_or(|it| !all.contains(it))));
    let change = move |event| {
        let index = event_target_value(&event).parse::<usize>().ok();
        let key = index.and_then(|index| objects.with_untracked(|all| all.get(index).cloned()));
        if let Some(key) = key {
            session.select(key);
        }
    };
    view! {
        <span class="pick pick-s objects">
            <select aria-label="Inspect another object" on:change=change>
                <option prop:selected=is_elsewhere>"All objects"</option>{options}
            </select>{icon("i i12", "#i-down")}
        </span>
    }
}
