//! Why nodes will not do, in the scheduler's words (`FitError`, `pkg/scheduler/framework/types.go`, v1.36).

use crate::sim::sort_by;

/// Reasons as bits: a node may have several. Resources by name come after [`OTHER`], one bit each.
pub(super) type Reasons = u32;

pub(super) const UNSCHEDULABLE: Reasons = 1;
pub(super) const TAINT: Reasons = 1 << 1;
pub(super) const SELECTOR: Reasons = 1 << 2;
pub(super) const PORTS: Reasons = 1 << 3;
pub(super) const PODS: Reasons = 1 << 4;
pub(super) const CPU: Reasons = 1 << 5;
pub(super) const MEMORY: Reasons = 1 << 6;
pub(super) const SPREAD_LABEL: Reasons = 1 << 7;
pub(super) const SPREAD: Reasons = 1 << 8;
pub(super) const AFFINITY: Reasons = 1 << 9;
pub(super) const ANTI_AFFINITY: Reasons = 1 << 10;
pub(super) const OTHERS_ANTI_AFFINITY: Reasons = 1 << 11;
pub(super) const PINNED: Reasons = 1 << 12;
pub(super) const NO_VICTIMS: Reasons = 1 << 13;
pub(super) const UNHELPFUL: Reasons = 1 << 14;
/// The first bit for resources by name.
pub(super) const OTHER: u32 = 15;
/// The number of resources by name that are told apart.
pub(super) const MAX_OTHER: usize = 16;
/// No pod's leaving would help.
pub(super) const FINAL: Reasons = 1 << 31;
/// All reasons that are about room on the node.
pub(super) const ROOM: Reasons = PODS | CPU | MEMORY | (((1 << MAX_OTHER) - 1) << OTHER);
pub(super) const ALL: Reasons = !0;

const TEXTS: [&str; OTHER as usize] = [
    "node(s) were unschedulable",
    "node(s) had untolerated taint(s)",
    "node(s) didn't match Pod's node affinity/selector",
    "node(s) didn't have free ports for the requested pod ports",
    "Too many pods",
    "Insufficient cpu",
    "Insufficient memory",
    "node(s) didn't match pod topology spread constraints (missing required label)",
    "node(s) didn't match pod topology spread constraints",
    "node(s) didn't match pod affinity rules",
    "node(s) didn't match pod anti-affinity rules",
    "node(s) didn't satisfy existing pods anti-affinity rules",
    "node(s) didn't satisfy plugin(s) [NodeAffinity]",
    "No preemption victims found for incoming pod",
    "Preemption is not helpful for scheduling",
];

/// `1 node(s) had untolerated taint(s), 3 Insufficient cpu`, in the order of the texts as Kubernetes sorts them.
pub(super) fn tell(nodes: &[Reasons], other: &[(String, i64)]) -> String {
    let mut counts = [0_usize; 31];
    for reasons in nodes {
        let mut left = reasons & !FINAL;
        while left != 0 {
            if let Some(count) = counts.get_mut(left.trailing_zeros() as usize) {
                *count += 1;
            }
            left &= left - 1;
        }
    }
    let text = |bit: usize| match TEXTS.get(bit) {
        Some(text) => (*text).to_string(),
        None => format!("Insufficient {}", other.get(bit - TEXTS.len()).map_or("", |(name, _)| name)),
    };
    let told = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let mut parts: Vec<String> = told.map(|(bit, count)| format!("{count} {}", text(bit))).collect();
    sort_by(&mut parts, Ord::cmp);
    parts.join(", ")
}

/// `0/3 nodes are available: 3 Insufficient cpu.`
pub(super) fn none_available(total: usize, reasons: &str) -> String {
    format!("0/{total} nodes are available: {reasons}.")
}
