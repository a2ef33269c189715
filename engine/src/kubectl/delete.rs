//! `kubectl delete` (`kubectl/pkg/cmd/delete/delete.go`, v1.36).

use super::flags::Args;
use super::resources::{NOTHING, Wants};
use super::{Cluster, Context, Done, Dry, Failure, Output, Problem, Waiting, reference, resource_of};
use crate::api::{Object, ObjectKey, Uid};
use crate::apiserver::{DeleteOptions, Propagation, Verb as Ask};

/// `--cascade`
///
/// # Errors
/// kubectl's words for what is none.
pub fn cascade(text: &str) -> Result<Propagation, Failure> {
    Ok(match text {
        "" | "background" | "true" => Propagation::Background,
        "foreground" => Propagation::Foreground,
        "orphan" | "false" => Propagation::Orphan,
        _ => {
            return Err(Failure::errors(&[
                "invalid cascade value (",
                text,
                "). Must be \"background\", \"foreground\", or \"orphan\"",
            ]));
        }
    })
}

const FORCED: &str = "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.\n";

/// How many seconds the objects get, where the line says so.
fn grace(args: &Args) -> Result<Option<i64>, Failure> {
    let mut grace = args.int("grace-period").filter(|it| *it >= 0);
    let force = args.is("force");
    if args.is("now") {
        if grace.is_some() {
            return Err(Failure::error("--now and --grace-period cannot be specified together"));
        }
        grace = Some(1);
    }
    if force && grace.is_none() {
        grace = Some(0);
    }
    if grace == Some(0) && !force {
        grace = Some(1);
    }
    if force && grace.is_some_and(|it| it > 0) {
        return Err(Failure::error("--force and --grace-period greater than 0 cannot be specified together"));
    }
    Ok(grace)
}

pub fn delete(context: &mut Context<'_>) -> Result<Done, Failure> {
    let args = &context.args;
    let propagation = cascade(args.text("cascade"))?;
    let (grace, force) = (grace(args)?, args.is("force"));
    if args.is("interactive") {
        return Err(Failure::not_simulated("the flag --interactive", ""));
    }
    if !matches!(args.text("output"), "" | "name") {
        return Err(Failure::errors(&[
            "unexpected -o output mode: ",
            args.text("output"),
            ". We only support '-o name'",
        ]));
    }
    let objects = targets(context)?;
    if force && grace == Some(0) && context.dry != Dry::Client {
        context.out.err(FORCED);
    }
    let options = DeleteOptions { grace_seconds: grace, propagation: Some(propagation), ..DeleteOptions::default() };
    let mut waited = Vec::new();
    let mut n_found = 0;
    for (object, during) in &objects {
        n_found += 1;
        if context.dry != Dry::Client
            && let Err(error) = context.send("kubectl", Ask::Delete(object.key(), options))
        {
            context.problems.push(Problem::Api { error, during: during.clone() });
            continue;
        }
        say(context, &object.key(), grace == Some(0) && force);
        waited.push((object.key(), object.meta().uid));
    }
    if n_found == 0 && context.problems.is_empty() {
        if !context.args.is("ignore-not-found") {
            context.out("No resources found\n");
        }
        return context.done();
    }
    let waits = context.args.is_or("wait", !(force && grace == Some(0)));
    if !waits || context.dry != Dry::No || waited.is_empty() {
        return context.done();
    }
    let failure = context.done().err();
    let until = context.args.duration("timeout").filter(|it| *it > 0).map(|it| context.now() + it);
    Ok(Done::Wait(Box::new(Gone { waited, failure, until })))
}

/// The objects that are to go, with what is said of a refusal.
fn targets(context: &mut Context<'_>) -> Result<Vec<(Object, String)>, Failure> {
    let words = context.args.words.clone();
    let ignores = context.args.is("ignore-not-found");
    if context.args.has("filename") {
        let mut targets = Vec::new();
        for item in context.items(false)? {
            let during = ["error when deleting \"", &item.source, "\""].concat();
            match context.live_in(item.kind(), &item.object.meta().namespace, &item.object.meta().name) {
                Ok(object) => targets.push((object, during)),
                Err(_) if ignores => {}
                Err(error) => context.problems.push(Problem::Api { error, during }),
            }
        }
        return Ok(targets);
    }
    if words.is_empty() {
        return Err(Failure::error(NOTHING));
    }
    let wants = Wants {
        all: context.args.is("all"),
        everywhere: context.args.is("all-namespaces"),
        ignore_not_found: ignores,
        ..Wants::default()
    };
    let found = context.find(&words, wants)?;
    if !found.named.is_empty() && found.objects.is_empty() && ignores {
        return Ok(Vec::new());
    }
    Ok(found.objects.into_iter().map(|object| (object, String::new())).collect())
}

fn say(context: &mut Context<'_>, key: &ObjectKey, is_forced: bool) {
    if context.args.text("output") == "name" {
        return context.line(&[&reference(key)]);
    }
    let done = if is_forced { " force deleted" } else { " deleted" };
    let place =
        if key.namespace.is_empty() { String::new() } else { [" from ", &key.namespace, " namespace"].concat() };
    let suffix = context.dry.suffix();
    context.line(&[&resource_of(key.kind), " \"", &key.name, "\"", done, &place, suffix]);
}

/// Waits until objects are gone, finalizers and grace periods included.
struct Gone {
    waited: Vec<(ObjectKey, Uid)>,
    failure: Option<Failure>,
    until: Option<i64>,
}

impl Waiting for Gone {
    fn look(&mut self, cluster: &mut dyn Cluster, out: &mut Output) -> Option<i32> {
        let is_there =
            |key: &ObjectKey, uid: Uid| cluster.api().objects().get(key).is_some_and(|it| it.meta().uid == uid);
        self.waited.retain(|(key, uid)| is_there(key, *uid));
        if let (Some((key, _)), Some(until)) = (self.waited.first(), self.until)
            && cluster.wall_millis() >= until
        {
            let what = [key.kind.plural(), "/", key.name.as_str()].concat();
            out.err(&["error: timed out waiting for the condition on ", &what, "\n"].concat());
            return Some(1);
        }
        if !self.waited.is_empty() {
            return None;
        }
        match self.failure.take() {
            Some(failure) => {
                out.err(&failure.print());
                Some(1)
            }
            None => Some(0),
        }
    }

    fn due(&self) -> Option<i64> {
        self.until
    }
}
