//! Draws a crowd, and of it only what has changed and can be seen.

use loopscope_engine::view::{Counts, Crowd, Flock, NodeClass, PodClass};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, HtmlElement};

use super::grid::{Card, Grid, Sizes, density};
use super::look::{Colors, Sheet};
use crate::platform;

/// The canvas reaches so much further than what is seen, in CSS pixels, so that scrolling seldom moves it.
const AHEAD: f64 = 240.0;
/// Shapes in a heading: the worst states.
const MOST_COUNTS: usize = 2;

/// What a card shows now.
#[derive(Default)]
struct Shown {
    /// The node's state and the worst states of its pods; without them nothing is there.
    head: Option<(Option<NodeClass>, Counts)>,
    /// Where the name ends.
    name_end: i32,
    /// The class of each cell by its number, from 1; 0 is an empty cell.
    cells: Vec<u8>,
}

#[derive(Default)]
pub struct Painter {
    pub grid: Grid,
    pub colors: Colors,
    sheet: Option<Sheet>,
    shown: Vec<Shown>,
    density: usize,
    /// Device pixels in a CSS pixel.
    ratio: f64,
    /// The canvas knows its letters: setting them anew makes the browser lay out the page.
    has_letters: bool,
    /// The part of the grid that is on the canvas.
    top: i32,
    height: i32,
}

impl Painter {
    /// A point of the box, in CSS pixels, as one of the grid.
    pub fn at(&self, x: i32, y: i32) -> (i32, i32) {
        ((f64::from(x) * self.ratio) as i32, (f64::from(y) * self.ratio) as i32)
    }

    pub fn css(&self, device: i32) -> f64 {
        if self.ratio > 0.0 { f64::from(device) / self.ratio } else { 0.0 }
    }

    pub fn set_sheet(&mut self, sheet: Sheet) {
        self.sheet = Some(sheet);
        self.forget();
    }

    /// Everything has to be drawn again.
    pub fn forget(&mut self) {
        self.shown.clear();
    }

    /// Looks how large things are to be; says whether that, or the colours, have changed.
    pub fn measure(&mut self, field: &HtmlElement, probe: &HtmlElement, crowd: &Crowd) -> bool {
        let Some(window) = web_sys::window() else { return false };
        let width = field.client_width();
        if width == 0 {
            return false;
        }
        self.ratio = window.device_pixel_ratio();
        self.density = density(crowd.n_pods(), self.density);
        let sizes =
            Sizes::new((f64::from(width) * self.ratio) as i32, platform::rem() / 16.0 * self.ratio, self.density);
        let colors = Colors::read(probe).unwrap_or_default();
        if sizes == self.grid.sizes && colors == self.colors {
            return false;
        }
        self.grid = Grid { sizes, ..Grid::default() };
        self.colors = colors;
        self.has_letters = false;
        self.forget();
        true
    }

    /// There are so many more or fewer pods that their size changes.
    pub fn is_outgrown(&self, crowd: &Crowd) -> bool {
        density(crowd.n_pods(), self.density) != self.density
    }

    /// Gives every pod a place. Says whether the height of it all has changed.
    pub fn arrange(&mut self, field: &HtmlElement, crowd: &Crowd) -> bool {
        let sizes = self.grid.sizes;
        if sizes.width == 0 {
            return false;
        }
        let mut grid = Grid::new(sizes, crowd, &Grid::default());
        let is_roomy = 3 * grid.height < 2 * self.grid.height;
        if self.grid.fits(crowd) && !is_roomy {
            return false;
        }
        if !is_roomy {
            grid = Grid::new(sizes, crowd, &self.grid);
        }
        self.shown.clear();
        let is_higher = grid.height != self.grid.height;
        self.grid = grid;
        if is_higher {
            let _ = field.style().set_property("block-size", &px(self.css(self.grid.height)));
        }
        is_higher
    }

    /// Moves the canvas to what can be seen, if it does not cover that.
    pub fn place(&mut self, field: &HtmlElement, canvas: &HtmlCanvasElement) {
        let window = web_sys::window().and_then(|it| it.inner_height().ok()).and_then(|it| it.as_f64()).unwrap_or(0.0);
        let from = -field.get_bounding_client_rect().top();
        let device = |css: f64| (css * self.ratio) as i32;
        let all = self.grid.height;
        let (first, last) = (device(from).clamp(0, all), device(from + window).clamp(0, all));
        let height = device(window + 2.0 * AHEAD).min(all);
        let width = self.grid.sizes.width;
        let is_right = (canvas.width(), canvas.height()) == (width as u32, height as u32);
        if is_right && first >= self.top && last <= self.top + self.height {
            return;
        }
        self.top = (first - device(AHEAD)).clamp(0, all - height);
        self.height = height;
        self.shown.clear();
        self.has_letters = false;
        canvas.set_width(width as u32);
        canvas.set_height(height as u32);
        let style = canvas.style();
        for (name, value) in [("inline-size", width), ("block-size", height), ("inset-block-start", self.top)] {
            let _ = style.set_property(name, &px(self.css(value)));
        }
    }

    /// Brings the canvas up to date.
    pub fn draw(&mut self, canvas: &HtmlCanvasElement, crowd: &Crowd) {
        let (Some(sheet), Some(pen)) = (&self.sheet, platform::pen(canvas)) else { return };
        if self.shown.len() != self.grid.cards.len() {
            pen.clear_rect(0.0, 0.0, f64::from(canvas.width()), f64::from(canvas.height()));
            self.shown.clear();
            self.shown.resize_with(self.grid.cards.len(), Shown::default);
        }
        let brush = Brush { pen: &pen, sheet, sizes: self.grid.sizes, colors: &self.colors };
        if !std::mem::replace(&mut self.has_letters, true) {
            brush.begin();
        }
        let (first, last) = (self.top, self.top + self.height);
        for (index, (flock, shown)) in crowd.flocks.iter().zip(&mut self.shown).enumerate() {
            let Some(card) = self.grid.cards.get(index) else { return };
            if card.y + card.height < first || card.y > last {
                continue;
            }
            let here = Card { y: card.y - self.top, ..*card };
            let worst = || flock.counts.iter().copied().take(MOST_COUNTS);
            let is_same = shown
                .head
                .as_ref()
                .is_some_and(|(class, counts)| *class == flock.class && worst().eq(counts.iter().copied()));
            if !is_same {
                if shown.head.as_ref().is_none_or(|(class, _)| *class != flock.class) {
                    brush.frame(here, flock);
                    shown.name_end = brush.name(here, flock);
                    shown.cells.clear();
                }
                brush.counts(here, flock, shown.name_end);
                shown.head = Some((flock.class, worst().collect()));
            }
            let Some([left, top, ..]) = self.grid.cell((index, 0)) else { return };
            brush.cells(flock, &mut shown.cells, card.columns, left, top - self.top);
        }
    }
}

pub fn px(n: f64) -> String {
    [n.to_string().as_str(), "px"].concat()
}

struct Brush<'a> {
    pen: &'a CanvasRenderingContext2d,
    sheet: &'a Sheet,
    sizes: Sizes,
    colors: &'a Colors,
}

impl Brush<'_> {
    fn begin(&self) {
        self.pen.set_text_baseline("middle");
        self.pen.set_font(&["600 ", &px(f64::from(self.sizes.letter)), " ", &self.colors.family].concat());
    }

    fn clear(&self, x: i32, y: i32, width: i32, height: i32) {
        self.pen.clear_rect(f64::from(x), f64::from(y), f64::from(width), f64::from(height));
    }

    fn cells(&self, flock: &Flock, shown: &mut Vec<u8>, columns: usize, left: i32, top: i32) {
        let size = self.sizes.cell;
        let margin = (size - self.sizes.tile) / 2;
        shown.resize(shown.len().max(flock.pods.len()), 0);
        for (at, old) in shown.iter_mut().enumerate() {
            let new = flock.pods.get(at).map_or(0, |dot| dot.class as u8 + 1);
            if *old == new {
                continue;
            }
            let (x, y) = (left + (at % columns) as i32 * size, top + (at / columns) as i32 * size);
            if *old != 0 {
                self.clear(x, y, size, size);
            }
            if new != 0 {
                self.sheet.tile(self.pen, usize::from(new - 1), x + margin, y + margin);
            }
            *old = new;
        }
    }

    /// A card's border: dashed where the node is not heard, double where it is cordoned, dotted where there is none.
    fn frame(&self, card: Card, flock: &Flock) {
        self.clear(card.x, card.y, card.width, card.height);
        let line = f64::from(self.sizes.line);
        let (color, dashes) = match flock.class {
            Some(NodeClass::Unreachable) => (&self.colors.edge, Some(4.0 * line)),
            None if flock.key.is_none() => (&self.colors.edge, Some(line)),
            Some(NodeClass::Cordoned) => (&self.colors.edge, None),
            _ => (&self.colors.rule, None),
        };
        self.pen.set_stroke_style_str(color);
        self.pen.set_line_width(line);
        let pattern = js_sys::Array::new();
        if let Some(length) = dashes {
            pattern.push(&length.into());
            pattern.push(&length.into());
        }
        let _ = self.pen.set_line_dash(&pattern);
        let frame = |inset: f64| {
            let (x, y) = (f64::from(card.x) + inset, f64::from(card.y) + inset);
            self.pen.stroke_rect(x, y, f64::from(card.width) - 2.0 * inset, f64::from(card.height) - 2.0 * inset);
        };
        frame(line / 2.0);
        if flock.class == Some(NodeClass::Cordoned) {
            frame(line * 2.5);
        }
    }

    /// The name and the node's state; says where they end.
    fn name(&self, card: Card, flock: &Flock) -> i32 {
        let Sizes { icon, pad, .. } = self.sizes;
        let name = match &flock.key {
            None => "No node",
            // Bare pods, of those that are grouped by owner.
            Some(key) if key.name.is_empty() => "No owner",
            Some(key) => key.name.as_str(),
        };
        let left = card.x + 2 * pad;
        // A count of two digits has to fit beside it, and mostly a second one does.
        let shape = flock.class.map_or(0, |_| icon + pad);
        let (text, width) = self.fitted(name, card.width - 5 * pad - shape - self.room_of(2));
        let (middle, shape_y) = self.middle(card);
        self.pen.set_fill_style_str(&self.colors.ink);
        let _ = self.pen.fill_text(&text, f64::from(left), middle);
        if let Some(class) = flock.class {
            self.sheet.node(self.pen, class, left + width + pad, shape_y);
        }
        left + width + shape
    }

    /// The middle of a heading's letters, and the upper edge of its shapes.
    fn middle(&self, card: Card) -> (f64, i32) {
        let Sizes { head, icon, line, .. } = self.sizes;
        (f64::from(card.y + (head + line) / 2), card.y + (head + line - icon) / 2)
    }

    /// What a shape with a number of so many digits takes.
    fn room_of(&self, digits: i32) -> i32 {
        let Sizes { icon, pad, letter, .. } = self.sizes;
        icon + pad / 2 + digits * letter * 7 / 10
    }

    /// How many are in the worst states, as far as there is room.
    fn counts(&self, card: Card, flock: &Flock, name_end: i32) {
        let Sizes { head, icon, pad, line, .. } = self.sizes;
        let end = card.x + card.width;
        let inset = 3 * line;
        self.clear(name_end, card.y + inset, end - inset - name_end, head - inset);
        let (middle, shape_y) = self.middle(card);
        self.pen.set_fill_style_str(&self.colors.faint);
        let mut texts: Vec<_> =
            flock.counts.iter().take(MOST_COUNTS).map(|(class, n)| (*class, n.to_string())).collect();
        let room =
            |texts: &[(PodClass, String)]| texts.iter().map(|(_, n)| self.room_of(n.len() as i32) + pad).sum::<i32>();
        while texts.len() > 1 && name_end + room(&texts) + pad > end {
            texts.pop();
        }
        let mut left = end - pad - room(&texts);
        for (class, n) in &texts {
            self.sheet.icon(self.pen, *class, left, shape_y);
            let _ = self.pen.fill_text(n, f64::from(left + icon + pad / 2), middle);
            left += self.room_of(n.len() as i32) + pad;
        }
    }

    fn width_of(&self, text: &str) -> i32 {
        self.pen.measure_text(text).map_or(0.0, |it| it.width()).ceil() as i32
    }

    /// The text, or as much of it as there is room for, and its width.
    fn fitted(&self, text: &str, room: i32) -> (String, i32) {
        let mut shown = text.to_owned();
        let mut kept = text.chars().count();
        loop {
            let width = self.width_of(&shown);
            if width <= room || kept == 0 {
                return (shown, width);
            }
            kept -= 1;
            shown = text.chars().take(kept).chain(['…']).collect();
        }
    }
}
