//! One program as two.

use super::module::{Module, words};
use crate::cmd::Res;
use std::collections::{BTreeMap, BTreeSet};
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{
    BlockType, CodeSection, ConstExpr, DataCountSection, DataSection, ElementSection, Elements, EntityType, ExportKind,
    ExportSection, Function, FunctionSection, GlobalSection, GlobalType, ImportSection, Instruction, MemorySection,
    StartSection, TableSection, TableType, TypeSection, ValType,
};
use wasmparser::FunctionBody;

/// Under this name the first half exports the global that is 1 once the rest is there.
pub const HERE: &str = "rest_is_here";
/// The page's import that gets the rest before it returns has this in its name.
pub const NEED: &str = "__wbg_need_";
/// The module's name of the rest's imports.
pub const FIRST: &str = "first";
/// A body of so few bytes is not worth what stands in its place.
const SMALL: usize = 14;

pub struct Halves {
    pub first: Vec<u8>,
    /// The functions of the first half, with the numbers that a browser's stack trace has.
    pub names: String,
    pub rest: Vec<u8>,
}

/// `used` says for each function that is not imported whether the first half has it.
pub fn divide(module: &Module, used: &[bool]) -> Res<Halves> {
    if used.len() != module.bodies.len() {
        return Err(words(format!("{} of {} functions were recorded", used.len(), module.bodies.len())));
    }
    if module.has_passive_data() {
        return Err(words("it has data that it places itself"));
    }
    let plan = Plan::of(module, used)?;
    Ok(Halves { first: plan.first()?, names: plan.names(), rest: plan.rest()? })
}

struct Plan<'m, 'a> {
    module: &'m Module<'a>,
    need: u32,
    /// For each function that is not imported.
    stays: Vec<bool>,
    /// Functions of the rest that the first half names, and the slots of the table that they have.
    stood_for: BTreeMap<u32, u32>,
    /// Functions of the first half that the rest names, imported ones too, and their names as exports.
    lent: BTreeMap<u32, String>,
    table_size: u64,
}

impl<'m, 'a> Plan<'m, 'a> {
    fn of(module: &'m Module<'a>, used: &[bool]) -> Res<Self> {
        let need = module.import_with(NEED).ok_or_else(|| words("it does not import what gets the rest"))?;
        let stays: Vec<bool> =
            module.bodies.iter().zip(used).map(|(body, used)| *used || body.as_bytes().len() <= SMALL).collect();
        let is_moved = |function: u32| {
            (function as usize).checked_sub(module.imported).is_some_and(|own| !stays.get(own).copied().unwrap_or(true))
        };
        let slots = module.slots()?;
        let mut named: BTreeSet<u32> = slots.keys().copied().chain(module.exported()).chain(module.start).collect();
        let mut lent = BTreeSet::new();
        for (body, stays) in module.bodies.iter().zip(&stays) {
            let names = Module::named_in(body)?.into_iter();
            if *stays { named.extend(names) } else { lent.extend(names.filter(|it| !is_moved(*it))) }
        }
        let mut table_size = module.tables.first().ok_or_else(|| words("it has no table"))?.ty.initial;
        let mut stood_for = BTreeMap::new();
        for function in named.into_iter().filter(|it| is_moved(*it)) {
            let slot = slots.get(&function).copied().map_or_else(
                || {
                    table_size += 1;
                    u32::try_from(table_size - 1).map_err(words)
                },
                Ok,
            )?;
            stood_for.insert(function, slot);
        }
        let taken: BTreeSet<&str> = module.exports.iter().map(|it| it.name).collect();
        let mut names = (0..).map(short).filter(|name| !taken.contains(name.as_str()));
        let lent = lent.into_iter().map(|it| (it, names.next().unwrap_or_default())).collect();
        Ok(Self { module, need, stays, stood_for, lent, table_size })
    }

    /// The functions that are not imported, by their numbers: those that stay, or those that do not.
    fn own(&self, stay: bool) -> impl Iterator<Item = u32> {
        let numbered = (self.module.imported as u32..).zip(&self.stays);
        numbered.filter(move |(_, stays)| **stays == stay).map(|(function, _)| function)
    }

    fn body(&self, function: u32) -> &FunctionBody<'a> {
        &self.module.bodies[function as usize - self.module.imported]
    }

    fn types(&self) -> Res<TypeSection> {
        let mut types = TypeSection::new();
        for ty in &self.module.types {
            let ty = Numbers::none().func_type(ty.clone()).map_err(words)?;
            types.ty().func_type(&ty);
        }
        Ok(types)
    }

    /// Those that the first half has, in their old order: that stay, and that something stands for.
    fn kept(&self) -> Vec<u32> {
        let numbered = (self.module.imported as u32..).zip(&self.stays);
        let kept = numbered.filter(|(function, stays)| **stays || self.stood_for.contains_key(function));
        kept.map(|(function, _)| function).collect()
    }

    fn names(&self) -> String {
        let line = |(function, number): (u32, usize)| {
            let name = self.module.names.get(&function).copied().unwrap_or("?");
            let state = if self.stood_for.contains_key(&function) { "of the rest" } else { "here" };
            format!("{number} {state} {name}\n")
        };
        self.kept().into_iter().zip(self.module.imported..).map(line).collect()
    }

    /// How many globals the module has: the one that says whether the rest is here follows them.
    fn here(&self) -> u32 {
        self.module.globals.len() as u32
    }

    fn first(&self) -> Res<Vec<u8>> {
        let module = self.module;
        let imported = 0..module.imported as u32;
        let kept = self.kept();
        let mut numbers = Numbers::of(imported.chain(kept.iter().copied()));
        let mut out = wasm_encoder::Module::new();
        out.section(&self.types()?);
        let mut imports = ImportSection::new();
        for import in &module.imports {
            numbers.parse_import(&mut imports, *import).map_err(words)?;
        }
        let mut functions = FunctionSection::new();
        for function in &kept {
            functions.function(module.functions[*function as usize]);
        }
        out.section(&imports).section(&functions);
        self.state(&mut numbers, &mut out)?;
        self.exports(&mut numbers, &mut out)?;
        if let Some(start) = module.start {
            out.section(&StartSection { function_index: numbers.function_index(start).map_err(words)? });
        }
        let mut elements = ElementSection::new();
        for element in &module.elements {
            numbers.parse_element(&mut elements, element.clone()).map_err(words)?;
        }
        out.section(&elements);
        if let Some(count) = module.data_count {
            out.section(&DataCountSection { count });
        }
        let mut code = CodeSection::new();
        for function in &kept {
            match self.stood_for.get(function) {
                Some(slot) => code.function(&self.stand_in(*function, *slot)?),
                None => code.function(&numbers.body(self.body(*function))?),
            };
        }
        out.section(&code);
        let mut data = DataSection::new();
        for piece in &module.data {
            numbers.parse_data(&mut data, piece.clone()).map_err(words)?;
        }
        out.section(&data);
        Ok(out.finish())
    }

    /// Tables, memories and globals.
    fn state(&self, numbers: &mut Numbers, out: &mut wasm_encoder::Module) -> Res {
        let mut tables = TableSection::new();
        for at in 0..self.module.tables.len() {
            tables.table(self.table(numbers, at)?);
        }
        let mut memories = MemorySection::new();
        for memory in &self.module.memories {
            memories.memory(numbers.memory_type(*memory).map_err(words)?);
        }
        let mut globals = GlobalSection::new();
        for global in &self.module.globals {
            numbers.parse_global(&mut globals, global.clone()).map_err(words)?;
        }
        globals.global(GlobalType { val_type: ValType::I32, mutable: true, shared: false }, &ConstExpr::i32_const(0));
        out.section(&tables).section(&memories).section(&globals);
        Ok(())
    }

    fn exports(&self, numbers: &mut Numbers, out: &mut wasm_encoder::Module) -> Res {
        let mut exports = ExportSection::new();
        for export in &self.module.exports {
            numbers.parse_export(&mut exports, *export).map_err(words)?;
        }
        for (function, name) in &self.lent {
            exports.export(name, ExportKind::Func, numbers.function_index(*function).map_err(words)?);
        }
        for (name, kind, at) in self.shared() {
            exports.export(&name, kind, at);
        }
        exports.export(HERE, ExportKind::Global, self.here());
        out.section(&exports);
        Ok(())
    }

    /// What the halves have in common: names of imports of the rest.
    fn shared(&self) -> Vec<(String, ExportKind, u32)> {
        let all = |count: usize, letter: &'static str, kind| {
            (0..count as u32).map(move |at| (format!("{letter}-{at}"), kind, at))
        };
        let module = self.module;
        all(module.tables.len(), "t", ExportKind::Table)
            .chain(all(module.memories.len(), "m", ExportKind::Memory))
            .chain(all(module.globals.len(), "g", ExportKind::Global))
            .collect()
    }

    /// What stands for a function of the rest: gets the rest if it is not here, and calls the function.
    fn stand_in(&self, function: u32, slot: u32) -> Res<Function> {
        let parameters = self.module.type_of(function as usize)?.params().len() as u32;
        let mut body = Function::new([]);
        let ask = [
            Instruction::GlobalGet(self.here()),
            Instruction::I32Eqz,
            Instruction::If(BlockType::Empty),
            Instruction::Call(self.need),
            Instruction::End,
        ];
        let given = (0..parameters).map(Instruction::LocalGet);
        let call = [
            Instruction::I32Const(slot as i32),
            Instruction::CallIndirect { type_index: self.module.functions[function as usize], table_index: 0 },
            Instruction::End,
        ];
        for instruction in ask.into_iter().chain(given).chain(call) {
            body.instruction(&instruction);
        }
        Ok(body)
    }

    fn rest(&self) -> Res<Vec<u8>> {
        let module = self.module;
        let moved: Vec<u32> = self.own(false).collect();
        let lent = self.lent.keys().copied();
        let mut numbers = Numbers::of(lent.chain(moved.iter().copied()));
        let mut out = wasm_encoder::Module::new();
        out.section(&self.types()?);
        let mut imports = ImportSection::new();
        for (function, name) in &self.lent {
            imports.import(FIRST, name, EntityType::Function(module.functions[*function as usize]));
        }
        for (name, kind, at) in self.shared() {
            imports.import(FIRST, &name, self.entity(&mut numbers, kind, at as usize)?);
        }
        let mut functions = FunctionSection::new();
        for function in &moved {
            functions.function(module.functions[*function as usize]);
        }
        let mut elements = ElementSection::new();
        for (slot, run) in self.runs() {
            let run =
                run.into_iter().map(|it| numbers.function_index(it)).collect::<Result<Vec<_>, _>>().map_err(words)?;
            elements.active(None, &ConstExpr::i32_const(slot as i32), Elements::Functions(run.into()));
        }
        let mut code = CodeSection::new();
        for function in &moved {
            code.function(&numbers.body(self.body(*function))?);
        }
        out.section(&imports).section(&functions).section(&elements).section(&code);
        Ok(out.finish())
    }

    /// The first table has grown by the slots of what is stood for.
    fn table(&self, numbers: &mut Numbers, at: usize) -> Res<TableType> {
        let mut ty = numbers.table_type(self.module.tables[at].ty).map_err(words)?;
        if at == 0 {
            ty.minimum = self.table_size;
            ty.maximum = ty.maximum.map(|most| most.max(self.table_size));
        }
        Ok(ty)
    }

    fn entity(&self, numbers: &mut Numbers, kind: ExportKind, at: usize) -> Res<EntityType> {
        let module = self.module;
        Ok(match kind {
            ExportKind::Table => EntityType::Table(self.table(numbers, at)?),
            ExportKind::Memory => EntityType::Memory(numbers.memory_type(module.memories[at]).map_err(words)?),
            _ => EntityType::Global(numbers.global_type(module.globals[at].ty).map_err(words)?),
        })
    }

    /// The functions that get slots of the table, those of neighbouring slots together.
    fn runs(&self) -> Vec<(u32, Vec<u32>)> {
        let by_slot: BTreeMap<u32, u32> = self.stood_for.iter().map(|(function, slot)| (*slot, *function)).collect();
        let mut runs: Vec<(u32, Vec<u32>)> = Vec::new();
        for (slot, function) in by_slot {
            match runs.last_mut() {
                Some((start, run)) if *start + run.len() as u32 == slot => run.push(function),
                _ => runs.push((slot, vec![function])),
            }
        }
        runs
    }
}

/// A short name for each number.
fn short(mut number: u32) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$";
    let mut name = String::new();
    loop {
        name.push(char::from(LETTERS[number as usize % LETTERS.len()]));
        number /= LETTERS.len() as u32;
        if number == 0 {
            return name;
        }
    }
}

/// The new numbers of functions.
struct Numbers(BTreeMap<u32, u32>);

impl Numbers {
    fn none() -> Self {
        Self(BTreeMap::new())
    }

    fn of(functions: impl Iterator<Item = u32>) -> Self {
        Self(functions.zip(0..).collect())
    }

    fn body(&mut self, body: &FunctionBody) -> Res<Function> {
        let mut function = self.new_function_with_parsed_locals(body).map_err(words)?;
        let mut operators = body.get_operators_reader().map_err(words)?;
        while !operators.eof() {
            let instruction = self.instruction(operators.read().map_err(words)?).map_err(words)?;
            function.instruction(&instruction);
        }
        Ok(function)
    }
}

impl Reencode for Numbers {
    type Error = String;

    fn function_index(&mut self, function: u32) -> Result<u32, Error<String>> {
        self.0.get(&function).copied().ok_or_else(|| Error::UserError(format!("function {function} is in no half")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasm_encoder::{MemoryType, Module as Made, RefType};

    /// `used` calls `moved`, which calls `used` and `helper`; the table holds `moved` and `lone`. All take a number
    /// and return one, but for the import that gets the rest.
    fn program() -> Vec<u8> {
        let mut made = Made::new();
        let mut types = TypeSection::new();
        types.ty().function([], []);
        types.ty().function([ValType::I32], [ValType::I32]);
        let mut imports = ImportSection::new();
        imports.import("page", "__wbg_need_00ff", EntityType::Function(0));
        let mut functions = FunctionSection::new();
        for _ in 0..4 {
            functions.function(1);
        }
        let mut tables = TableSection::new();
        let table =
            |element_type| TableType { element_type, table64: false, minimum: 3, maximum: Some(3), shared: false };
        tables.table(table(RefType::FUNCREF));
        let mut memories = MemorySection::new();
        memories.memory(MemoryType { minimum: 1, maximum: None, memory64: false, shared: false, page_size_log2: None });
        let mut exports = ExportSection::new();
        exports.export("a", ExportKind::Func, USED).export("memory", ExportKind::Memory, 0);
        let mut elements = ElementSection::new();
        elements.active(None, &ConstExpr::i32_const(1), Elements::Functions(vec![MOVED, LONE].into()));
        let mut code = CodeSection::new();
        for calls in [&[MOVED][..], &[USED, HELPER], &[], &[]] {
            let mut body = Function::new([]);
            body.instruction(&Instruction::LocalGet(0));
            for it in calls {
                body.instruction(&Instruction::Call(*it));
            }
            // More than what stands in its place.
            for _ in 0..9 {
                body.instruction(&Instruction::I32Const(7)).instruction(&Instruction::I32Add);
            }
            body.instruction(&Instruction::End);
            code.function(&body);
        }
        made.section(&types).section(&imports).section(&functions).section(&tables).section(&memories);
        made.section(&exports).section(&elements).section(&code);
        made.finish()
    }

    const USED: u32 = 1;
    const MOVED: u32 = 2;
    const HELPER: u32 = 3;
    const LONE: u32 = 4;

    fn names(wasm: &[u8]) -> Vec<String> {
        Module::read(wasm).unwrap().exports.iter().map(|it| it.name.to_owned()).collect()
    }

    fn divided(wasm: &[u8], used: &[bool]) -> Res<Halves> {
        divide(&Module::read(wasm)?, used)
    }

    #[test]
    fn both_halves_are_valid_and_share_what_they_need() {
        let halves = divided(&program(), &[true, false, true, false]).unwrap();
        for half in [&halves.first, &halves.rest] {
            wasmparser::validate(half).unwrap();
        }
        // `a` is taken; `moved` names `used` and `helper`.
        assert_eq!(names(&halves.first), ["a", "memory", "b", "c", "t-0", "m-0", HERE]);
        let first = Module::read(&halves.first).unwrap();
        assert_eq!(first.bodies.len(), 4, "two that stay, two that something stands for");
        let slots: Vec<u32> = first.slots().unwrap().into_values().collect();
        assert_eq!(slots, [1, 2]);
    }

    #[test]
    fn what_only_the_rest_names_leaves_nothing_behind() {
        let halves = divided(&program(), &[true, false, false, true]).unwrap();
        assert_eq!(Module::read(&halves.first).unwrap().bodies.len(), 3, "no helper");
        wasmparser::validate(&halves.rest).unwrap();
    }

    #[test]
    fn a_program_that_cannot_ask_for_the_rest_is_refused() {
        let other = program();
        let at = other.windows(NEED.len()).position(|it| it == NEED.as_bytes()).unwrap();
        let mut other = other;
        other[at] = b'x';
        assert!(divided(&other, &[true; 4]).err().unwrap().contains("does not import"));
        assert!(divided(&program(), &[true; 3]).err().unwrap().contains("3 of 4"));
    }

    #[test]
    fn in_one_piece_it_only_loses_what_it_does_not_need() {
        let program = program();
        let mut named = program.clone();
        // A custom section: its number, its length, the length of its name, its name.
        named.extend([0, 2, 1, b'x']);
        assert_eq!(crate::split::module::without_names(&named).unwrap(), program);
    }

    #[test]
    fn names_are_short_and_differ() {
        assert_eq!([short(0), short(63), short(64)], ["a", "$", "ab"]);
        let all: BTreeSet<String> = (0..5_000).map(short).collect();
        assert_eq!(all.len(), 5_000);
    }
}
