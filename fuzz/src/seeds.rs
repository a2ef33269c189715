//! What fuzzers begin with, made of what the tests have.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use loopscope_engine::manifest;
use serde_json::Value;

use super::lines::{COMMANDS, MANIFESTS, TYPED};

/// Larger texts make a fuzzer slow, and teach it little more.
const MOST_BYTES: usize = 6 << 10;

/// Inputs for a target to begin with.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let tests = root.join("engine/tests/data");
    let texts = match target {
        "manifest" => manifests(&tests),
        "kubectl" => typed(&tests),
        "scenario" => files(&root.join("public/scenarios")).iter().map(|it| text(it)).collect(),
        "share" => shared(&tests),
        "dump" => dumps(&tests),
        "embed" => messages(),
        _ => return plans(),
    };
    let small = texts.into_iter().filter(|it| !it.is_empty() && it.len() <= MOST_BYTES);
    small.map(String::into_bytes).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|it| it.path()).filter(|it| it.is_file()).collect();
    files.sort();
    files
}

fn text(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

fn blank(line: &str) -> String {
    let manifest = MANIFESTS[0];
    line.replace("{manifest}", manifest)
        .replace("{workload}", "deployment/web")
        .replace("{program}", "kube-controller-manager")
        .replace("{node}", "node-1")
        .replace("{pod}", "db-0")
        .replace("{ns}", "default")
        .replace("{tag}", "v1")
        .replace(['{', '}'], "")
}

/// Each document by itself.
fn manifests(tests: &Path) -> Vec<String> {
    let all = files(&tests.join("manifests")).iter().map(|it| text(it)).collect::<Vec<_>>();
    let mut found: Vec<String> = all.iter().flat_map(|it| it.split("\n---\n")).map(str::to_owned).collect();
    found.extend(MANIFESTS.iter().map(|it| it.replace("{n}", "2").replace("{m}", "3").replace("{tag}", "v1")));
    for name in ["yaml_documents.json", "yaml_scalars.json", "apply_errors.json"] {
        collect(
            &serde_json::from_str(&text(&tests.join(name))).unwrap_or_default(),
            &["yaml", "text", "manifest", "stdin", "input"],
            &mut found,
        );
    }
    found
}

/// Every text of a field that has one of these names.
fn collect(value: &Value, names: &[&str], found: &mut Vec<String>) {
    match value {
        Value::Array(all) => all.iter().for_each(|it| collect(it, names, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str().filter(|_| names.contains(&name.as_str())) {
                    Some(text) => found.push(text.to_owned()),
                    None => collect(value, names, found),
                }
            }
        }
        _ => {}
    }
}

/// Recorded lines, and those of the plans.
fn typed(tests: &Path) -> Vec<String> {
    let mut found: Vec<String> = TYPED.iter().map(|it| blank(it)).collect();
    for file in files(&tests.join("kubectl")) {
        let mut source = String::new();
        let packed = fs::read(&file).unwrap_or_default();
        if GzDecoder::new(packed.as_slice()).read_to_string(&mut source).is_err() {
            continue;
        }
        let recording: Value = serde_json::from_str(&source).unwrap_or_default();
        for step in recording["steps"].as_array().into_iter().flatten() {
            let line = step["cmd"].as_str().unwrap_or_default();
            match step["stdin"].as_str() {
                Some(input) => found.push([line, " <<'EOF'\n", input, "\nEOF"].concat()),
                None => found.push(line.to_owned()),
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

fn shared(tests: &Path) -> Vec<String> {
    let mut found: Vec<String> = files(&tests.join("share")).iter().map(|it| text(it)).collect();
    // Links one by one, and the moments in them.
    let links = text(&tests.join("share/v1.txt"));
    found.extend(
        links.split("\n====\n").flat_map(|it| it.split_once('\n')).flat_map(|(link, it)| [link.into(), it.into()]),
    );
    found.extend(files(&tests.join("journals")).iter().map(|it| ["# Loopscope journal 1\n", &text(it)].concat()));
    found.extend(COMMANDS.iter().map(|it| ["# Loopscope journal 1\n1.500s ", &blank(it), "\n"].concat()));
    found
}

/// The objects of a real dump, each by itself and some together.
fn dumps(tests: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for file in files(&tests.join("dumps")) {
        let Ok(mut list) = manifest::value(&text(&file)) else { continue };
        let mut items = list["items"].as_array_mut().map(std::mem::take).unwrap_or_default();
        for item in &mut items {
            if let Some(meta) = item["metadata"].as_object_mut() {
                meta.remove("managedFields");
            }
        }
        let of = |items: &[Value]| serde_json::json!({"apiVersion": "v1", "kind": "List", "items": items});
        found.extend(items.iter().map(manifest::to_yaml));
        found.extend(items.chunks(3).map(|it| manifest::to_yaml(&of(it))));
        found.extend(items.chunks(4).map(|it| of(it).to_string()));
    }
    found
}

fn messages() -> Vec<String> {
    let fields = [
        r#""type":"ping""#,
        r#""type":"play""#,
        r#""type":"pause""#,
        r#""type":"share""#,
        r#""type":"step","by":"write","back":true"#,
        r#""type":"seek","t":12000"#,
        r#""type":"apply","yaml":"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n""#,
        r#""type":"command","kubectl":"kubectl get pods -o wide""#,
        r#""type":"load","scenario":"empty""#,
        r##""type":"load","hash":"#1.DcjBCoAgDADQ-77CexhLCYf3PmQsgyA13Dr093V9bNnhjIg6IUivlduuP4FKaTzOnt1Wb3udXI9aGaDGVrILIUVKCxMJHUtcwXsPHw.AfiKpn8Mw-I""##,
        r#""type":"theme","theme":"dark""#,
        r#""type":"lang","lang":"en-GB""#,
        r#""type":"highlight","ref":"pods/ready""#,
    ];
    fields.iter().map(|it| [r#"{"app":"loopscope","v":1,"id":7,"#, it, "}"].concat()).collect()
}

/// Every move once, with time between.
fn plans() -> Vec<Vec<u8>> {
    let mut random = 1_u32;
    let mut byte = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 24) as u8
    };
    (0..120).map(|n| (0..20 + n * 2).map(|_| byte()).collect()).collect()
}
