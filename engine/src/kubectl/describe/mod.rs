//! `kubectl describe` (`kubectl/pkg/describe/describe.go`, v1.36).
//!
//! Each kind writes lines with tabs between their cells, which are laid out at the end.

mod autoscaler;
mod containers;
mod node;
mod other;
mod pod;
mod service;
pub mod template;
mod workload;

use serde_json::{Map, Value};

use super::resources::{self, Wants};
use super::value::{list, selector, text};
use super::{Cluster, Context, Done, Failure, Problem, events, tab, time};
use crate::api::{Kind, Object};

/// Text under way: lines whose cells are ended by tabs.
#[derive(Default)]
pub struct Writer(String);

impl Writer {
    /// A line at a depth, two spaces each.
    pub fn line(&mut self, depth: usize, parts: &[&str]) {
        for _ in 0..depth {
            self.0.push_str("  ");
        }
        for part in parts {
            self.0.push_str(part);
        }
        self.0.push('\n');
    }

    /// `Name:` and what it is.
    pub fn field(&mut self, name: &str, value: &str) {
        self.line(0, &[name, ":\t", value]);
    }

    /// Labels one below the other.
    pub fn labels(&mut self, indent: &str, title: &str, labels: Option<&Map<String, Value>>) {
        let start = [indent, title, ":\t"].concat();
        let mut head = start.as_str();
        let next = [indent, "\t"].concat();
        for (name, value) in labels.into_iter().flatten() {
            self.line(0, &[head, name, "=", value.as_str().unwrap_or_default()]);
            head = &next;
        }
        if head == start {
            self.line(0, &[&start, "<none>"]);
        }
    }

    /// Annotations one below the other, long ones cut; what `kubectl apply` remembers is left out.
    pub fn annotations(&mut self, title: &str, annotations: Option<&Map<String, Value>>) {
        const LONGEST: usize = 140;
        let start = [title, ":\t"].concat();
        let mut head = start.as_str();
        for (name, value) in annotations.into_iter().flatten() {
            if name == crate::apiserver::LAST_APPLIED {
                continue;
            }
            let value = value.as_str().unwrap_or_default();
            let value = value.strip_suffix('\n').unwrap_or(value);
            if value.len() + name.len() + 2 > LONGEST || value.contains('\n') {
                self.line(0, &[head, name, ":"]);
                for line in value.split('\n') {
                    let cut = line.char_indices().nth(LONGEST - 2).map(|(at, _)| at);
                    match cut {
                        Some(at) => self.line(0, &["\t  ", &line[..at], "..."]),
                        None => self.line(0, &["\t  ", line]),
                    }
                }
            } else {
                self.line(0, &[head, name, ": ", value]);
            }
            head = "\t";
        }
        if head == start {
            self.line(0, &[&start, "<none>"]);
        }
    }

    /// Tolerations one below the other, by their keys.
    pub fn tolerations(&mut self, indent: &str, tolerations: &[Value]) {
        let start = [indent, "Tolerations:\t"].concat();
        let next = [indent, "\t"].concat();
        let mut sorted: Vec<&Value> = tolerations.iter().collect();
        crate::sim::sort_by(&mut sorted, |a, b| text(a, "key").cmp(text(b, "key")));
        let mut head = start.as_str();
        for it in sorted {
            let (key, value, effect) = (text(it, "key"), text(it, "value"), text(it, "effect"));
            let mut line = key.to_string();
            if !value.is_empty() {
                line += &["=", value].concat();
            }
            if !effect.is_empty() {
                line += &[":", effect].concat();
            }
            if text(it, "operator") == "Exists" && value.is_empty() {
                line += if line.is_empty() { "op=Exists" } else { " op=Exists" };
            }
            if let Some(seconds) = super::value::at(it, "tolerationSeconds").as_i64() {
                line += &[" for ", &seconds.to_string(), "s"].concat();
            }
            self.line(0, &[head, &line]);
            head = &next;
        }
        if head == start {
            self.line(0, &[&start, "<none>"]);
        }
    }

    pub fn spread(&mut self, indent: &str, constraints: &[Value]) {
        let mut sorted: Vec<&Value> = constraints.iter().collect();
        crate::sim::sort_by(&mut sorted, |a, b| text(a, "topologyKey").cmp(text(b, "topologyKey")));
        for (index, it) in sorted.iter().enumerate() {
            let head = if index == 0 { "Topology Spread Constraints:\t" } else { "\t" };
            let skew = super::value::int(it, "maxSkew").to_string();
            let of = match super::value::at(it, "labelSelector") {
                Value::Null => String::new(),
                labels => [" for selector ", &selector(labels)].concat(),
            };
            let (key, when) = (text(it, "topologyKey"), text(it, "whenUnsatisfiable"));
            self.line(0, &[indent, head, key, ":", when, " when max skew ", &skew, " is exceeded", &of]);
        }
    }

    /// The Events about an object.
    pub fn events(&mut self, events: Option<&[Value]>, now: i64) {
        let Some(events) = events else { return };
        if events.is_empty() {
            return self.line(0, &["Events:\t<none>"]);
        }
        self.line(0, &["Events:"]);
        self.line(1, &["Type\tReason\tAge\tFrom\tMessage"]);
        self.line(1, &["----\t------\t----\t----\t-------"]);
        for it in events {
            let source = match text(it, "source.component") {
                "" => text(it, "reportingComponent"),
                component => component,
            };
            let mut message = text(it, "message").trim().to_string();
            let path = text(it, "involvedObject.fieldPath");
            if !path.is_empty() {
                message.insert_str(0, &[path, ": "].concat());
            }
            let age = events::interval(it, now);
            self.line(1, &[text(it, "type"), "\t", text(it, "reason"), "\t", &age, "\t", source, "\t", &message]);
        }
    }
}

/// What describing an object needs.
pub struct About<'a> {
    pub cluster: &'a dyn Cluster,
    pub object: &'a Object,
    pub value: &'a Value,
    pub now: i64,
    pub events: Option<Vec<Value>>,
}

impl About<'_> {
    pub fn date(&self, path: &str) -> String {
        time::date(text(self.value, path))
    }

    /// Name, namespace, labels and annotations, with which most begin.
    pub fn head(&self, w: &mut Writer) {
        w.field("Name", text(self.value, "metadata.name"));
        w.field("Namespace", text(self.value, "metadata.namespace"));
        self.marks(w);
    }

    pub fn marks(&self, w: &mut Writer) {
        w.labels("", "Labels", super::value::map(self.value, "metadata.labels"));
        w.annotations("Annotations", super::value::map(self.value, "metadata.annotations"));
    }

    pub fn tail(&self, w: &mut Writer) {
        w.events(self.events.as_deref(), self.now);
    }

    /// `ReplicaSet/web-1`, where somebody controls it.
    pub fn controller(&self) -> Option<String> {
        let owners = list(self.value, "metadata.ownerReferences");
        let owner = owners.iter().find(|it| super::value::flag(it, "controller"))?;
        Some([text(owner, "kind"), "/", text(owner, "name")].concat())
    }
}

fn one(about: &About<'_>) -> Option<String> {
    let mut w = Writer::default();
    match about.object.kind() {
        Kind::Pod => pod::describe(about, &mut w),
        Kind::Deployment => workload::deployment(about, &mut w),
        Kind::ReplicaSet => workload::replica_set(about, &mut w),
        Kind::StatefulSet => workload::stateful_set(about, &mut w),
        Kind::DaemonSet => workload::daemon_set(about, &mut w),
        Kind::Job => workload::job(about, &mut w),
        Kind::Node => node::describe(about, &mut w),
        Kind::Service => service::describe(about, &mut w),
        Kind::EndpointSlice => service::slice(about, &mut w),
        Kind::HorizontalPodAutoscaler => autoscaler::describe(about, &mut w),
        Kind::PodDisruptionBudget => other::budget(about, &mut w),
        Kind::ResourceQuota => other::quota(about, &mut w),
        Kind::Namespace => other::namespace(about, &mut w),
        Kind::ConfigMap => other::config_map(about, &mut w),
        _ => return None,
    }
    Some(tab::describe(&w.0))
}

pub fn describe(context: &mut Context<'_>) -> Result<Done, Failure> {
    let words = context.args.words.clone();
    if words.is_empty() && !context.args.has("filename") {
        return Err(Failure::error(
            "You must specify the type of resource to describe. Use \"kubectl api-resources\" for a complete list of supported resources.",
        ));
    }
    // Of objects that are found by the beginning of their names each is followed by a line.
    let mut by_beginning = false;
    let objects = if context.args.has("filename") {
        context.targets(&words)?
    } else {
        let everywhere = context.args.is("all-namespaces");
        let found = context.find(&words, Wants { type_alone: true, everywhere, ..Wants::default() })?;
        if found.objects.is_empty() && found.named.is_empty() {
            let is_namespaced = found.kinds.iter().any(|it| it.is_namespaced());
            let namespace = context.namespace();
            context.out.err(&super::get::nothing(is_namespaced && !everywhere, &namespace));
            return context.done();
        }
        match found.named.as_slice() {
            // Nothing has that name: all that begin with it are meant.
            [key] if found.objects.is_empty() => {
                let all = resources::of_kind(context, key.kind, Some(&key.namespace));
                let begun: Vec<Object> = all.into_iter().filter(|it| it.meta().name.starts_with(&*key.name)).collect();
                if !begun.is_empty() {
                    context.problems.clear();
                    by_beginning = true;
                }
                begun
            }
            _ => found.objects,
        }
    };
    let with_events = context.args.is_or("show-events", objects.len() <= 1 && context.problems.is_empty());
    let mut is_first = true;
    for object in objects {
        let value = object.to_value();
        let events = with_events.then(|| events::about(context.cluster, &object));
        let about = About { cluster: context.cluster, object: &object, value: &value, now: context.now(), events };
        let Some(text) = one(&about) else {
            let kind = object.kind().name();
            let problem = ["error: describing a ", kind, " is not simulated. Use 'kubectl get -o yaml'"].concat();
            context.problems.push(Problem::Plain(problem));
            continue;
        };
        if !std::mem::take(&mut is_first) && !by_beginning {
            context.out("\n\n");
        }
        context.out(&text);
        if by_beginning {
            context.out("\n");
        }
    }
    context.done()
}
