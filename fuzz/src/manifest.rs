//! Manifests that somebody pastes.

use loopscope_engine::manifest::{Diagnostic, Manifest, is_ambiguous, located, read, to_yaml, value};
use loopscope_engine::view;
use loopscope_engine::world::Command;

use super::sum;
use super::world::{check_text, look, n_pods, run_for, small};

/// Of this many inputs one is applied and played for a while.
const NOW_AND_THEN: u64 = 4;

pub fn manifest(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let manifest = read(&text);
    let n_lines = 1 + text.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).count() as u32;
    manifest.diagnostics.iter().for_each(|it| check_place(it, n_lines));
    check_documents(&manifest);
    if let Ok(value) = value(&text) {
        let yaml = to_yaml(&value);
        assert_eq!(
            loopscope_engine::manifest::value(&yaml).as_ref(),
            Ok(&value),
            "written and read it is not the same: {yaml}"
        );
    }
    if let Ok((_, spans)) = located(&text) {
        spans.locate("spec.template.spec.containers[0].image");
    }
    is_ambiguous(&text);
    if !manifest.documents.is_empty() && sum(data).is_multiple_of(NOW_AND_THEN) {
        apply(&text);
    }
}

fn check_place(it: &Diagnostic, n_lines: u32) {
    assert!((1..=n_lines).contains(&it.line) && it.column >= 1, "{it:?} lies beyond the {n_lines} lines");
    assert!(!it.message.is_empty(), "{it:?} says nothing");
}

fn check_documents(manifest: &Manifest) {
    assert!(manifest.refusal(true).is_some() || manifest.refusal(false).is_none(), "in parts it is worse than whole");
    for it in &manifest.diagnostics {
        manifest.kubectl_error(it.document);
    }
    for document in &manifest.documents {
        for path in ["metadata.name", "spec.replicas", "spec.template.spec.containers[0].image", ""] {
            document.locate(path);
            document.locate_refused(path, "Invalid value: \"a\": must be b");
        }
        let written = to_yaml(&document.value);
        let again = read(&written);
        let values: Vec<_> = again.documents.iter().map(|it| &it.value).collect();
        assert_eq!(
            values,
            [&document.value],
            "written and read it is not the same: {written}\n{:?}",
            again.diagnostics
        );
    }
}

fn apply(text: &str) {
    let mut simulation = small();
    view::dry_run(&simulation, text);
    let outcome = simulation.dispatch(Command::Apply { manifest: text.to_owned() });
    assert!(!outcome.lines.is_empty() || !outcome.problems.is_empty(), "it was applied without a word");
    run_for(&mut simulation, 4_000);
    check_text(simulation.journal());
    if n_pods(&simulation) < 100 {
        look(&simulation);
    }
}
