//! Long trials: all orders of what may happen in small worlds, and hours of random operations, natively and in a browser.

use crate::build::{self, Profile};
use crate::cmd::{self, Res};
use crate::setup::{self, Scope};
use crate::{flag, option, paths, test};
use std::process::Command;

/// Options and the variables that the engine's tests read them from.
const EXPLORE: &[(&str, &str)] = &[
    ("--depth", "EXPLORE_DEPTH"),
    ("--deviations", "EXPLORE_DEVIATIONS"),
    ("--leaves", "EXPLORE_LEAVES"),
    ("--seconds", "EXPLORE_SECONDS"),
    ("--world", "EXPLORE_WORLD"),
    ("--order", "EXPLORE_ORDER"),
];
const SOAK: &[(&str, &str)] = &[("--hours", "SOAK_HOURS"), ("--minutes", "SOAK_MINUTES"), ("--seed", "SOAK_SEED")];

/// One test that is too long for every day, optimized, with all its assertions.
fn long_test(file: &str, name: &str) -> Command {
    let mut cargo = cmd::command("cargo");
    cargo.args(["test", "--quiet", "--profile", "checked", "--package", "loopscope-engine", "--test", file]);
    cargo.args(["--", "--exact", name, "--ignored", "--nocapture"]).current_dir(paths::root());
    cargo
}

fn pass_on(command: &mut Command, args: &[String], names: &[(&str, &str)]) {
    for (name, variable) in names {
        if let Some(value) = option(args, name) {
            command.env(variable, value);
        }
    }
}

pub fn explore(args: &[String]) -> Res {
    let mut long = long_test("interleavings", "explore");
    pass_on(&mut long, args, EXPLORE);
    cmd::run(&mut long)
}

pub fn soak(args: &[String]) -> Res {
    if !flag(args, "--browser") {
        let mut long = long_test("soak", "soak");
        pass_on(&mut long, args, SOAK);
        return cmd::run(&mut long);
    }
    let tools = setup::ensure(Scope::EndToEnd)?;
    let dist = build::page(&tools, Profile::Release)?;
    let mut node = test::node(&tools, &dist)?;
    pass_on(&mut node, args, SOAK);
    cmd::run(node.arg("soak.mjs"))
}
