//! The standard library for wasm32-unknown-unknown.

use super::{Step, apt, debian_std};
use crate::cmd::{self, Res};
use crate::paths;
use std::fs;
use std::path::{Path, PathBuf};

pub const TARGET: &str = "wasm32-unknown-unknown";
/// The name under which rustup knows Debian's toolchain.
pub const LINKED: &str = "loopscope-web";

pub struct WasmTarget;

/// A toolchain has the target when its sysroot holds a compiled `std` for it.
pub fn sysroot_has_target(sysroot: &Path) -> bool {
    let lib = sysroot.join("lib/rustlib").join(TARGET).join("lib");
    fs::read_dir(lib).is_ok_and(|entries| {
        entries.flatten().any(|e| {
            let name = e.file_name().to_string_lossy().into_owned();
            name == "libstd.rlib" || (name.starts_with("libstd-") && name.ends_with(".rlib"))
        })
    })
}

fn default_sysroot() -> Option<PathBuf> {
    let mut rustc = cmd::command("rustc");
    rustc.args(["--print", "sysroot"]).current_dir(paths::root());
    cmd::capture(&mut rustc).ok().map(|text| PathBuf::from(text.trim()))
}

fn default_has_target() -> bool {
    default_sysroot().is_some_and(|dir| sysroot_has_target(&dir))
}

/// The toolchain to build the page with, where it isn't the default one.
pub fn linked_toolchain() -> Option<&'static str> {
    (!default_has_target() && debian_std::ready() && is_linked()).then_some(LINKED)
}

fn is_linked() -> bool {
    cmd::capture(cmd::command("rustup").args(["toolchain", "list"]))
        .is_ok_and(|text| text.lines().any(|line| line.split_whitespace().next() == Some(LINKED)))
}

impl Step for WasmTarget {
    fn name(&self) -> String {
        format!("the {TARGET} target")
    }

    fn how(&self) -> String {
        "with rustup (seconds), or from Debian's packages where rustup can't (3 min)".into()
    }

    fn found(&self) -> Option<String> {
        if default_has_target() {
            return Some("in the default toolchain".into());
        }
        linked_toolchain().map(|name| format!("in the toolchain {name}, built from Debian's packages"))
    }

    fn install(&self) -> Res {
        let mut rustup = cmd::command("rustup");
        rustup.args(["target", "add", TARGET]).current_dir(paths::root());
        let Err(why) = cmd::run_logged(&mut rustup, &super::log("wasm-target")) else {
            return Ok(());
        };
        if apt::usable() {
            println!(
                "set-up: rustup can't add the target here; building it from Debian's rustc-web and rust-web-src \
                 instead (about 3 min)"
            );
            debian_std::install()?;
            let mut link = cmd::command("rustup");
            link.args(["toolchain", "link", LINKED, "/usr"]);
            return cmd::run_logged(&mut link, &super::log("wasm-target"));
        }
        Err(format!(
            "{why}\n    remedy: run `rustup target add {TARGET}` where rustup can download it, or install your \
             system's package with the standard library for {TARGET}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_target_folder_is_not_the_target() {
        let dir = std::env::temp_dir().join(format!("loopscope-sysroot-{}", std::process::id()));
        let lib = dir.join("lib/rustlib").join(TARGET).join("lib");
        fs::create_dir_all(&lib).unwrap();
        fs::write(lib.join("libstd_detect-0123.rlib"), b"").unwrap();
        assert!(!sysroot_has_target(&dir));
        fs::write(lib.join("libstd-0123.rlib"), b"").unwrap();
        assert!(sysroot_has_target(&dir));
        fs::remove_dir_all(&dir).unwrap();
    }
}
