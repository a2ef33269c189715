use loopscope_engine::view::LoopRow;

/// The shortest time in wall ms that a lit phase stays lit while playing, so that it can be seen.
const LIT_MS: f64 = 350.0;

#[derive(Default)]
struct Held {
    /// Trace events the cells were last filled from.
    seen: [u64; 3],
    until: [f64; 3],
}

/// Remembers which phases ran between two frames. Only trace events light anything.
#[derive(Default)]
pub struct Lights(Vec<Option<Held>>);

impl Lights {
    /// Which phases of a row shine now.
    pub fn lit(&mut self, row: &LoopRow, wall: f64, playing: bool) -> [bool; 3] {
        let seqs = [0, 1, 2].map(|index| row.cells[index].as_ref().map_or(0, |cell| cell.seq));
        let at = row.id.0 as usize;
        if self.0.len() <= at {
            self.0.resize_with(at + 1, || None);
        }
        let is_new = self.0[at].is_none();
        let held = self.0[at].get_or_insert_with(Held::default);
        let under_way = [0, 1, 2].map(|index| row.lit.is_some_and(|phase| phase as usize == index));
        for index in 0..3 {
            let ran = seqs[index] > held.seen[index] && !is_new;
            if playing && (ran || under_way[index]) {
                held.until[index] = held.until[index].max(wall + LIT_MS);
            }
            if !playing {
                held.until[index] = 0.0;
            }
            held.seen[index] = held.seen[index].max(seqs[index]);
        }
        [0, 1, 2].map(|index| under_way[index] || held.until[index] > wall)
    }
}
