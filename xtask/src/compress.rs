//! Compressed copies beside the files of a built page, for hosts (and `serve`) that send those.

use crate::cmd::Res;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Content codings by their ending, the worst first.
pub const CODINGS: [&str; 2] = ["gz", "br"];
const ENDINGS: [&str; 10] = ["html", "js", "mjs", "css", "wasm", "svg", "txt", "json", "webmanifest", "yaml"];

/// Where the copy of a file is.
pub fn beside(file: &Path, coding: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(coding);
    name.into()
}

pub fn is_copy(file: &Path) -> bool {
    file.extension().and_then(|e| e.to_str()).is_some_and(|e| CODINGS.contains(&e))
}

/// Writes the copies of all files of a folder that gain by it.
pub fn write_copies(files: &[PathBuf]) -> Res {
    let gains = |file: &&PathBuf| file.extension().and_then(|e| e.to_str()).is_some_and(|e| ENDINGS.contains(&e));
    for file in files.iter().filter(gains) {
        let bytes = fs::read(file).map_err(|e| format!("can't read {}: {e}", file.display()))?;
        for coding in CODINGS {
            let copy = beside(file, coding);
            let packed = if coding == "br" { brotli(&bytes) } else { gzip(&bytes) };
            packed
                .and_then(|packed| fs::write(&copy, packed))
                .map_err(|e| format!("can't write {}: {e}", copy.display()))?;
        }
    }
    Ok(())
}

fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

pub fn brotli(mut bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let params = brotli::enc::BrotliEncoderParams { quality: 11, lgwin: 22, ..Default::default() };
    let mut out = Vec::new();
    brotli::BrotliCompress(&mut bytes, &mut out, &params)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dull_text_has_small_copies_and_a_picture_has_none() {
        let dir = std::env::temp_dir().join(format!("loopscope-compress-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let files = ["a.js", "a.png"].map(|name| dir.join(name));
        for file in &files {
            fs::write(file, b"loop ".repeat(1_000)).unwrap();
        }
        write_copies(&files).unwrap();
        for coding in CODINGS {
            let copy = beside(&files[0], coding);
            assert!(is_copy(&copy) && fs::metadata(&copy).unwrap().len() < 100);
            assert!(!beside(&files[1], coding).exists());
        }
        let mut text = Vec::new();
        brotli::BrotliDecompress(&mut &fs::read(beside(&files[0], "br")).unwrap()[..], &mut text).unwrap();
        assert_eq!(text, b"loop ".repeat(1_000));
        fs::remove_dir_all(dir).unwrap();
    }
}
