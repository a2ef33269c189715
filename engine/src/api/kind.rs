use serde::{Deserialize, Serialize};

/// What the simulation does with objects of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// Controllers act on it.
    Simulated,
    /// Stored and shown; nothing acts on it, which the page says.
    StoredOnly,
}

macro_rules! kinds {
    ($($variant:ident $group:literal $plural:literal [$($short:literal)*] $namespaced:ident $support:ident;)*) => {
        /// The kinds of Kubernetes v1.36 that a manifest may hold.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Kind { $($variant,)* }

        impl Kind {
            pub const ALL: &'static [Kind] = &[$(Kind::$variant,)*];

            /// `Deployment`
            pub fn name(self) -> &'static str {
                match self { $(Kind::$variant => stringify!($variant),)* }
            }

            /// `apps/v1`
            pub fn api_version(self) -> &'static str {
                match self { $(Kind::$variant => $group,)* }
            }

            /// `deployments`
            pub fn plural(self) -> &'static str {
                match self { $(Kind::$variant => $plural,)* }
            }

            /// Short names that kubectl takes, such as `deploy`.
            pub fn short_names(self) -> &'static [&'static str] {
                match self { $(Kind::$variant => &[$($short),*],)* }
            }

            pub fn is_namespaced(self) -> bool {
                match self { $(Kind::$variant => kinds!(@ $namespaced),)* }
            }

            pub fn support(self) -> Support {
                match self { $(Kind::$variant => Support::$support,)* }
            }
        }
    };
    (@ namespaced) => { true };
    (@ cluster) => { false };
}

kinds! {
    Namespace "v1" "namespaces" ["ns"] cluster Simulated;
    Node "v1" "nodes" ["no"] cluster Simulated;
    Lease "coordination.k8s.io/v1" "leases" [] namespaced Simulated;
    Deployment "apps/v1" "deployments" ["deploy"] namespaced Simulated;
    ReplicaSet "apps/v1" "replicasets" ["rs"] namespaced Simulated;
    Pod "v1" "pods" ["po"] namespaced Simulated;
    StatefulSet "apps/v1" "statefulsets" ["sts"] namespaced Simulated;
    DaemonSet "apps/v1" "daemonsets" ["ds"] namespaced Simulated;
    ControllerRevision "apps/v1" "controllerrevisions" [] namespaced Simulated;
    ReplicationController "v1" "replicationcontrollers" ["rc"] namespaced StoredOnly;
    Job "batch/v1" "jobs" [] namespaced Simulated;
    CronJob "batch/v1" "cronjobs" ["cj"] namespaced StoredOnly;
    Service "v1" "services" ["svc"] namespaced Simulated;
    Endpoints "v1" "endpoints" ["ep"] namespaced StoredOnly;
    EndpointSlice "discovery.k8s.io/v1" "endpointslices" [] namespaced Simulated;
    HorizontalPodAutoscaler "autoscaling/v2" "horizontalpodautoscalers" ["hpa"] namespaced Simulated;
    PodDisruptionBudget "policy/v1" "poddisruptionbudgets" ["pdb"] namespaced Simulated;
    ConfigMap "v1" "configmaps" ["cm"] namespaced StoredOnly;
    Secret "v1" "secrets" [] namespaced StoredOnly;
    ServiceAccount "v1" "serviceaccounts" ["sa"] namespaced StoredOnly;
    PersistentVolume "v1" "persistentvolumes" ["pv"] cluster StoredOnly;
    PersistentVolumeClaim "v1" "persistentvolumeclaims" ["pvc"] namespaced StoredOnly;
    StorageClass "storage.k8s.io/v1" "storageclasses" ["sc"] cluster StoredOnly;
    Ingress "networking.k8s.io/v1" "ingresses" ["ing"] namespaced StoredOnly;
    IngressClass "networking.k8s.io/v1" "ingressclasses" [] cluster StoredOnly;
    NetworkPolicy "networking.k8s.io/v1" "networkpolicies" ["netpol"] namespaced StoredOnly;
    Role "rbac.authorization.k8s.io/v1" "roles" [] namespaced StoredOnly;
    RoleBinding "rbac.authorization.k8s.io/v1" "rolebindings" [] namespaced StoredOnly;
    ClusterRole "rbac.authorization.k8s.io/v1" "clusterroles" [] cluster StoredOnly;
    ClusterRoleBinding "rbac.authorization.k8s.io/v1" "clusterrolebindings" [] cluster StoredOnly;
    ResourceQuota "v1" "resourcequotas" ["quota"] namespaced Simulated;
    LimitRange "v1" "limitranges" ["limits"] namespaced StoredOnly;
    PriorityClass "scheduling.k8s.io/v1" "priorityclasses" ["pc"] cluster Simulated;
    RuntimeClass "node.k8s.io/v1" "runtimeclasses" [] cluster StoredOnly;
    PodTemplate "v1" "podtemplates" [] namespaced StoredOnly;
    CustomResourceDefinition "apiextensions.k8s.io/v1" "customresourcedefinitions" ["crd" "crds"] cluster StoredOnly;
    ValidatingWebhookConfiguration "admissionregistration.k8s.io/v1" "validatingwebhookconfigurations" [] cluster StoredOnly;
    MutatingWebhookConfiguration "admissionregistration.k8s.io/v1" "mutatingwebhookconfigurations" [] cluster StoredOnly;
    ValidatingAdmissionPolicy "admissionregistration.k8s.io/v1" "validatingadmissionpolicies" [] cluster StoredOnly;
    ValidatingAdmissionPolicyBinding "admissionregistration.k8s.io/v1" "validatingadmissionpolicybindings" [] cluster StoredOnly;
    APIService "apiregistration.k8s.io/v1" "apiservices" [] cluster StoredOnly;
    Event "v1" "events" ["ev"] namespaced StoredOnly;
}

impl Kind {
    /// The kind of an `apiVersion` and `kind` as a manifest writes them.
    pub fn find(api_version: &str, kind: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|it| it.name() == kind && it.api_version() == api_version)
    }

    pub fn by_name(kind: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|it| it.name() == kind)
    }

    /// The API group, empty for the core group.
    pub fn group(self) -> &'static str {
        self.api_version().split_once('/').map_or("", |(group, _)| group)
    }

    pub fn version(self) -> &'static str {
        self.api_version().rsplit('/').next().unwrap_or_default()
    }

    /// The resource as error messages name it: `pods`, `deployments.apps`.
    pub fn qualified_plural(self) -> String {
        match self.group() {
            "" => self.plural().into(),
            group => format!("{}.{group}", self.plural()),
        }
    }

    /// The kind as error messages name it: `Pod`, `Deployment.apps`.
    pub fn qualified_name(self) -> String {
        match self.group() {
            "" => self.name().into(),
            group => format!("{}.{group}", self.name()),
        }
    }
}
