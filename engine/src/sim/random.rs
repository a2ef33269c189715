use oorandom::Rand64;

use super::Digest;

/// Seeded random numbers with a stream of its own for each use, so that one more draw here does not shift another.
#[derive(Clone, Debug)]
pub struct Random {
    seed: u64,
    streams: Vec<(&'static str, Rand64)>,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self { seed, streams: Vec::new() }
    }

    fn stream(&mut self, name: &'static str) -> &mut Rand64 {
        let at = self.streams.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            let mut digest = Digest::default();
            digest.bytes(name.as_bytes());
            let seed = u128::from(self.seed) << 64 | u128::from(digest.value());
            self.streams.push((name, Rand64::new(seed)));
            self.streams.len() - 1
        });
        &mut self.streams[at].1
    }

    /// A number below `bound`; 0 where that is 0.
    pub fn below(&mut self, name: &'static str, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.stream(name).rand_u64() % bound }
    }

    pub fn bits128(&mut self, name: &'static str) -> u128 {
        let stream = self.stream(name);
        u128::from(stream.rand_u64()) << 64 | u128::from(stream.rand_u64())
    }
}
