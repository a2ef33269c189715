//! What the inspector shows of an object beyond spec and status: who writes its fields, what scales it, what comes to it.

use loopscope_engine::api::Kind;
use loopscope_engine::view::{self, AutoscalerView, Cure, Fight, LoadView, Ownership};

use super::{Core, Session};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Closer {
    pub ownership: Option<Ownership>,
    /// The fights over its fields, each with what would end it: the name and the price.
    pub fights: Vec<(Fight, Vec<(String, String)>)>,
    /// The object itself, or what scales it.
    pub autoscaler: Option<AutoscalerView>,
    /// A load can be put on it.
    pub takes_load: bool,
    pub load: Option<LoadView>,
}

impl Core {
    /// Looks closer at the selected object. The workspace alone shows it.
    pub(super) fn look_closer(&self, session: Session) -> Closer {
        let Some(key) = session.focus.selected.get_untracked() else { return Closer::default() };
        let sim = self.sim();
        let fights = view::fights(sim).into_iter().filter(|it| it.key == key);
        let autoscaler = match key.kind {
            Kind::HorizontalPodAutoscaler | Kind::Deployment | Kind::ReplicaSet | Kind::StatefulSet => {
                view::autoscaler_of(sim, &key)
            }
            _ => None,
        };
        let is_scaled = autoscaler.as_ref().is_some_and(|it| it.key != key);
        let load = view::load_on(sim, &key);
        let ownership = view::ownership(sim, &key);
        let with_cures = |it: Fight| {
            let cures = view::cures(sim, &it).into_iter().map(|it| (it.name, it.price)).collect();
            (it, cures)
        };
        Closer {
            fights: fights.map(with_cures).collect(),
            takes_load: ownership.is_some() && (key.kind == Kind::Service || is_scaled || load.is_some()),
            ownership,
            autoscaler,
            load,
        }
    }
}

impl Session {
    /// Ends a fight over a field of the selected object, as a command like any other.
    pub fn cure(self, path: &str, name: &str) {
        let Some(key) = self.focus.selected.get_untracked() else { return };
        let find = |core: &mut Core| -> Option<Cure> {
            let fight = view::fights(core.sim()).into_iter().find(|it| it.key == key && it.path == path)?;
            view::cures(core.sim(), &fight).into_iter().find(|it| it.name == name)
        };
        let Some(cure) = self.with_core(find).flatten() else { return };
        self.meddle(cure.command);
        let changed = cure.drops.and_then(|field| self.editor.text.with_untracked(|it| without(it, &key.name, field)));
        if let Some(text) = changed {
            self.editor.replace(text);
        }
    }
}

/// The manifest without a field of an object's `spec`.
fn without(text: &str, name: &str, field: &str) -> Option<String> {
    let (own, line) = (["\n  name: ", name, "\n"].concat(), ["  ", field, ": "].concat());
    let mut has_found = false;
    let documents: Vec<String> = text
        .split("\n---")
        .map(|document| {
            let is_it = !has_found && document.contains(&own) && document.contains(&["\n", &line].concat());
            if !is_it {
                return document.to_owned();
            }
            has_found = true;
            let lines: Vec<&str> = document.split('\n').filter(|it| !it.starts_with(&line)).collect();
            lines.join("\n")
        })
        .collect();
    has_found.then(|| documents.join("\n---"))
}
