//! What was said, against what the real kubectl said: byte for byte, but for what cannot be the same.

use super::recording::Step;

#[derive(Clone, Debug, Default)]
pub struct Said {
    pub out: String,
    pub err: String,
    pub exit: Option<i32>,
}

/// The first difference, in words; nothing where there is none.
pub fn differs(step: &Step, said: &Said) -> Option<String> {
    // Labels are listed in the order of a Go map.
    // So are objects of which none comes first in a sort that keeps no order, and pods that are evicted at once.
    let is_list = ["--list", "--sort-by", "kubectl events", "kubectl drain"].iter().any(|it| step.cmd.contains(it));
    let sorted = |text: &str| {
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        lines.join("\n")
    };
    let same = |theirs: &str, ours: &str| match is_list {
        true => is_same(&sorted(&plain(theirs)), &sorted(&plain(ours))),
        false => is_same(&plain(theirs), &plain(ours)),
    };
    let mut found = String::new();
    if !same(&step.stdout, &said.out) {
        found += &format!("  standard output\n{}", lines(&plain(&step.stdout), &plain(&said.out)));
    }
    if !same(&step.stderr, &said.err) {
        found += &format!("  error output\n{}", lines(&plain(&step.stderr), &plain(&said.err)));
    }
    if step.exit != said.exit {
        found += &format!("  exit code {:?}, ours {:?}\n", step.exit, said.exit);
    }
    (!found.is_empty()).then_some(found)
}

/// The lines that differ: theirs with `-`, ours with `+`.
fn lines(theirs: &str, ours: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (theirs.lines().collect(), ours.lines().collect());
    let mut text = String::new();
    let mut shown = 0;
    for at in 0..a.len().max(b.len()) {
        let (x, y) = (a.get(at), b.get(at));
        if x.zip(y).is_some_and(|(x, y)| is_same(x, y)) {
            continue;
        }
        shown += 1;
        if shown > 6 {
            return text + "    ...\n";
        }
        text += &x.map_or(String::new(), |it| format!("    - {it}\n"));
        text += &y.map_or(String::new(), |it| format!("    + {it}\n"));
    }
    if text.is_empty() { "    (only the ends differ)\n".into() } else { text }
}

/// Without temporary paths, times of files, and the process and the clock of klog's lines.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let is_klog =
            line.len() > 30 && line.starts_with(['W', 'E', 'I']) && line[1..5].bytes().all(|it| it.is_ascii_digit());
        if let (true, Some(at)) = (is_klog, line.find(".go:")) {
            let start = line[..at].rfind(' ').map_or(0, |it| it + 1);
            let words = &line[start..];
            out += &format!("klog {}", words.split_once(".go:").map_or(words, |(_, rest)| rest));
        } else if let Some(rest) = ["--- ", "+++ "].iter().find_map(|it| line.strip_prefix(it)) {
            let path = rest.split('\t').next().unwrap_or_default();
            out += &format!("{}{}\n", &line[..4], file(path));
        } else if let Some(rest) = line.strip_prefix("diff -u -N ") {
            let names: Vec<String> = rest.split_whitespace().map(|it| file(it).to_string()).collect();
            out += &format!("diff -u -N {}\n", names.join(" "));
        } else {
            // The recorder was built from another tree.
            out += &line.replace("deps/github.com/openshift/kubernetes/pkg", "pkg");
        }
    }
    out
}

fn file(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A word, or the blanks between two.
fn pieces(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    let bytes = text.as_bytes();
    for at in 1..=bytes.len() {
        if at == bytes.len()
            || (bytes[at] == b' ') != (bytes[at - 1] == b' ')
            || bytes[at] == b'\n'
            || bytes[at - 1] == b'\n'
        {
            found.push(&text[from..at]);
            from = at;
        }
    }
    found
}

/// Equal but for ages by a second, generated identities, and versions.
fn is_same(theirs: &str, ours: &str) -> bool {
    if theirs == ours {
        return true;
    }
    if !theirs.is_ascii() || !ours.is_ascii() {
        return theirs == ours;
    }
    let (a, b) = (pieces(theirs), pieces(ours));
    if a.len() != b.len() {
        return false;
    }
    // An age that takes a letter more or less moves what stands behind it.
    let moved = a.iter().zip(&b).any(|(x, y)| x.len() != y.len() && is_age_pair(x, y));
    let mut before = "";
    a.iter().zip(&b).all(|(x, y)| {
        let is_blank = x.trim().is_empty() && y.trim().is_empty();
        let is_version = before == "resourceVersion:" && x.starts_with('"') && y.starts_with('"');
        if !is_blank {
            before = x;
        }
        x == y
            || (is_blank && moved && !x.contains('\n') && !y.contains('\n'))
            || is_age_pair(x, y)
            || is_version
            || (is_uid(x) && is_uid(y))
            || is_stamp_pair(x, y)
    })
}

fn is_uid(text: &str) -> bool {
    let text = text.trim_matches('"').trim_start_matches("uid=");
    let parts: Vec<&str> = text.split('-').collect();
    parts.len() == 5
        && parts
            .iter()
            .zip([8, 4, 4, 4, 12])
            .all(|(part, length)| part.len() == length && part.bytes().all(|it| it.is_ascii_hexdigit()))
}

/// Times of objects that the step itself made, a second apart.
fn is_stamp_pair(theirs: &str, ours: &str) -> bool {
    let read = |text: &str| {
        loopscope_engine::api::Timestamp::parse(text.trim_matches('"').trim_end_matches('}').trim_matches('"'))
    };
    matches!((read(theirs), read(ours)), (Some(a), Some(b)) if (a.0 - b.0).abs() <= 1)
}

fn is_age_pair(theirs: &str, ours: &str) -> bool {
    match (age(theirs), age(ours)) {
        (Some((a, unit)), Some((b, other))) => (a - b).abs() <= unit.max(other).max(1),
        _ => false,
    }
}

/// Seconds, and how many seconds the smallest unit has that is shown.
fn age(text: &str) -> Option<(i64, i64)> {
    let text = text.trim_matches(['(', ')', ',']);
    let (mut total, mut unit, mut digits) = (0, 0, String::new());
    if !text.ends_with(['s', 'm', 'h', 'd', 'y']) {
        return None;
    }
    for c in text.chars() {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        unit = match c {
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            'y' => 31_536_000,
            _ => return None,
        };
        total += digits.parse::<i64>().ok()? * unit;
        digits.clear();
    }
    Some((total, if unit == 1 { 1 } else { 0 }))
        .map(|(total, small)| (total, if small == 1 { 1 } else { unit_of(total) }))
}

/// By how much a second can move an age of this size as it is shown.
fn unit_of(total: i64) -> i64 {
    match total {
        ..600 => 1,
        600..10_800 => 60,
        10_800..172_800 => 3_600,
        _ => 86_400,
    }
}

#[test]
fn only_what_cannot_be_the_same_may_differ() {
    assert!(is_same("web   5s    x", "web   6s    x"));
    assert!(is_same("web   9s    x", "web   10s   x"));
    assert!(!is_same("web   5s    x", "web   7s    x"));
    assert!(!is_same("web   5s    x", "web   5s   x"));
    assert!(is_same("uid: 37725025-b2c1-40d1-ab8b-d4747e672ef5", "uid: 47725025-b2c1-40d1-ab8b-d4747e672ef5"));
    assert!(is_same("  resourceVersion: \"1\"", "  resourceVersion: \"22\""));
    assert!(!is_same("replicas: 3", "replicas: 4"));
}
