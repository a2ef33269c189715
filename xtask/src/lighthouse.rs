//! Lighthouse over the built page, as a desktop sees it, from a server that compresses.

use crate::build::{self, Profile};
use crate::cmd::{self, Res};
use crate::setup::{self, Scope};
use crate::{paths, test};

/// Its hundred packages are nothing that the tests need: they are fetched when it is asked for.
const VERSION: &str = "13.5.0";

pub fn command() -> Res {
    let tools = setup::ensure(Scope::EndToEnd)?;
    let dist = build::page(&tools, Profile::Release)?;
    let dir = paths::tool_dir("lighthouse", VERSION)?;
    let cli = dir.join("node_modules/lighthouse/cli/index.js");
    if !cli.is_file() {
        std::fs::create_dir_all(&dir).map_err(|e| format!("can't make {}: {e}", dir.display()))?;
        let mut npm = cmd::command("npm");
        npm.args(["install", "--no-save", "--no-audit", "--no-fund", "--prefix"])
            .arg(&dir)
            .arg(format!("lighthouse@{VERSION}"))
            .current_dir(&dir);
        cmd::run_logged(&mut npm, &setup::log("lighthouse"))?;
    }
    cmd::run(test::node(&tools, &dist)?.arg("lighthouse.mjs").env("LOOPSCOPE_LIGHTHOUSE", cli))
}
