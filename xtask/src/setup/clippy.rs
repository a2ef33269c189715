//! rustfmt and clippy, for the toolchain that builds natively and the one that builds the page.

use super::{Step, apt, wasm_target};
use crate::cmd::{self, Res};
use std::path::Path;

pub struct Clippy;

fn missing_components() -> Vec<&'static str> {
    let there = |tool: &str| cmd::capture(cmd::command("cargo").args([tool, "--version"])).is_ok();
    [("fmt", "rustfmt"), ("clippy", "clippy")].into_iter().filter(|(tool, _)| !there(tool)).map(|(_, c)| c).collect()
}

/// Without one, the page is linted with the native toolchain instead.
pub fn linked_toolchain_has_clippy() -> bool {
    Path::new("/usr/bin/cargo-clippy").is_file()
}

fn linked_needs_clippy() -> bool {
    wasm_target::linked_toolchain().is_some() && !linked_toolchain_has_clippy()
}

impl Step for Clippy {
    fn name(&self) -> String {
        "rustfmt and clippy".into()
    }

    fn how(&self) -> String {
        "with rustup, or for Debian's toolchain with apt-get (seconds)".into()
    }

    fn found(&self) -> Option<String> {
        (missing_components().is_empty() && !linked_needs_clippy()).then(|| "in the toolchain".into())
    }

    fn install(&self) -> Res {
        let components = missing_components();
        if !components.is_empty() {
            cmd::run_logged(cmd::command("rustup").args(["component", "add"]).args(&components), &super::log("clippy"))
                .map_err(|e| {
                    format!(
                        "{e}\n    remedy: install {} for your Rust toolchain, then run again",
                        components.join(", ")
                    )
                })?;
        }
        if linked_needs_clippy() {
            apt::install(&["rust-web-clippy"])?;
        }
        Ok(())
    }
}
