//! Installs what a command needs, into a per-user cache where possible, and says what it does.

mod apt;
mod browser;
mod cargo_tool;
mod clippy;
mod debian_std;
mod node;
mod version;
mod wasm_target;

pub use browser::{browser, driver};
pub use wasm_target::TARGET as WASM_TARGET;

use crate::cmd::{self, Res};
use crate::paths;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// What a command needs. `build` and `serve` never install a test tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    Page,
    Lint,
    BrowserTests,
    EndToEnd,
    All,
}

impl Scope {
    fn wants(self, need: Need) -> bool {
        use Scope::{All, BrowserTests, EndToEnd, Lint, Page};
        match need {
            Need::WasmTarget => true,
            Need::Clippy => matches!(self, Lint | All),
            Need::Trunk | Need::WasmOpt => matches!(self, Page | EndToEnd | All),
            Need::WasmBindgen => matches!(self, Page | EndToEnd | BrowserTests | All),
            Need::WasmPack => matches!(self, BrowserTests | All),
            Need::Browser => matches!(self, BrowserTests | EndToEnd | All),
            Need::Playwright => matches!(self, EndToEnd | All),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Need {
    WasmTarget,
    Clippy,
    Trunk,
    WasmBindgen,
    WasmPack,
    WasmOpt,
    Browser,
    Playwright,
}

trait Step: Send + Sync {
    /// What is there afterwards, with its version.
    fn name(&self) -> String;
    /// How it gets there, for the line that announces it.
    fn how(&self) -> String;
    /// Where the right version already is.
    fn found(&self) -> Option<String>;
    fn install(&self) -> Res;
}

/// Everything a command needs to run the tools that set-up found or installed.
pub struct Tools {
    dirs: Vec<PathBuf>,
    web_toolchain: Option<&'static str>,
}

impl Tools {
    /// A program with the tools on its PATH, and the page's toolchain and target folder.
    pub fn web(&self, program: &str) -> Command {
        let mut command = self.plain(program);
        command.env("CARGO_TARGET_DIR", paths::web_target()).current_dir(paths::root());
        if let Some(toolchain) = self.web_toolchain {
            command.env("RUSTUP_TOOLCHAIN", toolchain);
        }
        command
    }

    /// A program with the tools on its PATH.
    pub fn plain(&self, program: &str) -> Command {
        let resolved = paths::which(program, &self.dirs).unwrap_or_else(|| PathBuf::from(program));
        let mut command = cmd::command(resolved);
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let all = self.dirs.iter().cloned().chain(std::env::split_paths(&inherited));
        if let Ok(path) = std::env::join_paths(all) {
            command.env("PATH", path);
        }
        command
    }
}

/// Lanes run side by side, the steps of a lane one after another: apt and npm wait for the network while
/// cargo keeps the processors busy, and two runs of apt would block each other.
fn lanes(scope: Scope) -> Res<Vec<Vec<Box<dyn Step>>>> {
    let lock = fs::read_to_string(paths::root().join("Cargo.lock"))
        .map_err(|e| format!("can't read Cargo.lock ({e}): run `cargo generate-lockfile`"))?;
    let bindgen = version::locked(&lock, "wasm-bindgen")
        .ok_or("Cargo.lock names no wasm-bindgen: the page needs it, check Cargo.toml")?;
    let system: Vec<(Need, Box<dyn Step>)> = vec![
        (Need::WasmTarget, Box::new(wasm_target::WasmTarget)),
        (Need::Clippy, Box::new(clippy::Clippy)),
        (Need::Browser, Box::new(browser::Browser)),
    ];
    let cargo: Vec<(Need, Box<dyn Step>)> = vec![
        (Need::Trunk, Box::new(cargo_tool::trunk())),
        (Need::WasmBindgen, Box::new(cargo_tool::wasm_bindgen(bindgen))),
        (Need::WasmPack, Box::new(cargo_tool::wasm_pack())),
    ];
    let npm: Vec<(Need, Box<dyn Step>)> =
        vec![(Need::WasmOpt, Box::new(node::WasmOpt)), (Need::Playwright, Box::new(node::Playwright))];
    Ok([system, cargo, npm].into_iter().map(|lane| wanted(lane, scope)).collect())
}

fn wanted(lane: Vec<(Need, Box<dyn Step>)>, scope: Scope) -> Vec<Box<dyn Step>> {
    lane.into_iter().filter(|(need, _)| scope.wants(*need)).map(|(_, step)| step).collect()
}

/// Says what is missing and changes nothing.
pub fn check(scope: Scope) -> Res {
    let mut missing = 0;
    for step in lanes(scope)?.iter().flatten() {
        if let Some(place) = step.found() {
            println!("ok       {}: {place}", step.name());
        } else {
            missing += 1;
            println!("missing  {}: would be installed {}", step.name(), step.how());
        }
    }
    match missing {
        0 => Ok(()),
        n => Err(format!("{n} of the tools missing: `cargo xtask setup` installs them")),
    }
}

/// Installs what is missing for `scope`.
pub fn ensure(scope: Scope) -> Res<Tools> {
    let lanes = lanes(scope)?;
    if lanes.iter().flatten().any(|step| step.found().is_none()) {
        let _lock = exclusive()?;
        run_lanes(&lanes)?;
        // A gigabyte of object files that nothing uses again.
        let _ = fs::remove_dir_all(cargo_tool::build_dir()?);
    } else {
        let names: Vec<String> = lanes.iter().flatten().map(|s| s.name()).collect();
        println!("set-up: nothing to do ({} are there)", names.join(", "));
    }
    tools()
}

/// Installs what the fuzzers need beside nightly, which no other command asks for.
pub fn ensure_fuzz() -> Res<Tools> {
    let tool = cargo_tool::cargo_fuzz();
    if tool.found().is_none() {
        let _lock = exclusive()?;
        run_step(&tool)?;
        let _ = fs::remove_dir_all(cargo_tool::build_dir()?);
    }
    tools()
}

fn run_lanes(lanes: &[Vec<Box<dyn Step>>]) -> Res {
    let results: Vec<Res> = std::thread::scope(|scope| {
        let handles: Vec<_> = lanes
            .iter()
            .map(|lane| scope.spawn(move || lane.iter().try_for_each(|step| run_step(step.as_ref()))))
            .collect();
        handles.into_iter().map(|h| h.join().unwrap_or_else(|_| Err("a set-up step panicked".into()))).collect()
    });
    let failed: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

fn run_step(step: &dyn Step) -> Res {
    if let Some(place) = step.found() {
        println!("set-up: {} is there ({place})", step.name());
        return Ok(());
    }
    println!("set-up: {}: installing {}", step.name(), step.how());
    let start = Instant::now();
    step.install().map_err(|e| format!("set-up of {} failed: {e}", step.name()))?;
    if step.found().is_none() {
        return Err(format!("set-up of {} ran without an error, but it still isn't there", step.name()));
    }
    println!("set-up: {} installed in {}", step.name(), cmd::seconds(start.elapsed()));
    Ok(())
}

/// Two clones that set up at once would write the same folders.
fn exclusive() -> Res<File> {
    let dir = paths::cache()?;
    fs::create_dir_all(&dir).map_err(|e| format!("can't make {}: {e}", dir.display()))?;
    let path = dir.join("setup.lock");
    let file = File::create(&path).map_err(|e| format!("can't write {}: {e}", path.display()))?;
    if file.try_lock().is_err() {
        println!("set-up: waiting for another set-up to finish");
        file.lock().map_err(|e| format!("can't lock {}: {e}", path.display()))?;
    }
    Ok(file)
}

fn tools() -> Res<Tools> {
    let mut dirs = Vec::new();
    let lock = fs::read_to_string(paths::root().join("Cargo.lock")).unwrap_or_default();
    let bindgen = version::locked(&lock, "wasm-bindgen").unwrap_or_default();
    let own =
        [cargo_tool::trunk(), cargo_tool::wasm_bindgen(bindgen), cargo_tool::wasm_pack(), cargo_tool::cargo_fuzz()];
    for tool in own {
        dirs.extend(tool.cached_dir()?);
    }
    dirs.extend(node::WasmOpt::cached_dir()?);
    Ok(Tools { dirs, web_toolchain: wasm_target::linked_toolchain() })
}

/// Where the output of a step goes.
pub fn log(step: &str) -> PathBuf {
    paths::target().join("setup").join(format!("{step}.log"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn building_the_page_needs_no_test_tool() {
        for need in [Need::Browser, Need::Playwright, Need::WasmPack, Need::Clippy] {
            assert!(!Scope::Page.wants(need), "{need:?}");
        }
    }

    #[test]
    fn the_whole_set_up_has_every_step() {
        assert_eq!(lanes(Scope::All).unwrap().iter().flatten().count(), 8);
    }
}
