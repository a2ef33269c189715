//! The program with a mark in each function, which says that it was used.

use super::module::{Module, words};
use crate::cmd::Res;
use wasm_encoder::reencode::{Error, Reencode, RoundtripReencoder, utils};
use wasm_encoder::{
    CodeSection, ExportKind, ExportSection, Function, Instruction, MemArg, MemArgTarget, MemorySection, MemoryType,
};

/// Under this name the marked program exports a memory of one byte a function, not counting imported ones.
pub const MARKS: &str = "marks";
const PAGE: usize = 65_536;

pub fn marked(wasm: &[u8]) -> Res<Vec<u8>> {
    let module = Module::read(wasm)?;
    if module.memories.len() != 1 {
        return Err(words("it has not one memory"));
    }
    let mut out = wasm_encoder::Module::new();
    let mut marker = Marker { next: 0, bytes: module.bodies.len() };
    marker.parse_core_module(&mut out, wasmparser::Parser::new(0), wasm).map_err(words)?;
    Ok(out.finish())
}

struct Marker {
    next: usize,
    bytes: usize,
}

impl Reencode for Marker {
    type Error = std::convert::Infallible;

    fn parse_memory_section(
        &mut self,
        memories: &mut MemorySection,
        section: wasmparser::MemorySectionReader<'_>,
    ) -> Result<(), Error> {
        utils::parse_memory_section(self, memories, section)?;
        let pages = self.bytes.div_ceil(PAGE) as u64;
        memories.memory(MemoryType {
            minimum: pages,
            maximum: Some(pages),
            memory64: false,
            shared: false,
            page_size_log2: None,
        });
        Ok(())
    }

    fn parse_export_section(
        &mut self,
        exports: &mut ExportSection,
        section: wasmparser::ExportSectionReader<'_>,
    ) -> Result<(), Error> {
        utils::parse_export_section(self, exports, section)?;
        exports.export(MARKS, ExportKind::Memory, 1);
        Ok(())
    }

    fn parse_function_body(&mut self, code: &mut CodeSection, body: wasmparser::FunctionBody<'_>) -> Result<(), Error> {
        let mut function: Function = self.new_function_with_parsed_locals(&body)?;
        function.instruction(&Instruction::I32Const(self.next as i32));
        function.instruction(&Instruction::I32Const(1));
        function.instruction(&Instruction::I32Store8(MemArg {
            offset: 0,
            align: 0,
            target: MemArgTarget::Memory(1),
            ordering: None,
        }));
        self.next += 1;
        let mut operators = body.get_operators_reader()?;
        while !operators.eof() {
            let instruction = RoundtripReencoder.instruction(operators.read()?)?;
            function.instruction(&instruction);
        }
        code.function(&function);
        Ok(())
    }
}
