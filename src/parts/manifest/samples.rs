//! Manifests to begin with.

pub struct Sample {
    pub name: &'static str,
    pub text: &'static str,
    /// An image of it, and how its programs behave: an index into the engine's `BEHAVIORS`.
    pub program: Option<(&'static str, usize)>,
}

const fn sample(name: &'static str, text: &'static str, program: Option<(&'static str, usize)>) -> Sample {
    Sample { name, text, program }
}

/// The simplest first.
pub const SAMPLES: [Sample; 9] = [
    sample("Web Deployment and Service", include_str!("samples/web.yaml"), None),
    sample("Autoscaled web", include_str!("samples/autoscaled.yaml"), None),
    sample("Web with traffic", include_str!("samples/traffic.yaml"), None),
    sample("Readiness probe that fails", include_str!("samples/unready.yaml"), Some(("shop/cart:2.2-rc1", 4))),
    sample("Deployment and budget", include_str!("samples/budget.yaml"), None),
    sample("StatefulSet", include_str!("samples/statefulset.yaml"), None),
    sample("DaemonSet", include_str!("samples/daemonset.yaml"), None),
    sample("Job", include_str!("samples/job.yaml"), Some(("shop/report:5", 3))),
    sample("Quota that refuses pods", include_str!("samples/quota.yaml"), None),
];
