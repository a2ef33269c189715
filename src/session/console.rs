//! What is typed in the console, and what it answers. Who has a line to run calls [`Session::run_line`].

use loopscope_engine::api::Kind;
use loopscope_engine::history::BranchId;
use loopscope_engine::kubectl::{self, Block, Completion, End};
use loopscope_engine::manifest::Severity;
use loopscope_engine::view;

use super::{Core, Part, Session, Tone, keep};
use crate::platform;
use crate::ui::{SharedState, State};

/// A command and what came of it: the list changes with commands, the entry with its output.
#[derive(Clone)]
pub struct BlockEntry {
    pub id: u32,
    pub block: SharedState<Block>,
}

impl PartialEq for BlockEntry {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// What the command under way waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// None is under way.
    Free,
    Time,
    Editor,
}

#[derive(Clone, Copy)]
pub struct Typing {
    pub blocks: State<Vec<BlockEntry>>,
    pub hold: State<Hold>,
    /// Texts that wait for their turn.
    pub n_queued: State<usize>,
    /// What is in the prompt.
    pub line: State<String>,
    /// The command whose object is in the manifest's editor.
    pub editing: State<Option<String>>,
}

impl Typing {
    pub(super) fn new() -> Self {
        Self {
            blocks: State::new(Vec::new()),
            hold: State::new(Hold::Free),
            n_queued: State::new(0),
            line: State::new(String::new()),
            editing: State::new(None),
        }
    }
}

/// Where the commands that are kept end.
pub(super) type Mark = (BranchId, usize);

impl Core {
    pub(super) fn mark(&self) -> Mark {
        let id = self.history.current();
        (id, self.history.branch(id).map_or(0, |it| it.steps().len()))
    }

    /// Keeps the commands that were given since. Says whether there were any.
    pub(super) fn keep_since(&mut self, (branch, n): Mark, session: Session) -> bool {
        let (here, now) = self.mark();
        if here != branch {
            keep::all(&self.history);
            self.later = None;
            session.focus.chain.put(None);
            session.focus.origin.put(None);
            session.past.forked.put(self.history.branch(here).map(|it| it.name.clone()));
        } else if now > n
            && let Some(branch) = self.history.branch(here)
        {
            keep::add(&branch.steps()[n..]);
        }
        here != branch || now > n
    }

    /// The same for commands that the console has given.
    pub(super) fn keep_typed(&mut self, mark: Mark, session: Session) {
        if self.keep_since(mark, session) {
            session.board.meddled.put(true);
        }
    }

    /// Shows what the console has printed, where that is something new.
    pub(super) fn show_console(&mut self, session: Session) {
        let typing = &session.typing;
        let hold = match (self.terminal.is_busy(), self.terminal.editor()) {
            (false, _) => Hold::Free,
            (_, None) => Hold::Time,
            _ => Hold::Editor,
        };
        typing.hold.put(hold);
        typing.n_queued.put(self.terminal.n_queued());
        if self.typed_shown == self.terminal.version() {
            return;
        }
        self.typed_shown = self.terminal.version();
        let old = typing.blocks.get_untracked();
        let entry = |block: &Block| match old.iter().find(|it| it.id == block.id) {
            Some(known) => {
                known.block.put(block.clone());
                known.clone()
            }
            None => BlockEntry { id: block.id, block: SharedState::new(block.clone()) },
        };
        typing.blocks.put(self.terminal.blocks().iter().map(entry).collect());
    }
}

impl Session {
    /// Runs what a person has typed or pasted, or what a text offers to run, and shows the console.
    pub fn run_line(self, text: &str) {
        self.open(Part::Console);
        self.stop_seeking();
        if text.trim() == "clear" {
            return self.clear_console();
        }
        if let Some(why) = self.is_not_allowed(text) {
            return self.toast(why, Tone::Error);
        }
        self.with_core(|core| core.terminal.enter(text));
        self.type_on();
    }

    /// Lets the console go on as far as it can at this instant.
    pub(super) fn type_on(self) {
        let more = self.with_core(|core| {
            let mark = core.mark();
            let more = core.history.type_on(&mut core.terminal);
            core.keep_typed(mark, self);
            more
        });
        self.refresh();
        self.after_typing();
        if more == Some(true) {
            platform::next_frame(move || self.type_on());
        }
    }

    /// What follows from what the console has done: an editor to open or to leave, another branch to tell of.
    pub(super) fn after_typing(self) {
        self.tell_of_fork();
        let (wanted, is_open) =
            match self.with_core(|core| (core.terminal.editor().map(String::from), core.laid_aside.is_some())) {
                Some((None, false)) | None => return,
                Some(it) => it,
            };
        match (wanted, is_open) {
            (Some(_), false) if self.is_embedded => {
                self.cancel_editing();
                self.toast("kubectl edit needs the editor: open the full page", Tone::Error);
            }
            (Some(text), false) => {
                let manifest = self.editor.text.get_untracked();
                let command = self.with_core(|core| {
                    core.laid_aside = Some(manifest);
                    core.terminal.blocks().last().map(|it| it.line.clone())
                });
                self.editor.replace(text);
                self.typing.editing.put(command.flatten());
                self.open(Part::Manifest);
                platform::next_frame(|| platform::begin("editor"));
            }
            (None, true) => {
                if let Some(manifest) = self.with_core(|core| core.laid_aside.take()).flatten() {
                    self.editor.replace(manifest);
                }
                self.typing.editing.put(None);
                self.open(Part::Console);
                platform::next_frame(|| platform::focus_by_id("prompt"));
            }
            _ => {}
        }
    }

    /// Gives the editor's text back to the command that waits for it. Says whether it could be read.
    pub fn finish_editing(self) -> bool {
        self.editor.lint();
        let is_bad = |problems: &Vec<loopscope_engine::manifest::Diagnostic>| {
            problems.iter().any(|it| it.severity == Severity::Error)
        };
        if self.editor.problems.with_untracked(is_bad) {
            self.editor.refused.put(true);
            return false;
        }
        let text = self.editor.text.get_untracked();
        self.with_core(|core| core.terminal.edited(&text));
        self.type_on();
        let has_failed = self.with_core(|core| {
            let has_failed =
                core.terminal.blocks().iter().rfind(|it| it.end != End::Open).is_some_and(|it| it.end == End::Exit(1));
            if has_failed {
                core.terminal.console.write(KEPT, text);
            }
            has_failed
        });
        if has_failed == Some(true) {
            self.toast(["Your text is kept in the console's file ", KEPT].concat(), Tone::Error);
        }
        true
    }

    /// Leaves the object as it was.
    pub fn cancel_editing(self) {
        self.with_core(|core| {
            let text = core.terminal.editor().unwrap_or_default().to_owned();
            core.terminal.edited(&text);
        });
        self.type_on();
    }

    /// Stops what is under way in the console, and says why.
    pub fn stop_line(self, why: &'static str) {
        if self.with_core(|core| core.terminal.stop(why)) == Some(true) {
            self.with_core(|core| core.show_console(self));
            self.after_typing();
        }
    }

    pub fn clear_console(self) {
        self.with_core(|core| {
            core.terminal.clear();
            core.show_console(self);
        });
    }

    /// What may come next on a line.
    pub fn complete(self, text: &str) -> Completion {
        self.with_core(|core| kubectl::complete(text, &core.terminal.console, &core.history)).unwrap_or_default()
    }

    /// All that a command has printed.
    pub fn printed(self, id: u32) -> String {
        let find = |core: &mut Core| core.terminal.blocks().iter().find(|it| it.id == id).map(Block::text);
        self.with_core(find).flatten().unwrap_or_default()
    }

    /// The name of a Deployment to begin with.
    pub fn first_deployment(self) -> Option<String> {
        let key = self.with_core(|core| view::first_key(core.sim())).flatten()?;
        (key.kind == Kind::Deployment && &*key.namespace == "default").then(|| key.name.to_string())
    }
}

/// The file that gets an edited text that was refused.
const KEPT: &str = "edited.yaml";
