//! Who owns which field, against what a real API server recorded, and as properties of any writes.

#[path = "kubectl/cluster.rs"]
#[allow(dead_code)]
mod cluster;
#[path = "kubectl/recording.rs"]
#[allow(dead_code)]
mod recording;

use std::io::Read;
use std::path::Path;

use cluster::Recorded;
use flate2::read::GzDecoder;
use loopscope_engine::api::{Kind, Name, Object, ObjectKey, Timestamp};
use loopscope_engine::apiserver::{
    Answer, ApiError, ApiServer, Effect, Moment, PatchType, Request, Verb, managed_fields, manager_name, owned_fields,
    read_managed_fields,
};
use loopscope_engine::kubectl::Console;
use loopscope_engine::sim::{Random, Seq, Time};
use proptest::prelude::*;
use recording::Recording;
use serde_json::{Value, json};

struct Server {
    api: ApiServer,
    random: Random,
    wall: i64,
}

impl Server {
    fn new() -> Self {
        let mut server = Self { api: ApiServer::new(), random: Random::new(1), wall: 1_000 };
        let space = Object::from_value(Kind::Namespace, json!({"metadata": {"name": "default"}})).expect("a namespace");
        server.send("setup", Verb::Create(space)).expect("it is created");
        server
    }

    fn send(&mut self, manager: &str, verb: Verb) -> Result<Answer, ApiError> {
        let wall = Timestamp(self.wall);
        let mut moment = Moment { now: Time(0), wall, cause: Seq(1), random: &mut self.random, uid: None };
        self.api.execute(&Request::new(manager_name(manager), verb), &mut moment)
    }

    fn apply(&mut self, manager: &str, kind: Kind, value: &Value, force: bool) -> Result<Answer, ApiError> {
        self.send(manager, Verb::ServerSideApply(kind, "default".into(), value.clone(), force))
    }

    fn live(&self, kind: Kind, name: &str) -> &Object {
        self.api.objects().get(&ObjectKey::new(kind, "default", name)).expect("it is there")
    }
}

fn data(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).expect("it is text");
    serde_json::from_str(&text).expect("it is JSON")
}

/// The managers of a list without their times, and without what reports a status.
fn without_times(list: &[Value], with_status: bool) -> Vec<Value> {
    let kept = list.iter().filter(|it| with_status || it["subresource"] != "status");
    let mut all: Vec<Value> = kept.cloned().collect();
    for it in &mut all {
        it.as_object_mut().expect("an entry").remove("time");
    }
    all.sort_by_key(Value::to_string);
    all
}

/// What was recorded of `managedFields` comes back as it was read.
#[test]
fn recorded_managed_fields_are_read_and_written_back() {
    let mut count = 0;
    for name in ["apply_server_side", "apply_basic"] {
        let recording = data(&format!("kubectl/{name}.json.gz"));
        for change in recording["changes"].as_array().expect("changes") {
            let object = &change["object"];
            let Some(recorded) = object["metadata"]["managedFields"].as_array() else { continue };
            let kind = Kind::find(object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap()).unwrap();
            let mut read = Object::from_value(kind, object.clone()).expect("an object");
            read.meta_mut().managed = read_managed_fields(kind, &object["metadata"]["managedFields"]);
            assert_eq!(&managed_fields(&read), recorded, "{name} {}", change["clock"]);
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

/// Each status that a controller was recorded to write, written here: the same managers, times and all.
#[test]
fn recorded_status_writes_are_owned_as_recorded() {
    let mut count = 0;
    for name in ["apply_server_side", "apply_basic"] {
        let recording = data(&format!("kubectl/{name}.json.gz"));
        let changes = recording["changes"].as_array().expect("changes");
        let of_web: Vec<&Value> = changes.iter().filter(|it| it["object"]["kind"] == "Deployment").collect();
        for pair in of_web.windows(2) {
            let (old, new) = (&pair[0]["object"], &pair[1]["object"]);
            let is_status = old["metadata"]["uid"] == new["metadata"]["uid"]
                && old["spec"] == new["spec"]
                && old["status"] != new["status"]
                && old["metadata"]["namespace"] == "default"
                && pair[1]["type"] == "MODIFIED"
                && pair[0]["type"] != "DELETED";
            if !is_status {
                continue;
            }
            let entry = new["metadata"]["managedFields"].as_array().and_then(|list| {
                list.iter().find(|it| it["manager"] == "kube-controller-manager" && it["subresource"] == "status")
            });
            let Some(time) = entry.and_then(|it| it["time"].as_str()) else { continue };
            let mut server = Server::new();
            server.wall = Timestamp::parse(time).expect("a time").0;
            server.api.restore(Object::from_value(Kind::Deployment, old.clone()).unwrap(), false, Time(0));
            let mut written = Object::from_value(Kind::Deployment, new.clone()).unwrap();
            written.meta_mut().resource_version = 0;
            let answer = server.send("kube-controller-manager", Verb::UpdateStatus(written)).expect("it is written");
            let recorded = new["metadata"]["managedFields"].as_array().unwrap();
            assert_eq!(&managed_fields(&answer.object), recorded, "{name} {}", pair[1]["clock"]);
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
}

/// What each recorded line of kubectl leaves as managers.
#[test]
fn recorded_lines_of_kubectl_leave_the_recorded_managers() {
    let mut count = 0;
    for name in ["apply_server_side", "apply_basic"] {
        let text = data(&format!("kubectl/{name}.json.gz")).to_string();
        let recording = Recording::parse(name, &text);
        let (mut cluster, mut console) = (Recorded::new(&recording), Console::default());
        for (index, step) in recording.steps.iter().enumerate() {
            for (file, text) in &step.files {
                console.write(file, text.clone());
            }
            cluster.place(&recording, index, step.clock);
            let api = |cluster: &Recorded| loopscope_engine::kubectl::Cluster::api(cluster).clone();
            let web = ObjectKey::new(Kind::Deployment, "default", "web");
            let before = api(&cluster).objects().get(&web).map(|it| it.meta().resource_version);
            let until = recording.steps.get(index + 1).map_or(step.clock + 1_000, |it| it.clock);
            console.run(&step.cmd, step.stdin.as_deref(), &mut cluster);
            let ours = api(&cluster);
            let Some(ours) = ours.objects().get(&web).filter(|it| Some(it.meta().resource_version) != before) else {
                continue;
            };
            let ours = without_times(&managed_fields(ours), false);
            let changes = recording.after(step.clock).take_while(|it| it.clock <= until + 100);
            let recorded: Vec<Vec<Value>> = changes
                .filter(|it| it.object["kind"] == "Deployment" && it.object["metadata"]["name"] == "web")
                .map(|it| without_times(it.object["metadata"]["managedFields"].as_array().unwrap(), false))
                .collect();
            assert!(recorded.contains(&ours), "{name} step {index}: {}\n{ours:#?}\n{recorded:#?}", step.cmd);
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}

/// Several appliers of one object, as recorded: what each answer was, and who owns what after it.
#[test]
fn recorded_appliers_conflict_force_share_and_give_up() {
    let mut count = 0;
    for name in ["p_field_managers_conflict", "h23_three_appliers"] {
        let recording = data(&format!("traces/{name}.json.gz"));
        let mut server = Server::new();
        for log in recording["applyLog"].as_array().expect("a log") {
            let action = &recording["actions"][log["actionIndex"].as_u64().unwrap() as usize];
            let (what, op) = (action["action"].as_str().unwrap(), &action["op"]);
            let manager = op["fieldManager"].as_str().unwrap_or_default();
            let answer = match op["type"].as_str().unwrap() {
                "apply" => {
                    let manifest = &recording["manifests"][op["manifest"].as_u64().unwrap() as usize];
                    server.apply(manager, Kind::Deployment, manifest, op["force"] == true)
                }
                "scale" => {
                    let replicas = op["replicas"].as_i64().unwrap() as i32;
                    server.send(manager, Verb::Scale(ObjectKey::new(Kind::Deployment, "default", "web"), replicas))
                }
                other => panic!("{other}"),
            };
            let code = log["httpCode"].as_u64().unwrap();
            match answer {
                Ok(_) => assert!(code < 300, "{name}: {what}: {code}"),
                Err(error) => {
                    assert_eq!(u64::from(error.code()), code, "{name}: {what}");
                    assert_eq!(error.message, log["body"]["message"], "{name}: {what}");
                }
            }
            let live = server.live(Kind::Deployment, "web");
            let recorded = log["managedFieldsAfter"].as_array().unwrap();
            let ours = without_times(&managed_fields(live), false);
            assert_eq!(ours, without_times(recorded, false), "{name}: {what}");
            if let Some(replicas) = log["replicas"].as_i64() {
                assert_eq!(live.to_value()["spec"]["replicas"], replicas, "{name}: {what}");
            }
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}

#[test]
fn an_apply_that_says_the_same_writes_nothing() {
    let recording = data("traces/n_server_side_apply_idempotent.json.gz");
    let mut server = Server::new();
    let mut apply = |manifest: usize| {
        let value = &recording["manifests"][manifest];
        let answer = server.apply("me", Kind::Deployment, value, false).expect("it is applied");
        let meta = answer.object.meta();
        (answer.outcome, meta.generation, meta.resource_version)
    };
    let first = apply(0);
    assert_eq!(first.0, Effect::Created);
    assert_eq!(apply(0), (Effect::Unchanged, 1, first.2));
    assert_eq!(apply(0), (Effect::Unchanged, 1, first.2));
    assert_eq!(apply(1), (Effect::Configured, 1, first.2 + 1), "a label moves the version alone");
    assert_eq!(apply(2), (Effect::Configured, 2, first.2 + 2), "a spec moves both");
}

/// The recorded managers of a pod of a ReplicaSet (recording `get_fresh`, step 119): its maker owns what its template
/// says and the defaults, not what admission adds; who binds it owns nothing.
#[test]
fn a_pod_belongs_to_whom_made_it_and_its_status_to_whom_reports_it() {
    let mut server = Server::new();
    let pod = json!({"metadata": {"generateName": "web-", "labels": {"app": "web"},
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "109f8aae-6ab5-49b5-9e69-453251eeea74", "controller": true}],
        "namespace": "default"},
        "spec": {"containers": [{"name": "app", "image": "app:v1", "resources": {"requests": {"cpu": "100m"}}}]}});
    let object = Object::from_value(Kind::Pod, pod).expect("a pod");
    let made = server.send("kube-controller-manager", Verb::Create(object.clone())).expect("it is made").object;
    let again = server.send("kube-controller-manager", Verb::Create(object)).expect("it is made").object;
    assert!(made.meta().managed.is_same(&again.meta().managed), "pods of one template share their managers");
    let list = managed_fields(&made);
    assert_eq!(list.len(), 1);
    let wanted = json!({
        "f:metadata": {"f:generateName": {}, "f:labels": {".": {}, "f:app": {}},
            "f:ownerReferences": {".": {}, "k:{\"uid\":\"109f8aae-6ab5-49b5-9e69-453251eeea74\"}": {}}},
        "f:spec": {"f:containers": {"k:{\"name\":\"app\"}": {".": {}, "f:image": {}, "f:imagePullPolicy": {},
            "f:name": {}, "f:resources": {".": {}, "f:requests": {".": {}, "f:cpu": {}}},
            "f:terminationMessagePath": {}, "f:terminationMessagePolicy": {}}},
            "f:dnsPolicy": {}, "f:enableServiceLinks": {}, "f:restartPolicy": {}, "f:schedulerName": {},
            "f:securityContext": {}, "f:terminationGracePeriodSeconds": {}}});
    assert_eq!(list[0]["fieldsV1"], wanted);
    let bound = server.send("kube-scheduler", Verb::Bind(made.key(), "node-1".into())).expect("it is bound").object;
    assert_eq!(managed_fields(&bound), list);
    let mut value = bound.to_value();
    value["status"]["podIP"] = json!("10.244.0.4");
    value["status"]["conditions"].as_array_mut().unwrap()[0]["observedGeneration"] = json!(1);
    let ready = json!({"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-30T04:45:32Z"});
    value["status"]["conditions"].as_array_mut().unwrap().push(ready);
    let running = Object::from_value(Kind::Pod, value).expect("a pod");
    let running = server.send("kubelet", Verb::UpdateStatus(running)).expect("it runs").object;
    let list = managed_fields(&running);
    assert_eq!((list[1]["manager"].as_str(), list[1]["subresource"].as_str()), (Some("kubelet"), Some("status")));
    let wanted = json!({"f:status": {"f:podIP": {}, "f:conditions": {
        "k:{\"type\":\"PodScheduled\"}": {"f:observedGeneration": {}},
        "k:{\"type\":\"Ready\"}": {".": {}, "f:lastProbeTime": {}, "f:lastTransitionTime": {}, "f:status": {}, "f:type": {}}}}});
    assert_eq!(list[1]["fieldsV1"], wanted);
}

/// The eleventh writer makes the oldest one part of `ancient-changes`.
#[test]
fn more_than_ten_writers_are_counted_together() {
    let mut server = Server::new();
    let config = json!({"metadata": {"name": "c", "namespace": "default"}, "data": {"k": "v"}});
    server.send("first", Verb::Create(Object::from_value(Kind::ConfigMap, config).unwrap())).expect("it is made");
    for number in 0..11 {
        server.wall += 1;
        let patch = json!({"data": {format!("k{number}"): "v"}});
        let key = ObjectKey::new(Kind::ConfigMap, "default", "c");
        let writer = format!("writer-{number}");
        server.send(&writer, Verb::Patch(key, PatchType::Merge, patch)).expect("it is patched");
    }
    let list = managed_fields(server.live(Kind::ConfigMap, "c"));
    let names: Vec<&str> = list.iter().map(|it| it["manager"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 10, "{names:?}");
    assert_eq!(names[0], "ancient-changes");
    assert!(!names.contains(&"first") && !names.contains(&"writer-0") && names.contains(&"writer-10"));
}

/// A manifest of a Deployment: what is left out is left out.
fn manifest() -> impl Strategy<Value = Value> {
    let container = (0..3_u8, prop::option::of(0..4_u8), prop::option::of(1..3_u16));
    let parts = (
        prop::option::of(0..6_i32),
        prop::collection::btree_map(prop_oneof![Just("a"), Just("b"), Just("c.d/e")], 0..3_u8, 0..3),
        prop::collection::vec(container, 1..3),
        any::<bool>(),
    );
    parts.prop_map(|(replicas, labels, containers, recreate)| {
        let mut all: Vec<Value> = Vec::new();
        for (name, image, port) in containers {
            let name = format!("c{name}");
            if all.iter().any(|it| it["name"] == name.as_str()) {
                continue;
            }
            let mut it = json!({"name": name, "image": format!("app:v{}", image.unwrap_or(0))});
            if let Some(port) = port {
                it["ports"] = json!([{"containerPort": port}]);
            }
            all.push(it);
        }
        let labels: serde_json::Map<String, Value> =
            labels.into_iter().map(|(key, value)| (key.to_string(), value.to_string().into())).collect();
        let mut value = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {"selector": {"matchLabels": {"app": "web"}},
                "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": all}}}});
        if !labels.is_empty() {
            value["metadata"]["labels"] = labels.into();
        }
        if let Some(replicas) = replicas {
            value["spec"]["replicas"] = replicas.into();
        }
        if recreate {
            value["spec"]["strategy"] = json!({"type": "Recreate"});
        }
        value
    })
}

/// One write of the object: by whom, how, and what.
fn deed() -> impl Strategy<Value = (bool, u8, Value)> {
    (any::<bool>(), 0..3_u8, manifest())
}

fn paths(list: &[Value]) -> Vec<String> {
    let mut all = Vec::new();
    for entry in list {
        collect("", &entry["fieldsV1"], &mut all);
    }
    all.sort();
    all.dedup();
    all
}

fn collect(path: &str, tree: &Value, all: &mut Vec<String>) {
    for (step, below) in tree.as_object().into_iter().flatten() {
        let path = if step == "." { path.to_string() } else { format!("{path}\u{1}{step}") };
        if below.as_object().is_some_and(|it| it.is_empty()) {
            all.push(path);
        } else {
            collect(&path, below, all);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn applying_twice_is_applying_once(first in manifest(), deeds in prop::collection::vec(deed(), 0..5), last in manifest()) {
        let mut server = Server::new();
        server.apply("zero", Kind::Deployment, &first, true).expect("it is applied");
        for (is_apply, who, value) in deeds {
            let who = format!("m{who}");
            server.wall += 1;
            let verb = if is_apply {
                Verb::ServerSideApply(Kind::Deployment, "default".into(), value, true)
            } else {
                Verb::Apply(Kind::Deployment, "default".into(), value)
            };
            // Some are refused: two containers may want one port.
            let _ = server.send(&who, verb);
        }
        server.wall += 1;
        if server.apply("last", Kind::Deployment, &last, true).is_ok() {
            let version = server.live(Kind::Deployment, "web").meta().resource_version;
            server.wall += 1;
            let again = server.apply("last", Kind::Deployment, &last, false).expect("nobody else owns it");
            prop_assert_eq!(again.outcome, Effect::Unchanged);
            prop_assert_eq!(again.object.meta().resource_version, version);
            // All that it says is so, and its own.
            let managed = managed_fields(&again.object);
            let own: Vec<Value> = managed.iter().filter(|it| it["manager"] == "last").cloned().collect();
            let mut alone = Server::new();
            alone.apply("last", Kind::Deployment, &last, true).expect("it is applied");
            prop_assert_eq!(paths(&own), paths(&managed_fields(alone.live(Kind::Deployment, "web"))));
        }
    }

    #[test]
    fn who_creates_owns_exactly_the_fields_that_are_set(value in manifest()) {
        let mut server = Server::new();
        let mut value = value;
        value["metadata"]["namespace"] = "default".into();
        let object = Object::from_value(Kind::Deployment, value).expect("a Deployment");
        let made = server.send("maker", Verb::Create(object)).expect("it is made").object;
        let managed = &made.meta().managed;
        prop_assert_eq!(managed.entries().len(), 1);
        let owned: Vec<String> =
            managed.entries()[0].fields.iter().map(|it| loopscope_engine::api::path_text(it)).collect();
        for path in owned_fields(&made.to_value()).keys() {
            prop_assert!(owned.iter().any(|it| it.as_str() == path.as_str()), "nobody owns {}", path);
        }
        // Beside values only the maps and items around them, and what Go writes always.
        let set: Vec<Name> = owned_fields(&made.to_value()).keys().cloned().collect();
        for path in owned {
            let holds = set.iter().any(|it| it.starts_with(&path));
            prop_assert!(holds || path.ends_with(".resources"), "{} is owned and not there", path);
        }
    }

    #[test]
    fn no_field_is_owned_that_is_not_there_and_none_changes_without_its_writer(
        first in manifest(), deeds in prop::collection::vec(deed(), 1..6)
    ) {
        let mut server = Server::new();
        server.apply("zero", Kind::Deployment, &first, true).expect("it is applied");
        for (is_apply, who, value) in deeds {
            let who = format!("m{who}");
            server.wall += 1;
            let before = server.live(Kind::Deployment, "web").clone();
            let verb = if is_apply {
                Verb::ServerSideApply(Kind::Deployment, "default".into(), value, true)
            } else {
                Verb::Apply(Kind::Deployment, "default".into(), value)
            };
            let Ok(answer) = server.send(&who, verb) else { continue };
            let (old, new) = (owned_fields(&before.to_value()), owned_fields(&answer.object.to_value()));
            let operation = if is_apply { "Apply" } else { "Update" };
            for (path, value) in new.iter().filter(|(path, value)| old.get(*path) != Some(value)) {
                let owners = answer.object.meta().managed.entries().iter().filter(|it| {
                    it.fields.iter().any(|it| loopscope_engine::api::path_text(it) == path.as_str())
                });
                let owners: Vec<(&str, &str)> = owners.map(|it| (it.by.manager, it.by.operation)).collect();
                // What falls back to its default when an applier gives it up is nobody's.
                let is_defaulted = is_apply && owners.is_empty();
                prop_assert!(
                    is_defaulted || owners == [(who.as_str(), operation)],
                    "{} became {} by {}, and belongs to {:?}", path, value, who, owners
                );
            }
            for entry in answer.object.meta().managed.entries() {
                for path in entry.fields.iter() {
                    let text = loopscope_engine::api::path_text(path);
                    let holds = new.keys().any(|it| it.starts_with(&text)) || text.ends_with(".resources");
                    prop_assert!(holds, "{} owns {} which is not there", entry.by.manager, text);
                }
            }
        }
    }
}

/// A field that was there before it was applied, and belongs to whom it came from as well, stays when the applier gives
/// it up; one that nobody else owns goes, with its defaults.
#[test]
fn what_somebody_else_owns_stays_when_it_is_given_up() {
    let mut server = Server::new();
    let mut value = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app", "image": "app:v1"}]}}}});
    let made = Object::from_value(Kind::Deployment, value.clone()).expect("a Deployment");
    server.send("maker", Verb::Create(made)).expect("it is made");
    value["metadata"]["labels"] = json!({"team": "a"});
    value["spec"]["template"]["spec"]["containers"][0]["tty"] = json!(true);
    server.apply("git", Kind::Deployment, &value, false).expect("values are equal");
    let less = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}});
    let left = server.apply("git", Kind::Deployment, &less, false).expect("it is given up").object;
    let left_value = left.to_value();
    assert_eq!((&left_value["spec"]["replicas"], &left_value["metadata"]["labels"]), (&json!(3), &Value::Null));
    assert_eq!(left_value["spec"]["template"]["spec"]["containers"][0]["tty"], Value::Null);
    let owners: Vec<&str> = left.meta().managed.entries().iter().map(|it| it.by.manager).collect();
    assert_eq!(owners, ["maker"]);
}
