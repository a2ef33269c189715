use std::hash::Hasher;

/// FNV-1a with 64 bits, the same on every platform: sizes count as 64 bits wherever they have fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    pub fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    pub fn value(self) -> u64 {
        self.0
    }
}

/// What a trace's events add up to, the same on every platform: eight bytes at a time, since all that happens goes
/// through it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceDigest(u64);

impl TraceDigest {
    fn word(&mut self, word: u64) {
        let mixed = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 29;
    }

    pub fn value(self) -> u64 {
        self.0
    }
}

macro_rules! words {
    ($($name:ident $type:ty;)*) => {
        impl Hasher for TraceDigest {
            fn finish(&self) -> u64 {
                self.0
            }

            fn write(&mut self, bytes: &[u8]) {
                let (words, rest) = bytes.as_chunks::<8>();
                for word in words {
                    self.word(u64::from_le_bytes(*word));
                }
                if !rest.is_empty() {
                    let mut word = [0; 8];
                    word[..rest.len()].copy_from_slice(rest);
                    word[7] = rest.len() as u8;
                    self.word(u64::from_le_bytes(word));
                }
            }

            $(fn $name(&mut self, value: $type) {
                self.word(value as u64);
            })*

            fn write_u128(&mut self, value: u128) {
                self.word(value as u64);
                self.word((value >> 64) as u64);
            }
        }
    };
}
words! {
    write_u8 u8; write_u16 u16; write_u32 u32; write_u64 u64; write_usize usize;
    write_i8 i8; write_i16 i16; write_i32 i32; write_i64 i64; write_isize isize;
}

impl Hasher for Digest {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.bytes(bytes);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.write_i64(value as i64);
    }
}

/// Sixteen digits: `00000000000000ff`.
pub fn hex(number: u64) -> String {
    let digit = |shift: u32| char::from_digit((number >> shift & 15) as u32, 16);
    (0..16).rev().filter_map(|at| digit(4 * at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::Hash;

    fn of(value: impl Hash) -> u64 {
        let mut digest = TraceDigest::default();
        value.hash(&mut digest);
        digest.value()
    }

    #[test]
    fn a_traces_digest_tells_texts_and_their_order_apart() {
        let all = [of(("ab", "c")), of(("a", "bc")), of(("c", "ab")), of(("abcdefgh", "")), of(("abcdefg", "h"))];
        for (at, digest) in all.iter().enumerate() {
            assert!(!all[..at].contains(digest), "{at}");
        }
        assert_eq!(of(7_u64), of(7_usize));
    }
}
