//! What kubectl asks of the API server, as the journal keeps it, and the world as kubectl's cluster.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Command, Outcome, Simulation, Target};
use crate::api::{Kind, Name, Object, ObjectKey, Timestamp, Uid, fields};
use crate::apiserver::{
    Answer, ApiError, ApiServer, DeleteOptions, KubeEvent, Moment, PatchType, Propagation, Reason, Request, Verb,
    manager_name,
};
use crate::client::Author;
use crate::kubectl::{Cluster, reference};
use crate::sim::{Random, Seq, Time, hex};

/// A request of a person, of any kind that kubectl makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "verb")]
pub enum Ask {
    Create {
        object: Value,
    },
    Update {
        object: Value,
    },
    Scale {
        target: Target,
        replicas: i32,
    },
    Patch {
        target: Target,
        #[serde(rename = "type")]
        kind: PatchType,
        patch: Value,
    },
    /// What `kubectl apply` does: creates the object or merges what changed since the last apply.
    Apply {
        namespace: String,
        object: Value,
    },
    /// `kubectl apply --server-side`, with `--force-conflicts` or without.
    ServerSideApply {
        namespace: String,
        object: Value,
        #[serde(default)]
        force: bool,
    },
    Delete {
        target: Target,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        propagation: Option<Propagation>,
        /// Seconds; the pod's own where not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grace: Option<i64>,
    },
    Evict {
        target: Target,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grace: Option<i64>,
    },
}

fn kind_of(object: &Value) -> Option<Kind> {
    Kind::find(object.get("apiVersion")?.as_str()?, object.get("kind")?.as_str()?)
}

fn object(value: &Value) -> Result<Object, ApiError> {
    let bad = |why: String| ApiError::new(Reason::BadRequest, why);
    let kind = kind_of(value).ok_or_else(|| bad("no such kind".into()))?;
    Object::from_value(kind, value.clone()).map_err(|error| bad([&error.path, ": ", &error.message].concat()))
}

impl Ask {
    /// The object that it is about.
    pub fn target(&self) -> Option<Target> {
        match self {
            Ask::Create { object }
            | Ask::Update { object }
            | Ask::Apply { object, .. }
            | Ask::ServerSideApply { object, .. } => {
                let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default().to_string();
                Some(Target {
                    kind: kind_of(object)?,
                    namespace: text("/metadata/namespace"),
                    name: text("/metadata/name"),
                })
            }
            Ask::Scale { target, .. } | Ask::Patch { target, .. } => Some(target.clone()),
            Ask::Delete { target, .. } | Ask::Evict { target, .. } => Some(target.clone()),
        }
    }

    /// The request that stands for it.
    ///
    /// # Errors
    /// Where an object is none.
    fn verb(&self) -> Result<Verb, ApiError> {
        Ok(match self {
            Ask::Create { object: it } => Verb::Create(object(it)?),
            Ask::Update { object: it } => Verb::Update(object(it)?),
            Ask::Scale { target, replicas } => Verb::Scale(target.key(), *replicas),
            Ask::Patch { target, kind, patch } => Verb::Patch(target.key(), *kind, patch.clone()),
            Ask::Apply { namespace, object: it } => {
                let kind = kind_of(it).ok_or_else(|| ApiError::new(Reason::BadRequest, "no such kind".into()))?;
                Verb::Apply(kind, namespace.as_str().into(), it.clone())
            }
            Ask::ServerSideApply { namespace, object: it, force } => {
                let kind = kind_of(it).ok_or_else(|| ApiError::new(Reason::BadRequest, "no such kind".into()))?;
                Verb::ServerSideApply(kind, namespace.as_str().into(), it.clone(), *force)
            }
            Ask::Delete { target, propagation, grace } => {
                let options =
                    DeleteOptions { propagation: *propagation, grace_seconds: *grace, ..DeleteOptions::default() };
                Verb::Delete(target.key(), options)
            }
            Ask::Evict { target, grace } => {
                Verb::Evict(target.key(), DeleteOptions { grace_seconds: *grace, ..DeleteOptions::default() })
            }
        })
    }

    /// What kubectl never asks for is not kept.
    fn of(verb: Verb) -> Option<Self> {
        let target = |key: &ObjectKey| Target::from(key);
        Some(match verb {
            Verb::Create(object) => Ask::Create { object: object.to_value() },
            Verb::Update(object) => Ask::Update { object: object.to_value() },
            Verb::Scale(key, replicas) => Ask::Scale { target: target(&key), replicas },
            Verb::Patch(key, kind, patch) => Ask::Patch { target: target(&key), kind, patch },
            Verb::Apply(kind, namespace, object) => {
                Ask::Apply { namespace: namespace.to_string(), object: typed(kind, object) }
            }
            Verb::ServerSideApply(kind, namespace, object, force) => {
                Ask::ServerSideApply { namespace: namespace.to_string(), object: typed(kind, object), force }
            }
            Verb::Delete(key, it) if it.uid.is_none() && it.resource_version.is_none() => {
                Ask::Delete { target: target(&key), propagation: it.propagation, grace: it.grace_seconds }
            }
            Verb::Evict(key, it) if it.uid.is_none() && it.propagation.is_none() => {
                Ask::Evict { target: target(&key), grace: it.grace_seconds }
            }
            _ => return None,
        })
    }
}

/// An object that says of which kind it is.
fn typed(kind: Kind, mut object: Value) -> Value {
    if let Value::Object(map) = &mut object {
        map.insert("apiVersion".into(), kind.api_version().into());
        map.insert("kind".into(), kind.name().into());
    }
    object
}

/// The command that stands for a request: one of those that have words of their own where there is one.
fn command(manager: &str, ask: Ask) -> Command {
    match (manager, ask) {
        ("kubectl", Ask::Scale { target, replicas }) => Command::Scale { target, replicas },
        ("kubectl", Ask::Delete { target, propagation, grace }) => Command::Delete { target, propagation, grace },
        ("kubectl", Ask::Evict { target, grace: None }) => Command::Evict { target },
        ("kubectl-patch", Ask::Patch { target, kind, patch }) => Command::Patch { target, kind, patch },
        (manager, ask) => Command::Request { manager: manager.into(), ask },
    }
}

/// The request of a command that is nothing else.
fn request(command: &Command) -> Result<Request, ApiError> {
    let (manager, verb) = match command {
        Command::Request { manager, ask } => (manager_name(manager), ask.verb()?),
        Command::Scale { target, replicas } => ("kubectl", Verb::Scale(target.key(), *replicas)),
        Command::Delete { target, propagation, grace } => {
            let (target, propagation, grace) = (target.clone(), *propagation, *grace);
            ("kubectl", Ask::Delete { target, propagation, grace }.verb()?)
        }
        Command::Evict { target } => ("kubectl", Ask::Evict { target: target.clone(), grace: None }.verb()?),
        Command::Patch { target, kind, patch } => ("kubectl-patch", Verb::Patch(target.key(), *kind, patch.clone())),
        _ => return Err(ApiError::new(Reason::BadRequest, "no request".into())),
    };
    Ok(Request::new(manager, verb))
}

impl Simulation {
    pub(super) fn answer_of(&mut self, command: &Command, seq: Seq) -> Result<Answer, ApiError> {
        let request = request(command)?;
        self.execute(&request, Author::You, seq, false)
    }

    pub(super) fn asked(&mut self, command: &Command, seq: Seq) -> Outcome {
        match self.answer_of(command, seq) {
            Ok(answer) => {
                let line = [&reference(&answer.object.key()), " written"].concat();
                Outcome { lines: vec![line], problems: Vec::new() }
            }
            Err(error) => super::simulation::refused(&error),
        }
    }
}

fn event(it: &KubeEvent, epoch_ms: i64, objects: &crate::apiserver::Objects) -> Value {
    let stamp = |at: Time| Value::from(Timestamp::from_millis(epoch_ms + at.0 as i64).to_string());
    let about = &it.draft.about;
    let namespace: Name = if about.namespace.is_empty() { "default".into() } else { about.namespace.clone() };
    let uid = objects.get(about).map_or(Uid::default(), |it| it.meta().uid);
    let uid = match (about.kind, uid == Uid::default()) {
        (Kind::Node, _) => about.name.to_string(),
        (_, true) => String::new(),
        _ => uid.to_string(),
    };
    let name = [about.name.as_str(), ".", &hex(it.seq.0)].concat();
    let kind = if it.draft.is_warning { "Warning" } else { "Normal" };
    fields([
        ("apiVersion", "v1".into()),
        ("kind", "Event".into()),
        (
            "metadata",
            fields([
                ("name", name.into()),
                ("namespace", namespace.as_str().into()),
                ("creationTimestamp", stamp(it.first)),
            ]),
        ),
        (
            "involvedObject",
            fields([
                ("apiVersion", about.kind.api_version().into()),
                ("kind", about.kind.name().into()),
                ("name", about.name.as_str().into()),
                ("namespace", about.namespace.as_str().into()),
                ("uid", uid.into()),
            ]),
        ),
        ("reason", it.draft.reason.into()),
        ("message", it.draft.message.as_str().into()),
        ("source", fields([("component", it.draft.component.into())])),
        ("reportingComponent", it.draft.component.into()),
        ("reportingInstance", "".into()),
        ("firstTimestamp", stamp(it.first)),
        ("lastTimestamp", stamp(it.last)),
        ("count", it.count.into()),
        ("type", kind.into()),
    ])
}

impl Cluster for Simulation {
    fn api(&self) -> &ApiServer {
        Simulation::api(self)
    }

    fn wall_millis(&self) -> i64 {
        Simulation::wall_millis(self)
    }

    fn wall_of(&self, at: Time) -> i64 {
        self.scenario().epoch_ms + at.0 as i64
    }

    fn ask(&mut self, request: Request) -> Result<Answer, ApiError> {
        let manager = request.manager;
        let Some(ask) = Ask::of(request.verb) else {
            return Err(ApiError::new(Reason::BadRequest, "kubectl asks for no such thing".into()));
        };
        let command = command(manager, ask);
        let seq = self.note_command(&command, None);
        let answer = self.answer_of(&command, seq);
        if let Err(error) = &answer {
            self.note_refusal(&error.message);
        }
        self.balance();
        answer
    }

    fn try_out(&self, request: &Request) -> Result<Answer, ApiError> {
        let mut api = Simulation::api(self).clone();
        let mut random = Random::new(0);
        let (now, wall) = (self.now(), self.wall());
        let mut moment = Moment { now, wall, cause: Seq(0), random: &mut random, uid: None };
        api.execute(request, &mut moment)
    }

    fn metrics(&self, of_nodes: bool) -> Option<Vec<Value>> {
        Some(super::usage::metrics(self, of_nodes))
    }

    fn events(&self) -> Vec<Value> {
        let api = Simulation::api(self);
        api.events.iter().map(|it| event(it, self.scenario().epoch_ms, api.objects())).collect()
    }
}
