//! A request of ours beside a write of the recording.

use loopscope_engine::api::{Kind, Object, ObjectKey};
use loopscope_engine::apiserver::{DeleteOptions, Propagation, Request, Verb};
use loopscope_engine::sim::Key;
use serde_json::Value;

use super::course::{Places, kind_of};
use super::names::Names;
use crate::conformance::recording::Write;

/// A request in the words of the audit log.
pub fn describe(request: &Request) -> String {
    let key = request.key();
    let plural = key.kind.plural();
    let (verb, sub) = match &request.verb {
        Verb::Create(_) => ("create", ""),
        Verb::Update(_) => ("update", ""),
        Verb::UpdateStatus(_) => ("update", "/status"),
        Verb::Scale(..) if request.method().0 == "PUT" => ("update", "/scale"),
        Verb::Scale(..) => ("patch", "/scale"),
        Verb::Bind(..) => ("create", "/binding"),
        Verb::Patch(..) | Verb::Apply(..) | Verb::ServerSideApply(..) => ("patch", ""),
        Verb::Delete(..) => ("delete", ""),
        Verb::Evict(..) => ("create", "/eviction"),
        Verb::Finalize(_) => ("update", "/finalize"),
    };
    format!("{verb} {plural}{sub} {}", key.name)
}

/// The same verb on the same resource. A patch of a status is here a PUT without a version.
pub fn is_alike(request: &Request, write: &Write, names: &Names) -> bool {
    let words = describe(request);
    let mut parts = words.splitn(3, ' ');
    let (verb, resource, name) = (parts.next(), parts.next(), parts.next().unwrap_or_default());
    let is_status = write.resource.ends_with("/status");
    let same_verb = verb == Some(&write.verb) || is_status && verb == Some("update") && write.verb == "patch";
    let is_hashed = matches!(kind_of(&write.resource), "ReplicaSet" | "ControllerRevision") && write.verb == "create";
    same_verb && resource == Some(&write.resource) && (name.is_empty() || is_hashed || name == names.ours(&write.name))
}

/// A new object gets the letters of the recorded one. Where a ReplicaSet lists pods that are equal in all that ranks
/// them, chance decides in which order: ours lists by a hash of names, and its pods get further letters that put them
/// into the order in which the recording's went.
pub fn prepared(request: &Request, write: &Write, names: &mut Names, places: &Places) -> Request {
    let mut request = request.clone();
    if let Verb::Create(object) = &mut request.verb {
        if matches!(object.kind(), Kind::ReplicaSet | Kind::ControllerRevision) {
            names.learn(&write.name, &object.meta().name.clone());
        } else if object.meta().name.is_empty() {
            let mut name = names.ours(&write.name);
            if let Some((place, of)) = places.get(&write.name) {
                name = placed(object, &name, *place, *of);
                names.learn(&write.name, &name);
            }
            object.meta_mut().name = name.as_str().into();
        }
    }
    request
}

/// A name that begins like this one and stands at a place among so many.
fn placed(object: &Object, name: &str, place: usize, of: usize) -> String {
    const LETTERS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";
    let letters = |n: usize| (0..6).map(move |at| char::from(LETTERS[n / 20_usize.pow(at) % LETTERS.len()]));
    // Letters further to the left move a hash further.
    let names = (0..8_000).map(|n| format!("{name}{}", letters(n * 7_919).collect::<String>()));
    let stands_at = |name: &String| {
        let order =
            ObjectKey::new(object.kind(), object.meta().namespace.clone(), name.as_str()).rank() & 0xff_ffff_ffff_ffff;
        ((u128::from(order) * of as u128) >> 56) as usize == place
    };
    let mut names = names.filter(stands_at);
    names.next().unwrap_or_else(|| name.to_string())
}

/// The node that a new pod is made for (DaemonSets).
pub fn pinned_to(request: &Request) -> Option<String> {
    const NODE: &str = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchFields/0/values/0";
    match &request.verb {
        Verb::Create(pod @ Object::Pod(_)) => pod.to_value().pointer(NODE)?.as_str().map(str::to_string),
        _ => None,
    }
}

/// How an object is to be deleted, which the object does not show.
pub fn compare_options(request: &Request, write: &Write) -> Result<(), String> {
    let Verb::Delete(_, DeleteOptions { grace_seconds, propagation, .. }) = &request.verb else { return Ok(()) };
    let told = |field: &str| write.delete_options.as_ref().map_or(Value::Null, |it| it[field].clone());
    let propagation = match propagation {
        None => Value::Null,
        Some(Propagation::Background) => "Background".into(),
        Some(Propagation::Foreground) => "Foreground".into(),
        Some(Propagation::Orphan) => "Orphan".into(),
    };
    for (field, ours) in [("gracePeriodSeconds", Value::from(*grace_seconds)), ("propagationPolicy", propagation)] {
        if ours != told(field) {
            return Err(format!("{field} is {ours}, recorded {}", told(field)));
        }
    }
    Ok(())
}

/// The first field in which two versions differ.
pub fn first_change(path: &str, before: &Value, after: &Value) -> Option<String> {
    match (before, after) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            let mut keys = keys.into_iter().filter(|key| *key != "resourceVersion");
            keys.find_map(|key| first_change(&format!("{path}.{key}"), &before[key], &after[key]))
        }
        _ if before == after => None,
        _ => Some(format!("{} from {before} to {after}", path.trim_start_matches('.'))),
    }
}
