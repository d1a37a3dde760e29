//! The FNV-1a hash, for names and comparisons that must be the same in every run and version.

/// Returns the 64-bit FNV-1a hash of bytes.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
