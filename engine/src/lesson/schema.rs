//! The JSON Schema of a scenario file, and the index of those that come with the page. Nothing here is part of the page:
//! it is asked for by tests and by the runner alone.

use serde_json::{Map, Value, json};

use super::Lesson;
use super::shape::{Field, Shape};
use super::table::{FILE, MATCHES, MEASURE, MEASURES, PREDICATE, PREDICATES};

/// What fields are for, by what they stand in and their names.
pub const ABOUT: [(&str, &str); 78] = [
    ("file.title", "What the scenario or lesson is called."),
    ("file.summary", "One or two sentences for a list of lessons."),
    ("file.name", "The scenario's name in links and journals; the title where it is left out."),
    ("file.seed", "Of the random numbers: the same seed and commands give the same run."),
    ("file.epochMs", "The wall clock at the start, in ms since 1970-01-01 UTC."),
    ("file.nodes", "The machines at the start; three of 4 CPUs and 8 GiB where the field is left out."),
    ("file.manifest", "Kubernetes objects that are applied at the start, as YAML."),
    ("file.cluster", "A cluster to go on from: its objects as kubectl get prints them, as YAML or JSON."),
    ("file.behaviors", "How the programs of images behave, as flags: app:v1: --start=300ms --ready-after=2s."),
    ("file.latency", "How long requests, answers, watches and phases of a turn take, in ms."),
    ("file.maxPods", "More pods in one workload are refused."),
    ("file.clientLimit", "Requests per second, and at once, that each controller may send."),
    ("file.resyncMs", "How often informers tell again of all they know, in ms."),
    ("file.metrics", "The clocks of the metrics pipeline, in ms."),
    (
        "file.opening",
        "Commands that are played before anybody looks: a line each, with its time: 2.000s node stop node-1.",
    ),
    ("file.show", "What is on show when it begins."),
    ("file.lesson", "The steps of a lesson. A file without them is a scenario to play with."),
    ("show.view", "The view that is largest."),
    ("show.panes", "Other views that are open."),
    ("show.object", "The object that is selected: deployment/web."),
    ("show.speed", "How fast virtual time passes; 1 is as fast as a clock."),
    ("show.at", "When somebody begins to look; the time of the opening's last command where it is left out."),
    ("lesson.concept", "The points of the concept that it is about."),
    ("lesson.misconception", "What many believe before, and do not after."),
    ("lesson.minutes", "How long it takes to walk through."),
    (
        "lesson.backed-by",
        "Tests and recordings that show what it says: cases::s1_a_deleted_pod_comes_back, recording s15_drain.",
    ),
    ("lesson.steps", "The steps, in their order."),
    ("lesson.order", "Its place in the list of lessons."),
    ("lesson.free", "The steps are challenges, in any order."),
    ("steps.title", "A few words."),
    (
        "steps.text",
        "Paragraphs with `code`, **bold** words and [words](#loop/replicaset) that light up a part of the page.",
    ),
    ("steps.prediction", "What somebody is asked to expect before anything happens."),
    ("steps.allowed", "How the lines that may be run in this step begin; any may where it is left out."),
    ("steps.do", "Commands that are proposed: buttons."),
    ("steps.goal", "What has to be so for the step to be done. A step without one is only read."),
    ("steps.within", "How much virtual time that may take; 60s where it is left out."),
    ("steps.solution", "Commands that reach the goal; those of do where it is left out."),
    ("steps.then", "What is said once the goal is met."),
    ("steps.explain", "Sentences that lead to the trace event which explains what happened."),
    ("steps.claims", "What the lesson says, and that is so at the end of the step: a test holds it."),
    (
        "do.run",
        "The command as it is typed. {pod app=web} stands for the name of such a pod, {newest app=web} and {oldest app=web} for that one, {node app=web} for the node with most of them.",
    ),
    ("do.label", "What its button says."),
    ("do.at", "How long after the beginning of the step."),
    ("prediction.question", "What is asked."),
    ("prediction.number", "A number is asked for."),
    ("prediction.choices", "One of these is asked for."),
    (
        "prediction.answer",
        "What is right: a number, or the place of a choice, from 1. A test compares it with the engine.",
    ),
    ("prediction.give", "How far from the answer a number is right as well."),
    ("prediction.measure", "How the engine finds the answer once the goal is met."),
    ("prediction.right", "What is said to whoever was right."),
    ("prediction.wrong", "What is said to whoever was not."),
    ("number.least", "The least that can be meant."),
    ("number.most", "The most that can be meant."),
    ("number.unit", "What is counted."),
    ("choices.text", "The answer in words."),
    ("choices.when", "It came true if this is so once the goal is met."),
    ("explain.text", "The sentence."),
    ("explain.event", "The first such event since the step began."),
    ("claims.says", "Words of the lesson."),
    ("claims.that", "What they say, as a predicate."),
    ("match.kind", "What happened."),
    ("match.by", "The loop that did it, as its row is called, or you."),
    ("match.object", "What it was about: deployment/web, or a kind such as pod."),
    ("match.text", "What the event's sentence has in it."),
    ("goal.ready", "Pods of a workload that are active and ready."),
    ("goal.pods", "Pods with labels, on a node, of an image, in a state; active ones where no state is given."),
    ("goal.objects", "All objects of a kind."),
    ("goal.field", "A field of an object: path: status.readyReplicas. What is not there counts as 0, empty or false."),
    ("goal.trace", "Events of the trace since the step began."),
    ("goal.between", "Seconds from the first such event since the step began to the first such event after it."),
    ("goal.peak", "The most pods at once since the step began whose names begin so."),
    ("goal.lowest-ready", "The fewest ready pods of all workloads at once since the step began."),
    ("goal.room", "The room: temperatures in degrees Celsius, the heater in percent."),
    ("goal.plan", "Changes that terraform would plan now."),
    ("goal.cloud", "An attribute of an object in the cloud."),
    ("goal.traffic", "A load: requests that are answered, in percent, or how many were sent and lost."),
    ("goal.fights", "How often managers took a field from each other of late."),
    ("goal.elapsed", "Seconds since the step began."),
];
/// The same of predicates that compare nothing.
const ABOUT_STATES: [(&str, &str); 13] = [
    ("goal.exists", "The object is there."),
    ("goal.condition", "A condition of an object has a status, and a reason where one is given."),
    ("goal.event", "A Kubernetes Event of a reason was published since the step began."),
    ("goal.owner", "A manager owns a field: path: spec.replicas, manager: kubectl-client-side-apply."),
    ("goal.git", "What the GitOps agent last found."),
    ("goal.up", "A process runs: kube-controller-manager, kube-scheduler, thermostat or kubelet/node-1."),
    ("goal.observed", "The object's status is of its newest generation."),
    ("goal.rolled-out", "All pods of a Deployment are of its newest template, as many as wanted, and available."),
    ("goal.converged", "All workloads have what they want."),
    ("goal.stays", "Something has been so for a while without a break."),
    ("goal.all", "All of these."),
    ("goal.any", "At least one of these."),
    ("goal.not", "Not this."),
];

/// What a field is for, in the words of [`ABOUT`].
pub(super) fn about(owner: &str, name: &str) -> Option<&'static str> {
    let owner = match owner {
        "solution" => "do",
        "from" | "to" | "event" => "match",
        it => it,
    };
    let key = [owner, ".", name].concat();
    ABOUT.iter().chain(&ABOUT_STATES).find(|(it, _)| *it == key).map(|(_, about)| *about)
}

/// The JSON Schema (draft 2020-12) of what follows the first line of a file.
pub fn schema() -> Value {
    let mut root = of_fields("file", &FILE);
    let map = root.as_object_mut();
    let Some(map) = map else { return root };
    let put = |map: &mut Map<String, Value>, name: &str, value: Value| drop(map.insert(name.into(), value));
    put(map, "$schema", "https://json-schema.org/draft/2020-12/schema".into());
    put(map, "$id", "scenario.schema.json".into());
    put(map, "title", "Loopscope scenario, version 1".into());
    put(map, "$comment", "The first line of a file is the comment \"# Loopscope scenario 1\".".into());
    put(
        map,
        "$defs",
        json!({
            "goal": one_of("goal", &PREDICATES, true),
            "measure": one_of("goal", &MEASURES, false),
            "match": of_fields("match", &MATCHES),
        }),
    );
    root
}

fn one_of(owner: &str, fields: &'static [Field], compares: bool) -> Value {
    let mut value = of_fields(owner, fields);
    value["minProperties"] = 1.into();
    value["maxProperties"] = 1.into();
    if compares {
        for field in &MEASURES {
            let alternatives = ["is", "least", "most"].map(|it| json!({"required": [it]}));
            value["properties"][field.name]["anyOf"] = alternatives.to_vec().into();
        }
    }
    value
}

fn of_fields(owner: &str, fields: &'static [Field]) -> Value {
    let mut properties = Map::new();
    for field in fields {
        let mut value = match field.shape {
            Shape::Any => of_scenario(field.name),
            shape => of(field.name, shape),
        };
        if let (Some(about), Some(map)) = (about(owner, field.name), value.as_object_mut()) {
            map.insert("description".into(), about.into());
        }
        properties.insert(field.name.into(), value);
    }
    let needed: Vec<&str> = fields.iter().filter(|it| it.is_needed).map(|it| it.name).collect();
    let mut value = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !needed.is_empty() {
        value["required"] = needed.into();
    }
    value
}

fn of(name: &str, shape: &'static Shape) -> Value {
    if std::ptr::eq(shape, &PREDICATE) {
        return json!({"$ref": "#/$defs/goal"});
    }
    if std::ptr::eq(shape, &MEASURE) {
        return json!({"$ref": "#/$defs/measure"});
    }
    match shape {
        Shape::Text => json!({"type": ["string", "number", "boolean"]}),
        Shape::Word(words) => json!({"enum": words}),
        Shape::Whole { least, most } => json!({"type": "integer", "minimum": least, "maximum": most}),
        Shape::Number => json!({"type": "number"}),
        Shape::Flag => json!({"type": "boolean"}),
        Shape::Span => json!({"type": "string", "pattern": "^[0-9]+(ms|s|m|h)$"}),
        Shape::Scalar => json!({"type": ["string", "number", "boolean"]}),
        Shape::List(of_one) => json!({"type": "array", "items": of(name, of_one)}),
        Shape::Fields(fields) if std::ptr::eq(fields.as_ptr(), MATCHES.as_ptr()) => json!({"$ref": "#/$defs/match"}),
        Shape::Fields(fields) => of_fields(name, fields),
        Shape::One(fields) => one_of(name, fields, false),
        Shape::Any => json!({}),
    }
}

/// The scenario's own fields, which another reader checks.
fn of_scenario(name: &str) -> Value {
    let text = || json!({"type": ["string", "number"]});
    let numbers = |names: &[&str]| {
        let all: Map<String, Value> = names.iter().map(|it| ((*it).into(), json!({"type": "integer"}))).collect();
        json!({"type": "object", "properties": all, "additionalProperties": false})
    };
    match name {
        "seed" => json!({"type": ["integer", "string"]}),
        "epochMs" | "maxPods" | "resyncMs" => json!({"type": "integer"}),
        "nodes" => json!({"type": "array", "items": {
            "type": "object",
            "required": ["name"],
            "additionalProperties": false,
            "properties": {
                "name": {"type": "string"},
                "cpu": text(),
                "memory": text(),
                "pods": {"type": "integer"},
                "labels": {"type": "object", "additionalProperties": text()},
                "readyMs": {"type": "integer"},
            },
        }}),
        "behaviors" => json!({"type": "object", "additionalProperties": {"type": "string"}}),
        "latency" => numbers(&["request", "answer", "watch", "phase"]),
        "clientLimit" => numbers(&["qps", "burst"]),
        "metrics" => numbers(&["sample", "resolution"]),
        _ => json!({"type": "string"}),
    }
}

/// What a page has to know of all files before it opens one: in the order in which they are to be walked through.
pub fn index(all: &[(&str, &Lesson)]) -> Value {
    let entry = |(id, lesson): &(&str, &Lesson)| {
        let course = &lesson.course;
        json!({
            "id": id,
            "title": lesson.title,
            "summary": lesson.summary,
            "minutes": course.minutes,
            "concept": course.concepts,
            "misconception": course.misconception,
            "steps": course.steps.len(),
            "free": course.is_free,
            "view": lesson.show.view,
        })
    };
    json!({"loopscope": "scenarios/1", "scenarios": all.iter().map(entry).collect::<Vec<_>>()})
}
