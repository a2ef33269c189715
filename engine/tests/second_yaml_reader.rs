//! A second YAML reader (serde-saphyr) reads the same values out of every document that the tests have.
//!
//! Ours builds its own tree, with places and Kubernetes' scalar rules, on the events of saphyr-parser. serde-saphyr has a
//! parser of its own and builds values by serde. What each rule of Kubernetes makes different is listed.

use loopscope_engine::manifest::read;
use loopscope_engine::world::{Command, Scenario, read_journal};
use serde_json::Value;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

fn data(name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(format!("{DATA}/{name}")).expect("a file")).expect("JSON")
}

fn files(folder: &str) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(format!("{DATA}/{folder}")).expect("a folder").filter_map(Result::ok);
    let read = |path: std::path::PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy().to_string();
        (name, std::fs::read_to_string(path).expect("text"))
    };
    let mut all: Vec<_> = entries.map(|entry| read(entry.path())).collect();
    all.sort();
    all
}

/// Every text with manifests that other tests use, with a name.
fn texts() -> Vec<(String, String)> {
    let mut all = files("manifests");
    for (name, journal) in files("journals") {
        for (index, entry) in read_journal(&journal).expect("a journal").into_iter().enumerate() {
            if let Command::Apply { manifest } = entry.command {
                all.push((format!("{name} {index}"), manifest));
            }
        }
    }
    all.push(("the first scenario".into(), Scenario::self_healing().manifest));
    for row in data("yaml_documents.json").as_array().expect("rows") {
        all.push((row[0].as_str().expect("a name").into(), row[1].as_str().expect("a text").into()));
    }
    for file in ["apply_errors.json", "apply_errors_existing.json"] {
        for row in data(file).as_array().expect("rows") {
            all.push((format!("{file} {}", row[0]), row[2].as_str().expect("a text").into()));
        }
    }
    all
}

/// Whether both mean the same where Kubernetes' rules for scalars are applied to theirs: a field that is null is left out,
/// or an empty text where only text may stand; a number without a fraction is a whole one.
fn is_same(ours: Option<&Value>, theirs: &Value) -> bool {
    match (ours, theirs) {
        (None, Value::Null) => true,
        (Some(Value::String(ours)), Value::Null) => ours.is_empty(),
        (Some(Value::Object(ours)), Value::Object(theirs)) => {
            theirs.iter().all(|(key, their)| is_same(ours.get(key), their))
                && ours.keys().all(|key| theirs.contains_key(key))
        }
        (Some(Value::Array(ours)), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(our, their)| is_same(Some(our), their))
        }
        (Some(Value::Number(ours)), Value::Number(theirs)) => {
            ours == theirs || theirs.is_f64() && ours.as_f64() == theirs.as_f64()
        }
        (Some(ours), theirs) => ours == theirs,
        (None, _) => false,
    }
}

/// What is read differently. `recorded_manifests.rs` holds ours to what the real kubectl makes of the same texts.
const KNOWN: [(&[&str], &str); 6] = [
    (
        &["key 010", "key 0x10", "key 1.0", "key 1e3", "key on", "key y", "key yes", "keys yes and true"],
        "keys are scalars by the same rules in Kubernetes: `yes` is true, 0x10 is 16",
    ),
    (&["merge key after own key"], "in Kubernetes a merge key that comes later wins"),
    (&["%YAML 1.1 directive"], "Kubernetes takes the lines before `---` for a document, which is broken here"),
    (
        &["anchor across documents", "apply_errors.json 89", "four dashes"],
        "one document is broken: they give up the whole text, we read the others",
    ),
    (&["BOM in the second document"], "Kubernetes takes each document for a text of its own"),
    (&["two JSON objects"], "Kubernetes reads a text that begins with a brace as a stream of JSON"),
];

/// The objects in a document: a List holds several.
fn objects(document: Value) -> Vec<Value> {
    let is_list = document["kind"].as_str().is_some_and(|kind| kind.ends_with("List"));
    match document["items"].as_array() {
        Some(items) if is_list => items.clone(),
        _ => vec![document],
    }
}

#[test]
fn both_read_the_same_values() {
    let (mut documents, mut different) = (0, Vec::new());
    for (name, text) in texts() {
        let ours = read(&text);
        let options = serde_saphyr::options! {
            legacy_octal_numbers: true,
            duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::LastWins,
        };
        let theirs = match serde_saphyr::from_multiple_with_options::<Value>(&text, options) {
            Ok(all) => all.into_iter().filter(|it| !it.is_null()).flat_map(objects).collect::<Vec<_>>(),
            Err(_) if ours.documents.is_empty() => continue,
            Err(error) => {
                println!("{name}: they say {error}");
                different.push(name);
                continue;
            }
        };
        documents += ours.documents.len();
        let other =
            ours.documents.iter().find(|it| !is_same(Some(&it.value), theirs.get(it.index).unwrap_or(&Value::Null)));
        if let Some(document) = other {
            println!("{name}: we read {}, they {:?}", document.value, theirs.get(document.index));
            different.push(name);
        }
    }
    different.sort();
    println!("{documents} documents");
    let mut known: Vec<&str> = KNOWN.iter().flat_map(|(names, _)| names.iter().copied()).collect();
    known.sort_unstable();
    assert_eq!(different, known);
    assert!(documents > 300, "{documents} documents");
}
