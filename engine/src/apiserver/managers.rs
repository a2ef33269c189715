//! Who owns which field: what `metadata.managedFields` says after a write (`apimachinery/pkg/util/managedfields`,
//! `structured-merge-diff/merge/update.go`, v1.36).
//!
//! A write by `Update` takes what it adds or changes from everybody else; what it removes is nobody's. A write by `Apply`
//! owns all that it says. Defaults belong to whom the object came from, what admission adds to nobody.

use std::rc::Rc;

use serde_json::Value;

use super::fields::{Difference, Fields, difference};
use super::memo::{Memo, fingerprint};
use super::{ApiError, Reason};
use crate::api::{
    EndpointSlice, FieldSet, Kind, Managed, ManagedEntry, ManagerId, Name, Object, STEP, Timestamp, path_text,
};
use crate::sim::Map;

/// More writers by `Update` than this are counted together (`DefaultMaxUpdateManagers`).
const MOST_WRITERS: usize = 10;
const OLD_WRITERS: &str = "ancient-changes";
/// What was there before the first apply belongs to this one.
const BEFORE_APPLY: &str = "before-first-apply";
pub(super) const REPLICAS: &str = "f:spec\u{1}f:replicas";

/// A write as its managers' time and version have it.
#[derive(Clone, Copy)]
pub(super) struct Write {
    pub by: ManagerId,
    pub api_version: &'static str,
    pub now: Timestamp,
}

/// An object as far as its fields can be owned: of endpoints, which are one field, only that there are some.
fn value_of(object: &Object) -> Value {
    match object {
        Object::EndpointSlice(slice) => {
            let (metadata, address_type) = (slice.metadata.clone(), slice.address_type.clone());
            let (ports, extra) = (slice.ports.clone(), slice.extra.clone());
            let bare = EndpointSlice { metadata, address_type, endpoints: Vec::new(), ports, extra };
            Object::EndpointSlice(bare.into()).to_value()
        }
        other => other.to_value(),
    }
}

/// How two versions of an object differ; all of a new object is new.
fn changes(old: Option<&Object>, new: &Object) -> Difference {
    let (before, after) = (old.map(value_of).unwrap_or_default(), value_of(new));
    let kind = new.kind();
    let mut found = difference(&Fields::of(kind, &before), &Fields::of(kind, &after));
    if let Object::EndpointSlice(slice) = new {
        let same = old.and_then(Object::as_endpoint_slice).is_some_and(|old| old.endpoints == slice.endpoints);
        let endpoints: Name = "f:endpoints".into();
        if !same && let Err(at) = found.taken.binary_search(&endpoints) {
            found.taken.insert(at, endpoints);
        }
    }
    found
}

/// The managers after a write by `Update`; of an object that nobody ever wrote with managers they are not told. How the
/// two differ may have been looked at before.
pub(super) fn updated(
    old: Option<&Object>,
    new: &Object,
    seen: Option<Difference>,
    write: Write,
    memo: &mut Memo,
) -> Managed {
    let known = old.map(|it| &it.meta().managed);
    if known.is_some_and(Managed::is_empty) {
        return Managed::default();
    }
    let none = Managed::default();
    let known = known.unwrap_or(&none);
    let print = old.and_then(|old| fingerprint(old, new, write.by.subresource));
    if let Some(found) = print.and_then(|print| memo.find(known, print, &write)) {
        return found;
    }
    let change = seen.map(Rc::new).or_else(|| print.and_then(|print| memo.change(print))).unwrap_or_else(|| {
        let change = Rc::new(changes(old, new));
        if let Some(print) = print {
            memo.keep_change(print, &change);
        }
        change
    });
    let found = taken(known, &change, write);
    memo.keep(known, print, &write, found)
}

/// What becomes of the managers where somebody takes fields.
pub(super) fn taken(known: &Managed, change: &Difference, write: Write) -> Managed {
    let is_scale = write.by.subresource == "scale";
    let mut entries: Vec<ManagedEntry> = known.entries().to_vec();
    // A size set through the scale subresource is tracked only where somebody owned the field before.
    let of_scale = [Name::from(REPLICAS)];
    let is_tracked = !is_scale || entries.iter().any(|it| it.fields.has(REPLICAS));
    let mine: &[Name] = match (is_scale, is_tracked && change.taken.iter().any(|it| it.as_str() == REPLICAS)) {
        (false, _) => &change.taken,
        (true, true) => &of_scale,
        (true, false) => &[],
    };
    for entry in &mut entries {
        entry.fields = entry.fields.without(mine).without(&change.removed);
    }
    if !mine.is_empty() {
        let time = (!is_scale).then_some(write.now);
        match entries.iter_mut().find(|it| it.by == write.by) {
            Some(own) => {
                own.fields = own.fields.and(mine);
                own.time = if is_scale { own.time } else { time };
                own.api_version = write.api_version;
            }
            None => {
                let fields = FieldSet::sorted(mine.to_vec());
                entries.push(ManagedEntry { by: write.by, api_version: write.api_version, time, fields });
            }
        }
    }
    count_together(&mut entries);
    Managed::new(entries)
}

/// Puts the oldest of too many writers together (`capmanagers.go`).
fn count_together(entries: &mut Vec<ManagedEntry>) {
    while entries.iter().filter(|it| !it.by.is_apply() && !it.fields.is_empty()).count() > MOST_WRITERS {
        let oldest = |entries: &[ManagedEntry]| {
            let all = entries.iter().enumerate().filter(|(_, it)| !it.by.is_apply() && !it.fields.is_empty());
            let named = all.filter(|(_, it)| it.by.manager != OLD_WRITERS);
            named.min_by_key(|(_, it)| it.time.map_or(0, |it| it.0)).map(|(at, _)| at)
        };
        let Some(old) = oldest(entries).map(|at| entries.remove(at)) else { return };
        let by = ManagerId { manager: OLD_WRITERS, operation: "Update", subresource: "" };
        match entries.iter_mut().find(|it| it.by == by) {
            Some(all) => (all.fields, all.time) = (all.fields.and(&old.fields), old.time.max(all.time)),
            None => entries.push(ManagedEntry { by, ..old }),
        }
    }
}

/// What an apply makes of a live object.
pub(super) struct Applied {
    pub managed: Managed,
    /// What was applied before and no longer is: paths to give up.
    pub before: FieldSet,
    /// What anybody owns now.
    pub kept: FieldSet,
}

/// The managers with all that somebody applies as theirs.
pub(super) fn applying(live: &Object, set: FieldSet, write: Write) -> Applied {
    let mut entries: Vec<ManagedEntry> = live.meta().managed.entries().to_vec();
    if entries.is_empty() {
        let by = ManagerId { manager: BEFORE_APPLY, operation: "Update", subresource: "" };
        let first = Write { by, ..write };
        entries = taken(&Managed::default(), &changes(None, live), first).entries().to_vec();
    }
    let before = match entries.iter_mut().find(|it| it.by == write.by) {
        Some(own) => std::mem::replace(&mut own.fields, set),
        None => {
            entries.push(ManagedEntry { by: write.by, api_version: write.api_version, time: None, fields: set });
            FieldSet::default()
        }
    };
    // Who applies names the object, which is not noted.
    let mut kept = FieldSet::sorted(vec!["f:metadata\u{1}f:name".into()]);
    for entry in &entries {
        kept = kept.and(&entry.fields);
    }
    Applied { managed: Managed::new(entries), before, kept }
}

/// Takes what an apply changed from all others, or says whose it is.
///
/// # Errors
/// The conflicts, unless they are forced, or may be since a client-side apply last said the same (`is_allowed`).
pub(super) fn settled(
    managed: &Managed,
    change: &Difference,
    write: Write,
    force: bool,
    is_allowed: &dyn Fn(&str) -> bool,
) -> Result<Managed, ApiError> {
    let mut entries: Vec<ManagedEntry> = managed.entries().to_vec();
    if !force {
        let mut conflicts: Vec<(ManagedEntry, Vec<&Name>)> = Vec::new();
        for entry in entries.iter().filter(|it| it.by != write.by) {
            let paths = change.taken.iter().filter(|it| entry.fields.has(it) && !is_allowed(it));
            let paths: Vec<&Name> = paths.collect();
            if !paths.is_empty() {
                conflicts.push((entry.clone(), paths));
            }
        }
        if !conflicts.is_empty() {
            return Err(ApiError::new(Reason::Conflict, conflict(conflicts)));
        }
    }
    for entry in &mut entries {
        if entry.by == write.by {
            // What changes nothing leaves no time.
            entry.time = if change.is_empty() { entry.time } else { Some(write.now) };
        } else {
            entry.fields = entry.fields.without(&change.taken).without(&change.removed);
        }
    }
    Ok(Managed::new(entries))
}

/// `Apply failed with 1 conflict: conflict with "kubectl" using apps/v1: .spec.replicas` (`merge/conflict.go`,
/// `managedfields/internal/conflict.go`).
fn conflict(mut conflicts: Vec<(ManagedEntry, Vec<&Name>)>) -> String {
    let who = |it: &ManagedEntry| {
        let mut who = ["\"", it.by.manager, "\""].concat();
        if !it.by.subresource.is_empty() {
            who += &[" with subresource \"", it.by.subresource, "\""].concat();
        }
        if !it.by.is_apply() {
            who += &[" using ", it.api_version].concat();
        }
        who
    };
    crate::sim::sort_by(&mut conflicts, |a, b| who(&a.0).cmp(&who(&b.0)));
    let count: usize = conflicts.iter().map(|(_, paths)| paths.len()).sum();
    if let ([(entry, paths)], 1) = (conflicts.as_slice(), count) {
        let path = paths.first().map(|it| path_text(it)).unwrap_or_default();
        return ["Apply failed with 1 conflict: conflict with ", &who(entry), ": ", &path].concat();
    }
    let mut text = ["Apply failed with ", &count.to_string(), " conflicts:"].concat();
    for (index, (entry, paths)) in conflicts.iter().enumerate() {
        text += if index == 0 { " " } else { "\n" };
        text += &["conflicts with ", &who(entry), ":"].concat();
        for path in paths {
            text += &["\n- ", &path_text(path)].concat();
        }
    }
    text
}

/// The fields of an object that people ask for, with their values, by path as in [`FieldSet`].
pub fn field_values(kind: Kind, object: &Value) -> Vec<(Name, &Value)> {
    let fields = Fields::of(kind, object);
    let asked = fields.values().filter(|(path, value)| !is_status(path) && !value.is_null());
    asked.map(|(path, value)| (Name::from(path), value)).collect()
}

fn is_status(path: &str) -> bool {
    path.strip_prefix("f:status").is_some_and(|rest| rest.is_empty() || rest.starts_with(STEP))
}

/// How an object differs from another, and the paths of it outside `status`, with the values before and after: what a
/// write did, for those who watch fields change hands.
pub(super) fn spec_changes(old: &Object, new: &Object) -> (Difference, Vec<(Name, Value, Value)>) {
    let (kind, before, after) = (new.kind(), old.to_value(), new.to_value());
    let (before, after) = (Fields::of(kind, &before), Fields::of(kind, &after));
    let found = difference(&before, &after);
    let told = found.taken.iter().chain(&found.removed).filter(|it| !is_status(it));
    let told = told.filter_map(|path| {
        let (from, to) = (before.value(path), after.value(path));
        (from.is_some() || to.is_some())
            .then(|| (path.clone(), from.cloned().unwrap_or_default(), to.cloned().unwrap_or_default()))
    });
    let told = told.collect();
    (found, told)
}

/// The fields of an object that somebody can own, with their values: `.spec.replicas`,
/// `.spec.template.spec.containers[name="app"].image`. What is reported in `status` and what the API server itself sets
/// is left out.
pub fn owned_fields(object: &Value) -> Map<Name, Value> {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let kind = Kind::find(text("apiVersion"), text("kind")).unwrap_or(Kind::ConfigMap);
    field_values(kind, object).into_iter().map(|(path, value)| (path_text(&path).into(), value.clone())).collect()
}
