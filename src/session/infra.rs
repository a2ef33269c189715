//! Infrastructure as code: its configuration as it is being written, and what is there.

use loopscope_engine::iac::read_config;
use loopscope_engine::manifest::{self, Diagnostic, Severity, Stage};
use loopscope_engine::view::{self, InfraView};
use loopscope_engine::world::{Command, IacDeed};

use super::{Core, Editor, Session, Tone};
use crate::ui::State;

const WHO: &str = "you";

/// What the Infrastructure pane shows, and what is being written there.
#[derive(Clone, Copy)]
pub struct InfraDesk {
    pub view: State<Option<InfraView>>,
    pub editor: Editor,
    /// The text differs from the configuration.
    pub is_changed: State<bool>,
}

impl InfraDesk {
    pub(super) fn new() -> Self {
        Self { view: State::new(None), editor: Editor::new(String::new()), is_changed: State::new(false) }
    }

    /// Takes what is typed, and looks it over.
    pub fn typed(&self, text: String) {
        self.is_changed.put(true);
        self.editor.refused.put(false);
        self.editor.problems.put(mistakes(&text));
        self.editor.text.set(text);
    }
}

/// What is wrong with a configuration, with its place where it is no YAML.
fn mistakes(text: &str) -> Vec<Diagnostic> {
    let (message, place) = match manifest::value(text) {
        Err(it) => return vec![it],
        Ok(_) => match read_config(text) {
            Ok(_) => return Vec::new(),
            Err(why) => (why, 0),
        },
    };
    vec![Diagnostic {
        severity: Severity::Error,
        line: place,
        column: 0,
        length: 0,
        path: String::new(),
        message,
        hint: None,
        stage: Stage::Nobody,
        upstream: None,
        document: 0,
    }]
}

impl Core {
    pub(super) fn show_infra(&self, session: Session) {
        let desk = session.infra;
        let found = view::infra(self.sim());
        let text = found.config.clone();
        desk.view.put(Some(found));
        if !desk.is_changed.get_untracked() && desk.editor.text.with_untracked(|old| *old != text) {
            desk.editor.problems.put(mistakes(&text));
            desk.editor.text.set(text);
        }
    }
}

impl Session {
    /// A command of the tool: what it prints stands in the terminal, what it refuses too.
    pub fn run_terraform(self, deed: IacDeed) {
        self.board.meddled.put(true);
        let outcome = self.dispatch(Command::Iac { deed });
        self.refresh();
        let why = outcome.as_ref().and_then(|it| it.refusal());
        if let Some(first) = why.and_then(|why| why.lines().next()) {
            self.toast(first, Tone::Error);
        }
    }

    /// Something that is done in the cloud by hand.
    pub fn cloud_do(self, deed: IacDeed) {
        self.meddle(Command::Iac { deed });
    }

    /// The editor's text becomes the configuration. Says whether it could be read.
    pub fn write_config(self) -> bool {
        let desk = self.infra;
        let text = desk.editor.text.get_untracked();
        self.write_config_text(text)
    }

    pub fn write_config_text(self, text: String) -> bool {
        let desk = self.infra;
        self.board.meddled.put(true);
        let Some(outcome) = self.dispatch(Command::Iac { deed: IacDeed::Write { text } }) else { return false };
        let is_ok = outcome.is_ok();
        desk.editor.refused.put(!is_ok);
        if is_ok {
            desk.is_changed.put(false);
            self.toast("main.yaml written. Nothing has run.", Tone::Answer);
        } else if let Some(first) = outcome.refusal().and_then(|why| why.lines().next()) {
            self.toast(first, Tone::Error);
        }
        self.refresh();
        is_ok
    }
}

/// Who runs what a person runs here.
pub fn you() -> String {
    WHO.to_owned()
}
