//! Links and files that somebody hands on.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use loopscope_engine::history::History;
use loopscope_engine::share::{
    Bad, Handed, MOST_BYTES, Moment, is_link, pack, packed, read_file, read_moment, unpack, write_journal_file,
    write_moment, write_moment_file, write_scenario_file,
};
use loopscope_engine::sim::Time;
use loopscope_engine::world::{Instant, Scenario};

use super::world::{check_text, look, n_pods};
use super::{MOST_EVENTS, sum};

/// What would be played for longer is only read.
const LONGEST: Time = Time(60_000);
const MOST_NODES: usize = 20;
const MOST_STEPS: usize = 30;
/// Of this many inputs one is played.
const NOW_AND_THEN: u64 = 4;

pub fn share(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if is_link(&text) {
        let opened = open(&text);
        check_opened(data, opened.map(Handed::Moment));
    }
    // What a link holds is beyond a fuzzer's reach: its sum would have to fit. So the text itself is also made a link.
    let moment = open(&pack(&text, &deflate(&text)));
    assert_eq!(moment, read_moment(&text), "a link is not what it was made of");
    check_opened(data, moment.map(Handed::Moment));
    check_opened(data, read_file(&text));
}

/// What a browser does with a text, and back, no further than the page reads.
fn deflate(text: &str) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

fn inflate(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    DeflateDecoder::new(bytes).take(MOST_BYTES as u64 + 1).read_to_end(&mut out).ok().map(|_| out)
}

fn open(link: &str) -> Result<Moment, Bad> {
    let (bytes, sum) = packed(link)?;
    read_moment(&unpack(inflate(&bytes), sum)?)
}

fn check_opened(data: &[u8], opened: Result<Handed, Bad>) {
    match opened {
        Ok(Handed::Scenario(it)) => check_scenario(&it),
        Ok(Handed::Journal(steps)) => {
            check_text(&steps);
            let file = write_journal_file(&Scenario::empty(1), &steps);
            assert_eq!(read_file(&file), Ok(Handed::Journal(steps)), "{file}");
        }
        Ok(Handed::Moment(it)) => {
            check_moment(&it);
            if sum(data).is_multiple_of(NOW_AND_THEN) {
                play(&it);
            }
        }
        Err(bad) => {
            assert!(!bad.words.is_empty(), "it is refused without a word");
            bad.scenario.iter().for_each(|it| check_scenario(it));
        }
    }
}

/// A scenario is the same after it was written and read.
pub fn check_scenario(it: &Scenario) {
    let file = write_scenario_file(it);
    assert_eq!(read_file(&file), Ok(Handed::Scenario(it.clone())), "{file}");
}

/// So is a moment, as a text and as a file.
pub fn check_moment(it: &Moment) {
    let text = write_moment(it);
    assert_eq!(read_moment(&text).as_ref(), Ok(it), "{text}");
    let file = write_moment_file(it);
    assert_eq!(read_file(&file), Ok(Handed::Moment(it.clone())), "{file}");
}

fn play(moment: &Moment) {
    let is_long = moment.at.at > LONGEST || moment.steps.len() > MOST_STEPS;
    if is_long || moment.scenario.nodes.len() > MOST_NODES {
        return;
    }
    let mut history = History::of(moment.scenario.clone(), moment.steps.clone(), Instant::default());
    history.run_to(moment.at, MOST_EVENTS, &mut Vec::new());
    if n_pods(history.simulation()) < 100 {
        look(history.simulation());
    }
}
