//! Names of keys.

/// Names of keys and their Android key codes.
const KEYS: &[(&str, i32)] = &[
    ("home", 3),
    ("back", 4),
    ("up", 19),
    ("down", 20),
    ("left", 21),
    ("right", 22),
    ("volume-up", 24),
    ("volume-down", 25),
    ("power", 26),
    ("tab", 61),
    ("space", 62),
    ("enter", 66),
    ("return", 66),
    ("delete", 67),
    ("backspace", 67),
    ("menu", 82),
    ("search", 84),
    ("escape", 111),
    ("recent", 187),
];

/// Returns the Android key code for a name in any case, such as `Enter`, `VOLUME_UP` or `KEYCODE_BACK`, or for a number
/// in digits.
pub fn code(text: &str) -> Option<i32> {
    let plain = text.trim().to_lowercase().replace(['_', ' '], "-");
    let plain = plain.strip_prefix("keycode-").unwrap_or(&plain);
    let named = KEYS.iter().find(|(name, _)| *name == plain).map(|(_, code)| *code);
    named.or_else(|| plain.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn keys_are_named_in_any_case() {
        assert_eq!(["Enter", "KEYCODE_BACK", "volume up", "66"].map(code), [Some(66), Some(4), Some(24), Some(66)]);
        assert_eq!(["", "zork", "6.5"].map(code), [None; 3]);
    }
}
