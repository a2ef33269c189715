//! The addresses and node ports that the API server gives a Service.
//!
//! Mirrors `pkg/registry/core/service/storage/alloc.go` and `pkg/registry/core/service/ipallocator`, v1.36, for a cluster
//! with IPv4 alone and kubeadm's default range: addresses are drawn from the part of it that is not kept for those whom
//! people choose.

use std::rc::Rc;

use serde_json::{Value, json};

use super::ApiServer;
use crate::api::{Kind, Object, Service};

/// `10.96.0.0/12`, and how many addresses at its beginning are for people to choose.
const FIRST: u32 = u32::from_be_bytes([10, 96, 0, 0]);
const RANGE: u32 = 1 << 20;
const CHOSEN: u32 = 256;
/// `30000-32767`, with as many for people at its beginning (`--service-node-port-range`).
const FIRST_PORT: u32 = 30_000;
const PORTS: u32 = 2_768;
const CHOSEN_PORTS: u32 = 86;
const NODE_PORT: &str = "nodePort";

impl ApiServer {
    /// Gives a Service what it lacks. It keeps what it has had.
    pub(super) fn give_addresses(&self, object: &mut Object, old: Option<&Object>) {
        let Object::Service(service) = object else { return };
        let old = match old {
            Some(Object::Service(old)) => Some(&**old),
            _ => None,
        };
        if service.spec.kind == "ExternalName" {
            return;
        }
        if let Some(old) = old.filter(|old| old.spec.kind != "ExternalName") {
            keep(Rc::make_mut(service), old);
        }
        let (has_address, wants_ports) = (!service.spec.cluster_ip.is_empty(), wants_ports(service));
        if has_address && !wants_ports && service.spec.extra.get("clusterIPs").is_some() {
            return;
        }
        let service = Rc::make_mut(service);
        let seed = service.metadata.uid.0;
        if !has_address {
            let taken = |number: u32| self.services().any(|it| it.spec.cluster_ip == address(number));
            let number = free(seed, CHOSEN..RANGE - 1, taken);
            service.spec.cluster_ip = address(number);
        }
        let addresses = json!([service.spec.cluster_ip]);
        for (field, value) in
            [("clusterIPs", addresses), ("ipFamilies", json!(["IPv4"])), ("ipFamilyPolicy", "SingleStack".into())]
        {
            if service.spec.extra.get(field).is_none() {
                service.spec.extra.insert(field.into(), value);
            }
        }
        if wants_ports {
            self.give_ports(service, seed);
        }
    }

    fn give_ports(&self, service: &mut Service, seed: u128) {
        for index in 0..service.spec.ports.len() {
            if service.spec.ports[index].extra.get(NODE_PORT).is_some() {
                continue;
            }
            let own = |number: u32| node_ports(service).any(|it| it == u64::from(number));
            let taken =
                |number: u32| own(number) || self.services().any(|it| node_ports(it).any(|it| it == u64::from(number)));
            let last = FIRST_PORT + PORTS;
            let number = free(seed.rotate_right(20), FIRST_PORT + CHOSEN_PORTS..last, taken);
            service.spec.ports[index].extra.insert(NODE_PORT.into(), number.into());
        }
    }

    fn services(&self) -> impl Iterator<Item = &Service> {
        self.objects.of_kind(Kind::Service).filter_map(|it| match it {
            Object::Service(service) => Some(&**service),
            _ => None,
        })
    }
}

fn wants_ports(service: &Service) -> bool {
    matches!(service.spec.kind.as_str(), "NodePort" | "LoadBalancer")
        && service.spec.extra.get("allocateLoadBalancerNodePorts") != Some(&Value::Bool(false))
        && service.spec.ports.iter().any(|it| it.extra.get(NODE_PORT).is_none())
}

/// What an update leaves out is not meant to go (`patchAllocatedValues`).
fn keep(service: &mut Service, old: &Service) {
    if service.spec.cluster_ip.is_empty() {
        service.spec.cluster_ip.clone_from(&old.spec.cluster_ip);
    }
    for field in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if let (None, Some(value)) = (service.spec.extra.get(field), old.spec.extra.get(field)) {
            service.spec.extra.insert(field.into(), value.clone());
        }
    }
    if !matches!(service.spec.kind.as_str(), "NodePort" | "LoadBalancer") {
        return;
    }
    for port in &mut service.spec.ports {
        let same = old.spec.ports.iter().find(|it| it.port == port.port && it.protocol == port.protocol);
        if let (None, Some(number)) = (port.extra.get(NODE_PORT), same.and_then(|it| it.extra.get(NODE_PORT))) {
            port.extra.insert(NODE_PORT.into(), number.clone());
        }
    }
}

fn node_ports(service: &Service) -> impl Iterator<Item = u64> {
    service.spec.ports.iter().filter_map(|it| it.extra.get(NODE_PORT)?.as_u64())
}

fn address(number: u32) -> String {
    let [a, b, c, d] = (FIRST + number).to_be_bytes();
    format!("{a}.{b}.{c}.{d}")
}

/// The first number from a drawn one on that is not taken.
fn free(seed: u128, among: std::ops::Range<u32>, taken: impl Fn(u32) -> bool) -> u32 {
    let count = among.end - among.start;
    let first = u32::try_from(seed % u128::from(count)).unwrap_or(0);
    let mut all = (0..count).map(|step| among.start + (first + step) % count);
    all.find(|number| !taken(*number)).unwrap_or(among.start)
}
