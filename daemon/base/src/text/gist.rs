//! A hash of a text's wording, to recognise texts that use the same words to say the same thing.

use super::{fold, hash};

/// Returns a hash of a text's wording: its words and symbols, in order. Texts have the same hash if they differ only in
/// case, accents, whitespace, prose punctuation and the English article `the`.
///
/// All other words count, because even a short word can reverse a statement. In other languages, such as German,
/// articles count, too. Symbols count where they have a meaning, as in `a < b`, `-5`, `!done` and `3.5`. A symbol
/// that could be meaningful or mere punctuation counts.
pub fn gist(text: &str) -> i64 {
    let letters: Vec<char> = text.chars().collect();
    let mut said = String::with_capacity(text.len());
    for (i, c) in letters.iter().copied().enumerate() {
        let before = i.checked_sub(1).map(|at| letters[at]);
        if c.is_ascii_alphanumeric() {
            said.push(c.to_ascii_lowercase());
        } else if c.is_alphanumeric() {
            said.push_str(&fold(c.encode_utf8(&mut [0; 4])));
        } else if ('\u{300}'..='\u{36f}').contains(&c) && before.is_some_and(char::is_alphabetic) {
            // Skip a combining accent on the preceding letter.
        } else if !is_prose(&letters[..i], c, &letters[i + 1..]) {
            said.push(c);
        } else if !said.ends_with(' ') {
            said.push(' ');
        }
    }
    let words = said.split(' ').filter(|word| !word.is_empty() && *word != "the");
    hash(&words.collect::<Vec<_>>().join(" "))
}

/// Returns whether a character that is neither a letter nor a digit only separates words or ends a sentence. `before`
/// and `after` are the characters around it.
fn is_prose(before: &[char], c: char, after: &[char]) -> bool {
    let (previous, next) = (before.last().copied(), after.first().copied());
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_digit = |c: Option<char>| c.is_some_and(char::is_numeric);
    let is_figure = |c: Option<&char>| c.is_some_and(|c| c.is_numeric() || "+-*/^=<>%".contains(*c));
    match c {
        // These symbols count within a number, a version, a host name or a time.
        '.' => !(is_digit(next) || is_word(previous) && is_word(next)),
        ',' | ':' => !(is_digit(previous) && is_digit(next)),
        // A hyphen within a word, or a bullet at the start of a line, is prose.
        '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' => {
            is_word(previous) && is_word(next)
                || previous.is_none_or(|c| c == '\n') && next.is_none_or(char::is_whitespace)
        }
        '!' => !is_word(next) && next != Some('='),
        '(' => !is_figure(before.iter().rfind(|c| !c.is_whitespace())) && !is_figure(after.first()),
        ')' => !is_figure(before.last()) && !is_figure(after.iter().find(|c| !c.is_whitespace())),
        ';' | '?' | '"' | '\'' | '[' | ']' | '{' | '}' | '`' => true,
        // General punctuation (quotation marks, ellipses, bullets), and full-width and non-Latin punctuation, are
        // prose.
        '\u{a1}' | '\u{ab}' | '\u{b7}' | '\u{bb}' | '\u{bf}' | '\u{60c}' | '\u{61b}' | '\u{61f}' | '\u{6d4}' => true,
        '\u{964}' | '\u{2016}'..='\u{2027}' | '\u{3001}' | '\u{3002}' | '\u{3008}'..='\u{3011}' | '\u{30fb}' => true,
        '\u{ff01}' | '\u{ff08}' | '\u{ff09}' | '\u{ff0c}' | '\u{ff0e}' | '\u{ff1a}' | '\u{ff1b}' | '\u{ff1f}' => true,
        _ => c.is_whitespace() || c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::gist;

    #[test]
    fn what_only_looks_different_says_the_same() {
        for (one, other) in [
            ("The password needs 8 characters", "the password needs 8 characters."),
            ("Tap the Save button", "tap Save button!"),
            ("- Wait; then (again) \u{201c}OK\u{201d}", "wait, then again 'OK'"),
            ("\u{5bc6}\u{7801}\u{ff1a}8\u{4f4d}\u{3002}", "\u{5bc6}\u{7801} 8\u{4f4d}"),
            ("Wi-Fi is off", "wi fi is off"),
            ("Caf\u{e9} \u{dc}BER", "cafe\u{301} uber"),
        ] {
            assert_eq!(gist(one), gist(other), "{one} / {other}");
        }
    }

    #[test]
    fn words_signs_and_order_make_a_difference() {
        for (one, other) in [
            ("8 characters", "9 characters"),
            ("a < b", "a > b"),
            ("the offset is -5", "the offset is 5"),
            ("price * 1.5", "price * 15"),
            ("at most 3,5 kg", "at most 35 kg"),
            ("x != y", "x = y"),
            ("discount +5%", "discount 5"),
            ("opens at 10:30", "opens at 1030"),
            ("The password needs 8 characters", "The password needs 9 characters"),
            ("The field accepts blanks", "The field does not accept blanks"),
            ("Das Feld nimmt Leerzeichen", "Das Feld nimmt keine Leerzeichen"),
            ("Pay the buyer from the seller account", "Pay the seller from the buyer account"),
            ("Der Kunde mahnt den H\u{e4}ndler", "Den Kunden mahnt der H\u{e4}ndler"),
            ("use staging, never production", "use production, never staging"),
            ("a/b", "a b"),
            ("reply with \u{1f44d}", "reply with \u{1f44e}"),
            ("x \u{2260} y", "x = y"),
            ("the balance is -$5", "the balance is $5"),
            ("-.5", "5"),
            ("\u{2013}5", "5"),
            ("a - b", "a b"),
            ("sort by -date", "sort by date"),
            ("visible if !loading", "visible if loading"),
            ("2 * (3 + 4)", "2 * 3 + 4"),
        ] {
            assert_ne!(gist(one), gist(other), "{one} / {other}");
        }
    }
}
