use serde_json::Value;

use crate::api::ObjectKey;
use crate::apiserver::managed_fields;
use crate::manifest::to_yaml;
use crate::world::Simulation;

/// An object as `kubectl get -o yaml` prints it, with `--show-managed-fields` where asked for; nothing where it is not
/// there.
pub fn yaml(simulation: &Simulation, key: &ObjectKey, with_managed: bool) -> Option<String> {
    let object = simulation.api().objects().get(key)?;
    let mut value = object.to_value();
    let managed = with_managed.then(|| managed_fields(object)).filter(|it| !it.is_empty());
    if let Some(meta) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        meta.remove("managedFields");
        if let Some(managed) = managed {
            meta.insert("managedFields".into(), Value::Array(managed));
        }
    }
    Some(to_yaml(&value))
}
