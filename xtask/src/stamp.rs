//! Whether the built page still belongs to the files it was built from.

use crate::cmd::Res;
use crate::paths;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// All that a build of the page reads. The build's own code counts: it writes part of the result.
const INPUTS: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "Trunk.toml",
    "docs/fidelity.md",
    "engine/Cargo.toml",
    "engine/src",
    "index.html",
    "public",
    "scenarios",
    "src",
    "style",
    "tests/e2e/first-visit.mjs",
    "xtask/src/build.rs",
    "xtask/src/csp.rs",
    "xtask/src/css.rs",
    "xtask/src/split",
];

pub fn of_inputs(root: &Path, mode: &str) -> Res<String> {
    let mut hasher = Sha256::new();
    hasher.update(mode);
    for input in INPUTS {
        for file in paths::files(&root.join(input))? {
            let bytes = fs::read(&file).map_err(|e| format!("can't read {}: {e}", file.display()))?;
            let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().into_owned();
            hasher.update(format!("\0{name}\0{}\0", bytes.len()));
            hasher.update(bytes);
        }
    }
    Ok(hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_input_changes_the_stamp_and_another_file_does_not() {
        let dir = std::env::temp_dir().join(format!("loopscope-stamp-{}", std::process::id()));
        fs::create_dir_all(dir.join("src")).unwrap();
        fs::write(dir.join("src/lib.rs"), "a").unwrap();
        let first = of_inputs(&dir, "release").unwrap();
        fs::write(dir.join("README.md"), "words").unwrap();
        assert_eq!(of_inputs(&dir, "release").unwrap(), first);
        assert_ne!(of_inputs(&dir, "dev").unwrap(), first);
        fs::write(dir.join("src/lib.rs"), "b").unwrap();
        assert_ne!(of_inputs(&dir, "release").unwrap(), first);
        fs::remove_dir_all(dir).unwrap();
    }
}
