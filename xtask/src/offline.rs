//! The service worker of the built page, which makes it work without a network. A page built with `--dev` has none.

use crate::cmd::Res;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

const WORKER: &str = include_str!("sw.js");
/// Where it stands in the template.
const PLACE: &str = "/* FILES */";

/// Writes `sw.js` with the list of files to keep, given by name.
pub fn write(dist: &Path, names: &[String]) -> Res {
    let mut hash = Sha256::new();
    let mut kept: Vec<&String> = names.iter().filter(|name| is_kept(name)).collect();
    kept.sort();
    for name in &kept {
        let bytes = fs::read(dist.join(name)).map_err(|e| format!("can't read {name}: {e}"))?;
        hash.update(name.as_bytes());
        hash.update(&bytes);
    }
    let version: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let text = worker(&version, &kept);
    fs::write(dist.join("sw.js"), text).map_err(|e| format!("can't write sw.js: {e}"))
}

fn worker(version: &str, kept: &[&String]) -> String {
    // A visitor asks for the folder, never for its index.
    let address = |name: &str| if name == "index.html" { "./".to_owned() } else { name.to_owned() };
    let list: Vec<String> = kept.iter().map(|name| format!("'{}'", address(name))).collect();
    let lines: Vec<&str> = WORKER.lines().filter(|line| !line.starts_with("//")).map(str::trim).collect();
    (lines.join("\n") + "\n").replace(PLACE, &list.join(",\n")).replace("VERSION", version)
}

/// What is for other sites, or is a page of its own, is not kept: a visitor of this page never asks for it.
fn is_kept(name: &str) -> bool {
    let is_for_others = name.starts_with("article/") || name.starts_with("oembed/") || name == "loop-scope.js";
    let is_other_page = name.ends_with(".html") && name != "index.html";
    !is_for_others && !is_other_page && name != "_headers" && name != "sw.js"
}

/// The page with the mark that makes its script register the worker.
pub fn with_mark(html: &str) -> String {
    html.replacen("<html ", "<html data-offline ", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worker_keeps_the_index_by_its_folder_and_no_other_page() {
        let names = [
            "index.html",
            "article/index.html",
            "article/article.css",
            "oembed/empty.json",
            "loop-scope.js",
            "_headers",
            "a-0123456789abcdef.js",
        ]
        .map(String::from);
        let kept: Vec<&String> = names.iter().filter(|name| is_kept(name)).collect();
        let text = worker("00ff", &kept);
        assert!(text.contains("const CACHE = 'loopscope-00ff';"), "{text}");
        assert!(text.contains("const FILES = [\n'./',\n'a-0123456789abcdef.js'\n];"), "{text}");
        assert!(!text.contains("//"));
    }

    #[test]
    fn only_a_page_with_the_mark_registers_it() {
        assert_eq!(
            with_mark("<!doctype html>\n<html lang=\"en\">"),
            "<!doctype html>\n<html data-offline lang=\"en\">"
        );
    }
}
