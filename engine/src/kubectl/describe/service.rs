//! A Service and its EndpointSlices.

use serde_json::Value;

use super::super::resources;
use super::super::value::{at, has, int, labels, list, map, or, or_none, plain, text};
use super::{About, Writer};
use crate::api::{Kind, Object};

pub fn describe(about: &About<'_>, w: &mut Writer) {
    let value = about.value;
    let spec = at(value, "spec");
    about.head(w);
    w.field("Selector", &labels(map(spec, "selector")));
    w.field("Type", text(spec, "type"));
    if has(spec, "ipFamilyPolicy") {
        w.field("IP Family Policy", text(spec, "ipFamilyPolicy"));
    }
    let words = |field: &str| list(spec, field).iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",");
    w.field("IP Families", &or_none(words("ipFamilies")));
    w.field("IP", text(spec, "clusterIP"));
    w.field("IPs", &or_none(words("clusterIPs")));
    if !list(spec, "externalIPs").is_empty() {
        w.field("External IPs", &words("externalIPs"));
    }
    if !text(spec, "loadBalancerIP").is_empty() {
        w.field("Desired LoadBalancer IP", text(spec, "loadBalancerIP"));
    }
    if !text(spec, "externalName").is_empty() {
        w.field("External Name", text(spec, "externalName"));
    }
    let ingress = list(value, "status.loadBalancer.ingress");
    if !ingress.is_empty() {
        let all: Vec<&str> = ingress
            .iter()
            .map(|it| if text(it, "ip").is_empty() { text(it, "hostname") } else { text(it, "ip") })
            .collect();
        w.field("LoadBalancer Ingress", &all.join(", "));
    }
    let slices = slices(about);
    for port in list(spec, "ports") {
        ports(w, port, &slices);
    }
    w.field("Session Affinity", text(spec, "sessionAffinity"));
    if !text(spec, "externalTrafficPolicy").is_empty() {
        w.field("External Traffic Policy", text(spec, "externalTrafficPolicy"));
    }
    if !text(spec, "internalTrafficPolicy").is_empty() {
        w.field("Internal Traffic Policy", text(spec, "internalTrafficPolicy"));
    }
    let ranges = words("loadBalancerSourceRanges");
    if !ranges.is_empty() {
        w.field("LoadBalancer Source Ranges", &ranges);
    }
    about.tail(w);
}

/// The slices of a Service.
fn slices(about: &About<'_>) -> Vec<Value> {
    let meta = about.object.meta();
    let all = resources::list(about.cluster, Kind::EndpointSlice, Some(&meta.namespace));
    let is_of =
        |it: &&Object| it.meta().labels.get("kubernetes.io/service-name").is_some_and(|name| **name == *meta.name);
    all.iter().filter(is_of).map(Object::to_value).collect()
}

fn ports(w: &mut Writer, port: &Value, slices: &[Value]) {
    let name = or(text(port, "name").into(), "<unset>");
    let protocol = text(port, "protocol");
    w.line(0, &["Port:\t", &name, "\t", &int(port, "port").to_string(), "/", protocol]);
    let target = match at(port, "targetPort") {
        Value::Number(number) if number.as_i64() == Some(0) => String::new(),
        target => plain(target),
    };
    w.line(0, &["TargetPort:\t", &target, "/", protocol]);
    if int(port, "nodePort") != 0 {
        w.line(0, &["NodePort:\t", &name, "\t", &int(port, "nodePort").to_string(), "/", protocol]);
    }
    w.field("Endpoints", &endpoints(slices, text(port, "name")));
}

/// Addresses with the port of a name: three of them, and how many more (`formatEndpointSlices`).
fn endpoints(slices: &[Value], name: &str) -> String {
    if slices.is_empty() {
        return "<none>".into();
    }
    let (mut shown, mut count, mut more) = (Vec::new(), 0_usize, false);
    for slice in slices {
        for port in list(slice, "ports").iter().filter(|it| text(it, "name") == name) {
            let number = plain(at(port, "port"));
            for endpoint in list(slice, "endpoints") {
                // An endpoint that is not ready still tells that there are more: kubectl says so of none, too.
                more |= shown.len() == 3;
                let is_ready = at(endpoint, "conditions.ready").as_bool().unwrap_or(true);
                for address in list(endpoint, "addresses").iter().filter_map(Value::as_str).filter(|_| is_ready) {
                    count += 1;
                    if shown.len() < 3 {
                        shown.push([address, ":", &number].concat());
                    }
                }
            }
        }
    }
    let mut text = shown.join(",");
    if more {
        text += &[" + ", &(count - shown.len()).to_string(), " more..."].concat();
    }
    text
}

pub fn slice(about: &About<'_>, w: &mut Writer) {
    let value = about.value;
    about.head(w);
    w.field("AddressType", text(value, "addressType"));
    let ports = list(value, "ports");
    if ports.is_empty() {
        w.line(0, &["Ports: <unset>"]);
    } else {
        w.line(0, &["Ports:"]);
        w.line(1, &["Name\tPort\tProtocol"]);
        w.line(1, &["----\t----\t--------"]);
    }
    for it in ports {
        let (name, port) = (or(text(it, "name").into(), "<unset>"), or(plain(at(it, "port")), "<unset>"));
        w.line(1, &[&name, "\t", &port, "\t", text(it, "protocol")]);
    }
    let endpoints = list(value, "endpoints");
    w.line(0, &["Endpoints:", if endpoints.is_empty() { " <none>" } else { "" }]);
    for it in endpoints {
        let addresses: Vec<&str> = list(it, "addresses").iter().filter_map(Value::as_str).collect();
        w.line(1, &["- Addresses:\t", &addresses.join(", ")]);
        w.line(1, &["  Conditions:"]);
        let ready = at(it, "conditions.ready").as_bool().map_or("<unset>", |it| if it { "true" } else { "false" });
        w.line(1, &["    Ready:\t", ready]);
        w.line(1, &["  Hostname:\t", &or(text(it, "hostname").into(), "<unset>")]);
        if has(it, "targetRef") {
            w.line(1, &["  TargetRef:\t", text(it, "targetRef.kind"), "/", text(it, "targetRef.name")]);
        }
        w.line(1, &["  NodeName:\t", &or(text(it, "nodeName").into(), "<unset>")]);
        w.line(1, &["  Zone:\t", &or(text(it, "zone").into(), "<unset>")]);
    }
    about.tail(w);
}
