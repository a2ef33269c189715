//! What the project is made of: licences, duplicates and sources of all that Cargo.lock names, against `deny.toml`.
//!
//! The file is cargo-deny's, and the rules are a part of its rules. They are checked here because cargo has all that they
//! ask for, while compiling cargo-deny takes longer than the rest of the set-up. Where it is installed, it is asked about
//! advisories too.

use crate::cmd::{self, Res};
use crate::paths;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

pub fn command() -> Res {
    let root = paths::root();
    let rules = fs::read_to_string(root.join("deny.toml")).map_err(|e| format!("can't read deny.toml: {e}"))?;
    let mut cargo = cmd::command("cargo");
    let text = cmd::capture(cargo.args(["metadata", "--format-version", "1", "--locked"]).current_dir(&root))?;
    let metadata: Value = serde_json::from_str(&text).map_err(|e| format!("cargo's metadata is no JSON: {e}"))?;
    let packages = packages(&metadata);
    if packages.len() < 20 {
        return Err("cargo's metadata names hardly any package: that is no audit".into());
    }
    let complaints = complaints(&packages, &Rules::read(&rules));
    println!("   {} packages: licences, duplicates, sources", packages.len());
    advisories();
    if complaints.is_empty() { Ok(()) } else { Err(format!("\n  {}", complaints.join("\n  "))) }
}

/// Said aloud where they cannot be had; a database that cannot be reached is no reason to stop.
fn advisories() {
    let mut cargo = cmd::command("cargo");
    if cmd::capture(cargo.args(["deny", "--version"])).is_err() {
        println!("   ADVISORIES WERE NOT CHECKED: cargo-deny is not installed (`cargo install --locked cargo-deny`)");
        return;
    }
    let mut cargo = cmd::command("cargo");
    match cmd::run(cargo.args(["deny", "check", "advisories"]).current_dir(paths::root())) {
        Ok(()) => println!("   advisories: none"),
        Err(_) => {
            println!("   ADVISORIES WERE NOT CHECKED, or are told above: cargo-deny could not say that there are none")
        }
    }
}

struct Package {
    name: String,
    version: String,
    licence: Option<String>,
    /// None for what lies in this repository.
    source: Option<String>,
}

fn packages(metadata: &Value) -> Vec<Package> {
    let text = |it: &Value, name: &str| it.get(name).and_then(Value::as_str).map(ToString::to_string);
    let all = metadata.get("packages").and_then(Value::as_array).into_iter().flatten();
    all.map(|it| Package {
        name: text(it, "name").unwrap_or_default(),
        version: text(it, "version").unwrap_or_default(),
        licence: text(it, "license"),
        source: text(it, "source"),
    })
    .collect()
}

/// What `deny.toml` says, as far as it is checked here.
struct Rules {
    licences: Vec<String>,
    /// Name and the beginning of the version.
    skipped: Vec<(String, String)>,
    registries: Vec<String>,
}

impl Rules {
    fn read(text: &str) -> Self {
        let of = |name: &str| strings(list(text, name));
        let entries =
            list(text, "skip").lines().filter_map(|line| strings(line.split_once("crate")?.1).into_iter().next());
        let skipped = entries.map(|it| match it.split_once('@') {
            Some((name, version)) => (name.to_string(), version.to_string()),
            None => (it, String::new()),
        });
        Self { licences: of("allow"), skipped: skipped.collect(), registries: of("allow-registry") }
    }
}

/// What stands between the brackets of `name = [ … ]`.
fn list<'a>(text: &'a str, name: &str) -> &'a str {
    let start =
        text.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('=')));
    let Some(start) = start.and_then(|line| text.find(line)) else { return "" };
    let rest = text.get(start..).and_then(|rest| rest.split_once('[')).map_or("", |it| it.1);
    rest.split_once(']').map_or("", |it| it.0)
}

fn strings(text: &str) -> Vec<String> {
    text.split('"').skip(1).step_by(2).map(ToString::to_string).collect()
}

fn complaints(packages: &[Package], rules: &Rules) -> Vec<String> {
    let mut found = Vec::new();
    for it in packages.iter().filter(|it| it.source.is_some()) {
        let (name, version) = (&it.name, &it.version);
        match it.licence.as_deref() {
            None => found.push(format!("{name} {version} names no licence")),
            Some(licence) if !is_allowed(licence, &rules.licences) => {
                found.push(format!("{name} {version} is under {licence}, which deny.toml does not allow"));
            }
            Some(_) => {}
        }
        let source = it.source.as_deref().unwrap_or_default();
        if !rules.registries.iter().any(|known| source.strip_prefix("registry+") == Some(known)) {
            found.push(format!("{name} {version} comes from {source}, which deny.toml does not allow"));
        }
    }
    found.extend(duplicates(packages, &rules.skipped));
    found
}

fn duplicates(packages: &[Package], skipped: &[(String, String)]) -> Vec<String> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for it in packages {
        versions.entry(&it.name).or_default().push(&it.version);
    }
    let is_meant = |entry: &(String, String), name: &str, version: &str| {
        let rest = version.strip_prefix(entry.1.as_str());
        entry.0 == name && rest.is_some_and(|it| entry.1.is_empty() || it.is_empty() || it.starts_with('.'))
    };
    let mut found = Vec::new();
    for (name, all) in versions.iter().filter(|it| it.1.len() > 1) {
        let left = all.iter().filter(|version| !skipped.iter().any(|it| is_meant(it, name, version))).count();
        if left > 1 {
            found.push(format!("{name} is there in versions {}: give deny.toml a reason", all.join(", ")));
        }
    }
    for entry in skipped {
        let is_double = versions
            .get(entry.0.as_str())
            .is_some_and(|all| all.len() > 1 && all.iter().any(|it| is_meant(entry, &entry.0, it)));
        if !is_double {
            found.push(format!("deny.toml skips {}@{}, which is no duplicate any more", entry.0, entry.1));
        }
    }
    found
}

/// An SPDX expression; a slash is an old way to write OR.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (is_so, rest) = either(&words, allowed);
    is_so && rest.is_empty()
}

fn either<'a, 'b>(words: &'b [&'a str], allowed: &[String]) -> (bool, &'b [&'a str]) {
    let (mut is_so, mut rest) = both(words, allowed);
    while let Some(("OR", after)) = rest.split_first().map(|it| (*it.0, it.1)) {
        let (other, left) = both(after, allowed);
        (is_so, rest) = (is_so || other, left);
    }
    (is_so, rest)
}

fn both<'a, 'b>(words: &'b [&'a str], allowed: &[String]) -> (bool, &'b [&'a str]) {
    let (mut is_so, mut rest) = one(words, allowed);
    while let Some(("AND", after)) = rest.split_first().map(|it| (*it.0, it.1)) {
        let (other, left) = one(after, allowed);
        (is_so, rest) = (is_so && other, left);
    }
    (is_so, rest)
}

fn one<'a, 'b>(words: &'b [&'a str], allowed: &[String]) -> (bool, &'b [&'a str]) {
    match words {
        ["(", rest @ ..] => {
            let (is_so, rest) = either(rest, allowed);
            (is_so, rest.strip_prefix(&[")"]).unwrap_or(rest))
        }
        [licence, "WITH", exception, rest @ ..] => {
            let whole = format!("{licence} WITH {exception}");
            (allowed.contains(&whole), rest)
        }
        [licence, rest @ ..] => (allowed.iter().any(|it| it == licence), rest),
        [] => (false, words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, version: &str, licence: &str) -> Package {
        let source = Some("registry+https://example.org/index".to_string());
        Package { name: name.into(), version: version.into(), licence: Some(licence.into()), source }
    }

    fn rules(skip: &str) -> Rules {
        Rules::read(&format!(
            "[licenses]\nallow = [\n    \"MIT\",\n    \"Zlib\",\n]\n[bans]\nskip = [\n{skip}]\n[sources]\nallow-registry = [\"https://example.org/index\"]\n"
        ))
    }

    #[test]
    fn licences_are_read_as_expressions() {
        let allowed = ["MIT".to_string(), "Zlib".to_string()];
        for fine in ["MIT", "MIT OR GPL-3.0", "GPL-3.0/MIT", "(GPL-3.0 OR MIT) AND Zlib", "X WITH Y OR MIT"] {
            assert!(is_allowed(fine, &allowed), "{fine}");
        }
        for bad in ["GPL-3.0", "MIT AND GPL-3.0", "MIT WITH Y", "", "(MIT OR Zlib) AND GPL-3.0"] {
            assert!(!is_allowed(bad, &allowed), "{bad}");
        }
    }

    #[test]
    fn a_licence_a_source_and_a_duplicate_are_found() {
        let fine = [package("a", "1.0.0", "MIT"), package("a", "2.0.0", "MIT")];
        let skip = "    { crate = \"a@1\", reason = \"of b\" },\n";
        assert_eq!(complaints(&fine, &rules(skip)), Vec::<String>::new());
        assert!(complaints(&fine, &rules("")).concat().contains("a is there in versions 1.0.0, 2.0.0"));
        assert!(complaints(&fine[1..], &rules(skip)).concat().contains("no duplicate any more"));
        let git = Package { source: Some("git+https://example.org/b".into()), ..package("b", "1.0.0", "GPL-3.0") };
        let found = complaints(&[git], &rules("")).join("\n");
        assert!(found.contains("under GPL-3.0") && found.contains("comes from git+https://example.org/b"), "{found}");
    }

    #[test]
    fn the_projects_own_list_is_read() {
        let text = fs::read_to_string(paths::root().join("deny.toml")).expect("deny.toml");
        let rules = Rules::read(&text);
        assert!(rules.licences.len() > 5 && rules.skipped.len() > 3 && rules.registries.len() == 1);
    }
}
