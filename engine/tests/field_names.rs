//! Our objects are Kubernetes' objects: what a run leaves in the store and in the watch log, read by the bindings that are
//! made from Kubernetes' own OpenAPI document (k8s-openapi, v1.36), comes back as it was: nothing lost, nothing renamed,
//! nothing of another type.

#[path = "common/script.rs"]
mod script;

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::serde::Serialize;
use k8s_openapi::serde::de::DeserializeOwned;
use k8s_openapi::{NamespaceResourceScope, Resource, api};
use loopscope_engine::api::{Kind, Support};
use loopscope_engine::sim::Millis;
use loopscope_engine::world::{Command, Scenario, Simulation};
use serde_json::Value;

/// What the bindings say of a kind.
struct Binding {
    api_version: &'static str,
    kind: &'static str,
    plural: &'static str,
    is_namespaced: bool,
    /// A value as the type writes it that has read it.
    through: fn(&Value) -> Result<Value, String>,
}

fn through<T: DeserializeOwned + Serialize>(value: &Value) -> Result<Value, String> {
    let object: T = serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
    serde_json::to_value(object).map_err(|error| error.to_string())
}

fn of<T: Resource<Scope: 'static> + DeserializeOwned + Serialize>() -> Binding {
    Binding {
        api_version: T::API_VERSION,
        kind: T::KIND,
        plural: T::URL_PATH_SEGMENT,
        is_namespaced: TypeId::of::<T::Scope>() == TypeId::of::<NamespaceResourceScope>(),
        through: through::<T>,
    }
}

macro_rules! kinds {
    ($kind:expr; $($name:ident $($path:ident)::+;)*) => {
        match $kind {
            $(Kind::$name => of::<$($path)::+>(),)*
        }
    };
}

fn binding(kind: Kind) -> Binding {
    kinds! { kind;
        Namespace api::core::v1::Namespace;
        Node api::core::v1::Node;
        Lease api::coordination::v1::Lease;
        Deployment api::apps::v1::Deployment;
        ReplicaSet api::apps::v1::ReplicaSet;
        Pod api::core::v1::Pod;
        StatefulSet api::apps::v1::StatefulSet;
        DaemonSet api::apps::v1::DaemonSet;
        ControllerRevision api::apps::v1::ControllerRevision;
        ReplicationController api::core::v1::ReplicationController;
        Job api::batch::v1::Job;
        CronJob api::batch::v1::CronJob;
        Service api::core::v1::Service;
        Endpoints api::core::v1::Endpoints;
        EndpointSlice api::discovery::v1::EndpointSlice;
        HorizontalPodAutoscaler api::autoscaling::v2::HorizontalPodAutoscaler;
        PodDisruptionBudget api::policy::v1::PodDisruptionBudget;
        ConfigMap api::core::v1::ConfigMap;
        Secret api::core::v1::Secret;
        ServiceAccount api::core::v1::ServiceAccount;
        PersistentVolume api::core::v1::PersistentVolume;
        PersistentVolumeClaim api::core::v1::PersistentVolumeClaim;
        StorageClass api::storage::v1::StorageClass;
        Ingress api::networking::v1::Ingress;
        IngressClass api::networking::v1::IngressClass;
        NetworkPolicy api::networking::v1::NetworkPolicy;
        Role api::rbac::v1::Role;
        RoleBinding api::rbac::v1::RoleBinding;
        ClusterRole api::rbac::v1::ClusterRole;
        ClusterRoleBinding api::rbac::v1::ClusterRoleBinding;
        ResourceQuota api::core::v1::ResourceQuota;
        LimitRange api::core::v1::LimitRange;
        PriorityClass api::scheduling::v1::PriorityClass;
        RuntimeClass api::node::v1::RuntimeClass;
        PodTemplate api::core::v1::PodTemplate;
        CustomResourceDefinition
            k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
        ValidatingWebhookConfiguration api::admissionregistration::v1::ValidatingWebhookConfiguration;
        MutatingWebhookConfiguration api::admissionregistration::v1::MutatingWebhookConfiguration;
        ValidatingAdmissionPolicy api::admissionregistration::v1::ValidatingAdmissionPolicy;
        ValidatingAdmissionPolicyBinding api::admissionregistration::v1::ValidatingAdmissionPolicyBinding;
        APIService k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
        Event api::core::v1::Event;
    }
}

/// Every path at which two values differ, list positions aside.
fn differences(path: &str, ours: &Value, theirs: &Value, found: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            for (key, value) in ours {
                match theirs.get(key) {
                    Some(their) => differences(&format!("{path}.{key}"), value, their, found),
                    None => found.push(format!("{path}.{key} is lost: {value}")),
                }
            }
            for (key, value) in theirs.iter().filter(|(key, _)| !ours.contains_key(*key)) {
                found.push(format!("{path}.{key} is missing: {value}"));
            }
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
            for (our, their) in ours.iter().zip(theirs) {
                differences(&format!("{path}[]"), our, their, found);
            }
        }
        _ if ours == theirs => {}
        _ => found.push(format!("{path}: {ours} became {theirs}")),
    }
}

#[derive(Default)]
struct Seen {
    kinds: BTreeMap<&'static str, usize>,
    paths: BTreeSet<String>,
    different: BTreeSet<String>,
}

impl Seen {
    fn check(&mut self, kind: Kind, value: &Value) {
        *self.kinds.entry(kind.name()).or_default() += 1;
        paths(kind.name(), value, &mut self.paths);
        match (binding(kind).through)(value) {
            Ok(back) => {
                let mut found = Vec::new();
                differences(kind.name(), value, &back, &mut found);
                self.different.extend(found);
            }
            Err(error) => {
                self.different.insert(format!("{} is not read: {error}: {value}", kind.name()));
            }
        }
    }

    /// What is in the store, and every version of anything that the watch log still has.
    fn check_all(&mut self, simulation: &Simulation) {
        for (key, object) in simulation.api().objects().iter() {
            self.check(key.kind, &object.to_value());
        }
        let newest = simulation.api().version();
        for change in (1..=newest).filter_map(|version| simulation.api().change(version)) {
            self.check(change.key.kind, &change.object.to_value());
        }
    }
}

fn paths(path: &str, value: &Value, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| paths(&format!("{path}.{key}"), value, all)),
        Value::Array(list) => list.iter().for_each(|value| paths(&format!("{path}[]"), value, all)),
        _ => {
            all.insert(path.into());
        }
    }
}

#[test]
fn kinds_have_the_names_that_kubernetes_gives_them() {
    for kind in Kind::ALL {
        let it = binding(*kind);
        let theirs = (it.api_version, it.kind, it.plural, it.is_namespaced);
        assert_eq!((kind.api_version(), kind.name(), kind.plural(), kind.is_namespaced()), theirs);
    }
}

/// The check finds what it is there for.
#[test]
fn a_field_of_another_name_or_type_is_found() {
    let check = |text: &str| {
        let mut seen = Seen::default();
        seen.check(Kind::Pod, &serde_json::from_str(text).expect("JSON"));
        seen.different.into_iter().collect::<Vec<_>>().join("; ")
    };
    let pod = |rest: &str| format!("{{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{{}},{rest}}}");
    assert_eq!(check(&pod("\"status\":{\"phase\":\"Running\"}")), "");
    assert_eq!(check(&pod("\"status\":{\"fase\":\"Running\"}")), "Pod.status.fase is lost: \"Running\"");
    assert!(check(&pod("\"spec\":{\"priority\":\"high\",\"containers\":[]}")).contains("is not read"));
    assert_eq!(
        check(&pod("\"spec\":{\"containers\":[{\"image\":\"a\"}]}")),
        "Pod.spec.containers[].name is missing: \"\""
    );
}

#[test]
fn what_runs_leave_is_what_kubernetes_reads() {
    let mut seen = Seen::default();
    for journal in script::names() {
        seen.check_all(&script::end_of(journal));
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/manifests");
    for entry in std::fs::read_dir(folder).expect("the manifests are there").filter_map(Result::ok) {
        let manifest = std::fs::read_to_string(entry.path()).expect("a manifest can be read");
        let mut simulation = Simulation::new(Scenario::empty(7));
        simulation.dispatch(Command::Apply { manifest });
        let until = simulation.now() + Millis(30_000);
        assert!(simulation.run_until(until, usize::MAX));
        seen.check_all(&simulation);
    }
    println!("{:?}: {} different fields", seen.kinds, seen.paths.len());
    assert!(seen.different.is_empty(), "{:#?}", seen.different);
    assert!(seen.paths.len() > 850, "{} fields", seen.paths.len());
    for kind in Kind::ALL.iter().filter(|kind| kind.support() == Support::Simulated) {
        assert!(seen.kinds.contains_key(kind.name()), "{} is in none of the runs", kind.name());
    }
}
