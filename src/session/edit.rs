//! Texts that a person edits: the manifest, and an object in place.

use loopscope_engine::api::ObjectKey;
use loopscope_engine::manifest::{self, Diagnostic, Severity};
use loopscope_engine::sim::sort_by;
use loopscope_engine::view::{self, FieldChange};
use loopscope_engine::world::{Command, Outcome};

use super::{Base, Editor, Session, Tone};

impl Session {
    /// Applies the editor's text. Says whether it was accepted.
    pub fn apply(self) -> bool {
        let manifest = self.editor.text.get_untracked();
        let Some(outcome) = self.dispatch(Command::Apply { manifest }) else { return false };
        let accepted = self.editor.answer(outcome);
        if accepted {
            self.select_something();
            self.say("Manifest applied");
        }
        accepted
    }

    /// Works out what applying the editor's text would change. Nothing is written.
    pub fn compare(self) {
        let text = self.editor.text.get_untracked();
        let diff = self.with_core(|core| view::dry_run(core.sim(), &text));
        self.editor.lint();
        self.editor.diff.put(diff);
    }

    /// Begins to edit the selected object.
    pub fn edit(self) {
        let found = self.focus.inspection.with_untracked(|it| it.as_ref().map(|it| it.key.clone()));
        let Some(key) = found else { return };
        if let Some(yaml) = self.newest(&key) {
            self.focus.draft.replace(yaml.clone());
            self.focus.base.put(Some(Base { key, yaml }));
        }
    }

    pub fn stop_editing(self) {
        self.focus.base.put(None);
        self.focus.draft.replace(String::new());
    }

    /// Writes the edited object, unless it has changed meanwhile. Says whether it was accepted.
    pub fn save_edited(self) -> bool {
        let manifest = self.focus.draft.text.get_untracked();
        let Some(outcome) = self.dispatch(Command::Replace { manifest }) else { return false };
        let line = outcome.lines.first().cloned();
        let accepted = self.focus.draft.answer(outcome);
        if accepted {
            self.stop_editing();
            self.toast(line.unwrap_or_default(), Tone::Answer);
        }
        accepted
    }

    /// An object as it is now, as one edits it.
    fn newest(self, key: &ObjectKey) -> Option<String> {
        self.with_core(|core| view::yaml(core.sim(), key, false)).flatten()
    }

    /// What others changed of the edited object since that began.
    pub fn changed_meanwhile(self) -> Vec<FieldChange> {
        let Some(base) = self.focus.base.get_untracked() else { return Vec::new() };
        let newest = self.newest(&base.key);
        match (value(&base.yaml), newest.as_deref().and_then(value)) {
            (Some(old), Some(live)) => view::changes(Some(&old), &live),
            _ => Vec::new(),
        }
    }

    /// Does a person's changes again, to the newest version of the object.
    pub fn rebase_edited(self) {
        let Some(base) = self.focus.base.get_untracked() else { return };
        let mine = self.focus.draft.text.with_untracked(|text| value(text));
        let (Some(mine), Some(newest)) = (mine, self.newest(&base.key)) else { return };
        if let (Some(old), Some(live)) = (value(&base.yaml), value(&newest)) {
            self.focus.draft.replace(manifest::to_yaml(&view::rebase(&old, &mine, &live)));
            self.focus.base.put(Some(Base { yaml: newest, ..base }));
        }
    }
}

/// The object that a text holds.
fn value(text: &str) -> Option<serde_json::Value> {
    manifest::read(text).documents.into_iter().next().map(|it| it.value)
}

impl Editor {
    /// Another text, which nothing is known of.
    pub fn replace(&self, text: String) {
        self.text.put(text);
        self.diff.put(None);
        self.answer.put(Vec::new());
        self.lint();
    }

    /// Looks the text over without applying it.
    pub fn lint(&self) {
        let problems = self.text.with_untracked(|text| manifest::read(text).diagnostics);
        self.refused.set(false);
        self.is_new.put(false);
        self.problems.set(in_order(problems));
    }

    /// Shows what came of the text. Says whether it was accepted.
    fn answer(&self, outcome: Outcome) -> bool {
        let accepted = outcome.is_ok();
        self.answer.put(outcome.lines);
        self.refused.put(!accepted);
        self.is_new.put(false);
        self.diff.put(None);
        self.problems.set(in_order(outcome.problems));
        accepted
    }
}

/// Errors first, then by place.
fn in_order(mut problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let rank = |severity: Severity| match severity {
        Severity::Error => 0,
        Severity::Warning => 1,
        Severity::NotSimulated => 2,
    };
    sort_by(&mut problems, |a, b| (rank(a.severity), a.line, a.column).cmp(&(rank(b.severity), b.line, b.column)));
    problems
}
