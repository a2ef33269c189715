//! The runner: every recording and every table of the folder.

use super::folder::Folder;
use super::recording::Recording;
use super::report::{Mode, Report};
use super::{driven, exceptions};

fn try_out(report: &mut Report, name: &str, mode: Mode, run: impl Fn() -> Result<(), String>) {
    let result = run();
    match exceptions::reason(name, mode) {
        Some(reason) => report.excepted(name, mode, reason, Some(&result)),
        None => report.trace(name, mode, &result),
    }
}

#[test]
fn recordings_and_tables_hold() {
    let folder = Folder::chosen();
    let names = folder.traces();
    assert!(!names.is_empty(), "no recordings");
    let mut report = Report::default();
    let only = std::env::var("ONLY").unwrap_or_default();
    for name in names.iter().filter(|it| it.starts_with(&only)) {
        match folder.trace(name).and_then(|text| Recording::read(&text)) {
            Ok(recording) => try_out(&mut report, name, Mode::Driven, || driven::run(&recording)),
            Err(error) => report.trace(name, Mode::Driven, &Err(error)),
        }
    }
    let is_good = report.is_good();
    println!("{}", report.finish());
    assert!(is_good, "see the lines above");
}
