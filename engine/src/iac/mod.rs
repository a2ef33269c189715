//! Infrastructure as code: a configuration, a state, a cloud, and the plan between them.
//!
//! Mirrors Terraform 1.x in what it compares and in what it prints (`internal/command/jsonformat/plan.go`,
//! `internal/backend/local`). Nothing here runs by itself.

mod cloud;
mod config;
mod plan;
mod render;
mod schema;

pub use cloud::*;
pub use config::*;
pub use plan::*;
pub use render::*;
pub use schema::*;

use crate::sim::Map;

/// Names and values of a resource; values are texts, numbers and booleans.
pub type Attributes = serde_json::Map<String, serde_json::Value>;

/// Where a resource stands in the configuration: `cloud_service.web`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    pub kind: String,
    pub name: String,
}

impl Address {
    /// Reads `cloud_service.web`.
    pub fn read(text: &str) -> Option<Self> {
        let (kind, name) = text.split_once('.').filter(|(kind, name)| !kind.is_empty() && !name.is_empty())?;
        Some(Self { kind: kind.into(), name: name.into() })
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.kind)?;
        f.write_str(".")?;
        f.write_str(&self.name)
    }
}

/// What the tool remembers of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    pub address: Address,
    pub id: String,
    pub attributes: Attributes,
}

/// What the tool remembers of all objects that it manages, by address.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    pub resources: Vec<Known>,
    /// Counts what was written.
    pub serial: u64,
}

impl State {
    pub fn get(&self, address: &Address) -> Option<&Known> {
        self.resources.iter().find(|it| it.address == *address)
    }

    pub fn put(&mut self, known: Known) {
        self.resources.retain(|it| it.address != known.address);
        self.resources.push(known);
        crate::sim::sort_by(&mut self.resources, |a, b| a.address.cmp(&b.address));
        self.serial += 1;
    }

    pub fn remove(&mut self, address: &Address) {
        self.resources.retain(|it| it.address != *address);
        self.serial += 1;
    }
}

/// Who holds the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    pub id: String,
    pub who: String,
    pub created: String,
}

/// Numbers of objects of a type that the cloud lets one have.
pub type Quotas = Map<crate::api::Name, u64>;
