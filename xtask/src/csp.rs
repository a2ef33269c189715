//! The content security policy: no inline code runs but the scripts that the build itself wrote, by hash.

use crate::cmd::Res;
use sha2::{Digest, Sha256};

/// Hashes of the inline `<script>` and `<style>` elements of a page.
#[derive(Default, Debug, PartialEq, Eq, Clone)]
pub struct Hashes {
    pub scripts: Vec<String>,
    pub styles: Vec<String>,
}

impl Hashes {
    pub fn of(html: &str) -> Self {
        Self { scripts: inline(html, "script"), styles: inline(html, "style") }
    }

    pub fn merge(&mut self, other: Self) {
        for (mine, theirs) in [(&mut self.scripts, other.scripts), (&mut self.styles, other.styles)] {
            for hash in theirs {
                if !mine.contains(&hash) {
                    mine.push(hash);
                }
            }
        }
    }
}

pub fn policy(hashes: &Hashes) -> String {
    let joined = |list: &[String]| list.iter().map(|h| format!(" '{h}'")).collect::<String>();
    format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'{}; style-src 'self'{}; img-src 'self' data: blob:; \
         connect-src 'self'; font-src 'self'; manifest-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'",
        joined(&hashes.scripts),
        joined(&hashes.styles)
    )
}

/// Only a header can say who may frame the page: browsers ignore it in a `<meta>`.
pub fn header(hashes: &Hashes) -> String {
    format!("{}; frame-ancestors *", policy(hashes))
}

/// The page with its policy in a `<meta>`, right after the character set and so before any script.
pub fn with_meta(html: &str) -> Res<String> {
    let meta = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">", policy(&Hashes::of(html)));
    let after = ["<meta charset", "<head"]
        .iter()
        .find_map(|tag| {
            let start = html.find(tag)?;
            Some(start + html[start..].find('>')? + 1)
        })
        .ok_or("index.html has no <head>: the policy needs a place before the scripts")?;
    Ok(format!("{}{meta}{}", &html[..after], &html[after..]))
}

fn inline(html: &str, element: &str) -> Vec<String> {
    let (open, close) = (format!("<{element}"), format!("</{element}>"));
    let mut found = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find(&open) {
        let tag = &rest[start..];
        let (Some(end), Some(stop)) = (tag.find('>'), tag.find(&close)) else { break };
        let external = tag[..end].split_whitespace().any(|word| word.starts_with("src="));
        if !external && end < stop {
            found.push(hash(&tag[end + 1..stop]));
        }
        rest = &tag[stop..];
    }
    found
}

pub fn hash(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_u32, |acc, b| acc << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let sextet = (bits >> (18 - 6 * i)) as usize & 63;
            out.push(if i <= chunk.len() { char::from(ALPHABET[sextet]) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_a_browser_asks_for() {
        // The example of the specification's text on hashes.
        assert_eq!(hash("alert('Hello, world.');"), "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=");
        assert_eq!(base64(b"a"), "YQ==");
        assert_eq!(base64(b"ab"), "YWI=");
    }

    #[test]
    fn only_inline_scripts_are_hashed() {
        let html = "<head><script src=\"a.js\"></script><script type=module>x()</script><style>b{}</style></head>";
        let hashes = Hashes::of(html);
        assert_eq!(hashes.scripts, [hash("x()")]);
        assert_eq!(hashes.styles, [hash("b{}")]);
        assert!(!policy(&hashes).contains("unsafe-inline"));
    }

    #[test]
    fn the_policy_stands_before_the_first_script() {
        let page = with_meta("<html><head><meta charset=utf-8><script>x()</script></head></html>").unwrap();
        let (meta, script) = (page.find("http-equiv").unwrap(), page.find("<script").unwrap());
        assert!(meta < script && page.contains(&hash("x()")));
        assert!(!page.contains("frame-ancestors"));
        assert!(with_meta("<p>no head").is_err());
    }
}
