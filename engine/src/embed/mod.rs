//! The messages of the page around an embed: a text into what it asks for. docs/embed.md is the contract.
//!
//! They come from anybody who can frame the page. Nothing here acts: whatever is read is one of a few things to ask for,
//! within limits, or a refusal in words.

use serde_json::Value;

pub const VERSION: u64 = 1;
/// Nobody can be made to play more virtual time than this: a day, in ms.
pub const MOST_MS: u64 = 86_400_000;
const THEMES: [(&str, Option<bool>); 3] = [("auto", None), ("light", Some(false)), ("dark", Some(true))];

/// Why something that was asked for is not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub code: &'static str,
    pub words: String,
}

impl Refusal {
    pub fn new(code: &'static str, words: &[&str]) -> Self {
        Self { code, words: words.concat() }
    }
}

/// How far a step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Event,
    Act,
    Turn,
    Write,
}

/// What may be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    Ping,
    Play,
    Pause,
    Step {
        by: By,
        is_back: bool,
    },
    /// To a virtual time in ms, which may lie beyond all that has been played.
    Seek(u64),
    /// A manifest.
    Apply(String),
    /// A line of the console.
    Command(String),
    /// A scenario by its name.
    Load(String),
    /// The moment in a link.
    Open(String),
    /// Dark, light, or as the system has it.
    Theme(Option<bool>),
    /// A language that there is.
    Language,
    /// A part by its name, or nothing.
    Highlight(Option<String>),
    Share,
    /// The map as it is now.
    Picture,
}

/// What a text is.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Not of this protocol.
    Foreign,
    /// Of this protocol, and not understood. The sender's number comes along.
    Wrong(Refusal, Value),
    Asks(Ask, Value),
}

/// Reads one message.
pub fn read(text: &str) -> Message {
    let Ok(message) = serde_json::from_str::<Value>(text) else { return Message::Foreign };
    let word = |name: &str| message.get(name).and_then(Value::as_str);
    let (Some("loopscope"), Some(kind)) = (word("app"), word("type")) else { return Message::Foreign };
    let id = message.get("id").cloned().unwrap_or_default();
    if message.get("v").and_then(Value::as_u64) != Some(VERSION) {
        return Message::Wrong(Refusal::new("version", &["This page speaks version 1"]), id);
    }
    match ask(kind, &message) {
        Ok(ask) => Message::Asks(ask, id),
        Err(refusal) => Message::Wrong(refusal, id),
    }
}

fn ask(kind: &str, message: &Value) -> Result<Ask, Refusal> {
    let word = |name: &str| message.get(name).and_then(Value::as_str);
    let text = |name: &str| {
        let missing = || Refusal::new("malformed", &["`", name, "` must be a text"]);
        word(name).map(str::to_owned).ok_or_else(missing)
    };
    Ok(match kind {
        "ping" => Ask::Ping,
        "play" => Ask::Play,
        "pause" => Ask::Pause,
        "share" => Ask::Share,
        "picture" => Ask::Picture,
        "step" => step(message)?,
        "seek" => seek(message)?,
        "apply" => Ask::Apply(text("yaml")?),
        "command" => Ask::Command(text("kubectl")?),
        "load" => match (word("hash"), word("scenario")) {
            (Some(hash), _) => Ask::Open(hash.trim_start_matches('#').to_owned()),
            (None, Some(name)) => Ask::Load(name.to_owned()),
            (None, None) => return Err(Refusal::new("malformed", &["`load` takes a `scenario` or a `hash`"])),
        },
        "theme" => match THEMES.into_iter().find(|(name, _)| word("theme") == Some(name)) {
            Some((_, theme)) => Ask::Theme(theme),
            None => return Err(Refusal::new("malformed", &["`theme` must be auto, light or dark"])),
        },
        "lang" if word("lang").is_some_and(is_english) => Ask::Language,
        "lang" => return Err(Refusal::new("unknown-value", &["There is no such language: there is en"])),
        "highlight" => match message.get("ref") {
            Some(Value::String(name)) => Ask::Highlight(Some(name.clone())),
            None | Some(Value::Null) => Ask::Highlight(None),
            Some(_) => return Err(Refusal::new("malformed", &["`ref` must be a text, or null"])),
        },
        _ => return Err(Refusal::new("unknown-type", &["There is no message “", kind, "”"])),
    })
}

/// `by` is `event` where nothing is said; `back` leads the other way.
fn step(message: &Value) -> Result<Ask, Refusal> {
    let by = match message.get("by").map_or(Some("event"), Value::as_str) {
        Some("event") => By::Event,
        Some("act") => By::Act,
        Some("turn") => By::Turn,
        Some("write") => By::Write,
        _ => return Err(Refusal::new("malformed", &["`by` must be event, act, turn or write"])),
    };
    Ok(Ask::Step { by, is_back: message.get("back").and_then(Value::as_bool) == Some(true) })
}

fn seek(message: &Value) -> Result<Ask, Refusal> {
    match message.get("t").and_then(Value::as_f64).filter(|it| *it >= 0.0) {
        Some(ms) => Ok(Ask::Seek((ms as u64).min(MOST_MS))),
        None => Err(Refusal::new("malformed", &["`t` must be a number of milliseconds, 0 or more"])),
    }
}

/// A theme by its name; as the system has it where there is no such name.
pub fn theme(name: Option<&str>) -> Option<bool> {
    THEMES.into_iter().find(|(it, _)| name == Some(it)).and_then(|(_, theme)| theme)
}

pub fn is_english(lang: &str) -> bool {
    lang == "en" || lang.starts_with("en-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(fields: &str) -> Message {
        read(&["{\"app\":\"loopscope\",\"v\":1,\"id\":7,", fields, "}"].concat())
    }

    #[track_caller]
    fn asks(fields: &str) -> Ask {
        match said(fields) {
            Message::Asks(ask, id) if id == 7 => ask,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn code(fields: &str) -> &'static str {
        match said(fields) {
            Message::Wrong(refusal, id) if id == 7 => refusal.code,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_message_of_the_protocol_is_read() {
        for (fields, ask) in [
            (r#""type":"ping""#, Ask::Ping),
            (r#""type":"play""#, Ask::Play),
            (r#""type":"pause""#, Ask::Pause),
            (r#""type":"share""#, Ask::Share),
            (r#""type":"picture""#, Ask::Picture),
            (r#""type":"step""#, Ask::Step { by: By::Event, is_back: false }),
            (r#""type":"step","by":"write","back":true"#, Ask::Step { by: By::Write, is_back: true }),
            (r#""type":"seek","t":1.5e3"#, Ask::Seek(1_500)),
            (r#""type":"seek","t":1e300"#, Ask::Seek(MOST_MS)),
            (r#""type":"apply","yaml":"a: b""#, Ask::Apply("a: b".into())),
            (r#""type":"command","kubectl":"get po""#, Ask::Command("get po".into())),
            (r#""type":"load","scenario":"empty""#, Ask::Load("empty".into())),
            (r##""type":"load","scenario":"empty","hash":"#1.a.b""##, Ask::Open("1.a.b".into())),
            (r#""type":"theme","theme":"dark""#, Ask::Theme(Some(true))),
            (r#""type":"theme","theme":"auto""#, Ask::Theme(None)),
            (r#""type":"lang","lang":"en-GB""#, Ask::Language),
            (r#""type":"highlight","ref":"pods/ready""#, Ask::Highlight(Some("pods/ready".into()))),
            (r#""type":"highlight","ref":null"#, Ask::Highlight(None)),
        ] {
            assert_eq!(asks(fields), ask, "{fields}");
        }
    }

    #[test]
    fn what_is_not_understood_says_so_and_what_is_foreign_does_not() {
        for fields in [
            r#""type":"seek""#,
            r#""type":"seek","t":-1"#,
            r#""type":"step","by":3"#,
            r#""type":"apply","yaml":{}"#,
            r#""type":"command""#,
            r#""type":"load""#,
            r#""type":"theme","theme":"pink""#,
            r#""type":"highlight","ref":[]"#,
        ] {
            assert_eq!(code(fields), "malformed", "{fields}");
        }
        assert_eq!(code(r#""type":"lang","lang":"tlh""#), "unknown-value");
        assert_eq!(code(r#""type":"<img>""#), "unknown-type");
        let newer = read(r#"{"app":"loopscope","v":2,"type":"play"}"#);
        assert!(matches!(newer, Message::Wrong(Refusal { code: "version", .. }, Value::Null)), "{newer:?}");
        for text in ["", "[]", "null", "{", r#"{"app":"other","v":1,"type":"play"}"#, r#"{"app":"loopscope","v":1}"#] {
            assert_eq!(read(text), Message::Foreign, "{text}");
        }
    }
}
