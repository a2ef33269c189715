//! `kubectl events` (`kubectl/pkg/cmd/events/events.go`, v1.36), and the Events of one object for `describe`.

use serde_json::Value;

use super::columns::event_times;
use super::print::{self, Format, finished, list_of};
use super::resources;
use super::tab::Table;
use super::value::{int, text};
use super::{Cluster, Context, Done, Failure, time};
use crate::api::{Kind, Name, Object};
use crate::sim::sort_by;

const USAGE: &str = "--for must be in resource/name form";

pub fn events(context: &mut Context<'_>) -> Result<Done, Failure> {
    let about = match context.args.text("for") {
        "" => None,
        named => {
            let (kind, name) = named.split_once('/').ok_or_else(|| Failure::error(USAGE))?;
            let kind = resources::kind_of(kind).ok_or_else(|| resources::no_type(kind))?;
            Some((kind, name.to_string()))
        }
    };
    let types: Vec<String> = context.args.all("types").into_iter().map(str::to_string).collect();
    if types.iter().any(|it| !it.eq_ignore_ascii_case("Normal") && !it.eq_ignore_ascii_case("Warning")) {
        return Err(Failure::error("valid --types are Normal or Warning"));
    }
    if context.args.is("watch") {
        return Err(Failure::not_simulated("kubectl events --watch", "Use 'kubectl get pods -w'"));
    }
    let everywhere = context.args.is("all-namespaces");
    let space = context.space(Kind::Event, everywhere);
    let mut found: Vec<Object> = resources::of_kind(context, Kind::Event, space.as_ref());
    found.retain(|event| {
        let value = event.to_value();
        let is_of_type = types.is_empty() || types.iter().any(|it| it.eq_ignore_ascii_case(text(&value, "type")));
        let is_about = about.as_ref().is_none_or(|(kind, name)| {
            text(&value, "involvedObject.kind") == kind.name() && text(&value, "involvedObject.name") == name
        });
        is_of_type && is_about
    });
    if found.is_empty() {
        let namespace = context.namespace();
        let text = match everywhere {
            true => "No events found.\n".to_string(),
            false => ["No events found in ", &namespace, " namespace.\n"].concat(),
        };
        context.out.err(&text);
        return context.done();
    }
    by_time(&mut found);
    let format = print::format(&context.args, false)?;
    if format.is_table() {
        let text = table(&found, context.now(), everywhere, !context.args.is("no-headers"));
        context.out(&text);
    } else if let Format::Name = format {
        for event in &found {
            context.line(&["event/", &event.meta().name]);
        }
    } else {
        let values = found.iter().map(|it| finished(it, false)).collect();
        let text = format.print(&list_of(values), true)?;
        context.out(&text);
    }
    context.done()
}

fn table(found: &[Object], now: i64, everywhere: bool, headers: bool) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    if headers {
        let mut header: Vec<String> = ["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"].map(str::to_string).to_vec();
        if everywhere {
            header.insert(0, "NAMESPACE".into());
        }
        rows.push(header);
    }
    for event in found {
        let value = event.to_value();
        let object = [text(&value, "involvedObject.kind"), "/", text(&value, "involvedObject.name")].concat();
        let message = text(&value, "message").trim().to_string();
        let mut row =
            vec![interval(&value, now), text(&value, "type").into(), text(&value, "reason").into(), object, message];
        if everywhere {
            row.insert(0, event.meta().namespace.to_string());
        }
        rows.push(row);
    }
    Table::default().print(&rows)
}

/// `5s`, or `5s (x3 over 10s)` of what was told several times.
pub fn interval(event: &Value, now: i64) -> String {
    let (last, first) = event_times(event);
    let series = int(event, "series.count");
    let count = if series > 0 { series } else { int(event, "count") };
    if count > 1 {
        let over = time::since(first, now);
        return [&time::since(last, now), " (x", &count.to_string(), " over ", &over, ")"].concat();
    }
    time::since(
        if text(event, "firstTimestamp").is_empty() { text(event, "eventTime") } else { text(event, "firstTimestamp") },
        now,
    )
}

fn last_of(value: &Value) -> i64 {
    time::millis(event_times(value).0).unwrap_or(0)
}

fn by_time(events: &mut Vec<Object>) {
    sort_by(events, |a, b| last_of(&a.to_value()).cmp(&last_of(&b.to_value())));
}

/// The Events about an object, as `describe` sorts them.
pub fn about(cluster: &dyn Cluster, object: &Object) -> Vec<Value> {
    let meta = object.meta();
    let namespace: Option<Name> = object.kind().is_namespaced().then(|| meta.namespace.clone());
    let uid = if object.kind() == Kind::Node { meta.name.to_string() } else { meta.uid.to_string() };
    let mut found: Vec<Value> =
        resources::list(cluster, Kind::Event, namespace.as_ref()).iter().map(Object::to_value).collect();
    let own = meta.uid.to_string();
    found.retain(|it| {
        let of = text(it, "involvedObject.uid");
        text(it, "involvedObject.name") == &*meta.name
            && text(it, "involvedObject.kind") == object.kind().name()
            && (of == uid || of == own)
    });
    sort_by(&mut found, |a, b| last_of(a).cmp(&last_of(b)));
    found
}
