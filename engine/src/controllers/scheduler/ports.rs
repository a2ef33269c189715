//! Ports of the node that pods take for themselves (`framework/plugins/nodeports`, v1.36).

use serde_json::Value;

use crate::api::Pod;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct HostPort {
    ip: String,
    protocol: String,
    port: i64,
}

impl HostPort {
    /// The same port and protocol, and the same address or one that stands for all.
    fn conflicts(&self, other: &HostPort) -> bool {
        const ANY: &str = "0.0.0.0";
        self.port == other.port
            && self.protocol == other.protocol
            && (self.ip == other.ip || self.ip == ANY || other.ip == ANY)
    }
}

/// The host ports of a pod's containers.
pub(super) fn host_ports(pod: &Pod) -> Vec<HostPort> {
    let sidecars = pod.spec.init_containers.iter().filter(|it| it.is_sidecar());
    let lists = pod.spec.containers.iter().chain(sidecars).filter_map(|it| it.extra.get("ports")?.as_array());
    let read = |port: &Value| {
        let text = |key: &str, unset: &str| port.get(key).and_then(Value::as_str).unwrap_or(unset).to_string();
        let number = port.get("hostPort")?.as_i64().filter(|number| *number > 0)?;
        Some(HostPort { ip: text("hostIP", "0.0.0.0"), protocol: text("protocol", "TCP"), port: number })
    };
    lists.flatten().filter_map(read).collect()
}

/// Whether all wanted ports are free among the used ones, some of which are about to be given back.
pub(super) fn are_free(wanted: &[HostPort], used: &[HostPort], freed: &[HostPort]) -> bool {
    let left = |port: &&HostPort| {
        let count = |list: &[HostPort]| list.iter().filter(|it| it == port).count();
        count(used) > count(freed)
    };
    wanted.iter().all(|port| !used.iter().filter(left).any(|taken| taken.conflicts(port)))
}
