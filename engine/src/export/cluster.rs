//! A whole cluster as `kubectl get -A -o yaml` prints it, of those kinds that make a world again.

use serde_json::Value;

use crate::api::{Kind, Object, fields};
use crate::dump::TAKEN;
use crate::manifest::to_yaml;
use crate::sim::sort_by;
use crate::world::Simulation;

/// The objects of the simulation as one `List`, each kind by namespace and name.
pub fn cluster_yaml(simulation: &Simulation) -> String {
    let mut items = Vec::new();
    for kind in TAKEN.into_iter().chain([Kind::Lease]) {
        // What stands in for an owner that nobody knows is not there.
        let is_real = |it: &&Object| !matches!(it, Object::Generic(..)) || kind == Kind::ControllerRevision;
        let mut all: Vec<&Object> = simulation.api().objects().of_kind(kind).filter(is_real).collect();
        sort_by(&mut all, |a, b| (&a.meta().namespace, &a.meta().name).cmp(&(&b.meta().namespace, &b.meta().name)));
        items.extend(all.into_iter().map(Object::to_value));
    }
    to_yaml(&fields([
        ("apiVersion", "v1".into()),
        ("items", Value::Array(items)),
        ("kind", "List".into()),
        ("metadata", fields([("resourceVersion", "".into())])),
    ]))
}
