//! Runs the tests: native, in a browser through wasm-bindgen, and end to end on the built page.

use crate::build::{self, Profile};
use crate::cmd::{self, Report, Res, seconds, timed};
use crate::setup::{self, Scope, Tools};
use crate::{css, paths};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Native,
    Browser,
    EndToEnd,
}

impl Part {
    const ALL: [Self; 3] = [Self::Native, Self::Browser, Self::EndToEnd];

    fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Browser => "browser",
            Self::EndToEnd => "e2e",
        }
    }
}

fn parts(args: &[String]) -> Res<Vec<Part>> {
    if args.is_empty() {
        return Ok(Part::ALL.to_vec());
    }
    args.iter()
        .map(|arg| {
            let known = Part::ALL.into_iter().find(|part| part.name() == arg);
            known.ok_or(format!("there is no part `{arg}` of the tests: native, browser or e2e"))
        })
        .collect()
}

pub fn command(args: &[String]) -> Res {
    let parts = parts(args)?;
    let (tools, set_up) = timed(|| set_up(&parts));
    let tools = tools?;
    let mut summary = vec![format!("  {:8} {:>14}", "set-up", seconds(set_up))];
    let mut failed = Vec::new();
    let mut total = 0;
    for part in parts {
        println!("\n== {} tests", part.name());
        let (result, took) = timed(|| run(part, tools.as_ref()));
        summary.push(line(part, &result, took));
        match result {
            Ok(count) => total += count,
            Err(sentence) => failed.push(format!("{}: {sentence}", part.name())),
        }
    }
    println!("\n{}", summary.join("\n"));
    if !failed.is_empty() {
        return Err(failed.join("\n"));
    }
    println!("tests: {total} passed, 0 failed");
    Ok(())
}

fn line(part: Part, result: &Res<u64>, took: Duration) -> String {
    let outcome = match result {
        Ok(count) => format!("{count} passed"),
        Err(_) => "failed".into(),
    };
    format!("  {:8} {:>14}  {outcome}", part.name(), seconds(took))
}

/// Native tests alone need nothing but cargo.
fn set_up(parts: &[Part]) -> Res<Option<Tools>> {
    let scope = match (parts.contains(&Part::Browser), parts.contains(&Part::EndToEnd)) {
        (true, true) => Scope::All,
        (true, false) => Scope::BrowserTests,
        (false, true) => Scope::EndToEnd,
        (false, false) => return Ok(None),
    };
    setup::ensure(scope).map(Some)
}

fn run(part: Part, tools: Option<&Tools>) -> Res<u64> {
    let count = match (part, tools) {
        (Part::Native, _) => native()?,
        (Part::Browser, Some(tools)) => browser(tools)?,
        (Part::EndToEnd, Some(tools)) => end_to_end(tools)?,
        (_, None) => return Err("set-up was left out".into()),
    };
    if count == 0 { Err("no test ran: that is not a pass".into()) } else { Ok(count) }
}

/// The page's own tests need a browser, so the native part leaves the root package out.
fn native() -> Res<u64> {
    let packages = ["--workspace", "--exclude", "loopscope"];
    let nextest = cmd::capture(cmd::command("cargo").args(["nextest", "--version"])).is_ok();
    let mut cargo = cmd::command("cargo");
    cargo.current_dir(paths::root());
    let count = if nextest {
        cargo.args(["nextest", "run"]).args(packages).env("CARGO_TERM_COLOR", "never");
        nextest_passed(&cmd::tee(&mut cargo, Report::Stderr)?)
    } else {
        cargo.arg("test").args(packages).args(["--lib", "--bins", "--tests"]);
        libtest_passed(&cmd::tee(&mut cargo, Report::Stdout)?)
    };
    let mut doc = cmd::command("cargo");
    doc.args(["test", "--doc", "--package", "loopscope-engine"]).current_dir(paths::root());
    Ok(count + libtest_passed(&cmd::tee(&mut doc, Report::Stdout)?))
}

/// From `Summary [ 1.2s] 41 tests run: 41 passed, 0 skipped`.
fn nextest_passed(text: &str) -> u64 {
    text.lines()
        .rev()
        .find(|l| l.contains("tests run:") || l.contains("test run:"))
        .map_or(0, |l| number_before(l, "passed"))
}

/// From `test result: ok. 41 passed; 0 failed; …`, of which there is one for each binary.
fn libtest_passed(text: &str) -> u64 {
    text.lines().filter(|l| l.contains("test result: ok.")).map(|l| number_before(l, "passed")).sum()
}

fn number_before(line: &str, word: &str) -> u64 {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_word = |w: &str| w.trim_end_matches([',', ';', '(']) == word;
    words.windows(2).find(|pair| is_word(pair[1])).and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
}

fn browser(tools: &Tools) -> Res<u64> {
    css::bundle(&paths::root())?;
    let driver = setup::driver().ok_or("chromedriver is gone from PATH: run `cargo xtask setup`")?;
    let mut wasm_pack = tools.web("wasm-pack");
    wasm_pack.args(["test", "--headless", "--chrome", "--mode", "no-install", "--chromedriver"]).arg(driver);
    // Without a package, cargo would also build the engine's native tests for the browser.
    wasm_pack.args([".", "--package", "loopscope"]);
    cmd::tee(&mut wasm_pack, Report::Stdout).map(|text| libtest_passed(&text))
}

fn end_to_end(tools: &Tools) -> Res<u64> {
    let dist = build::page(tools, Profile::Release)?;
    let files: Vec<PathBuf> = paths::files(&paths::e2e())?.into_iter().filter(|f| is_test_file(f)).collect();
    if files.is_empty() {
        return Err("tests/e2e has no *.test.mjs".into());
    }
    let mut node = node(tools, &dist)?;
    node.args(["--test", "--test-reporter=spec"]).args(files);
    cmd::tee(&mut node, Report::Stdout).map(|text| node_passed(&text))
}

fn is_test_file(file: &Path) -> bool {
    let name = file.to_string_lossy();
    name.ends_with(".test.mjs") && !name.contains("node_modules")
}

/// Node with all that tests/e2e/harness.mjs asks for.
pub fn node(tools: &Tools, dist: &Path) -> Res<Command> {
    let browser = setup::browser().ok_or("the browser is gone from PATH: run `cargo xtask setup`")?;
    let xtask = std::env::current_exe().map_err(|e| format!("can't tell where this program is: {e}"))?;
    let mut node = tools.plain("node");
    node.current_dir(paths::e2e())
        .env("LOOPSCOPE_BROWSER", browser)
        .env("LOOPSCOPE_DIST", dist)
        .env("LOOPSCOPE_XTASK", xtask);
    Ok(node)
}

/// From the reporter's `ℹ pass 7`.
fn node_passed(text: &str) -> u64 {
    let number = |l: &str| l.trim_start_matches(['ℹ', '#', ' ']).strip_prefix("pass ")?.trim().parse().ok();
    text.lines().rev().find_map(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_lines_of_each_runner_are_read() {
        assert_eq!(nextest_passed("     Summary [   0.013s] 41 tests run: 40 passed (1 slow), 1 skipped\n"), 40);
        assert_eq!(nextest_passed("     Summary [   0.013s] 1 test run: 1 passed, 0 skipped\n"), 1);
        assert_eq!(
            libtest_passed("test result: ok. 3 passed; 0 failed;\nx\ntest result: ok. 4 passed; 0 failed; finished"),
            7
        );
        assert_eq!(libtest_passed("no tests to run!\n"), 0);
        assert_eq!(node_passed("ℹ tests 9\nℹ pass 7\nℹ fail 0\n"), 7);
    }

    #[test]
    fn an_unknown_part_is_refused() {
        assert!(parts(&["unit".to_string()]).unwrap_err().contains("`unit`"));
        assert_eq!(parts(&[]).unwrap(), Part::ALL);
    }
}
