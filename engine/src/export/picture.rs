//! The map as a picture that opens alone: SVG without a style sheet, a font or anything else from elsewhere.
//!
//! Shapes are the page's own, handed in as its sprite; colours are those of `style/tokens.css`, which a test compares.

use crate::share::state_words;
use crate::view::{Counts, Flock, MapView, NodeCard, NodeClass, PodClass, PodRow, Summary};
use crate::world::Simulation;

/// Width of a picture in its own units, which are CSS pixels.
pub const WIDTH: u32 = 960;

const MARGIN: u32 = 24;
const GAP: u32 = 12;
const PAD: u32 = 12;
/// Of the two lines at the top, and of the one at the bottom.
const HEAD: u32 = 76;
const FOOT: u32 = 36;
const CARD_HEAD: u32 = 52;
const MESSAGE: u32 = 20;
/// A pod in words, and as a bare shape.
const CELL: (u32, u32) = (84, 62);
const TILE: u32 = 16;
/// Widths of letters of 12 px, at the most that is usual.
const LETTER: u32 = 7;

/// What a picture is of.
pub struct MapPicture<'a> {
    pub simulation: &'a Simulation,
    pub map: &'a MapView,
    pub summary: &'a Summary,
    /// The page's symbols: `<symbol id="pod-ready" …`.
    pub sprite: &'a str,
    pub is_dark: bool,
}

/// Colours, light and dark.
type Ink = (&'static str, &'static str);

const BG: Ink = ("#f5f7fa", "#0e1217");
const SURFACE: Ink = ("#ffffff", "#171d25");
const RULE: Ink = ("#c2cad4", "#3a4553");
const INK: Ink = ("#14181f", "#e8ecf1");
const INK_2: Ink = ("#46505e", "#adb7c4");
const BAD: Ink = ("#8a1c0c", "#ff6a5c");

/// The token of a colour, for the test that compares them.
pub const TOKENS: [(&str, Ink); 6] =
    [("bg", BG), ("surface", SURFACE), ("rule", RULE), ("ink", INK), ("ink-2", INK_2), ("s-bad", BAD)];

/// The symbol of a pod's class without its size, and its colour, with the token.
pub fn pod_look(class: PodClass) -> (&'static str, &'static str, Ink) {
    match class {
        PodClass::Ready => ("ready", "s-ready", ("#0b7d4b", "#69fca7")),
        PodClass::Completed => ("completed", "s-completed", ("#3b20d8", "#787aea")),
        PodClass::Creating => ("creating", "s-creating", ("#0a3f7a", "#9bc3fc")),
        PodClass::NotReady => ("notready", "s-notready", ("#946400", "#ecb522")),
        PodClass::Pending => ("pending", "s-pending", ("#616c7d", "#cfd6dc")),
        PodClass::Terminating => ("terminating", "s-terminating", ("#b526b0", "#b06dba")),
        PodClass::Unknown => ("unknown", "s-unknown", ("#1c1e21", "#82868f")),
        PodClass::ImageError => ("image", "s-bad", BAD),
        PodClass::CrashLoop => ("crash", "s-bad", BAD),
        PodClass::Failed => ("failed", "s-bad", BAD),
    }
}

/// The picture as SVG.
pub fn picture(of: &MapPicture<'_>) -> String {
    let mut draw = Draw { of, body: String::new(), symbols: Vec::new() };
    let cards = draw.cards();
    let height = draw.lay_out(&cards);
    draw.head();
    draw.foot(height);
    draw.finish(height)
}

/// A card of the map with its pods, in words or not.
struct Card<'a> {
    title: String,
    /// `Ready`, and whether that is bad.
    word: String,
    class: Option<NodeClass>,
    counts: String,
    message: String,
    rows: &'a [PodRow],
    tiles: Vec<PodClass>,
}

struct Draw<'a> {
    of: &'a MapPicture<'a>,
    body: String,
    /// Those that are used.
    symbols: Vec<String>,
}

/// Text as XML has it: what it cannot hold is left out.
fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c < ' ' => out.push(' '),
            c => out.push(c),
        }
    }
}

/// As many letters as fit, with the last one an ellipsis where they are not all.
fn fit(text: &str, width: u32) -> String {
    let most = (width / LETTER).max(2) as usize;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

fn counts(all: &Counts) -> String {
    let each = |(class, n): &(PodClass, usize)| [n.to_string().as_str(), " ", class.name()].concat();
    all.iter().map(each).collect::<Vec<_>>().join(", ")
}

impl<'a> Draw<'a> {
    fn ink(&self, ink: Ink) -> &'static str {
        if self.of.is_dark { ink.1 } else { ink.0 }
    }

    fn cards(&self) -> Vec<Card<'a>> {
        let map = self.of.map;
        if map.is_crowd {
            return map.crowd.flocks.iter().filter(|it| it.key.is_some() || !it.pods.is_empty()).map(flock).collect();
        }
        let mut cards: Vec<Card<'a>> = map.nodes.iter().map(card).collect();
        if !map.unscheduled.is_empty() {
            cards.push(Card {
                title: "Unscheduled".into(),
                word: String::new(),
                class: None,
                counts: String::new(),
                message: map.unscheduled_message.clone().unwrap_or_default(),
                rows: &map.unscheduled,
                tiles: Vec::new(),
            });
        }
        cards
    }

    /// Draws cards in columns, each under the shortest. Returns where they end.
    fn lay_out(&mut self, cards: &[Card<'a>]) -> u32 {
        let columns = (cards.len() as u32).clamp(1, 3);
        let width = (WIDTH - 2 * MARGIN - (columns - 1) * GAP) / columns;
        let mut ends = vec![HEAD; columns as usize];
        for card in cards {
            let shortest = (0..ends.len()).min_by_key(|at| ends[*at]).unwrap_or_default();
            let x = MARGIN + shortest as u32 * (width + GAP);
            let height = self.card(card, (x, ends[shortest]), width);
            ends[shortest] += height + GAP;
        }
        if cards.is_empty() {
            self.text((MARGIN, HEAD + 16), 14, INK_2, "No nodes.");
        }
        ends.into_iter().max().unwrap_or(HEAD).max(HEAD + 32)
    }

    fn card(&mut self, card: &Card<'a>, (x, y): (u32, u32), width: u32) -> u32 {
        let inside = width - 2 * PAD;
        let (least, n) = match card.rows {
            [] => ((TILE, TILE), card.tiles.len()),
            rows => (CELL, rows.len()),
        };
        let across = (inside / least.0).max(1);
        // Pods in words take all of the width.
        let cell = if card.rows.is_empty() { least } else { (inside / across, least.1) };
        let lines = (n as u32).div_ceil(across);
        let message = if card.message.is_empty() { 0 } else { MESSAGE };
        let height = CARD_HEAD + message + lines.max(1) * cell.1 + PAD;
        let (fill, stroke) = (self.ink(SURFACE), self.ink(RULE));
        let dash = if card.class == Some(NodeClass::Unreachable) { "6 4" } else { "" };
        self.tag(
            "rect",
            &[("x", x), ("y", y), ("width", width), ("height", height), ("rx", 6)],
            &[("fill", fill), ("stroke", stroke), ("stroke-dasharray", dash)],
        );
        self.text((x + PAD, y + 22), 14, INK, &fit(&card.title, inside * 2 / 3));
        let is_bad = matches!(card.class, Some(NodeClass::NotReady | NodeClass::Unreachable));
        let word = fit(&card.word, inside / 2);
        self.text_to((x + width - PAD, y + 22), if is_bad { BAD } else { INK_2 }, &word);
        self.text((x + PAD, y + 40), 12, INK_2, &fit(&card.counts, inside));
        if message > 0 {
            self.text((x + PAD, y + CARD_HEAD + 8), 12, INK_2, &fit(&card.message, inside));
        }
        let top = y + CARD_HEAD + message;
        for at in 0..n as u32 {
            let place = (x + PAD + at % across * cell.0, top + at / across * cell.1);
            match card.rows.get(at as usize) {
                Some(row) => self.pod(row, place, cell.0),
                None => self.tile(card.tiles.get(at as usize).copied(), place),
            }
        }
        height
    }

    fn pod(&mut self, row: &PodRow, (x, y): (u32, u32), width: u32) {
        let (shape, _, color) = pod_look(row.class);
        self.body.push_str("<g><title>");
        escape(&mut self.body, &row.label);
        self.body.push_str("</title>");
        self.shape(&["pod-", shape].concat(), color, (x + width / 2 - 12, y), 24);
        self.text_amid((x + width / 2, y + 38), INK, &fit(&row.tail, width));
        self.text_amid((x + width / 2, y + 53), INK_2, &fit(&row.word, width));
        self.body.push_str("</g>\n");
    }

    fn tile(&mut self, class: Option<PodClass>, (x, y): (u32, u32)) {
        if let Some(class) = class {
            let (shape, _, color) = pod_look(class);
            self.shape(&["tile-", shape].concat(), color, (x, y), 12);
        }
    }

    fn shape(&mut self, id: &str, color: Ink, (x, y): (u32, u32), size: u32) {
        if !self.symbols.iter().any(|it| it == id) {
            self.symbols.push(id.to_owned());
        }
        let (color, href) = (self.ink(color), ["#", id].concat());
        let place = [("x", x), ("y", y), ("width", size), ("height", size)];
        self.tag("use", &place, &[("href", &href), ("color", color)]);
    }

    fn tag(&mut self, name: &str, numbers: &[(&str, u32)], texts: &[(&str, &str)]) {
        self.open(name, numbers, texts);
        self.body.push_str("/>\n");
    }

    fn open(&mut self, name: &str, numbers: &[(&str, u32)], texts: &[(&str, &str)]) {
        self.body += &["<", name].concat();
        for (name, number) in numbers {
            self.body += &[" ", name, "=\"", &number.to_string(), "\""].concat();
        }
        for (name, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
            self.body += &[" ", name, "=\"", text, "\""].concat();
        }
    }

    fn write(&mut self, (x, y): (u32, u32), size: u32, color: Ink, anchor: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let color = self.ink(color);
        self.open("text", &[("x", x), ("y", y), ("font-size", size)], &[("fill", color), ("text-anchor", anchor)]);
        self.body.push('>');
        escape(&mut self.body, text);
        self.body.push_str("</text>\n");
    }

    fn text(&mut self, at: (u32, u32), size: u32, color: Ink, text: &str) {
        self.write(at, size, color, "", text);
    }

    /// Ends there.
    fn text_to(&mut self, at: (u32, u32), color: Ink, text: &str) {
        self.write(at, 12, color, "end", text);
    }

    fn text_amid(&mut self, at: (u32, u32), color: Ink, text: &str) {
        self.write(at, 12, color, "middle", text);
    }

    /// `web wants 3, 2 ready`
    fn sentence(&self) -> String {
        let summary = self.of.summary;
        if summary.subject.is_empty() {
            return "Nothing is asked for".into();
        }
        let (want, ready) = (summary.want.to_string(), summary.ready.to_string());
        [summary.subject.as_str(), ": ", &want, " wanted, ", &ready, " ready. ", &counts(&self.of.map.counts)].concat()
    }

    fn head(&mut self) {
        let name = self.of.simulation.scenario().name.clone();
        let now = self.of.simulation.now().to_string();
        self.text((MARGIN, 34), 20, INK, &fit(&name, 500));
        self.text((MARGIN, 58), 14, INK_2, &fit(&self.sentence(), WIDTH - 2 * MARGIN));
        self.text_to((WIDTH - MARGIN, 34), INK_2, &now);
    }

    fn foot(&mut self, height: u32) {
        let scenario = self.of.simulation.scenario();
        let (seed, state) = (scenario.seed.to_string(), state_words(self.of.simulation.trace().digest()));
        let words = ["Loopscope. Seed ", &seed, ", state ", &state].concat();
        self.text((MARGIN, height + 18), 12, INK_2, &words);
    }

    fn finish(self, height: u32) -> String {
        let (width, height) = (WIDTH.to_string(), (height + FOOT).to_string());
        let mut out = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ",
            &[&width, " ", &height, "\" width=\"", &width, "\" height=\"", &height].concat(),
            "\" role=\"img\" font-family=\"system-ui, sans-serif\">\n<title>",
        ]
        .concat();
        escape(&mut out, &self.of.simulation.scenario().name);
        out.push_str("</title>\n<desc>");
        escape(&mut out, &[self.sentence().as_str(), ", at ", &self.of.simulation.now().to_string()].concat());
        out.push_str("</desc>\n<defs>\n");
        for id in &self.symbols {
            let begin = ["<symbol id=\"", id, "\""].concat();
            let Some((_, rest)) = self.of.sprite.split_once(&begin) else { continue };
            let symbol = rest.split("</symbol>").next().unwrap_or_default();
            out += &[&begin, &symbol.replace("var(--cut)", self.ink(SURFACE)), "</symbol>\n"].concat();
        }
        let ground = self.ink(BG);
        out += &["</defs>\n<rect width=\"", &width, "\" height=\"", &height, "\" fill=\"", ground, "\"/>\n"].concat();
        out + &self.body + "</svg>\n"
    }
}

fn card(node: &NodeCard) -> Card<'_> {
    let (title, word) = match &node.owner {
        Some(facts) => {
            let (want, ready) = (facts.want.to_string(), facts.ready.to_string());
            (node.key.name.to_string(), [node.word.as_str(), ", ", &ready, " of ", &want, " ready"].concat())
        }
        None => (node.key.name.to_string(), node.word.clone()),
    };
    let message = node.message.clone().unwrap_or_default();
    let class = node.owner.is_none().then_some(node.class);
    Card { title, word, class, counts: counts(&node.counts), message, rows: &node.pods, tiles: Vec::new() }
}

fn flock(flock: &Flock) -> Card<'_> {
    let title = flock.key.as_ref().map_or_else(|| "Unscheduled".to_owned(), |key| key.name.to_string());
    let word = match flock.class {
        Some(NodeClass::Ready) => "Ready",
        Some(NodeClass::NotReady) => "NotReady",
        Some(NodeClass::Unreachable) => "Unreachable",
        Some(NodeClass::Cordoned) => "Cordoned",
        None => "",
    };
    let tiles = flock.pods.iter().map(|dot| dot.class).collect();
    let (word, message) = (word.to_owned(), String::new());
    Card { title, word, class: flock.class, counts: counts(&flock.counts), message, rows: &[], tiles }
}
