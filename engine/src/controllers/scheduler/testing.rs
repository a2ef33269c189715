//! Small clusters for tests.

use std::rc::Rc;

use crate::api::{Container, Labels, Node, Object, Pod, PodSpec};
use crate::apiserver::Objects;

/// So many nodes, `n0` first, with 4 cores, 4 GiB and their host names as labels.
pub fn cluster(count: usize, label: impl Fn(usize, &mut Labels)) -> Objects {
    let mut cache = Objects::default();
    for at in 0..count {
        let mut node = Node::default();
        node.metadata.name = format!("n{at}").into();
        node.metadata.labels.insert("kubernetes.io/hostname".into(), format!("n{at}"));
        label(at, &mut node.metadata.labels);
        for (resource, amount) in [("cpu", "4"), ("memory", "4Gi"), ("pods", "110")] {
            node.status.allocatable.insert(resource.into(), amount.parse().unwrap());
        }
        cache.insert(Object::Node(Rc::new(node)));
    }
    cache
}

/// A pod that asks for CPU.
pub fn pod(name: &str, cpu: &str) -> Pod {
    let mut container = Container::default();
    container.resources.requests.insert("cpu".into(), cpu.parse().unwrap());
    let spec = PodSpec { containers: vec![container], ..PodSpec::default() };
    let mut pod = Pod { spec: spec.into(), ..Pod::default() };
    (pod.metadata.name, pod.metadata.namespace) = (name.into(), "default".into());
    pod
}

pub fn labelled(mut pod: Pod, key: &str, value: &str) -> Pod {
    pod.metadata.labels.insert(key.into(), value.into());
    pod
}

/// Places a pod of 1m with a label on a node.
pub fn put(cache: &mut Objects, name: &str, node: usize, label: (&str, &str)) {
    put_pod(cache, labelled(pod(name, "1m"), label.0, label.1), node);
}

pub fn put_pod(cache: &mut Objects, mut pod: Pod, node: usize) {
    Rc::make_mut(&mut pod.spec).node_name = format!("n{node}").into();
    cache.insert(Object::Pod(Rc::new(pod)));
}
