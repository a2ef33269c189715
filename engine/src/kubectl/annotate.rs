//! `kubectl label` and `kubectl annotate` (`kubectl/pkg/cmd/{label,annotate}`, v1.36).

use serde_json::{Map, Value};

use super::value::object;
use super::{Context, Done, Failure, Problem, resources};
use crate::api::{Labels, Object};
use crate::apiserver::{PatchType, label_value};

pub fn label(context: &mut Context<'_>) -> Result<Done, Failure> {
    Words { noun: "label", field: "labels", manager: "kubectl-label", of_labels: true }.run(context)
}

pub fn annotate(context: &mut Context<'_>) -> Result<Done, Failure> {
    Words { noun: "annotation", field: "annotations", manager: "kubectl-annotate", of_labels: false }.run(context)
}

struct Words {
    noun: &'static str,
    field: &'static str,
    manager: &'static str,
    of_labels: bool,
}

#[derive(Default)]
struct Changes {
    set: Vec<(String, String)>,
    removed: Vec<String>,
}

impl Words {
    /// Cuts the words of a line into what names objects and what is to change.
    fn split(&self, words: &[String]) -> Result<(Vec<String>, Vec<String>), Failure> {
        let is_pair = |word: &String| word.contains('=') || (word.ends_with('-') && word.len() > 1);
        let first = words.iter().position(is_pair).unwrap_or(words.len());
        let (objects, pairs) = words.split_at(first);
        if let Some(odd) = pairs.iter().find(|it| !is_pair(it)) {
            return Err(Failure::errors(&["all resources must be specified before ", self.noun, " changes: ", odd]));
        }
        Ok((objects.to_vec(), pairs.to_vec()))
    }

    fn changes(&self, pairs: &[String]) -> Result<Changes, Failure> {
        let mut changes = Changes::default();
        for pair in pairs {
            match pair.split_once('=') {
                Some((name, value)) => {
                    let wrong = if self.of_labels { label_value(value) } else { Vec::new() };
                    if !wrong.is_empty() {
                        return Err(Failure::errors(&["invalid label value: \"", pair, "\": ", &wrong.join("; ")]));
                    }
                    changes.set.push((name.into(), value.into()));
                }
                None => changes.removed.push(pair.trim_end_matches('-').into()),
            }
        }
        if changes.set.iter().any(|(name, _)| changes.removed.contains(name)) {
            let article = if self.of_labels { "a " } else { "an " };
            return Err(Failure::errors(&[
                "can not both modify and remove ",
                article,
                self.noun,
                " in the same command",
            ]));
        }
        Ok(changes)
    }

    fn of<'a>(&self, object: &'a Object) -> &'a Labels {
        if self.of_labels { &object.meta().labels } else { &object.meta().annotations }
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Done, Failure> {
        let words = context.args.words.clone();
        let (objects, pairs) = self.split(&words)?;
        let lists = context.args.is("list");
        if objects.is_empty() && !context.args.has("filename") {
            return Err(Failure::error(
                "one or more resources must be specified as <resource> <name> or <resource>/<name>",
            ));
        }
        // A word behind the names that changes nothing is a name to kubectl, but one too many without a change.
        if pairs.is_empty() && !lists {
            let _ = resources::names(&objects)?;
            return Err(Failure::errors(&["at least one ", self.noun, " update is required"]));
        }
        let changes = self.changes(&pairs)?;
        for target in context.targets(&objects)? {
            if lists {
                for (name, value) in self.of(&target) {
                    context.line(&[name, "=", value]);
                }
                continue;
            }
            self.one(context, target, &changes)?;
        }
        context.done()
    }

    fn one(&self, context: &mut Context<'_>, target: Object, changes: &Changes) -> Result<(), Failure> {
        let live = self.of(&target);
        if !context.args.is("overwrite") {
            let taken = changes.set.iter().find_map(|(name, value)| {
                live.get(name).filter(|it| *it != value).map(|it| (name.clone(), it.clone()))
            });
            if let Some((name, value)) = taken {
                let words = match self.of_labels {
                    true => {
                        ["error: '", &name, "' already has a value (", &value, "), and --overwrite is false"].concat()
                    }
                    false => [
                        "error: --overwrite is false but found the following declared annotation(s): '",
                        &name,
                        "' already has a value (",
                        &value,
                        ")",
                    ]
                    .concat(),
                };
                context.problems.push(Problem::Plain(words));
                return Ok(());
            }
        }
        let missing: Vec<&String> = changes.removed.iter().filter(|name| !live.contains_key(name)).collect();
        if self.of_labels {
            for name in &missing {
                context.line(&["label \"", name, "\" not found."]);
            }
        }
        let mut map = Map::new();
        for (name, value) in &changes.set {
            map.insert(name.clone(), value.as_str().into());
        }
        for name in &changes.removed {
            map.insert(name.clone(), Value::Null);
        }
        let changes_nothing = changes.set.iter().all(|(name, value)| live.get(name) == Some(value))
            && missing.len() == changes.removed.len();
        let done = match (self.of_labels, changes_nothing) {
            (false, _) => "annotated",
            (true, true) => "not labeled",
            (true, false) if changes.set.is_empty() => "unlabeled",
            (true, false) => "labeled",
        };
        let mut meta = vec![(self.field, Value::Object(map))];
        let version = context.args.text("resource-version").to_string();
        if !version.is_empty() {
            meta.push(("resourceVersion", version.into()));
        }
        let patch = object(&[("metadata", object(&meta))]);
        let result = match changes_nothing {
            true => Ok(target),
            false => {
                let manager = context.manager(self.manager);
                context.patch(manager, &target, PatchType::Merge, patch).map(|answer| answer.object)
            }
        };
        context.say(result.map_err(Problem::from), done)
    }
}
