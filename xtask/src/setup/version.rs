//! Versions, as tools print them and as Cargo.lock holds them.

/// The version in a line like `trunk 0.21.14` or `wasm-opt version 132 (version_132)`.
pub fn printed(line: &str) -> Option<&str> {
    line.split_whitespace()
        .map(|word| word.trim_start_matches('v'))
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

/// The version of `package` in a Cargo.lock.
pub fn locked<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let mut lines = lock.lines();
    lines.find(|line| field(line, "name") == Some(package))?;
    lines.take_while(|line| !line.starts_with("[[")).find_map(|line| field(line, "version"))
}

fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.strip_prefix(name)?.strip_prefix(" = \"")?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_found_in_what_each_tool_prints() {
        for (line, version) in [
            ("trunk 0.21.14", Some("0.21.14")),
            ("wasm-bindgen 0.2.130 (dd3f1a7f0 2026-08-01)", Some("0.2.130")),
            ("wasm-opt version 132 (version_132-12-gabc)", Some("132")),
            ("v20.20.2", Some("20.20.2")),
            ("rustc 1.96.0 (abc 2026-05-01) (built from a source tarball)", Some("1.96.0")),
            ("command not found", None),
        ] {
            assert_eq!(printed(line), version, "{line}");
        }
    }

    #[test]
    fn a_package_is_found_in_the_lock_file_by_its_whole_name() {
        let lock = "version = 4\n\n[[package]]\nname = \"wasm-bindgen-futures\"\nversion = \"0.4.80\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\nsource = \"x\"\n\n\
                    [[package]]\nname = \"last\"\n";
        assert_eq!(locked(lock, "wasm-bindgen"), Some("0.2.130"));
        assert_eq!(locked(lock, "wasm"), None);
        assert_eq!(locked(lock, "last"), None);
    }
}
