use loopscope_engine::api::ObjectKey;
use loopscope_engine::manifest::Severity;
use loopscope_engine::view;
use loopscope_engine::world::{Command, NodeSetup, Outcome, Subject};

use super::{Session, Toast, Tone};
use crate::platform::wall_ms;

/// So many toasts at once; older ones go.
const MOST_TOASTS: usize = 3;

/// Two presses of a switch within this time are one, in wall ms.
const SWITCH_MS: f64 = 600.0;

impl Session {
    pub(super) fn dispatch(self, command: Command) -> Option<Outcome> {
        self.stop_seeking();
        let outcome = self.with_core(|core| {
            let mark = core.mark();
            let outcome = core.history.dispatch(command);
            core.keep_since(mark, self);
            (outcome, core.history.current() != mark.0)
        });
        if outcome.as_ref().is_some_and(|(_, has_forked)| *has_forked) {
            self.stop_line("another future began");
        }
        // A command that waits may have waited for this.
        self.type_on();
        outcome.map(|(outcome, _)| outcome)
    }

    /// Applies a manifest that is not in the editor, without words about it.
    pub fn apply_beside(self, manifest: &str) {
        self.dispatch(Command::Apply { manifest: manifest.to_owned() });
    }

    /// Dispatches a command whose answer is shown in a toast.
    pub fn act(self, command: Command) {
        let Some(outcome) = self.dispatch(command) else { return };
        if let Some(problem) = outcome.problems.iter().find(|it| it.severity == Severity::Error) {
            self.toast(problem.message.clone(), Tone::Error);
        } else if let Some(line) = outcome.lines.first() {
            self.toast(line.clone(), Tone::Answer);
        }
    }

    pub fn delete(self, key: ObjectKey) {
        self.meddle(Command::delete((&key).into()));
    }

    pub fn scale(self, key: ObjectKey, replicas: i32) {
        self.act(Command::Scale { target: (&key).into(), replicas });
    }

    pub fn set_image(self, key: ObjectKey, container: String, image: String) {
        self.act(Command::SetImage { target: (&key).into(), container, image });
    }

    /// Makes an image's programs behave as one of [`view::BEHAVIORS`] says, without words about it.
    pub fn set_program(self, image: &str, index: usize) {
        let behavior = view::behavior(image, index);
        self.dispatch(Command::SetBehavior { subject: Subject::Image(image.to_owned()), behavior });
    }

    /// Does something on purpose that the loops have to answer.
    pub fn meddle(self, command: Command) {
        if self.is_hasty(&command) {
            return;
        }
        self.board.meddled.put(true);
        self.act(command);
    }

    /// The second press of a double click on a machine's switch, whose meaning has just become the opposite.
    fn is_hasty(self, command: &Command) -> bool {
        let (Command::StopNode { node } | Command::StartNode { node }) = command else { return false };
        let (now, node) = (wall_ms(), node.clone());
        self.with_core(|core| {
            let is_hasty = core.switched.0 == node && now - core.switched.1 < SWITCH_MS;
            if !is_hasty {
                core.switched = (node, now);
            }
            is_hasty
        })
        .unwrap_or_default()
    }

    /// Switches on one more machine.
    pub fn add_node(self) {
        let number = self.with_core(|core| core.sim().machines().len() + 1).unwrap_or(1);
        self.act(Command::AddNode {
            node: NodeSetup::named(["node-", number.to_string().as_str()].concat(), "4", "8Gi"),
        });
    }

    pub(super) fn select_something(self) {
        if self.focus.inspection.with_untracked(|it| it.as_ref().is_none_or(|it| it.gone.is_some())) {
            self.select_first();
        }
    }

    /// Shows the first workload in the inspector.
    pub fn select_first(self) {
        let first = self.with_core(|core| view::first_key(core.sim())).flatten();
        self.focus.selected.put(first);
        self.focus.chain.put(None);
        self.refresh();
    }

    pub fn toast(self, text: impl Into<String>, tone: Tone) {
        let text = text.into();
        let Some(id) = self.with_core(|core| {
            core.next_toast += 1;
            core.next_toast
        }) else {
            return;
        };
        self.toasts.update(|toasts| {
            toasts.retain(|toast| toast.text != text && (toast.tone, tone) != (Tone::Notice, Tone::Notice));
            toasts.push(Toast { id, text, tone });
            let surplus = toasts.len().saturating_sub(MOST_TOASTS);
            toasts.drain(..surplus);
        });
    }

    pub fn dismiss(self, id: u32) {
        self.toasts.update(|toasts| toasts.retain(|toast| toast.id != id));
    }
}
