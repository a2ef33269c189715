//! The scheduler's scores: resources, and how pods are spread.

use std::rc::Rc;

use loopscope_engine::api::{LabelSelector, Node, Object, Pod, Service, TopologySpreadConstraint};
use loopscope_engine::apiserver::Objects;
use loopscope_engine::controllers::scheduler::{
    balanced_allocation_score, evenness, least_allocated_score, topology_spread_scores,
};
use serde_json::Value;

use super::{Held, Table, int, list, same, text};

pub const TABLES: &[Table] = &[
    Table { file: "golden_resource_score", part: "", check: resource_score },
    Table { file: "golden_topology_spread_score", part: "", check: topology_spread_score },
];

const MIB: i64 = 1 << 20;

fn resource_score(rows: &[Value], at: usize) -> Held {
    let row: Vec<i64> = list(&rows[at]).iter().map(|it| i64::from(int(it))).collect();
    let [cpu, memory, cpu_used, memory_used, pod_cpu, pod_memory, least, balanced, with, without] = row[..] else {
        return Err("ten numbers are needed".into());
    };
    let capacity = [cpu, memory * MIB];
    let used = [cpu_used, memory_used * MIB];
    let asked = [pod_cpu, pod_memory * MIB];
    let both = [used[0] + asked[0], used[1] + asked[1]];
    let got = [
        least_allocated_score(both, capacity),
        balanced_allocation_score(used, asked, capacity),
        evenness(both, capacity),
        evenness(used, capacity),
    ];
    same(got, [least, balanced, with, without])
}

fn app() -> (String, String) {
    ("app".into(), "web".into())
}

fn pod(name: &str) -> Pod {
    let mut pod = Pod::default();
    (pod.metadata.name, pod.metadata.namespace) = (name.into(), "default".into());
    pod.metadata.labels = [app()].into();
    pod
}

/// Nodes with their zones and so many pods on each, and a Service of these pods.
fn cluster(row: &Value) -> Objects {
    let mut cache = Objects::default();
    for (at, (zone, count)) in list(&row["zones"]).iter().zip(list(&row["podsPerNode"])).enumerate() {
        let mut node = Node::default();
        node.metadata.name = format!("n{at}").into();
        node.metadata.labels.insert("kubernetes.io/hostname".into(), format!("n{at}"));
        if let Some(zone) = zone.as_str() {
            node.metadata.labels.insert("topology.kubernetes.io/zone".into(), zone.into());
        }
        cache.insert(Object::Node(Rc::new(node)));
        for number in 0..int(count) {
            let mut pod = pod(&format!("p-{at}-{number}"));
            Rc::make_mut(&mut pod.spec).node_name = format!("n{at}").into();
            cache.insert(Object::Pod(Rc::new(pod)));
        }
    }
    let mut service = Service::default();
    (service.metadata.name, service.metadata.namespace) = ("svc".into(), "default".into());
    service.spec.selector = [app()].into();
    cache.insert(Object::Service(Rc::new(service)));
    cache
}

fn topology_spread_score(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let constraint = |it: &Value| TopologySpreadConstraint {
        label_selector: Some(LabelSelector { match_labels: [app()].into(), ..LabelSelector::default() }),
        max_skew: int(&it["maxSkew"]),
        topology_key: text(&it["topologyKey"]).into(),
        when_unsatisfiable: "ScheduleAnyway".into(),
        ..TopologySpreadConstraint::default()
    };
    let mut wanted = pod("new");
    Rc::make_mut(&mut wanted.spec).topology_spread_constraints =
        list(&row["constraints"]).iter().map(constraint).collect();
    let (raw, normalized) = topology_spread_scores(&cluster(row), &wanted);
    let numbers = |name: &str| -> Vec<i64> { list(&row[name]).iter().map(|it| i64::from(int(it))).collect() };
    same((raw, normalized), (numbers("raw"), numbers("normalized")))
}
