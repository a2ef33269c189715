//! The engine's benchmarks, natively and in the browser, and the page's, with the name of the machine that the figures
//! belong to.

use crate::build::{self, Profile};
use crate::cmd::{self, Res};
use crate::setup::{self, Scope, Tools};
use crate::{paths, rivals, test};
use std::fs;
use std::path::{Path, PathBuf};

/// The engine walks over tens of megabytes: with 4 kB pages a third of the time goes into finding them.
const HUGE_PAGES: &str = "glibc.malloc.hugetlb=1";

const WASM: &str = "wasm32-unknown-unknown";

pub fn command(args: &[String]) -> Res {
    match args.split_first() {
        Some((part, rest)) if part == "native" => native(rest),
        Some((part, _)) if part == "browser" => browser(),
        Some((part, _)) if part == "page" => page(),
        Some((part, _)) if part == "--rivals" => rivals(),
        _ => native(args).and_then(|()| browser()),
    }
}

fn native(args: &[String]) -> Res {
    if paths::files(&paths::root().join("engine/benches"))?.is_empty() {
        return Err("engine/benches has no benchmark: add one with `harness = false` in engine/Cargo.toml".into());
    }
    println!("machine: {}; heap in 2 MB pages where glibc and the system have them", machine());
    let mut cargo = cmd::command("cargo");
    cargo.env("GLIBC_TUNABLES", HUGE_PAGES);
    // Named as benchmarks, because the harness of the library's own tests refuses their arguments.
    cargo.args(["bench", "--package", "loopscope-engine", "--bench", "*"]).current_dir(paths::root());
    if !args.is_empty() {
        cargo.arg("--").args(args);
    }
    cmd::run(&mut cargo)
}

/// The same as WebAssembly, built as the page is built.
fn browser() -> Res {
    let tools = setup::ensure(Scope::All)?;
    println!("\nmachine: {}", machine());
    let dist = module(&tools)?;
    cmd::run(test::node(&tools, &dist)?.arg("bench.mjs"))
}

/// What it costs beside what else there is.
fn rivals() -> Res {
    let tools = setup::ensure(Scope::All)?;
    let module = module(&tools)?;
    println!("\nmachine: {}, load {}", machine(), load());
    rivals::compare(&tools, &module)
}

/// What a frame of the built page costs.
fn page() -> Res {
    let tools = setup::ensure(Scope::All)?;
    let dist = build::page(&tools, Profile::Release)?;
    println!("\nmachine: {}, load {}", machine(), load());
    cmd::run(test::node(&tools, &dist)?.arg("frames.mjs"))
}

/// How many programs want a processor, over the last one, five and fifteen minutes.
fn load() -> String {
    let told = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let means: Vec<&str> = told.split(' ').take(3).collect();
    if means.len() == 3 { means.join(" ") } else { "unknown".into() }
}

/// Builds the crate `bench` with the page's profile and tools, into a folder with an empty page.
fn module(tools: &Tools) -> Res<PathBuf> {
    let dist = paths::target().join("bench-web");
    let mut cargo = tools.web("cargo");
    cmd::run(cargo.args(["build", "--release", "--package", "loopscope-bench", "--target", WASM]))?;
    let built = paths::web_target().join(WASM).join("release/loopscope_bench.wasm");
    let mut bindgen = tools.web("wasm-bindgen");
    cmd::run(
        bindgen.args(["--target", "web", "--no-typescript", "--out-name", "bench", "--out-dir"]).arg(&dist).arg(&built),
    )?;
    let wasm = dist.join("bench_bg.wasm");
    // As Trunk calls it for the page.
    cmd::run(
        tools
            .web("wasm-opt")
            .args(["-Oz", "--one-caller-inline-max-function-size=40", "--low-memory-unused"])
            .arg(&wasm)
            .arg("-o")
            .arg(&wasm),
    )?;
    write(&dist.join("index.html"), "<!doctype html><meta charset=\"utf-8\"><link rel=\"icon\" href=\"data:,\">\n")?;
    Ok(dist)
}

fn write(path: &Path, text: &str) -> Res {
    fs::write(path, text).map_err(|e| format!("can't write {}: {e}", path.display()))
}

fn machine() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = model(&cpuinfo).or_else(|| {
        let mut sysctl = cmd::command("sysctl");
        cmd::capture(sysctl.args(["-n", "machdep.cpu.brand_string"])).ok().map(|text| text.trim().to_string())
    });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {cores} cores", model.unwrap_or_else(|| "unknown processor".into()))
}

fn model(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|l| l.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_named() {
        assert_eq!(model("processor : 0\nmodel name\t: Fast CPU @ 2GHz\n").as_deref(), Some("Fast CPU @ 2GHz"));
        assert_eq!(model(""), None);
    }
}
