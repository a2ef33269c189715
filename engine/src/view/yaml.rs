use serde_json::Value;

use crate::api::ObjectKey;
use crate::apiserver::managed_fields;
pub use crate::kubectl::to_yaml;
use crate::world::Simulation;

/// An object as `kubectl get -o yaml` prints it, with `--show-managed-fields` where asked for; nothing where it is not
/// there.
pub fn yaml(simulation: &Simulation, key: &ObjectKey, with_managed: bool) -> Option<String> {
    let mut value = simulation.api().objects().get(key)?.to_value();
    let managed = with_managed.then(|| managed_fields(simulation.api().managers(), key)).filter(|it| !it.is_empty());
    if let Some(meta) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        meta.remove("managedFields");
        if let Some(managed) = managed {
            meta.insert("managedFields".into(), Value::Array(managed));
        }
    }
    Some(to_yaml(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_kubectl_writes_them() {
        let value = serde_json::json!({
            "apiVersion": "v1",
            "metadata": { "labels": { "app": "web" }, "name": "a" },
            "spec": { "containers": [{ "image": "nginx:1", "name": "app", "args": ["--x", "true"] }], "empty": {}, "count": 3, "text": "3" },
        });
        let expected = "\
apiVersion: v1
metadata:
  labels:
    app: web
  name: a
spec:
  containers:
  - args:
    - --x
    - \"true\"
    image: nginx:1
    name: app
  count: 3
  empty: {}
  text: \"3\"
";
        assert_eq!(to_yaml(&value), expected);
        let read = crate::manifest::read(&to_yaml(&value).replace("apiVersion: v1", "apiVersion: v1\nkind: Pod"));
        assert_eq!(read.documents.len(), 1, "{:?}", read.diagnostics);
    }
}
