//! Where things are: the work tree, the per-user cache of tools, and programs on PATH.

use std::env;
use std::path::{Path, PathBuf};

/// The folder of the workspace: as cargo says when it runs this program, so that clones which share a target folder
/// never work on each other's files; else from where the program was compiled.
pub fn root() -> PathBuf {
    let xtask =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    xtask.parent().map_or_else(|| xtask.clone(), Path::to_path_buf)
}

pub fn target() -> PathBuf {
    root().join("target")
}

/// Builds of the page have a target folder of their own: they may use another toolchain, and they then
/// never wait for the lock that a native build or test holds.
pub fn web_target() -> PathBuf {
    target().join("web")
}

pub fn e2e() -> PathBuf {
    root().join("tests/e2e")
}

/// Shared between clones, so that a second clone installs nothing.
pub fn cache() -> Result<PathBuf, String> {
    let base = match env::var_os("XDG_CACHE_HOME") {
        Some(dir) if Path::new(&dir).is_absolute() => PathBuf::from(dir),
        _ => PathBuf::from(
            env::var_os("HOME").ok_or("HOME is not set: set it, or XDG_CACHE_HOME, to where tools may be kept")?,
        )
        .join(".cache"),
    };
    Ok(base.join("loopscope"))
}

pub fn tool_dir(name: &str, version: &str) -> Result<PathBuf, String> {
    Ok(cache()?.join("tools").join(format!("{name}-{version}")))
}

/// The first executable file called `program` in `dirs`, then on PATH.
pub fn which(program: &str, dirs: &[PathBuf]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    dirs.iter().cloned().chain(env::split_paths(&path)).map(|dir| dir.join(program)).find(|file| is_executable(file))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

/// Every file at or below `path`, in order; none where nothing is there.
pub fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    if path.is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    let Ok(entries) = std::fs::read_dir(path) else { return Ok(Vec::new()) };
    let mut entries: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        found.extend(files(&entry)?);
    }
    Ok(found)
}
