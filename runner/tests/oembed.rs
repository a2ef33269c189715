//! `public/oembed/` is what the worlds are.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).expect("the folder is there").filter_map(Result::ok);
    entries
        .map(|it| (it.file_name().to_string_lossy().into_owned(), fs::read_to_string(it.path()).expect("a text")))
        .collect()
}

/// `cargo run -p loopscope-run -- --oembed public/scenarios style/sprite.svg public/oembed` writes them.
#[test]
fn descriptions_and_pictures_are_of_the_worlds_that_there_are() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let into = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("oembed");
    let _ = fs::remove_dir_all(&into);
    fs::create_dir_all(&into).expect("a folder for them");
    let run = Command::new(env!("CARGO_BIN_EXE_loopscope-run"))
        .args([
            "--oembed".as_ref(),
            root.join("public/scenarios").as_os_str(),
            root.join("style/sprite.svg").as_os_str(),
        ])
        .arg(&into)
        .output()
        .expect("it runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let (ours, there) = (files(&into), files(&root.join("public/oembed")));
    assert!(ours.len() > 36, "all of them: {}", ours.len());
    assert_eq!(ours.keys().collect::<Vec<_>>(), there.keys().collect::<Vec<_>>());
    for (name, text) in &ours {
        assert!(*text == there[name], "{name} is old: loopscope-run --oembed writes it anew");
    }
}
