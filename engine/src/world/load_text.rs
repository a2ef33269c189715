//! Loads as text: `load service/web --steady=50 --cost=20m`.

use std::fmt::{self, Formatter};

use super::command_reader::{Flags, span};
use super::command_text::Span;
use crate::api::Quantity;
use crate::environment::{Load, Shape};

fn amount(thousandths: u64) -> Quantity {
    Quantity::from_milli(i64::try_from(thousandths).unwrap_or(i64::MAX))
}

/// The flags of a load, each with a blank before it.
pub(super) fn write_load(f: &mut Formatter<'_>, load: &Load) -> fmt::Result {
    match &load.shape {
        Shape::Steady { amount: it } => write!(f, " --steady={}", amount(*it))?,
        Shape::Ramp { from, to, over_ms } => {
            write!(f, " --ramp={}..{} --over={}", amount(*from), amount(*to), Span(*over_ms))?;
        }
        Shape::Wave { low, high, period_ms } => {
            write!(f, " --wave={}..{} --period={}", amount(*low), amount(*high), Span(*period_ms))?;
        }
        Shape::Drawn { points } => {
            for (index, (at, it)) in points.iter().enumerate() {
                let sign = if index == 0 { " --curve=" } else { "," };
                write!(f, "{sign}{}:{}", Span(*at), amount(*it))?;
            }
        }
    }
    if load.cost_micro > 0 {
        write!(f, " --cost={}", Quantity::from_micro(i64::try_from(load.cost_micro).unwrap_or(i64::MAX)))?;
    }
    match load.capacity {
        Some(it) => write!(f, " --capacity={}", amount(it)),
        None => Ok(()),
    }
}

fn quantity(text: &str) -> Result<Quantity, String> {
    let wrong = || format!("\"{text}\" is no amount such as 50 or 200m");
    text.parse::<Quantity>().ok().filter(|it| !it.is_negative()).ok_or_else(wrong)
}

fn thousandths(text: &str) -> Result<u64, String> {
    Ok(quantity(text)?.milli().unsigned_abs())
}

fn range(text: &str) -> Result<(u64, u64), String> {
    let (from, to) = text.split_once("..").ok_or_else(|| format!("\"{text}\" is no range such as 10..100"))?;
    Ok((thousandths(from)?, thousandths(to)?))
}

fn needed(flags: &mut Flags, name: &str) -> Result<u64, String> {
    span(&flags.take(name).ok_or_else(|| format!("--{name} is required"))?)
}

fn point(text: &str) -> Result<(u64, u64), String> {
    let (at, it) = text.split_once(':').ok_or_else(|| format!("\"{text}\" is no point such as 30s:50"))?;
    Ok((span(at)?, thousandths(it)?))
}

pub(super) fn read_load(flags: &mut Flags) -> Result<Load, String> {
    let shape = if let Some(text) = flags.take("steady") {
        Shape::Steady { amount: thousandths(&text)? }
    } else if let Some(text) = flags.take("ramp") {
        let (from, to) = range(&text)?;
        Shape::Ramp { from, to, over_ms: needed(flags, "over")? }
    } else if let Some(text) = flags.take("wave") {
        let (low, high) = range(&text)?;
        Shape::Wave { low, high, period_ms: needed(flags, "period")? }
    } else if let Some(text) = flags.take("curve") {
        Shape::Drawn { points: text.split(',').map(point).collect::<Result<_, _>>()? }
    } else {
        return Err("one of --steady, --ramp, --wave and --curve is required".into());
    };
    let cost_micro = match flags.take("cost") {
        Some(text) => quantity(&text)?.micro().unsigned_abs(),
        None => 0,
    };
    let capacity = flags.take("capacity").map(|text| thousandths(&text)).transpose()?;
    Ok(Load { shape, cost_micro, capacity })
}
