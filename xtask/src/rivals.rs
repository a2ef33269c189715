//! `cargo xtask bench --rivals`: the same Deployment in what a person might use instead, and here.
//!
//! The rival is fetched from npm into the build folder and nothing of it is kept. Each figure comes from a process of its
//! own, with a time limit.

use crate::cmd::{self, Res};
use crate::setup::Tools;
use crate::{compress, paths};
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RIVAL: &str = "@ngrok/webernetes";
/// What puts a package's many files into one, as a page's build does.
const BUNDLER: &str = "esbuild";
const SIZES: [usize; 4] = [10, 100, 300, 1_000];
/// Pods on a node, as many in all worlds. The rival has three nodes where nobody says otherwise, and no fewer here.
const PODS_ON_A_NODE: usize = 20;
const FEWEST_NODES: usize = 3;
const LIMIT: Duration = Duration::from_secs(2_400);
/// Of creating so many pods.
const AIM: (usize, f64) = (1_000, 500.0);
const SCRIPTS: [&str; 3] = ["webernetes.mjs", "ours.mjs", "measure.mjs"];

/// What a run told of itself; nothing where it did not end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Figures {
    create: Option<f64>,
    update: Option<f64>,
    /// The most memory of the process, in bytes.
    peak: Option<f64>,
}

impl Figures {
    fn of(text: &str) -> Self {
        let told: Value = text.lines().last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
        let number = |name: &str| told.get(name).and_then(Value::as_f64);
        Self { create: number("create"), update: number("update"), peak: number("later") }
    }
}

/// `module` is the folder of the engine as WebAssembly.
pub fn compare(tools: &Tools, module: &Path) -> Res {
    let folder = paths::target().join("rivals");
    let version = install(&folder)?;
    let driver = bundle(tools, &folder)?;
    let most: usize = std::env::var("BENCH_MAX").ok().and_then(|text| text.parse().ok()).unwrap_or(usize::MAX);
    println!("{RIVAL} {version} in Node.js {}", cmd::capture(tools.plain("node").arg("--version"))?.trim());
    println!("its clock is stepped, so that it never waits; CPU time is the whole process's, memory its peak");
    println!("{}", heading());
    let mut aim = None;
    for replicas in SIZES.into_iter().filter(|replicas| *replicas <= most) {
        let nodes = (replicas / PODS_ON_A_NODE).max(FEWEST_NODES);
        let sizes = [replicas.to_string(), nodes.to_string()];
        let theirs = run(tools.plain("node").arg(&driver).args(&sizes))?;
        let wasm = run(tools.plain("node").arg(folder.join("ours.mjs")).arg(module).args(&sizes))?;
        let native = run(&mut native(&sizes.join("/")))?;
        rows(replicas, nodes, [theirs, wasm, native]).iter().for_each(|row| println!("{row}"));
        if replicas == AIM.0 {
            aim = ratio(theirs.create, native.create);
        }
    }
    downloads(&folder, module)?;
    match aim {
        Some(times) => {
            let verdict = if times >= AIM.1 { "kept" } else { "NOT KEPT" };
            println!("creating {} pods: {times:.0} times less CPU natively, of at least {}: {verdict}", AIM.0, AIM.1);
        }
        None => println!("creating {} pods was not compared: a run did not end, or was left out", AIM.0),
    }
    Ok(())
}

/// Fetches the newest of it. Returns its version.
fn install(folder: &Path) -> Res<String> {
    fs::create_dir_all(folder).map_err(|e| format!("can't make {}: {e}", folder.display()))?;
    write(&folder.join("package.json"), "{\"private\": true, \"type\": \"module\"}\n")?;
    let mut npm = cmd::command("npm");
    npm.args(["install", "--no-save", "--no-audit", "--no-fund"])
        .args([RIVAL, BUNDLER].map(|name| format!("{name}@latest")))
        .current_dir(folder);
    cmd::capture(&mut npm).map_err(|e| format!("nothing is compared: {RIVAL} could not be installed from npm: {e}"))?;
    let file = folder.join("node_modules").join(RIVAL).join("package.json");
    let text = fs::read_to_string(&file).map_err(|e| format!("can't read {}: {e}", file.display()))?;
    let package: Value = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))?;
    Ok(package["version"].as_str().unwrap_or("of an unknown version").into())
}

/// Puts what runs the rival into one file: its own files name each other as only bundlers understand.
fn bundle(tools: &Tools, folder: &Path) -> Res<PathBuf> {
    for script in SCRIPTS {
        let from = paths::root().join("bench/rivals").join(script);
        fs::copy(&from, folder.join(script)).map_err(|e| format!("can't copy {}: {e}", from.display()))?;
    }
    let driver = folder.join("driver.mjs");
    esbuild(tools, folder, &folder.join(SCRIPTS[0]), &driver, &["--platform=node"])?;
    let library = folder.join("library.mjs");
    write(&library, &format!("export * from '{RIVAL}';\n"))?;
    esbuild(tools, folder, &library, &folder.join("library.min.js"), &["--platform=browser", "--minify"])?;
    Ok(driver)
}

fn esbuild(tools: &Tools, folder: &Path, from: &Path, to: &Path, flags: &[&str]) -> Res {
    let mut esbuild = tools.plain(&folder.join("node_modules/.bin/esbuild").to_string_lossy());
    esbuild.arg(from).args(["--bundle", "--format=esm", "--log-level=warning"]).args(flags);
    cmd::run(esbuild.arg(format!("--outfile={}", to.display())))
}

fn write(file: &Path, text: &str) -> Res {
    fs::write(file, text).map_err(|e| format!("can't write {}: {e}", file.display()))
}

/// The engine as a program, built as for the other benchmarks.
fn native(size: &str) -> Command {
    let mut cargo = cmd::command("cargo");
    cargo.args(["bench", "--quiet", "--package", "loopscope-engine", "--bench", "scale"]);
    cargo.env("BENCH_ROW", size).current_dir(paths::root());
    cargo
}

/// Runs a program that tells its figures in its last line; one that takes too long is ended.
fn run(command: &mut Command) -> Res<Figures> {
    let shown = cmd::shown(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("`{shown}` could not be started: {e}"))?;
    let started = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|e| e.to_string())? {
            Some(status) => break status,
            None if started.elapsed() > LIMIT => {
                let _ = child.kill();
                let _ = child.wait();
                println!("`{shown}` did not end within {}", cmd::seconds(LIMIT));
                return Ok(Figures::default());
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    let mut text = String::new();
    if let Some(mut out) = child.stdout.take() {
        out.read_to_string(&mut text).map_err(|e| e.to_string())?;
    }
    if status.success() { Ok(Figures::of(&text)) } else { Err(format!("`{shown}` failed ({status})")) }
}

/// How many times as much the first is.
fn ratio(theirs: Option<f64>, ours: Option<f64>) -> Option<f64> {
    Some(theirs? / ours.filter(|it| *it > 0.0)?)
}

fn heading() -> String {
    let [a, b, c, d] = ["rival", "ours, WebAssembly", "ours, native", "ratio, WebAssembly and native"];
    format!("{:>9} {:>6} {:<12} {a:>12} {b:>18} {c:>13} {d:>30}", "replicas", "nodes", "")
}

fn rows(replicas: usize, nodes: usize, all: [Figures; 3]) -> Vec<String> {
    let row = |name: &str, unit: f64, digits: usize, of: fn(&Figures) -> Option<f64>| {
        let shown = |value: Option<f64>| value.map_or_else(|| "-".into(), |it| format!("{:.digits$}", it / unit));
        let [theirs, wasm, native] = all.each_ref().map(of);
        let times = |ours| ratio(theirs, ours).map_or_else(|| "-".into(), |it| format!("{it:.1}"));
        let ratios = format!("{} and {}", times(wasm), times(native));
        let [a, b, c] = [theirs, wasm, native].map(shown);
        format!("{replicas:>9} {nodes:>6} {name:<12} {a:>12} {b:>18} {c:>13} {ratios:>30}")
    };
    vec![
        row("create, s", 1.0, 4, |it| it.create),
        row("update, s", 1.0, 4, |it| it.update),
        row("memory, MB", 1e6, 1, |it| it.peak),
    ]
}

/// What a page would load.
fn downloads(folder: &Path, module: &Path) -> Res {
    let weigh = |files: &[PathBuf]| -> Res<f64> {
        let mut sum = 0;
        for file in files {
            let bytes = fs::read(file).map_err(|e| format!("can't read {}: {e}", file.display()))?;
            sum += compress::brotli(&bytes).map_err(|e| e.to_string())?.len();
        }
        Ok(sum as f64 / 1e3)
    };
    let theirs = weigh(&[folder.join("library.min.js")])?;
    let ours = weigh(&[module.join("bench_bg.wasm"), module.join("bench.js")])?;
    println!(
        "download in brotli, kB: the rival, bundled and minified, {theirs:.0}; this engine alone, {ours:.0}: {:.1} times as much",
        ours / theirs
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_last_line_holds_the_figures() {
        let told = json!({"create": 0.5, "update": 2.0, "peak": 1e6, "later": 2e6});
        let figures = Figures::of(&format!("a warning\n{told}\n"));
        assert_eq!(figures, Figures { create: Some(0.5), update: Some(2.0), peak: Some(2e6) });
        assert_eq!(Figures::of("killed"), Figures::default());
    }

    #[test]
    fn what_did_not_end_is_not_compared() {
        let native = Figures { create: Some(0.001), update: Some(0.002), peak: Some(5e6) };
        let rows = rows(10, 3, [Figures { create: Some(1.0), ..Figures::default() }, native, native]);
        assert!(rows[0].ends_with("1000.0 and 1000.0") && rows[1].ends_with("- and -"), "{rows:?}");
    }
}
