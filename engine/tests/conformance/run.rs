//! The runner: every recording and every table of the folder.
//!
//! `CONFORMANCE_ONLY` names the recordings to try, by the beginning of their names; with `CONFORMANCE_VERBOSE` all
//! differences are told, not only the first.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::folder::Folder;
use super::recording::Recording;
use super::report::{Mode, Report};
use super::{driven, exceptions, free, tables};

/// What differs in each mode.
struct Tried {
    driven: Vec<String>,
    free: Vec<String>,
}

/// Tries a recording; a run that breaks off has failed, and the others go on.
fn try_out(folder: &Folder, name: &str) -> Tried {
    let recording = match folder.trace(name).and_then(|text| Recording::read(&text)) {
        Ok(recording) => recording,
        Err(error) => return Tried { driven: vec![error.clone()], free: vec![error] },
    };
    let guarded = |run: &dyn Fn() -> Result<Vec<String>, String>| {
        let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err("broke off".into()));
        result.unwrap_or_else(|error| vec![error])
    };
    Tried {
        driven: guarded(&|| driven::run(&recording).map(|()| Vec::new())),
        free: guarded(&|| free::run(&recording)),
    }
}

/// Tries all recordings, on as many threads as there are processors.
fn try_all(folder: &Folder, names: &[String]) -> Vec<Tried> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((at, name)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, names.get(at)?)))
        {
            done.push((at, try_out(folder, name)));
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<(usize, Tried)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|it| it.join().expect("a worker ends")).collect()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, tried)| tried).collect()
}

fn tell(report: &mut Report, name: &str, mode: Mode, differences: Vec<String>) {
    if std::env::var_os("CONFORMANCE_VERBOSE").is_some() {
        differences.iter().for_each(|it| println!("  {name} {it}"));
    }
    if let Some(reason) = exceptions::reason(name, mode) {
        return report.excepted(name, mode, reason, differences.first());
    }
    // The list of what is right although it differs is of the project's own copies.
    let is_own = std::env::var_os("CONFORMANCE_DIR").is_none() && mode == Mode::Free;
    let idle = exceptions::idle(name, &differences).filter(|_| is_own);
    let (allowed, mut odd): (Vec<_>, Vec<_>) =
        differences.into_iter().partition(|it| exceptions::allowed(name, it).is_some());
    odd.extend(idle);
    let reasons = allowed.iter().filter_map(|it| exceptions::allowed(name, it));
    report.trace(name, mode, odd.first(), reasons.collect());
}

#[test]
fn recordings_and_tables_hold() {
    let folder = Folder::chosen();
    let only = std::env::var("CONFORMANCE_ONLY").unwrap_or_default();
    let names: Vec<String> = folder.traces().into_iter().filter(|name| name.starts_with(&only)).collect();
    assert!(!names.is_empty() || !folder.tables().is_empty(), "neither recordings nor tables");
    let mut report = Report::default();
    for (name, tried) in names.iter().zip(try_all(&folder, &names)) {
        tell(&mut report, name, Mode::Driven, tried.driven);
        tell(&mut report, name, Mode::Free, tried.free);
    }
    tables::run(&folder, &mut report);
    let is_good = report.is_good();
    println!("{}", report.finish());
    assert!(is_good, "see the lines above");
}
