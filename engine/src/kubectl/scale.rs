//! `kubectl scale` (`kubectl/pkg/cmd/scale/scale.go`, v1.36).

use super::resources::{NOTHING, Wants};
use super::{Context, Done, Dry, Failure, Problem, print};
use crate::api::{Kind, Object};
use crate::apiserver::{ApiError, Reason, Verb as Ask};
use crate::sim::sort_by;

/// How many pods an object asks for, where it can be scaled.
fn wanted(object: &Object) -> Option<i32> {
    match object {
        Object::Deployment(it) => Some(it.spec.wanted()),
        Object::ReplicaSet(it) => Some(it.spec.wanted()),
        Object::StatefulSet(it) => Some(it.spec.replicas.unwrap_or(1)),
        _ => None,
    }
}

pub fn no_scale() -> ApiError {
    ApiError::new(Reason::NotFound, "the server could not find the requested resource".into())
}

pub fn scale(context: &mut Context<'_>) -> Result<Done, Failure> {
    if !context.args.has("replicas") {
        return Err(Failure::error("required flag(s) \"replicas\" not set"));
    }
    let replicas = context.args.int("replicas").and_then(|it| i32::try_from(it).ok()).filter(|it| *it >= 0);
    let Some(replicas) = replicas else {
        return Err(Failure::error(
            "The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0",
        ));
    };
    let current = context.args.int("current-replicas").filter(|it| *it >= 0);
    let words = context.args.words.clone();
    let mut objects = if context.args.has("filename") {
        let items = context.items(false)?;
        items.into_iter().map(|it| it.object).collect()
    } else if words.is_empty() {
        return Err(Failure::error(NOTHING));
    } else {
        if let (Ok((_, named)), false) = (super::resources::names(&words), context.args.is("all")) {
            // The scale of what has none is asked for before anything is looked up.
            let scales = |kind: Kind| {
                matches!(kind, Kind::Deployment | Kind::ReplicaSet | Kind::StatefulSet | Kind::ReplicationController)
            };
            if named.iter().any(|(kind, _)| !scales(*kind)) && current.is_none() && named.len() == 1 {
                return Err(no_scale().into());
            }
        }
        let wants = Wants { type_alone: true, all: context.args.is("all"), ..Wants::default() };
        context.find(&words, wants)?.objects
    };
    if objects.is_empty() && context.problems.is_empty() {
        return Err(Failure::error("no objects passed to scale"));
    }
    let by_list = context.args.is("all") || context.args.has("selector");
    if by_list {
        sort_by(&mut objects, |a, b| a.meta().name.cmp(&b.meta().name));
    }
    for object in objects {
        one(context, object, replicas, current)?;
    }
    context.done()
}

fn one(context: &mut Context<'_>, object: Object, replicas: i32, current: Option<i64>) -> Result<(), Failure> {
    let Some(now) = wanted(&object) else {
        context.problems.push(Problem::from(no_scale()));
        return Ok(());
    };
    if let Some(current) = current.filter(|current| *current != i64::from(now)) {
        let message = ["error: Expected replicas to be ", &current.to_string(), ", was ", &now.to_string()].concat();
        context.problems.push(Problem::Plain(message));
        return Ok(());
    }
    let done = ["scaled", context.dry.suffix()].concat();
    let object = match context.dry {
        Dry::Client => object,
        _ => match context.send("kubectl", Ask::Scale(object.key(), replicas)) {
            Ok(answer) => answer.object,
            Err(error) => {
                context.problems.push(error.into());
                return Ok(());
            }
        },
    };
    let text = print::changed(&context.args, &object, &done)?;
    context.out(&text);
    Ok(())
}
