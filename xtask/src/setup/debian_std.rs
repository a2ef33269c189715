//! Where rustup can download nothing: Debian's own compiler, and a standard library for the target built
//! from the matching source that Debian ships.

use super::apt;
use super::wasm_target::{TARGET, sysroot_has_target};
use crate::cmd::{self, Res};
use crate::paths;
use std::fs;
use std::path::{Path, PathBuf};

const RUSTC: &str = "/usr/bin/rustc";
const RUSTLIB: &str = "/usr/lib/rustlib";

#[derive(Debug, PartialEq, Eq)]
struct Compiler {
    release: String,
    host: String,
    llvm: String,
    text: String,
}

/// Reads `rustc -vV`.
fn parse(text: &str) -> Option<Compiler> {
    let field = |name: &str| text.lines().find_map(|l| l.strip_prefix(name)).map(|v| v.trim().to_string());
    Some(Compiler {
        release: field("release:")?,
        host: field("host:")?,
        llvm: field("LLVM version:")?.split('.').next()?.to_string(),
        text: text.to_string(),
    })
}

fn compiler() -> Option<Compiler> {
    cmd::capture(cmd::command(RUSTC).arg("-vV")).ok().as_deref().and_then(parse)
}

fn lib_dir() -> PathBuf {
    Path::new(RUSTLIB).join(TARGET).join("lib")
}

/// Says which compiler built the library: an upgrade of the package makes it useless.
fn stamp() -> PathBuf {
    lib_dir().join("loopscope-built-by")
}

fn linker(host: &str) -> PathBuf {
    Path::new(RUSTLIB).join(host).join("bin/rust-lld")
}

pub fn ready() -> bool {
    compiler().is_some_and(|c| {
        fs::read_to_string(stamp()).is_ok_and(|text| text == c.text)
            && sysroot_has_target(Path::new("/usr"))
            && linker(&c.host).exists()
    })
}

pub fn install() -> Res {
    apt::install(&["rustc-web", "cargo-web", "rust-web-src"])?;
    let compiler = compiler().ok_or("Debian's rustc-web is installed but `/usr/bin/rustc -vV` says nothing usable")?;
    apt::install(&[&format!("lld-{}", compiler.llvm)])?;
    link_linker(&compiler)?;
    let scratch = paths::cache()?.join("std");
    let _ = fs::remove_dir_all(&scratch);
    build(&compiler, &scratch)?;
    let built = copy_rlibs(&scratch.join("target").join(TARGET).join("release/deps"), &lib_dir())?;
    if built == 0 {
        return Err("the standard library was built but left no .rlib files".into());
    }
    fs::write(stamp(), &compiler.text).map_err(|e| format!("can't write {}: {e}", stamp().display()))?;
    let _ = fs::remove_dir_all(&scratch);
    Ok(())
}

fn build(compiler: &Compiler, scratch: &Path) -> Res {
    let source = format!("/usr/src/rustc-{}/library", compiler.release);
    fs::create_dir_all(scratch).map_err(|e| format!("can't make {}: {e}", scratch.display()))?;
    let log = super::log("wasm-std");
    cmd::run_logged(cmd::command("cp").args(["-rL", &source]).arg(scratch.join("library")), &log)?;
    let mut cargo = cmd::command("/usr/bin/cargo");
    cargo
        .args(["build", "--release", "--target", TARGET, "--features", "panic-unwind,compiler-builtins-mem"])
        .arg("--manifest-path")
        .arg(scratch.join("library/sysroot/Cargo.toml"))
        .current_dir(scratch)
        .env_remove("RUSTUP_TOOLCHAIN")
        .env("CARGO_TARGET_DIR", scratch.join("target"))
        .env("RUSTC", RUSTC)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Cembed-bitcode=yes -Zforce-unstable-if-unmarked");
    cmd::run_logged(&mut cargo, &log)
}

/// A fresh folder, because two builds of `std` side by side are an error to the compiler.
fn copy_rlibs(from: &Path, to: &Path) -> Res<usize> {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).map_err(|e| format!("can't make {}: {e}", to.display()))?;
    let entries = fs::read_dir(from).map_err(|e| format!("can't read {}: {e}", from.display()))?;
    let mut count = 0;
    for file in entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "rlib")) {
        let target = to.join(file.file_name().unwrap_or_default());
        fs::copy(&file, &target).map_err(|e| format!("can't copy {}: {e}", file.display()))?;
        count += 1;
    }
    Ok(count)
}

/// rustc looks for `rust-lld` beside its own libraries; Debian's package puts it elsewhere.
#[cfg(unix)]
fn link_linker(compiler: &Compiler) -> Res {
    let link = linker(&compiler.host);
    if link.exists() {
        return Ok(());
    }
    let dir = link.parent().unwrap_or(Path::new(RUSTLIB));
    fs::create_dir_all(dir).map_err(|e| format!("can't make {}: {e}", dir.display()))?;
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(format!("/usr/lib/llvm-{}/bin/lld", compiler.llvm), &link)
        .map_err(|e| format!("can't make the link {}: {e}", link.display()))
}

#[cfg(not(unix))]
fn link_linker(_: &Compiler) -> Res {
    Err("Debian's toolchain is only on Debian".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compilers_own_words_are_read() {
        let text = "rustc 1.96.0 (abc 2026-05-01)\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\n\
                    release: 1.96.0\nLLVM version: 22.1.8\n";
        let compiler = parse(text).unwrap();
        assert_eq!((compiler.release.as_str(), compiler.llvm.as_str()), ("1.96.0", "22"));
        assert_eq!(linker(&compiler.host), Path::new("/usr/lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld"));
        assert_eq!(parse("error: no such command"), None);
    }
}
