//! Containers and volumes, of pods and of their templates.

use serde_json::Value;

use super::super::time;
use super::super::value::{at, flag, has, int, list, map, or_none, plain, text};
use super::Writer;
use crate::sim::sort_by;

/// Containers with what the kubelet says of them, where it does.
pub fn describe(
    w: &mut Writer,
    title: &str,
    all: &[Value],
    statuses: Option<&[Value]>,
    pod: Option<&Value>,
    indent: &str,
) {
    w.line(0, &[indent, title, ":"]);
    let shift = if indent.is_empty() { "" } else { " " };
    for it in all {
        let name = text(it, "name");
        let status = statuses.and_then(|all| all.iter().find(|status| text(status, "name") == name));
        w.line(1, &[shift, name, ":"]);
        basics(w, it, status);
        for (field, title) in [("command", "Command:"), ("args", "Args:")] {
            let words = list(it, field);
            if !words.is_empty() {
                w.line(2, &[title]);
            }
            for line in words.iter().filter_map(Value::as_str).flat_map(|word| word.split('\n')) {
                w.line(3, &[line]);
            }
        }
        if let Some(status) = status {
            state(w, "State", at(status, "state"));
            if has(status, "lastState.terminated") {
                state(w, "Last State", at(status, "lastState"));
            }
            w.line(2, &["Ready:\t", if flag(status, "ready") { "True" } else { "False" }]);
            w.line(2, &["Restart Count:\t", &int(status, "restartCount").to_string()]);
        }
        for (field, title) in [("limits", "Limits:"), ("requests", "Requests:")] {
            let amounts = map(it, &["resources.", field].concat());
            if amounts.is_some_and(|it| !it.is_empty()) {
                w.line(2, &[title]);
            }
            for (name, amount) in amounts.into_iter().flatten() {
                w.line(3, &[name, ":\t", &plain(amount)]);
            }
        }
        for (field, title) in
            [("livenessProbe", "Liveness:\t"), ("readinessProbe", "Readiness:\t"), ("startupProbe", "Startup:\t")]
        {
            if has(it, field) {
                w.line(2, &[title, &probe(at(it, field))]);
            }
        }
        environment(w, it, pod);
        mounts(w, it);
    }
}

fn basics(w: &mut Writer, it: &Value, status: Option<&Value>) {
    if let Some(status) = status {
        w.line(2, &["Container ID:\t", text(status, "containerID")]);
    }
    w.line(2, &["Image:\t", text(it, "image")]);
    if let Some(status) = status {
        w.line(2, &["Image ID:\t", text(status, "imageID")]);
    }
    let ports = |field: &str| {
        let each = list(it, "ports").iter().map(|port| {
            let protocol = match text(port, "protocol") {
                "" => "TCP",
                protocol => protocol,
            };
            let number = [&int(port, field).to_string(), "/", protocol].concat();
            let name = text(port, "name");
            if name.is_empty() { number } else { [&number, " (", name, ")"].concat() }
        });
        each.collect::<Vec<_>>().join(", ")
    };
    for (field, title) in [("containerPort", "Port"), ("hostPort", "Host Port")] {
        let all = ports(field);
        let many = if all.contains(',') { "s" } else { "" };
        w.line(2, &[title, many, ":\t", &or_none(all)]);
    }
}

fn state(w: &mut Writer, title: &str, state: &Value) {
    let date = |it: &Value, field: &str| time::date(text(it, field));
    if has(state, "running") {
        w.line(2, &[title, ":\tRunning"]);
        w.line(3, &["Started:\t", &date(at(state, "running"), "startedAt")]);
    } else if has(state, "terminated") {
        let it = at(state, "terminated");
        w.line(2, &[title, ":\tTerminated"]);
        for (field, name) in [("reason", "Reason:\t"), ("message", "Message:\t")] {
            if !text(it, field).is_empty() {
                w.line(3, &[name, text(it, field)]);
            }
        }
        w.line(3, &["Exit Code:\t", &int(it, "exitCode").to_string()]);
        if int(it, "signal") > 0 {
            w.line(3, &["Signal:\t", &int(it, "signal").to_string()]);
        }
        w.line(3, &["Started:\t", &date(it, "startedAt")]);
        w.line(3, &["Finished:\t", &date(it, "finishedAt")]);
    } else {
        w.line(2, &[title, ":\tWaiting"]);
        let reason = text(state, "waiting.reason");
        if !reason.is_empty() {
            w.line(3, &["Reason:\t", reason]);
        }
    }
}

/// `http-get http://:8080/ready delay=0s timeout=1s period=10s #success=1 #failure=3`
fn probe(it: &Value) -> String {
    let number = |field: &str, usual: i64| at(it, field).as_i64().unwrap_or(usual).to_string();
    let times = [
        " delay=",
        &number("initialDelaySeconds", 0),
        "s timeout=",
        &number("timeoutSeconds", 1),
        "s period=",
        &number("periodSeconds", 10),
        "s #success=",
        &number("successThreshold", 1),
        " #failure=",
        &number("failureThreshold", 3),
    ]
    .concat();
    let how = if has(it, "exec") {
        let words: Vec<&str> = list(it, "exec.command").iter().filter_map(Value::as_str).collect();
        ["exec [", &words.join(" "), "]"].concat()
    } else if has(it, "httpGet") {
        let get = at(it, "httpGet");
        let scheme = text(get, "scheme").to_ascii_lowercase();
        let scheme = if scheme.is_empty() { "http".into() } else { scheme };
        let path = text(get, "path");
        let slash = if path.is_empty() || path.starts_with('/') { "" } else { "/" };
        ["http-get ", &scheme, "://", text(get, "host"), ":", &plain(at(get, "port")), slash, path].concat()
    } else if has(it, "tcpSocket") {
        ["tcp-socket ", text(it, "tcpSocket.host"), ":", &plain(at(it, "tcpSocket.port"))].concat()
    } else if has(it, "grpc") {
        ["grpc <pod>:", &plain(at(it, "grpc.port")), " ", text(it, "grpc.service")].concat()
    } else {
        "unknown".into()
    };
    how + &times
}

fn optional(it: &Value) -> &'static str {
    if flag(it, "optional") { "true" } else { "false" }
}

fn environment(w: &mut Writer, it: &Value, pod: Option<&Value>) {
    let from = list(it, "envFrom");
    if !from.is_empty() {
        w.line(2, &["Environment Variables from:"]);
    }
    for it in from {
        let (reference, kind) = match has(it, "secretRef") {
            true => (at(it, "secretRef"), "Secret"),
            false => (at(it, "configMapRef"), "ConfigMap"),
        };
        let prefix = text(it, "prefix");
        let with = if prefix.is_empty() { String::new() } else { [" with prefix '", prefix, "'"].concat() };
        w.line(3, &[text(reference, "name"), "\t", kind, &with, "\tOptional: ", optional(reference)]);
    }
    let env = list(it, "env");
    w.line(2, &["Environment:", if env.is_empty() { "\t<none>" } else { "" }]);
    for it in env {
        let name = text(it, "name");
        let from = at(it, "valueFrom");
        if has(from, "fieldRef") {
            let path = text(from, "fieldRef.fieldPath");
            let found = pod.map_or(String::new(), |pod| plain(at(pod, path)));
            let version = match text(from, "fieldRef.apiVersion") {
                "" => "v1",
                version => version,
            };
            w.line(3, &[name, ":\t", &found, " (", version, ":", path, ")"]);
        } else if has(from, "resourceFieldRef") {
            w.line(3, &[name, ":\t (", text(from, "resourceFieldRef.resource"), ")"]);
        } else if has(from, "secretKeyRef") {
            let of = at(from, "secretKeyRef");
            let told = [":\t<set to the key '", text(of, "key"), "' in secret '", text(of, "name"), "'>"].concat();
            w.line(3, &[name, &told, "\tOptional: ", optional(of)]);
        } else if has(from, "configMapKeyRef") {
            let of = at(from, "configMapKeyRef");
            let told = [":\t<set to the key '", text(of, "key"), "' of config map '", text(of, "name"), "'>"].concat();
            w.line(3, &[name, &told, "\tOptional: ", optional(of)]);
        } else {
            for (index, line) in text(it, "value").split('\n').enumerate() {
                match index {
                    0 => w.line(3, &[name, ":\t", line]),
                    _ => w.line(3, &["\t", line]),
                }
            }
        }
    }
}

fn mounts(w: &mut Writer, it: &Value) {
    let mut mounts: Vec<&Value> = list(it, "volumeMounts").iter().collect();
    w.line(2, &["Mounts:", if mounts.is_empty() { "\t<none>" } else { "" }]);
    sort_by(&mut mounts, |a, b| text(a, "mountPath").cmp(text(b, "mountPath")));
    for it in mounts {
        let mut how = String::from(if flag(it, "readOnly") { "ro" } else { "rw" });
        if !text(it, "subPath").is_empty() {
            how += &[",path=\"", text(it, "subPath"), "\""].concat();
        }
        w.line(3, &[text(it, "mountPath"), " from ", text(it, "name"), " (", &how, ")"]);
    }
}

pub fn volumes(w: &mut Writer, volumes: &[Value], indent: &str) {
    w.line(0, &[indent, "Volumes:", if volumes.is_empty() { "\t<none>" } else { "" }]);
    let shift = if indent.is_empty() { "" } else { " " };
    for it in volumes {
        w.line(1, &[shift, text(it, "name"), ":"]);
        let mut kind = |name: &str, fields: &[(&str, String)]| {
            w.line(2, &["Type:\t", name]);
            for (name, value) in fields {
                w.line(2, &[name, ":\t", value]);
            }
        };
        let of = |field: &str| at(it, field);
        if has(it, "emptyDir") {
            let size = plain(at(of("emptyDir"), "sizeLimit"));
            let size = if size.is_empty() { "<unset>".into() } else { size };
            let medium = text(of("emptyDir"), "medium").to_string();
            kind(
                "EmptyDir (a temporary directory that shares a pod's lifetime)",
                &[("Medium", medium), ("SizeLimit", size)],
            );
        } else if has(it, "configMap") {
            let map = of("configMap");
            let fields = [("Name", text(map, "name").to_string()), ("Optional", optional(map).into())];
            kind("ConfigMap (a volume populated by a ConfigMap)", &fields);
        } else if has(it, "secret") {
            let secret = of("secret");
            let fields =
                [("SecretName", text(secret, "secretName").to_string()), ("Optional", optional(secret).into())];
            kind("Secret (a volume populated by a Secret)", &fields);
        } else if has(it, "hostPath") {
            let host = of("hostPath");
            let fields = [("Path", text(host, "path").to_string()), ("HostPathType", text(host, "type").to_string())];
            kind("HostPath (bare host directory volume)", &fields);
        } else if has(it, "persistentVolumeClaim") {
            let claim = of("persistentVolumeClaim");
            let read_only = if flag(claim, "readOnly") { "true" } else { "false" };
            let fields = [("ClaimName", text(claim, "claimName").to_string()), ("ReadOnly", read_only.into())];
            kind("PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)", &fields);
        } else if has(it, "projected") {
            kind("Projected (a volume that contains injected data from multiple sources)", &projected(it));
        } else {
            w.line(2, &["<unknown>"]);
        }
    }
}

fn projected(it: &Value) -> Vec<(&'static str, String)> {
    let mut fields = Vec::new();
    for source in list(it, "projected.sources") {
        if has(source, "secret") {
            fields.push(("SecretName", text(source, "secret.name").to_string()));
            fields.push(("Optional", optional(at(source, "secret")).into()));
        } else if has(source, "downwardAPI") {
            fields.push(("DownwardAPI", "true".into()));
        } else if has(source, "configMap") {
            fields.push(("ConfigMapName", text(source, "configMap.name").to_string()));
            fields.push(("Optional", optional(at(source, "configMap")).into()));
        } else if has(source, "serviceAccountToken") {
            let seconds = int(source, "serviceAccountToken.expirationSeconds");
            fields.push(("TokenExpirationSeconds", seconds.to_string()));
        }
    }
    fields
}
