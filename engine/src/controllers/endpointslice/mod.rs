//! The EndpointSlice controller: which pods stand behind a Service, and whether they answer.
//!
//! Mirrors `pkg/controller/endpointslice` and `staging/src/k8s.io/endpointslice`, v1.36. Fidelity: one set of ports for
//! all pods of a Service, IPv4 alone, no zones and no Endpoints objects beside the slices.

mod slices;

use std::rc::Rc;

pub use slices::{Arrangement, arrange};

use super::pods::request;
use super::script::{Purpose, Script, Scripted};
use super::{Recorder, controller_key};
use crate::api::{
    Endpoint, EndpointConditions, EndpointPort, EndpointSlice, IntOrPercent, Kind, Labels, Name, Object, ObjectKey,
    ObjectMeta, Pod, Service, ServicePort, TargetRef,
};
use crate::apiserver::{Change, ChangeKind, DeleteOptions, Objects, Verb};
use crate::client::{Context, Facts, Wakeup};
use crate::note;
use crate::sim::{Map, Millis, Time};

const RECORDER: Recorder = Recorder("endpoint-slice-controller");
/// After a sync that failed (`defaultSyncBackOff`).
const LOOK_AGAIN: Millis = Millis(1_000);
const SERVICE_LABEL: &str = "kubernetes.io/service-name";

/// Keeps the slices of each Service.
#[derive(Clone, Copy, Debug, Default)]
pub struct EndpointSliceController;

fn selects(service: &Service, labels: &Labels) -> bool {
    let selector = &service.spec.selector;
    !selector.is_empty() && selector.iter().all(|(key, value)| labels.get(key) == Some(value))
}

/// What a pod has to say to the Services that select it; nothing where it has no place among the endpoints.
fn endpoint(pod: &Pod, publish_unready: bool) -> Option<Endpoint> {
    if pod.is_finished() || pod.status.pod_ip.is_empty() {
        return None;
    }
    let (serving, terminating) = (pod.is_ready(), pod.is_terminating());
    let meta = &pod.metadata;
    Some(Endpoint {
        addresses: vec![pod.status.pod_ip.to_string()],
        conditions: EndpointConditions { ready: publish_unready || serving && !terminating, serving, terminating },
        node_name: pod.spec.node_name.clone(),
        target_ref: Some(TargetRef {
            kind: "Pod".into(),
            name: meta.name.clone(),
            namespace: meta.namespace.clone(),
            uid: meta.uid,
        }),
        ..Endpoint::default()
    })
}

/// Whether a change of a pod can change an endpoint.
fn matters(old: Option<&Object>, pod: &Pod) -> bool {
    let Some(old) = old.and_then(Object::as_pod) else { return true };
    old.status.pod_ip != pod.status.pod_ip
        || old.is_ready() != pod.is_ready()
        || old.is_terminating() != pod.is_terminating()
        || old.is_finished() != pod.is_finished()
        || old.metadata.labels != pod.metadata.labels
}

fn target_port(port: &ServicePort, pod: &Pod) -> Option<i32> {
    let name = match port.target_port.as_ref() {
        None => return Some(port.port),
        Some(IntOrPercent::Int(number)) => return Some(*number),
        Some(IntOrPercent::Text(name)) => name.as_str(),
    };
    let ports = pod.spec.containers.iter().filter_map(|container| container.extra.get("ports")?.as_array()).flatten();
    let mut named = ports.filter(|it| it.get("name").and_then(serde_json::Value::as_str) == Some(name));
    named.next()?.get("containerPort")?.as_i64()?.try_into().ok()
}

fn ports(service: &Service, pod: &Pod) -> Vec<EndpointPort> {
    let one = |port: &ServicePort| {
        let number = target_port(port, pod)?;
        Some(EndpointPort { name: port.name.clone(), port: number, protocol: port.protocol.clone() })
    };
    service.spec.ports.iter().filter_map(one).collect()
}

fn new_slice(service: &Service) -> EndpointSlice {
    let meta = &service.metadata;
    let mut labels = meta.labels.clone();
    labels.insert("endpointslice.kubernetes.io/managed-by".into(), "endpointslice-controller.k8s.io".into());
    labels.insert(SERVICE_LABEL.into(), meta.name.to_string());
    if service.spec.cluster_ip == "None" {
        labels.insert("service.kubernetes.io/headless".into(), String::new());
    }
    EndpointSlice {
        metadata: ObjectMeta {
            generate_name: format!("{}-", meta.name).into(),
            namespace: meta.namespace.clone(),
            labels,
            owner_references: vec![meta.controller_reference(Kind::Service)],
            ..ObjectMeta::default()
        },
        address_type: "IPv4".into(),
        ..EndpointSlice::default()
    }
}

/// What a turn finds of a Service that selects pods.
struct Survey<'a> {
    slices: Vec<&'a Rc<EndpointSlice>>,
    arranged: Arrangement,
    ports: Vec<EndpointPort>,
    size: usize,
    ready: usize,
    /// Pods whose node is not there, in words.
    lost: Vec<String>,
}

fn survey<'a>(cache: &'a Objects, service: &Service) -> Option<Survey<'a>> {
    let (meta, spec) = (&service.metadata, &service.spec);
    if spec.selector.is_empty() || spec.kind == "ExternalName" || meta.deletion_timestamp.is_some() {
        return None;
    }
    let mut wanted: Map<Name, Endpoint> = Map::default();
    let mut example = None;
    let mut lost = Vec::new();
    for pod in cache.pods_labeled(&meta.namespace, |labels| selects(service, labels)) {
        if let Some(endpoint) = endpoint(pod, spec.publish_not_ready_addresses) {
            let node = &pod.spec.node_name;
            if cache.get(&ObjectKey::node(node.clone())).is_none() {
                let (namespace, name) = (&meta.namespace, &pod.metadata.name);
                lost.push(format!("skipping Pod {name} for Service {namespace}/{}: Node {node} Not Found", meta.name));
                continue;
            }
            wanted.insert(pod.metadata.name.clone(), endpoint);
            example.get_or_insert(pod);
        }
    }
    let (size, ready) = (wanted.len(), wanted.values().filter(|endpoint| endpoint.conditions.ready).count());
    // A Service without endpoints has a slice without ports.
    let ports = example.map(|pod| ports(service, pod)).unwrap_or_default();
    let owned = cache.owned(meta.uid, Kind::EndpointSlice).filter_map(Object::as_endpoint_slice);
    let slices: Vec<&Rc<EndpointSlice>> = owned.collect();
    let existing: Vec<&[Endpoint]> = slices.iter().map(|slice| slice.endpoints.as_slice()).collect();
    let mut arranged = arrange(&existing, wanted);
    // Ports that changed are written into every slice.
    for (place, slice) in slices.iter().enumerate() {
        let differs = ports != slice.ports;
        let is_planned = arranged.updated.iter().any(|(it, _)| *it == place) || arranged.deleted.contains(&place);
        if differs && !is_planned {
            arranged.updated.push((place, slice.endpoints.clone()));
        }
    }
    Some(Survey { slices, arranged, ports, size, ready, lost })
}

/// The slices that a Service has once this controller has seen to it, as far as they are not so yet: those that differ,
/// new ones without a name, and the keys of those that go.
pub fn at_rest(cache: &Objects, service: &Service) -> (Vec<EndpointSlice>, Vec<ObjectKey>) {
    let Some(Survey { slices, arranged, ports, .. }) = survey(cache, service) else { return Default::default() };
    let created = arranged.created.into_iter().map(|endpoints| {
        let ports = if endpoints.is_empty() { Vec::new() } else { ports.clone() };
        EndpointSlice { endpoints, ports, ..new_slice(service) }
    });
    let updated = arranged.updated.into_iter().filter_map(|(place, endpoints)| {
        let slice = EndpointSlice::clone(slices.get(place)?);
        Some(EndpointSlice { endpoints, ports: ports.clone(), ..slice })
    });
    let gone = arranged
        .deleted
        .into_iter()
        .filter_map(|place| Some(Object::EndpointSlice(Rc::clone(slices.get(place)?)).key()));
    (created.chain(updated).collect(), gone.collect())
}

impl Scripted for EndpointSliceController {
    fn recorder(&self) -> Recorder {
        RECORDER
    }

    fn concerns(&mut self, change: &Change, cache: &Objects, _now: Time) -> Vec<Wakeup> {
        let key = &change.key;
        let keys: Vec<ObjectKey> = match &change.object {
            Object::Service(_) => vec![key.clone()],
            // Only what somebody else did to a slice: its own writes bring nothing new.
            Object::EndpointSlice(_) if change.kind == ChangeKind::Deleted => {
                controller_key(&change.object, Kind::Service).into_iter().collect()
            }
            Object::Pod(_) if cache.of_kind(Kind::Service).next().is_none() => Vec::new(),
            Object::Pod(pod) if change.kind == ChangeKind::Deleted || matters(change.old.as_ref(), pod) => {
                let before = change.old.as_ref().map(|old| &old.meta().labels);
                let services = cache.in_namespace(Kind::Service, &key.namespace).filter(|object| {
                    let Some(service) = object.as_service() else { return false };
                    selects(service, &pod.metadata.labels) || before.is_some_and(|labels| selects(service, labels))
                });
                services.map(Object::key).collect()
            }
            _ => Vec::new(),
        };
        keys.into_iter().map(|key| (key, Millis(0))).collect()
    }

    fn plan(&mut self, context: &Context<'_>, key: &ObjectKey) -> Option<Script> {
        let service = context.cache.get(key)?.as_service()?;
        let Survey { slices, arranged, ports, size, ready, lost } = survey(context.cache, service)?;
        let found: Facts = note!("**{}** pods, **{}** ready", size, ready).into();
        let changed = arranged.updated.len() + arranged.created.len() + arranged.deleted.len();
        let differs: Facts = match changed {
            0 => note!("the slices say so").into(),
            1 => note!("**1** slice differs").into(),
            n => note!("**{}** slices differ", n).into(),
        };
        let mut script =
            Script::new(found.with(note!("{} slices, cache rv {}", slices.len(), context.version)), differs);
        write(&mut script, service, &slices, arranged, &ports);
        if !lost.is_empty() {
            // Such a pod goes with the pod collector; until then this Service counts as failed.
            let all = if let [one] = lost.as_slice() { one.clone() } else { format!("[{}]", lost.join(", ")) };
            let message = format!("Error updating Endpoint Slices for Service {}/{}: {all}", key.namespace, key.name);
            script.tell([RECORDER.warning(key, "FailedToUpdateEndpointSlices", message)]);
            script.look_again(LOOK_AGAIN);
        }
        Some(script)
    }
}

fn write(
    script: &mut Script,
    service: &Service,
    slices: &[&Rc<EndpointSlice>],
    arranged: Arrangement,
    ports: &[EndpointPort],
) {
    let size = |endpoints: &[Endpoint]| {
        let ready = endpoints.iter().filter(|it| it.conditions.ready).count();
        note!("**{}** endpoints, **{}** ready", endpoints.len(), ready)
    };
    for endpoints in arranged.created {
        let facts: Facts = size(&endpoints).into();
        let ports = if endpoints.is_empty() { Vec::new() } else { ports.to_vec() };
        let slice = EndpointSlice { endpoints, ports, ..new_slice(service) };
        let action = request(Verb::Create(Object::EndpointSlice(Rc::new(slice))));
        script.send(facts.with(note!("POST endpointslices")), vec![(action, Purpose::Plain)]);
    }
    for (place, endpoints) in arranged.updated {
        let Some(slice) = slices.get(place) else { continue };
        let facts: Facts = size(&endpoints).into();
        let facts = facts.with(note!("PUT endpointslices/{}", &slice.metadata.name));
        let mut slice = Rc::clone(slice);
        let it = Rc::make_mut(&mut slice);
        (it.endpoints, it.ports) = (endpoints, ports.to_vec());
        script.send(facts, vec![(request(Verb::Update(Object::EndpointSlice(slice))), Purpose::Plain)]);
    }
    for slice in arranged.deleted.into_iter().filter_map(|place| slices.get(place)) {
        let meta = &slice.metadata;
        let key = ObjectKey::new(Kind::EndpointSlice, meta.namespace.clone(), meta.name.clone());
        let options = DeleteOptions { uid: Some(meta.uid), ..DeleteOptions::default() };
        let facts: Facts = note!("delete an empty slice").into();
        let facts = facts.with(note!("DELETE endpointslices/{}", &meta.name));
        script.send(facts, vec![(request(Verb::Delete(key, options)), Purpose::Plain)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Condition, Timestamp};

    /// Recordings `b_delete_pods`, `s_readiness_flip`, `j2_node_dead_default_tolerations`.
    #[test]
    fn a_pod_on_its_way_out_serves_for_as_long_as_it_is_ready() {
        let mut pod = Pod::default();
        assert_eq!(endpoint(&pod, false), None, "without an address it has no place");
        pod.status.pod_ip = "10.244.0.2".into();
        let told = |pod: &Pod, publish| {
            let EndpointConditions { ready, serving, terminating } = endpoint(pod, publish).unwrap().conditions;
            (ready, serving, terminating)
        };
        assert_eq!(told(&pod, false), (false, false, false));
        assert_eq!(told(&pod, true), (true, false, false));
        pod.status.conditions.push(Condition::new("Ready", true));
        assert_eq!(told(&pod, false), (true, true, false));
        pod.metadata.deletion_timestamp = Some(Timestamp(1));
        assert_eq!(told(&pod, false), (false, true, true));
        pod.status.phase = "Succeeded".into();
        assert_eq!(endpoint(&pod, false), None);
    }
}
