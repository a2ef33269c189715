//! The one table of what a scenario file may hold.

use super::shape::{Field, Shape, may, must};

/// What a lesson may be about: the points of the concept that the page belongs to.
pub const CONCEPTS: [&str; 14] = [
    "imperative-and-declared",
    "the-loop",
    "chain-of-loops",
    "self-healing",
    "idempotence",
    "level-and-edge",
    "spec-and-status",
    "infrastructure-as-code",
    "gitops-and-revert",
    "autoscaling",
    "convergence-takes-time",
    "two-owners-of-one-field",
    "manual-fixes-reverted",
    "readiness",
];

pub const VIEWS: [&str; 6] = ["loop", "code", "map", "diff", "timeline", "console"];

static TEXT: Shape = Shape::Text;
static TEXTS: Shape = Shape::List(&TEXT);
static NUMBER: Shape = Shape::Number;
static FLAG: Shape = Shape::Flag;
static SPAN: Shape = Shape::Span;
static SCALAR: Shape = Shape::Scalar;
static ANY: Shape = Shape::Any;
static VIEW: Shape = Shape::Word(&VIEWS);
static PANES: Shape = Shape::List(&VIEW);
static CONCEPT: Shape = Shape::List(&Shape::Word(&CONCEPTS));
static ORDER: Shape = Shape::Whole { least: 1, most: 1_000 };
static MINUTES: Shape = Shape::Whole { least: 1, most: 60 };

/// Of the file.
pub static FILE: [Field; 17] = [
    may("title", &TEXT),
    may("summary", &TEXT),
    may("name", &ANY),
    may("seed", &ANY),
    may("epochMs", &ANY),
    may("nodes", &ANY),
    may("manifest", &ANY),
    may("cluster", &ANY),
    may("behaviors", &ANY),
    may("latency", &ANY),
    may("maxPods", &ANY),
    may("clientLimit", &ANY),
    may("resyncMs", &ANY),
    may("metrics", &ANY),
    may("opening", &TEXT),
    may("show", &SHOW),
    may("lesson", &LESSON),
];
/// Those of them that are a scenario's own: `share` reads them.
pub const SCENARIO: [&str; 12] = [
    "name",
    "seed",
    "epochMs",
    "nodes",
    "manifest",
    "cluster",
    "behaviors",
    "latency",
    "maxPods",
    "clientLimit",
    "resyncMs",
    "metrics",
];

static SHOW: Shape = Shape::Fields(&SHOWS);
pub static SHOWS: [Field; 5] =
    [may("view", &VIEW), may("panes", &PANES), may("object", &TEXT), may("speed", &NUMBER), may("at", &SPAN)];

static LESSON: Shape = Shape::Fields(&LESSONS);
pub static LESSONS: [Field; 7] = [
    must("concept", &CONCEPT),
    must("misconception", &TEXT),
    must("minutes", &MINUTES),
    must("backed-by", &TEXTS),
    must("steps", &STEPS),
    may("free", &FLAG),
    may("order", &ORDER),
];

static STEPS: Shape = Shape::List(&Shape::Fields(&STEP));
pub static STEP: [Field; 11] = [
    may("title", &TEXT),
    must("text", &TEXT),
    may("prediction", &PREDICTION),
    may("allowed", &TEXTS),
    may("do", &DEEDS),
    may("goal", &PREDICATE),
    may("within", &SPAN),
    may("solution", &DEEDS),
    may("then", &TEXT),
    may("explain", &EXPLAINS),
    may("claims", &CLAIMS),
];

static DEEDS: Shape = Shape::List(&Shape::Fields(&DEED));
pub static DEED: [Field; 3] = [must("run", &TEXT), may("label", &TEXT), may("at", &SPAN)];

static EXPLAINS: Shape = Shape::List(&Shape::Fields(&EXPLAIN));
pub static EXPLAIN: [Field; 2] = [must("text", &TEXT), must("event", &MATCH)];

static CLAIMS: Shape = Shape::List(&Shape::Fields(&CLAIM));
pub static CLAIM: [Field; 2] = [must("says", &TEXT), must("that", &PREDICATE)];

static PREDICTION: Shape = Shape::Fields(&PREDICTIONS);
pub static PREDICTIONS: [Field; 8] = [
    must("question", &TEXT),
    may("number", &NUMBERS),
    may("choices", &CHOICES),
    must("answer", &NUMBER),
    may("give", &NUMBER),
    may("measure", &MEASURE),
    must("right", &TEXT),
    must("wrong", &TEXT),
];
static NUMBERS: Shape = Shape::Fields(&RANGE);
pub static RANGE: [Field; 3] = [must("least", &NUMBER), must("most", &NUMBER), may("unit", &TEXT)];
static CHOICES: Shape = Shape::List(&Shape::Fields(&CHOICE));
pub static CHOICE: [Field; 2] = [must("text", &TEXT), may("when", &PREDICATE)];

/// Words for what an event of the trace is.
pub const EVENTS: [&str; 14] = [
    "command", "observe", "diff", "act", "write", "create", "delete", "refuse", "conflict", "fail", "event", "node",
    "fault", "outside",
];
static MATCH: Shape = Shape::Fields(&MATCHES);
pub static MATCHES: [Field; 4] =
    [must("kind", &Shape::Word(&EVENTS)), may("by", &TEXT), may("object", &TEXT), may("text", &TEXT)];

/// What a number is compared with.
const IS: Field = may("is", &SCALAR);
const LEAST: Field = may("least", &NUMBER);
const MOST: Field = may("most", &NUMBER);

static READY: [Field; 9] = [
    may("deployment", &TEXT),
    may("replicaset", &TEXT),
    may("statefulset", &TEXT),
    may("daemonset", &TEXT),
    may("job", &TEXT),
    may("all", &FLAG),
    IS,
    LEAST,
    MOST,
];
pub const POD_STATES: [&str; 7] = ["active", "any", "ready", "not-ready", "pending", "terminating", "crashing"];
static PODS: [Field; 7] = [
    may("selector", &TEXT),
    may("node", &TEXT),
    may("image", &TEXT),
    may("state", &Shape::Word(&POD_STATES)),
    IS,
    LEAST,
    MOST,
];
static OBJECTS: [Field; 4] = [must("kind", &TEXT), IS, LEAST, MOST];
static FIELD: [Field; 5] = [must("object", &TEXT), must("path", &TEXT), IS, LEAST, MOST];
static TRACE: [Field; 7] =
    [must("kind", &Shape::Word(&EVENTS)), may("by", &TEXT), may("object", &TEXT), may("text", &TEXT), IS, LEAST, MOST];
static BETWEEN: [Field; 5] = [must("from", &MATCH), must("to", &MATCH), IS, LEAST, MOST];
static PEAK: [Field; 5] = [must("name", &TEXT), may("active", &FLAG), IS, LEAST, MOST];
static LOWEST: [Field; 3] = [IS, LEAST, MOST];
pub const ROOM_PARTS: [&str; 6] = ["temperature", "desired", "heater", "off-by", "overshoot", "hysteresis"];
static ROOM: [Field; 4] = [must("of", &Shape::Word(&ROOM_PARTS)), IS, LEAST, MOST];
static PLAN: [Field; 3] = [IS, LEAST, MOST];
static CLOUD: [Field; 5] = [must("id", &TEXT), must("attribute", &TEXT), IS, LEAST, MOST];
pub const TRAFFIC_PARTS: [&str; 5] = ["success", "success-in-all", "sent", "lost-in-all", "load"];
static TRAFFIC: [Field; 5] = [must("to", &TEXT), must("of", &Shape::Word(&TRAFFIC_PARTS)), IS, LEAST, MOST];
static FIGHTS: [Field; 5] = [may("object", &TEXT), may("path", &TEXT), IS, LEAST, MOST];
static ELAPSED: [Field; 3] = [IS, LEAST, MOST];

/// What can be counted or read: all that a prediction may ask for.
pub static MEASURES: [Field; 14] = [
    may("ready", &Shape::Fields(&READY)),
    may("pods", &Shape::Fields(&PODS)),
    may("objects", &Shape::Fields(&OBJECTS)),
    may("field", &Shape::Fields(&FIELD)),
    may("trace", &Shape::Fields(&TRACE)),
    may("between", &Shape::Fields(&BETWEEN)),
    may("peak", &Shape::Fields(&PEAK)),
    may("lowest-ready", &Shape::Fields(&LOWEST)),
    may("room", &Shape::Fields(&ROOM)),
    may("plan", &Shape::Fields(&PLAN)),
    may("cloud", &Shape::Fields(&CLOUD)),
    may("traffic", &Shape::Fields(&TRAFFIC)),
    may("fights", &Shape::Fields(&FIGHTS)),
    may("elapsed", &Shape::Fields(&ELAPSED)),
];
pub static MEASURE: Shape = Shape::One(&MEASURES);

static EXISTS: Shape = Shape::Fields(&[must("object", &TEXT)]);
static CONDITION: Shape =
    Shape::Fields(&[must("object", &TEXT), must("type", &TEXT), must("status", &TEXT), may("reason", &TEXT)]);
static EVENT: Shape = Shape::Fields(&[must("reason", &TEXT), may("object", &TEXT), may("text", &TEXT)]);
static OWNER: Shape = Shape::Fields(&[must("object", &TEXT), must("path", &TEXT), must("manager", &TEXT)]);
static SYNC: [&str; 3] = ["Synced", "OutOfSync", "Unknown"];
static HEALTH: [&str; 5] = ["Healthy", "Progressing", "Degraded", "Missing", "Suspended"];
static GIT: Shape = Shape::Fields(&[may("sync", &Shape::Word(&SYNC)), may("health", &Shape::Word(&HEALTH))]);
static UP: Shape = Shape::Fields(&[must("process", &TEXT), may("is", &FLAG)]);
static STAYS: Shape = Shape::Fields(&[must("for", &SPAN), must("that", &PREDICATE)]);
static PREDICATE_LIST: Shape = Shape::List(&PREDICATE);

pub static PREDICATES: [Field; 27] = [
    may("ready", &Shape::Fields(&READY)),
    may("pods", &Shape::Fields(&PODS)),
    may("objects", &Shape::Fields(&OBJECTS)),
    may("field", &Shape::Fields(&FIELD)),
    may("trace", &Shape::Fields(&TRACE)),
    may("between", &Shape::Fields(&BETWEEN)),
    may("peak", &Shape::Fields(&PEAK)),
    may("lowest-ready", &Shape::Fields(&LOWEST)),
    may("room", &Shape::Fields(&ROOM)),
    may("plan", &Shape::Fields(&PLAN)),
    may("cloud", &Shape::Fields(&CLOUD)),
    may("traffic", &Shape::Fields(&TRAFFIC)),
    may("fights", &Shape::Fields(&FIGHTS)),
    may("elapsed", &Shape::Fields(&ELAPSED)),
    may("exists", &EXISTS),
    may("condition", &CONDITION),
    may("event", &EVENT),
    may("owner", &OWNER),
    may("git", &GIT),
    may("up", &UP),
    may("observed", &EXISTS),
    may("rolled-out", &EXISTS),
    may("converged", &FLAG),
    may("stays", &STAYS),
    may("all", &PREDICATE_LIST),
    may("any", &PREDICATE_LIST),
    may("not", &PREDICATE),
];
pub static PREDICATE: Shape = Shape::One(&PREDICATES);
