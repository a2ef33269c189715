//! `metadata.managedFields` as plain data: who owns which fields of an object (`apimachinery/pkg/apis/meta/v1`,
//! `structured-merge-diff/fieldpath`, v1.36).

use std::rc::Rc;

use super::{Name, Timestamp};

/// What stands between the steps of a path. It sorts before all that a step may hold, so that what lies below a path
/// comes right after it.
pub const STEP: char = '\u{1}';

/// One line of `managedFields`: who, in which way, and through which subresource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ManagerId {
    pub manager: &'static str,
    /// `Update` or `Apply`.
    pub operation: &'static str,
    /// `status`, `scale`, or nothing.
    pub subresource: &'static str,
}

impl ManagerId {
    pub fn is_apply(&self) -> bool {
        self.operation == "Apply"
    }
}

/// Paths in order, each once. Copies share them.
///
/// A path is the steps that `fieldsV1` has, `f:spec`, `k:{"name":"app"}`, `v:"x"`, with [`STEP`] between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldSet(Rc<[Name]>);

impl Default for FieldSet {
    fn default() -> Self {
        Self(Rc::from(Vec::new()))
    }
}

impl FieldSet {
    /// Of paths that are in order already.
    pub fn sorted(paths: Vec<Name>) -> Self {
        Self(paths.into())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Name> {
        self.0.iter()
    }

    pub fn has(&self, path: &str) -> bool {
        self.0.binary_search_by(|it| it.as_str().cmp(path)).is_ok()
    }

    /// Whether it has a path or anything below it.
    pub fn reaches(&self, path: &str) -> bool {
        let at = self.0.partition_point(|it| it.as_str() < path);
        self.0
            .get(at)
            .is_some_and(|it| it.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(STEP)))
    }

    /// The paths of both.
    pub fn and(&self, other: &[Name]) -> Self {
        if other.iter().all(|it| self.has(it)) {
            return self.clone();
        }
        let mut all: Vec<Name> = Vec::with_capacity(self.len() + other.len());
        let (mut a, mut b) = (self.0.iter().peekable(), other.iter().peekable());
        while let Some(next) = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x.as_str() <= y.as_str() => a.next(),
            (Some(_), None) => a.next(),
            _ => b.next(),
        } {
            if all.last() != Some(next) {
                all.push(next.clone());
            }
        }
        Self(all.into())
    }

    /// Without the paths of another.
    pub fn without(&self, other: &[Name]) -> Self {
        if !other.iter().any(|it| self.has(it)) {
            return self.clone();
        }
        let is_gone = |path: &Name| other.binary_search_by(|it| it.as_str().cmp(path.as_str())).is_ok();
        Self(self.0.iter().filter(|it| !is_gone(it)).cloned().collect())
    }

    /// Whether copies share the paths.
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl std::ops::Deref for FieldSet {
    type Target = [Name];
    fn deref(&self) -> &[Name] {
        &self.0
    }
}

/// What one manager owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedEntry {
    pub by: ManagerId,
    pub api_version: &'static str,
    /// When it last took a field; writes through `scale` and applies that change nothing leave none.
    pub time: Option<Timestamp>,
    pub fields: FieldSet,
}

/// The managers of an object, in the API's order. Objects of which each has the same share it.
///
/// Of two objects nobody asks whether their managers are the same: a write that changes nothing else is told apart by
/// [`Managed::is_as`].
#[derive(Clone, Debug, Default)]
pub struct Managed(Option<Rc<Vec<ManagedEntry>>>);

impl PartialEq for Managed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Managed {
    /// Entries in the API's order; without those that own nothing.
    pub fn new(mut entries: Vec<ManagedEntry>) -> Self {
        entries.retain(|it| !it.fields.is_empty());
        let rank = |it: &ManagedEntry| (!it.by.is_apply(), it.time.map_or(0, |time| time.0));
        let names = |it: &ManagedEntry| (it.by.manager, it.api_version, it.by.subresource);
        crate::sim::sort_by(&mut entries, |a, b| rank(a).cmp(&rank(b)).then_with(|| names(a).cmp(&names(b))));
        Self((!entries.is_empty()).then(|| Rc::new(entries)))
    }

    pub fn entries(&self) -> &[ManagedEntry] {
        self.0.as_ref().map_or(&[], |it| it.as_slice())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether both say the same.
    pub fn is_as(&self, other: &Self) -> bool {
        self.is_same(other) || self.entries() == other.entries()
    }

    /// Whether both say the same but for times, so that a write that changes nothing else is none.
    pub fn is_as_but_for_times(&self, other: &Self) -> bool {
        let (a, b) = (self.entries(), other.entries());
        let is_like = |x: &ManagedEntry| b.iter().any(|y| x.by == y.by && x.fields == y.fields);
        a.len() == b.len() && a.iter().all(is_like)
    }

    /// Whether both are one.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    /// Who owns a field.
    pub fn owners<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a ManagedEntry> {
        self.entries().iter().filter(move |it| it.fields.has(path))
    }
}

/// A path as people write it: `.spec.template.spec.containers[name="app"].image`.
pub fn path_text(path: &str) -> String {
    let mut text = String::new();
    for step in path.split(STEP) {
        if let Some(field) = step.strip_prefix("f:") {
            text += ".";
            text += field;
        } else if let Some(value) = step.strip_prefix("v:") {
            text += &["[=", value, "]"].concat();
        } else {
            text += &key_text(step.trim_start_matches("k:"));
        }
    }
    text
}

/// `{"name":"app"}` as `[name="app"]`.
fn key_text(key: &str) -> String {
    let inside = key.trim_start_matches('{').trim_end_matches('}');
    let mut text = String::from("[");
    let mut quoted = false;
    let mut of_name = true;
    for c in inside.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                if !of_name {
                    text.push(c);
                }
            }
            ':' if !quoted && of_name => {
                of_name = false;
                text.push('=');
            }
            ',' if !quoted => {
                of_name = true;
                text.push(',');
            }
            other => text.push(other),
        }
    }
    text.push(']');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(paths: &[&str]) -> FieldSet {
        FieldSet::sorted(paths.iter().map(|it| Name::from(*it)).collect())
    }

    #[test]
    fn sets_are_joined_and_taken_apart() {
        let (a, b) = (set(&["f:a", "f:b\u{1}f:c", "f:d"]), set(&["f:b", "f:b\u{1}f:c", "f:e"]));
        assert_eq!(a.and(&b), set(&["f:a", "f:b", "f:b\u{1}f:c", "f:d", "f:e"]));
        assert_eq!(a.without(&b), set(&["f:a", "f:d"]));
        assert!(a.and(&a).is_same(&a) && a.without(&set(&["f:x"])).is_same(&a));
        assert!(a.reaches("f:b") && !a.has("f:b") && !set(&["f:bc"]).reaches("f:b"));
    }

    #[test]
    fn paths_are_told_as_conflicts_tell_them() {
        let path = "f:spec\u{1}f:containers\u{1}k:{\"name\":\"app\"}\u{1}f:image";
        assert_eq!(path_text(path), ".spec.containers[name=\"app\"].image");
        let port = "f:ports\u{1}k:{\"containerPort\":80,\"protocol\":\"TCP\"}";
        assert_eq!(path_text(port), ".ports[containerPort=80,protocol=\"TCP\"]");
        assert_eq!(path_text("f:metadata\u{1}f:annotations\u{1}f:a.b/c"), ".metadata.annotations.a.b/c");
        assert_eq!(path_text("f:metadata\u{1}f:finalizers\u{1}v:\"x\""), ".metadata.finalizers[=\"x\"]");
    }
}
