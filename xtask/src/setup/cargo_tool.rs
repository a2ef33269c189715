//! Tools that cargo builds: trunk, wasm-bindgen-cli, wasm-pack and cargo-fuzz.

use super::{Step, version};
use crate::cmd::{self, Res};
use crate::paths;
use std::path::{Path, PathBuf};

pub struct CargoTool {
    package: &'static str,
    program: &'static str,
    version: String,
    locked: bool,
    minutes: &'static str,
}

pub fn trunk() -> CargoTool {
    CargoTool { package: "trunk", program: "trunk", version: "0.21.14".into(), locked: true, minutes: "5 min" }
}

pub fn wasm_pack() -> CargoTool {
    CargoTool { package: "wasm-pack", program: "wasm-pack", version: "0.15.1".into(), locked: true, minutes: "2 min" }
}

pub fn cargo_fuzz() -> CargoTool {
    CargoTool { package: "cargo-fuzz", program: "cargo-fuzz", version: "0.13.2".into(), locked: true, minutes: "1 min" }
}

/// Its own lock file names a crate version that the index may not have: no `--locked`.
pub fn wasm_bindgen(version: &str) -> CargoTool {
    CargoTool {
        package: "wasm-bindgen-cli",
        program: "wasm-bindgen",
        version: version.into(),
        locked: false,
        minutes: "2 min",
    }
}

/// One target folder for all of them: they have many crates in common.
pub fn build_dir() -> Res<PathBuf> {
    Ok(paths::cache()?.join("build"))
}

impl CargoTool {
    fn root(&self) -> Res<PathBuf> {
        paths::tool_dir(self.package, &self.version)
    }

    /// The folder to put on PATH, where PATH doesn't have the right version already.
    pub fn cached_dir(&self) -> Res<Option<PathBuf>> {
        let bin = self.root()?.join("bin");
        let cached = self.is_right(&bin.join(self.program));
        Ok((cached && self.on_path().is_none()).then_some(bin))
    }

    fn on_path(&self) -> Option<PathBuf> {
        paths::which(self.program, &[]).filter(|file| self.is_right(file))
    }

    fn is_right(&self, file: &Path) -> bool {
        file.is_file()
            && cmd::capture(cmd::command(file).arg("--version"))
                .is_ok_and(|text| version::printed(&text) == Some(&self.version))
    }
}

impl Step for CargoTool {
    fn name(&self) -> String {
        format!("{} {}", self.package, self.version)
    }

    fn how(&self) -> String {
        format!("with cargo into the tools' folder of this user (about {} on two cores)", self.minutes)
    }

    fn found(&self) -> Option<String> {
        let cached = || self.root().ok().map(|r| r.join("bin").join(self.program)).filter(|f| self.is_right(f));
        self.on_path().or_else(cached).map(|file| file.display().to_string())
    }

    fn install(&self) -> Res {
        let mut cargo = cmd::command("cargo");
        cargo
            .args(["install", self.package, "--version", &self.version, "--force", "--root"])
            .arg(self.root()?)
            .arg("--target-dir")
            .arg(build_dir()?)
            .current_dir(paths::cache()?);
        if self.locked {
            cargo.arg("--locked");
        }
        // These run for seconds and build for minutes: less optimisation halves the wait.
        for (name, value) in [("OPT_LEVEL", "1"), ("LTO", "off"), ("CODEGEN_UNITS", "16"), ("DEBUG", "false")] {
            cargo.env(format!("CARGO_PROFILE_RELEASE_{name}"), value);
        }
        cmd::run_logged(&mut cargo, &super::log(self.package)).map_err(|e| {
            format!("{e}\n    remedy: see that crates can be downloaded and a C compiler is there, then run again")
        })
    }
}
