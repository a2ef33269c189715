//! `kubectl wait` (`kubectl/pkg/cmd/wait/wait.go`, v1.36).

use serde_json::Value;

use super::jsonpath::{Template, relaxed};
use super::resources::{self, Wants};
use super::value::{list, plain, text};
use super::{Cluster, Context, Done, Failure, Output, Waiting, reference};
use crate::api::{Kind, Object, ObjectKey, Uid};

enum For {
    Condition(String, String),
    Deletion,
    Creation,
    Path(Template, Option<String>),
}

fn goal(given: &[&str]) -> Result<For, Failure> {
    let Some(text) = given.last().filter(|it| !it.is_empty()) else {
        return Err(Failure::error("unrecognized condition: []"));
    };
    if text.eq_ignore_ascii_case("delete") {
        return Ok(For::Deletion);
    }
    if text.eq_ignore_ascii_case("create") {
        return Ok(For::Creation);
    }
    if let Some(condition) = text.strip_prefix("condition=") {
        let (kind, status) = condition.split_once('=').unwrap_or((condition, "true"));
        return Ok(For::Condition(kind.into(), status.into()));
    }
    if let Some(path) = text.strip_prefix("jsonpath=") {
        let end = path.rfind('}').map_or(path.len(), |at| at + 1);
        let (path, rest) = path.split_at(end);
        let wanted = rest.strip_prefix('=').map(|it| it.trim_matches(['\'', '"']).to_string());
        if wanted.as_deref() == Some("") {
            return Err(Failure::error("jsonpath wait has to have a value after equal sign"));
        }
        let template = relaxed(path.trim_matches(['\'', '"'])).and_then(|it| Template::read(&it));
        return Ok(For::Path(template.map_err(|error| Failure::error(&error))?, wanted));
    }
    Err(Failure::errors(&["unrecognized condition: \"", text, "\""]))
}

impl For {
    fn is_met(&self, object: &Object) -> bool {
        let value = object.to_value();
        match self {
            For::Condition(kind, status) => {
                let conditions = list(&value, "status.conditions");
                let found = conditions.iter().find(|it| text(it, "type").eq_ignore_ascii_case(kind));
                let observed = found.and_then(|it| it.get("observedGeneration")).and_then(Value::as_i64);
                let generation = super::value::int(&value, "metadata.generation");
                let of_all = super::value::at(&value, "status.observedGeneration").as_i64();
                observed.is_none_or(|it| it >= generation)
                    && of_all.is_none_or(|it| it >= generation)
                    && found.is_some_and(|it| text(it, "status").eq_ignore_ascii_case(status))
            }
            For::Path(template, wanted) => {
                let found = template.find(&value).unwrap_or_default();
                match (found.as_slice(), wanted) {
                    ([], _) => false,
                    (_, None) => true,
                    ([one], Some(wanted)) => plain(one) == *wanted,
                    _ => false,
                }
            }
            For::Creation => true,
            For::Deletion => false,
        }
    }
}

pub fn wait(context: &mut Context<'_>) -> Result<Done, Failure> {
    let goal = goal(&context.args.all("for"))?;
    let words = context.args.words.clone();
    let (now, timeout) = (context.now(), context.args.duration("timeout").unwrap_or(30_000));
    // 0 looks once; less than 0 waits for a week.
    let until = now + if timeout < 0 { 7 * 86_400_000 } else { timeout };
    if words.is_empty() && !context.args.has("filename") {
        return Err(Failure::error(resources::NOTHING));
    }
    if let For::Creation = goal {
        let (_, named) = resources::names(&words)?;
        let Some((kind, name)) = named.first() else {
            return Err(Failure::error("resource name must be provided"));
        };
        let namespace = if kind.is_namespaced() { context.namespace() } else { crate::api::Name::default() };
        let key = ObjectKey::new(*kind, namespace, name.as_str());
        return Ok(Done::Wait(Box::new(Wait { rest: vec![(key, None)], goal, until, failed: false })));
    }
    let objects = if context.args.has("filename") {
        context.targets(&words)?
    } else {
        let wants =
            Wants { all: context.args.is("all"), everywhere: context.args.is("all-namespaces"), ..Wants::default() };
        let found = context.find(&words, wants)?;
        if let (For::Deletion, false) = (&goal, found.named.is_empty()) {
            // What is not there has gone already.
            context.problems.clear();
            if found.objects.is_empty() {
                return Ok(Done::Exit(0));
            }
        }
        found.objects
    };
    if !context.problems.is_empty() {
        return context.done();
    }
    if objects.is_empty() {
        return Err(Failure::error("no matching resources found"));
    }
    let mut rest: Vec<(ObjectKey, Option<Uid>)> = objects.iter().map(|it| (it.key(), Some(it.meta().uid))).collect();
    rest.reverse();
    Ok(Done::Wait(Box::new(Wait { rest, goal, until, failed: false })))
}

struct Wait {
    /// The objects to come, the next one last.
    rest: Vec<(ObjectKey, Option<Uid>)>,
    goal: For,
    until: i64,
    failed: bool,
}

impl Wait {
    fn told(&self, key: &ObjectKey) -> String {
        let what = [key.kind.plural(), "/", key.name.as_str()].concat();
        match self.goal {
            For::Creation => "error: timed out waiting for the condition\n".into(),
            _ => ["error: timed out waiting for the condition on ", &what, "\n"].concat(),
        }
    }
}

impl Waiting for Wait {
    fn look(&mut self, cluster: &mut dyn Cluster, out: &mut Output) -> Option<i32> {
        while let Some((key, uid)) = self.rest.last().cloned() {
            let found = match key.kind {
                Kind::Event => None,
                _ => cluster.api().objects().get(&key).cloned(),
            };
            let met = match (&self.goal, &found) {
                (For::Deletion, None) => true,
                (For::Deletion, Some(object)) => uid.is_some_and(|uid| uid != object.meta().uid),
                (_, None) if uid.is_some() && !matches!(self.goal, For::Creation) => false,
                (goal, Some(object)) => goal.is_met(object),
                (_, None) => false,
            };
            if met {
                out.out(&[&reference(&key), " condition met\n"].concat());
                self.rest.pop();
                continue;
            }
            if cluster.wall_millis() >= self.until {
                out.err(&self.told(&key));
                self.failed = true;
                self.rest.pop();
                continue;
            }
            return None;
        }
        Some(i32::from(self.failed))
    }

    fn due(&self) -> Option<i64> {
        Some(self.until)
    }
}
