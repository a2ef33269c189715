//! What a console shows: each command with what it printed, and lines that wait for their turn.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Cluster, Console, Running, Stream, Went};
use crate::sim::Time;

/// So many commands are kept, and of one so many bytes; what came before goes.
pub const MOST_BLOCKS: usize = 100;
pub const MOST_BYTES: usize = 256 << 10;
/// Of a longer line the beginning is kept, with how much is left out.
const MOST_OF_A_LINE: usize = 64 << 10;
const MOST_PIECES: usize = 1_000;
/// Of a longer output the first and the last lines are shown, and the rest once that is asked for.
pub const FOLD_ABOVE: usize = 24;
/// Of a longer line only the beginning is shown.
const MOST_TYPED: usize = 2_000;
const HEAD: usize = 15;
const TAIL: usize = 5;
/// So many commands are begun before whoever shows the console gets a turn.
const MOST_AT_ONCE: usize = 50;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It is under way.
    Open,
    Exit(i32),
    /// It was stopped, and by what: `Ctrl+C`.
    Stopped(&'static str),
}

/// A part of an output that is shown or folded as one: whole lines, as a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its number among the command's pieces.
    pub number: usize,
    pub stream: Stream,
    pub text: Arc<str>,
    pub n_lines: usize,
}

/// A command and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub id: u32,
    /// As it was typed, without its here-document.
    pub line: String,
    /// When it began.
    pub at: Time,
    pub pieces: Vec<Piece>,
    /// So many lines at the beginning are kept no longer.
    pub n_cut: usize,
    pub end: End,
    n_pieces: usize,
    n_bytes: usize,
}

impl Block {
    pub fn n_lines(&self) -> usize {
        self.pieces.iter().map(|piece| piece.n_lines).sum()
    }

    /// The pieces that are folded, from the first to before the last, and how many lines they have.
    pub fn fold(&self) -> Option<(usize, usize, usize)> {
        let all = self.n_lines();
        if self.end == End::Open || all <= FOLD_ABOVE {
            return None;
        }
        let (mut line, mut found) = (0, None::<(usize, usize, usize)>);
        for piece in &self.pieces {
            let last = line + piece.n_lines;
            if line >= HEAD && last + TAIL <= all && piece.stream == Stream::Out {
                let (from, _, lines) = found.unwrap_or((piece.number, 0, 0));
                found = Some((from, piece.number + 1, lines + piece.n_lines));
            } else if found.is_some() {
                break;
            }
            line = last;
        }
        found
    }

    /// All that it printed, as text.
    pub fn text(&self) -> String {
        self.pieces.iter().map(|piece| &*piece.text).collect()
    }

    fn push(&mut self, stream: Stream, text: &str) {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        if lines.iter().any(|it| it.len() > MOST_OF_A_LINE) {
            let lines: Vec<String> = lines.into_iter().map(shortened).collect();
            return self.push(stream, &lines.concat());
        }
        if lines.len() <= HEAD + TAIL {
            return self.add(stream, text, lines.len());
        }
        // Cut where it may be folded.
        let (head, rest) = lines.split_at(HEAD);
        let (middle, tail) = rest.split_at(rest.len() - TAIL);
        for part in [head, middle, tail] {
            self.add(stream, &part.concat(), part.len());
        }
    }

    fn add(&mut self, stream: Stream, text: &str, n_lines: usize) {
        let excess = text.len().saturating_sub(MOST_BYTES);
        // What is kept begins with a line of its own.
        let from = match excess {
            0 => 0,
            _ => text.bytes().skip(excess).position(|it| it == b'\n').map_or(text.len(), |at| excess + at + 1),
        };
        let (gone, text) = text.split_at(from);
        let n_gone = gone.matches('\n').count();
        self.n_cut += n_gone;
        self.n_bytes += text.len();
        self.pieces.push(Piece { number: self.n_pieces, stream, text: text.into(), n_lines: n_lines - n_gone });
        self.n_pieces += 1;
        while (self.n_bytes > MOST_BYTES || self.pieces.len() > MOST_PIECES) && self.pieces.len() > 1 {
            let gone = self.pieces.remove(0);
            self.n_bytes -= gone.text.len();
            self.n_cut += gone.n_lines;
        }
    }
}

/// A line of which the end is left out where it is too long.
fn shortened(line: &str) -> String {
    if line.len() <= MOST_OF_A_LINE {
        return line.into();
    }
    // Room for the words behind it.
    let end = (0..=MOST_OF_A_LINE - 64).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
    let (kept, rest) = line.split_at(end);
    let rest = rest.trim_end_matches('\n').chars().count().to_string();
    [kept, "… (", &rest, " more characters are left out)\n"].concat()
}

/// A console with its output.
#[derive(Default)]
pub struct Terminal {
    pub console: Console,
    running: Option<Running>,
    /// What `running` was made from, until a block shows it.
    typed: Option<String>,
    /// Texts that were entered while another was under way.
    queue: VecDeque<String>,
    blocks: Vec<Block>,
    next: u32,
    version: u64,
}

impl Terminal {
    /// Takes what a person has typed or pasted. It runs as soon as it is its turn, when the terminal is polled.
    pub fn enter(&mut self, text: &str) {
        self.queue.push_back(text.trim_end().into());
    }

    /// Goes on as far as it can at this instant; says whether it would go on at once if it were asked again.
    pub fn poll(&mut self, cluster: &mut dyn Cluster, now: Time) -> bool {
        for _ in 0..MOST_AT_ONCE {
            let Some(running) = &mut self.running else {
                let Some(text) = self.queue.pop_front() else { return false };
                self.running = Some(self.console.start(&text, None));
                self.typed = Some(text);
                continue;
            };
            let next = running.next().map(String::from);
            let went = running.step(&mut self.console, cluster);
            let output = running.take();
            // What ends without having begun a command is shown as it was typed.
            let unshown = || (!output.is_empty() || went != Went::Waits).then(|| self.typed.clone()).flatten();
            if let Some(line) = next.or_else(unshown) {
                self.typed = None;
                self.begin(line, now);
            }
            if let Some(block) = self.blocks.last_mut().filter(|_| !output.is_empty()) {
                self.version += 1;
                output.iter().for_each(|(stream, text)| block.push(*stream, text));
            }
            match went {
                Went::Waits => return false,
                Went::Ended(exit) => self.close(End::Exit(exit)),
                Went::Over(exit) => {
                    self.close(End::Exit(exit));
                    (self.running, self.typed) = (None, None);
                }
            }
        }
        true
    }

    fn begin(&mut self, line: String, at: Time) {
        let id = self.next;
        self.next += 1;
        self.version += 1;
        let line = line.char_indices().nth(MOST_TYPED).map_or(line.as_str(), |(at, _)| &line[..at]).into();
        let pieces = Vec::new();
        self.blocks.push(Block { id, line, at, pieces, n_cut: 0, end: End::Open, n_pieces: 0, n_bytes: 0 });
        let surplus = self.blocks.len().saturating_sub(MOST_BLOCKS);
        self.blocks.drain(..surplus);
    }

    fn close(&mut self, end: End) {
        if let Some(block) = self.blocks.last_mut().filter(|it| it.end == End::Open) {
            block.end = end;
            self.version += 1;
        }
    }

    /// Stops what is under way, with all that was to follow. Says whether anything was.
    pub fn stop(&mut self, why: &'static str) -> bool {
        let Some(mut running) = self.running.take() else { return false };
        running.cancel();
        (self.typed, self.queue) = (None, VecDeque::new());
        self.close(End::Stopped(why));
        true
    }

    /// Forgets what was printed, but for a command that is under way.
    pub fn clear(&mut self) {
        self.blocks.retain(|it| it.end == End::Open);
        self.version += 1;
    }

    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// A number that grows with each change of the blocks.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether a command is under way.
    pub fn is_busy(&self) -> bool {
        self.running.is_some() || !self.queue.is_empty()
    }

    /// So many entered texts wait for their turn.
    pub fn n_queued(&self) -> usize {
        self.queue.len()
    }

    /// When it wants to look even if nothing has happened, in milliseconds since 1970.
    pub fn due(&self) -> Option<i64> {
        self.running.as_ref().and_then(Running::due)
    }

    /// The text that waits for an editor.
    pub fn editor(&self) -> Option<&str> {
        self.running.as_ref().and_then(Running::editor)
    }

    /// Gives back the text that [`Terminal::editor`] offered, edited or not.
    pub fn edited(&mut self, text: &str) {
        if let Some(running) = &mut self.running {
            running.edited(text);
        }
    }
}
