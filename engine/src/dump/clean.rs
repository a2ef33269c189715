//! What of an object is nobody's business, taken out before anything is kept.
//!
//! Values of environment variables, commands, arguments, HTTP headers, annotations, and what volumes of a kind of their
//! own are given: each gets a stand-in. Equal values have the same stand-in and others have another, since a controller
//! tells two templates apart by them. From a stand-in nothing can be told of the value but that.

use serde_json::{Map, Value};

use crate::api::{Kind, Timestamp, Uid};
use crate::sim::Digest;

/// Annotations that the simulation reads, or that say what something is.
const KEPT: [&str; 11] = [
    "controller.kubernetes.io/pod-deletion-cost",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deployment.kubernetes.io/revision",
    "deployment.kubernetes.io/revision-history",
    "deprecated.daemonset.template.generation",
    "kubectl.kubernetes.io/restartedAt",
    "kubernetes.io/config.hash",
    "kubernetes.io/config.mirror",
    "kubernetes.io/config.seen",
    "kubernetes.io/config.source",
];
/// Seconds, bytes and counts are not more.
const MOST: i64 = 1 << 44;
/// No value of these is longer.
const LONGEST_KEPT: usize = 64;

/// Sources of volumes that name other objects or places, and hold nothing of their own.
const PLAIN_VOLUMES: [&str; 7] =
    ["configMap", "downwardAPI", "emptyDir", "hostPath", "persistentVolumeClaim", "projected", "secret"];

/// Fields that hold a time at which something was seen to be so.
const TIMES: [&str; 9] = [
    "creationTimestamp",
    "finishedAt",
    "lastHeartbeatTime",
    "lastScaleTime",
    "lastTransitionTime",
    "lastUpdateTime",
    "renewTime",
    "startTime",
    "startedAt",
];

/// What was taken out, in the order in which it is told.
#[derive(Clone, Copy)]
enum What {
    Environment,
    Arguments,
    Annotations,
    Other,
}

const WORDS: [&str; 4] =
    ["environment values", "commands and arguments", "annotations", "headers, volume attributes and messages"];

#[derive(Default)]
pub(super) struct Cleaner {
    /// By where they stand, the values that were met there and their numbers. Never leaves this.
    values: Map<String, Value>,
    counts: [usize; WORDS.len()],
    /// The newest time that was met, in seconds since 1970.
    pub newest: Option<i64>,
}

/// `Pod shop/web-1`
pub(super) fn described(kind: &str, value: &Value) -> String {
    let text = |path: &str| value.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
    let namespace = if namespace.is_empty() { String::new() } else { [namespace, "/"].concat() };
    let name: String = name.chars().take(253).collect();
    [kind, " ", &namespace, &name].concat()
}

fn list<'a>(value: &'a mut Value, field: &str) -> impl Iterator<Item = &'a mut Value> + use<'a> {
    value.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten()
}

impl Cleaner {
    pub fn dropped(&self) -> Vec<(&'static str, usize)> {
        WORDS.into_iter().zip(self.counts).filter(|(_, count)| *count > 0).collect()
    }

    /// Takes out of an object of a kind what is not to be kept.
    pub fn clean(&mut self, kind: Kind, value: &mut Value) {
        self.note_times(value);
        hold(value);
        if let Some(meta) = value.get_mut("metadata") {
            self.metadata(kind, meta);
        }
        match kind {
            Kind::Pod => self.pod(value),
            Kind::Node => node(value),
            Kind::ControllerRevision => {
                if let Some(template) = value.pointer_mut("/data/spec/template") {
                    self.template(template);
                }
            }
            _ => {
                if let Some(template) = value.pointer_mut("/spec/template") {
                    self.template(template);
                }
            }
        }
    }

    /// A stand-in for a value in its place; equal values have the same.
    fn stand_in(&mut self, what: What, place: &str, value: &str) -> String {
        self.counts[what as usize] += 1;
        let known = self.values.entry(place).or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(known) = known else { return String::new() };
        let next = known.len() as u64 + 1;
        let number = known.entry(value).or_insert_with(|| next.into()).as_u64().unwrap_or(next);
        if number == 1 { "dropped".into() } else { ["dropped-", &number.to_string()].concat() }
    }

    fn blank(&mut self, what: What, place: &str, value: &mut Value) {
        match value {
            Value::String(text) if text.is_empty() => {}
            Value::String(text) => *text = self.stand_in(what, place, text),
            Value::Array(items) => items.iter_mut().for_each(|it| self.blank(what, place, it)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.blank(what, &[place, "/", name].concat(), value);
                }
            }
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                let text = number.to_string();
                *value = self.stand_in(what, place, &text).into();
            }
        }
    }

    fn metadata(&mut self, kind: Kind, meta: &mut Value) {
        let Some(map) = meta.as_object_mut() else { return };
        for gone in ["managedFields", "selfLink", "resourceVersion"] {
            map.remove(gone);
        }
        if !kind.is_namespaced() {
            map.remove("namespace");
        } else if map.get("namespace").is_none_or(|it| it.as_str() == Some("")) {
            map.insert("namespace".into(), "default".into());
        }
        if let Some(annotations) = map.get_mut("annotations").and_then(Value::as_object_mut) {
            let all = annotations.len();
            annotations.retain(|name, value| is_kept(name, value));
            self.counts[What::Annotations as usize] += all - annotations.len();
        }
        let namespace = text(map, "namespace").to_owned();
        let identity = [kind.name(), "/", &namespace, "/", text(map, "name")].concat();
        name_uniquely(map, &identity);
        for owner in list(meta, "ownerReferences") {
            if let Some(owner) = owner.as_object_mut() {
                let is_beside = Kind::by_name(text(owner, "kind")).is_none_or(Kind::is_namespaced);
                let namespace = if is_beside { namespace.as_str() } else { "" };
                let identity = [text(owner, "kind"), "/", namespace, "/", text(owner, "name")].concat();
                name_uniquely(owner, &identity);
            }
        }
    }

    fn template(&mut self, template: &mut Value) {
        if let Some(map) = template.get_mut("metadata").and_then(Value::as_object_mut) {
            map.remove("managedFields");
            if let Some(annotations) = map.get_mut("annotations").and_then(Value::as_object_mut) {
                for (name, value) in annotations.iter_mut().filter(|(name, value)| !is_kept(name, value)) {
                    self.blank(What::Annotations, &["@", name].concat(), value);
                }
            }
        }
        if let Some(spec) = template.get_mut("spec") {
            self.pod_spec(spec);
        }
    }

    fn pod(&mut self, pod: &mut Value) {
        if let Some(spec) = pod.get_mut("spec") {
            self.pod_spec(spec);
        }
        let Some(status) = pod.get_mut("status") else { return };
        for field in ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] {
            for container in list(status, field) {
                for path in ["/state/terminated", "/lastState/terminated"] {
                    let ended = container.pointer_mut(path).and_then(Value::as_object_mut);
                    // What a program left behind in its last words.
                    let had = ended.and_then(|it| it.remove("message")).is_some();
                    self.counts[What::Other as usize] += usize::from(had);
                }
            }
        }
    }

    fn pod_spec(&mut self, spec: &mut Value) {
        for field in ["containers", "initContainers", "ephemeralContainers"] {
            for container in list(spec, field) {
                self.container(container);
            }
        }
        for volume in list(spec, "volumes") {
            let Some(fields) = volume.as_object_mut() else { continue };
            let own = fields.iter_mut().filter(|(name, _)| *name != "name" && !PLAIN_VOLUMES.contains(&name.as_str()));
            for (name, source) in own {
                self.blank(What::Other, &["volume/", name].concat(), source);
            }
        }
    }

    fn container(&mut self, container: &mut Value) {
        let name = container.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        for variable in list(container, "env") {
            let place = [&name, "$", variable.get("name").and_then(Value::as_str).unwrap_or_default()].concat();
            if let Some(value) = variable.get_mut("value") {
                self.blank(What::Environment, &place, value);
            }
        }
        for field in ["command", "args"] {
            if let Some(words) = container.get_mut(field) {
                self.blank(What::Arguments, &[&name, " ", field].concat(), words);
            }
        }
        let handlers =
            ["/livenessProbe", "/readinessProbe", "/startupProbe", "/lifecycle/preStop", "/lifecycle/postStart"];
        for path in handlers {
            if let Some(handler) = container.pointer_mut(path) {
                self.handler(&[&name, path].concat(), handler);
            }
        }
    }

    /// What a probe or a hook runs or asks.
    fn handler(&mut self, place: &str, handler: &mut Value) {
        if let Some(command) = handler.pointer_mut("/exec/command") {
            self.blank(What::Arguments, place, command);
        }
        let Some(get) = handler.get_mut("httpGet") else { return };
        for header in list(get, "httpHeaders") {
            if let Some(value) = header.get_mut("value") {
                self.blank(What::Other, place, value);
            }
        }
        if let Some(Value::String(path)) = get.get_mut("path")
            && let Some((before, query)) = path.split_once('?')
        {
            *path = [before, "?", &self.stand_in(What::Other, place, query)].concat();
        }
    }

    pub fn note_times(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|it| self.note_times(it)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(text) if TIMES.contains(&name.as_str()) => {
                            let at = Timestamp::parse(text).map(|it| it.0);
                            self.newest = self.newest.max(at);
                        }
                        value => self.note_times(value),
                    }
                }
            }
            _ => {}
        }
    }
}

/// Numbers that no cluster has are held to what can still be counted with.
fn hold(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(hold),
        Value::Object(fields) => fields.values_mut().for_each(hold),
        Value::Number(number) => {
            if let Some(held) = number.as_i64().filter(|it| !(-MOST..=MOST).contains(it)) {
                *value = held.clamp(-MOST, MOST).into();
            }
        }
        _ => {}
    }
}

fn text<'a>(map: &'a Map<String, Value>, field: &str) -> &'a str {
    map.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn is_kept(name: &str, value: &Value) -> bool {
    KEPT.contains(&name) && value.as_str().is_some_and(|it| it.len() <= LONGEST_KEPT)
}

/// A UID that is none, as mirrors of static pods once had, becomes one: the same for the same text.
fn name_uniquely(map: &mut Map<String, Value>, identity: &str) {
    let written = text(map, "uid");
    if Uid::parse(written).is_some_and(|it| it != Uid::default()) {
        return;
    }
    let of = if written.is_empty() { identity } else { written };
    map.insert("uid".into(), uid_of(of).to_string().into());
}

/// Always the same UID for the same text.
pub fn uid_of(text: &str) -> Uid {
    let half = |salt: &str| {
        let mut digest = Digest::default();
        digest.bytes(salt.as_bytes());
        digest.bytes(text.as_bytes());
        u128::from(digest.value())
    };
    Uid(half("a") << 64 | half("b") | 1)
}

/// Of a node what it is like and how it is; images and volumes are told elsewhere.
fn node(node: &mut Value) {
    if let Some(status) = node.get_mut("status").and_then(Value::as_object_mut) {
        for gone in ["config", "images", "volumesAttached", "volumesInUse"] {
            status.remove(gone);
        }
    }
}
