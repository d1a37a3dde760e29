//! Hexadecimal encoding.

use std::fmt::Write;

/// Encodes bytes as lower-case hexadecimal, two digits per byte.
pub fn encode(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn encodes_two_digits_per_byte() {
        assert_eq!(super::encode(&[0, 0x0f, 0xab]), "000fab");
    }
}
