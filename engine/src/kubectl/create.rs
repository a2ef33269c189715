//! `kubectl create` (`kubectl/pkg/cmd/create`, v1.36).

use serde_json::{Map, Value};

use super::print::{self, Format};
use super::value::{object, set};
use super::{Context, Done, Dry, Failure, Problem, reference};
use crate::api::{Kind, Object};
use crate::apiserver::{ApiError, LAST_APPLIED, Verb as Ask, warnings};

/// How an error of a creation is told.
pub enum Told {
    /// `error: failed to create deployment: …`
    As(&'static str),
    /// As the API server says it.
    Plain,
}

/// Creates an object and says so.
///
/// # Errors
/// As the API server answers.
pub fn make(
    context: &mut Context<'_>,
    kind: Kind,
    mut value: Value,
    manager: &'static str,
    done: &str,
    told: &Told,
) -> Result<(), Failure> {
    if kind.is_namespaced() && (context.args.has("namespace") || context.dry != Dry::Client) {
        set(&mut value, "metadata.namespace", context.namespace().as_str().into());
    }
    if context.args.is("save-config") {
        let text = [&value.to_string(), "\n"].concat();
        let annotations = value.pointer_mut("/metadata").and_then(Value::as_object_mut);
        if let Some(meta) = annotations {
            meta.insert("annotations".into(), object(&[(LAST_APPLIED, text.into())]));
        }
    }
    let done = [done, context.dry.suffix()].concat();
    let read = |value: &Value| {
        Object::from_value(kind, value.clone()).map_err(|error| Failure::errors(&[&error.path, ": ", &error.message]))
    };
    let object = read(&value)?;
    if context.dry == Dry::Client {
        let text = match print::format(&context.args, false)? {
            Format::Table { .. } => [&reference(&object.key()), " ", &done, "\n"].concat(),
            Format::Name => [&reference(&object.key()), "\n"].concat(),
            format => format.print(&value, true)?,
        };
        context.out(&text);
        return Ok(());
    }
    let manager = context.manager(manager);
    match context.send(manager, Ask::Create(object)) {
        Ok(answer) => {
            let text = print::changed(&context.args, &answer.object, &done)?;
            context.out(&text);
            Ok(())
        }
        Err(error) => Err(match told {
            Told::As(what) => Failure::errors(&[what, ": ", &error.message]),
            Told::Plain => error.into(),
        }),
    }
}

/// A new object with its `apiVersion`, `kind` and name.
pub fn blank(kind: Kind, name: &str) -> Value {
    object(&[
        ("apiVersion", kind.api_version().into()),
        ("kind", kind.name().into()),
        ("metadata", object(&[("name", name.into())])),
    ])
}

fn name(context: &Context<'_>) -> Result<String, Failure> {
    match context.args.words.as_slice() {
        [name, ..] => Ok(name.clone()),
        [] => Err(Failure::usage(&context.args.path, "exactly one NAME is required, got 0")),
    }
}

pub fn empty() -> Value {
    Value::Object(Map::new())
}

/// The words behind `--`.
pub fn command(context: &Context<'_>) -> Vec<Value> {
    let words = &context.args.words;
    context
        .args
        .dash
        .map_or(Vec::new(), |at| words[at.min(words.len())..].iter().map(|it| it.as_str().into()).collect())
}

/// A container's name from that of its image.
fn container_name(image: &str) -> String {
    let last = image.rsplit('/').next().unwrap_or(image);
    let name = last.split([':', '@']).next().unwrap_or(last);
    name.chars().map(|c| if c == '_' || c == '.' { '-' } else { c.to_ascii_lowercase() }).collect()
}

pub fn deployment(context: &mut Context<'_>) -> Result<Done, Failure> {
    if !context.args.has("image") {
        return Err(Failure::error("required flag(s) \"image\" not set"));
    }
    let name = name(context)?;
    let images = context.args.all("image").into_iter().map(str::to_string).collect::<Vec<_>>();
    let command = command(context);
    if !command.is_empty() && images.len() > 1 {
        return Err(Failure::error("cannot specify multiple --image options and command"));
    }
    let replicas = context.args.int("replicas").unwrap_or(1);
    if replicas < 0 {
        return Err(Failure::errors(&["invalid replicas: ", &replicas.to_string()]));
    }
    let mut containers = Vec::new();
    for image in &images {
        let mut it =
            object(&[("image", image.as_str().into()), ("name", container_name(image).into()), ("resources", empty())]);
        if let Some(port) = context.args.int("port").filter(|_| containers.is_empty()) {
            set(&mut it, "ports", Value::Array(vec![object(&[("containerPort", port.into())])]));
        }
        if !command.is_empty() {
            set(&mut it, "command", Value::Array(command.clone()));
        }
        containers.push(it);
    }
    let labels = object(&[("app", name.as_str().into())]);
    let mut value = blank(Kind::Deployment, &name);
    set(&mut value, "metadata.labels", labels.clone());
    set(&mut value, "spec.replicas", replicas.into());
    set(&mut value, "spec.selector.matchLabels", labels.clone());
    set(&mut value, "spec.strategy", empty());
    set(&mut value, "spec.template.metadata.labels", labels);
    set(&mut value, "spec.template.spec.containers", Value::Array(containers));
    set(&mut value, "status", empty());
    make(context, Kind::Deployment, value, "kubectl-create", "created", &Told::As("failed to create deployment"))?;
    context.done()
}

pub fn namespace(context: &mut Context<'_>) -> Result<Done, Failure> {
    let name = name(context)?;
    let mut value = blank(Kind::Namespace, &name);
    set(&mut value, "spec", empty());
    set(&mut value, "status", empty());
    make(context, Kind::Namespace, value, "kubectl-create", "created", &Told::Plain)?;
    context.done()
}

pub fn configmap(context: &mut Context<'_>) -> Result<Done, Failure> {
    let name = name(context)?;
    if context.args.has("from-file") || context.args.has("from-env-file") {
        return Err(Failure::not_simulated("reading a ConfigMap from files", "Use --from-literal"));
    }
    let mut data = Map::new();
    for pair in context.args.all("from-literal") {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(Failure::errors(&["invalid literal source ", pair, ", expected key=value"]));
        };
        data.insert(key.into(), value.into());
    }
    let mut value = blank(Kind::ConfigMap, &name);
    if !data.is_empty() {
        set(&mut value, "data", Value::Object(data));
    }
    make(context, Kind::ConfigMap, value, "kubectl-create", "created", &Told::As("failed to create configmap"))?;
    context.done()
}

pub fn quota(context: &mut Context<'_>) -> Result<Done, Failure> {
    let name = name(context)?;
    let mut hard = Map::new();
    for pair in context.args.text("hard").split(',').filter(|it| !it.is_empty()) {
        let Some((key, amount)) = pair.split_once('=') else {
            return Err(Failure::errors(&["invalid argument syntax ", pair, ", expected <resource>=<value>"]));
        };
        hard.insert(key.into(), amount.into());
    }
    let mut value = blank(Kind::ResourceQuota, &name);
    set(&mut value, "spec.hard", Value::Object(hard));
    make(context, Kind::ResourceQuota, value, "kubectl-create", "created", &Told::As("failed to create quota"))?;
    context.done()
}

pub fn budget(context: &mut Context<'_>) -> Result<Done, Failure> {
    let name = name(context)?;
    let args = &context.args;
    let (min, max) = (args.text("min-available").to_string(), args.text("max-unavailable").to_string());
    if args.text("selector").is_empty() {
        return Err(Failure::error("a selector must be specified"));
    }
    match (min.is_empty(), max.is_empty()) {
        (true, true) => return Err(Failure::error("one of min-available or max-unavailable must be specified")),
        (false, false) => return Err(Failure::error("min-available and max-unavailable cannot be both specified")),
        _ => {}
    }
    let mut labels = Map::new();
    for pair in args.text("selector").split(',') {
        let (key, wanted) = pair.split_once('=').unwrap_or((pair, ""));
        labels.insert(key.into(), wanted.trim_start_matches('=').into());
    }
    let number = |text: &str| text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from);
    let mut value = blank(Kind::PodDisruptionBudget, &name);
    set(&mut value, "spec.selector.matchLabels", Value::Object(labels));
    if !min.is_empty() {
        set(&mut value, "spec.minAvailable", number(&min));
    }
    if !max.is_empty() {
        set(&mut value, "spec.maxUnavailable", number(&max));
    }
    make(
        context,
        Kind::PodDisruptionBudget,
        value,
        "kubectl-create",
        "created",
        &Told::As("failed to create poddisruptionbudgets"),
    )?;
    context.done()
}

pub fn job(context: &mut Context<'_>) -> Result<Done, Failure> {
    let name = name(context)?;
    if context.args.has("from") {
        return Err(Failure::not_simulated("creating a Job from a CronJob", ""));
    }
    let image = context.args.text("image").to_string();
    if image.is_empty() {
        return Err(Failure::error("either --image or --from must be specified"));
    }
    let mut container =
        object(&[("image", image.as_str().into()), ("name", name.as_str().into()), ("resources", empty())]);
    let command = command(context);
    if !command.is_empty() {
        set(&mut container, "command", Value::Array(command));
    }
    let mut value = blank(Kind::Job, &name);
    set(&mut value, "spec.template.metadata", empty());
    set(&mut value, "spec.template.spec.containers", Value::Array(vec![container]));
    set(&mut value, "spec.template.spec.restartPolicy", "Never".into());
    set(&mut value, "status", empty());
    make(context, Kind::Job, value, "kubectl-create", "created", &Told::As("failed to create job"))?;
    context.done()
}

pub fn clusterip(context: &mut Context<'_>) -> Result<Done, Failure> {
    let name = name(context)?;
    let mut ports = Vec::new();
    for pair in context.args.all("tcp") {
        let (port, target) = pair.split_once(':').unwrap_or((pair, pair));
        let Ok(number) = port.parse::<i64>() else {
            return Err(Failure::errors(&["invalid port: ", port]));
        };
        let target = target.parse::<i64>().map_or_else(|_| Value::from(target), Value::from);
        let label = pair.replace(':', "-");
        ports.push(object(&[
            ("name", label.into()),
            ("port", number.into()),
            ("protocol", "TCP".into()),
            ("targetPort", target),
        ]));
    }
    let labels = object(&[("app", name.as_str().into())]);
    let mut value = blank(Kind::Service, &name);
    set(&mut value, "metadata.labels", labels.clone());
    set(&mut value, "spec.ports", Value::Array(ports));
    set(&mut value, "spec.selector", labels);
    set(&mut value, "spec.type", "ClusterIP".into());
    set(&mut value, "status.loadBalancer", empty());
    make(context, Kind::Service, value, "kubectl-create", "created", &Told::As("failed to create ClusterIP service"))?;
    context.done()
}

/// What kubectl creates by words and this program does not: whatever flags there are.
pub fn other_kind(word: &str, next: Option<&str>) -> Option<Failure> {
    const OTHERS: [&str; 16] = [
        "secret",
        "service",
        "svc",
        "serviceaccount",
        "sa",
        "role",
        "rolebinding",
        "clusterrole",
        "clusterrolebinding",
        "cronjob",
        "cj",
        "ingress",
        "ing",
        "priorityclass",
        "pc",
        "token",
    ];
    if !OTHERS.contains(&word) {
        return None;
    }
    let kind = next.filter(|_| matches!(word, "secret" | "service" | "svc"));
    let kind = kind.map_or_else(String::new, |it| [" ", it].concat());
    Some(Failure::not_simulated(&["kubectl create ", word, &kind].concat(), "Use 'kubectl create -f'"))
}

/// `kubectl create -f`
pub fn create(context: &mut Context<'_>) -> Result<Done, Failure> {
    let path = context.args.path.clone();
    if let Some(word) = context.args.words.first() {
        if let Some(failure) = other_kind(word, context.args.words.get(1).map(String::as_str)) {
            return Err(failure);
        }
        let words = context.args.words.join(" ");
        return Err(Failure::usage(&path, &["Unexpected args: [", &words, "]"].concat()));
    }
    if !context.args.has("filename") {
        return Err(Failure::error("must specify one of -f and -k"));
    }
    if context.args.is("edit") {
        return Err(Failure::not_simulated("the flag --edit", ""));
    }
    let is_strict = context.args.text("validate") != "false" && context.args.text("validate") != "ignore";
    for item in context.items(is_strict)? {
        for warning in warnings(&item.object).iter().chain(&item.warnings) {
            context.out.err(&["Warning: ", warning, "\n"].concat());
        }
        let done = ["created", context.dry.suffix()].concat();
        let during = ["error when creating \"", &item.source, "\""].concat();
        let result: Result<Object, ApiError> = match context.dry {
            Dry::Client => Ok(item.object),
            _ => {
                let manager = context.manager("kubectl-create");
                context.send(manager, Ask::Create(item.object)).map(|answer| answer.object)
            }
        };
        match result {
            Ok(object) => {
                let text = print::changed(&context.args, &object, &done)?;
                context.out(&text);
            }
            Err(error) => context.problems.push(Problem::Api { error, during }),
        }
    }
    context.done()
}
