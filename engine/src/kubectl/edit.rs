//! `kubectl edit` (`kubectl/pkg/cmd/util/editor/editoptions.go`, v1.36).
//!
//! The editor belongs to whoever shows the console: here an object's text is offered, and what comes back is written.

use super::print::finished;
use super::{Cluster, Context, Done, Failure, Output, Problem, Waiting, change, reference, resources};
use crate::api::Object;
use crate::apiserver::{PatchType, Request, Verb as Ask};
use crate::manifest::{read, to_yaml};

pub fn edit(context: &mut Context<'_>) -> Result<Done, Failure> {
    let words = context.args.words.clone();
    if words.is_empty() && !context.args.has("filename") {
        return Err(Failure::error(resources::NOTHING));
    }
    let targets = context.targets(&words)?;
    if !context.problems.is_empty() {
        return context.done();
    }
    let [target] = targets.as_slice() else {
        return match targets.len() {
            0 => Err(Failure::error("edit cancelled, no objects found")),
            _ => Err(Failure::not_simulated("editing several objects at once", "Edit one after the other")),
        };
    };
    let text = to_yaml(&finished(target, false));
    let manager = context.manager("kubectl-edit");
    Ok(Done::Wait(Box::new(Editing { target: target.clone(), text, edited: None, refused: None, manager })))
}

/// Waits for the editor.
struct Editing {
    target: Object,
    text: String,
    edited: Option<String>,
    /// What was edited and refused, which would else be lost.
    refused: Option<(String, String)>,
    manager: &'static str,
}

impl Editing {
    fn write(&self, edited: &str, cluster: &mut dyn Cluster, out: &mut Output) -> Result<(), Failure> {
        if edited.trim() == self.text.trim() {
            out.err("Edit cancelled, no changes made.\n");
            return Ok(());
        }
        let manifest = read(edited);
        if let Some(error) = manifest.kubectl_error(0) {
            return Err(Failure::plain(error.replace("STDIN", "the edited text")));
        }
        let Some(document) = manifest.documents.first() else {
            out.err("Edit cancelled, saved file was empty.\n");
            return Ok(());
        };
        if document.object.key() != self.target.key() {
            return Err(Failure::error("at least one of apiVersion, kind and name was changed"));
        }
        let old = read(&self.text);
        let before = old.documents.first().map(|it| it.value.clone()).unwrap_or_default();
        let patch = change::difference(&before, &document.value);
        let ask = Ask::Patch(self.target.key(), PatchType::Merge, patch);
        let answer =
            cluster.ask(Request::new(self.manager, ask)).map_err(|error| Failure::of(vec![Problem::from(error)]))?;
        out.out(&[&reference(&answer.object.key()), " edited\n"].concat());
        Ok(())
    }
}

impl Waiting for Editing {
    fn look(&mut self, cluster: &mut dyn Cluster, out: &mut Output) -> Option<i32> {
        let edited = self.edited.take()?;
        match self.write(&edited, cluster, out) {
            Ok(()) => Some(0),
            Err(failure) => {
                out.err(&failure.print());
                let file = ["kubectl-edit-", &self.target.meta().name, ".yaml"].concat();
                out.err(&["A copy of your changes has been stored to \"", &file, "\"\n"].concat());
                self.refused = Some((file, edited));
                Some(1)
            }
        }
    }

    fn editor(&self) -> Option<&str> {
        Some(&self.text)
    }

    fn edited(&mut self, text: String) {
        self.edited = Some(text);
    }

    fn left(&mut self) -> Option<(String, String)> {
        self.refused.take()
    }
}
