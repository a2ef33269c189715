//! Links: `1.` and the version's payload, letters of an address only.
//!
//! Version 1 is `1.<bytes>.<sum>`: a moment's text, compressed as raw deflate, as base64url without padding, and the sum
//! of the text as eleven letters more. Whoever compresses is given and gives bytes, since a browser does that by itself.

use super::{Bad, Fault, MOST_BYTES, VERSION};
use crate::sim::Digest;

/// Letters from which on some programs cut links.
pub const LONG_LINK: usize = 2_000;
/// Letters from which on a file is the better way.
pub const MOST_IN_LINK: usize = 8_000;
/// Letters of a link that is read.
pub const LONGEST_LINK: usize = 200_000;

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// Letters of a sum: 64 bits.
const SUM_LETTERS: usize = 11;
const WHAT: &str = "This link";

pub(super) fn sum(text: &str) -> u64 {
    let mut digest = Digest::default();
    digest.bytes(text.as_bytes());
    digest.value()
}

fn to_letters(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 4 / 3 + 2);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..=chunk.len() {
            let letter = bits >> (18 - 6 * at) & 63;
            text.push(char::from(LETTERS[letter as usize]));
        }
    }
    text
}

fn from_letters(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut n) = (0_u32, 0);
    for letter in text.bytes() {
        let value = LETTERS.iter().position(|it| *it == letter)? as u32;
        (bits, n) = (bits << 6 | value, n + 6);
        if n >= 8 {
            n -= 8;
            bytes.push((bits >> n) as u8);
        }
    }
    Some(bytes)
}

/// Whether the part of an address after its `#` looks like a link of ours rather than the name of a place on the page.
pub fn is_link(hash: &str) -> bool {
    hash.split_once('.')
        .is_some_and(|(version, _)| !version.is_empty() && version.bytes().all(|it| it.is_ascii_digit()))
}

/// The link to a moment: its text, and that text compressed.
pub fn pack(text: &str, deflated: &[u8]) -> String {
    let version = VERSION.to_string();
    [version.as_str(), ".", &to_letters(deflated), ".", &to_letters(&sum(text).to_be_bytes())].concat()
}

/// What is to be inflated, and the sum of what should come out, for [`unpack`].
///
/// # Errors
/// What is wrong with the link, as far as that can be seen from outside.
pub fn packed(hash: &str) -> Result<(Vec<u8>, u64), Bad> {
    let Some((version, rest)) = hash.split_once('.').filter(|_| is_link(hash)) else { return Err(Bad::not_ours()) };
    match version.parse::<u32>() {
        Ok(0) => return Err(Bad::not_ours()),
        Ok(version) if version <= VERSION => {}
        other => return Err(Bad::newer(WHAT, other.unwrap_or(u32::MAX))),
    }
    if hash.len() > LONGEST_LINK {
        return Err(Bad::too_large(WHAT, hash.len(), LONGEST_LINK));
    }
    let Some((bytes, sum)) = rest.split_once('.') else { return Err(Bad::truncated(WHAT)) };
    if sum.len() < SUM_LETTERS {
        return Err(Bad::truncated(WHAT));
    }
    let sum = from_letters(sum).and_then(|it| it.try_into().ok()).map(u64::from_be_bytes);
    match (from_letters(bytes), sum) {
        (Some(bytes), Some(sum)) => Ok((bytes, sum)),
        _ => Err(Bad::changed(WHAT)),
    }
}

/// The text that came out, if it is the one that went in: nothing where inflating failed, and no more than
/// [`MOST_BYTES`] and one of it.
///
/// # Errors
/// That it is not.
pub fn unpack(inflated: Option<Vec<u8>>, of: u64) -> Result<String, Bad> {
    if inflated.as_ref().is_some_and(|it| it.len() > MOST_BYTES) {
        return Err(Bad::new(
            Fault::TooLarge,
            &[WHAT, " holds more than ", &(MOST_BYTES / 1024).to_string(), " kB. No link that Loopscope writes does."],
        ));
    }
    let text = inflated.and_then(|bytes| String::from_utf8(bytes).ok());
    text.filter(|text| sum(text) == of).ok_or_else(|| Bad::changed(WHAT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn letters_are_those_of_rfc_4648() {
        for (bytes, letters) in [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(to_letters(bytes.as_bytes()), letters);
        }
        assert_eq!(to_letters(&[0xfb, 0xff]), "-_8");
    }

    #[test]
    fn names_of_places_are_no_links() {
        assert!(["1.abc.def", "22."].into_iter().all(is_link));
        assert!(!["", "map", "h-insp", "1", ".1", "1a.b", "v1.2"].into_iter().any(is_link));
    }

    proptest! {
        #[test]
        fn bytes_are_read_as_they_were_written(bytes in prop::collection::vec(any::<u8>(), 0..50)) {
            prop_assert_eq!(from_letters(&to_letters(&bytes)), Some(bytes));
        }
    }
}
