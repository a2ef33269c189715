//! Where everything of a crowd is, in device pixels.

use loopscope_engine::view::Crowd;

/// From so many pods on, cells are smaller; the table says the same there.
const MANY: [usize; 2] = [2_000, 5_000];
/// Sides of a cell and of the shape in it, in sixteenths of the page's letter size.
const CELLS: [(f64, f64); 3] = [(24.0, 12.0), (18.0, 12.0), (12.0, 9.0)];

/// Which of the sizes so many pods have, where they had `old`: larger ones only once the pods are clearly fewer.
pub fn density(n_pods: usize, old: usize) -> usize {
    let of = |n: usize| MANY.iter().filter(|many| n >= **many).count();
    of(n_pods).max(of(n_pods + n_pods / 4).min(old))
}

/// How large things are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sizes {
    pub width: i32,
    /// A pod's cell, and the shape in it.
    pub cell: i32,
    pub tile: i32,
    /// The height of a heading, the shapes in it, and its letters.
    pub head: i32,
    pub icon: i32,
    pub letter: i32,
    /// Inside a card, and between two.
    pub pad: i32,
    pub gap: i32,
    /// A card is at least so wide.
    pub least: i32,
    /// A line of the page.
    pub line: i32,
}

impl Sizes {
    /// `unit` is a sixteenth of the page's letter size in device pixels.
    pub fn new(width: i32, unit: f64, density: usize) -> Self {
        let px = |n: f64| (n * unit).round() as i32;
        let (cell, tile) = CELLS[density.min(CELLS.len() - 1)];
        Self {
            width,
            cell: px(cell),
            tile: px(tile),
            head: px(24.0),
            icon: px(12.0),
            letter: px(11.0),
            pad: px(4.0),
            gap: px(8.0),
            least: px(144.0),
            line: px(1.0).max(1),
        }
    }
}

/// A heading with the cells of its pods.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Card {
    pub x: i32,
    pub y: i32,
    pub width: i32,
    pub height: i32,
    /// Cells in a row.
    pub columns: usize,
    pub rows: usize,
}

/// A pod's place: which flock, and which of its pods.
pub type Place = (usize, usize);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    pub sizes: Sizes,
    pub cards: Vec<Card>,
    pub height: i32,
}

/// x, y, width, height.
pub type Rect = [i32; 4];

impl Grid {
    /// Cards side by side; what has no node goes below, over the whole width.
    ///
    /// Rows of cards stay as high as they were in `old`, so that nothing jumps while pods come and go.
    pub fn new(sizes: Sizes, crowd: &Crowd, old: &Grid) -> Self {
        let n_cards = crowd.flocks.iter().filter(|it| it.key.is_some()).count() as i32;
        let n_columns = ((sizes.width + sizes.gap) / (sizes.least + sizes.gap)).min(n_cards).max(1) as usize;
        let shared = (sizes.width - sizes.gap * (n_columns as i32 - 1)) / n_columns as i32;
        let is_same = old.sizes == sizes && old.cards.len() == crowd.flocks.len();
        let mut grid = Grid { sizes, cards: Vec::new(), height: 0 };
        let mut flocks = crowd.flocks.as_slice();
        while let Some(first) = flocks.first() {
            let n = flocks.iter().take(n_columns).take_while(|it| it.key.is_some()).count().max(1);
            let width = if first.key.is_some() { shared } else { sizes.width };
            let columns = ((width - 2 * sizes.pad) / sizes.cell.max(1)).max(1) as usize;
            let (row, rest) = flocks.split_at(n);
            flocks = rest;
            let needed = row.iter().map(|it| it.pods.len().div_ceil(columns)).max().unwrap_or(0).max(1);
            let kept = old.cards.get(grid.cards.len()).filter(|_| is_same).map_or(0, |card| card.rows);
            let rows = needed.max(kept);
            let height = sizes.head + sizes.pad + rows as i32 * sizes.cell;
            for index in 0..n as i32 {
                let x = index * (shared + sizes.gap);
                grid.cards.push(Card { x, y: grid.height, width, height, columns, rows });
            }
            grid.height += height + sizes.gap;
        }
        grid
    }

    /// All pods have a cell.
    pub fn fits(&self, crowd: &Crowd) -> bool {
        let has_room = |(card, n): (&Card, usize)| n <= card.rows * card.columns;
        self.cards.len() == crowd.flocks.len()
            && self.cards.iter().zip(crowd.flocks.iter().map(|it| it.pods.len())).all(has_room)
    }

    pub fn cell(&self, (flock, at): Place) -> Option<Rect> {
        let card = self.cards.get(flock)?;
        let size = self.sizes.cell;
        // The cells stand in the middle of their card.
        let margin = (card.width - size * card.columns as i32) / 2;
        let (column, row) = ((at % card.columns) as i32, (at / card.columns) as i32);
        Some([card.x + margin + column * size, card.y + self.sizes.head + row * size, size, size])
    }

    pub fn heading(&self, flock: usize) -> Option<Rect> {
        let card = self.cards.get(flock)?;
        Some([card.x, card.y, card.width, self.sizes.head])
    }

    /// What is at a point: a flock, and a cell of it, or its heading.
    pub fn hit(&self, x: i32, y: i32) -> Option<(usize, Option<usize>)> {
        let is_in =
            |card: &Card| (card.x..card.x + card.width).contains(&x) && (card.y..card.y + card.height).contains(&y);
        let flock = self.cards.iter().position(is_in)?;
        let card = self.cards.get(flock)?;
        let [left, top, size, _] = self.cell((flock, 0))?;
        if y < top {
            return Some((flock, None));
        }
        let (column, row) = ((x - left).div_euclid(size), (y - top) / size);
        let column = usize::try_from(column).ok().filter(|column| *column < card.columns)?;
        Some((flock, Some(row as usize * card.columns + column)))
    }

    /// Where a key leads to from a pod.
    pub fn step(&self, crowd: &Crowd, (flock, at): Place, key: &str) -> Option<Place> {
        let n = |flock: usize| crowd.flocks.get(flock).map_or(0, |it| it.pods.len());
        let has_pods = |flock: &usize| n(*flock) > 0;
        let after = || (flock + 1..crowd.flocks.len()).find(has_pods);
        let before = || (0..flock).rev().find(has_pods);
        match key {
            "ArrowRight" if at + 1 < n(flock) => Some((flock, at + 1)),
            "ArrowRight" => Some((after()?, 0)),
            "ArrowLeft" if at > 0 => Some((flock, at - 1)),
            "ArrowLeft" => before().map(|to| (to, n(to) - 1)),
            "ArrowDown" | "ArrowUp" => self.beside(crowd, (flock, at), key == "ArrowDown"),
            "PageDown" => Some((after()?, 0)),
            "PageUp" => Some((before()?, 0)),
            "Home" => (0..crowd.flocks.len()).find(has_pods).map(|to| (to, 0)),
            "End" => (0..crowd.flocks.len()).rev().find(has_pods).map(|to| (to, n(to) - 1)),
            _ => None,
        }
    }

    /// The nearest pod straight below or above.
    fn beside(&self, crowd: &Crowd, (flock, at): Place, is_down: bool) -> Option<Place> {
        let card = self.cards.get(flock)?;
        let n = crowd.flocks.get(flock)?.pods.len();
        match is_down {
            true if at + card.columns < n => return Some((flock, at + card.columns)),
            false if at >= card.columns => return Some((flock, at - card.columns)),
            _ => {}
        }
        let [x, ..] = self.cell((flock, at))?;
        let all = self.cards.iter().enumerate();
        let ahead = all.filter(|(to, it)| {
            let is_ahead = if is_down { it.y > card.y } else { it.y < card.y };
            is_ahead && (it.x..it.x + it.width).contains(&x) && !crowd.flocks[*to].pods.is_empty()
        });
        let (to, there) = if is_down { ahead.min_by_key(|(_, it)| it.y) } else { ahead.max_by_key(|(_, it)| it.y) }?;
        let last = crowd.flocks.get(to)?.pods.len() - 1;
        let [left, ..] = self.cell((to, 0))?;
        let column =
            ((x - left + self.sizes.cell / 2) / self.sizes.cell.max(1)).clamp(0, there.columns as i32 - 1) as usize;
        let row = if is_down { 0 } else { last / there.columns };
        Some((to, (row * there.columns + column).min(last)))
    }
}
