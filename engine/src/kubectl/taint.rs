//! `kubectl taint` (`kubectl/pkg/cmd/taint`, v1.36).

use serde_json::Value;

use super::resources::{self, Wants};
use super::value::object;
use super::{Context, Done, Failure, Problem};
use crate::api::{Kind, Object, Taint};
use crate::apiserver::PatchType;

#[derive(Default)]
struct Changes {
    set: Vec<Taint>,
    /// Key and effect; all effects where it is empty.
    removed: Vec<(String, String)>,
}

fn effect_of(effect: &str) -> Result<(), String> {
    match effect {
        "NoSchedule" | "PreferNoSchedule" | "NoExecute" => Ok(()),
        _ => Err(["invalid taint effect: ", effect, ", unsupported taint effect"].concat()),
    }
}

/// `key=value:Effect`, `key:Effect`, `key-`, `key:Effect-`
fn changes(words: &[String]) -> Result<Changes, String> {
    let mut found = Changes::default();
    for word in words {
        if let Some(gone) = word.strip_suffix('-') {
            let (key, effect) = gone.split_once(':').unwrap_or((gone, ""));
            let key = key.split_once('=').map_or(key, |(key, _)| key);
            if !effect.is_empty() {
                effect_of(effect)?;
            }
            found.removed.push((key.into(), effect.into()));
            continue;
        }
        let Some((pair, effect)) = word.rsplit_once(':') else {
            return Err(["invalid taint spec: ", word].concat());
        };
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        effect_of(effect)?;
        let taint = Taint { key: key.into(), value: value.into(), effect: effect.into(), time_added: None };
        if found.set.iter().any(|it| it.key == taint.key && it.effect == taint.effect) {
            return Err(
                ["duplicated taints with the same key and effect: {", key, " ", value, " ", effect, " <nil>}"].concat()
            );
        }
        found.set.push(taint);
    }
    Ok(found)
}

pub fn taint(context: &mut Context<'_>) -> Result<Done, Failure> {
    let words = context.args.words.clone();
    let path = context.args.path.clone();
    let Some((resource, rest)) = words.split_first() else {
        return Err(Failure::error("one or more resources must be specified as <resource> <name>"));
    };
    let is_change = |word: &String| word.contains('=') || word.contains(':') || word.ends_with('-');
    let first = rest.iter().position(is_change).unwrap_or(rest.len());
    let (names, given) = rest.split_at(first);
    match resources::kind_of(resource) {
        None => return Err(resources::no_type(resource)),
        Some(Kind::Node) => {}
        Some(_) => {
            return Err(Failure::errors(&["invalid resource type ", resource, ", only node types are supported"]));
        }
    }
    if given.is_empty() {
        return Err(Failure::error("at least one taint update is required"));
    }
    let changes = changes(given).map_err(|error| Failure::usage(&path, &error))?;
    let mut wanted = vec!["nodes".to_string()];
    wanted.extend(names.iter().cloned());
    let all = context.args.is("all");
    if names.is_empty() && !all && !context.args.has("selector") {
        return Err(Failure::error("at least one node name is required"));
    }
    let wants = Wants { all, ..Wants::default() };
    for node in context.find(&wanted, wants)?.objects {
        one(context, node, &changes)?;
    }
    context.done()
}

fn one(context: &mut Context<'_>, target: Object, changes: &Changes) -> Result<(), Failure> {
    let Some(node) = target.as_node().cloned() else { return Ok(()) };
    let mut taints = node.spec.taints.clone();
    let is_same = |a: &Taint, b: &Taint| a.key == b.key && a.effect == b.effect;
    if !context.args.is("overwrite") {
        let mut taken: Vec<&str> = Vec::new();
        for new in changes.set.iter().filter(|new| taints.iter().any(|old| is_same(old, new))) {
            taken.push(&new.key);
        }
        if !taken.is_empty() {
            let text = [
                "error: node ",
                &node.metadata.name,
                " already has ",
                &taken.join(","),
                " taint(s) with same effect(s) and --overwrite is false",
            ];
            context.problems.push(Problem::Plain(text.concat()));
            return Ok(());
        }
    }
    for (key, effect) in &changes.removed {
        let before = taints.len();
        taints.retain(|it| it.key != *key || !(effect.is_empty() || it.effect == *effect));
        if taints.len() == before {
            let what = if effect.is_empty() { key.clone() } else { [key, ":", effect].concat() };
            context.problems.push(Problem::Plain(["error: taint \"", &what, "\" not found"].concat()));
            return Ok(());
        }
    }
    let mut overwrites = false;
    let mut all: Vec<Taint> = changes.set.clone();
    for old in taints {
        if changes.set.iter().any(|new| is_same(new, &old)) {
            overwrites = true;
        } else {
            all.push(old);
        }
    }
    let done = match (changes.set.is_empty(), changes.removed.is_empty()) {
        (true, _) => "untainted",
        (false, true) if !overwrites => "tainted",
        _ => "modified",
    };
    let value: Vec<Value> = all.iter().map(crate::api::write_value).collect();
    let value = if value.is_empty() { Value::Null } else { Value::Array(value) };
    let patch = object(&[("spec", object(&[("taints", value)]))]);
    let manager = context.manager("kubectl-taint");
    let result = context.patch(manager, &target, PatchType::Merge, patch);
    context.say(result.map(|answer| answer.object).map_err(Problem::from), done)
}
