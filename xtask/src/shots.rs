//! Pictures of the built page, for looking at.

use crate::build::{self, Profile};
use crate::cmd::{self, Res};
use crate::setup::{self, Scope};
use crate::{paths, test};

pub fn command() -> Res {
    let tools = setup::ensure(Scope::EndToEnd)?;
    let dist = build::page(&tools, Profile::Release)?;
    let mut node = test::node(&tools, &dist)?;
    cmd::run(node.arg("shots.mjs").env("LOOPSCOPE_SHOTS", paths::target().join("shots")))
}
