//! Tools from npm: wasm-opt, and the library that drives the browser in the end-to-end tests.

use super::{Step, version};
use crate::cmd::{self, Res};
use crate::paths;
use std::fs;
use std::path::{Path, PathBuf};

const BINARYEN: &str = "132.0.0";
const NODE_AT_LEAST: u32 = 20;

/// Debian's and most systems' wasm-opt is years old, so only the same major version will do.
pub struct WasmOpt;

impl WasmOpt {
    fn dir() -> Res<PathBuf> {
        paths::tool_dir("binaryen", BINARYEN)
    }

    fn bin() -> Res<PathBuf> {
        Ok(Self::dir()?.join("node_modules/.bin"))
    }

    pub fn cached_dir() -> Res<Option<PathBuf>> {
        let bin = Self::bin()?;
        Ok((paths::which("wasm-opt", &[]).is_none_or(|f| !is_right(&f)) && bin.is_dir()).then_some(bin))
    }
}

fn is_right(wasm_opt: &Path) -> bool {
    let major = BINARYEN.split('.').next();
    wasm_opt.is_file()
        && cmd::capture(cmd::command(wasm_opt).arg("--version")).is_ok_and(|text| version::printed(&text) == major)
}

impl Step for WasmOpt {
    fn name(&self) -> String {
        format!("wasm-opt (binaryen {BINARYEN})")
    }

    fn how(&self) -> String {
        "with npm into the tools' folder of this user (seconds)".into()
    }

    fn found(&self) -> Option<String> {
        let cached = || Self::bin().ok().map(|bin| bin.join("wasm-opt")).filter(|f| is_right(f));
        let file = paths::which("wasm-opt", &[]).filter(|f| is_right(f)).or_else(cached)?;
        Some(file.display().to_string())
    }

    fn install(&self) -> Res {
        node_is_new_enough()?;
        let dir = Self::dir()?;
        fs::create_dir_all(&dir).map_err(|e| format!("can't make {}: {e}", dir.display()))?;
        let mut npm = cmd::command("npm");
        npm.args(["install", "--no-save", "--no-audit", "--no-fund", "--prefix"])
            .arg(&dir)
            .arg(format!("binaryen@{BINARYEN}"))
            .current_dir(&dir);
        cmd::run_logged(&mut npm, &super::log("binaryen"))
    }
}

const E2E_PACKAGES: [&str; 2] = ["playwright-core", "axe-core"];

pub struct Playwright;

impl Playwright {
    /// Of each package that the tests name: what the lock file says, and what is there.
    fn versions() -> (Option<String>, Option<String>) {
        let dir = paths::e2e();
        let lock = json(&dir.join("package-lock.json"));
        let text = |value: Option<&serde_json::Value>| value.and_then(|v| v.as_str()).map(String::from);
        let wanted = |name: &str| text(lock.as_ref()?.pointer(&format!("/packages/node_modules~1{name}/version")));
        let there = |name: &str| text(json(&dir.join(format!("node_modules/{name}/package.json")))?.get("version"));
        let all = |version: &dyn Fn(&str) -> Option<String>| {
            let versions = E2E_PACKAGES.iter().map(|name| version(name)).collect::<Option<Vec<String>>>()?;
            Some(versions.join(" and axe-core "))
        };
        (all(&wanted), all(&there))
    }
}

fn json(file: &Path) -> Option<serde_json::Value> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

impl Step for Playwright {
    fn name(&self) -> String {
        format!("playwright-core {}", Self::versions().0.unwrap_or_default())
    }

    fn how(&self) -> String {
        "with npm into tests/e2e/node_modules (seconds; no browser is downloaded)".into()
    }

    fn found(&self) -> Option<String> {
        let (wanted, there) = Self::versions();
        (wanted.is_some() && wanted == there).then(|| "tests/e2e/node_modules".into())
    }

    fn install(&self) -> Res {
        node_is_new_enough()?;
        let mut npm = cmd::command("npm");
        npm.args(["ci", "--no-audit", "--no-fund"]).current_dir(paths::e2e());
        cmd::run_logged(&mut npm, &super::log("playwright"))
    }
}

fn node_is_new_enough() -> Res {
    let remedy = format!("install Node.js {NODE_AT_LEAST} or newer with npm, then run this again");
    let text = cmd::capture(cmd::command("node").arg("--version")).map_err(|e| format!("{e}\n    remedy: {remedy}"))?;
    let major = version::printed(text.trim()).and_then(|v| v.split('.').next()?.parse::<u32>().ok());
    if major.is_some_and(|m| m >= NODE_AT_LEAST) {
        return Ok(());
    }
    Err(format!("Node.js {} is too old\n    remedy: {remedy}", text.trim()))
}
