//! Bytes as hexadecimal digits.

use std::fmt::Write;

/// Two digits for each byte, in lower case.
pub fn encode(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_byte_has_two_digits() {
        assert_eq!(super::encode(&[0, 0x0f, 0xab]), "000fab");
    }
}
