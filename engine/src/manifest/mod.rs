//! Manifests: YAML and JSON to objects, with positions.
