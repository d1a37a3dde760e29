//! Pure functions that prepare text for display: splitting it into sentences, and truncating it at natural boundaries.

use unicode_segmentation::UnicodeSegmentation;

/// Divisor for the size of the search window: natural boundaries are searched for in the last (or first) fifth of the
/// permitted length.
const SEARCH_DIVISOR: usize = 5;

/// Returns the start of `text`, up to `max_len` characters. The result ends after a paragraph, line, sentence or word
/// if one ends in its last fifth, otherwise at a grapheme boundary. Text that fits is returned unchanged.
pub fn head(text: &str, max_len: usize) -> &str {
    let Some((limit, _)) = text.char_indices().nth(max_len) else { return text };
    let whole = &text[..limit];
    let from = whole.char_indices().nth(max_len - max_len / SEARCH_DIVISOR).map_or(0, |(i, _)| i);
    let after = |found: Option<usize>| found.filter(|end| *end > from);
    let paragraph = after(whole.rfind("\n\n").map(|i| i + 1));
    let line = after(whole.rfind('\n').map(|i| i + 1));
    let sentence = after(last_sentence_end(whole));
    let word = after(whole.rfind(char::is_whitespace));
    let end = paragraph.or(line).or(sentence).or(word).unwrap_or_else(|| last_grapheme_boundary(text, limit));
    whole[..end].trim_end()
}

/// Returns the end of `text`, up to `max_len` characters. The result starts after a line or word break if there is one
/// in its first fifth, otherwise at a grapheme boundary.
pub fn tail(text: &str, max_len: usize) -> &str {
    let count = text.chars().count();
    if count <= max_len {
        return text;
    }
    let Some((limit, _)) = text.char_indices().nth(count - max_len) else { return "" };
    let whole = &text[limit..];
    let until = whole.char_indices().nth(max_len / SEARCH_DIVISOR).map_or(whole.len(), |(i, _)| i);
    let line = whole[..until].find('\n').map(|i| i + 1);
    let word = whole[..until].find(char::is_whitespace).map(|i| i + 1);
    // Skip the rest of a grapheme that the limit would cut in two.
    let begin = line.or(word).unwrap_or_else(|| next_grapheme_boundary(text, limit) - limit);
    whole.get(begin..).unwrap_or("").trim_start()
}

/// Returns the byte offset of the end of the last complete sentence; `None` if there is none.
fn last_sentence_end(text: &str) -> Option<usize> {
    let marks = ['.', '!', '?', '\u{3002}', '\u{ff01}', '\u{ff1f}', '\u{061f}', '\u{0964}'];
    let is_end = |i: usize, c: char| c as u32 > 0x7f || text[i + c.len_utf8()..].starts_with(char::is_whitespace);
    text.char_indices()
        .rev()
        .filter(|(_, c)| marks.contains(c))
        .find(|(i, c)| is_end(*i, *c))
        .map(|(i, c)| i + c.len_utf8())
}

/// Returns the last grapheme boundary at or before the byte offset `limit`.
fn last_grapheme_boundary(text: &str, limit: usize) -> usize {
    // Grapheme clusters are short, so a small window around the limit is enough.
    let from = char_boundary_before(text, limit.saturating_sub(256));
    let to = char_boundary_before(text, (limit + 256).min(text.len()));
    let piece = &text[from..to];
    piece
        .grapheme_indices(true)
        .map(|(i, _)| from + i)
        .take_while(|i| *i <= limit)
        .last()
        .filter(|i| *i > from || from == 0)
        .unwrap_or(limit)
}

/// Returns the first grapheme boundary at or after the byte offset `limit`.
fn next_grapheme_boundary(text: &str, limit: usize) -> usize {
    let from = char_boundary_before(text, limit.saturating_sub(256));
    let to = char_boundary_before(text, (limit + 256).min(text.len()));
    text[from..to].grapheme_indices(true).map(|(i, _)| from + i).find(|i| *i >= limit).unwrap_or(to)
}

/// Returns the last character boundary at or before the byte offset `at`.
fn char_boundary_before(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}

/// Returns `text` on one line, with each run of whitespace collapsed to a single space.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Returns the first `max_len` graphemes of `text` on one line, with whitespace collapsed, followed by `...` if `text`
/// is longer.
pub fn brief(text: &str, max_len: usize) -> String {
    // Graphemes are rarely longer than 16 characters, so there is no need to process all of a long text.
    let (limit, whole) = text
        .char_indices()
        .nth(max_len.saturating_mul(16).saturating_add(256))
        .map_or((text.len(), true), |(i, _)| (i, false));
    let mut shown = one_line(&text[..limit]);
    if !whole {
        shown.push_str(" ...");
    }
    let mut graphemes = shown.grapheme_indices(true);
    match graphemes.nth(max_len) {
        Some((end, _)) => format!("{}...", shown[..end].trim_end()),
        None => shown,
    }
}

/// Returns the trimmed sentences in `text`. A line break ends a sentence.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| rejoin_sentences(line.trim())).filter(|s| !s.is_empty())
}

/// Splits a line at Unicode sentence boundaries, and rejoins sentences that were split after an abbreviation or an
/// ordinal number.
fn rejoin_sentences(line: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    let mut begin = 0;
    let mut at = 0;
    for piece in line.split_sentence_bounds() {
        at += piece.len();
        let candidate = line[begin..at].trim_end();
        let last = candidate.split_whitespace().next_back().unwrap_or("");
        let short = last.ends_with('.') && last.chars().count() <= 4;
        let known = ABBREVIATIONS.contains(&last.to_lowercase().as_str());
        let initial = last.chars().count() == 2 && last.starts_with(char::is_uppercase);
        let dotted = last.matches('.').count() > 1 || initial;
        let ordinal = last.len() <= 3 && last.trim_end_matches('.').bytes().all(|b| b.is_ascii_digit());
        let abbreviates = known || short && (ordinal || (dotted && last.starts_with(char::is_alphabetic)));
        if !abbreviates {
            found.push(candidate.trim());
            begin = at;
        }
    }
    if begin < line.len() {
        found.push(line[begin..].trim());
    }
    found
}

/// Lower-case abbreviations whose period does not end a sentence.
const ABBREVIATIONS: &[&str] = &[
    "mr.", "mrs.", "ms.", "dr.", "st.", "no.", "nr.", "vs.", "etc.", "ca.", "bzw.", "approx.", "prof.", "mme.", "sr.",
    "sra.", "dra.", "hr.", "fr.", "sig.", "dott.", "av.",
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_cut_after_words_and_sentences() {
        assert_eq!(head("One sentence here. And a second one", 21), "One sentence here.");
        assert_eq!(head("several words in a row", 14), "several words");
        assert_eq!(head("short", 10), "short");
        assert_eq!(head("これは長い文です。そして次の文", 10), "これは長い文です。");
        assert_eq!(tail("several words in a row", 9), "in a row");
        assert_eq!(head("👨‍👩‍👧x", 3), "", "not even the first grapheme fits");
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
            [
                "It costs 3.50 at Dr. Who's.",
                "Done!",
                "- next line",
                "打开设置。",
                "然后选择。",
                "Vom 4. bis 8. August.",
                "Gut."
            ]
        );
    }

    proptest! {
        #[test]
        fn cut_text_is_part_of_the_original_and_within_the_limit(text in "\\PC{0,200}", max_len in 1_usize..100) {
            let (first, last) = (head(&text, max_len), tail(&text, max_len));
            prop_assert!(text.starts_with(first) && text.trim_end().ends_with(last.trim_end()));
            prop_assert!(first.chars().count() <= max_len && last.chars().count() <= max_len);
        }
    }
}
