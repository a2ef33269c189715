//! The layers of the engine, held by reading its `use` lines.

use std::fs;
use std::path::{Path, PathBuf};

/// Each layer with the layers it may use. `note` is the macro of `client`.
const LAYERS: [(&str, &[&str]); 18] = [
    ("sim", &[]),
    ("api", &["sim"]),
    ("manifest", &["api", "sim"]),
    ("apiserver", &["api", "sim"]),
    ("dump", &["api", "manifest", "sim", "apiserver"]),
    ("gitops", &["api", "sim"]),
    ("iac", &["api", "manifest", "sim"]),
    ("client", &["api", "sim", "apiserver", "gitops", "iac", "note"]),
    ("controllers", &["api", "manifest", "sim", "apiserver", "gitops", "iac", "client", "note"]),
    ("environment", &["api", "sim", "client", "note"]),
    ("kubectl", &["api", "manifest", "sim", "apiserver"]),
    (
        "world",
        &[
            "api",
            "manifest",
            "sim",
            "apiserver",
            "gitops",
            "iac",
            "client",
            "controllers",
            "environment",
            "kubectl",
            "dump",
            "note",
        ],
    ),
    ("history", &["api", "apiserver", "kubectl", "sim", "world"]),
    ("share", &["api", "manifest", "sim", "dump", "environment", "world"]),
    (
        "view",
        &[
            "api",
            "manifest",
            "sim",
            "apiserver",
            "gitops",
            "iac",
            "client",
            "controllers",
            "environment",
            "kubectl",
            "world",
            "note",
        ],
    ),
    ("embed", &[]),
    ("export", &["api", "sim", "client", "world", "share", "view"]),
    ("lesson", &["api", "manifest", "sim", "apiserver", "iac", "client", "controllers", "world", "share", "view"]),
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the engine's sources are there").filter_map(Result::ok);
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The names that follow `crate::` in a text, comments left out; those in braces one by one.
fn used_modules(text: &str) -> Vec<String> {
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut used = Vec::new();
    for (at, marker) in code.match_indices("crate::") {
        let after = &code[at + marker.len()..];
        let list = after.strip_prefix('{').map(|rest| &rest[..rest.find("};").unwrap_or(rest.len())]);
        match list {
            Some(list) => {
                used.extend(list.split(',').map(|part| part.trim().chars().take_while(|c| is_name(*c)).collect()))
            }
            None => used.push(after.chars().take_while(|c| is_name(*c)).collect()),
        }
    }
    used.retain(|name: &String| !name.is_empty());
    used
}

/// What is wrong with a source file's use of other layers.
fn violations(layer: &str, allowed: &[&str], file: &str, text: &str) -> Vec<String> {
    let forbidden = used_modules(text).into_iter().filter(|used| used != layer && !allowed.contains(&used.as_str()));
    forbidden
        .map(|used| format!("{file}: `{layer}` must know nothing of `{used}`: arrows point from right to left only"))
        .collect()
}

#[test]
fn lower_layers_know_nothing_of_higher_ones() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for (layer, allowed) in LAYERS {
        let files = sources(&root.join(layer));
        assert!(!files.is_empty(), "the layer {layer} has no sources");
        for path in files {
            let text = fs::read_to_string(&path).expect("a source can be read");
            found.extend(violations(layer, allowed, &path.display().to_string(), &text));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_folder_of_the_engine_is_a_known_layer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in fs::read_dir(root).expect("sources").filter_map(Result::ok).filter(|entry| entry.path().is_dir()) {
        let name = entry.file_name().to_string_lossy().to_string();
        assert!(LAYERS.iter().any(|(layer, _)| *layer == name), "`{name}` has no place among the layers");
    }
}

#[test]
fn a_lower_layer_that_uses_a_higher_one_is_found() {
    let bad = "use crate::api::Pod;\nuse crate::{controllers::Plan, sim::Time};\n// use crate::view::Frame;\n";
    let found = violations("apiserver", &["api", "sim"], "x.rs", bad);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("must know nothing of `controllers`"));
    let inline = "fn f() -> crate::world::Simulation { todo() }";
    assert_eq!(violations("sim", &[], "x.rs", inline).len(), 1);
}

#[test]
fn the_engine_has_no_web_dependency() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let output = std::process::Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--locked",
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--target",
            "all",
            "--manifest-path",
        ])
        .arg(manifest)
        .args(["--package", "loopscope-engine"])
        .output()
        .expect("cargo tree runs");
    let tree = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for forbidden in ["wasm-bindgen", "web-sys", "js-sys", "leptos", "gloo", "getrandom", "tokio"] {
        let hit = tree.lines().find(|line| line.starts_with(forbidden));
        assert!(hit.is_none(), "the engine knows nothing of the web: {hit:?}");
    }
    assert!(tree.lines().any(|line| line.starts_with("serde ")), "the tree was read: {tree}");
}
