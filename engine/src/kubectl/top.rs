//! `kubectl top` (`kubectl/pkg/cmd/top`, v1.36), where there is a metrics API.

use serde_json::Value;

use super::resources;
use super::value::{list, text};
use super::{Context, Done, Failure, tab};
use crate::api::{Kind, Name, Object, Quantity};
use crate::apiserver::{ApiError, Reason};
use crate::sim::sort_by;

const USAGE: &str = "Display resource (CPU/memory) usage.\n\nAvailable Commands:\n  node          Display resource (CPU/memory) usage of nodes\n  pod           Display resource (CPU/memory) usage of pods";

pub fn top(context: &mut Context<'_>) -> Result<Done, Failure> {
    if context.args.words.is_empty() {
        return Err(Failure::plain(USAGE.into()));
    }
    let words = context.args.words.join(" ");
    Err(Failure::usage("kubectl top", &["unknown command \"", &words, "\""].concat()))
}

fn metrics(context: &Context<'_>, of_nodes: bool) -> Result<Vec<Value>, Failure> {
    let by = context.args.text("sort-by");
    if !matches!(by, "" | "cpu" | "memory") {
        return Err(Failure::error("--sort-by accepts only cpu or memory"));
    }
    context.cluster.metrics(of_nodes).ok_or_else(|| Failure::error("Metrics API not available"))
}

fn amount(value: &Value, name: &str) -> Quantity {
    text(value, name).parse().unwrap_or(Quantity::ZERO)
}

/// What a pod or a container uses: thousandths of a CPU, and bytes.
type Usage = (i64, i64);

fn usage(value: &Value) -> Usage {
    (amount(value, "cpu").milli(), amount(value, "memory").units())
}

fn cells(usage: Usage) -> [String; 2] {
    [[&usage.0.to_string(), "m"].concat(), [&(usage.1 / (1024 * 1024)).to_string(), "Mi"].concat()]
}

fn not_found(what: &str, name: &str) -> Failure {
    let message = [what, ".metrics.k8s.io \"", name, "\" not found"].concat();
    ApiError::new(Reason::NotFound, message).into()
}

/// Cells that are all ended, the last one too.
fn table(rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    for row in rows {
        for cell in row {
            text += &[cell.as_str(), "\t"].concat();
        }
        text.push('\n');
    }
    tab::align(&text, 6, 3)
}

fn sorted<T>(items: &mut Vec<T>, by: &str, usage: impl Fn(&T) -> Usage, name: impl Fn(&T) -> String) {
    sort_by(items, |a, b| {
        let (x, y) = (usage(a), usage(b));
        let order = match by {
            "cpu" => y.0.cmp(&x.0),
            "memory" => y.1.cmp(&x.1),
            _ => std::cmp::Ordering::Equal,
        };
        order.then_with(|| name(a).cmp(&name(b)))
    });
}

pub fn pods(context: &mut Context<'_>) -> Result<Done, Failure> {
    let all = metrics(context, false)?;
    let everywhere = context.args.is("all-namespaces");
    let space: Option<Name> = context.space(Kind::Pod, everywhere);
    let name = context.args.words.first().cloned();
    let selector = context.selector(&[Kind::Pod])?;
    let known = resources::of_kind(context, Kind::Pod, space.as_ref());
    let is_meant = |it: &&Value| {
        let found: Option<&Object> = known.iter().find(|pod| {
            *pod.meta().name == *text(it, "metadata.name") && *pod.meta().namespace == *text(it, "metadata.namespace")
        });
        found.is_some_and(|pod| selector.matches(pod))
            && name.as_ref().is_none_or(|name| text(it, "metadata.name") == name)
    };
    let mut found: Vec<&Value> = all.iter().filter(is_meant).collect();
    if found.is_empty() {
        if let Some(name) = name {
            return Err(not_found("podmetrics", &name));
        }
        // Pods that have just been made have not been measured yet.
        if known.iter().any(|pod| selector.matches(pod)) {
            return Err(Failure::error("metrics not available yet"));
        }
        let namespace = context.namespace();
        context.out.err(&super::get::nothing(!everywhere, &namespace));
        return context.done();
    }
    let of = |it: &&Value| {
        let each = list(it, "containers").iter().map(|it| usage(&it["usage"]));
        each.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1))
    };
    let by = context.args.text("sort-by").to_string();
    sorted(&mut found, &by, of, |it| [text(it, "metadata.namespace"), "/", text(it, "metadata.name")].concat());
    let by_container = context.args.is("containers");
    let mut rows: Vec<Vec<String>> = Vec::new();
    if !context.args.is("no-headers") {
        let mut header: Vec<&str> = Vec::new();
        if everywhere {
            header.push("NAMESPACE");
        }
        header.extend(if by_container { ["POD", "NAME"].as_slice() } else { ["NAME"].as_slice() });
        header.extend(["CPU(cores)", "MEMORY(bytes)"]);
        rows.push(header.into_iter().map(str::to_string).collect());
    }
    let mut sum = (0, 0);
    for it in &found {
        let mut head: Vec<String> = Vec::new();
        if everywhere {
            head.push(text(it, "metadata.namespace").into());
        }
        head.push(text(it, "metadata.name").into());
        let total = of(it);
        sum = (sum.0 + total.0, sum.1 + total.1);
        if by_container {
            for container in list(it, "containers") {
                let mut row = head.clone();
                row.push(text(container, "name").into());
                row.extend(cells(usage(&container["usage"])));
                rows.push(row);
            }
        } else {
            head.extend(cells(total));
            rows.push(head);
        }
    }
    if context.args.is("sum") {
        add_sum(&mut rows, sum);
    }
    context.out(&table(&rows));
    context.done()
}

pub fn nodes(context: &mut Context<'_>) -> Result<Done, Failure> {
    let all = metrics(context, true)?;
    let name = context.args.words.first().cloned();
    let selector = context.selector(&[Kind::Node])?;
    let known = resources::of_kind(context, Kind::Node, None);
    let node_of = |it: &Value| known.iter().find(|node| *node.meta().name == *text(it, "metadata.name"));
    let is_meant = |it: &&Value| {
        node_of(it).is_some_and(|node| selector.matches(node))
            && name.as_ref().is_none_or(|name| text(it, "metadata.name") == name)
    };
    let mut found: Vec<&Value> = all.iter().filter(is_meant).collect();
    if found.is_empty() {
        if let Some(name) = name {
            return Err(not_found("nodemetrics", &name));
        }
        context.out.err("error: metrics not available yet\n");
        return Ok(Done::Exit(1));
    }
    let by = context.args.text("sort-by").to_string();
    sorted(&mut found, &by, |it| usage(&it["usage"]), |it| text(it, "metadata.name").into());
    let mut rows: Vec<Vec<String>> = Vec::new();
    if !context.args.is("no-headers") {
        rows.push(["NAME", "CPU(cores)", "CPU(%)", "MEMORY(bytes)", "MEMORY(%)"].map(str::to_string).to_vec());
    }
    let by_capacity = context.args.is("show-capacity");
    for it in &found {
        let used = usage(&it["usage"]);
        let [cpu, memory] = cells(used);
        let room = |resource: &str| {
            let node = node_of(it).and_then(|it| it.as_node());
            node.map_or(Quantity::ZERO, |node| match by_capacity {
                true => node.status.capacity.get(resource).copied().unwrap_or(Quantity::ZERO),
                false => node.allocatable(resource),
            })
        };
        let percent = |used: i64, all: i64| [&(used * 100).checked_div(all).unwrap_or(0).to_string(), "%"].concat();
        let of_cpu = percent(used.0, room("cpu").milli());
        let of_memory = percent(used.1, room("memory").units());
        rows.push(vec![text(it, "metadata.name").into(), cpu, of_cpu, memory, of_memory]);
    }
    context.out(&table(&rows));
    context.done()
}

fn add_sum(rows: &mut Vec<Vec<String>>, sum: Usage) {
    let width = rows.first().map_or(3, Vec::len);
    let blank = || vec![String::new(); width - 2];
    let mut line = blank();
    line.extend(["________".to_string(), "________".to_string()]);
    rows.push(line);
    let mut total = blank();
    total.extend(cells(sum));
    rows.push(total);
}
