//! Running other programs.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// An error is one sentence for the person at the terminal.
pub type Res<T = ()> = Result<T, String>;

/// What `cargo run` adds for this program and its children must not have: a second toolchain would load
/// the first one's libraries, and cargo would take another package's folder for its own.
const INHERITED: &[&str] = &["LD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "CARGO", "RUST_RECURSION_COUNT"];
const INHERITED_PREFIXES: &[&str] = &["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_PRIMARY_"];

pub fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if INHERITED.contains(&text.as_ref()) || INHERITED_PREFIXES.iter().any(|p| text.starts_with(p)) {
            command.env_remove(&name);
        }
    }
    command
}

pub fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    std::iter::once(program).chain(command.get_args()).map(|w| w.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

pub fn run(command: &mut Command) -> Res {
    let status = command.status().map_err(|e| not_started(command, &e))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` failed ({status})", shown(command))) }
}

/// Standard output of a program that succeeds.
pub fn capture(command: &mut Command) -> Res<String> {
    let out = command.stdin(Stdio::null()).output().map_err(|e| not_started(command, &e))?;
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
    }
    let why = String::from_utf8_lossy(&out.stderr);
    Err(format!("`{}` failed ({}): {}", shown(command), out.status, why.trim()))
}

/// Where a test runner writes its report.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Report {
    Stdout,
    Stderr,
}

/// Runs with the report shown line by line and also returned, for the runner's closing line.
pub fn tee(command: &mut Command, report: Report) -> Res<String> {
    match report {
        Report::Stdout => command.stdout(Stdio::piped()),
        Report::Stderr => command.stderr(Stdio::piped()),
    };
    let mut child = command.spawn().map_err(|e| not_started(command, &e))?;
    let stream: Option<Box<dyn Read>> = match report {
        Report::Stdout => child.stdout.take().map(|s| Box::new(s) as Box<dyn Read>),
        Report::Stderr => child.stderr.take().map(|s| Box::new(s) as Box<dyn Read>),
    };
    let mut text = String::new();
    for line in stream.map(|s| BufReader::new(s).split(b'\n')).into_iter().flatten() {
        let line = String::from_utf8_lossy(&line.map_err(|e| e.to_string())?).into_owned();
        println!("{line}");
        text.push_str(&line);
        text.push('\n');
    }
    let status = child.wait().map_err(|e| e.to_string())?;
    if status.success() { Ok(text) } else { Err(format!("`{}` failed ({status})", shown(command))) }
}

/// Runs with all output in a file, because set-up steps run side by side; shows its end on failure.
pub fn run_logged(command: &mut Command, log: &Path) -> Res {
    if let Some(dir) = log.parent() {
        fs::create_dir_all(dir).map_err(|e| format!("can't make {}: {e}", dir.display()))?;
    }
    let mut file = File::options()
        .create(true)
        .append(true)
        .open(log)
        .map_err(|e| format!("can't write {}: {e}", log.display()))?;
    let _ = writeln!(file, "\n$ {}", shown(command));
    let second = file.try_clone().map_err(|e| e.to_string())?;
    let status =
        command.stdin(Stdio::null()).stdout(file).stderr(second).status().map_err(|e| not_started(command, &e))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("`{}` failed ({status}); the end of {}:\n{}", shown(command), log.display(), tail(log, 15)))
}

fn tail(log: &Path, lines: usize) -> String {
    let text = fs::read(log).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default();
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].iter().map(|l| format!("    {l}")).collect::<Vec<_>>().join("\n")
}

fn not_started(command: &Command, error: &std::io::Error) -> String {
    format!("`{}` could not be started: {error}", shown(command))
}

pub fn timed<T>(work: impl FnOnce() -> Res<T>) -> (Res<T>, Duration) {
    let start = Instant::now();
    (work(), start.elapsed())
}

pub fn seconds(duration: Duration) -> String {
    let tenths = duration.as_millis() / 100;
    if tenths < 600 {
        format!("{}.{} s", tenths / 10, tenths % 10)
    } else {
        format!("{} min {} s", tenths / 600, tenths % 600 / 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_like_a_clock() {
        assert_eq!(seconds(Duration::from_millis(1_290)), "1.2 s");
        assert_eq!(seconds(Duration::from_millis(59_990)), "59.9 s");
        assert_eq!(seconds(Duration::from_secs(61)), "1 min 1 s");
    }

    #[test]
    fn a_failed_program_is_named_in_the_sentence() {
        let sentence = capture(command("sh").args(["-c", "echo broken >&2; exit 3"])).unwrap_err();
        assert!(sentence.contains("sh -c") && sentence.contains("broken"), "{sentence}");
        let sentence = run(&mut command("no-such-program-here")).unwrap_err();
        assert!(sentence.contains("could not be started"), "{sentence}");
    }
}
