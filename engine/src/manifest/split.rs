//! Cuts a manifest into its documents the way kubectl does (`yaml.YAMLReader`, apimachinery v1.36): at every line that
//! begins with `---`, before anything is parsed. A document that is not YAML does not hide the ones after it.

/// One document's text and the number of lines before it.
pub(super) struct Chunk<'a> {
    pub text: &'a str,
    pub first_line: u32,
    /// What follows `---` on its line and is neither blank nor a comment.
    pub junk: Option<&'a str>,
}

pub(super) fn documents(text: &str) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let (mut start, mut first_line, mut line, mut junk) = (0, 0, 0, None);
    let mut offset = 0;
    for full in text.split_inclusive('\n') {
        let end = offset + full.len();
        // Only at its beginning may a text have a byte order mark before the line.
        let content = if offset == 0 { full.trim_start_matches('\u{feff}') } else { full };
        if let Some(rest) = content.strip_prefix("---") {
            push(&mut chunks, &text[start..offset], first_line, junk);
            let rest = rest.trim();
            junk = (!rest.is_empty() && !rest.starts_with('#')).then_some(rest);
            start = end;
            first_line = line + 1;
        }
        line += lines_of(full);
        offset = end;
    }
    push(&mut chunks, &text[start..], first_line, junk);
    chunks
}

fn lines_of(text: &str) -> u32 {
    let mut count = 0;
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte == b'\n' || byte == b'\r' && bytes.peek() != Some(&b'\n') {
            count += 1;
        }
    }
    count
}

fn push<'a>(chunks: &mut Vec<Chunk<'a>>, text: &'a str, first_line: u32, junk: Option<&'a str>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() && junk.is_none() {
        return;
    }
    let mut rest = text;
    let (mut line, mut junk) = (first_line, junk);
    // JSON objects may follow each other without a separator.
    while let Some(length) = json_object(rest).filter(|length| rest[*length..].trim_start().starts_with('{')) {
        chunks.push(Chunk { text: &rest[..length], first_line: line, junk: junk.take() });
        line += lines_of(&rest[..length]);
        rest = &rest[length..];
    }
    chunks.push(Chunk { text: rest, first_line: line, junk });
}

/// The length of the JSON object that a text begins with.
fn json_object(text: &str) -> Option<usize> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let (mut depth, mut in_text, mut escaped) = (0_u32, false, false);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' if !in_text => depth += 1,
            b'}' if !in_text => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index + 1);
                }
            }
            _ => {}
        }
    }
    None
}
