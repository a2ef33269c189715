//! The style sheets: bundled into one file for the page, and checked for colours outside the tokens.

use crate::cmd::Res;
use crate::paths;
use std::fs;
use std::path::{Path, PathBuf};

/// The sheet that may hold colour literals.
const TOKENS: &str = "tokens.css";
const COLOUR_FUNCTIONS: &[&str] =
    &["rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color", "device-cmyk"];
const COLOUR_NAMES: &str = "aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue \
    blueviolet brown burlywood cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue \
    darkcyan darkgoldenrod darkgray darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid \
    darkred darksalmon darkseagreen darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink \
    deepskyblue dimgray dimgrey dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold \
    goldenrod gray green greenyellow grey honeydew hotpink indianred indigo ivory khaki lavender lavenderblush \
    lawngreen lemonchiffon lightblue lightcoral lightcyan lightgoldenrodyellow lightgray lightgreen lightgrey \
    lightpink lightsalmon lightseagreen lightskyblue lightslategray lightslategrey lightsteelblue lightyellow lime \
    limegreen linen magenta maroon mediumaquamarine mediumblue mediumorchid mediumpurple mediumseagreen \
    mediumslateblue mediumspringgreen mediumturquoise mediumvioletred midnightblue mintcream mistyrose moccasin \
    navajowhite navy oldlace olive olivedrab orange orangered orchid palegoldenrod palegreen paleturquoise \
    palevioletred papayawhip peachpuff peru pink plum powderblue purple rebeccapurple red rosybrown royalblue \
    saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue slateblue slategray slategrey snow \
    springgreen steelblue tan teal thistle tomato turquoise violet wheat white whitesmoke yellow yellowgreen";

/// Writes `target/loopscope.css`, only when it changes, and returns where it is.
pub fn bundle(root: &Path) -> Res<PathBuf> {
    let style = root.join("style");
    let text = bundled(&style)?;
    let out = root.join("target/loopscope.css");
    if fs::read_to_string(&out).is_ok_and(|old| old == text) {
        return Ok(out);
    }
    fs::create_dir_all(root.join("target")).map_err(|e| format!("can't make target/: {e}"))?;
    fs::write(&out, text).map_err(|e| format!("can't write {}: {e}", out.display()))?;
    Ok(out)
}

fn bundled(style: &Path) -> Res<String> {
    let main = read(&style.join("main.css"))?;
    let mut out = String::new();
    let mut imported = vec![style.join("main.css")];
    for line in main.lines() {
        let Some((file, media)) = import(line) else {
            out.push_str(line);
            out.push('\n');
            continue;
        };
        let path = style.join(file);
        let text = read(&path)?;
        if text.lines().any(|l| import(l).is_some()) {
            return Err(format!("style/{file} has an @import: list every sheet in style/main.css instead"));
        }
        match media {
            "" => out.push_str(&text),
            media => out.push_str(&format!("@media {media} {{\n{text}}}\n")),
        }
        imported.push(path);
    }
    match sheets(style)?.into_iter().find(|sheet| !imported.contains(sheet)) {
        None => Ok(compact(&out)),
        Some(sheet) => Err(format!("{} is not imported by style/main.css", sheet.display())),
    }
}

/// File and media of a line `@import "file.css" media;`.
fn import(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim().strip_prefix("@import")?.trim_start().strip_prefix('"')?;
    let (file, rest) = rest.split_once('"')?;
    Some((file.trim_start_matches("./"), rest.trim().strip_suffix(';')?.trim()))
}

fn read(file: &Path) -> Res<String> {
    fs::read_to_string(file).map_err(|e| format!("can't read {}: {e}", file.display()))
}

/// Every sheet below `style/`.
pub fn sheets(style: &Path) -> Res<Vec<PathBuf>> {
    Ok(paths::files(style)?.into_iter().filter(|f| f.extension().is_some_and(|e| e == "css")).collect())
}

/// One sentence for each colour literal outside the tokens.
pub fn colour_complaints(root: &Path) -> Res<Vec<String>> {
    let mut complaints = Vec::new();
    for sheet in sheets(&root.join("style"))? {
        if sheet.file_name().is_some_and(|name| name == TOKENS) {
            continue;
        }
        let shown = sheet.strip_prefix(root).unwrap_or(&sheet).display().to_string();
        for (line, colour) in colour_literals(&read(&sheet)?) {
            complaints.push(format!("{shown}:{line}: the colour `{colour}` belongs into style/{TOKENS}, as a token"));
        }
    }
    Ok(complaints)
}

/// Colours in declarations, with their line. Selectors are skipped: `#add` may be an id.
pub fn colour_literals(css: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut line = 1;
    let blanked = blank_comments_and_strings(css);
    for segment in blanked.split_inclusive(['{', '}', ';']) {
        let start = line;
        line += segment.matches('\n').count();
        if segment.ends_with('{') {
            continue;
        }
        if let Some((property, value)) = segment.split_once(':') {
            let before = start + property.matches('\n').count();
            found.extend(value_colours(value).into_iter().map(|(offset, colour)| (before + offset, colour)));
        }
    }
    found
}

fn value_colours(value: &str) -> Vec<(usize, String)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '#';
    let mut found = Vec::new();
    let mut rest = value;
    let mut line = 0;
    while let Some(start) = rest.find(is_word) {
        line += rest[..start].matches('\n').count();
        let tail = &rest[start..];
        let end = tail.find(|c: char| !is_word(c)).unwrap_or(tail.len());
        if is_colour(&tail[..end], tail[end..].starts_with('(')) {
            found.push((line, tail[..end].to_string()));
        }
        rest = &tail[end..];
    }
    found
}

fn is_colour(word: &str, called: bool) -> bool {
    let word = word.to_ascii_lowercase();
    if let Some(hex) = word.strip_prefix('#') {
        return matches!(hex.len(), 3 | 4 | 6 | 8) && hex.chars().all(|c| c.is_ascii_hexdigit());
    }
    if called {
        return COLOUR_FUNCTIONS.contains(&word.as_str());
    }
    COLOUR_NAMES.split_whitespace().any(|name| name == word)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Code,
    Text,
    Comment,
}

/// Each character with what it belongs to; quotes belong to the text they enclose.
fn parts(css: &str) -> impl Iterator<Item = (char, Part)> + '_ {
    let mut part = Part::Code;
    let mut quote = ' ';
    let mut previous = ' ';
    let mut chars = css.chars().peekable();
    std::iter::from_fn(move || {
        let c = chars.next()?;
        let before = std::mem::replace(&mut previous, c);
        let of = part;
        match part {
            Part::Code if c == '/' && chars.peek() == Some(&'*') => {
                // The star is taken here: in `/*/` it doesn't close.
                chars.next();
                part = Part::Comment;
                return Some((c, part));
            }
            Part::Code if c == '"' || c == '\'' => {
                (part, quote) = (Part::Text, c);
                return Some((c, part));
            }
            Part::Comment if c == '/' && before == '*' => part = Part::Code,
            Part::Text if c == '\\' && before == '\\' => previous = ' ',
            Part::Text if (c == quote && before != '\\') || c == '\n' => part = Part::Code,
            _ => {}
        }
        Some((c, of))
    })
}

/// The same text with comments and strings as spaces, lines kept.
fn blank_comments_and_strings(css: &str) -> String {
    parts(css).map(|(c, part)| if part == Part::Code || c == '\n' { c } else { ' ' }).collect()
}

/// Without comments, indentation and empty lines: compression takes care of the rest.
fn compact(css: &str) -> String {
    let bare: String = parts(css).filter(|(_, part)| *part != Part::Comment).map(|(c, _)| c).collect();
    bare.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(css: &str, expected: &[(usize, &str)]) {
        let found = colour_literals(css);
        let found: Vec<(usize, &str)> = found.iter().map(|(line, colour)| (*line, colour.as_str())).collect();
        assert_eq!(found, expected, "{css}");
    }

    #[test]
    fn colour_literals_are_found_where_they_are_values() {
        check("a { color: #fff }", &[(1, "#fff")]);
        check("a {\n  border: 1px solid\n    Red;\n}", &[(3, "Red")]);
        check("a { color: rgb(0 0 0 / .5); fill: oklch(.5 0 0) }", &[(1, "rgb"), (1, "oklch")]);
        check(".x { & .y { --c: #12345678; } }", &[(1, "#12345678")]);
    }

    #[test]
    fn what_only_looks_like_a_colour_is_left_alone() {
        check("#add:hover { color: var(--red) }", &[]);
        check("a { /* #fff red */ content: \"#fff\"; color: currentColor }", &[]);
        check("a { color: color-mix(in oklab, var(--bg), transparent) }", &[]);
        check("a { background: CanvasText; mask: url(sprite.svg#abcdefgh) }", &[]);
        check("@media (min-width: 40rem) { a { margin: 0 } }", &[]);
    }

    #[test]
    fn comments_go_and_strings_stay() {
        assert_eq!(
            compact("/* a */ x { /* b\n c */\n\n  y: \"/* z */\\\"/*\"; /**/\n}"),
            "x {\ny: \"/* z */\\\"/*\";\n}\n"
        );
        check("a { content: \"\\\\\"; color: red }", &[(1, "red")]);
        check("a { content: \"/*\"; color: red; /*/ x: blue; /*/ }", &[(1, "red")]);
    }

    fn style(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("loopscope-css-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(dir.join("style")).unwrap();
        for (file, text) in files {
            fs::write(dir.join("style").join(file), text).unwrap();
        }
        dir
    }

    #[test]
    fn sheets_are_bundled_in_the_order_of_the_imports() {
        let main = "/* order */\n@import \"b.css\";\n@import \"a.css\" print;\n";
        let dir = style("order", &[("main.css", main), ("a.css", "a{}\n"), ("b.css", "b{}\n")]);
        let text = fs::read_to_string(bundle(&dir).unwrap()).unwrap();
        assert_eq!(text, "b{}\n@media print {\na{}\n}\n");
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_sheet_that_nobody_imports_is_an_error() {
        let dir = style("forgotten", &[("main.css", ""), ("lost.css", "")]);
        assert!(bundle(&dir).unwrap_err().contains("lost.css is not imported"));
        fs::remove_dir_all(dir).unwrap();
    }
}
