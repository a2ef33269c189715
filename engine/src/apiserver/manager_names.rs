//! Names of field managers, of which each is kept once for all time.

use std::sync::Mutex;

/// Names that people thought of; more of them are all called `kubectl`.
const MOST: usize = 256;

static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// The one copy of a manager's name.
pub fn manager_name(name: &str) -> &'static str {
    const KNOWN: [&str; 21] = [
        "ancient-changes",
        "before-first-apply",
        "kube-controller-manager",
        "kube-scheduler",
        "kubectl",
        "kubectl-annotate",
        "kubectl-autoscale",
        "kubectl-client-side-apply",
        "kubectl-cordon",
        "kubectl-create",
        "kubectl-drain",
        "kubectl-edit",
        "kubectl-expose",
        "kubectl-label",
        "kubectl-last-applied",
        "kubectl-patch",
        "kubectl-rollout",
        "kubectl-run",
        "kubectl-set",
        "kubectl-taint",
        "kubelet",
    ];
    if let Some(known) = KNOWN.iter().find(|known| **known == name) {
        return known;
    }
    let mut names = NAMES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = names.iter().find(|known| **known == name) {
        return known;
    }
    if names.len() >= MOST || name.len() > 128 {
        return "kubectl";
    }
    let kept: &'static str = Box::leak(name.into());
    names.push(kept);
    kept
}
