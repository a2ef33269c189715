//! What a first visit did not use but might: small functions that what it used calls, or holds pointers to, such as the
//! closures of a view that is there, or the methods of a table in memory.

use super::module::{Module, number, words};
use crate::cmd::Res;
use std::collections::BTreeMap;
use wasmparser::{DataKind, FunctionBody, Operator};

/// Larger ones are whole parts of the page.
const LARGEST: usize = 300;
/// Of those that are called there are many more.
const LARGEST_CALLED: usize = 100;
/// A table of methods begins with what drops the value, its size and its alignment; then so many methods are looked at.
const METHODS: usize = 3;

/// Marks them in `used`.
pub fn mark_near(module: &Module, used: &mut [bool]) -> Res {
    let memory = Memory::of(module);
    let by_slot: BTreeMap<u32, u32> = module.slots()?.into_iter().map(|(function, slot)| (slot, function)).collect();
    let (mut near, mut called): (Vec<&u32>, Vec<u32>) = Default::default();
    for (body, _) in module.bodies.iter().zip(used.iter()).filter(|(_, used)| **used) {
        called.extend(Module::named_in(body)?);
        for constant in constants_in(body)? {
            near.extend(by_slot.get(&constant));
            let method = |at: usize| memory.word(constant.checked_add(4 * at as u32)?);
            let slots = [0].into_iter().chain(3..3 + METHODS).filter_map(method);
            near.extend(slots.filter_map(|slot| by_slot.get(&slot)));
        }
    }
    let near = near.into_iter().map(|function| (*function, LARGEST));
    for (function, largest) in near.chain(called.into_iter().map(|function| (function, LARGEST_CALLED))) {
        let own = (function as usize).checked_sub(module.imported);
        if let Some(own) = own.filter(|own| module.bodies[*own].as_bytes().len() <= largest) {
            used[own] = true;
        }
    }
    Ok(())
}

/// The constants of a body.
fn constants_in(body: &FunctionBody) -> Res<Vec<u32>> {
    let mut numbers = Vec::new();
    let mut operators = body.get_operators_reader().map_err(words)?;
    while !operators.eof() {
        if let Operator::I32Const { value } = operators.read().map_err(words)? {
            numbers.push(value.cast_unsigned());
        }
    }
    Ok(numbers)
}

/// The memory as the program finds it: pieces with their addresses.
struct Memory<'a>(Vec<(u32, &'a [u8])>);

impl<'a> Memory<'a> {
    fn of(module: &Module<'a>) -> Self {
        let mut pieces = Vec::new();
        for piece in &module.data {
            let DataKind::Active { offset_expr, .. } = &piece.kind else { continue };
            pieces.extend(number(offset_expr).map(|start| (start, piece.data)));
        }
        Self(pieces)
    }

    /// The aligned word at an address.
    fn word(&self, at: u32) -> Option<u32> {
        if !at.is_multiple_of(4) {
            return None;
        }
        self.0.iter().find_map(|(start, bytes)| {
            let from = at.checked_sub(*start)? as usize;
            Some(u32::from_le_bytes(bytes.get(from..from + 4)?.try_into().ok()?))
        })
    }
}
