/// Values written one after the other as bytes, to be read in the same order.
///
/// What many hold on to and few ever look at lies closely packed so, shares nothing with anything, and is thrown away
/// at once. A text that was written before is not written again: most events name what those before them named.
#[derive(Clone, Debug, Default)]
pub struct Log {
    bytes: Vec<u8>,
    words: Vec<&'static str>,
    /// Where a text with some sum was last written, counted from 1; and after these, which word had some address. They
    /// only make the log smaller.
    seen: Vec<u32>,
}

/// Sums of texts, and as many of addresses of words.
const SUMS: usize = 128;

/// A place in a [`Log`], to read from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place(u32);

/// What a [`Log`] can keep.
pub trait Logged {
    fn write(&self, log: &mut Log);
    fn read(from: &mut LogReader<'_>) -> Self;

    /// Whether it may be that nothing led to it.
    fn may_begin(&self) -> bool {
        true
    }
}

/// A number from 0 to one below [`SUMS`].
fn spread(number: u64) -> usize {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 57) as usize
}

/// Siblings' names differ at their end.
fn sum(text: &[u8]) -> usize {
    let tail = text
        .last_chunk::<8>()
        .map_or_else(|| text.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)), |tail| u64::from_le_bytes(*tail));
    spread(tail ^ text.len() as u64)
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

    fn seen(&mut self, at: usize) -> &mut u32 {
        if self.seen.is_empty() {
            self.seen = vec![0; 2 * SUMS];
        }
        &mut self.seen[at]
    }

    pub fn text(&mut self, text: &str) {
        // Its length takes one byte, or it is one of the long ones, of which hardly any come twice.
        let head = u8::try_from(text.len() * 2).unwrap_or(u8::MAX);
        if head < 0x80 && text.len() > 1 {
            let (here, sum) = (self.bytes.len(), sum(text.as_bytes()));
            let known = self.seen(sum);
            let at = std::mem::replace(known, here as u32 + 1) as usize;
            let is_same = |bytes: &[u8]| bytes[0] == head && bytes[1..] == *text.as_bytes();
            if at > 0 && self.bytes.get(at - 1..at + text.len()).is_some_and(is_same) {
                *self.seen(sum) = at as u32;
                // Odd: how far back it is.
                self.number((here + 1 - at) as u64 * 2 + 1);
                return;
            }
        }
        self.number(text.len() as u64 * 2);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// A text of the program's own, which need not be copied.
    pub fn word(&mut self, word: &'static str) {
        let sum = SUMS + spread(word.as_ptr() as u64 ^ (word.len() as u64) << 48);
        let known = *self.seen(sum);
        let is_same = |known: &u32| {
            let other = (*known as usize).checked_sub(1).and_then(|at| self.words.get(at));
            other.is_some_and(|other| std::ptr::eq(*other, word))
        };
        let number = Some(known).filter(is_same).unwrap_or_else(|| {
            self.words.push(word);
            u32::try_from(self.words.len()).unwrap_or(0)
        });
        *self.seen(sum) = number;
        self.number(number.into());
    }

    /// Where the next value will be.
    pub fn end(&self) -> Place {
        Place(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX))
    }

    pub fn read_from(&self, place: Place) -> LogReader<'_> {
        LogReader { log: self, at: place.0 as usize }
    }

    /// Nothing is going to be added: lets go of what only writing needs.
    pub fn close(&mut self) {
        self.seen = Vec::new();
        self.bytes.shrink_to_fit();
        self.words.shrink_to_fit();
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.words.clear();
        self.seen.clear();
    }
}

/// Reads what was written, in the same order. Past the end there are zeros and empty texts.
pub struct LogReader<'a> {
    log: &'a Log,
    at: usize,
}

impl<'a> LogReader<'a> {
    pub fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        while let Some(byte) = self.log.bytes.get(self.at) {
            self.at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if *byte < 0x80 || shift > 63 {
                break;
            }
        }
        number
    }

    pub fn text(&mut self) -> &'a str {
        let here = self.at;
        let number = self.number();
        let half = (number / 2) as usize;
        if number % 2 == 1 {
            // What lies further back is never a reference itself.
            let back = here.checked_sub(half).filter(|_| half > 0);
            return back.map_or("", |at| LogReader { log: self.log, at }.text());
        }
        let text = self.at.checked_add(half).and_then(|end| self.log.bytes.get(self.at..end));
        self.at += text.map_or(0, <[u8]>::len);
        text.and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
    }

    pub fn word(&mut self) -> &'static str {
        let number = self.number() as usize;
        number.checked_sub(1).and_then(|at| self.log.words.get(at)).copied().unwrap_or_default()
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
        let long = log.bytes.len();
        log.text("é and more");
        log.word("program");
        assert!(log.bytes.len() <= long + 4, "written once");
        log.close();
        let mut reader = log.read_from(place);
        assert_eq!(reader.word(), "program");
        assert_eq!(numbers.map(|_| reader.number()), numbers);
        assert_eq!((reader.text(), reader.text(), reader.word()), ("é and more", "é and more", "program"));
        assert_eq!((reader.text(), reader.number(), reader.word()), ("", 0, ""));
    }
}
