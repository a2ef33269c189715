//! Probes (`validateProbe` of `pkg/apis/core/validation`).

use serde_json::Value;

use super::{Errors, below, names};
use crate::api::{Container, IntOrPercent, Probe, read_value};

pub(super) fn validate_all(container: &Container, path: &str, errors: &mut Errors) {
    for (name, probe, must_succeed_once) in [
        ("livenessProbe", &container.liveness_probe, true),
        ("readinessProbe", &container.readiness_probe, false),
        ("startupProbe", &container.startup_probe, true),
    ] {
        let Some(probe) = probe else { continue };
        let path = format!("{path}.{name}");
        validate(probe, &path, errors);
        let successes = probe.success_threshold.unwrap_or(1);
        if must_succeed_once && successes != 1 {
            errors.invalid(below(&path, ".successThreshold"), &successes, "must be 1");
        }
    }
}

fn validate(probe: &Probe, path: &str, errors: &mut Errors) {
    validate_handler(probe, path, errors);
    for (name, value) in [
        ("initialDelaySeconds", Some(probe.initial_delay_seconds)),
        ("timeoutSeconds", probe.timeout_seconds),
        ("periodSeconds", probe.period_seconds),
        ("successThreshold", probe.success_threshold),
        ("failureThreshold", probe.failure_threshold),
    ] {
        errors.not_negative(format!("{path}.{name}"), value.unwrap_or(0).into());
    }
}

fn validate_handler(probe: &Probe, path: &str, errors: &mut Errors) {
    let mut has_one = false;
    for name in ["exec", "httpGet", "tcpSocket", "grpc"] {
        let Some(action) = probe.extra.get(name) else { continue };
        let path = format!("{path}.{name}");
        if has_one {
            errors.forbidden(path, "may not specify more than 1 handler type");
            continue;
        }
        has_one = true;
        match name {
            "exec" if action.get("command").and_then(Value::as_array).is_none_or(Vec::is_empty) => {
                errors.required(below(&path, ".command"));
            }
            "exec" => {}
            _ => validate_port(action.get("port"), &below(&path, ".port"), errors),
        }
        let scheme = action.get("scheme").and_then(Value::as_str).unwrap_or("HTTP");
        if !matches!(scheme, "HTTP" | "HTTPS") {
            errors.not_supported(below(&path, ".scheme"), scheme, &["HTTP", "HTTPS"]);
        }
    }
    if !has_one {
        errors.required_because(path, "must specify a handler type");
    }
}

/// A port's number or name; one that is missing counts as 0.
pub(super) fn validate_port(port: Option<&Value>, path: &str, errors: &mut Errors) {
    let port = port.and_then(|it| read_value(it.clone()).ok()).unwrap_or(IntOrPercent::Int(0));
    match port {
        IntOrPercent::Int(number) => {
            if let Some(wrong) = names::port_number(number.into()) {
                errors.invalid(path, &number, wrong);
            }
        }
        IntOrPercent::Text(name) => {
            names::port_name(&name).iter().for_each(|wrong| errors.invalid(path, &name, wrong));
        }
    }
}
