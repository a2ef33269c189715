//! Writes a target's seeds into a folder: `seeds <target> <folder>`.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let (Some(target), Some(folder)) = (args.next(), args.next().map(PathBuf::from)) else {
        eprintln!("usage: seeds <target> <folder>");
        return ExitCode::FAILURE;
    };
    let written = std::fs::create_dir_all(&folder).and_then(|()| {
        let seeds = loopscope_fuzz::seeds(&target);
        seeds.iter().enumerate().try_for_each(|(n, it)| std::fs::write(folder.join(format!("seed-{n:03}")), it))
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("can't write into {}: {error}", folder.display());
            ExitCode::FAILURE
        }
    }
}
