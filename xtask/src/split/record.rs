//! Which functions a first visit uses: the page tells itself, in a browser.

use super::mark::marked;
use crate::cmd::{self, Res};
use crate::setup::Tools;
use crate::{paths, test};
use std::fs;
use std::path::Path;

/// For each function that is not imported, whether a first visit used it (`tests/e2e/first-visit.mjs` is that visit); some
/// that mean nothing follow.
pub fn first_visit(tools: &Tools, dist: &Path, file: &Path, wasm: &[u8]) -> Res<Vec<bool>> {
    let folder = paths::target().join("first-visit");
    let _ = fs::remove_dir_all(&folder);
    for from in paths::files(dist)? {
        let name = from.strip_prefix(dist).map_err(|e| e.to_string())?;
        let to = folder.join(name);
        let fail = |e: std::io::Error| format!("can't write {}: {e}", to.display());
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(fail)?;
        }
        if from == file {
            fs::write(&to, marked(wasm)?).map_err(fail)?;
        } else {
            fs::copy(&from, &to).map_err(fail)?;
        }
    }
    // So the page asks for it like the one that will be there.
    super::name_in_page(&folder, "none_rest.wasm")?;
    let told = cmd::capture(test::node(tools, &folder)?.arg("first-visit.mjs"))?;
    recorded_by(&told)
}

/// The marks as the visit prints them: a line of `0` and `1`.
fn recorded_by(told: &str) -> Res<Vec<bool>> {
    let line = told.lines().rev().find(|line| !line.is_empty() && line.bytes().all(|it| matches!(it, b'0' | b'1')));
    let line = line.ok_or_else(|| format!("the first visit recorded nothing:\n{told}"))?;
    Ok(line.bytes().map(|it| it == b'1').collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_are_the_last_line_of_digits() {
        assert_eq!(recorded_by("listening\n0110\n").unwrap(), [false, true, true, false]);
        assert!(recorded_by("an error\n").unwrap_err().contains("an error"));
    }
}
