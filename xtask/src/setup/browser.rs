//! A Chromium and the ChromeDriver of the same version, for the tests.

use super::{Step, apt};
use crate::cmd::Res;
use crate::paths;
use std::path::PathBuf;

const BROWSERS: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const MAC_BROWSERS: &[&str] = &[
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

pub struct Browser;

/// `LOOPSCOPE_BROWSER` comes first, for a browser in an unusual place.
pub fn browser() -> Option<PathBuf> {
    let named = std::env::var_os("LOOPSCOPE_BROWSER").map(PathBuf::from).filter(|f| f.is_file());
    named
        .or_else(|| BROWSERS.iter().find_map(|name| paths::which(name, &[])))
        .or_else(|| MAC_BROWSERS.iter().map(PathBuf::from).find(|f| f.is_file()))
}

pub fn driver() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMEDRIVER").map(PathBuf::from).filter(|f| f.is_file());
    named.or_else(|| paths::which("chromedriver", &[]))
}

impl Step for Browser {
    fn name(&self) -> String {
        "Chromium and ChromeDriver".into()
    }

    fn how(&self) -> String {
        if apt::usable() { "with apt-get (1 min)".into() } else { "by hand, this command says how".into() }
    }

    fn found(&self) -> Option<String> {
        Some(format!("{}, {}", browser()?.display(), driver()?.display()))
    }

    fn install(&self) -> Res {
        if apt::usable() {
            return apt::install(&["chromium", "chromium-driver"]);
        }
        let remedy = if cfg!(target_os = "macos") {
            "install Google Chrome, and the chromedriver of the same version on PATH"
        } else {
            "install a Chromium or Google Chrome and the chromedriver of the same version with your system's \
             packages (Debian: `sudo apt-get install chromium chromium-driver`), on PATH"
        };
        Err(format!(
            "no browser with its driver is on PATH, and this command doesn't install packages of the system here\n    \
             remedy: {remedy}; or name them in LOOPSCOPE_BROWSER and CHROMEDRIVER"
        ))
    }
}
