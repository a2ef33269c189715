//! `kubectl api-resources`, `api-versions`, `version` and `config`.

use super::tab::Table;
use super::{Context, Done, Failure};
use crate::api::VERSION;
use crate::manifest::to_yaml;

/// Name, short names, API version, namespaced, kind, of all that Kubernetes 1.36 serves.
#[rustfmt::skip]
const RESOURCES: [(&str, &str, &str, bool, &str); 67] = [
    ("bindings", "", "v1", true, "Binding"),
    ("componentstatuses", "cs", "v1", false, "ComponentStatus"),
    ("configmaps", "cm", "v1", true, "ConfigMap"),
    ("endpoints", "ep", "v1", true, "Endpoints"),
    ("events", "ev", "v1", true, "Event"),
    ("limitranges", "limits", "v1", true, "LimitRange"),
    ("namespaces", "ns", "v1", false, "Namespace"),
    ("nodes", "no", "v1", false, "Node"),
    ("persistentvolumeclaims", "pvc", "v1", true, "PersistentVolumeClaim"),
    ("persistentvolumes", "pv", "v1", false, "PersistentVolume"),
    ("pods", "po", "v1", true, "Pod"),
    ("podtemplates", "", "v1", true, "PodTemplate"),
    ("replicationcontrollers", "rc", "v1", true, "ReplicationController"),
    ("resourcequotas", "quota", "v1", true, "ResourceQuota"),
    ("secrets", "", "v1", true, "Secret"),
    ("serviceaccounts", "sa", "v1", true, "ServiceAccount"),
    ("services", "svc", "v1", true, "Service"),
    ("mutatingadmissionpolicies", "", "admissionregistration.k8s.io/v1", false, "MutatingAdmissionPolicy"),
    ("mutatingadmissionpolicybindings", "", "admissionregistration.k8s.io/v1", false, "MutatingAdmissionPolicyBinding"),
    ("mutatingwebhookconfigurations", "", "admissionregistration.k8s.io/v1", false, "MutatingWebhookConfiguration"),
    ("validatingadmissionpolicies", "", "admissionregistration.k8s.io/v1", false, "ValidatingAdmissionPolicy"),
    ("validatingadmissionpolicybindings", "", "admissionregistration.k8s.io/v1", false, "ValidatingAdmissionPolicyBinding"),
    ("validatingwebhookconfigurations", "", "admissionregistration.k8s.io/v1", false, "ValidatingWebhookConfiguration"),
    ("customresourcedefinitions", "crd,crds", "apiextensions.k8s.io/v1", false, "CustomResourceDefinition"),
    ("apiservices", "", "apiregistration.k8s.io/v1", false, "APIService"),
    ("controllerrevisions", "", "apps/v1", true, "ControllerRevision"),
    ("daemonsets", "ds", "apps/v1", true, "DaemonSet"),
    ("deployments", "deploy", "apps/v1", true, "Deployment"),
    ("replicasets", "rs", "apps/v1", true, "ReplicaSet"),
    ("statefulsets", "sts", "apps/v1", true, "StatefulSet"),
    ("selfsubjectreviews", "", "authentication.k8s.io/v1", false, "SelfSubjectReview"),
    ("tokenreviews", "", "authentication.k8s.io/v1", false, "TokenReview"),
    ("localsubjectaccessreviews", "", "authorization.k8s.io/v1", true, "LocalSubjectAccessReview"),
    ("selfsubjectaccessreviews", "", "authorization.k8s.io/v1", false, "SelfSubjectAccessReview"),
    ("selfsubjectrulesreviews", "", "authorization.k8s.io/v1", false, "SelfSubjectRulesReview"),
    ("subjectaccessreviews", "", "authorization.k8s.io/v1", false, "SubjectAccessReview"),
    ("horizontalpodautoscalers", "hpa", "autoscaling/v2", true, "HorizontalPodAutoscaler"),
    ("cronjobs", "cj", "batch/v1", true, "CronJob"),
    ("jobs", "", "batch/v1", true, "Job"),
    ("certificatesigningrequests", "csr", "certificates.k8s.io/v1", false, "CertificateSigningRequest"),
    ("leases", "", "coordination.k8s.io/v1", true, "Lease"),
    ("endpointslices", "", "discovery.k8s.io/v1", true, "EndpointSlice"),
    ("events", "ev", "events.k8s.io/v1", true, "Event"),
    ("flowschemas", "", "flowcontrol.apiserver.k8s.io/v1", false, "FlowSchema"),
    ("prioritylevelconfigurations", "", "flowcontrol.apiserver.k8s.io/v1", false, "PriorityLevelConfiguration"),
    ("ingressclasses", "", "networking.k8s.io/v1", false, "IngressClass"),
    ("ingresses", "ing", "networking.k8s.io/v1", true, "Ingress"),
    ("ipaddresses", "ip", "networking.k8s.io/v1", false, "IPAddress"),
    ("networkpolicies", "netpol", "networking.k8s.io/v1", true, "NetworkPolicy"),
    ("servicecidrs", "", "networking.k8s.io/v1", false, "ServiceCIDR"),
    ("runtimeclasses", "", "node.k8s.io/v1", false, "RuntimeClass"),
    ("poddisruptionbudgets", "pdb", "policy/v1", true, "PodDisruptionBudget"),
    ("clusterrolebindings", "", "rbac.authorization.k8s.io/v1", false, "ClusterRoleBinding"),
    ("clusterroles", "", "rbac.authorization.k8s.io/v1", false, "ClusterRole"),
    ("rolebindings", "", "rbac.authorization.k8s.io/v1", true, "RoleBinding"),
    ("roles", "", "rbac.authorization.k8s.io/v1", true, "Role"),
    ("deviceclasses", "", "resource.k8s.io/v1", false, "DeviceClass"),
    ("resourceclaims", "", "resource.k8s.io/v1", true, "ResourceClaim"),
    ("resourceclaimtemplates", "", "resource.k8s.io/v1", true, "ResourceClaimTemplate"),
    ("resourceslices", "", "resource.k8s.io/v1", false, "ResourceSlice"),
    ("priorityclasses", "pc", "scheduling.k8s.io/v1", false, "PriorityClass"),
    ("csidrivers", "", "storage.k8s.io/v1", false, "CSIDriver"),
    ("csinodes", "", "storage.k8s.io/v1", false, "CSINode"),
    ("csistoragecapacities", "", "storage.k8s.io/v1", true, "CSIStorageCapacity"),
    ("storageclasses", "sc", "storage.k8s.io/v1", false, "StorageClass"),
    ("volumeattachments", "", "storage.k8s.io/v1", false, "VolumeAttachment"),
    ("volumeattributesclasses", "vac", "storage.k8s.io/v1", false, "VolumeAttributesClass"),
];

const IN_ALL: [&str; 10] = [
    "pods",
    "replicationcontrollers",
    "services",
    "daemonsets",
    "deployments",
    "replicasets",
    "statefulsets",
    "horizontalpodautoscalers",
    "cronjobs",
    "jobs",
];

fn verbs(name: &str, version: &str) -> &'static str {
    match name {
        "bindings" => "create",
        "componentstatuses" => "get,list",
        _ if version.starts_with("authentication") || version.starts_with("authorization") => "create",
        _ => "create,delete,deletecollection,get,list,patch,update,watch",
    }
}

pub fn api_resources(context: &mut Context<'_>) -> Result<Done, Failure> {
    let args = &context.args;
    let asked = args.text("output").to_string();
    if !matches!(asked.as_str(), "" | "wide" | "name") {
        return Err(Failure::errors(&["--output ", &asked, " is not available"]));
    }
    if let Some(word) = args.words.first() {
        return Err(Failure::usage("kubectl api-resources", &["unexpected arguments: [", word, "]"].concat()));
    }
    let group_of = |version: &str| version.split_once('/').map_or("", |(group, _)| group).to_string();
    let wanted_verbs = args.all("verbs").into_iter().map(str::to_string).collect::<Vec<_>>();
    let is_wanted = |it: &&(&str, &str, &str, bool, &str)| {
        (!args.has("api-group") || group_of(it.2) == args.text("api-group"))
            && (!args.has("namespaced") || it.3 == args.is("namespaced"))
            && (!args.has("categories") || IN_ALL.contains(&it.0))
            && wanted_verbs.iter().all(|verb| verbs(it.0, it.2).split(',').any(|known| known == verb))
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    let is_wide = asked == "wide";
    if !args.is("no-headers") {
        let mut header: Vec<&str> = vec!["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"];
        if is_wide {
            header.extend(["VERBS", "CATEGORIES"]);
        }
        rows.push(header.into_iter().map(str::to_string).collect());
    }
    let mut text = String::new();
    for it in RESOURCES.iter().filter(is_wanted) {
        let (name, short, version, namespaced, kind) = *it;
        if asked == "name" {
            let group = group_of(version);
            text += &[name, if group.is_empty() { "" } else { "." }, &group, "\n"].concat();
            continue;
        }
        let namespaced = if namespaced { "true" } else { "false" };
        let mut row: Vec<String> = [name, short, version, namespaced, kind].map(str::to_string).to_vec();
        if is_wide {
            row.push(verbs(name, version).into());
            row.push(if IN_ALL.contains(&name) { "all".into() } else { String::new() });
        }
        rows.push(row);
    }
    if asked != "name" {
        text = Table::default().print(&rows);
    }
    context.out(&text);
    context.done()
}

pub fn api_versions(context: &mut Context<'_>) -> Result<Done, Failure> {
    let mut versions: Vec<&str> = vec!["autoscaling/v1"];
    for it in RESOURCES {
        if !versions.contains(&it.2) {
            versions.push(it.2);
        }
    }
    crate::sim::sort_by(&mut versions, |a, b| a.cmp(b));
    for version in versions {
        context.line(&[version]);
    }
    context.done()
}

const KUSTOMIZE: &str = "v5.8.1";

/// What `version -o json` says, in Go's order of fields.
const BUILD: [(&str, &str); 8] = [
    ("gitVersion", VERSION),
    ("gitCommit", "98b35193b2ac7a23a673325f5e9b830ecd5ba406"),
    ("gitTreeState", "clean"),
    ("buildDate", "2026-08-21T00:00:00Z"),
    ("goVersion", "go1.26.6"),
    ("compiler", "gc"),
    ("platform", "linux/amd64"),
    ("", ""),
];

fn build(of_server: bool) -> Vec<(&'static str, &'static str)> {
    let mut fields = vec![("major", "1"), ("minor", "36")];
    if of_server {
        fields.extend([
            ("emulationMajor", "1"),
            ("emulationMinor", "36"),
            ("minCompatibilityMajor", "1"),
            ("minCompatibilityMinor", "35"),
        ]);
    }
    fields.extend(BUILD.iter().filter(|it| !it.0.is_empty()));
    fields
}

pub fn version(context: &mut Context<'_>) -> Result<Done, Failure> {
    let with_server = !context.args.is("client");
    match context.args.text("output") {
        "" => {
            context.line(&["Client Version: ", VERSION]);
            context.line(&["Kustomize Version: ", KUSTOMIZE]);
            if with_server {
                context.line(&["Server Version: ", VERSION]);
            }
        }
        "json" => {
            let section = |name: &str, of_server: bool| {
                let fields = build(of_server);
                let each = fields.iter().map(|(name, value)| ["    \"", name, "\": \"", value, "\""].concat());
                ["  \"", name, "\": {\n", &each.collect::<Vec<_>>().join(",\n"), "\n  }"].concat()
            };
            let mut parts =
                vec![section("clientVersion", false), ["  \"kustomizeVersion\": \"", KUSTOMIZE, "\""].concat()];
            if with_server {
                parts.push(section("serverVersion", true));
            }
            context.out(&["{\n", &parts.join(",\n"), "\n}\n"].concat());
        }
        "yaml" => {
            let section = |of_server: bool| {
                let mut map = serde_json::Map::new();
                for (name, value) in build(of_server) {
                    map.insert(name.into(), value.into());
                }
                serde_json::Value::Object(map)
            };
            let mut map = serde_json::Map::new();
            map.insert("clientVersion".into(), section(false));
            map.insert("kustomizeVersion".into(), KUSTOMIZE.into());
            if with_server {
                map.insert("serverVersion".into(), section(true));
            }
            let text = to_yaml(&serde_json::Value::Object(map));
            context.out(&[&text, "\n"].concat());
        }
        _ => return Err(Failure::error("--output must be 'yaml' or 'json'")),
    }
    context.done()
}

/// The only cluster that there is.
const CONTEXT: &str = "loopscope";

pub fn current_context(context: &mut Context<'_>) -> Result<Done, Failure> {
    context.line(&[CONTEXT]);
    context.done()
}

pub fn get_contexts(context: &mut Context<'_>) -> Result<Done, Failure> {
    if context.args.text("output") == "name" {
        context.line(&[CONTEXT]);
        return context.done();
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    if !context.args.is("no-headers") {
        rows.push(["CURRENT", "NAME", "CLUSTER", "AUTHINFO", "NAMESPACE"].map(str::to_string).to_vec());
    }
    let namespace = context.console.namespace();
    let namespace = if *namespace == *"default" { "" } else { &*namespace };
    rows.push(["*", CONTEXT, CONTEXT, "you", namespace].map(str::to_string).to_vec());
    context.out(&Table::default().print(&rows));
    context.done()
}

pub fn config_view(context: &mut Context<'_>) -> Result<Done, Failure> {
    let namespace = context.console.namespace();
    let namespace =
        if *namespace == *"default" { String::new() } else { ["    namespace: ", &*namespace, "\n"].concat() };
    context.out(
        &[
            "apiVersion: v1\nclusters:\n- cluster:\n    server: https://",
            CONTEXT,
            "\n  name: ",
            CONTEXT,
            "\ncontexts:\n- context:\n    cluster: ",
            CONTEXT,
            "\n",
            &namespace,
            "    user: you\n  name: ",
            CONTEXT,
            "\ncurrent-context: ",
            CONTEXT,
            "\nkind: Config\nusers:\n- name: you\n  user: {}\n",
        ]
        .concat(),
    );
    context.done()
}

pub fn set_context(context: &mut Context<'_>) -> Result<Done, Failure> {
    let named = context.args.words.first().map_or("", String::as_str);
    if !(context.args.is("current") || named == CONTEXT) || !context.args.has("namespace") {
        return Err(Failure::not_simulated(
            "this form of kubectl config",
            "Use 'kubectl config set-context --current --namespace='",
        ));
    }
    let namespace = context.args.text("namespace").to_string();
    context.console.set_namespace(&namespace);
    context.line(&["Context \"", CONTEXT, "\" modified."]);
    context.done()
}
