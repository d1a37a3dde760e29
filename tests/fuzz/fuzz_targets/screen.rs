#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| afd_tests::inputs::screen(bytes));
