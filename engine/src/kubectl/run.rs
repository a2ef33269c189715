//! `kubectl run` (`kubectl/pkg/cmd/run/run.go`, v1.36): a pod.

use serde_json::{Map, Value};

use super::create::{Told, blank, command, empty, make};
use super::value::{object, set};
use super::{Context, Done, Failure};
use crate::api::Kind;

/// `a=b,c=d`
pub fn pairs(text: &str) -> Result<Map<String, Value>, Failure> {
    let mut map = Map::new();
    for pair in text.split(',').filter(|it| !it.is_empty()) {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(Failure::errors(&["unexpected label format: ", pair]));
        };
        map.insert(key.into(), value.into());
    }
    Ok(map)
}

pub fn run(context: &mut Context<'_>) -> Result<Done, Failure> {
    const ATTACHED: [&str; 9] =
        ["attach", "stdin", "tty", "rm", "overrides", "privileged", "leave-stdin-open", "filename", "override-type"];
    if !context.args.has("image") {
        return Err(Failure::error("required flag(s) \"image\" not set"));
    }
    if let Some(flag) = context.args.given().find(|it| ATTACHED.contains(it)) {
        return Err(Failure::not_simulated(
            &["the flag --", flag, " of kubectl run"].concat(),
            "No program really runs here",
        ));
    }
    let words = context.args.words.clone();
    let Some(name) = words.first().filter(|_| context.args.dash != Some(0)) else {
        return Err(Failure::usage("kubectl run", "NAME is required for run"));
    };
    let image = context.args.text("image").to_string();
    if image.is_empty() || image.contains(char::is_whitespace) {
        return Err(Failure::errors(&["Invalid image name \"", &image, "\": invalid reference format"]));
    }
    let container = container(context, name, &image, &words)?;
    let restart = match context.args.text("restart") {
        "" => "Always",
        it @ ("Always" | "OnFailure" | "Never") => it,
        other => return Err(Failure::errors(&["invalid restart policy: ", other])),
    };
    let given = pairs(context.args.text("labels"))?;
    let labels = if given.is_empty() { object(&[("run", name.as_str().into())]) } else { Value::Object(given) };
    let mut value = blank(Kind::Pod, name);
    set(&mut value, "metadata.labels", labels.clone());
    set(&mut value, "spec.containers", Value::Array(vec![container]));
    set(&mut value, "spec.dnsPolicy", "ClusterFirst".into());
    set(&mut value, "spec.restartPolicy", restart.into());
    set(&mut value, "status", empty());
    make(context, Kind::Pod, value, "kubectl-run", "created", &Told::Plain)?;
    if context.args.is("expose") {
        let Ok(port) = context.args.text("port").parse::<i64>() else {
            return Err(Failure::error("--port must be set when exposing a service"));
        };
        let mut service = blank(Kind::Service, name);
        let ports = object(&[("port", port.into()), ("protocol", "TCP".into()), ("targetPort", port.into())]);
        set(&mut service, "spec.ports", Value::Array(vec![ports]));
        set(&mut service, "spec.selector", labels);
        make(context, Kind::Service, service, "kubectl-run", "created", &Told::Plain)?;
    }
    context.done()
}

fn container(context: &Context<'_>, name: &str, image: &str, words: &[String]) -> Result<Value, Failure> {
    let mut container = object(&[("image", image.into()), ("name", name.into()), ("resources", empty())]);
    let mut rest = command(context);
    if context.args.dash.is_none() {
        rest = words[1..].iter().map(|it| it.as_str().into()).collect();
    }
    if !rest.is_empty() {
        let field = if context.args.is("command") { "command" } else { "args" };
        set(&mut container, field, Value::Array(rest));
    }
    let mut env = Vec::new();
    for pair in context.args.all("env") {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(Failure::errors(&["invalid env: ", pair]));
        };
        env.push(object(&[("name", name.into()), ("value", value.into())]));
    }
    if !env.is_empty() {
        set(&mut container, "env", Value::Array(env));
    }
    if let Ok(port) = context.args.text("port").parse::<i64>() {
        set(&mut container, "ports", Value::Array(vec![object(&[("containerPort", port.into())])]));
    }
    let policy = context.args.text("image-pull-policy").to_string();
    if !policy.is_empty() {
        set(&mut container, "imagePullPolicy", policy.into());
    }
    Ok(container)
}
