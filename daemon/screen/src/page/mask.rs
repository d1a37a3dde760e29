//! Masking of digits and times, which may change while an element stays the same, and of secrets, which must not be
//! shown.

/// Replacement for the text of a password field; it does not reveal the length of that text.
pub const HIDDEN: &str = "\u{2022}\u{2022}\u{2022}\u{2022}\u{2022}\u{2022}";

/// Replaces each number or time, including the separators between its digits, with a single `#`.
pub fn digits(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let chars: Vec<char> = text.chars().collect();
    let mut i = 0;
    while i < chars.len() {
        if !chars[i].is_numeric() {
            out.push(chars[i]);
            i += 1;
            continue;
        }
        while i < chars.len()
            && (chars[i].is_numeric()
                || (matches!(chars[i], '.' | ',' | ':' | '/') && chars.get(i + 1).is_some_and(|c| c.is_numeric())))
        {
            i += 1;
        }
        out.push('#');
    }
    out
}

/// Returns whether the words of an editable node, such as its id and description, indicate that it holds a secret.
pub fn names_secret(words: &[Option<&str>]) -> bool {
    const SIGNS: &[&str] = &[
        "passw",
        "pwd",
        "passcode",
        "passphrase",
        "secret",
        "cvv",
        "cvc",
        "pincode",
        "pin_code",
        "pin code",
        "otp",
        "kennwort",
        "\u{5bc6}\u{7801}",
    ];
    words.iter().flatten().map(|w| w.to_lowercase()).any(|w| SIGNS.iter().any(|s| w.contains(s)) || w.ends_with("/pin"))
}

/// Returns whether text consists only of the bullets or asterisks that hide a secret.
pub fn is_bullets(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| matches!(c, '\u{2022}' | '\u{25cf}' | '*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_masked_as_one() {
        assert_eq!(digits("2 min ago"), digits("13 min ago"));
        assert_eq!(digits("12:45, 1,204.50 EUR"), "#, # EUR");
        assert_eq!(digits("a1b22."), "a#b#.");
        assert_ne!(digits("2 min ago"), digits("2 h ago"));
    }

    #[test]
    fn secrets_are_recognised() {
        assert!(names_secret(&[Some("org.example:id/password_field"), None]));
        assert!(names_secret(&[None, Some("Enter your PIN code")]));
        assert!(!names_secret(&[Some("org.example:id/shopping"), Some("Name")]));
        assert!(is_bullets("\u{2022}\u{2022}") && !is_bullets("") && !is_bullets("a\u{2022}"));
    }
}
