//! Colours can be read and told apart: contrast as WCAG 2.2 counts it, and the distance between the colours of pod
//! states, for full colour vision and for the three deficiencies (Machado, Oliveira and Fernandes 2009, severity 1).

use crate::paths;
use std::collections::BTreeMap;
use std::fs;

type Rgb = [f64; 3];
type Matrix = [Rgb; 3];

const SAME: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const PROTAN: Matrix =
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]];
const DEUTAN: Matrix =
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]];
const TRITAN: Matrix =
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]];
const VISIONS: [(&str, Matrix); 4] =
    [("full vision", SAME), ("protanopia", PROTAN), ("deuteranopia", DEUTAN), ("tritanopia", TRITAN)];

const SURFACES: [&str; 2] = ["bg", "surface"];
const STATES: [&str; 8] =
    ["s-pending", "s-creating", "s-notready", "s-ready", "s-terminating", "s-bad", "s-completed", "s-unknown"];
/// Least distance of two states (CIE76).
const APART: f64 = 18.0;

/// Colours by token: in light, in dark.
fn tokens(sheet: &str) -> BTreeMap<String, [Rgb; 2]> {
    let mut tokens = BTreeMap::new();
    for line in sheet.lines() {
        let Some((name, rest)) = line.trim().strip_prefix("--").and_then(|it| it.split_once(": light-dark(#")) else {
            continue;
        };
        let Some((light, dark)) = rest.split_once(')').and_then(|(both, _)| both.split_once(", #")) else { continue };
        if let (Some(light), Some(dark)) = (linear(light), linear(dark)) {
            tokens.insert(name.to_string(), [light, dark]);
        }
    }
    tokens
}

/// `0b57d0` as light, 0 to 1.
fn linear(hex: &str) -> Option<Rgb> {
    let channel = |at: usize| {
        let value = f64::from(u8::from_str_radix(hex.get(at..at + 2)?, 16).ok()?) / 255.0;
        Some(if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) })
    };
    if hex.len() != 6 {
        return None;
    }
    Some([channel(0)?, channel(2)?, channel(4)?])
}

fn contrast(a: Rgb, b: Rgb) -> f64 {
    let light = |it: Rgb| 0.2126 * it[0] + 0.7152 * it[1] + 0.0722 * it[2] + 0.05;
    let (a, b) = (light(a), light(b));
    a.max(b) / a.min(b)
}

fn seen(by: Matrix, colour: Rgb) -> Rgb {
    by.map(|row| row.iter().zip(colour).map(|(factor, value)| factor * value).sum::<f64>().clamp(0.0, 1.0))
}

/// CIE L*a*b* under D65.
fn lab([r, g, b]: Rgb) -> Rgb {
    let x = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047;
    let y = 0.2126729 * r + 0.7151522 * g + 0.0721750 * b;
    let z = (0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883;
    let [x, y, z] = [x, y, z].map(|it| if it > 0.008856 { it.cbrt() } else { 7.787 * it + 16.0 / 116.0 });
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn distance(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (lab(a), lab(b));
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Which of `names` have less contrast to a surface than they should.
fn faint(tokens: &BTreeMap<String, [Rgb; 2]>, names: &[&str], surfaces: &[&str], least: f64) -> Vec<String> {
    let mut faint = Vec::new();
    for (name, surface) in names.iter().flat_map(|name| surfaces.iter().map(move |surface| (name, surface))) {
        for (theme, at) in [("light", 0), ("dark", 1)] {
            let found = contrast(tokens[*name][at], tokens[*surface][at]);
            if found < least {
                faint.push(format!("{name} on {surface}, {theme}: {found:.2} of {least}"));
            }
        }
    }
    faint
}

/// Pairs of states that look too much alike.
fn alike(tokens: &BTreeMap<String, [Rgb; 2]>) -> Vec<String> {
    let mut alike = Vec::new();
    for (first, a) in STATES.iter().enumerate() {
        for b in &STATES[first + 1..] {
            for (theme, at) in [("light", 0), ("dark", 1)] {
                for (vision, by) in VISIONS {
                    let found = distance(seen(by, tokens[*a][at]), seen(by, tokens[*b][at]));
                    if found < APART {
                        alike.push(format!("{a} and {b}, {theme}, {vision}: {found:.1} apart"));
                    }
                }
            }
        }
    }
    alike
}

fn sheet() -> String {
    fs::read_to_string(paths::root().join("style/tokens.css")).expect("the tokens are there")
}

#[test]
fn text_and_states_stand_out_from_what_they_are_on() {
    let tokens = tokens(&sheet());
    let ink = ["ink", "ink-2", "ink-3", "you", "syn-key", "syn-str", "syn-num"];
    assert_eq!(faint(&tokens, &ink, &SURFACES, 4.5), [""; 0]);
    assert_eq!(faint(&tokens, &STATES, &SURFACES, 4.5), [""; 0]);
    assert_eq!(faint(&tokens, &["edge"], &SURFACES, 3.0), [""; 0]);
    assert_eq!(
        faint(&tokens, &["ink", "ink-2"], &["raised", "you-tint", "bad-tint", "warn-tint", "good-tint"], 4.5),
        [""; 0]
    );
    assert_eq!(faint(&tokens, &["on-you"], &["you"], 4.5), [""; 0]);
}

#[test]
fn states_are_told_apart_by_all_eyes() {
    assert_eq!(alike(&tokens(&sheet())), [""; 0]);
}

#[test]
fn a_faint_colour_and_two_alike_are_found() {
    let faded = sheet().replace("--ink-3: light-dark(#5e6977", "--ink-3: light-dark(#9099a5");
    assert_eq!(faint(&tokens(&faded), &["ink-3"], &["surface"], 4.5).len(), 1);
    let same = sheet().replace("--s-ready: light-dark(#0b7d4b", "--s-ready: light-dark(#946404");
    assert!(alike(&tokens(&same)).iter().any(|it| it.starts_with("s-notready and s-ready, light, full vision")));
    let known = |a: &str, b: &str| contrast(linear(a).unwrap(), linear(b).unwrap());
    assert!((known("ffffff", "000000") - 21.0).abs() < 0.01 && (known("0b57d0", "ffffff") - 6.4).abs() < 0.05);
}
