//! Runs the fuzzers of `fuzz/libfuzzer`, one after another. They need nightly, and nothing else here does.

use crate::cmd::{self, Res, seconds, timed};
use crate::setup::{self, Tools};
use crate::{option, paths};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The targets, as `loopscope_fuzz::TARGETS` has them, with the most bytes of an input.
const TARGETS: [(&str, usize); 7] = [
    ("manifest", 4_096),
    ("kubectl", 1_024),
    ("scenario", 8_192),
    ("share", 4_096),
    ("dump", 12_288),
    ("embed", 2_048),
    ("world", 256),
];
const MINUTES: u64 = 5;
/// An input that takes longer is a find, in s. As long as it may be on a busy machine.
const TIMEOUT: u64 = 25;
const MEMORY_MB: u64 = 2_048;
/// Of a target so many bytes and inputs are kept in the repository: the native tests play all of them.
const MOST_KEPT: u64 = 48 << 10;
const MOST_INPUTS: usize = 80;

pub fn command(args: &[String]) -> Res {
    let minutes = option(args, "--minutes").map(str::parse::<u64>);
    let minutes = minutes.transpose().map_err(|_| "--minutes takes a whole number")?.unwrap_or(MINUTES);
    let targets = chosen(args)?;
    if !has_nightly() {
        println!("fuzz: skipped, because there is no nightly toolchain (`rustup toolchain install nightly`)");
        return Ok(());
    }
    let tools = setup::ensure_fuzz()?;
    build(&tools)?;
    targets.iter().try_for_each(|(name, _)| sow(name))?;
    let (mut told, mut finds) = (Vec::new(), Vec::new());
    for (name, most) in targets {
        println!("\n== fuzz: {name}, {minutes} min");
        let (result, took) = timed(|| run(name, most, minutes));
        told.push(format!("  {name:10} {:>14}  {}", seconds(took), if result.is_ok() { "no find" } else { "a find" }));
        finds.extend(result.err());
        if args.iter().any(|it| it == "--keep") {
            told.push(format!("  {:10} {}", "", keep(name)?));
        }
    }
    println!("\n{}", told.join("\n"));
    if finds.is_empty() { Ok(()) } else { Err(finds.join("\n")) }
}

/// Those that are named, or all.
fn chosen(args: &[String]) -> Res<Vec<(&'static str, usize)>> {
    let mut named = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--minutes" {
            args.next();
        } else if !arg.starts_with("--") {
            let names = || TARGETS.map(|it| it.0).join(", ");
            let found = TARGETS.into_iter().find(|(name, _)| name == arg);
            named.push(found.ok_or_else(|| format!("there is no fuzz target `{arg}`: {}", names()))?);
        }
    }
    Ok(if named.is_empty() { TARGETS.to_vec() } else { named })
}

fn nightly(command: &mut Command) -> &mut Command {
    command.env("RUSTUP_TOOLCHAIN", "nightly").current_dir(paths::root())
}

fn has_nightly() -> bool {
    cmd::capture(nightly(cmd::command("rustc").arg("--version"))).is_ok_and(|text| text.contains("nightly"))
}

/// The engine forbids unsafe code: a sanitizer would only halve the speed.
fn build(tools: &Tools) -> Res {
    let mut cargo = tools.plain("cargo");
    cargo.args(["fuzz", "build", "--sanitizer", "none", "--fuzz-dir", "fuzz/libfuzzer", "--target-dir"]).arg(out());
    // cargo-fuzz asks for one unit, which makes the engine take as long as the slowest processor.
    cargo.env("RUSTFLAGS", "-Ccodegen-units=8").env("CARGO_INCREMENTAL", "0");
    cmd::run(nightly(&mut cargo))
}

fn out() -> PathBuf {
    paths::target().join("fuzz")
}

fn make(dir: PathBuf) -> Res<PathBuf> {
    fs::create_dir_all(&dir).map_err(|e| format!("can't make {}: {e}", dir.display()))?;
    Ok(dir)
}

/// Writes what a target begins with.
fn sow(name: &str) -> Res {
    let mut cargo = cmd::command("cargo");
    cargo.args(["run", "--quiet", "--package", "loopscope-fuzz", "--bin", "seeds", "--", name]);
    cmd::run(cargo.arg(out().join("seeds").join(name)).current_dir(paths::root()))
}

/// The program of a target, wherever cargo-fuzz has put it: below the name of the machine.
fn program(name: &str) -> Res<PathBuf> {
    let below = fs::read_dir(out()).into_iter().flatten().flatten();
    let mut found = below.map(|it| it.path().join("release").join(name)).filter(|it| it.is_file());
    found.next().ok_or_else(|| format!("{} has no program `{name}`", out().display()))
}

/// What is kept in the repository of a target.
fn kept(name: &str) -> PathBuf {
    paths::root().join("fuzz/corpus").join(name)
}

fn run(name: &str, most: usize, minutes: u64) -> Res {
    let (corpus, finds) = (make(out().join("corpus").join(name))?, make(out().join("finds").join(name))?);
    let before = paths::files(&finds)?.len();
    let mut fuzzer = cmd::command(program(name)?);
    fuzzer.arg(format!("-max_total_time={}", minutes * 60)).arg(format!("-max_len={most}"));
    fuzzer.arg(format!("-timeout={TIMEOUT}")).arg(format!("-rss_limit_mb={MEMORY_MB}"));
    fuzzer.arg(format!("-artifact_prefix={}/", finds.display())).arg("-print_final_stats=1");
    let words = paths::root().join("fuzz/dictionaries").join(format!("{name}.dict"));
    if words.is_file() {
        fuzzer.arg(format!("-dict={}", words.display()));
    }
    // New inputs go to the first folder.
    fuzzer.arg(&corpus).args([out().join("seeds").join(name), make(kept(name))?]);
    fuzzer.stdin(Stdio::null());
    let result = cmd::run(&mut fuzzer);
    let found: Vec<String> = paths::files(&finds)?.iter().skip(before).map(|it| it.display().to_string()).collect();
    result.map_err(|why| {
        format!(
            "{name}: {why}; what it found is in {}: copy it into fuzz/regressions/{name}/ and mend it until `cargo test \
             --package loopscope-fuzz` passes",
            if found.is_empty() { finds.display().to_string() } else { found.join(", ") }
        )
    })
}

/// Takes inputs of the smallest set that reaches all that is reached into the repository, within bounds.
fn keep(name: &str) -> Res<String> {
    let fresh = out().join("kept").join(name);
    let _ = fs::remove_dir_all(&fresh);
    let mut fuzzer = cmd::command(program(name)?);
    fuzzer.arg("-set_cover_merge=1").arg(make(fresh.clone())?);
    fuzzer.args([kept(name), out().join("corpus").join(name), out().join("seeds").join(name)]);
    cmd::run_logged(&mut fuzzer, &setup::log("fuzz-merge"))?;
    let size = |file: &Path| file.metadata().map_or(u64::MAX, |it| it.len());
    let mut files = paths::files(&fresh)?;
    files.sort_by_key(|it| size(it));
    let n_all = files.len();
    let mut bytes = 0;
    // Of every size some: the small ones alone would all be mistakes.
    files = files.into_iter().step_by(n_all.div_ceil(MOST_INPUTS).max(1)).collect();
    files.retain(|it| {
        bytes += size(it);
        bytes <= MOST_KEPT
    });
    let _ = fs::remove_dir_all(kept(name));
    let place = make(kept(name))?;
    for file in &files {
        let to = place.join(file.file_name().unwrap_or_default());
        fs::copy(file, &to).map_err(|e| format!("can't write {}: {e}", to.display()))?;
    }
    Ok(format!("kept {} of {n_all} inputs in {}", files.len(), place.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(list: &[&str]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn targets_are_named_or_all() {
        assert_eq!(chosen(&args(&["--minutes", "1"])).unwrap(), TARGETS);
        assert_eq!(chosen(&args(&["--minutes=1", "share", "--keep"])).unwrap(), [("share", 4_096)]);
        assert!(chosen(&args(&["shar"])).unwrap_err().contains("manifest, kubectl"));
    }

    /// Three lists that must not drift apart: this one, the crate's, and the programs.
    #[test]
    fn every_target_has_its_function_and_its_program() {
        let read = |path: &str| fs::read_to_string(paths::root().join(path)).unwrap();
        let (own, manifest) = (read("fuzz/src/lib.rs"), read("fuzz/libfuzzer/Cargo.toml"));
        for (name, _) in TARGETS {
            assert!(own.contains(&format!("name: \"{name}\", run: {name}")), "{name}");
            assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name}");
            assert!(
                read(&format!("fuzz/libfuzzer/fuzz_targets/{name}.rs")).contains(&format!("loopscope_fuzz::{name}("))
            );
        }
        assert_eq!(own.matches("Target { name:").count(), TARGETS.len());
    }
}
