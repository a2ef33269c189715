//! `docs/fidelity.md`: each row has its four cells, and every test that it names is there.

use std::fs;
use std::path::{Path, PathBuf};

const ENGINE: &str = env!("CARGO_MANIFEST_DIR");
/// Where upstream files are; of repositories beside it, their copy there.
const UPSTREAM: [&str; 5] = ["api/", "pkg/", "plugin/pkg/", "staging/src/k8s.io/", "vendor/"];

fn page() -> String {
    fs::read_to_string(format!("{ENGINE}/../docs/fidelity.md")).expect("the page is there")
}

/// The cells of all rows below the heads of tables.
fn rows(page: &str) -> Vec<Vec<&str>> {
    let lines = page.lines().filter(|line| line.starts_with('|'));
    let cells = lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    cells.filter(|cells| cells[0] != "Behaviour" && !cells[0].starts_with("---")).collect()
}

/// What stands between backticks, or nothing for `none`.
fn names(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

fn sources(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// The files that a test's name may mean: `cases` or `apiserver/merge.rs`.
fn files(place: &str) -> Vec<PathBuf> {
    if place.contains('/') {
        return vec![PathBuf::from(format!("{ENGINE}/src/{place}"))];
    }
    let mut all = sources(Path::new(&format!("{ENGINE}/tests/{place}")));
    all.push(PathBuf::from(format!("{ENGINE}/tests/{place}.rs")));
    all
}

/// Whether a text has a test function of a name.
fn has_test(text: &str, function: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let at = lines.iter().position(|line| line.starts_with(&format!("fn {function}(")));
    at.is_some_and(|at| lines[..at].iter().rev().take_while(|line| line.starts_with("#[")).any(|it| *it == "#[test]"))
}

/// What is wrong with a row.
fn complaint(cells: &[&str]) -> Option<String> {
    let &[behaviour, how, upstream, shown] = cells else { return Some(format!("not four cells: {cells:?}")) };
    let about = |what: String| Some(format!("{behaviour}: {what}"));
    if !["exact", "simpler", "not simulated"].contains(&how) {
        return about(format!("how is \"{how}\"?"));
    }
    let (paths, tests) = (names(upstream), names(shown));
    if let Some(path) = paths.iter().find(|path| !UPSTREAM.iter().any(|folder| path.starts_with(folder))) {
        return about(format!("{path} is no path in the source of Kubernetes"));
    }
    if paths.is_empty() && upstream != "none" || tests.is_empty() && shown != "none" {
        return about("a cell names nothing, not even none".into());
    }
    if how == "exact" && (paths.is_empty() || tests.is_empty()) {
        return about("what is exact has an upstream file, and a test that shows it".into());
    }
    tests.iter().find_map(|test| {
        let (place, function) = test.split_once("::").unwrap_or((test, ""));
        let mut texts = files(place).into_iter().filter_map(|file| fs::read_to_string(file).ok());
        if texts.any(|text| has_test(&text, function)) { None } else { about(format!("there is no test {test}")) }
    })
}

#[test]
fn every_row_names_its_upstream_file_and_tests_that_are_there() {
    let page = page();
    let rows = rows(&page);
    let complaints: Vec<String> = rows.iter().filter_map(|cells| complaint(cells)).collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
    let of = |how: &str| rows.iter().filter(|cells| cells[1] == how).count();
    println!("{} exact, {} simpler, {} not simulated", of("exact"), of("simpler"), of("not simulated"));
    assert!(rows.len() > 70, "{} rows", rows.len());
}

#[test]
fn a_row_that_is_wrong_is_found() {
    let row = |text: &str| rows(text).iter().find_map(|cells| complaint(cells)).unwrap_or_default();
    let test = "fidelity::a_row_that_is_wrong_is_found";
    assert_eq!(row(&format!("| a | exact | `pkg/x.go` | `{test}` |")), "");
    assert_eq!(row(&format!("| a | nearly | `pkg/x.go` | `{test}` |")), "a: how is \"nearly\"?");
    assert_eq!(
        row("| a | exact | `pkg/x.go` | `fidelity::a_row_that_is_gone` |"),
        "a: there is no test fidelity::a_row_that_is_gone"
    );
    assert_eq!(row("| a | simpler | `pkg/x.go` | `fidelity::page` |"), "a: there is no test fidelity::page");
    assert_eq!(
        row(&format!("| a | exact | none | `{test}` |")),
        "a: what is exact has an upstream file, and a test that shows it"
    );
    assert_eq!(row("| a | simpler | `pkg/x.go` | |"), "a: a cell names nothing, not even none");
    assert_eq!(row("| a | simpler | `src/x.go` | none |"), "a: src/x.go is no path in the source of Kubernetes");
    assert!(row("| a | simpler |").starts_with("not four cells"));
}

#[test]
fn the_page_links_it_under_the_name_that_the_build_gives_it() {
    let read = |file: &str| fs::read_to_string(format!("{ENGINE}/../{file}")).expect("it is there");
    assert!(read("src/parts/help.rs").contains("href=\"fidelity.txt\""));
    assert!(read("xtask/src/build.rs").contains("join(\"fidelity.txt\")"));
}

/// The page serves it as plain text, and a host that names no encoding must not spoil it.
#[test]
fn it_is_ascii() {
    let page = page();
    let other: Vec<&str> = page.lines().filter(|line| !line.is_ascii()).collect();
    assert!(other.is_empty(), "{other:#?}");
}
