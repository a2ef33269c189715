#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| loopscope_fuzz::kubectl(data));
