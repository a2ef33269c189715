//! What kubectl and the API server v1.36.2 said to manifests, recorded with the real ones, against what we say.
//!
//! The data is a compact copy of the recordings `apply_errors.json`, `apply_errors_existing.json` and
//! `yaml_scalars.json`. What we say differently is listed here with the reason, so that nothing more can slip in.

use std::collections::BTreeMap;
use std::rc::Rc;

use loopscope_engine::api::{Object, ObjectKey};
use loopscope_engine::apiserver::{
    ApiError, FieldError, apply_defaults, three_way, validate_create, validate_update, warnings,
};
use loopscope_engine::manifest::{Manifest, Stage, read};
use serde_json::Value;

fn data(name: &str) -> Value {
    let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Just enough of a cluster for `kubectl apply`.
#[derive(Default)]
struct Cluster {
    objects: BTreeMap<ObjectKey, (Object, Value)>,
}

enum Refusal {
    /// All that kubectl prints.
    Text(String),
    Invalid(Object, Vec<FieldError>),
}

impl Cluster {
    /// What kubectl prints on standard error.
    fn apply(&mut self, text: &str, keep: bool) -> String {
        let manifest = read(text);
        let numbers = manifest.diagnostics.iter().map(|it| it.document);
        let Some(last) = numbers.chain(manifest.documents.iter().map(|it| it.index)).max() else {
            return "error: no objects passed to apply".into();
        };
        let (mut said, mut refusals) = (Vec::new(), Vec::new());
        for index in 0..=last {
            match self.apply_one(&manifest, index, keep) {
                Ok(more) => said.extend(more),
                Err(refusal) => refusals.push(refusal),
            }
            // Behind a document that is no YAML kubectl reads nothing.
            let is_unreadable = |it: &loopscope_engine::manifest::Diagnostic| {
                it.document == index && it.stage == Stage::Parse && it.upstream.is_some()
            };
            if manifest.diagnostics.iter().any(is_unreadable) {
                break;
            }
        }
        let alone = refusals.len() == 1;
        said.extend(refusals.iter().map(|refusal| match refusal {
            Refusal::Text(text) => text.clone(),
            Refusal::Invalid(object, errors) if alone => invalid(object, errors),
            Refusal::Invalid(object, errors) => {
                let error = ApiError::invalid(object.kind(), &object.meta().name, errors.clone()).unwrap_err();
                format!("Error from server (Invalid): error when creating \"STDIN\": {error}")
            }
        }));
        said.join("\n")
    }

    fn apply_one(&mut self, manifest: &Manifest, index: usize, keep: bool) -> Result<Vec<String>, Refusal> {
        if let Some(error) = manifest.kubectl_error(index) {
            return Err(Refusal::Text(error));
        }
        let Some(document) = manifest.documents.iter().find(|it| it.index == index) else { return Ok(Vec::new()) };
        let mut object = document.object.clone();
        if object.kind().is_namespaced() && object.meta().namespace.is_empty() {
            object.meta_mut().namespace = "default".into();
        }
        let old = self.objects.get(&object.key());
        let errors = match old {
            Some((live, last)) => {
                let merged = three_way(Some(last), &live.to_value(), &document.value);
                object = Object::from_value(live.kind(), merged).map_err(|error| Refusal::Text(error.message))?;
                apply_defaults(&mut object);
                validate_update(live, &object)
            }
            None => {
                apply_defaults(&mut object);
                validate_create(&object)
            }
        };
        if !errors.is_empty() {
            return Err(Refusal::Invalid(object, errors));
        }
        let said = warnings(&object).into_iter().map(|it| format!("Warning: {it}")).collect();
        if keep {
            if let Object::Pod(pod) = &mut object {
                // The scheduler had bound the recorded pod before anybody changed it.
                let spec = &mut Rc::make_mut(pod).spec;
                Rc::make_mut(spec).node_name = "node-3".into();
            }
            self.objects.insert(object.key(), (object, document.value.clone()));
        }
        Ok(said)
    }
}

/// One wrong field stands on the line, several in a list.
fn invalid(object: &Object, errors: &[FieldError]) -> String {
    let head = format!("The {} \"{}\" is invalid: ", object.kind().name(), object.meta().name);
    if let [error] = errors {
        return format!("{head}{}: {}", error.path, error.message);
    }
    let mut lines = Vec::new();
    for error in errors {
        let line = format!("\n* {}: {}", error.path, error.message);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    head + &lines.concat()
}

/// Runs the steps of a recording in order and returns those in which we say something else.
fn differing_steps(name: &str) -> Vec<u64> {
    let mut cluster = Cluster::default();
    let mut different = Vec::new();
    for step in data(name).as_array().unwrap() {
        let number = step[0].as_u64().unwrap();
        let expected = step[4].as_str().unwrap().replace("deps/github.com/openshift/kubernetes/", "");
        let keep = step[5].as_bool().unwrap() && step[3] == 0;
        let found = cluster.apply(step[2].as_str().unwrap_or_default(), keep);
        // The change of a pod is printed as a diff of Go structs, which we leave out.
        let expected = expected.split("\n@@ ").next().unwrap();
        if found != expected {
            println!("{number} {}\n   kubectl: {expected}\n   we:      {found}\n", step[1]);
            different.push(number);
        }
    }
    different
}

/// Fails where something differs that is not known to.
fn only_known<T: PartialEq + std::fmt::Debug>(different: &[T], known: &[(&[T], &str)]) {
    let is_known = |it: &&T| known.iter().any(|(list, _)| list.contains(it));
    let new: Vec<&T> = different.iter().filter(|it| !is_known(it)).collect();
    assert!(new.is_empty(), "differ from Kubernetes and did not before: {new:?}");
}

#[test]
fn apply_refuses_what_kubectl_refuses_in_the_same_words() {
    let known: [(&[u64], &str); 4] = [
        (&[12, 13, 14], "flags that turn the check for unknown fields off belong to kubectl"),
        (&[28], "a selector that is empty is not told from one that is missing"),
        (&[70, 71], "JSON is read as YAML, with YAML's words for its mistakes"),
        (&[151, 157, 165, 166, 172], "the store and its admission refuse these"),
    ];
    only_known(&differing_steps("apply_errors.json"), &known);
}

#[test]
fn apply_to_an_existing_object_refuses_what_kubectl_refuses() {
    let known: [(&[u64], &str); 4] = [
        (&[1, 2, 3, 4, 6, 7, 11, 16, 19, 22, 24, 28, 30, 31], "kubectl shows its patch, we the mistake alone"),
        (&[10], "a number that does not fit is refused; Kubernetes takes it and lets it overflow"),
        (&[12, 13], "flags that turn the check for unknown fields off belong to kubectl"),
        (&[38, 39], "two containers of one name are refused; Kubernetes' patch takes them and then cannot drop one"),
    ];
    only_known(&differing_steps("apply_errors_existing.json"), &known);
}

const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n";
const TEMPLATE: &str = "  selector:\n    matchLabels: {app: web}\n  template:\n    metadata:\n      labels: {app: web}\n    spec:\n      containers:\n      - name: app\n";
const IMAGE: &str = "        image: app:v1\n";

/// A manifest with `@` for the scalar, and where the API server's answer has it.
fn field(name: &str) -> (String, &'static str) {
    let config_map = |rest: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n{rest}");
    let spec = |rest: &str| format!("{DEPLOYMENT}{rest}{TEMPLATE}{IMAGE}");
    let pod = |rest: &str| format!("{DEPLOYMENT}{TEMPLATE}{IMAGE}{rest}");
    match name {
        "ConfigMap.data.k (string)" => (config_map("data:\n  k: @\n"), "/data/k"),
        "ConfigMap.metadata.annotations.k (string)" => {
            (config_map("  annotations:\n    k: @\n"), "/metadata/annotations/k")
        }
        "ConfigMap.metadata.labels.k (string)" => (config_map("  labels:\n    k: @\n"), "/metadata/labels/k"),
        "Deployment.spec.replicas (int32)" => (spec("  replicas: @\n"), "/spec/replicas"),
        "Deployment.spec.paused (bool)" => (spec("  paused: @\n"), "/spec/paused"),
        "Deployment.spec.template.spec.terminationGracePeriodSeconds (int64)" => {
            (pod("      terminationGracePeriodSeconds: @\n"), "/spec/template/spec/terminationGracePeriodSeconds")
        }
        "container.env[0].value (string)" => (
            pod("        env:\n        - name: A\n          value: @\n"),
            "/spec/template/spec/containers/0/env/0/value",
        ),
        "container.image (string)" => {
            (format!("{DEPLOYMENT}{TEMPLATE}        image: @\n"), "/spec/template/spec/containers/0/image")
        }
        "volume.configMap.defaultMode (int32)" => (
            pod("      volumes:\n      - name: v\n        configMap:\n          name: c\n          defaultMode: @\n"),
            "/spec/template/spec/volumes/0/configMap/defaultMode",
        ),
        "strategy.rollingUpdate.maxSurge (int or string)" => {
            (spec("  strategy:\n    rollingUpdate:\n      maxSurge: @\n"), "/spec/strategy/rollingUpdate/maxSurge")
        }
        "strategy.rollingUpdate.maxUnavailable (int or string)" => (
            spec("  strategy:\n    rollingUpdate:\n      maxUnavailable: @\n"),
            "/spec/strategy/rollingUpdate/maxUnavailable",
        ),
        "Service.spec.ports[0].targetPort (int or string)" => (
            "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec:\n  ports:\n  - port: 80\n    targetPort: @\n"
                .into(),
            "/spec/ports/0/targetPort",
        ),
        "PodDisruptionBudget.spec.minAvailable (int or string)" => (
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: p}\nspec:\n  minAvailable: @\n".into(),
            "/spec/minAvailable",
        ),
        "resources.requests.cpu (quantity)" => (
            pod("        resources:\n          requests:\n            cpu: @\n"),
            "/spec/template/spec/containers/0/resources/requests/cpu",
        ),
        "resources.requests.memory (quantity)" => (
            pod("        resources:\n          requests:\n            memory: @\n"),
            "/spec/template/spec/containers/0/resources/requests/memory",
        ),
        // What no type is known of is kept as it is written.
        _ => (config_map("raw:\n  k: @\n"), "/raw/k"),
    }
}

/// The value that a scalar becomes, or what kubectl prints.
fn value_of(text: &str, pointer: &str) -> Result<Option<Value>, String> {
    if pointer == "/raw/k" {
        let manifest = read(text);
        let Some(document) = manifest.documents.first() else {
            return Err(manifest.kubectl_error(0).unwrap_or_default());
        };
        return Ok(document.value.pointer(pointer).cloned());
    }
    let mut cluster = Cluster::default();
    let said = cluster.apply(text, true);
    match cluster.objects.values().next() {
        Some((object, _)) => Ok(object.to_value().pointer(pointer).cloned()),
        None => Err(said),
    }
}

/// Whether two values are the same to the API, which does not tell an empty text from none.
fn is_same(a: Option<&Value>, b: Option<&Value>) -> bool {
    let is_empty = |it: Option<&Value>| it.is_none_or(|it| it.is_null() || it.as_str() == Some(""));
    let number = |it: Option<&Value>| it.and_then(Value::as_f64);
    a == b || is_empty(a) && is_empty(b) || number(a).is_some() && number(a) == number(b)
}

#[test]
fn scalars_mean_what_they_mean_in_kubernetes() {
    let data = data("yaml_scalars.json");
    let (mut rows_seen, mut different) = (0, Vec::new());
    for (name, rows) in data["fields"].as_object().unwrap() {
        let (template, pointer) = field(name);
        for row in rows.as_array().unwrap() {
            rows_seen += 1;
            let scalar = row[0].as_str().unwrap();
            let found = value_of(&template.replace('@', scalar), pointer);
            let fits = match row.get(2).and_then(Value::as_u64) {
                Some(index) => found.as_ref().err().map(String::as_str) == data["errors"][index as usize].as_str(),
                None => found.as_ref().is_ok_and(|found| is_same(found.as_ref(), row.get(1))),
            };
            if !fits {
                different.push(format!("{name}: {scalar}"));
            }
        }
    }
    assert_eq!(rows_seen, 1366);
    let amounts = ["0100m"];
    let of = |resource: &str| amounts.map(|it| format!("resources.requests.{resource} (quantity): {it}"));
    let (cpu, memory) = (of("cpu"), of("memory"));
    only_known(&different, &[(&cpu, "an octal that is none"), (&memory, "the same")]);
}

#[test]
fn documents_mean_what_they_mean_in_kubernetes() {
    let mut different = Vec::new();
    for row in data("yaml_documents.json").as_array().unwrap() {
        let case = row[0].as_str().unwrap();
        let mut cluster = Cluster::default();
        let said = cluster.apply(row[1].as_str().unwrap(), true);
        let fits = if row[2].as_bool().unwrap() {
            let object = cluster.objects.values().next().map(|(object, _)| object.to_value());
            said.is_empty() && object.is_some_and(|object| agrees(&object, &row[3]))
        } else {
            // These were recorded with `create`.
            said == row[3].as_str().unwrap().replace("passed to create", "passed to apply")
        };
        if !fits {
            println!("{case} {}\n   kubectl: {}\n   we:      {said}\n", row[1], row[3]);
            different.push(case.to_owned());
        }
    }
    let own = |list: &[&str]| list.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    only_known(
        &different,
        &[
            (&own(&["key null", "key ~", "key list"]), "the value is not repeated in the message"),
            (&own(&["tab on blank line"]), "taken; YAML 1.2 allows it"),
            (&own(&["UTF-16 LE with BOM", "invalid UTF-8"]), "a browser has made text of the bytes already"),
            (&own(&["non-breaking space indentation"]), "the name of the field is not escaped"),
            (&own(&["case of keys 3"]), "recorded with create, which does not look the name up first"),
        ],
    );
}

/// Whether data and metadata are those of the object that the API server answered.
fn agrees(ours: &Value, theirs: &Value) -> bool {
    let part = |value: &Value, name: &str| {
        let mut part = value.get(name).filter(|it| it.as_object().is_none_or(|map| !map.is_empty())).cloned();
        part.as_mut().and_then(Value::as_object_mut).and_then(|map| map.remove("generation"));
        part
    };
    theirs.is_null() || ["data", "metadata"].iter().all(|name| part(ours, name) == part(theirs, name))
}
