use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Extra, Kind, Labels, Timestamp, is_default};

/// A shared piece of text: names are copied often and changed never. `Arc`, since views carry names into the page.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<str>);

impl Name {
    pub fn as_str(&self) -> &str {
        &self.0
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
        Self(Arc::from(""))
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self(Arc::from(text))
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        Self(Arc::from(text))
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

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

/// An object's identity for the whole of its life, written as a UUID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Uid(pub u128);

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

impl<'de> Deserialize<'de> for Uid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits: String = text.chars().filter(|c| *c != '-').collect();
        u128::from_str_radix(&digits, 16).map(Self).map_err(|_| de::Error::custom("expected a UUID"))
    }
}

/// `metadata.ownerReferences[]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerReference {
    pub api_version: String,
    pub kind: String,
    pub name: Name,
    pub uid: Uid,
    #[serde(default, skip_serializing_if = "is_default")]
    pub controller: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub block_owner_deletion: bool,
}

/// `metadata` of every object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectMeta {
    #[serde(skip_serializing_if = "is_default")]
    pub annotations: Labels,
    #[serde(skip_serializing_if = "is_default")]
    pub creation_timestamp: Option<Timestamp>,
    #[serde(skip_serializing_if = "is_default")]
    pub deletion_grace_period_seconds: Option<i64>,
    #[serde(skip_serializing_if = "is_default")]
    pub deletion_timestamp: Option<Timestamp>,
    #[serde(skip_serializing_if = "is_default")]
    pub finalizers: Vec<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub generate_name: String,
    #[serde(skip_serializing_if = "is_default")]
    pub generation: i64,
    #[serde(skip_serializing_if = "is_default")]
    pub labels: Labels,
    #[serde(skip_serializing_if = "is_default")]
    pub name: Name,
    #[serde(skip_serializing_if = "is_default")]
    pub namespace: Name,
    #[serde(skip_serializing_if = "is_default")]
    pub owner_references: Vec<OwnerReference>,
    /// The store's version at which this object was last written; 0 where it was never stored.
    #[serde(skip_serializing_if = "is_default", with = "version_text")]
    pub resource_version: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub uid: Uid,
    #[serde(flatten)]
    pub extra: Extra,
}

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

mod version_text {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(version: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(version)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|_| de::Error::custom("expected a resource version"))
    }
}
