//! What the API server refuses and how it patches and deletes, in Kubernetes' own codes and words.

use loopscope_engine::api::{Kind, ManagedEntry, Name, Object, ObjectKey, Timestamp, Uid, path_text};
use loopscope_engine::apiserver::{
    Answer, ApiError, ApiServer, DeleteOptions, Effect, Moment, PatchType, Propagation, Request, Verb,
};
use loopscope_engine::sim::{Random, Seq, Time};
use serde_json::{Value, json};

/// An API server with the namespaces `default` and `shop`, and a Deployment `web`.
struct Server {
    api: ApiServer,
    random: Random,
    seconds: i64,
}

impl Server {
    fn new() -> Self {
        let mut server = Self { api: ApiServer::default(), random: Random::new(1), seconds: 1_000 };
        for name in ["default", "shop", "kube-system"] {
            server.create(Kind::Namespace, json!({"metadata": {"name": name}})).expect("a namespace");
        }
        server.create(Kind::Deployment, web()).expect("a Deployment");
        server
    }

    fn ask(&mut self, verb: Verb) -> Result<Answer, ApiError> {
        self.seconds += 1;
        let wall = Timestamp(self.seconds);
        let now = Time(u64::try_from(self.seconds).expect("positive") * 1_000);
        let mut moment = Moment { now, wall, cause: Seq(1), random: &mut self.random, uid: None };
        self.api.execute(&Request::new("test", verb), &mut moment)
    }

    fn create(&mut self, kind: Kind, value: Value) -> Result<Answer, ApiError> {
        self.ask(Verb::Create(Object::from_value(kind, value).expect("it can be read")))
    }

    fn patch(&mut self, key: &ObjectKey, kind: PatchType, patch: Value) -> Result<Answer, ApiError> {
        self.ask(Verb::Patch(key.clone(), kind, patch))
    }

    fn delete(&mut self, key: &ObjectKey, options: DeleteOptions) -> Result<Answer, ApiError> {
        self.ask(Verb::Delete(key.clone(), options))
    }

    fn live(&self, key: &ObjectKey) -> Object {
        self.api.objects().get(key).cloned().expect("it is there")
    }
}

fn web() -> Value {
    json!({"metadata": {"name": "web", "namespace": "default"}, "spec": {"replicas": 3,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "app", "image": "app:v1"}, {"name": "side", "image": "side:v1"}]}}}})
}

fn pod(name: &str, namespace: &str, labels: Value) -> Value {
    json!({"metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"containers": [{"name": "app", "image": "app:v1"}]}})
}

fn key(kind: Kind, name: &str) -> ObjectKey {
    ObjectKey::new(kind, if kind.is_namespaced() { "default" } else { "" }, name)
}

#[track_caller]
fn refused(result: Result<Answer, ApiError>, code: u16, message: &str) {
    let error = result.expect_err("it is refused");
    assert_eq!((error.code(), error.message.as_str()), (code, message));
}

const MODIFIED: &str = "Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please apply your changes to the latest version and try again";

#[test]
fn a_selector_cannot_be_changed() {
    let mut server = Server::new();
    let patch = json!({"spec": {"selector": {"matchLabels": {"app": "other"}},
        "template": {"metadata": {"labels": {"app": "other"}}}}});
    let result = server.patch(&key(Kind::Deployment, "web"), PatchType::Merge, patch);
    let message = "Deployment.apps \"web\" is invalid: spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"other\"}}: field is immutable";
    refused(result, 422, message);
}

#[test]
fn what_a_workload_selects_cannot_be_changed_in_any_kind() {
    let mut server = Server::new();
    let labels = json!({"app": "x"});
    let template = json!({"metadata": {"labels": labels},
        "spec": {"containers": [{"name": "app", "image": "app:v1"}]}});
    let other = json!({"spec": {"selector": {"matchLabels": {"app": "y"}},
        "template": {"metadata": {"labels": {"app": "y"}}}}});
    let immutable = "is invalid: spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"y\"}}: field is immutable";
    let fields = "is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
    for (kind, message) in [(Kind::ReplicaSet, immutable), (Kind::DaemonSet, immutable), (Kind::StatefulSet, fields)] {
        let value = json!({"metadata": {"name": "x", "namespace": "default"},
            "spec": {"selector": {"matchLabels": labels}, "template": template}});
        server.create(kind, value).expect("it is created");
        let message = format!("{}.apps \"x\" {message}", kind.name());
        refused(server.patch(&key(kind, "x"), PatchType::Merge, other.clone()), 422, &message);
    }
}

#[test]
fn a_job_keeps_its_completions_and_its_template() {
    let mut server = Server::new();
    let job = json!({"metadata": {"name": "j", "namespace": "default"}, "spec": {"completions": 3,
        "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "app", "image": "app:v1"}]}}}});
    server.create(Kind::Job, job).expect("a Job");
    let job = key(Kind::Job, "j");
    let message = "Job.batch \"j\" is invalid: spec.completions: Invalid value: 4: field is immutable";
    refused(server.patch(&job, PatchType::Merge, json!({"spec": {"completions": 4}})), 422, message);
    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "app:v2"}]}}}});
    let error = server.patch(&job, PatchType::Strategic, image.clone()).expect_err("it is refused");
    assert_eq!(error.code(), 422);
    assert!(error.message.starts_with("Job.batch \"j\" is invalid: spec.template: Invalid value: {"), "{error}");
    assert!(error.message.ends_with(": field is immutable"), "{error}");
    server.patch(&job, PatchType::Merge, json!({"spec": {"parallelism": 2, "suspend": true}})).expect("these may");
    server.patch(&job, PatchType::Strategic, image).expect("it waits");
}

#[test]
fn a_rollout_that_could_neither_surge_nor_lack_a_pod_is_refused() {
    let mut server = Server::new();
    let patch = json!({"spec": {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}}});
    let result = server.patch(&key(Kind::Deployment, "web"), PatchType::Strategic, patch);
    let message = "Deployment.apps \"web\" is invalid: spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0";
    refused(result, 422, message);
}

#[test]
fn a_stale_version_is_refused_in_every_kind_of_write() {
    let mut server = Server::new();
    let web = key(Kind::Deployment, "web");
    let stale = server.live(&web);
    server.ask(Verb::Scale(web.clone(), 5)).expect("it is scaled");
    refused(server.ask(Verb::Update(stale.clone())), 409, MODIFIED);
    refused(server.ask(Verb::UpdateStatus(stale.clone())), 409, MODIFIED);
    let version = stale.meta().resource_version.to_string();
    let patch = json!({"metadata": {"resourceVersion": version}, "spec": {"replicas": 9}});
    refused(server.patch(&web, PatchType::Merge, patch.clone()), 409, MODIFIED);
    refused(server.patch(&web, PatchType::Strategic, patch), 409, MODIFIED);
    let patch = json!([{"op": "replace", "path": "/metadata/resourceVersion", "value": version},
        {"op": "replace", "path": "/spec/replicas", "value": 9}]);
    refused(server.patch(&web, PatchType::Json, patch), 409, MODIFIED);
    let mut manifest = self::web();
    manifest["metadata"]["resourceVersion"] = json!("1");
    refused(server.ask(Verb::Apply(Kind::Deployment, "default".into(), manifest)), 409, MODIFIED);
    assert_eq!(server.live(&web).as_deployment().expect("a Deployment").spec.wanted(), 5);
}

#[test]
fn preconditions_of_a_deletion_and_of_a_patch_name_the_object_that_is_meant() {
    let mut server = Server::new();
    let web = key(Kind::Deployment, "web");
    let live = server.live(&web).meta().clone();
    let wrong = Uid(0x0123_4567_89ab_4cde_8f01_2345_6789_abcd);
    let result = server.delete(&web, DeleteOptions { uid: Some(wrong), ..DeleteOptions::default() });
    let message = format!(
        "Operation cannot be fulfilled on deployments.apps \"web\": the UID in the precondition ({wrong}) does not match the UID in record ({}). The object might have been deleted and then recreated",
        live.uid
    );
    refused(result, 409, &message);
    let result = server.delete(&web, DeleteOptions { resource_version: Some(1), ..DeleteOptions::default() });
    let message = format!(
        "Operation cannot be fulfilled on deployments.apps \"web\": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record ({}). The object might have been modified",
        live.resource_version
    );
    refused(result, 409, &message);
    let mut stale = server.live(&web);
    stale.meta_mut().uid = wrong;
    let message = format!(
        "Operation cannot be fulfilled on deployments.apps \"web\": Precondition failed: UID in precondition: {wrong}, UID in object meta: {}",
        live.uid
    );
    refused(server.ask(Verb::Update(stale)), 409, &message);
    let patch = json!({"metadata": {"uid": wrong.to_string()}});
    let message =
        format!("Deployment.apps \"web\" is invalid: metadata.uid: Invalid value: \"{wrong}\": field is immutable");
    refused(server.patch(&web, PatchType::Merge, patch), 422, &message);
}

#[test]
fn an_object_has_at_most_one_controller() {
    let mut server = Server::new();
    let owner = |name: &str, uid: u128, controller: bool| json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": Uid(uid).to_string(), "controller": controller, "blockOwnerDeletion": true});
    let mut owned = pod("p", "default", json!({}));
    owned["metadata"]["ownerReferences"] = json!([owner("a", 1, true), owner("b", 2, false)]);
    server.create(Kind::Pod, owned).expect("one of two owners is its controller");
    let second = json!({"metadata": {"ownerReferences": [owner("c", 3, true)]}});
    let message = "Pod \"p\" is invalid: metadata.ownerReferences: Invalid value: [{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"a\",\"uid\":\"00000000-0000-0000-0000-000000000001\",\"controller\":true,\"blockOwnerDeletion\":true},{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"b\",\"uid\":\"00000000-0000-0000-0000-000000000002\",\"blockOwnerDeletion\":true},{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"c\",\"uid\":\"00000000-0000-0000-0000-000000000003\",\"controller\":true,\"blockOwnerDeletion\":true}]: Only one reference can have Controller set to true. Found \"true\" in references for ReplicaSet/a and ReplicaSet/c";
    refused(server.patch(&key(Kind::Pod, "p"), PatchType::Strategic, second), 422, message);
    let mut nobody = pod("q", "default", json!({}));
    nobody["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "v1", "kind": "", "name": "x", "uid": Uid(4).to_string()}]);
    let message = "Pod \"q\" is invalid: metadata.ownerReferences.kind: Invalid value: \"\": must not be empty";
    refused(server.create(Kind::Pod, nobody), 422, message);
}

#[test]
fn nothing_is_created_in_a_namespace_that_goes() {
    let mut server = Server::new();
    let shop = key(Kind::Namespace, "shop");
    assert_eq!(server.delete(&shop, DeleteOptions::default()).expect("it begins").outcome, Effect::Deleting);
    assert_eq!(server.live(&shop).as_namespace().expect("a namespace").status.phase, "Terminating");
    let message =
        "pods \"p\" is forbidden: unable to create new content in namespace shop because it is being terminated";
    refused(server.create(Kind::Pod, pod("p", "shop", json!({}))), 403, message);
    let mut late = web();
    late["metadata"] = json!({"name": "late", "namespace": "shop"});
    let message = "deployments.apps \"late\" is forbidden: unable to create new content in namespace shop because it is being terminated";
    refused(server.create(Kind::Deployment, late), 403, message);
    let message = "object is being deleted: namespaces \"shop\" already exists";
    refused(server.create(Kind::Namespace, json!({"metadata": {"name": "shop"}})), 409, message);
    refused(server.create(Kind::Pod, pod("p", "nope", json!({}))), 404, "namespaces \"nope\" not found");
    let message = "namespaces \"kube-system\" is forbidden: this namespace may not be deleted";
    refused(server.delete(&key(Kind::Namespace, "kube-system"), DeleteOptions::default()), 403, message);
    assert_eq!(server.ask(Verb::Finalize(shop.clone())).expect("it is empty").outcome, Effect::Deleted);
    assert!(server.api.objects().get(&shop).is_none());
}

#[test]
fn a_priority_class_gives_the_priority_and_must_exist() {
    let mut server = Server::new();
    let with = |class: &str, priority: Option<i32>| {
        let mut pod = pod("p", "default", json!({}));
        pod["spec"]["priorityClassName"] = class.into();
        pod["spec"]["priority"] = json!(priority);
        pod
    };
    let message = "pods \"p\" is forbidden: no PriorityClass with name nope was found";
    refused(server.create(Kind::Pod, with("nope", None)), 403, message);
    let class = json!({"metadata": {"name": "high"}, "value": 1000, "preemptionPolicy": "Never"});
    server.create(Kind::PriorityClass, class).expect("a class");
    let message = "pods \"p\" is forbidden: the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 1000 from the given PriorityClass name";
    refused(server.create(Kind::Pod, with("high", Some(7))), 403, message);
    let created = server.create(Kind::Pod, with("high", None)).expect("it is there now").object.to_value();
    assert_eq!(created["spec"]["priority"], json!(1000));
    assert_eq!(created["spec"]["preemptionPolicy"], json!("Never"));
    let class = json!({"metadata": {"name": "usual"}, "value": 10, "globalDefault": true});
    server.create(Kind::PriorityClass, class).expect("a class");
    let created = server.create(Kind::Pod, pod("q", "default", json!({}))).expect("a pod").object.to_value();
    assert_eq!((&created["spec"]["priority"], &created["spec"]["priorityClassName"]), (&json!(10), &json!("usual")));
}

#[test]
fn a_quota_that_is_full_refuses_and_one_that_is_not_counts() {
    let mut server = Server::new();
    let quota = json!({"metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": {"pods": "1"}}});
    let mut quota = server.create(Kind::ResourceQuota, quota).expect("a quota").object.to_value();
    let message = "pods \"p\" is forbidden: status unknown for quota: q, resources: pods";
    refused(server.create(Kind::Pod, pod("p", "default", json!({}))), 403, message);
    quota["status"] = json!({"hard": {"pods": "1"}, "used": {"pods": "0"}});
    let quota = Object::from_value(Kind::ResourceQuota, quota).expect("a quota");
    server.ask(Verb::UpdateStatus(quota)).expect("counted");
    server.create(Kind::Pod, pod("p", "default", json!({}))).expect("the first fits");
    let used = server.live(&key(Kind::ResourceQuota, "q")).to_value();
    assert_eq!(used["status"]["used"]["pods"], json!("1"));
    let message = "pods \"p2\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1";
    refused(server.create(Kind::Pod, pod("p2", "default", json!({}))), 403, message);
}

/// Recordings `get_quota_exceeded` and `apply_errors`.
#[test]
fn a_quota_that_was_lowered_and_one_on_cpu_say_why_they_refuse() {
    let mut server = Server::new();
    let quota = |pods: &str| {
        let hard = json!({"pods": pods, "requests.cpu": "2"});
        let status = json!({"hard": hard, "used": {"pods": "4", "requests.cpu": "1"}});
        json!({"metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": hard}, "status": status})
    };
    server.create(Kind::ResourceQuota, quota("1")).expect("a quota");
    let counted = Object::from_value(Kind::ResourceQuota, quota("1")).expect("a quota");
    server.ask(Verb::UpdateStatus(counted)).expect("counted");
    let message = "pods \"extra\" is forbidden: failed quota: q: must specify requests.cpu for: app";
    refused(server.create(Kind::Pod, pod("extra", "default", json!({}))), 403, message);
    let mut asking = pod("p2", "default", json!({}));
    asking["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "100m"}});
    let message = "pods \"p2\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=4, limited: pods=1";
    refused(server.create(Kind::Pod, asking.clone()), 403, message);
    asking["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1500m"}});
    let counted = Object::from_value(Kind::ResourceQuota, quota("10")).expect("a quota");
    server.ask(Verb::UpdateStatus(counted)).expect("counted");
    let message = "pods \"p2\" is forbidden: exceeded quota: q, requested: requests.cpu=1500m, used: requests.cpu=1, limited: requests.cpu=2";
    refused(server.create(Kind::Pod, asking), 403, message);
}

#[test]
fn an_eviction_asks_the_budget_and_takes_from_it() {
    let mut server = Server::new();
    let labels = json!({"app": "web"});
    for name in ["a", "b"] {
        let mut running =
            server.create(Kind::Pod, pod(name, "default", labels.clone())).expect("a pod").object.to_value();
        running["status"] = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
        server.ask(Verb::UpdateStatus(Object::from_value(Kind::Pod, running).expect("a pod"))).expect("it runs");
    }
    let budget = json!({"metadata": {"name": "web", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}}});
    let mut budget = server.create(Kind::PodDisruptionBudget, budget).expect("a budget").object.to_value();
    let message = "Cannot evict pod as it would violate the pod's disruption budget.";
    let evict = |name: &str| Verb::Evict(key(Kind::Pod, name), DeleteOptions::default());
    refused(server.ask(evict("a")), 429, message);
    budget["status"] = json!({"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 2,
        "desiredHealthy": 1, "expectedPods": 2});
    let budget = Object::from_value(Kind::PodDisruptionBudget, budget).expect("a budget");
    server.ask(Verb::UpdateStatus(budget)).expect("counted");
    let evicted = server.ask(evict("a")).expect("one may go").object.to_value();
    let target = evicted["status"]["conditions"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
    assert_eq!((&target["type"], &target["reason"]), (&json!("DisruptionTarget"), &json!("EvictionByEvictionAPI")));
    assert_eq!(target["message"], json!("Eviction API: evicting"));
    let status = server.live(&key(Kind::PodDisruptionBudget, "web")).to_value()["status"].clone();
    assert_eq!(
        (&status["disruptionsAllowed"], &status["conditions"][0]["reason"]),
        (&json!(0), &json!("InsufficientPods"))
    );
    assert!(status["disruptedPods"].get("a").is_some());
    refused(server.ask(evict("b")), 429, message);
    refused(server.ask(evict("c")), 404, "pods \"c\" not found");
    let second = json!({"metadata": {"name": "two", "namespace": "default"}, "spec": {"selector": {}}});
    server.create(Kind::PodDisruptionBudget, second).expect("another budget");
    let message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    refused(server.ask(evict("b")), 500, message);
}

#[test]
fn a_strategic_patch_finds_containers_by_name_where_a_merge_patch_replaces_the_list() {
    let mut server = Server::new();
    let web = key(Kind::Deployment, "web");
    let patch = json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "app:v2"}]}}}});
    let images = |server: &Server| {
        let deployment = server.live(&key(Kind::Deployment, "web"));
        let containers = deployment.as_deployment().expect("a Deployment").spec.template.spec.containers.clone();
        containers.iter().map(|it| it.image.clone()).collect::<Vec<_>>()
    };
    let answer = server.patch(&web, PatchType::Strategic, patch.clone()).expect("it applies");
    assert_eq!((answer.object.meta().generation, images(&server)), (2, vec!["app:v2".to_string(), "side:v1".into()]));
    let again = server.patch(&web, PatchType::Strategic, patch.clone()).expect("it applies");
    assert_eq!(again.outcome, Effect::Unchanged);
    server.patch(&web, PatchType::Merge, patch).expect("it applies");
    assert_eq!(images(&server), ["app:v2"]);
    let rename = json!([{"op": "replace", "path": "/metadata/name", "value": "other"}]);
    let message = "the name of the object (other) does not match the name on the URL (web)";
    refused(server.patch(&web, PatchType::Json, rename), 400, message);
    let wrong = json!([{"op": "test", "path": "/spec/replicas", "value": 4}]);
    let message = "the server rejected our request due to an error in our request";
    refused(server.patch(&web, PatchType::Json, wrong), 422, message);
}

#[test]
fn finalizers_hold_an_object_under_deletion_until_the_last_is_gone() {
    let mut server = Server::new();
    let web = key(Kind::Deployment, "web");
    let hold = json!({"metadata": {"finalizers": ["example.com/hold"]}});
    server.patch(&web, PatchType::Merge, hold).expect("it is held");
    let options = DeleteOptions { propagation: Some(Propagation::Foreground), ..DeleteOptions::default() };
    let answer = server.delete(&web, options).expect("it begins");
    let meta = answer.object.meta();
    assert_eq!((answer.outcome, meta.generation, meta.deletion_grace_period_seconds), (Effect::Deleting, 2, Some(0)));
    assert_eq!(meta.finalizers, ["example.com/hold", "foregroundDeletion"]);
    assert_eq!(server.delete(&web, DeleteOptions::default()).expect("it goes on").outcome, Effect::Unchanged);
    let more = json!({"metadata": {"finalizers": ["example.com/late"]}});
    let message = "Deployment.apps \"web\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"example.com/late\"}";
    refused(server.patch(&web, PatchType::Strategic, more), 422, message);
    let one = json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["foregroundDeletion"]}});
    assert_eq!(server.patch(&web, PatchType::Strategic, one).expect("one is gone").outcome, Effect::Configured);
    let none = json!({"metadata": {"finalizers": null}});
    assert_eq!(server.patch(&web, PatchType::Merge, none).expect("none is left").outcome, Effect::Deleted);
    assert!(server.api.objects().get(&web).is_none());
}

#[test]
fn writes_leave_the_names_of_those_who_made_them() {
    let mut server = Server::new();
    let web = key(Kind::Deployment, "web");
    server.ask(Verb::Scale(web.clone(), 5)).expect("it is scaled");
    let managed = &server.api.objects().get(&web).expect("it is there").meta().managed;
    let owners = |text: &str| -> Vec<(&str, &str)> {
        let owns = |it: &&ManagedEntry| it.fields.iter().any(|path| path_text(path) == text);
        managed.entries().iter().filter(owns).map(|it| (it.by.manager, it.by.subresource)).collect()
    };
    assert_eq!(owners(".spec.replicas"), [("test", "scale")]);
    assert_eq!(owners(".spec.template.spec.containers[name=\"app\"].image"), [("test", "")]);
}

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// What `kubectl apply` remembers is in the annotation and nowhere else: recording `kubectl/apply_basic`.
#[test]
fn apply_goes_by_the_annotation_of_the_live_object() {
    let mut server = Server::new();
    let config = |value: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1", "b": value}});
    let apply = |server: &mut Server, value: Value| {
        let verb = Verb::Apply(Kind::ConfigMap, Name::from("default"), value);
        server.ask(verb).expect("it is applied").object.to_value()
    };
    let first = apply(&mut server, config("2"));
    let remembered = first.pointer("/metadata/annotations").and_then(|it| it.get(LAST_APPLIED)).expect("remembered");
    assert_eq!(
        remembered,
        "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"1\",\"b\":\"2\"},\"kind\":\"ConfigMap\",\"metadata\":{\"annotations\":{},\"name\":\"c\",\"namespace\":\"default\"}}\n"
    );
    // Read from the cluster, changed and applied again: what it brings along is not remembered within itself.
    let mut pasted = first.clone();
    pasted["data"].as_object_mut().expect("data").remove("b");
    let second = apply(&mut server, pasted);
    assert_eq!(second["data"], json!({"a": "1"}), "b was applied before and is not any more");
    let text = second["metadata"]["annotations"][LAST_APPLIED].as_str().expect("text");
    assert!(!text.contains("last-applied"), "{text}");
    // An annotation that somebody else wrote counts: `c` was applied, so it goes; `d` was not, so it stays.
    let written = "{\"data\":{\"a\":\"1\",\"c\":\"3\"}}";
    let key = ObjectKey::new(Kind::ConfigMap, "default", "c");
    let patch = json!({"data": {"c": "3", "d": "4"}, "metadata": {"annotations": {LAST_APPLIED: written}}});
    server.patch(&key, PatchType::Merge, patch).expect("it is patched");
    let third = apply(&mut server, config("5"));
    assert_eq!(third["data"], json!({"a": "1", "b": "5", "d": "4"}));
}
