//! Excerpts of long texts around the words of a query.

use super::language::Language;
use super::tokens::{self, Wanted};

/// A word of a text: where it is, in bytes.
struct Place {
    from: usize,
    to: usize,
    /// Index of the query word that it is; `None` if it is none.
    word: Option<usize>,
}

/// Returns the words of a text.
fn places(text: &str, words: &[Wanted]) -> Vec<Place> {
    let language = Language::of(text);
    let mut places = Vec::new();
    let mut begin = None;
    let is_part = |c: char| c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c);
    let mut add = |from: usize, to: usize| {
        let own = tokens::of_part(&text[from..to], language);
        places.push(Place { from, to, word: words.iter().position(|wanted| wanted.is_in(&own)) });
    };
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    for (i, (at, c)) in chars.iter().copied().enumerate() {
        let next = chars.get(i + 1).map_or(text.len(), |(next, _)| *next);
        if super::is_dense(c) {
            if let Some(from) = begin.take() {
                add(from, at);
            }
            // A pair of characters is a word, as in the index.
            let pair = chars.get(i + 2).map_or(text.len(), |(next, _)| *next);
            let is_pair = chars.get(i + 1).is_some_and(|(_, next)| super::is_dense(*next));
            add(at, if is_pair { pair } else { next });
        } else if is_part(c) {
            begin.get_or_insert(at);
        } else if let Some(from) = begin.take() {
            add(from, at);
        }
    }
    if let Some(from) = begin {
        add(from, text.len());
    }
    places
}

/// Returns the range of about `around` characters of a text that contains most of the words of a query, or the
/// beginning of the text if it contains none, and the words found in the text.
fn best_range(text: &str, words: &[Wanted], around: usize) -> (usize, usize, Vec<Place>) {
    let mut found = places(text, words);
    found.retain(|place| place.word.is_some());
    let size = text.len() * around / text.chars().count().max(1);
    let in_reach = |from: usize| found.iter().filter(move |p| p.from >= from && p.to <= from + size * 2 / 3);
    let count = |from: usize| in_reach(from).filter_map(|p| p.word).collect::<std::collections::BTreeSet<_>>().len();
    let first = found.iter().map(|p| p.from).max_by_key(|from| (count(*from), std::cmp::Reverse(*from))).unwrap_or(0);
    let from = boundary(text, first.saturating_sub(size / 3));
    let from = if first < size / 3 { 0 } else { from };
    let to = boundary(text, (from + size).min(text.len()));
    (from, to, found)
}

/// Returns the byte offset of the character at or before `at`, moved back to the start of its word if that is near.
fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    if at == text.len() {
        return at;
    }
    let head = &text[..at];
    let word = head.rfind(char::is_whitespace).map_or(at, |space| space + 1);
    if at - word.min(at) <= 24 { word.min(at) } else { at }
}

/// Returns an excerpt of about `around` characters, with the words of the query in brackets; `None` if the text has none
/// of them.
pub fn marked(text: &str, words: &[Wanted], around: usize) -> Option<String> {
    let (from, to, found) = best_range(text, words, around);
    if found.is_empty() {
        return None;
    }
    let mut out = String::new();
    let mut at = from;
    for place in found.iter().filter(|place| place.to <= to) {
        if place.from < at && place.to > at && out.ends_with(']') {
            // Pairs of characters overlap.
            out.pop();
            out.push_str(&text[at..place.to]);
        } else if place.from >= at {
            out.push_str(&text[at..place.from]);
            out.push('[');
            out.push_str(&text[place.from..place.to]);
        } else {
            continue;
        }
        out.push(']');
        at = place.to;
    }
    out.push_str(&text[at..to]);
    Some(dotted(&out, from > 0, to < text.len()).replace(['\n', '\t'], " "))
}

/// Returns an excerpt of about `around` characters around the words of a query.
pub fn plain(text: &str, words: &[Wanted], around: usize) -> String {
    let (from, to, _) = best_range(text, words, around);
    dotted(text[from..to].trim(), from > 0, to < text.len())
}

fn dotted(text: &str, before: bool, after: bool) -> String {
    let dots = |cut: bool| if cut { "\u{2026}" } else { "" };
    format!("{}{text}{}", dots(before), dots(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_match_is_shown_in_its_original_spelling() {
        let text = format!("{}Tap the Caf\u{e9} button, then go on {}", "x ".repeat(100), "y ".repeat(100));
        let words = tokens::of_query("cafe");
        let shown = marked(&text, &words, 40).expect("a match");
        assert!(
            shown.contains("[Caf\u{e9}] button") && shown.starts_with('\u{2026}') && shown.ends_with('\u{2026}'),
            "{shown}"
        );
        assert!(plain(&text, &words, 40).contains("Caf\u{e9} button"));
        assert_eq!(marked("nothing here", &tokens::of_query("zebra"), 40), None);
        assert_eq!(plain("nothing here at all", &tokens::of_query("zebra"), 9), "nothing\u{2026}");
    }

    #[test]
    fn the_part_with_most_of_the_query_is_shown() {
        let text = format!("dentist {}the dentist is called Miller {}", "x ".repeat(300), "y ".repeat(300));
        assert!(plain(&text, &tokens::of_query("name of the dentist Miller"), 60).contains("Miller"));
    }

    #[test]
    fn words_in_scripts_without_spaces_are_marked() {
        let shown =
            marked("\u{6253}\u{5f00}\u{8bbe}\u{7f6e}\u{9875}", &tokens::of_query("\u{8bbe}\u{7f6e}\u{9875}"), 40);
        assert_eq!(shown.as_deref(), Some("\u{6253}\u{5f00}[\u{8bbe}\u{7f6e}\u{9875}]"));
        let one = marked("\u{732b}\u{7cae}", &tokens::of_query("\u{732b}"), 40);
        assert!(one.is_some_and(|one| one.contains('[')));
    }
}
