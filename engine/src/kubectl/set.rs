//! `kubectl set image`, `resources` and `env` (`kubectl/pkg/cmd/set`, v1.36).

use serde_json::{Map, Value};

use super::value::{list, map, object, set as put, text};
use super::{Context, Done, Failure, Problem};
use crate::api::{Kind, Object, Quantity};
use crate::apiserver::PatchType;

pub fn set(context: &mut Context<'_>) -> Result<Done, Failure> {
    match context.args.words.first() {
        Some(word) if !["selector", "serviceaccount", "subject", "sa"].contains(&word.as_str()) => {
            Err(Failure::usage("kubectl set", &["unknown command \"", word, "\""].concat()))
        }
        _ => Err(Failure::not_simulated("this form of kubectl set", "Use 'kubectl set image', 'resources' or 'env'")),
    }
}

/// Where the pods of an object are described.
fn template_path(kind: Kind) -> &'static str {
    match kind {
        Kind::Pod => "spec",
        Kind::CronJob => "spec.jobTemplate.spec.template.spec",
        _ => "spec.template.spec",
    }
}

fn containers<'a>(value: &'a Value, path: &str, field: &str) -> &'a [Value] {
    list(value, &[path, ".", field].concat())
}

/// The containers that `--containers` names; all of them where it names none.
fn chosen<'a>(value: &'a Value, kind: Kind, wanted: &'a str) -> impl Iterator<Item = &'a Value> {
    let all = containers(value, template_path(kind), "containers").iter();
    all.filter(move |it| matches!(wanted, "" | "*") || text(it, "name") == wanted)
}

/// The patch that changes containers by their names.
fn patch_of(path: &str, changed: &[(&'static str, Vec<Value>)]) -> Value {
    let mut patch = Value::Object(Map::new());
    for (field, items) in changed.iter().filter(|(_, items)| !items.is_empty()) {
        put(&mut patch, &[path, ".", field].concat(), Value::Array(items.clone()));
    }
    patch
}

fn send(
    context: &mut Context<'_>,
    target: &Object,
    changed: &[(&'static str, Vec<Value>)],
    done: &str,
) -> Result<(), Failure> {
    if changed.iter().all(|(_, items)| items.is_empty()) {
        return Ok(());
    }
    let patch = patch_of(template_path(target.kind()), changed);
    let manager = context.manager("kubectl-set");
    let result = match context.dry {
        super::Dry::Client => {
            let api = context.cluster.try_out(&crate::apiserver::Request::new(
                manager,
                crate::apiserver::Verb::Patch(target.key(), PatchType::Strategic, patch),
            ));
            api.map(|answer| answer.object)
        }
        _ => context.patch(manager, target, PatchType::Strategic, patch).map(|answer| answer.object),
    };
    context.say(result.map_err(Problem::from), done)
}

fn split(words: &[String], is_change: impl Fn(&String) -> bool) -> (Vec<String>, Vec<String>) {
    words.iter().cloned().partition(|word| !is_change(word))
}

const FIELDS: [&str; 2] = ["containers", "initContainers"];

pub fn image(context: &mut Context<'_>) -> Result<Done, Failure> {
    let words = context.args.words.clone();
    let (objects, pairs) = split(&words, |word| word.contains('='));
    let targets = context.targets(&objects)?;
    if !context.problems.is_empty() {
        return context.done();
    }
    if pairs.is_empty() {
        return Err(Failure::error("at least one image update is required"));
    }
    let pairs: Vec<(&str, &str)> = pairs.iter().filter_map(|it| it.split_once('=')).collect();
    if pairs.iter().any(|(name, _)| *name == "*") && pairs.len() > 1 {
        return Err(Failure::error(
            "all containers are already specified by *, but saw more than one container_name=container_image pairs",
        ));
    }
    for target in targets {
        let value = target.to_value();
        let path = template_path(target.kind());
        let mut missing = None;
        let mut changed = FIELDS.map(|field| (field, Vec::new()));
        for (name, image) in &pairs {
            let mut is_found = false;
            for (field, items) in &mut changed {
                for container in containers(&value, path, field) {
                    if *name != "*" && text(container, "name") != *name {
                        continue;
                    }
                    is_found = true;
                    if text(container, "image") != *image {
                        let own = text(container, "name").into();
                        items.push(object(&[("image", (*image).into()), ("name", own)]));
                    }
                }
            }
            if !is_found {
                missing = Some(*name);
            }
        }
        if let Some(name) = missing {
            let text = ["error: unable to find container named \"", name, "\""].concat();
            context.problems.push(Problem::Plain(text));
            continue;
        }
        send(context, &target, &changed, "image updated")?;
    }
    context.done()
}

fn amounts(given: &str) -> Result<Map<String, Value>, Failure> {
    let mut amounts = Map::new();
    for pair in given.split(',').filter(|it| !it.is_empty()) {
        let Some((name, amount)) = pair.split_once('=') else {
            return Err(Failure::errors(&["invalid argument syntax ", pair, ", expected <resource>=<value>"]));
        };
        let Ok(quantity) = amount.parse::<Quantity>() else {
            return Err(Failure::error(
                "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
            ));
        };
        amounts.insert(name.into(), quantity.to_string().into());
    }
    Ok(amounts)
}

pub fn resources(context: &mut Context<'_>) -> Result<Done, Failure> {
    let words = context.args.words.clone();
    let (limits, requests) = (amounts(context.args.text("limits"))?, amounts(context.args.text("requests"))?);
    let targets = context.targets(&words)?;
    if !context.problems.is_empty() {
        return context.done();
    }
    if limits.is_empty() && requests.is_empty() {
        return Err(Failure::error(
            "you must specify an update to requests or limits (in the form of --requests/--limits)",
        ));
    }
    let wanted = context.args.text("containers").to_string();
    for target in targets {
        let value = target.to_value();
        let mut items = Vec::new();
        for container in chosen(&value, target.kind(), &wanted) {
            let name = text(container, "name");
            let differs = |field: &str, new: &Map<String, Value>| {
                let old = map(container, &["resources.", field].concat());
                new.iter().any(|(key, value)| old.and_then(|old| old.get(key)) != Some(value))
            };
            if differs("limits", &limits) || differs("requests", &requests) {
                let mut of = Vec::new();
                for (field, amounts) in [("limits", &limits), ("requests", &requests)] {
                    if !amounts.is_empty() {
                        of.push((field, Value::Object(amounts.clone())));
                    }
                }
                items.push(object(&[("name", name.into()), ("resources", object(&of))]));
            }
        }
        send(context, &target, &[("containers", items)], "resource requirements updated")?;
    }
    context.done()
}

pub fn env(context: &mut Context<'_>) -> Result<Done, Failure> {
    if context.args.has("from") || context.args.is("resolve") {
        return Err(Failure::not_simulated("the flag --from", "Write NAME=value"));
    }
    let words = context.args.words.clone();
    let (objects, mut changes) = split(&words, |word| word.contains('=') || (word.ends_with('-') && word.len() > 1));
    changes.extend(context.args.all("env").into_iter().map(str::to_string));
    let targets = context.targets(&objects)?;
    if !context.problems.is_empty() {
        return context.done();
    }
    let lists = context.args.is("list");
    if changes.is_empty() && !lists {
        return Err(Failure::error("at least one environment variable must be provided"));
    }
    let wanted = context.args.text("containers").to_string();
    for target in targets {
        let value = target.to_value();
        let mut items = Vec::new();
        for container in chosen(&value, target.kind(), &wanted) {
            let name = text(container, "name");
            if lists {
                list_env(context, &target, container);
            }
            let new = changed_env(container, &changes);
            if !new.is_empty() {
                items.push(object(&[("env", Value::Array(new)), ("name", name.into())]));
            }
        }
        send(context, &target, &[("containers", items)], "env updated")?;
    }
    context.done()
}

fn list_env(context: &mut Context<'_>, target: &Object, container: &Value) {
    let (kind, name) = (target.kind().name(), target.meta().name.clone());
    context.line(&["# ", kind, " ", &name, ", container ", text(container, "name")]);
    for it in list(container, "env") {
        match super::value::at(it, "valueFrom") {
            Value::Null => context.line(&[text(it, "name"), "=", text(it, "value")]),
            from => {
                let named = map(from, "secretKeyRef").or_else(|| map(from, "configMapKeyRef"));
                let key = named.and_then(|it| it.get("key")).and_then(Value::as_str).unwrap_or_default();
                context.line(&["# ", text(it, "name"), " from ", key]);
            }
        }
    }
}

fn changed_env(container: &Value, changes: &[String]) -> Vec<Value> {
    let known = list(container, "env");
    let mut new = Vec::new();
    for change in changes {
        match change.split_once('=') {
            Some((name, value)) => {
                let same = known.iter().any(|it| text(it, "name") == name && text(it, "value") == value);
                if !same {
                    new.push(object(&[("name", name.into()), ("value", value.into())]));
                }
            }
            None => {
                let name = change.trim_end_matches('-');
                if known.iter().any(|it| text(it, "name") == name) {
                    new.push(object(&[("$patch", "delete".into()), ("name", name.into())]));
                }
            }
        }
    }
    new
}
