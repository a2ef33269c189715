//! `kubectl replace`: whole objects written anew, as somebody who edited the live ones does.
//!
//! Mirrors `kubectl/pkg/cmd/replace/replace.go`, v1.36. With a resourceVersion the write is refused where somebody else
//! came first.

use super::simulation::{located, namespace_of};
use super::{Outcome, Simulation};
use crate::apiserver::{Request, Verb};
use crate::client::Author;
use crate::kubectl::reference;
use crate::manifest::{Manifest, Severity};
use crate::sim::Seq;

impl Simulation {
    pub(super) fn replace(&mut self, manifest: Manifest, cause: Seq) -> Outcome {
        let mut outcome = Outcome { lines: Vec::new(), problems: manifest.diagnostics };
        if outcome.problems.iter().any(|it| it.severity == Severity::Error) {
            return outcome;
        }
        if manifest.documents.is_empty() {
            outcome.lines.push("error: no objects passed to replace".into());
        }
        for document in manifest.documents {
            let mut object = document.object.clone();
            object.meta_mut().namespace = namespace_of(&document.object);
            let request = Request::new("kubectl-replace", Verb::Update(object));
            match self.execute(&request, Author::You, cause, false) {
                Ok(answer) => outcome.lines.push([&reference(&answer.object.key()), " replaced"].concat()),
                Err(error) => {
                    let mut problems = located(&document, &error);
                    // What is not about one field has no place, and begins with what the server answered.
                    for it in problems.iter_mut().filter(|it| it.path.is_empty()) {
                        (it.line, it.column, it.length) = (0, 0, 0);
                        let code = error.code().to_string();
                        it.message = [code.as_str(), " ", error.reason.name(), ": ", it.message.as_str()].concat();
                    }
                    outcome.problems.extend(problems);
                }
            }
        }
        outcome
    }
}
