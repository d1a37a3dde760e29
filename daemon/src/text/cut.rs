//! Pure text work for what people read: sentences, and cutting a text at a sensible place.

use unicode_segmentation::UnicodeSegmentation;

/// Where a text is cut, at the latest: within its last fifth a better place is looked for.
const SEARCHED: usize = 5;

/// The longest beginning of a text of at most `most` characters that ends at a sensible place: after a paragraph, a sentence or a
/// word, where one ends in the last fifth, else between two letters as people see them. A text that fits is left alone.
pub fn head(text: &str, most: usize) -> &str {
    let Some((limit, _)) = text.char_indices().nth(most) else { return text };
    let whole = &text[..limit];
    let from = whole.char_indices().nth(most - most / SEARCHED).map_or(0, |(i, _)| i);
    let after = |found: Option<usize>| found.filter(|end| *end > from);
    let paragraph = after(whole.rfind("\n\n").map(|i| i + 1));
    let line = after(whole.rfind('\n').map(|i| i + 1));
    let sentence = after(last_sentence_end(whole));
    let word = after(whole.rfind(char::is_whitespace));
    let end = paragraph.or(line).or(sentence).or(word).unwrap_or_else(|| letter_boundary(text, limit));
    whole[..end].trim_end()
}

/// The longest end of a text of at most `most` characters that begins at a sensible place.
pub fn tail(text: &str, most: usize) -> &str {
    let count = text.chars().count();
    if count <= most {
        return text;
    }
    let Some((limit, _)) = text.char_indices().nth(count - most) else { return "" };
    let whole = &text[limit..];
    let until = whole.char_indices().nth(most / SEARCHED).map_or(whole.len(), |(i, _)| i);
    let line = whole[..until].find('\n').map(|i| i + 1);
    let word = whole[..until].find(char::is_whitespace).map(|i| i + 1);
    // The next whole letter, if the limit is inside one.
    let begin = line.or(word).unwrap_or_else(|| next_letter(text, limit) - limit);
    whole.get(begin..).unwrap_or("").trim_start()
}

/// The end of the last whole sentence.
fn last_sentence_end(text: &str) -> Option<usize> {
    let marks = ['.', '!', '?', '\u{3002}', '\u{ff01}', '\u{ff1f}', '\u{061f}', '\u{0964}'];
    let is_end = |i: usize, c: char| c as u32 > 0x7f || text[i + c.len_utf8()..].starts_with(char::is_whitespace);
    text.char_indices().rev().filter(|(_, c)| marks.contains(c)).find(|(i, c)| is_end(*i, *c)).map(|(i, c)| i + c.len_utf8())
}

/// The last place at or before `limit` that is not inside a letter with its marks, or a composed emoji.
fn letter_boundary(text: &str, limit: usize) -> usize {
    // A cluster is short: a small piece around the limit tells.
    let from = floor(text, limit.saturating_sub(256));
    let to = floor(text, (limit + 256).min(text.len()));
    let piece = &text[from..to];
    piece
        .grapheme_indices(true)
        .map(|(i, _)| from + i)
        .take_while(|i| *i <= limit)
        .last()
        .filter(|i| *i > from || from == 0)
        .unwrap_or(limit)
}

fn next_letter(text: &str, limit: usize) -> usize {
    let from = floor(text, limit.saturating_sub(256));
    let to = floor(text, (limit + 256).min(text.len()));
    text[from..to].grapheme_indices(true).map(|(i, _)| from + i).find(|i| *i >= limit).unwrap_or(to)
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}

/// The first `most` letters as people see them, with `...` where something was cut.
pub fn brief(text: &str, most: usize) -> String {
    // A letter is seldom longer than this, and a long text need not be looked at whole.
    let (limit, whole) =
        text.char_indices().nth(most.saturating_mul(16).saturating_add(256)).map_or((text.len(), true), |(i, _)| (i, false));
    let mut one_line = text[..limit].split_whitespace().collect::<Vec<_>>().join(" ");
    if !whole {
        one_line.push_str(" ...");
    }
    let mut letters = one_line.grapheme_indices(true);
    match letters.nth(most) {
        Some((end, _)) => format!("{}...", one_line[..end].trim_end()),
        None => one_line,
    }
}

/// The sentences of a text, line by line, without blanks around them.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| joined(line.trim())).filter(|s| !s.is_empty())
}

/// Sentences as Unicode cuts them, put together again where a full stop was that of an abbreviation or a number.
fn joined(line: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    let mut begin = 0;
    let mut at = 0;
    for piece in line.split_sentence_bounds() {
        at += piece.len();
        let said = line[begin..at].trim_end();
        let last = said.split_whitespace().next_back().unwrap_or("");
        let short = last.ends_with('.') && last.chars().count() <= 4;
        let dotted = last.matches('.').count() > 1 || ABBREVIATIONS.contains(&last.to_lowercase().as_str());
        let ordinal = last.len() <= 3 && last.trim_end_matches('.').bytes().all(|b| b.is_ascii_digit());
        let abbreviates = short && (ordinal || (dotted && last.starts_with(char::is_alphabetic)));
        if !abbreviates {
            found.push(said.trim());
            begin = at;
        }
    }
    if begin < line.len() {
        found.push(line[begin..].trim());
    }
    found
}

const ABBREVIATIONS: &[&str] = &["mr.", "mrs.", "ms.", "dr.", "st.", "no.", "nr.", "vs.", "etc.", "ca.", "bzw.", "approx."];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_cut_after_words_and_sentences() {
        assert_eq!(head("One sentence here. And a second one", 21), "One sentence here.");
        assert_eq!(head("several words in a row", 14), "several words");
        assert_eq!(head("short", 10), "short");
        assert_eq!(head("これは長い文です。そして次の文", 10), "これは長い文です。");
        assert_eq!(tail("several words in a row", 9), "in a row");
        assert_eq!(head("👨‍👩‍👧x", 3), "", "not even the first letter fits");
        let family = "👨‍👩‍👧".repeat(10);
        assert_eq!(head(&family, 12), "👨‍👩‍👧👨‍👩‍👧");
        assert_eq!(brief("navigate to watchlist on google_tv", 21), "navigate to watchlist...");
        assert_eq!(brief("goto shop", 30), "goto shop");
        assert_eq!(brief(&family, 2), "👨‍👩‍👧👨‍👩‍👧...");
    }

    #[test]
    fn sentences_keep_numbers_and_abbreviations_whole() {
        let text = "It costs 3.50 at Dr. Who's. Done!\n- next line\n\n打开设置。然后选择。\nVom 4. bis 8. August. Gut.";
        assert_eq!(
            sentences(text).collect::<Vec<_>>(),
            ["It costs 3.50 at Dr. Who's.", "Done!", "- next line", "打开设置。", "然后选择。", "Vom 4. bis 8. August.", "Gut."]
        );
    }

    proptest! {
        #[test]
        fn a_cut_is_a_part_of_the_text_and_short_enough(text in "\\PC{0,200}", most in 1_usize..100) {
            let (first, last) = (head(&text, most), tail(&text, most));
            prop_assert!(text.starts_with(first) && text.trim_end().ends_with(last.trim_end()));
            prop_assert!(first.chars().count() <= most && last.chars().count() <= most);
        }
    }
}
