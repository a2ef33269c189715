//! From the target of a request to a file of the site, and to nothing else.

use super::Site;
use std::path::{Component, Path, PathBuf};

#[derive(Debug, PartialEq, Eq)]
pub enum Resolved {
    /// The file, and its path below the site for the headers.
    File(PathBuf, String),
    /// A folder asked for without its closing slash.
    Moved(String),
    NotFound,
}

pub fn resolve(site: &Site, target: &str) -> Resolved {
    let path = target.split(['?', '#']).next().unwrap_or_default();
    if !path.is_empty() && format!("{path}/") == site.mount {
        return Resolved::Moved(site.mount.clone());
    }
    let Some(below) = path.strip_prefix(&site.mount).and_then(safe_relative) else { return Resolved::NotFound };
    let mut file = site.dir.join(&below);
    let mut shown = format!("/{}", below.display());
    if file.is_dir() {
        if !path.ends_with('/') {
            return Resolved::Moved(format!("{path}/"));
        }
        file.push("index.html");
        shown = format!("{}/index.html", shown.trim_end_matches('/'));
    }
    // A symbolic link may lead out of the folder although the path does not.
    match file.canonicalize() {
        Ok(real) if real.is_file() && real.starts_with(&site.dir) => Resolved::File(real, shown),
        _ => Resolved::NotFound,
    }
}

/// Decodes the path and refuses what could leave the folder, or hidden files in it.
fn safe_relative(path: &str) -> Option<PathBuf> {
    let decoded = percent_decoded(path)?;
    if decoded.contains(['\0', '\\']) || decoded.starts_with('/') {
        return None;
    }
    let relative = Path::new(&decoded);
    let safe = relative.components().all(|part| match part {
        Component::Normal(name) => !name.to_string_lossy().starts_with('.'),
        _ => false,
    });
    safe.then(|| relative.to_path_buf())
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        if *first == b'%' {
            let hex = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(hex, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn site(name: &str, mount: &str) -> Site {
        let dir = std::env::temp_dir().join(format!("loopscope-site-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(dir.join("sub")).unwrap();
        for file in ["index.html", "a b.txt", ".secret", "sub/index.html"] {
            fs::write(dir.join(file), file).unwrap();
        }
        Site::new(&dir, mount).unwrap()
    }

    fn served(site: &Site, target: &str) -> Option<String> {
        match resolve(site, target) {
            Resolved::File(_, shown) => Some(shown),
            _ => None,
        }
    }

    #[test]
    fn files_are_found_below_the_mount() {
        let site = site("mount", "/a/b");
        assert_eq!(served(&site, "/a/b/").as_deref(), Some("/index.html"));
        assert_eq!(served(&site, "/a/b/a%20b.txt?x=/../#y").as_deref(), Some("/a b.txt"));
        assert_eq!(served(&site, "/a/b/sub/").as_deref(), Some("/sub/index.html"));
        assert_eq!(resolve(&site, "/a/b"), Resolved::Moved("/a/b/".into()));
        assert_eq!(resolve(&site, "/a/b/sub"), Resolved::Moved("/a/b/sub/".into()));
        assert_eq!(served(&site, "/index.html"), None);
    }

    #[test]
    fn nothing_outside_the_folder_is_served() {
        let site = site("outside", "/");
        for target in [
            "/../Cargo.toml",
            "/sub/../../x",
            "/%2e%2e/x",
            "/..%2fx",
            "/%2fetc/passwd",
            "//etc/passwd",
            "/.secret",
            "/sub\\..\\x",
            "/%00",
            "/%zz",
            "/%ff",
            "",
        ] {
            assert_eq!(resolve(&site, target), Resolved::NotFound, "{target}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_outside_is_not_followed() {
        let site = site("link", "/");
        std::os::unix::fs::symlink("/etc/hostname", site.dir.join("out.txt")).unwrap();
        assert_eq!(resolve(&site, "/out.txt"), Resolved::NotFound);
    }
}
