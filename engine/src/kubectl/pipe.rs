//! What may stand beside kubectl on a line: `cat`, `echo`, `printf`, `grep`, `head`, `tail`, `wc -l`, `sort`, `sleep`.

use super::console::Console;
use super::{Cluster, Output, Waiting, time};

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n')
}

fn count(words: &[String], usual: usize) -> Result<usize, String> {
    let mut wanted = usual;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let number = match word.strip_prefix("-n") {
            Some("") => rest.next().cloned().unwrap_or_default(),
            Some(number) => number.into(),
            None => word.strip_prefix('-').unwrap_or(word).into(),
        };
        wanted = number.parse().map_err(|_| ["invalid number of lines: '", &number, "'\n"].concat())?;
    }
    Ok(wanted)
}

/// What a command makes of its input.
///
/// # Errors
/// What it prints on standard error.
pub fn run(words: &[String], input: Option<&str>, console: &Console) -> Result<String, String> {
    let (name, rest) = words.split_first().ok_or("no command\n")?;
    let text = input.unwrap_or_default();
    match name.as_str() {
        "cat" if rest.is_empty() || rest == ["-"] => Ok(text.into()),
        "cat" => {
            let mut all = String::new();
            for file in rest {
                let found = console.files.iter().find(|(name, _)| name == file.strip_prefix("./").unwrap_or(file));
                let (_, text) = found.ok_or_else(|| ["cat: ", file, ": No such file or directory\n"].concat())?;
                all += text;
            }
            Ok(all)
        }
        "echo" => Ok([&rest.join(" "), "\n"].concat()),
        "printf" => match rest {
            [format, text] if format == "%s" => Ok(text.clone()),
            [text] if !text.contains(['%', '\\']) => Ok(text.clone()),
            _ => Err("printf: only '%s' is simulated\n".into()),
        },
        "grep" => grep(rest, text),
        "head" => Ok(lines(text).take(count(rest, 10)?).collect()),
        "tail" => {
            let wanted = count(rest, 10)?;
            let all = lines(text).count();
            Ok(lines(text).skip(all.saturating_sub(wanted)).collect())
        }
        "wc" if rest == ["-l"] => Ok([&text.matches('\n').count().to_string(), "\n"].concat()),
        "sort" if rest.is_empty() => {
            let mut all: Vec<&str> = lines(text).collect();
            crate::sim::sort_by(&mut all, |a, b| a.cmp(b));
            Ok(all.concat())
        }
        "wc" => Err(other_words(name, rest, "-l")),
        "sort" => Err(other_words(name, rest, "")),
        "true" | "clear" => Ok(String::new()),
        _ => Err(["error: ", name, " is not simulated. Type 'kubectl' for what is\n"].concat()),
    }
}

/// What is said of words that `wc` and `sort` do not take here.
fn other_words(name: &str, words: &[String], known: &str) -> String {
    let what = match words.iter().find(|it| it.starts_with('-') && it.as_str() != known) {
        Some(option) => ["the option ", option, " is not simulated"].concat(),
        None if words.is_empty() => ["only '", name, " ", known, "' is simulated"].concat(),
        None => "files are not simulated, only what a pipe gives".into(),
    };
    [name, ": ", &what, "\n"].concat()
}

/// `grep [-v] [-i] [-c] [-E] PATTERN`, of plain text: `^`, `$` and `|` are the only signs.
fn grep(words: &[String], text: &str) -> Result<String, String> {
    let (mut not, mut any_case, mut counts, mut pattern) = (false, false, false, None);
    for word in words {
        match word.strip_prefix('-') {
            Some(letters) if pattern.is_none() && !letters.is_empty() => {
                for letter in letters.chars() {
                    match letter {
                        'v' => not = true,
                        'i' => any_case = true,
                        'c' => counts = true,
                        'E' | 'F' | 'e' | 'w' => {}
                        _ => return Err(["grep: the flag -", &letter.to_string(), " is not simulated\n"].concat()),
                    }
                }
            }
            _ if pattern.is_none() => pattern = Some(word.clone()),
            _ => return Err("grep: files are not simulated\n".into()),
        }
    }
    let pattern = pattern.ok_or("grep: no pattern\n")?;
    if pattern.contains(['[', '(', '*', '?', '+', '{']) {
        return Err("grep: only plain text, ^, $ and | are simulated\n".into());
    }
    let fold = |text: &str| if any_case { text.to_ascii_lowercase() } else { text.to_string() };
    let patterns: Vec<String> = pattern.split("\\|").flat_map(|it| it.split('|')).map(fold).collect();
    let matches = |line: &str| {
        let line = fold(line);
        patterns.iter().any(|it| {
            let inner = it.strip_prefix('^').unwrap_or(it);
            let inner = inner.strip_suffix('$').unwrap_or(inner);
            match (it.starts_with('^'), it.ends_with('$') && it.len() > 1) {
                (true, true) => line == inner,
                (true, false) => line.starts_with(inner),
                (false, true) => line.ends_with(inner),
                (false, false) => line.contains(inner),
            }
        })
    };
    let kept: Vec<&str> = lines(text).filter(|line| matches(line.trim_end_matches('\n')) != not).collect();
    Ok(if counts { [&kept.len().to_string(), "\n"].concat() } else { kept.concat() })
}

struct Sleep(i64);

impl Waiting for Sleep {
    fn look(&mut self, cluster: &mut dyn Cluster, _: &mut Output) -> Option<i32> {
        (cluster.wall_millis() >= self.0).then_some(0)
    }

    fn due(&self) -> Option<i64> {
        Some(self.0)
    }
}

/// `sleep 5`
pub fn sleep(words: &[String], now: i64) -> Result<Box<dyn Waiting>, String> {
    let text = words.get(1).map(String::as_str).unwrap_or_default();
    let ms = time::duration(text).or_else(|| time::duration(&[text, "s"].concat())).filter(|ms| *ms >= 0);
    let ms = ms.ok_or_else(|| ["sleep: invalid time interval '", text, "'\n"].concat())?;
    Ok(Box::new(Sleep(now.saturating_add(ms))))
}
