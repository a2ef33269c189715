//! The repository, its agent, and the file that is being changed.

use loopscope_engine::gitops::{Edit, Ignored, Preset, Settings};
use loopscope_engine::view::{self, GitView};
use loopscope_engine::world::{Command, GitDeed};

use super::{Core, Editor, Part, Session, Tone};
use crate::ui::State;

const AUTHOR: &str = "you";
/// The file that a repository begins with.
const FIRST_FILE: &str = "web.yaml";

/// What the Git pane shows, and what is being written there.
#[derive(Clone, Copy)]
pub struct GitDesk {
    pub view: State<GitView>,
    /// The file in the editor.
    pub path: State<String>,
    pub editor: Editor,
    /// The text differs from the newest commit.
    pub is_changed: State<bool>,
    pub message: State<String>,
}

impl GitDesk {
    pub(super) fn new() -> Self {
        Self {
            view: State::new(GitView::default()),
            path: State::new(String::new()),
            editor: Editor::new(String::new()),
            is_changed: State::new(false),
            message: State::new(String::new()),
        }
    }

    /// A file of the newest commit.
    fn text_of(&self, path: &str) -> Option<String> {
        self.view.with_untracked(|it| it.files.iter().find(|it| it.path == path).map(|it| it.text.clone()))
    }

    /// The editor follows Git as long as nobody has changed its text.
    fn follow(&self) {
        let files = self.view.with_untracked(|it| it.files.iter().map(|it| it.path.clone()).collect::<Vec<_>>());
        let path = self.path.get_untracked();
        if self.is_changed.get_untracked() {
            return;
        }
        if !files.contains(&path) {
            self.path.put(files.first().cloned().unwrap_or_default());
        }
        let text = self.text_of(&self.path.get_untracked()).unwrap_or_default();
        if self.editor.text.with_untracked(|old| *old != text) {
            self.editor.replace(text);
        }
    }
}

impl Core {
    /// What the panes of the dock show that are not always there.
    pub(super) fn show_desks(&self, session: Session) {
        if session.focus.shows(Part::Git) {
            session.git.view.put(view::git(self.sim()));
            session.git.follow();
        }
        if session.focus.shows(Part::Infra) {
            self.show_infra(session);
        }
    }
}

impl Session {
    pub fn git_do(self, deed: GitDeed) {
        self.meddle(Command::Git { deed });
    }

    /// A repository with one file, and an agent that reads it.
    pub fn begin_git(self, text: String, settings: Settings) {
        let edits = vec![Edit { path: FIRST_FILE.into(), text: Some(text) }];
        let message = ["Add ", FIRST_FILE].concat();
        self.dispatch(Command::Git { deed: GitDeed::Commit { author: AUTHOR.into(), message, edits } });
        self.git_do(GitDeed::Set { settings });
    }

    /// Sets the agent in another way.
    pub fn set_agent(self, change: impl FnOnce(&mut Settings)) {
        let settings = self.git.view.with_untracked(|it| it.app.as_ref().map(|it| it.settings.clone()));
        let Some(mut settings) = settings else { return };
        change(&mut settings);
        self.git_do(GitDeed::Set { settings });
    }

    pub fn start_agent(self, preset: Preset) {
        self.git_do(GitDeed::Set { settings: Settings::of(preset) });
    }

    /// Lets a field of a kind differ, or no longer.
    pub fn ignore_difference(self, kind: &str, pointer: &str, is_on: bool) {
        let it = Ignored { kind: kind.trim().into(), pointer: pointer.trim().into() };
        self.set_agent(|settings| {
            settings.ignored.retain(|old| *old != it);
            settings.ignored.extend(is_on.then_some(it));
        });
    }

    /// Another file into the editor. What was changed of the one before is gone.
    pub fn open_file(self, path: String) {
        let desk = self.git;
        desk.is_changed.put(false);
        desk.editor.replace(desk.text_of(&path).unwrap_or_default());
        desk.path.put(path);
    }

    /// An empty file, which is there once it is committed.
    pub fn new_file(self, path: &str) {
        let path = path.trim();
        if path.is_empty() {
            return self.toast("A new file needs a name such as service.yaml", Tone::Error);
        }
        self.open_file(path.to_owned());
        self.git.is_changed.put(true);
    }

    /// Commits the editor's text, or takes the file away.
    pub fn commit_file(self, removes: bool) {
        let desk = self.git;
        let path = desk.path.get_untracked();
        let message = desk.message.with_untracked(|it| it.trim().to_owned());
        let verb = if removes { "Remove " } else { "Change " };
        let message = if message.is_empty() { [verb, &path].concat() } else { message };
        let text = (!removes).then(|| desk.editor.text.get_untracked());
        let deed = GitDeed::Commit { author: AUTHOR.into(), message, edits: vec![Edit { path, text }] };
        self.board.meddled.put(true);
        let Some(outcome) = self.dispatch(Command::Git { deed }) else { return };
        let refusal = outcome.refusal().map(str::to_owned);
        match refusal {
            Some(why) => self.toast(why, Tone::Error),
            None => {
                desk.is_changed.put(false);
                desk.message.put(String::new());
                self.toast(outcome.lines.first().cloned().unwrap_or_default(), Tone::Answer);
                self.refresh();
            }
        }
    }

    pub fn revert_commit(self, commit: &str) {
        self.git_do(GitDeed::Revert { author: AUTHOR.into(), commit: commit.into() });
    }

    pub fn roll_back_to(self, commit: &str) {
        self.git_do(GitDeed::Rollback { commit: commit.into() });
    }
}
