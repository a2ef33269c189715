//! Debian's package manager, used only on Debian and only as root.

use crate::cmd::{self, Res};
use std::fs;

pub fn usable() -> bool {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    is_debian(&release) && is_root()
}

/// Debian itself: Ubuntu's `chromium` package is another thing under the same name.
fn is_debian(os_release: &str) -> bool {
    os_release.lines().any(|line| line.trim() == "ID=debian")
}

fn is_root() -> bool {
    cmd::capture(cmd::command("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

pub fn install(packages: &[&str]) -> Res {
    let log = super::log("apt");
    cmd::run_logged(apt_get().arg("update"), &log)?;
    cmd::run_logged(apt_get().args(["install", "-y", "--no-install-recommends"]).args(packages), &log)
}

fn apt_get() -> std::process::Command {
    let mut command = cmd::command("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").arg("-q");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_debian_itself_counts_as_debian() {
        assert!(is_debian("PRETTY_NAME=\"Debian\"\nID=debian\n"));
        assert!(!is_debian("ID=ubuntu\nID_LIKE=debian\n"));
        assert!(!is_debian(""));
    }
}
