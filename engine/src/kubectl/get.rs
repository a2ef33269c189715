//! `kubectl get` (`kubectl/pkg/cmd/get/get.go`, v1.36).

use serde_json::Value;

use super::columns::{self, Row};
use super::jsonpath::{Template, relaxed};
use super::print::{self, Format, finished, list_of};
use super::resources::{Found, Wants};
use super::tab::Table;
use super::value::{int, plain, text};
use super::watch::Watch;
use super::{Context, Done, Failure, reference};
use crate::api::{Kind, Object, Quantity};
use crate::sim::sort_by;

/// How a table is printed.
#[derive(Clone, Debug, Default)]
pub struct Look {
    pub wide: bool,
    pub labels: Vec<String>,
    pub show_labels: bool,
    pub show_kind: bool,
    pub namespaces: bool,
    pub headers: bool,
}

impl Look {
    fn of(context: &Context<'_>, wide: bool) -> Self {
        let args = &context.args;
        Self {
            wide,
            labels: args.all("label-columns").into_iter().map(str::to_string).collect(),
            show_labels: args.is("show-labels"),
            show_kind: args.is("show-kind"),
            namespaces: args.is("all-namespaces"),
            headers: !args.is("no-headers"),
        }
    }

    fn header(&self, kind: Kind) -> Vec<String> {
        let mut row = Vec::new();
        if self.namespaces && kind.is_namespaced() {
            row.push("NAMESPACE".into());
        }
        let shown = columns::columns(kind).iter().filter(|(_, wide)| self.wide || !wide);
        row.extend(shown.map(|(name, _)| (*name).to_string()));
        for label in &self.labels {
            row.push(label.rsplit('/').next().unwrap_or(label).to_ascii_uppercase());
        }
        if self.show_labels {
            row.push("LABELS".into());
        }
        row
    }

    fn row(&self, object: &Object, now: i64) -> Vec<String> {
        let (kind, value) = (object.kind(), object.to_value());
        let mut row = Vec::new();
        if self.namespaces && kind.is_namespaced() {
            row.push(object.meta().namespace.to_string());
        }
        let cells = columns::cells(&Row { object, value: &value, now });
        for (cell, (name, wide)) in cells.into_iter().zip(columns::columns(kind)) {
            if self.wide || !wide {
                row.push(if self.show_kind && *name == "NAME" { reference(&object.key()) } else { cell });
            }
        }
        let labels = &object.meta().labels;
        for label in &self.labels {
            row.push(labels.get(label).map_or_else(String::new, Clone::clone));
        }
        if self.show_labels {
            row.push(super::value::labels(value.pointer("/metadata/labels").and_then(Value::as_object)));
        }
        row
    }

    /// The rows of objects of one kind, with the header where one is wanted.
    pub fn rows(&self, kind: Kind, objects: &[Object], now: i64, with_header: bool) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        if with_header && self.headers {
            rows.push(self.header(kind));
        }
        rows.extend(objects.iter().map(|object| self.row(object, now)));
        rows
    }
}

const NO_TYPE: &str = "You must specify the type of resource to get. Use \"kubectl api-resources\" for a complete list of supported resources.\n\nerror: Required resource not specified.\nUse \"kubectl explain <resource>\" for a detailed description of that resource (e.g. kubectl explain pods).\nSee 'kubectl get -h' for help and examples";

pub fn get(context: &mut Context<'_>) -> Result<Done, Failure> {
    let words = context.args.words.clone();
    let format = print::format(&context.args, true)?;
    let watches = context.args.is("watch") || context.args.is("watch-only");
    if words.is_empty() && !context.args.has("filename") {
        return Err(Failure::plain(NO_TYPE.into()));
    }
    if context.args.has("subresource") {
        return subresource(context, &words, &format);
    }
    if words.first().is_some_and(|it| it.split(',').any(|word| word == "ev")) {
        context.out.err("Warning: short name \"ev\" could also match lower priority resource events.events.k8s.io\n");
    }
    let found = found(context, &words)?;
    if found.objects.iter().any(|it| it.kind() == Kind::Endpoints) || found.kinds.contains(&Kind::Endpoints) {
        context.out.err("Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\n");
    }
    if watches {
        return watch(context, found, format);
    }
    match format {
        Format::Table { wide } => tables(context, found, wide)?,
        Format::Name => {
            for object in sorted(context, found.objects)? {
                context.line(&[&reference(&object.key())]);
            }
        }
        format => {
            let is_single = found.is_single && found.objects.len() == 1;
            if found.is_single && found.objects.is_empty() {
                return context.done();
            }
            let with_managers = context.args.is("show-managed-fields") || matches!(format, Format::JsonPath(..));
            let objects = sorted(context, found.objects)?;
            let mut values: Vec<Value> = objects.iter().map(|it| finished(it, with_managers)).collect();
            let value = if is_single { values.remove(0) } else { list_of(values) };
            let text = format.print(&value, !context.args.is("no-headers"))?;
            context.out(&text);
        }
    }
    context.done()
}

fn found(context: &mut Context<'_>, words: &[String]) -> Result<Found, Failure> {
    if context.args.has("filename") {
        let mut found = Found::default();
        for item in context.items(false)? {
            let meta = item.object.meta();
            match context.live_in(item.kind(), &meta.namespace, &meta.name) {
                Ok(object) => found.objects.push(object),
                Err(error) => context.problems.push(error.into()),
            }
        }
        found.is_single = found.objects.len() == 1 && context.problems.is_empty();
        return Ok(found);
    }
    let wants = Wants {
        type_alone: true,
        everywhere: context.args.is("all-namespaces"),
        ignore_not_found: context.args.is("ignore-not-found"),
        ..Wants::default()
    };
    context.find(words, wants)
}

/// Values by which two objects are compared: numbers and amounts by size, text as people sort it.
fn compare(a: Option<&Value>, b: Option<&Value>) -> std::cmp::Ordering {
    use std::cmp::Ordering;
    match (a, b) {
        (None, None) => Ordering::Equal,
        (None, _) => Ordering::Less,
        (_, None) => Ordering::Greater,
        (Some(Value::Number(a)), Some(Value::Number(b))) => a.as_i64().cmp(&b.as_i64()),
        (Some(a), Some(b)) => {
            let (a, b) = (plain(a), plain(b));
            match (a.parse::<Quantity>(), b.parse::<Quantity>()) {
                (Ok(a), Ok(b)) => a.cmp(&b),
                _ => natural(&a, &b),
            }
        }
    }
}

/// Text in which runs of digits count as numbers (`sortorder.NaturalLess`).
fn natural(a: &str, b: &str) -> std::cmp::Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    loop {
        let digits = |it: &[u8]| it.iter().take_while(|c| c.is_ascii_digit()).count();
        match (a.first(), b.first()) {
            (None, _) | (_, None) => return a.len().cmp(&b.len()),
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                let (n, m) = (digits(a), digits(b));
                let trimmed = |it: &[u8]| it.iter().position(|c| *c != b'0').unwrap_or(it.len());
                let (p, q) = (&a[trimmed(&a[..n])..n], &b[trimmed(&b[..m])..m]);
                let order = p.len().cmp(&q.len()).then_with(|| p.cmp(q)).then(n.cmp(&m));
                if order.is_ne() {
                    return order;
                }
                (a, b) = (&a[n..], &b[m..]);
            }
            (Some(x), Some(y)) if x != y => return x.cmp(y),
            _ => (a, b) = (&a[1..], &b[1..]),
        }
    }
}

fn sorted(context: &mut Context<'_>, objects: Vec<Object>) -> Result<Vec<Object>, Failure> {
    let by = context.args.text("sort-by");
    if by.is_empty() {
        return Ok(objects);
    }
    let template = relaxed(by).and_then(|it| Template::read(&it)).map_err(|error| Failure::error(&error))?;
    let mut pairs: Vec<(Option<Value>, Object)> = objects
        .into_iter()
        .map(|object| {
            let value = object.to_value();
            let found = template.find(&value).unwrap_or_default().first().map(|it| (*it).clone());
            (found, object)
        })
        .collect();
    if pairs.iter().all(|(found, _)| found.is_none()) {
        return Ok(Vec::new());
    }
    sort_by(&mut pairs, |a, b| compare(a.0.as_ref(), b.0.as_ref()));
    Ok(pairs.into_iter().map(|(_, object)| object).collect())
}

fn tables(context: &mut Context<'_>, found: Found, wide: bool) -> Result<(), Failure> {
    let objects = sorted(context, found.objects)?;
    let mut look = Look::of(context, wide);
    look.show_kind |= found.kinds.len() > 1;
    if objects.is_empty() {
        if found.named.is_empty() && !context.args.is("ignore-not-found") {
            let namespace = context.namespace();
            let is_namespaced = found.kinds.iter().any(|kind| kind.is_namespaced());
            context.out.err(&nothing(is_namespaced && !look.namespaces, &namespace));
        }
        return Ok(());
    }
    let now = context.now();
    let mut rest = objects.as_slice();
    let mut is_first = true;
    while let Some(first) = rest.first() {
        let kind = first.kind();
        let count = rest.iter().take_while(|it| it.kind() == kind).count();
        if !is_first && look.headers {
            context.out("\n");
        }
        is_first = false;
        let rows = look.rows(kind, &rest[..count], now, true);
        let text = Table::default().print(&rows);
        context.out(&text);
        rest = &rest[count..];
    }
    Ok(())
}

/// `No resources found in default namespace.`
pub fn nothing(in_namespace: bool, namespace: &str) -> String {
    if in_namespace {
        ["No resources found in ", namespace, " namespace.\n"].concat()
    } else {
        "No resources found\n".into()
    }
}

fn watch(context: &mut Context<'_>, found: Found, format: Format) -> Result<Done, Failure> {
    let [kind] = found.kinds[..] else { return Err(Failure::error("you may only specify a single resource type")) };
    let wide = match format {
        Format::Table { wide } => wide,
        Format::Name => false,
        _ => return Err(Failure::not_simulated("watching in this output format", "Use -o wide or -o name")),
    };
    if context.args.is("output-watch-events") {
        return Err(Failure::not_simulated("the flag --output-watch-events", ""));
    }
    if found.named.len() > 1 || !context.problems.is_empty() {
        return context.done();
    }
    let look = Look::of(context, wide);
    let mut watch = Watch::new(
        context.cluster,
        kind,
        found.named.first().cloned(),
        context.space(kind, context.args.is("all-namespaces")),
        context.selector(&[kind])?,
        look,
    );
    watch.until = context.args.request_timeout().map(|ms| context.now().saturating_add(ms));
    watch.names_only = matches!(format, Format::Name);
    if !context.args.is("watch-only") {
        watch.print(&found.objects, context.now(), &mut context.out);
    }
    Ok(Done::Wait(Box::new(watch)))
}

/// `--subresource=scale` has columns of its own; that of `status` is the object itself.
fn subresource(context: &mut Context<'_>, words: &[String], format: &Format) -> Result<Done, Failure> {
    let name = context.args.text("subresource").to_string();
    let found = context.find(words, Wants { type_alone: true, ..Wants::default() })?;
    if found.named.is_empty() {
        return Err(Failure::error("subresource cannot be used when bulk resources are specified"));
    }
    match (name.as_str(), format) {
        ("scale", Format::Table { .. }) => {
            let mut rows = vec![["NAME", "DESIRED", "AVAILABLE", "AGE"].map(str::to_string).to_vec()];
            for object in &found.objects {
                let value = object.to_value();
                let age = super::time::since(text(&value, "metadata.creationTimestamp"), context.now());
                let (wanted, now) = (int(&value, "spec.replicas"), int(&value, "status.replicas"));
                rows.push(vec![object.meta().name.to_string(), wanted.to_string(), now.to_string(), age]);
            }
            context.out(&Table::default().print(&rows));
        }
        ("status" | "scale", Format::Name) => {
            for object in &found.objects {
                context.line(&[&reference(&object.key())]);
            }
        }
        ("status", Format::Table { wide }) => tables(context, found, *wide)?,
        _ => return Err(Failure::not_simulated(&["the subresource ", &name, " in this form"].concat(), "")),
    }
    context.done()
}
