//! Messages about errors on a page, in several languages.
//!
//! Only short texts count, and only phrases that begin or are a whole text or sentence: an article about an error is not an
//! error. Whether the text belongs to the page is for the caller to know.

use std::sync::LazyLock;

use super::folding::fold;
use super::snapshot::{Flag, Snapshot};

/// Maximum length of a message, in characters.
const MAX_LENGTH: usize = 160;

/// Phrases that report an error, folded.
static PHRASES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let lines = include_str!("errors.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(fold).collect()
});

/// Returns the first text in front that reports an error, among those for which `is_new` holds.
pub fn error_text(snapshot: &Snapshot, is_new: impl Fn(&str) -> bool) -> Option<String> {
    let front = super::structure::front_nodes(snapshot);
    let nodes = front.into_iter().map(|index| &snapshot.nodes[index]).filter(|node| node.is(Flag::Visible));
    let texts =
        nodes.filter(|node| !node.is(Flag::Editable)).flat_map(|node| [node.text.as_deref(), node.desc.as_deref()]);
    texts.flatten().find(|text| reports_error(text) && is_new(text)).map(|text| text.trim().to_owned())
}

/// Returns whether a text reports an error.
pub fn reports_error(text: &str) -> bool {
    if text.chars().count() > MAX_LENGTH {
        return false;
    }
    let folded = fold(text);
    folded.split(['.', '!', '\n', '。', '！']).map(str::trim).any(|sentence| {
        PHRASES.iter().any(|phrase| match phrase.strip_suffix('*') {
            Some(start) => sentence.starts_with(start),
            None => sentence == phrase,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_about_errors_are_found_in_several_languages() {
        for text in [
            "Something went wrong",
            "Oops! Something went wrong. Please try again.",
            "Couldn’t load your orders",
            "No internet connection",
            "Error 503",
            "404 Not Found",
            "Etwas ist schiefgelaufen",
            "Keine Internetverbindung",
            "Une erreur est survenue",
            "Algo salió mal",
            "Qualcosa è andato storto",
            "Что-то пошло не так",
            "出错了",
            "エラーが発生しました",
            "This site can’t be reached",
        ] {
            assert!(reports_error(text), "{text}");
        }
        for text in [
            "Report an error",
            "How to avoid errors",
            "No items",
            "Try it",
            "The comedy of errors",
            "Room 404",
            "404",
            "Error: 0",
            "Unfortunately, this tea is sold out",
            "Not found what you need? Ask us",
            "Loading",
            "Wrong number",
            "Offline maps",
        ] {
            assert!(!reports_error(text), "{text}");
        }
    }
}
