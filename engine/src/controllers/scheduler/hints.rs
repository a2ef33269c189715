//! Which pods that fitted nowhere a change may help (queueing hints, `pkg/scheduler/eventhandlers.go`, v1.36).

use super::reasons::{
    AFFINITY, ALL, ANTI_AFFINITY, OTHERS_ANTI_AFFINITY, PINNED, PORTS, ROOM, Reasons, SELECTOR, SPREAD, SPREAD_LABEL,
    TAINT, UNSCHEDULABLE,
};
use crate::api::{Node, Object, Pod};
use crate::apiserver::{Change, ChangeKind};

/// Pods that were refused for one of these reasons are tried again.
pub(super) fn helps(change: &Change) -> Reasons {
    let is_gone = change.kind == ChangeKind::Deleted;
    match &change.object {
        Object::Pod(pod) => of_pod(change.old.as_ref().and_then(Object::as_pod).map(|old| &**old), pod, is_gone),
        Object::Node(_) if is_gone => SPREAD,
        Object::Node(node) => match change.old.as_ref().and_then(Object::as_node) {
            None => ALL,
            Some(old) => of_node(old, node),
        },
        _ => 0,
    }
}

fn of_pod(old: Option<&Pod>, pod: &Pod, is_gone: bool) -> Reasons {
    let was_there = old.is_some_and(|old| old.is_assigned() && !old.is_finished());
    let leaves = was_there && (is_gone || pod.is_finished());
    let kept_room = !pod.is_assigned() && old.is_some_and(|old| !old.status.nominated_node_name.is_empty());
    let gives_back = kept_room && (is_gone || pod.status.nominated_node_name.is_empty());
    let comes = !is_gone && pod.is_assigned() && !pod.is_finished() && !was_there;
    if leaves || gives_back {
        ROOM | PORTS | SPREAD | ANTI_AFFINITY | OTHERS_ANTI_AFFINITY
    } else if comes {
        AFFINITY | SPREAD
    } else {
        0
    }
}

fn of_node(old: &Node, node: &Node) -> Reasons {
    let mut helps = 0;
    if old.metadata.labels != node.metadata.labels {
        helps |= SELECTOR | PINNED | SPREAD | SPREAD_LABEL | AFFINITY | ANTI_AFFINITY | OTHERS_ANTI_AFFINITY;
    }
    if old.spec.taints != node.spec.taints {
        helps |= TAINT;
    }
    if old.spec.unschedulable && !node.spec.unschedulable {
        helps |= UNSCHEDULABLE;
    }
    if old.status.allocatable != node.status.allocatable {
        helps |= ROOM;
    }
    helps
}
