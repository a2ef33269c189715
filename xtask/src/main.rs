//! The one list of commands that people and CI run: `cargo xtask <command>`.

mod audit;
mod bench;
mod build;
mod cmd;
mod compress;
mod csp;
mod css;
mod fuzz;
mod lighthouse;
mod lint;
mod offline;
#[cfg(test)]
mod palette;
mod paths;
mod recordings;
mod rivals;
mod serve;
mod setup;
mod shots;
mod size;
mod split;
mod stamp;
mod test;
mod trials;

use cmd::Res;
use setup::Scope;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <command>

  serve [--dev] [--port N]        set up, build, and serve the page on 127.0.0.1
  build [--dev] [--force]         set up and build dist/ for any static host
  test [native|browser|e2e]       set up and run every test, or one part
  lint                            formatting, clippy for both targets, the project's own rules
  size                            what the page weighs, against its budget
  bench [native|browser|page|--rivals]
                                  what the engine costs, natively and in a browser; what a frame of the page costs;
                                  or the same work in @ngrok/webernetes (from npm) and here
  fuzz [target...] [--minutes N] [--keep]
                                  throw anything at what is read, all targets or some (needs nightly, else is skipped)
  explore [--depth N] [--deviations N] [--leaves N] [--seconds N] [--world W] [--order O]
                                  all orders of what may happen in small worlds, or one order again
  soak [--hours N] [--seed N]     virtual hours of random operations on the engine
  soak --browser [--minutes N] [--seed N]
                                  the same on the built page in Chromium at 8×
  lighthouse                      Lighthouse over the built page (fetches it first)
  shots                           screenshots of the built page into target/shots/
  setup [--check] [--page]        install what is missing, or only say what is (--page: without the test tools)
  recordings <folder>             take <folder>/traces and tables into the engine's tests
  bundle-css                      write target/loopscope.css, which index.html names
  serve-dist [--dir D] [--mount /a/b/] [--port N]
                                  serve a built folder as it is";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("xtask: {sentence}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[String]) -> Res {
    let Some((name, rest)) = args.split_first() else {
        return Err(format!("no command given\n{USAGE}"));
    };
    match name.as_str() {
        "serve" => serve::command(rest),
        "serve-dist" => serve::command_dist(rest),
        "build" => build::command(rest),
        "bundle-css" => css::bundle(&paths::root()).map(drop),
        "test" => test::command(rest),
        "lint" => lint::command(),
        "size" => size::command(),
        "bench" => bench::command(rest),
        "fuzz" => fuzz::command(rest),
        "explore" => trials::explore(rest),
        "soak" => trials::soak(rest),
        "lighthouse" => lighthouse::command(),
        "shots" => shots::command(),
        "recordings" => recordings::command(rest),
        "setup" if flag(rest, "--check") => setup::check(setup_scope(rest)),
        "setup" => setup::ensure(setup_scope(rest)).map(drop),
        "help" | "-h" | "--help" => {
            println!("{USAGE}");
            Ok(())
        }
        other => Err(format!("there is no command `{other}`\n{USAGE}")),
    }
}

fn setup_scope(args: &[String]) -> Scope {
    if flag(args, "--page") { Scope::Page } else { Scope::All }
}

pub fn flag(args: &[String], name: &str) -> bool {
    args.iter().any(|a| a == name)
}

/// The value after `--name`, or in `--name=value`.
pub fn option<'a>(args: &'a [String], name: &str) -> Option<&'a str> {
    args.iter().enumerate().find_map(|(i, a)| match a.strip_prefix(name) {
        Some("") => args.get(i + 1).map(String::as_str),
        Some(rest) => rest.strip_prefix('='),
        None => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(list: &[&str]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_option_is_read_in_both_spellings() {
        assert_eq!(option(&args(&["--port", "80"]), "--port"), Some("80"));
        assert_eq!(option(&args(&["--dev", "--port=81"]), "--port"), Some("81"));
        assert_eq!(option(&args(&["--portal", "1"]), "--port"), None);
    }

    #[test]
    fn an_unknown_command_is_refused_with_the_list() {
        let sentence = dispatch(&args(&["bulid"])).unwrap_err();
        assert!(sentence.contains("`bulid`") && sentence.contains("serve-dist"));
    }
}
