//! The engine's benchmarks, with the name of the machine that the figures belong to.

use crate::cmd::{self, Res};
use crate::paths;
use std::fs;

pub fn command(args: &[String]) -> Res {
    if paths::files(&paths::root().join("engine/benches"))?.is_empty() {
        return Err("engine/benches has no benchmark: add one with `harness = false` in engine/Cargo.toml".into());
    }
    println!("machine: {}", machine());
    let mut cargo = cmd::command("cargo");
    // Named as benchmarks, because the harness of the library's own tests refuses their arguments.
    cargo.args(["bench", "--package", "loopscope-engine", "--bench", "*"]).current_dir(paths::root());
    if !args.is_empty() {
        cargo.arg("--").args(args);
    }
    cmd::run(&mut cargo)
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
