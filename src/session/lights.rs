use loopscope_engine::view::{LoopRow, Phase, SimpleView};

/// The shortest time in wall ms that a lit phase stays lit while playing, so that it can be seen.
const LIT_MS: f64 = 350.0;

#[derive(Default)]
struct Held {
    /// Trace events the cells were last filled from.
    seen: [u64; 3],
    until: [f64; 3],
}

impl Held {
    fn lit(&mut self, seqs: [u64; 3], phase: Option<Phase>, wall: f64, playing: bool) -> [bool; 3] {
        let under_way = [0, 1, 2].map(|index| phase.is_some_and(|phase| phase as usize == index));
        for index in 0..3 {
            if playing && (seqs[index] > self.seen[index] || under_way[index]) {
                self.until[index] = self.until[index].max(wall + LIT_MS);
            }
            if !playing {
                self.until[index] = 0.0;
            }
            self.seen[index] = self.seen[index].max(seqs[index]);
        }
        [0, 1, 2].map(|index| under_way[index] || self.until[index] > wall)
    }
}

/// Remembers which phases ran between two frames. Only trace events light anything.
#[derive(Default)]
pub struct Lights {
    rows: Vec<Option<Held>>,
    code: Held,
}

impl Lights {
    /// Which phases of a row shine now.
    pub fn lit(&mut self, row: &LoopRow, wall: f64, playing: bool) -> [bool; 3] {
        let seqs = [0, 1, 2].map(|index| row.cells[index].as_ref().map_or(0, |cell| cell.seq));
        let at = row.id.0 as usize;
        if self.rows.len() <= at {
            self.rows.resize_with(at + 1, || None);
        }
        let held = self.rows[at].get_or_insert(Held { seen: seqs, until: [0.0; 3] });
        held.lit(seqs, row.lit, wall, playing)
    }

    /// Which phases of the simple view's loop shine in its code.
    pub fn of_code(&mut self, simple: &SimpleView, wall: f64, playing: bool) -> [bool; 3] {
        self.code.lit(simple.seqs, simple.lit, wall, playing)
    }
}
