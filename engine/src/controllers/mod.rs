//! The control loops, all through one trait, and the loops that stand outside the controller manager.

pub mod daemonset;
pub mod deployment;
pub mod disruption;
pub mod endpointslice;
pub mod garbage_collector;
pub mod gitops;
pub mod history;
pub mod horizontal_pod_autoscaler;
pub mod job;
pub mod kubelet;
pub mod namespace;
pub mod node_lifecycle;
pub mod orders;
pub mod pod_collector;
mod pods;
pub mod replicaset;
pub mod resource_quota;
pub mod scheduled_run;
pub mod scheduler;
mod script;
pub mod statefulset;
pub mod taint_eviction;
pub mod thermostat;

pub use script::Scripts;

use crate::api::{Kind, ObjectKey};
use crate::apiserver::EventDraft;

/// The field manager of every controller in the controller manager.
pub const CONTROLLER_MANAGER: &str = "kube-controller-manager";

/// Publishes Events under one component's name.
#[derive(Clone, Copy)]
pub struct Recorder(&'static str);

impl Recorder {
    fn normal(self, about: &ObjectKey, reason: &'static str, message: String) -> EventDraft {
        EventDraft { about: about.clone(), is_warning: false, reason, message, component: self.0 }
    }

    fn warning(self, about: &ObjectKey, reason: &'static str, message: String) -> EventDraft {
        EventDraft { about: about.clone(), is_warning: true, reason, message, component: self.0 }
    }
}

/// The key of an object's controller, where it is of the kind asked for.
fn controller_key(object: &crate::api::Object, kind: Kind) -> Option<ObjectKey> {
    let meta = object.meta();
    let owner = meta.controller().filter(|owner| owner.kind == kind.name())?;
    Some(ObjectKey::new(kind, meta.namespace.clone(), owner.name.clone()))
}
