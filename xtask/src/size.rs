//! What the built page weighs on the wire.

use crate::build::{self, Profile};
use crate::cmd::Res;
use crate::compress;
use crate::paths;
use crate::setup::{self, Scope};
use std::fs;
use std::path::Path;

const AIM: u64 = 260_000;
const MOST: u64 = 320_000;
/// What a page of another site loads to show a lab; and the most that it may weigh.
const ELEMENT: &str = "loop-scope.js";
const ELEMENT_MOST: u64 = 3_000;
/// Folders of pages that a visitor of this one does not load.
const OTHERS: [&str; 2] = ["article", "oembed"];
/// One row of the table each; the sum is over those that count.
const KINDS: &[(&str, &[&str], bool)] = &[
    ("program", &["_bg.wasm"], true),
    ("script", &[".js", ".mjs"], true),
    ("styles", &[".css"], true),
    ("html", &[".html"], false),
    ("the rest", &["_rest.wasm"], false),
];

#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
struct Weight {
    raw: u64,
    gzip: u64,
    brotli: u64,
}

impl Weight {
    /// As the build has compressed it.
    fn of(file: &Path) -> Res<Self> {
        let length = |file: &Path| {
            fs::metadata(file).map(|it| it.len()).map_err(|e| format!("can't read {}: {e}", file.display()))
        };
        let [gzip, brotli] = compress::CODINGS.map(|coding| length(&compress::beside(file, coding)));
        Ok(Self { raw: length(file)?, gzip: gzip?, brotli: brotli? })
    }

    fn plus(self, other: Self) -> Self {
        Self { raw: self.raw + other.raw, gzip: self.gzip + other.gzip, brotli: self.brotli + other.brotli }
    }
}

pub fn command() -> Res {
    let tools = setup::ensure(Scope::Page)?;
    let dist = build::page(&tools, Profile::Release)?;
    let mut sum = Weight::default();
    println!("{:<8}{:>22}{:>22}{:>22}", "", "raw", "gzip", "brotli");
    for (name, endings, counts) in KINDS {
        let weight = weight_of(&dist, endings)?;
        println!("{}", row(name, weight));
        if *counts {
            sum = sum.plus(weight);
        }
    }
    println!("{}", row("sum", sum));
    println!(
        "The sum is what a first visit loads; the rest of the program comes when it is wanted. The aim is {} in brotli, the most {}.",
        size(AIM),
        size(MOST)
    );
    let element = Weight::of(&dist.join(ELEMENT))?;
    println!("{}", row("element", element));
    println!("The element is what an article loads before anybody starts a lab. The most is {}.", size(ELEMENT_MOST));
    verdict("page", sum.brotli, MOST)?;
    verdict("element's script", element.brotli, ELEMENT_MOST)
}

fn verdict(what: &str, brotli: u64, most: u64) -> Res {
    if brotli <= most {
        return Ok(());
    }
    Err(format!("the {what} weighs {} in brotli, {} over the most it may", size(brotli), size(brotli - most)))
}

fn row(name: &str, weight: Weight) -> String {
    format!("{name:<8}{:>22}{:>22}{:>22}", size(weight.raw), size(weight.gzip), size(weight.brotli))
}

/// `69,123 B (69.1 kB)`, a kB being 1,000 bytes.
fn size(bytes: u64) -> String {
    format!("{} B ({}.{} kB)", grouped(bytes), bytes / 1_000, bytes % 1_000 / 100)
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn weight_of(dist: &Path, endings: &[&str]) -> Res<Weight> {
    let mut sum = Weight::default();
    for file in paths::files(dist)? {
        let below = file.strip_prefix(dist).unwrap_or(&file);
        let name = below.to_string_lossy();
        let is_for_others = below == Path::new(ELEMENT) || OTHERS.iter().any(|dir| below.starts_with(dir));
        if !is_for_others && endings.iter().any(|end| name.ends_with(end)) {
            sum = sum.plus(Weight::of(&file)?);
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_in_bytes_and_in_kilobytes_of_a_thousand() {
        assert_eq!(size(0), "0 B (0.0 kB)");
        assert_eq!(size(1_234_567), "1,234,567 B (1234.5 kB)");
        assert_eq!(size(999), "999 B (0.9 kB)");
    }

    #[test]
    fn only_more_than_the_most_is_refused() {
        assert_eq!(verdict("page", MOST, MOST), Ok(()));
        assert!(verdict("page", MOST + 1_500, MOST).unwrap_err().contains("1,500 B (1.5 kB) over"));
    }

    #[test]
    fn the_elements_script_stays_small() {
        let text = fs::read_to_string(paths::root().join("public").join(ELEMENT)).unwrap();
        let tight = build::tight(&text);
        assert!(tight.len() < text.len(), "a text over several lines keeps the build from making it smaller");
        let dir = std::env::temp_dir().join(format!("loopscope-element-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let file = dir.join(ELEMENT);
        fs::write(&file, tight).unwrap();
        compress::write_copies(std::slice::from_ref(&file)).unwrap();
        let weight = Weight::of(&file).unwrap();
        fs::remove_dir_all(dir).unwrap();
        assert_eq!(verdict("element's script", weight.brotli, ELEMENT_MOST), Ok(()));
    }
}
