//! A small cluster to try things in, and ways to look at it.

#![allow(dead_code)]

use std::rc::Rc;

use loopscope_engine::api::{ContainerState, Kind, Node, Object, ObjectKey, Pod, condition};
use loopscope_engine::environment::Behavior;
use loopscope_engine::sim::Millis;
use loopscope_engine::view::status_word;
use loopscope_engine::world::{Command, Scenario, Simulation, Subject, Target};

/// A program whose every time is zero: it comes up, serves and stops at once, and its image is there at once.
pub fn instant() -> Behavior {
    Behavior { pull_ms: 1, start_ms: 1, serve_ms: Some(0), stop_ms: 0, hook_ms: 0, ..Behavior::usual("") }
}

pub struct Lab {
    pub simulation: Simulation,
}

impl Lab {
    /// Three nodes; images `app:*` and `i:*` as described.
    pub fn new(behaviors: &[(&str, Behavior)]) -> Self {
        let mut scenario = Scenario::empty(7);
        for (image, behavior) in behaviors {
            scenario.behaviors.0.insert((*image).into(), *behavior);
        }
        Self { simulation: Simulation::new(scenario) }
    }

    pub fn apply(&mut self, manifest: &str) {
        let outcome = self.simulation.dispatch(Command::Apply { manifest: manifest.into() });
        assert!(outcome.is_ok(), "{outcome:?}");
    }

    /// Creates a pod `name` with the rest of its spec as given.
    pub fn pod(&mut self, name: &str, spec: &str) {
        self.apply(&format!("{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {spec}}}"));
    }

    #[track_caller]
    pub fn command(&mut self, command: Command) -> Vec<String> {
        let outcome = self.simulation.dispatch(command);
        assert!(outcome.is_ok(), "{outcome:?}");
        outcome.lines
    }

    pub fn behave(&mut self, image: &str, behavior: Behavior) {
        self.command(Command::SetBehavior { subject: Subject::Image(image.into()), behavior });
    }

    pub fn delete(&mut self, name: &str) {
        let target = Target { kind: Kind::Pod, namespace: "default".into(), name: name.into() };
        self.command(Command::delete(target));
    }

    pub fn now(&self) -> u64 {
        self.simulation.now().0
    }

    pub fn run(&mut self, ms: u64) {
        let until = self.simulation.now() + Millis(ms);
        assert!(self.simulation.run_until(until, 10_000_000), "events without end");
    }

    pub fn find(&self, name: &str) -> Option<Rc<Pod>> {
        let key = ObjectKey::new(Kind::Pod, "default", name);
        self.simulation.api().objects().pod(&key).cloned()
    }

    #[track_caller]
    pub fn get(&self, name: &str) -> Rc<Pod> {
        self.find(name).expect("the pod is there")
    }

    pub fn pods(&self) -> Vec<Rc<Pod>> {
        self.simulation.api().objects().of_kind(Kind::Pod).filter_map(Object::as_pod).cloned().collect()
    }

    pub fn node(&self, name: &str) -> Option<Rc<Node>> {
        self.simulation.api().objects().get(&ObjectKey::node(name)).and_then(Object::as_node).cloned()
    }

    /// `Running 1`: STATUS and restarts, or `gone`.
    pub fn status(&self, name: &str) -> String {
        self.find(name).map_or("gone".into(), |pod| format!("{} {}", status_word(&pod), pod.restarts()))
    }

    /// Every change of a reading, with its time in ms, for so long.
    pub fn watch<T: PartialEq + Clone>(&mut self, ms: u64, read: impl Fn(&Lab) -> T) -> Vec<(u64, T)> {
        let mut seen: Vec<(u64, T)> = vec![(self.now(), read(self))];
        let end = self.now() + ms;
        while let Some(at) = self.simulation.next_at().filter(|at| at.0 <= end) {
            self.simulation.run_until(at, 10_000_000);
            let value = read(self);
            if seen.last().is_none_or(|(_, last)| *last != value) {
                seen.push((self.now(), value));
            }
        }
        self.simulation.run_until(loopscope_engine::sim::Time(end), 10_000_000);
        seen
    }

    /// As `watch`, without the times.
    pub fn course<T: PartialEq + Clone>(&mut self, ms: u64, read: impl Fn(&Lab) -> T) -> Vec<T> {
        self.watch(ms, read).into_iter().map(|(_, value)| value).collect()
    }

    /// Events about a pod: reason, message and count.
    pub fn events(&self, name: &str) -> Vec<(&'static str, String, u32)> {
        let about = self.simulation.api().events.iter().filter(|event| event.draft.about.name.as_str() == name);
        about.map(|event| (event.draft.reason, event.draft.message.clone(), event.count)).collect()
    }

    pub fn reasons(&self, name: &str) -> Vec<&'static str> {
        self.events(name).into_iter().map(|(reason, ..)| reason).collect()
    }
}

/// `Ready False ContainersNotReady`, all conditions in order.
pub fn conditions(pod: &Pod) -> Vec<String> {
    let all = pod.status.conditions.iter();
    all.map(|it| format!("{} {} {}", it.kind, it.status, it.reason).trim_end().to_string()).collect()
}

pub fn condition_text(pod: &Pod, kind: &str) -> String {
    condition(&pod.status.conditions, kind).map(|it| it.message.to_string()).unwrap_or_default()
}

/// `running`, `waiting CrashLoopBackOff`, `terminated Error 1` of the first container.
pub fn state(pod: &Pod) -> String {
    match pod.status.container_statuses.first().map(|it| &it.state) {
        Some(ContainerState::Running(_)) => "running".into(),
        Some(ContainerState::Waiting(it)) => format!("waiting {}", it.reason),
        Some(ContainerState::Terminated(it)) => format!("terminated {} {}", it.reason, it.exit_code),
        None => "none".into(),
    }
}
