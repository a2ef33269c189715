//! The format of scenario files: what is read, what is wrong with the rest, and what is written about it.

use std::fs;
use std::path::Path;

use loopscope_engine::lesson::{self, ABOUT, Lesson, Mistake, Progress, Standing, read_bet};
use loopscope_engine::share::{Handed, read_file, write_scenario_file};
use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::world::Scenario;

const ENGINE: &str = env!("CARGO_MANIFEST_DIR");

/// A file with one step, whose goal is given.
fn file(goal: &str) -> String {
    format!(
        "# Loopscope scenario 1\ntitle: Test\nlesson:\n  concept: [the-loop]\n  misconception: None.\n  minutes: 2\n  \
         backed-by: []\n  steps:\n    - text: Do it.\n      goal: {goal}\n      solution: [{{run: node stop node-1}}]\n"
    )
}

fn mistakes(text: &str) -> Vec<Mistake> {
    lesson::read(text).err().unwrap_or_default()
}

/// The first mistake, as it is told.
#[track_caller]
fn said(text: &str) -> String {
    mistakes(text).first().map(ToString::to_string).unwrap_or_else(|| panic!("nothing is wrong with\n{text}"))
}

fn read(text: &str) -> Lesson {
    lesson::read(text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"))
}

#[test]
fn an_unknown_field_has_a_place_and_a_suggestion() {
    let text = file("{converged: true}").replace("      goal:", "      gaol:");
    assert_eq!(said(&text), "line 10, column 7: the field gaol is not known here. Did you mean goal?");
    assert_eq!(
        said("# Loopscope scenario 1\ntitel: A\n"),
        "line 2, column 1: the field titel is not known here. Did you mean title?"
    );
    let deep = file("{all: [{ready: {deploymnet: web, is: 3}}]}");
    assert!(
        said(&deep).ends_with("the field deploymnet is not known here. Did you mean deployment?"),
        "{}",
        said(&deep)
    );
    let node = "# Loopscope scenario 1\nnodes:\n  - name: node-1\n    cpus: 4\n";
    assert!(said(node).starts_with("line 4, column 11: the field nodes[0].cpus is not known"), "{}", said(node));
    assert_eq!(mistakes("# Loopscope scenario 1\na: 1\nb: 2\n").len(), 2, "all are told");
}

#[test]
fn a_mistake_in_the_manifest_has_its_place_in_the_file() {
    let text = "# Loopscope scenario 1\ntitle: A\nmanifest: |\n  apiVersion: apps/v1\n  kind: Deploymint\n  metadata: {name: web}\n";
    let told = said(text);
    assert!(told.starts_with("line 5, column 9: kind: no matches for kind \"Deploymint\""), "{told}");
    assert!(told.ends_with("Did you mean Deployment?"), "{told}");
}

#[test]
fn what_a_value_must_be_is_said() {
    for (goal, why) in [
        ("{}", "lesson.steps[0].goal must have exactly one field"),
        ("{converged: true, up: {process: x}}", "must have exactly one field"),
        ("{ready: {deployment: web}}", "compares with nothing: is, least or most"),
        ("{ready: {is: 3}}", "must name one workload: deployment: web, or all: true"),
        ("{pods: {selector: web, is: 3}}", "selector must be labels such as app=web"),
        ("{pods: {state: reddy, is: 3}}", "must be one of: active, any, ready, not-ready"),
        ("{exists: {object: web}}", "object must name an object, such as deployment/web, not \"web\""),
        ("{exists: {object: deploymnt/web}}", "must name an object"),
        ("{trace: {kind: write, object: podd, least: 1}}", "there is no kind of object called so: podd"),
        ("{stays: {for: soon, that: {converged: true}}}", "must be a time such as 250ms, 60s or 5m"),
        ("{all: []}", "lesson.steps[0].goal.all names nothing"),
        ("{git: {}}", "names nothing: sync or health"),
        ("{room: {of: heater, least: 0.1234}}", "must be a number with at most three digits after the point"),
    ] {
        let all: Vec<String> = mistakes(&file(goal)).iter().map(ToString::to_string).collect();
        assert!(all.iter().any(|it| it.contains(why)), "{goal}: {all:#?}");
    }
}

#[test]
fn a_newer_or_foreign_file_is_told_apart() {
    assert_eq!(
        said("# Loopscope scenario 2\ntitle: A\n"),
        "line 1, column 1: the file is in version 2 of the format; this Loopscope reads up to 1. A newer one reads it"
    );
    let foreign =
        "line 1, column 1: the first line must be \"# Loopscope scenario 1\": this file was not written for Loopscope";
    for text in ["", "title: A\n", "# Loopscope journal 1\n", "# Loopscope scenario 0\n", "# Loopscope scenario x\n"] {
        assert_eq!(said(text), foreign, "{text}");
    }
    assert!(said("# Loopscope scenario 1\ntitle: [\n").starts_with("line "));
    assert!(said(&format!("# Loopscope scenario 1\n#{}", "x".repeat(3_000_000))).contains("more than 2048 kB"));
}

#[test]
fn commands_texts_and_steps_are_checked() {
    let opening =
        "# Loopscope scenario 1\ntitle: A\nopening: |\n  1.000s node stop node-1\n  2.000s node stob node-1\n";
    assert_eq!(said(opening), "line 5, column 3: unknown command \"node stob node-1\"");
    let late = opening.replace("2.000s node stob", "0.500s node start");
    assert!(said(&late).contains("comes after a later one"), "{}", said(&late));
    let base = file("{converged: true}");
    for (from, to, why) in [
        ("run: node stop node-1", "run: node stob node-1", "the command cannot be read: unknown command"),
        ("run: node stop node-1", "run: 'kubectl get pods'", "the command cannot be read"),
        ("run: node stop node-1", "run: 'node stop {node web}'", "is nothing that stands for a name"),
        ("text: Do it.", "text: Do `it.", "lacks its `"),
        ("text: Do it.", "text: '[Do](#what) it.'", "#what is no part of the page"),
        ("      solution: [{run: node stop node-1}]\n", "", "a step with a goal needs a solution"),
        ("text: Do it.", "text: Do it.\n      allowed: [kubectl]", "the step does not allow its own command"),
        ("{run: node stop node-1}", "{run: node stop node-1, at: 2m}", "beyond the time of the step"),
        ("concept: [the-loop]", "concept: [the-lop]", "Did you mean the-loop?"),
        ("  minutes: 2\n", "", "the field minutes is missing in lesson"),
        ("      goal: {converged: true}\n", "", "must have a step with a goal"),
    ] {
        assert!(base.contains(from), "{from}");
        let text = base.replace(from, to);
        let all: Vec<String> = mistakes(&text).iter().map(ToString::to_string).collect();
        assert!(all.iter().any(|it| it.contains(why)), "{to}: {all:#?}");
    }
}

#[test]
fn a_prediction_asks_for_one_thing_and_its_answer_is_one_of_the_answers() {
    let with = |what: &str| {
        let prediction = format!("prediction: {{question: What?, right: Yes., wrong: No., {what}}}");
        file("{converged: true}").replace("      goal:", &format!("      {prediction}\n      goal:"))
    };
    assert!(mistakes(&with("number: {least: 0, most: 5}, answer: 3, measure: {pods: {}}")).is_empty());
    assert!(mistakes(&with("choices: [{text: A}, {text: B}], answer: 2")).is_empty());
    for (what, why) in [
        ("answer: 3", "asks for a number, or for one of at least two choices"),
        ("choices: [{text: A}], answer: 1", "at least two choices"),
        ("number: {least: 0, most: 5}, answer: 6", "the answer is not between least and most"),
        ("choices: [{text: A}, {text: B}], answer: 3", "the place of a choice, from 1 to 2"),
        ("number: {least: 0, most: 5}, answer: 3, measure: {converged: true}", "the field converged is not known here"),
    ] {
        let all: Vec<String> = mistakes(&with(what)).iter().map(ToString::to_string).collect();
        assert!(all.iter().any(|it| it.contains(why)), "{what}: {all:#?}");
    }
    assert_eq!(
        [read_bet(" 21.5 "), read_bet("3"), read_bet("-1"), read_bet("x"), read_bet("")],
        [Some(21_500), Some(3_000), Some(-1_000), None, None]
    );
}

/// Whatever `share` writes of a scenario is a file of this format, and means the same.
#[test]
fn a_scenario_without_a_lesson_is_read_as_well() {
    for scenario in [Scenario::self_healing(), Scenario::thermostat(), Scenario::with_nodes(3, 5, "8", "16Gi")] {
        let text = write_scenario_file(&scenario);
        let lesson = read(&text);
        assert_eq!((&lesson.scenario, lesson.has_course()), (&scenario, false));
        assert_eq!(lesson.title, scenario.name);
        assert_eq!(read_file(&text), Ok(Handed::Scenario(scenario)));
    }
}

#[test]
fn a_lesson_begins_at_its_moment() {
    let text = "# Loopscope scenario 1\ntitle: A\nseed: 3\nopening: |\n  2.000s node stop node-1\nshow: {at: 5s, object: node/node-1}\n";
    let lesson = read(text);
    let moment = lesson.moment();
    assert_eq!((moment.at.at, moment.at.commands, moment.steps.len()), (Time(5_000), 1, 1));
    assert_eq!((moment.scenario.name.as_str(), moment.scenario.seed), ("A", 3));
    assert_eq!(moment.selected.expect("an object").to_string(), "Node/node-1");
    let simulation = lesson::open(&lesson).expect("it opens");
    assert_eq!((simulation.now(), simulation.journal().len()), (Time(5_000), 1));
    let refused = text.replace("node stop node-1", "node stop node-9");
    let why = lesson::open(&read(&refused)).err().expect("there is no such node");
    assert!(why.contains("node-9"), "{why}");
}

/// A step waits, is met, stays so, and is late; and going back in time takes it back.
#[test]
fn progress_follows_the_clock_both_ways() {
    let mut lesson =
        read(&file("{stays: {for: 2s, that: {condition: {object: node/node-1, type: Ready, status: 'True'}}}}"));
    let step = &mut lesson.course.steps[0];
    step.within = Millis(3_000);
    let mut simulation = lesson::open(&read("# Loopscope scenario 1\ntitle: A\nshow: {at: 10s}\n")).expect("opens");
    let mut progress = Progress::begin(&simulation);
    let early = simulation.clone();
    assert_eq!(progress.look(step, &simulation), Standing::Waiting(Millis(3_000)));
    simulation.run_until(Time(12_000), 1_000_000);
    assert_eq!(progress.look(step, &simulation), Standing::Met(Time(12_000)));
    simulation.run_until(Time(60_000), 1_000_000);
    assert_eq!(progress.look(step, &simulation), Standing::Met(Time(12_000)), "what was met stays met");
    assert_eq!(progress.look(step, &early), Standing::Waiting(Millis(3_000)), "the clock was put back");
    let before = lesson::open(&read("# Loopscope scenario 1\ntitle: A\nshow: {at: 9s}\n")).expect("opens");
    assert_eq!(progress.look(step, &before), Standing::Before);
    let mut fresh = Progress::begin(&early);
    assert_eq!(fresh.look(step, &simulation), Standing::Late, "it has not lasted as far as was seen");
}

#[test]
fn what_stands_for_names_is_filled_in() {
    let text = "# Loopscope scenario 1\ntitle: A\nmanifest: |\n  apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: web}\n  spec:\n    replicas: 3\n    selector: {matchLabels: {app: web}}\n    template:\n      metadata: {labels: {app: web}}\n      spec: {containers: [{name: app, image: a}]}\nshow: {at: 20s}\n";
    let simulation = lesson::open(&read(text)).expect("opens");
    let fill = |line: &str| lesson::fill(line, &simulation);
    let (one, two) = (fill("{pod app=web}").expect("a pod"), fill("{pod app=web 2}").expect("another"));
    assert!(one.starts_with("web-") && two.starts_with("web-") && one != two);
    assert_eq!(fill("x {pod app=web}/{pod app=web 2} y"), Some(format!("x {one}/{two} y")));
    assert!(fill("{node app=web}").expect("a node").starts_with("node-"));
    assert_eq!((fill("{pod app=web 4}"), fill("{oldest app=api}")), (None, None));
    assert_eq!(fill("-p '{\"a\": {}}'").as_deref(), Some("-p '{\"a\": {}}'"), "other braces stay");
}

/// `docs/scenario.schema.json` is written from the table that the reader checks against:
/// `cargo run -p loopscope-run -- --schema`.
#[test]
fn the_schema_is_the_one_of_the_reader_and_every_field_is_described() {
    let schema = lesson::schema();
    let path = Path::new(ENGINE).join("../docs/scenario.schema.json");
    let text = fs::read_to_string(path).expect("the schema is there");
    assert_eq!(text, format!("{schema:#}\n"), "loopscope-run --schema writes it anew");
    let described = text.matches("\"description\"").count();
    assert!(described > 100, "{described}");
    for pointer in [
        "/properties/opening/description",
        "/properties/lesson/properties/steps/items/properties/claims/items/properties/says/description",
        "/properties/lesson/properties/steps/items/properties/solution/items/properties/run/description",
        "/$defs/goal/properties/rolled-out/description",
        "/$defs/measure/properties/peak/description",
        "/$defs/match/properties/kind/description",
    ] {
        assert!(schema.pointer(pointer).is_some(), "{pointer}");
    }
    let bare: Vec<&str> = undescribed(&schema["properties"]);
    assert!(bare.is_empty(), "{bare:?}");
    let page = fs::read_to_string(Path::new(ENGINE).join("../docs/scenarios.md")).expect("the page is there");
    for (field, _) in ABOUT {
        let name = field.split_once('.').expect("two names").1;
        assert!(
            page.contains(&format!("`{name}`")) || page.contains(&format!("{name}:")),
            "docs/scenarios.md lacks {field}"
        );
    }
}

/// The fields of an object's schema without a description, those of measures left out.
fn undescribed(properties: &serde_json::Value) -> Vec<&str> {
    let all = properties.as_object().into_iter().flatten();
    all.flat_map(|(name, it)| {
        let own = it.get("description").is_none().then_some(name.as_str());
        let inner = it.get("properties").or_else(|| it.pointer("/items/properties"));
        let is_scenario = matches!(name.as_str(), "nodes" | "latency" | "clientLimit" | "metrics");
        let inner = inner.filter(|_| !is_scenario).map(|it| undescribed(it)).unwrap_or_default();
        own.into_iter().chain(inner)
    })
    .collect()
}

/// Every field of the schema is one that the reader takes, and the built-in files have no others.
#[test]
fn the_built_in_files_match_the_schema() {
    let schema = lesson::schema();
    let folder = Path::new(ENGINE).join("../public/scenarios");
    for entry in fs::read_dir(folder).expect("there").filter_map(Result::ok) {
        let path = entry.path();
        if path.extension().is_some_and(|it| it == "yaml") {
            let text = fs::read_to_string(&path).expect("read");
            let value = loopscope_engine::manifest::value(&text).expect("YAML");
            let wrong = violations(&schema, &schema, &value);
            assert!(wrong.is_empty(), "{}: {wrong:#?}", path.display());
        }
    }
    let bad = serde_json::json!({"titel": "A"});
    assert_eq!(violations(&schema, &schema, &bad), ["titel"]);
}

/// Properties that a schema does not have, found by following `properties`, `items` and `$ref`.
fn violations(root: &serde_json::Value, schema: &serde_json::Value, value: &serde_json::Value) -> Vec<String> {
    let schema = match schema.get("$ref").and_then(|it| it.as_str()) {
        Some(path) => root.pointer(path.trim_start_matches('#')).expect("the reference leads somewhere"),
        None => schema,
    };
    match value {
        serde_json::Value::Object(map) => {
            let each =
                |(name, value): (&String, &serde_json::Value)| match schema.pointer(&format!("/properties/{name}")) {
                    Some(inner) => violations(root, inner, value),
                    None if schema.get("additionalProperties").is_none_or(|it| it.is_object()) => Vec::new(),
                    None => vec![name.clone()],
                };
            map.iter().flat_map(each).collect()
        }
        serde_json::Value::Array(items) => match schema.get("items") {
            Some(inner) => items.iter().flat_map(|it| violations(root, inner, it)).collect(),
            None => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The page about the format shows a file, and it is one.
#[test]
fn the_example_of_the_docs_can_be_done() {
    let page = fs::read_to_string(Path::new(ENGINE).join("../docs/scenarios.md")).expect("the page is there");
    let from = page.find("# Loopscope scenario 1\ntitle:").expect("an example");
    let text = page[from..].split("```").next().expect("its end");
    let lesson = read(text);
    let mut simulation = lesson::open(&lesson).expect("it opens");
    let step = &lesson.course.steps[0];
    let played = lesson::play(&mut simulation, step, &step.solution).expect("it can be played");
    assert!(matches!(played.standing, Standing::Met(_)), "{played:?}");
    let prediction = step.prediction.as_ref().expect("a prediction");
    assert_eq!(played.progress.answer(prediction, &simulation), Some(prediction.answer));
}
