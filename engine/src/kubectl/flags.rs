//! Flags as kubectl reads them (`spf13/pflag`): `--name=value`, `--name value`, `-nvalue`, in any place.

use super::time;
use super::verbs::{GLOBAL, Verb};

/// A flag: name, letter, and what its value is.
///
/// `b` true or false, `s` text, `i` a whole number, `d` a duration, `l` a comma list, and `n` a text that may be left
/// out, which stands for the last part.
pub type Flag = (&'static str, &'static str, char, &'static str);

/// What was given on a line, read by a verb's flags.
#[derive(Clone, Debug, Default)]
pub struct Args {
    /// `kubectl rollout status`
    pub path: String,
    /// What is no flag, the verb left out.
    pub words: Vec<String>,
    given: Vec<(&'static str, String)>,
    /// Where `--` stood among the words.
    pub dash: Option<usize>,
}

/// Reads the words behind a verb.
///
/// # Errors
/// pflag's words, without the hint behind them.
pub fn parse(verb: &Verb, words: &[String]) -> Result<Args, String> {
    let mut args = Args { path: ["kubectl ", verb.name].concat(), ..Args::default() };
    let find = |name: &str| verb.flags.iter().copied().flatten().chain(GLOBAL).find(|it| it.0 == name).copied();
    let find_letter =
        |c: char| verb.flags.iter().copied().flatten().chain(GLOBAL).find(|it| it.1.chars().eq([c])).copied();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            args.dash = Some(args.words.len());
            args.words.extend(rest.cloned());
            break;
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_string())),
                None => (long, None),
            };
            if name.is_empty() || name.starts_with('-') {
                return Err(["bad flag syntax: ", word].concat());
            }
            let flag = find(name).ok_or_else(|| ["unknown flag: --", name].concat())?;
            let value = match value {
                Some(value) => value,
                None => match no_value(flag) {
                    Some(value) => value.into(),
                    None => rest.next().cloned().ok_or_else(|| ["flag needs an argument: --", name].concat())?,
                },
            };
            args.put(flag, value)?;
        } else if word.len() > 1 && word.starts_with('-') {
            let letters = &word[1..];
            for (place, c) in letters.char_indices() {
                let letter = c.to_string();
                let flag =
                    find_letter(c).ok_or_else(|| ["unknown shorthand flag: '", &letter, "' in ", word].concat())?;
                let after = &letters[place + c.len_utf8()..];
                if let Some(value) = after.strip_prefix('=') {
                    args.put(flag, value.into())?;
                    break;
                }
                if let Some(value) = no_value(flag) {
                    args.put(flag, value.into())?;
                    continue;
                }
                let value = match after {
                    "" => {
                        let need = || ["flag needs an argument: '", &letter, "' in ", word].concat();
                        rest.next().cloned().ok_or_else(need)?
                    }
                    value => value.into(),
                };
                args.put(flag, value)?;
                break;
            }
        } else {
            args.words.push(word.clone());
        }
    }
    Ok(args)
}

/// What a flag stands for where no value is given.
fn no_value(flag: Flag) -> Option<&'static str> {
    match flag.2 {
        'b' => Some("true"),
        'n' => Some(flag.3),
        _ => None,
    }
}

impl Args {
    fn put(&mut self, flag: Flag, value: String) -> Result<(), String> {
        let wrong = match flag.2 {
            'b' if read_bool(&value).is_none() => {
                Some(["strconv.ParseBool: parsing \"", &value, "\": invalid syntax"].concat())
            }
            'i' if value.parse::<i64>().is_err() => {
                Some(["strconv.ParseInt: parsing \"", &value, "\": invalid syntax"].concat())
            }
            'd' if time::duration(&value).is_none() => Some(["time: invalid duration \"", &value, "\""].concat()),
            _ => None,
        };
        if let Some(why) = wrong {
            let letter = if flag.1.is_empty() { String::new() } else { ["-", flag.1, ", "].concat() };
            let name = [&letter, "--", flag.0].concat();
            return Err(["invalid argument \"", &value, "\" for \"", &name, "\" flag: ", &why].concat());
        }
        if flag.2 == 'l' {
            for part in value.split(',') {
                self.given.push((flag.0, part.to_string()));
            }
        } else {
            self.given.push((flag.0, value));
        }
        Ok(())
    }

    pub fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(it, _)| *it == name)
    }

    /// The last value given; empty where there is none.
    pub fn text(&self, name: &str) -> &str {
        self.given.iter().rev().find(|(it, _)| *it == name).map_or("", |(_, value)| value)
    }

    /// All values given, in their order.
    pub fn all(&self, name: &str) -> Vec<&str> {
        self.given.iter().filter(|(it, _)| *it == name).map(|(_, value)| value.as_str()).collect()
    }

    pub fn is(&self, name: &str) -> bool {
        read_bool(self.text(name)).unwrap_or(false)
    }

    /// For flags that are true where nothing else is said.
    pub fn is_or(&self, name: &str, usual: bool) -> bool {
        read_bool(self.text(name)).unwrap_or(usual)
    }

    pub fn int(&self, name: &str) -> Option<i64> {
        self.text(name).parse().ok()
    }

    /// In milliseconds.
    pub fn duration(&self, name: &str) -> Option<i64> {
        time::duration(self.text(name)).filter(|_| self.has(name))
    }

    /// `--request-timeout`, a duration or whole seconds, in milliseconds; 0 is none.
    pub fn request_timeout(&self) -> Option<i64> {
        let text = self.text("request-timeout");
        time::duration(text).or_else(|| time::duration(&[text, "s"].concat())).filter(|ms| *ms > 0)
    }

    /// The names of all flags given.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        self.given.iter().map(|(name, _)| *name)
    }
}

fn read_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}
