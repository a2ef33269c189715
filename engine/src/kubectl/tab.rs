//! Columns of text, as Go's `text/tabwriter` lays them out.

/// Lays out lines of cells that are ended by tabs: a column is as wide as its widest cell of neighbouring lines.
pub fn align(text: &str, min_width: usize, padding: usize) -> String {
    let (body, ends_open) = match text.strip_suffix('\n') {
        Some(body) => (body, false),
        None => (text, true),
    };
    let lines: Vec<Vec<&str>> = body.split('\n').map(|line| line.split('\t').collect()).collect();
    let mut layout = Layout { lines: &lines, widths: Vec::new(), min_width, padding, out: String::new() };
    layout.format(0, lines.len());
    if ends_open {
        layout.out.pop();
    }
    layout.out
}

/// As `kubectl describe` does.
pub fn describe(text: &str) -> String {
    align(text, 0, 2)
}

/// A table as `kubectl get` prints it; the widths that it has come to are kept for rows that follow.
#[derive(Clone, Debug, Default)]
pub struct Table {
    widths: Vec<usize>,
}

impl Table {
    pub fn print(&mut self, rows: &[Vec<String>]) -> String {
        for row in rows {
            for (index, cell) in row.iter().enumerate().take(row.len().saturating_sub(1)) {
                if self.widths.len() <= index {
                    self.widths.push(6);
                }
                self.widths[index] = self.widths[index].max(cell.chars().count() + 3);
            }
        }
        let mut out = String::new();
        for row in rows {
            for (index, cell) in row.iter().enumerate() {
                out += cell;
                if index + 1 < row.len() {
                    pad(&mut out, self.widths[index] - cell.chars().count());
                }
            }
            out.push('\n');
        }
        out
    }
}

fn pad(out: &mut String, count: usize) {
    for _ in 0..count {
        out.push(' ');
    }
}

struct Layout<'a> {
    lines: &'a [Vec<&'a str>],
    widths: Vec<usize>,
    min_width: usize,
    padding: usize,
    out: String,
}

impl Layout<'_> {
    fn format(&mut self, from: usize, to: usize) {
        let column = self.widths.len();
        let (mut from, mut at) = (from, from);
        while at < to {
            if column + 1 >= self.lines[at].len() {
                at += 1;
                continue;
            }
            self.write(from, at);
            from = at;
            let mut width = self.min_width;
            while at < to && column + 1 < self.lines[at].len() {
                width = width.max(self.lines[at][column].chars().count() + self.padding);
                at += 1;
            }
            self.widths.push(width);
            self.format(from, at);
            self.widths.pop();
            from = at;
        }
        self.write(from, to);
    }

    fn write(&mut self, from: usize, to: usize) {
        for line in &self.lines[from..to] {
            for (index, cell) in line.iter().enumerate() {
                self.out += cell;
                if let Some(width) = self.widths.get(index) {
                    pad(&mut self.out, width.saturating_sub(cell.chars().count()));
                }
            }
            self.out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_as_wide_as_its_neighbouring_cells() {
        let text = "Name:\tweb\nLabels:\tapp=web\n\ttier=a\nPod:\n  Image:\tx\n";
        let expected = "Name:    web\nLabels:  app=web\n         tier=a\nPod:\n  Image:  x\n";
        assert_eq!(describe(text), expected);
    }

    #[test]
    fn rows_that_come_later_keep_the_widths() {
        let mut table = Table::default();
        let row = |a: &str, b: &str| vec![a.to_string(), b.to_string()];
        assert_eq!(table.print(&[row("NAME", "AGE"), row("web-1234", "5s")]), "NAME       AGE\nweb-1234   5s\n");
        assert_eq!(table.print(&[row("a", "6s")]), "a          6s\n");
        assert_eq!(Table::default().print(&[row("a", "b")]), "a     b\n");
    }
}
