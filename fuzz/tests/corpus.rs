//! Every kept input through the function of its target: what a fuzzer reached once stays reached, and what it found stays
//! mended.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use loopscope_fuzz::{TARGETS, Target};

/// Longer than an input may take, even in a debug build on a busy machine.
const LONGEST: Duration = Duration::from_secs(20);

fn files(folder: &str, target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(target);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|it| it.path()).filter(|it| it.is_file()).collect();
    files.sort();
    files
}

/// A panic names its input: the panic hook has printed the rest.
fn play(target: Target, file: &Path) {
    let data = fs::read(file).expect("it can be read");
    let began = Instant::now();
    let result = std::panic::catch_unwind(|| (target.run)(&data));
    assert!(result.is_ok(), "{}: {}", target.name, file.display());
    assert!(began.elapsed() < LONGEST, "{}: {} takes {:?}", target.name, file.display(), began.elapsed());
}

fn play_all(name: &str) {
    let target = TARGETS.into_iter().find(|it| it.name == name).expect("there is such a target");
    let (corpus, regressions) = (files("corpus", name), files("regressions", name));
    assert!(!corpus.is_empty(), "nothing is kept of {name}");
    corpus.iter().chain(&regressions).for_each(|file| play(target, file));
}

#[test]
fn manifest() {
    play_all("manifest");
}

#[test]
fn kubectl() {
    play_all("kubectl");
}

#[test]
fn scenario() {
    play_all("scenario");
}

#[test]
fn share() {
    play_all("share");
}

#[test]
fn dump() {
    play_all("dump");
}

#[test]
fn embed() {
    play_all("embed");
}

#[test]
fn world() {
    play_all("world");
}

/// An input of a target that is gone is an input that nobody plays.
#[test]
fn every_kept_input_has_its_target() {
    for folder in ["corpus", "regressions"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            assert!(TARGETS.iter().any(|it| *it.name == *name), "{name:?}");
        }
    }
}

#[test]
fn every_target_has_seeds() {
    for target in TARGETS {
        assert!(loopscope_fuzz::seeds(target.name).len() > 10, "{}", target.name);
    }
}
