//! Makes small changes to valid inputs, and checks that the code that parses external input does not panic.

use afd_tests::docs::repository;
use afd_tests::inputs::READERS;

/// Number of modified copies of each seed; `AFD_FAULT_ROUNDS` overrides it.
const ROUNDS: u64 = 150;
/// Maximum number of changes per copy.
const CHANGES: u64 = 6;

/// A deterministic random number generator (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1)) as usize
    }
}

/// Tokens that parsers tend to handle incorrectly.
const TOKENS: [&[u8]; 14] = [
    b"\0",
    b"\n",
    b"\r\n",
    b"-1",
    b"9223372036854775808",
    b"1e999",
    b"\"",
    b"\\u0000",
    b"null",
    b"[",
    b"{}",
    b"\xff\xfe",
    "é\u{202e}".as_bytes(),
    b"NaN",
];

fn changed(seed: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=numbers.below(CHANGES) {
        let at = numbers.below(bytes.len() as u64 + 1);
        let end = (at + numbers.below(20)).min(bytes.len());
        match numbers.below(5) {
            0 => drop(bytes.drain(at..end)),
            1 => drop(bytes.splice(at..at, TOKENS[numbers.below(TOKENS.len() as u64)].iter().copied())),
            2 => drop(bytes.splice(at..end, TOKENS[numbers.below(TOKENS.len() as u64)].iter().copied())),
            3 if at < bytes.len() => bytes[at] ^= 1 << numbers.below(8),
            _ => {
                let again = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, again));
            }
        }
    }
    bytes
}

#[test]
fn changed_inputs_never_panic() {
    let rounds = std::env::var("AFD_FAULT_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(ROUNDS);
    for (name, reader) in READERS {
        let seeds = std::fs::read_dir(repository(&format!("tests/fuzz/corpus/{name}"))).expect("seeds");
        let mut seeds: Vec<_> = seeds.map(|entry| entry.expect("reads").path()).collect();
        seeds.sort();
        assert!(!seeds.is_empty(), "{name}");
        for path in seeds {
            let seed = std::fs::read(&path).expect("reads");
            reader(&seed);
            let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
            for round in 0..rounds {
                let input = changed(&seed, &mut numbers);
                let done = std::panic::catch_unwind(|| reader(&input));
                assert!(
                    done.is_ok(),
                    "{name}, {}, round {round}: {:?}",
                    path.display(),
                    String::from_utf8_lossy(&input)
                );
            }
        }
    }
}
