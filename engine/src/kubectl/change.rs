//! What verbs that change objects have in common.

use serde_json::{Map, Value};

use super::resources::Wants;
use super::{Context, Dry, Failure, Problem, print};
use crate::api::Object;
use crate::apiserver::{Answer, ApiError, PatchType, Verb as Ask, merge_patch};

impl Context<'_> {
    /// The objects that `-f` names, as they are, or those that the words name; types alone mean all of them.
    ///
    /// # Errors
    /// kubectl's words for a line that says no such thing.
    pub fn targets(&mut self, words: &[String]) -> Result<Vec<Object>, Failure> {
        if self.args.is("local") {
            return Err(Failure::not_simulated("the flag --local", ""));
        }
        if self.args.has("filename") {
            let mut objects = Vec::new();
            for item in self.items(false)? {
                match self.live_in(item.kind(), &item.object.meta().namespace, &item.object.meta().name) {
                    Ok(object) => objects.push(object),
                    Err(error) => self.problems.push(error.into()),
                }
            }
            return Ok(objects);
        }
        let wants = Wants {
            type_alone: true,
            all: self.args.is("all"),
            everywhere: self.args.is("all-namespaces"),
            ..Wants::default()
        };
        self.find(words, wants).map(|found| found.objects)
    }

    /// Sends a patch, tries it out at the server, or only at home.
    ///
    /// # Errors
    /// As the API server answers.
    pub fn patch(
        &mut self,
        manager: &'static str,
        object: &Object,
        kind: PatchType,
        patch: Value,
    ) -> Result<Answer, ApiError> {
        if self.dry == Dry::Client {
            let mut value = object.to_value();
            merge_patch(&mut value, &patch);
            let object = Object::from_value(object.kind(), value).unwrap_or_else(|_| object.clone());
            return Ok(Answer { object, outcome: crate::apiserver::Effect::Configured });
        }
        self.send(manager, Ask::Patch(object.key(), kind, patch))
    }

    /// Says what was done to an object, or notes why it was not.
    ///
    /// # Errors
    /// What does not fit the object.
    pub fn say(&mut self, result: Result<Object, Problem>, done: &str) -> Result<(), Failure> {
        match result {
            Ok(object) => {
                let done = [done, self.dry.suffix()].concat();
                let text = print::changed(&self.args, &object, &done)?;
                self.out(&text);
            }
            Err(problem) => self.problems.push(problem),
        }
        Ok(())
    }
}

/// The JSON merge patch that makes one value of another.
pub fn difference(from: &Value, to: &Value) -> Value {
    let (Value::Object(old), Value::Object(new)) = (from, to) else { return to.clone() };
    let mut patch = Map::new();
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, value) in new {
        match old.get(name) {
            Some(before) if before == value => {}
            Some(before @ Value::Object(_)) if value.is_object() => {
                patch.insert(name.clone(), difference(before, value));
            }
            _ => {
                patch.insert(name.clone(), value.clone());
            }
        }
    }
    Value::Object(patch)
}
