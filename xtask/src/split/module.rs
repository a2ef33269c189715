//! A WebAssembly module, read as far as dividing it needs.

use crate::cmd::Res;
use std::collections::BTreeMap;
use wasmparser::{
    ConstExpr, Data, DataKind, Element, ElementItems, ElementKind, Export, ExternalKind, FuncType, FunctionBody,
    Global, Import, KnownCustom, MemoryType, Name, Operator, Parser, Payload, Table, TypeRef,
};

#[derive(Default)]
pub struct Module<'a> {
    /// One function type each: the module has no other types.
    pub types: Vec<FuncType>,
    pub imports: Vec<Import<'a>>,
    /// The type of each function, imported ones first.
    pub functions: Vec<u32>,
    /// So many of them are imported.
    pub imported: usize,
    pub tables: Vec<Table<'a>>,
    pub memories: Vec<MemoryType>,
    pub globals: Vec<Global<'a>>,
    pub exports: Vec<Export<'a>>,
    pub start: Option<u32>,
    pub elements: Vec<Element<'a>>,
    pub data_count: Option<u32>,
    pub data: Vec<Data<'a>>,
    /// Of functions, by number: for those who work on the page.
    pub names: BTreeMap<u32, &'a str>,
    /// Of the functions that are not imported, in order.
    pub bodies: Vec<FunctionBody<'a>>,
}

pub fn words(error: impl std::fmt::Display) -> String {
    format!("the program is not as the build expects it: {error}")
}

/// A place in the table or in memory, where it is written as a number.
pub fn number(expression: &ConstExpr) -> Option<u32> {
    match expression.get_operators_reader().into_iter().next() {
        Some(Ok(Operator::I32Const { value })) => Some(value.cast_unsigned()),
        _ => None,
    }
}

fn all<'a, T: wasmparser::FromReader<'a>>(section: wasmparser::SectionLimited<'a, T>) -> Res<Vec<T>> {
    section.into_iter().collect::<Result<_, _>>().map_err(words)
}

impl<'a> Module<'a> {
    pub fn read(wasm: &'a [u8]) -> Res<Self> {
        let mut it = Self::default();
        for payload in Parser::new(0).parse_all(wasm) {
            it.take(payload.map_err(words)?)?;
        }
        Ok(it)
    }

    fn take(&mut self, payload: Payload<'a>) -> Res {
        match payload {
            Payload::TypeSection(section) => {
                for ty in section.into_iter_err_on_gc_types() {
                    self.types.push(ty.map_err(words)?);
                }
            }
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    let import = import.map_err(words)?;
                    match import.ty {
                        TypeRef::Func(ty) => self.functions.push(ty),
                        _ => return Err(words("it imports something else than functions")),
                    }
                    self.imports.push(import);
                }
                self.imported = self.imports.len();
            }
            Payload::FunctionSection(section) => self.functions.extend(all(section)?),
            Payload::TableSection(section) => self.tables = all(section)?,
            Payload::MemorySection(section) => self.memories = all(section)?,
            Payload::GlobalSection(section) => self.globals = all(section)?,
            Payload::ExportSection(section) => self.exports = all(section)?,
            Payload::StartSection { func, .. } => self.start = Some(func),
            Payload::ElementSection(section) => self.elements = all(section)?,
            Payload::DataCountSection { count, .. } => self.data_count = Some(count),
            Payload::DataSection(section) => self.data = all(section)?,
            Payload::CodeSectionEntry(body) => self.bodies.push(body),
            Payload::CustomSection(section) => {
                if let KnownCustom::Name(names) = section.as_known() {
                    self.take_names(names)?;
                }
            }
            Payload::TagSection(_) => return Err(words("it has exceptions")),
            _ => {}
        }
        Ok(())
    }

    fn take_names(&mut self, names: wasmparser::NameSectionReader<'a>) -> Res {
        for part in names {
            if let Name::Function(names) = part.map_err(words)? {
                for name in names {
                    let name = name.map_err(words)?;
                    self.names.insert(name.index, name.name);
                }
            }
        }
        Ok(())
    }

    pub fn type_of(&self, function: usize) -> Res<&FuncType> {
        let ty = self.functions.get(function).and_then(|ty| self.types.get(*ty as usize));
        ty.ok_or_else(|| words("a function has no type"))
    }

    /// The functions that a body names.
    pub fn named_in(body: &FunctionBody) -> Res<Vec<u32>> {
        let mut named = Vec::new();
        let mut operators = body.get_operators_reader().map_err(words)?;
        while !operators.eof() {
            match operators.read().map_err(words)? {
                Operator::Call { function_index }
                | Operator::ReturnCall { function_index }
                | Operator::RefFunc { function_index } => named.push(function_index),
                _ => {}
            }
        }
        Ok(named)
    }

    /// Where in the first table a function stands.
    pub fn slots(&self) -> Res<BTreeMap<u32, u32>> {
        let mut slots = BTreeMap::new();
        for element in &self.elements {
            let ElementKind::Active { table_index: None | Some(0), offset_expr } = &element.kind else {
                return Err(words("its table is not filled at the start"));
            };
            let start =
                number(offset_expr).ok_or_else(|| words("its table is filled from a place that is not a number"))?;
            let ElementItems::Functions(functions) = &element.items else {
                return Err(words("its table holds more than functions"));
            };
            for (slot, function) in (start..).zip(functions.clone()) {
                slots.entry(function.map_err(words)?).or_insert(slot);
            }
        }
        Ok(slots)
    }

    /// The number of the imported function whose name has these words in it.
    pub fn import_with(&self, part: &str) -> Option<u32> {
        self.imports.iter().position(|import| import.name.contains(part)).and_then(|at| u32::try_from(at).ok())
    }

    /// Functions that are exported.
    pub fn exported(&self) -> impl Iterator<Item = u32> {
        self.exports.iter().filter(|it| it.kind == ExternalKind::Func).map(|it| it.index)
    }

    pub fn has_passive_data(&self) -> bool {
        self.data.iter().any(|it| matches!(it.kind, DataKind::Passive))
    }
}

/// The program without the sections that it does not need to run.
pub fn without_names(wasm: &[u8]) -> Res<Vec<u8>> {
    let mut out = wasm_encoder::Module::new();
    for payload in Parser::new(0).parse_all(wasm) {
        let payload = payload.map_err(words)?;
        if matches!(payload, Payload::CustomSection(_)) {
            continue;
        }
        if let Some((id, range)) = payload.as_section() {
            out.section(&wasm_encoder::RawSection { id, data: &wasm[range.start as usize..range.end as usize] });
        }
    }
    Ok(out.finish())
}
