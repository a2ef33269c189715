//! Two texts, line by line, as `diff -u -N` shows them.

/// The lines that both have, as pairs of places, by Myers' greedy walk.
fn common(a: &[&str], b: &[&str]) -> Vec<(usize, usize)> {
    let start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let end = a[start..].iter().rev().zip(b[start..].iter().rev()).take_while(|(x, y)| x == y).count();
    let mut pairs: Vec<(usize, usize)> = (0..start).map(|at| (at, at)).collect();
    let (inner_a, inner_b) = (&a[start..a.len() - end], &b[start..b.len() - end]);
    pairs.extend(walk(inner_a, inner_b).into_iter().map(|(x, y)| (x + start, y + start)));
    pairs.extend((0..end).map(|at| (a.len() - end + at, b.len() - end + at)));
    pairs
}

fn walk(a: &[&str], b: &[&str]) -> Vec<(usize, usize)> {
    let (n, m) = (a.len(), b.len());
    // The length of the longest common part from each place on.
    let mut table = vec![0_u32; (n + 1) * (m + 1)];
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            table[i * (m + 1) + j] = match a[i] == b[j] {
                true => table[(i + 1) * (m + 1) + j + 1] + 1,
                false => table[(i + 1) * (m + 1) + j].max(table[i * (m + 1) + j + 1]),
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < n && j < m {
        if a[i] == b[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if table[(i + 1) * (m + 1) + j] >= table[i * (m + 1) + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

const CONTEXT: usize = 3;

fn range(from: usize, count: usize) -> String {
    let from = if count == 0 { from } else { from + 1 };
    if count == 1 { from.to_string() } else { [&from.to_string(), ",", &count.to_string()].concat() }
}

/// The hunks by which two texts differ; nothing where they do not.
pub fn unified(old: &str, new: &str) -> String {
    let a: Vec<&str> = old.lines().collect();
    let b: Vec<&str> = new.lines().collect();
    // Each line as it is shown: its sign, and its places in both.
    let mut lines: Vec<(char, usize, usize)> = Vec::new();
    let (mut i, mut j) = (0, 0);
    for (x, y) in common(&a, &b).into_iter().chain([(a.len(), b.len())]) {
        lines.extend((i..x).map(|at| ('-', at, j)));
        lines.extend((j..y).map(|at| ('+', x, at)));
        if x < a.len() && y < b.len() {
            lines.push((' ', x, y));
        }
        (i, j) = (x + 1, y + 1);
    }
    let mut out = String::new();
    let mut at = 0;
    while let Some(first) = lines[at..].iter().position(|it| it.0 != ' ') {
        let first = at + first;
        let from = first.saturating_sub(CONTEXT).max(at);
        let mut to = first;
        let mut quiet = 0;
        for (index, line) in lines.iter().enumerate().skip(first) {
            if line.0 == ' ' {
                quiet += 1;
                if quiet > 2 * CONTEXT {
                    break;
                }
            } else {
                quiet = 0;
                to = index;
            }
        }
        let end = (to + 1 + CONTEXT).min(lines.len());
        let hunk = &lines[from..end];
        let count = |sign: char| hunk.iter().filter(|it| it.0 == ' ' || it.0 == sign).count();
        let (x, y) = (hunk[0].1, hunk[0].2);
        out += &["@@ -", &range(x, count('-')), " +", &range(y, count('+')), " @@\n"].concat();
        for (sign, x, y) in hunk {
            out.push(*sign);
            out += if *sign == '+' { b[*y] } else { a[*x] };
            out.push('\n');
        }
        at = end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_have_three_lines_around_them() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let new = "a\nb\nc\nd\nX\nf\ng\nh\n";
        assert_eq!(unified(old, new), "@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+X\n f\n g\n h\n");
        assert_eq!(unified("", "a\nb\n"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
        assert_eq!(unified(old, old), "");
    }
}
