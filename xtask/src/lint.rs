//! Formatting, clippy for the engine and for the page, and the project's own rules.

use crate::cmd::{self, Res, seconds, timed};
use crate::setup::{self, Scope, Tools};
use crate::{audit, css, paths};
use std::fs;
use std::path::{Path, PathBuf};

const MOST_LINES: usize = 600;
const DENY: &[&str] = &["--", "-D", "warnings"];

type Check<'a> = (&'static str, Box<dyn Fn() -> Res + 'a>);

/// Runs every check even after one failed, so that one run shows all there is to mend.
pub fn command() -> Res {
    let tools = setup::ensure(Scope::Lint)?;
    let root = paths::root();
    let checks: Vec<Check> = vec![
        ("formatting", Box::new(format)),
        ("the project's own rules", Box::new(|| own_rules(&root))),
        ("what it is made of", Box::new(audit::command)),
        ("clippy, native", Box::new(clippy_native)),
        ("clippy, page", Box::new(|| clippy_page(&tools))),
    ];
    let mut failed = Vec::new();
    for (name, check) in checks {
        println!("== lint: {name}");
        let (result, took) = timed(check);
        println!("   {} in {}", if result.is_ok() { "fine" } else { "not fine" }, seconds(took));
        if let Err(sentence) = result {
            failed.push(format!("{name}: {sentence}"));
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

fn format() -> Res {
    let mut cargo = cmd::command("cargo");
    cmd::run(cargo.args(["fmt", "--all", "--check"]).current_dir(paths::root()))
        .map_err(|_| "`cargo fmt --all` would change files: run it".into())
}

fn clippy_native() -> Res {
    let mut cargo = cmd::command("cargo");
    cargo.args(["clippy", "--quiet", "--workspace", "--exclude", "loopscope", "--all-targets"]).args(DENY);
    cmd::run(cargo.current_dir(paths::root()))
}

fn clippy_page(tools: &Tools) -> Res {
    let mut cargo = tools.web("cargo");
    cargo.args(["clippy", "--quiet", "--package", "loopscope", "--all-targets"]);
    cargo.args(["--target", setup::WASM_TARGET]);
    cmd::run(cargo.args(DENY))
}

fn own_rules(root: &Path) -> Res {
    let mut complaints = css::colour_complaints(root)?;
    complaints.extend(css::bundle(root).err());
    for file in rust_files(root)? {
        let text = fs::read_to_string(&file).map_err(|e| format!("can't read {}: {e}", file.display()))?;
        let shown = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        complaints.extend(too_long(&shown, &text));
        complaints.extend(test_that_never_runs(&shown, &text));
    }
    if complaints.is_empty() { Ok(()) } else { Err(format!("\n  {}", complaints.join("\n  "))) }
}

fn rust_files(root: &Path) -> Res<Vec<PathBuf>> {
    let mut found = Vec::new();
    for dir in ["src", "tests", "engine", "fuzz", "runner", "xtask"] {
        found.extend(paths::files(&root.join(dir))?.into_iter().filter(|f| {
            let below = f.strip_prefix(root).unwrap_or(f);
            f.extension().is_some_and(|e| e == "rs")
                && !below.components().any(|c| c.as_os_str() == "target" || c.as_os_str() == "node_modules")
        }));
    }
    Ok(found)
}

fn too_long(file: &str, text: &str) -> Option<String> {
    let lines = text.lines().count();
    (lines > MOST_LINES).then(|| format!("{file} has {lines} lines: split it, {MOST_LINES} is the most"))
}

/// The page's tests run in a browser only, where a plain `#[test]` is never called.
fn test_that_never_runs(file: &str, text: &str) -> Option<String> {
    let of_page = file.starts_with("src/") || file.starts_with("tests/");
    let line = text.lines().position(|l| l.trim() == "#[test]").filter(|_| of_page)?;
    Some(format!("{file}:{}: `#[test]` never runs in a browser: use `#[wasm_bindgen_test]`", line + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_named_with_its_length() {
        assert_eq!(too_long("a.rs", &"\n".repeat(600)), None);
        assert!(too_long("a.rs", &"\n".repeat(601)).unwrap().contains("601"));
    }

    #[test]
    fn a_plain_test_in_the_page_is_refused() {
        let text = "fn a() {}\n    #[test]\nfn b() {}\n";
        assert!(test_that_never_runs("src/lib.rs", text).unwrap().starts_with("src/lib.rs:2"));
        assert_eq!(test_that_never_runs("engine/src/lib.rs", text), None);
    }
}
