use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use serde::{Serialize, Serializer};

use super::{Extra, Kind, Labels, Managed, Text, Timestamp, record};
use crate::sim::Key;

/// A shared piece of text: names are copied often and changed never. `Arc`, since views carry names into the page.
#[derive(Eq)]
pub struct Name(Arc<str>);

impl Clone for Name {
    #[inline(never)]
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Mostly the very same text is compared with itself, which need not be read for that.
impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) { Ordering::Equal } else { self.0.cmp(&other.0) }
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Name {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where the text lies: of two names at one address both are the same.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0).cast::<u8>().addr()
    }
}

impl Key for Name {
    fn rank(&self) -> u64 {
        self.0.rank()
    }
}

impl std::ops::Deref for Name {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Default for Name {
    fn default() -> Self {
        static EMPTY: LazyLock<Arc<str>> = LazyLock::new(|| Arc::from(""));
        Self(Arc::clone(&EMPTY))
    }
}

impl From<&str> for Name {
    #[inline(never)]
    fn from(text: &str) -> Self {
        if text.is_empty() { Self::default() } else { Self(Arc::from(text)) }
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// An object's identity for the whole of its life, written as a UUID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Uid(pub u128);

impl Key for Uid {
    fn rank(&self) -> u64 {
        (self.0 >> 64) as u64
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let v = self.0;
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            v >> 96,
            (v >> 80) & 0xffff,
            (v >> 64) & 0xffff,
            (v >> 48) & 0xffff,
            v & 0xffff_ffff_ffff
        )
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Uid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Uid {
    /// Reads a UUID.
    pub fn parse(text: &str) -> Option<Self> {
        let digits: String = text.chars().filter(|c| *c != '-').collect();
        u128::from_str_radix(&digits, 16).ok().map(Self)
    }
}

/// `metadata.ownerReferences[]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnerReference {
    pub api_version: Text,
    pub kind: Text,
    pub name: Name,
    pub uid: Uid,
    pub controller: bool,
    pub block_owner_deletion: bool,
}

record!(OwnerReference {
    api_version "apiVersion" always,
    kind "kind" always,
    name "name" always,
    uid "uid" always,
    controller "controller",
    block_owner_deletion "blockOwnerDeletion",
});

/// `metadata` of every object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectMeta {
    pub annotations: Labels,
    pub creation_timestamp: Option<Timestamp>,
    pub deletion_grace_period_seconds: Option<i64>,
    pub deletion_timestamp: Option<Timestamp>,
    pub finalizers: Vec<String>,
    pub generate_name: Name,
    pub generation: i64,
    pub labels: Labels,
    /// Who owns which field, which the API writes as `managedFields` for those who ask for it.
    pub managed: Managed,
    pub name: Name,
    pub namespace: Name,
    pub owner_references: Vec<OwnerReference>,
    /// The store's version at which this object was last written; 0 where it was never stored.
    pub resource_version: u64,
    pub uid: Uid,
    pub extra: Extra,
}

record!(ObjectMeta {
    annotations "annotations",
    creation_timestamp "creationTimestamp",
    deletion_grace_period_seconds "deletionGracePeriodSeconds",
    deletion_timestamp "deletionTimestamp",
    finalizers "finalizers",
    generate_name "generateName",
    generation "generation",
    labels "labels",
    name "name",
    namespace "namespace",
    owner_references "ownerReferences",
    resource_version "resourceVersion",
    uid "uid",
} extra extra);

impl ObjectMeta {
    /// The owner that manages this object, of which there is at most one.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references.iter().find(|owner| owner.controller)
    }

    pub fn is_controlled_by(&self, uid: Uid) -> bool {
        self.controller().is_some_and(|owner| owner.uid == uid)
    }

    /// A controller reference to this object, for an object that it is to own.
    pub fn controller_reference(&self, kind: Kind) -> OwnerReference {
        OwnerReference {
            api_version: kind.api_version().into(),
            kind: kind.name().into(),
            name: self.name.clone(),
            uid: self.uid,
            controller: true,
            block_owner_deletion: true,
        }
    }
}
