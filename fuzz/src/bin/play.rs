//! Plays inputs through the function of their target, without libFuzzer: `play <target> <file>...`. The slowest is told.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use loopscope_fuzz::TARGETS;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(target) = args.next().and_then(|name| TARGETS.into_iter().find(|it| it.name == name)) else {
        eprintln!("usage: play <target> <file>...; there are {}", TARGETS.map(|it| it.name).join(", "));
        return ExitCode::FAILURE;
    };
    let (mut bad, mut slowest) = (0, (Duration::ZERO, String::new()));
    for file in args {
        let data = match std::fs::read(&file) {
            Ok(data) => data,
            Err(error) => {
                eprintln!("can't read {file}: {error}");
                return ExitCode::FAILURE;
            }
        };
        let began = Instant::now();
        if std::panic::catch_unwind(|| (target.run)(&data)).is_err() {
            println!("bad: {file}");
            bad += 1;
        }
        if began.elapsed() > slowest.0 {
            slowest = (began.elapsed(), file);
        }
    }
    println!("{bad} bad; {} took {:?}", slowest.1, slowest.0);
    if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
