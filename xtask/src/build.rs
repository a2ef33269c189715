//! Builds the page into a folder that any static host can serve, under any path.

use crate::cmd::{self, Res};
use crate::setup::{self, Scope, Tools};
use crate::{compress, csp, css, flag, offline, paths, split, stamp};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The variable that says where the page will be, for the files that need its whole address.
const SITE: &str = "LOOPSCOPE_SITE";
const SITE_STANDS_FOR: &str = "https://loopscope.example/";

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    Release,
    Dev,
}

impl Profile {
    pub fn from_args(args: &[String]) -> Self {
        if flag(args, "--dev") { Self::Dev } else { Self::Release }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Dev => "dev",
        }
    }

    pub fn dist(self) -> PathBuf {
        match self {
            Self::Release => paths::root().join("dist"),
            Self::Dev => paths::target().join("dist-dev"),
        }
    }
}

pub fn command(args: &[String]) -> Res {
    let tools = setup::ensure(Scope::Page)?;
    let profile = Profile::from_args(args);
    if flag(args, "--force") {
        let _ = fs::remove_file(stamp_file(profile));
    }
    page(&tools, profile).map(drop)
}

fn stamp_file(profile: Profile) -> PathBuf {
    paths::target().join(format!("dist-{}.stamp", profile.name()))
}

/// Builds unless the last build was from the same files, and returns the folder.
pub fn page(tools: &Tools, profile: Profile) -> Res<PathBuf> {
    let root = paths::root();
    let dist = profile.dist();
    css::bundle(&root)?;
    let site = std::env::var(SITE).unwrap_or_default();
    let inputs = stamp::of_inputs(&root, &[profile.name(), &site].concat())?;
    let stamp_file = stamp_file(profile);
    if dist.join("index.html").is_file() && fs::read_to_string(&stamp_file).is_ok_and(|old| old == inputs) {
        println!("build: {} is up to date", shown(&dist));
        return Ok(dist);
    }
    let _ = fs::remove_file(&stamp_file);
    println!("build: the page, {}, into {}", profile.name(), shown(&dist));
    let start = Instant::now();
    trunk(tools, profile, &dist)?;
    if profile == Profile::Release {
        split::page(tools, &dist)?;
    }
    finish(&dist, profile)?;
    fs::write(&stamp_file, inputs).map_err(|e| format!("can't write {}: {e}", stamp_file.display()))?;
    println!("build: done in {}", cmd::seconds(start.elapsed()));
    Ok(dist)
}

fn shown(dist: &Path) -> String {
    format!("{}/", dist.strip_prefix(paths::root()).unwrap_or(dist).display())
}

fn trunk(tools: &Tools, profile: Profile, dist: &Path) -> Res {
    let mut trunk = tools.web("trunk");
    trunk.args(["build", "--public-url", "./", "--dist"]).arg(dist).env("TRUNK_SKIP_VERSION_CHECK", "true");
    // Trunk reads this one as a flag of its own and refuses the usual value `1`.
    trunk.env_remove("NO_COLOR").env("RUST_BACKTRACE", "0");
    if profile == Profile::Release {
        trunk.arg("--release").env("CARGO_ENCODED_RUSTFLAGS", without_own_paths());
    }
    cmd::run(&mut trunk)
}

/// A panic names its source file: on the page by its place in the project or among the packages, not on this machine.
fn without_own_paths() -> String {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo"))).unwrap_or_default();
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let sources = fs::read_dir(home.join("registry/src")).into_iter().flatten().filter_map(Result::ok);
    let mut flags: Vec<String> = sources.map(|source| remap(&source.path(), "")).collect();
    flags.push(remap(&paths::root(), ""));
    flags.join("\x1f")
}

/// Puts the policy into every page, adds the document that it links, and writes the headers that only a host can send.
fn finish(dist: &Path, profile: Profile) -> Res {
    // As plain text every host serves it for reading.
    let fidelity = paths::root().join("docs/fidelity.md");
    fs::copy(&fidelity, dist.join("fidelity.txt")).map_err(|e| format!("can't copy {}: {e}", fidelity.display()))?;
    let mut all = csp::Hashes::default();
    // It names files of the build before.
    let _ = fs::remove_file(dist.join("sw.js"));
    let (copies, files): (Vec<_>, Vec<_>) = paths::files(dist)?.into_iter().partition(|file| compress::is_copy(file));
    for copy in copies {
        fs::remove_file(&copy).map_err(|e| format!("can't remove {}: {e}", copy.display()))?;
    }
    for page in files.iter().filter(|f| f.extension().is_some_and(|e| e == "html")) {
        let html = fs::read_to_string(page).map_err(|e| format!("can't read {}: {e}", page.display()))?;
        let mut html = without_comments(&html);
        if profile == Profile::Release && *page == dist.join("index.html") {
            html = offline::with_mark(&html);
        }
        all.merge(csp::Hashes::of(&html));
        fs::write(page, csp::with_meta(&html)?).map_err(|e| format!("can't write {}: {e}", page.display()))?;
    }
    if let Ok(site) = std::env::var(SITE) {
        for file in paths::files(&dist.join("oembed"))?.iter().filter(|f| !compress::is_copy(f)) {
            let text = fs::read_to_string(file).map_err(|e| format!("can't read {}: {e}", file.display()))?;
            fs::write(file, with_site(&text, &site)?).map_err(|e| format!("can't write {}: {e}", file.display()))?;
        }
    }
    for script in files.iter().filter(|f| f.extension().is_some_and(|e| e == "js")) {
        let text = fs::read_to_string(script).map_err(|e| format!("can't read {}: {e}", script.display()))?;
        fs::write(script, tight(&text)).map_err(|e| format!("can't write {}: {e}", script.display()))?;
    }
    let mut names: Vec<String> =
        files.iter().filter_map(|f| f.strip_prefix(dist).ok()).map(|f| f.to_string_lossy().into_owned()).collect();
    if profile == Profile::Release {
        offline::write(dist, &names)?;
        names.push("sw.js".into());
    }
    fs::write(dist.join("_headers"), headers(&all, &names)).map_err(|e| format!("can't write _headers: {e}"))?;
    if profile == Profile::Release {
        compress::write_copies(&paths::files(dist)?)?;
    }
    Ok(())
}

/// A file that other sites' programs read, with the address of the site in place of the one that stands for it.
fn with_site(text: &str, site: &str) -> Res<String> {
    let is_address = site.starts_with("https://") || site.starts_with("http://");
    if !is_address || site.contains(['"', '<', '&', '?', '#', ' ']) {
        return Err(format!("{SITE} is `{site}`: give the address of the folder, as in https://example.org/loops/"));
    }
    Ok(text.replace(SITE_STANDS_FOR, &format!("{}/", site.trim_end_matches('/'))))
}

/// Comments are for those who work on the page. Inside scripts and styles nothing is touched.
fn without_comments(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    let starts = [("<!--", "-->", false), ("<script", "</script>", true), ("<style", "</style>", true)];
    while let Some((at, close, keep)) =
        starts.iter().filter_map(|(open, close, keep)| Some((rest.find(open)?, *close, *keep))).min()
    {
        let end = rest[at..].find(close).map_or(rest.len(), |n| at + n + close.len());
        out.push_str(&rest[..if keep { end } else { at }]);
        rest = &rest[end..];
    }
    out + rest
}

/// A script without whole lines of comment and without indentation: an eighth less to download. One with a text of
/// several lines is left as it is.
pub fn tight(script: &str) -> String {
    if script.lines().any(|line| line.matches('`').count() % 2 == 1) {
        return script.to_owned();
    }
    let mut out = String::with_capacity(script.len());
    let mut in_comment = false;
    for line in script.lines().map(str::trim) {
        let begins = line.starts_with("/*") && (line.ends_with("*/") || !line.contains("*/"));
        if !in_comment && !begins && !line.is_empty() && !line.starts_with("//") {
            out.push_str(line);
            out.push('\n');
        }
        in_comment = (in_comment || begins) && !line.ends_with("*/");
    }
    out
}

/// In the form that several static hosts read; for others, docs/setup.md says what to set.
fn headers(hashes: &csp::Hashes, files: &[String]) -> String {
    let mut text = format!(
        "/*\n  Content-Security-Policy: {}\n  X-Content-Type-Options: nosniff\n  \
         Referrer-Policy: strict-origin-when-cross-origin\n",
        csp::header(hashes)
    );
    for name in files {
        if is_for_other_sites(name) {
            // Their pages may check its sum (`integrity`), or read it.
            text.push_str(&format!("/{name}\n  Access-Control-Allow-Origin: *\n  Cache-Control: no-cache\n"));
        } else if name.ends_with(".html") {
            // A host matches the address as asked for, where a folder stands for its index.
            let address = name.strip_suffix("index.html").filter(|dir| dir.is_empty() || dir.ends_with('/'));
            for path in [Some(name.as_str()), address].into_iter().flatten() {
                text.push_str(&format!("/{path}\n  Cache-Control: no-cache\n"));
            }
        } else if name == "sw.js" {
            text.push_str("/sw.js\n  Cache-Control: no-cache\n");
        } else if is_hashed(name) {
            text.push_str(&format!("/{name}\n  Cache-Control: public, max-age=31536000, immutable\n"));
        }
    }
    text
}

/// The element's script, and the descriptions for programs that make previews of links.
fn is_for_other_sites(name: &str) -> bool {
    name == "loop-scope.js" || (name.starts_with("oembed/") && name.ends_with(".json"))
}

/// Trunk's names: `loopscope-0123456789abcdef.js`, `loopscope-0123456789abcdef_bg.wasm`.
fn is_hashed(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end_matches("_bg").trim_end_matches("_rest");
    stem.rsplit_once('-').is_some_and(|(_, hash)| hash.len() >= 12 && hash.chars().all(|c| c.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_with_a_hash_in_their_name_are_kept_for_ever() {
        let files = ["index.html", "loopscope-0123456789abcdef_bg.wasm", "sprite.svg"].map(String::from);
        let text = headers(&csp::Hashes::default(), &files);
        assert!(text.contains("\n/\n  Cache-Control: no-cache"));
        assert!(text.contains("/index.html\n  Cache-Control: no-cache"));
        assert!(text.contains("/loopscope-0123456789abcdef_bg.wasm\n  Cache-Control: public"));
        assert!(!text.contains("sprite.svg"));
        assert!(!text.contains("Access-Control"));
        assert!(text.contains("frame-ancestors *"));
    }

    #[test]
    fn what_other_sites_use_may_be_read_by_them() {
        let files = ["loop-scope.js", "oembed/empty.json", "article/article.js"].map(String::from);
        let text = headers(&csp::Hashes::default(), &files);
        assert!(text.contains("/loop-scope.js\n  Access-Control-Allow-Origin: *"));
        assert!(text.contains("/oembed/empty.json\n  Access-Control-Allow-Origin: *"));
        assert!(!text.contains("article"));
    }

    #[test]
    fn descriptions_name_the_site_that_they_are_put_on() {
        let text = "{\"url\": \"https://loopscope.example/?embed=1\"}";
        assert_eq!(with_site(text, "https://a.example/b").unwrap(), "{\"url\": \"https://a.example/b/?embed=1\"}");
        assert_eq!(with_site(text, "http://a.example/b/").unwrap(), "{\"url\": \"http://a.example/b/?embed=1\"}");
        assert!(with_site(text, "a.example").unwrap_err().contains("a.example"));
        assert!(with_site(text, "https://a.example/\"x").is_err());
    }

    #[test]
    fn comments_leave_the_page_and_scripts_are_not_touched() {
        let html = "<p><!-- a\n <script> --><script>x = '<!--'</script><!--b--></p>";
        assert_eq!(without_comments(html), "<p><script>x = '<!--'</script></p>");
        assert_eq!(without_comments("<p><!-- never closed"), "<p>");
    }

    #[test]
    fn a_script_loses_lines_of_comment_and_indentation_but_no_text() {
        let script = "/**\n * @param {a} b\n */\nfunction f() {\n    // one\n    return '/* no comment */';\n\n}\n/* x */\ng();\n";
        assert_eq!(tight(script), "function f() {\nreturn '/* no comment */';\n}\ng();\n");
        let text = "f(`\n  // kept\n`);\n";
        assert_eq!(tight(text), text);
    }

    #[test]
    fn a_hash_is_told_from_a_word() {
        assert!(is_hashed("loopscope-a1b2c3d4e5f60718.js"));
        assert!(!is_hashed("loop-scope.js"));
        assert!(!is_hashed("manifest.webmanifest"));
    }
}
