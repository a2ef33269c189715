/// Values written one after the other as bytes, to be read in the same order.
///
/// What many hold on to and few ever look at lies closely packed so, shares nothing with anything, and is thrown away
/// at once.
#[derive(Clone, Debug, Default)]
pub struct Log {
    bytes: Vec<u8>,
    words: Vec<&'static str>,
}

/// A place in a [`Log`], to read from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    byte: u32,
    word: u32,
}

/// What a [`Log`] can keep.
pub trait Logged {
    fn write(&self, log: &mut Log);
    fn read(from: &mut LogReader<'_>) -> Self;

    /// Whether it may be that nothing led to it.
    fn may_begin(&self) -> bool {
        true
    }
}

impl Log {
    /// Seven bits a byte, the lowest first.
    pub fn number(&mut self, number: u64) {
        match u8::try_from(number) {
            Ok(small @ 0..0x80) => self.bytes.push(small),
            _ => self.large(number),
        }
    }

    #[inline(never)]
    fn large(&mut self, mut number: u64) {
        while number > 0x7f {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    pub fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// A text of the program's own, which need not be copied.
    pub fn word(&mut self, word: &'static str) {
        self.words.push(word);
    }

    /// Where the next value will be.
    pub fn end(&self) -> Place {
        let len = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        Place { byte: len(self.bytes.len()), word: len(self.words.len()) }
    }

    pub fn read_from(&self, place: Place) -> LogReader<'_> {
        LogReader {
            bytes: self.bytes.get(place.byte as usize..).unwrap_or_default(),
            words: self.words.get(place.word as usize..).unwrap_or_default(),
        }
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.words.clear();
    }
}

/// Reads what was written, in the same order. Past the end there are zeros and empty texts.
pub struct LogReader<'a> {
    bytes: &'a [u8],
    words: &'a [&'static str],
}

impl<'a> LogReader<'a> {
    pub fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        while let Some((byte, rest)) = self.bytes.split_first() {
            self.bytes = rest;
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if *byte < 0x80 || shift > 63 {
                break;
            }
        }
        number
    }

    pub fn text(&mut self) -> &'a str {
        let len = self.number() as usize;
        let Some((text, rest)) = self.bytes.split_at_checked(len) else { return "" };
        self.bytes = rest;
        std::str::from_utf8(text).unwrap_or_default()
    }

    pub fn word(&mut self) -> &'static str {
        let Some((word, rest)) = self.words.split_first() else { return "" };
        self.words = rest;
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_in_the_same_order() {
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX, -1_i64 as u64];
        let mut log = Log::default();
        log.text("before");
        let place = log.end();
        log.word("program");
        numbers.iter().for_each(|number| log.number(*number));
        log.text("é and more");
        let mut reader = log.read_from(place);
        assert_eq!(reader.word(), "program");
        assert_eq!(numbers.map(|_| reader.number()), numbers);
        assert_eq!((reader.text(), reader.text(), reader.number(), reader.word()), ("é and more", "", 0, ""));
    }
}
