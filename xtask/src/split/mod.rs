//! Divides the program in two: the functions that a first visit uses, and the rest, which comes when it is wanted.
//!
//! A function of the rest that others name keeps a few instructions in its place: they ask for the rest if it is not
//! there yet, and call it through the table. The two share memory, table and globals. Nothing depends on the choice of
//! functions but how soon the rest is needed.

mod divide;
mod mark;
mod module;
mod near;
mod record;

use crate::cmd::Res;
use crate::setup::Tools;
use crate::{paths, setup};
use module::Module;
use std::fs;
use std::path::Path;

/// Divides the program of a built page, if a browser is there to tell what a first visit uses.
pub fn page(tools: &Tools, dist: &Path) -> Res {
    let Some(file) = program(dist)? else { return Err(format!("{} holds no program", dist.display())) };
    let wasm = fs::read(&file).map_err(|e| format!("can't read {}: {e}", file.display()))?;
    let write =
        |to: &Path, bytes: &[u8]| fs::write(to, bytes).map_err(|e| format!("can't write {}: {e}", to.display()));
    if setup::browser().is_none() || !paths::e2e().join("node_modules/playwright-core").is_dir() {
        println!(
            "build: no browser or no Playwright is here to record a first visit with: the program stays in one piece"
        );
        return write(&file, &module::without_names(&wasm)?);
    }
    let module = Module::read(&wasm)?;
    let mut used = record::first_visit(tools, dist, &file, &wasm)?;
    // The memory of the marks is whole pages.
    used.truncate(module.bodies.len());
    let n_used = used.iter().filter(|it| **it).count();
    near::mark_near(&module, &mut used)?;
    let halves = divide::divide(&module, &used)?;
    let rest = rest_name(&file)?;
    write(&file, &halves.first)?;
    write(&file.with_file_name(&rest), &halves.rest)?;
    write(&paths::target().join("first-visit.names"), halves.names.as_bytes())?;
    println!(
        "build: {n_used} of {} functions are used by a first visit, {} more are near; {} bytes come at first, {} when they are wanted",
        used.len(),
        used.iter().filter(|it| **it).count() - n_used,
        halves.first.len(),
        halves.rest.len()
    );
    name_in_page(dist, &rest)
}

fn program(dist: &Path) -> Res<Option<std::path::PathBuf>> {
    Ok(paths::files(dist)?.into_iter().find(|file| file.to_string_lossy().ends_with("_bg.wasm")))
}

/// `loopscope-0123456789abcdef_rest.wasm`: the hash is of the whole program.
fn rest_name(file: &Path) -> Res<String> {
    let name = file.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.strip_suffix("_bg.wasm").ok_or("the program has another name than Trunk gives it")?;
    Ok(format!("{stem}_rest.wasm"))
}

/// `src/start.mjs` reads the name there.
fn name_in_page(dist: &Path, rest: &str) -> Res {
    let index = dist.join("index.html");
    let html = fs::read_to_string(&index).map_err(|e| format!("can't read {}: {e}", index.display()))?;
    let html = html.replacen(
        "<meta name=\"viewport\"",
        &format!("<meta name=\"rest\" content=\"{rest}\"><meta name=\"viewport\""),
        1,
    );
    fs::write(&index, html).map_err(|e| format!("can't write {}: {e}", index.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_named_after_the_program() {
        assert_eq!(rest_name(Path::new("dist/loopscope-00ff_bg.wasm")).unwrap(), "loopscope-00ff_rest.wasm");
        assert!(rest_name(Path::new("dist/other.wasm")).is_err());
    }
}
