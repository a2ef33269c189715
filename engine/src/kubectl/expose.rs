//! `kubectl expose` (`kubectl/pkg/cmd/expose/expose.go`, v1.36).

use serde_json::Value;

use super::create::{Told, blank, empty, make};
use super::flags::Args;
use super::resources::NOTHING;
use super::run::pairs;
use super::value::{at, has, list, object, set, text};
use super::{Context, Done, Failure};
use crate::api::{Kind, Object};

pub fn expose(context: &mut Context<'_>) -> Result<Done, Failure> {
    const OTHERS: [&str; 2] = ["overrides", "override-type"];
    if let Some(flag) = context.args.given().find(|it| OTHERS.contains(it)) {
        return Err(Failure::not_simulated(&["the flag --", flag].concat(), ""));
    }
    let words = context.args.words.clone();
    if words.is_empty() && !context.args.has("filename") {
        return Err(Failure::error(NOTHING));
    }
    for target in context.targets(&words)? {
        let value = service(context, &target)?;
        make(context, Kind::Service, value, "kubectl-expose", "exposed", &Told::Plain)?;
    }
    context.done()
}

/// What selects the pods of an object.
fn selector(target: &Object, value: &Value) -> Result<Value, Failure> {
    let refuse = |why: &str| {
        let resource = target.kind().qualified_plural();
        Err(Failure::errors(&["couldn't retrieve selectors via --selector flag or introspection: ", why, &resource]))
    };
    let found = match target.kind() {
        Kind::Deployment | Kind::ReplicaSet => at(value, "spec.selector.matchLabels"),
        Kind::Service | Kind::ReplicationController => at(value, "spec.selector"),
        Kind::Pod => at(value, "metadata.labels"),
        kind => {
            let name = super::resource_of(kind);
            return Err(Failure::errors(&["cannot expose a ", &name]));
        }
    };
    if has(value, "spec.selector.matchExpressions") && target.kind() != Kind::Service {
        return refuse("couldn't convert expressions - \"...\" to map-based selector format of ");
    }
    if found.is_null() {
        return refuse("the object has no labels and cannot be exposed: ");
    }
    Ok(found.clone())
}

fn service(context: &Context<'_>, target: &Object) -> Result<Value, Failure> {
    let args = &context.args;
    let value = target.to_value();
    let selector = match args.text("selector") {
        "" => selector(target, &value)?,
        given => Value::Object(pairs(given)?),
    };
    let ports = ports(args, target, &value)?;
    let name = if args.text("name").is_empty() { target.meta().name.as_str() } else { args.text("name") };
    let mut service = blank(Kind::Service, name);
    let labels = match args.text("labels") {
        "" => at(&value, "metadata.labels").clone(),
        given => Value::Object(pairs(given)?),
    };
    if !labels.is_null() {
        set(&mut service, "metadata.labels", labels);
    }
    set(&mut service, "spec.ports", Value::Array(ports));
    set(&mut service, "spec.selector", selector);
    for (flag, field) in [
        ("type", "spec.type"),
        ("session-affinity", "spec.sessionAffinity"),
        ("cluster-ip", "spec.clusterIP"),
        ("load-balancer-ip", "spec.loadBalancerIP"),
    ] {
        if !args.text(flag).is_empty() {
            set(&mut service, field, args.text(flag).into());
        }
    }
    if !args.text("external-ip").is_empty() {
        set(&mut service, "spec.externalIPs", Value::Array(vec![args.text("external-ip").into()]));
    }
    set(&mut service, "status.loadBalancer", empty());
    Ok(service)
}

/// The ports of the service: those of the flag, or those of the containers.
fn ports(args: &Args, target: &Object, value: &Value) -> Result<Vec<Value>, Failure> {
    let path = match target.kind() {
        Kind::Pod => "spec.containers",
        _ => "spec.template.spec.containers",
    };
    let protocol =
        |it: &Value| if text(it, "protocol").is_empty() { "TCP".to_string() } else { text(it, "protocol").into() };
    let mut found: Vec<(i64, String)> = Vec::new();
    if target.kind() == Kind::Service {
        found.extend(list(value, "spec.ports").iter().map(|it| (super::value::int(it, "port"), protocol(it))));
    }
    for container in list(value, path) {
        for it in list(container, "ports") {
            found.push((super::value::int(it, "containerPort"), protocol(it)));
        }
    }
    if !args.text("port").is_empty() {
        found.clear();
        for part in args.text("port").split(',') {
            let port =
                part.parse().map_err(|_| Failure::errors(&["strconv.Atoi: parsing \"", part, "\": invalid syntax"]))?;
            let given = args.text("protocol");
            found.push((port, if given.is_empty() { "TCP".into() } else { given.to_string() }));
        }
    }
    if found.is_empty() {
        return Err(Failure::error("couldn't find port via --port flag or introspection"));
    }
    let target_port = args.text("target-port");
    let several = found.len() > 1;
    let mut ports = Vec::new();
    for (index, (port, protocol)) in found.iter().enumerate() {
        let mut it = object(&[("port", (*port).into()), ("protocol", protocol.as_str().into())]);
        if several {
            set(&mut it, "name", ["port-", &(index + 1).to_string()].concat().into());
        }
        let to = match target_port {
            "" => (*port).into(),
            given => given.parse::<i64>().map_or_else(|_| Value::from(given), Value::from),
        };
        set(&mut it, "targetPort", to);
        ports.push(it);
    }
    Ok(ports)
}
