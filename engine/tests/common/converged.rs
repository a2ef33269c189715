//! What a cluster of the deeds comes to once nobody does anything any more.

use loopscope_engine::api::{Kind, Object, ObjectKey};
use loopscope_engine::world::Simulation;
use proptest::prelude::*;

/// Every workload of the deeds is as it is wanted.
pub fn check_convergence(simulation: &Simulation) -> Result<(), TestCaseError> {
    let objects = simulation.api().objects();
    for deployment in objects.of_kind(Kind::Deployment).filter_map(Object::as_deployment) {
        let (wanted, status) = (deployment.spec.wanted(), &deployment.status);
        let name = &deployment.metadata.name;
        prop_assert_eq!(status.observed_generation, deployment.metadata.generation, "{} has not been looked at", name);
        prop_assert_eq!(
            (status.replicas, status.updated_replicas, status.available_replicas),
            (wanted, wanted, wanted),
            "{} {:?}",
            name,
            status
        );
        let pods = objects.controlled_by(deployment.metadata.uid).flat_map(|set| objects.controlled_by(set.meta().uid));
        let pods: Vec<_> = pods.filter_map(Object::as_pod).collect();
        prop_assert_eq!(pods.len(), wanted as usize, "nothing is left over of {}", name);
        for pod in pods {
            prop_assert!(pod.is_ready());
            prop_assert_eq!(&pod.spec.containers[0].image, &deployment.spec.template.spec.containers[0].image);
        }
    }
    check_others(simulation)
}

/// The same of the other workloads, where they are there.
fn check_others(simulation: &Simulation) -> Result<(), TestCaseError> {
    let objects = simulation.api().objects();
    let find = |kind: Kind, name: &str| objects.get(&ObjectKey::new(kind, "default", name));
    if let Some(set) = find(Kind::StatefulSet, "db").and_then(Object::as_stateful_set) {
        let wanted = set.spec.replicas.unwrap_or(1);
        let status = &set.status;
        let got = (status.replicas, status.ready_replicas, status.current_replicas, status.updated_replicas);
        prop_assert_eq!(got, (wanted, wanted, wanted, wanted), "{:?}", status);
        prop_assert_eq!(&status.current_revision, &status.update_revision);
        let pods = objects.owned(set.metadata.uid, Kind::Pod).map(|pod| pod.meta().name.to_string());
        let names: Vec<String> = (0..wanted).map(|number| format!("db-{number}")).collect();
        prop_assert_eq!(pods.collect::<Vec<_>>(), names);
    }
    if let Some(set) = find(Kind::DaemonSet, "agent").and_then(Object::as_daemon_set) {
        let status = &set.status;
        let got = (status.desired_number_scheduled, status.number_ready, status.updated_number_scheduled);
        let nodes = objects.of_kind(Kind::Node).count();
        let all = nodes as i32;
        prop_assert_eq!(got, (all, all, all), "{:?}", status);
        prop_assert_eq!(objects.owned(set.metadata.uid, Kind::Pod).count(), nodes);
    }
    let jobs = find(Kind::Job, "work").and_then(Object::as_job);
    if let Some(job) = jobs {
        prop_assert_eq!((job.status.succeeded, job.status.active), (3, 0), "{:?}", job.status);
        let last = job.status.conditions.last().map(|it| it.kind.as_str());
        prop_assert_eq!(last, Some("Complete"));
    }
    let owner = jobs.map(|job| job.metadata.uid);
    for pod in objects.of_kind(Kind::Pod) {
        let meta = pod.meta();
        let is_of_job = meta.controller().is_some_and(|owner| owner.kind == "Job");
        prop_assert!(!is_of_job || meta.controller().map(|owner| owner.uid) == owner, "left over: {}", pod.key());
        prop_assert!(meta.finalizers.is_empty(), "held for ever: {}", pod.key());
    }
    for (key, object) in objects.iter() {
        prop_assert!(object.meta().deletion_timestamp.is_none(), "goes for ever: {}", key);
        let place = ObjectKey::new(Kind::Namespace, "", key.namespace.clone());
        prop_assert!(key.namespace.is_empty() || objects.get(&place).is_some(), "without its namespace: {}", key);
    }
    if let Some(service) = find(Kind::Service, "web") {
        let slices = objects.owned(service.meta().uid, Kind::EndpointSlice).filter_map(Object::as_endpoint_slice);
        let listed: usize = slices.map(|slice| slice.endpoints.len()).sum();
        // Those of an orphaned ReplicaSet among them.
        let pods = objects.in_namespace(Kind::Pod, &service.meta().namespace).filter_map(Object::as_pod);
        let meant = pods.filter(|pod| pod.metadata.labels.get("app").is_some_and(|it| it == "a0"));
        prop_assert_eq!(listed, meant.count());
    }
    Ok(())
}
