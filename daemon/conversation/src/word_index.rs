//! The word index of messages.

use std::collections::BTreeSet;

use rusqlite::Connection;

use afd_base::text::{self, cut};
use afd_store::{Result, args};

/// Maximum length of the part at the start of a message that is indexed, in characters.
const MAX_HEAD: usize = 48_000;

/// Maximum length of the part at the end of a message that is indexed, in characters.
const MAX_TAIL: usize = 16_000;

/// Maximum number of distinct words that are indexed in a message.
const MAX_WORDS: usize = 512;

/// Returns the key of a word in the index. Four bytes are enough, because a search checks each match against the text
/// of the message.
pub(super) fn key(word: &str) -> i64 {
    text::hash(text::stem(word)) & 0xffff_ffff
}

/// Returns the keys of the words in `text`.
fn keys(text: &str) -> BTreeSet<i64> {
    let head = cut::head(text, MAX_HEAD);
    let tail = cut::tail(text.get(head.len()..).unwrap_or(""), MAX_TAIL);
    let words = [head, tail].into_iter().flat_map(text::words);
    let mut found = BTreeSet::new();
    for word in words {
        if found.len() >= MAX_WORDS {
            break;
        }
        found.insert(key(&word));
    }
    found
}

/// Writes the index entries of a message.
pub fn index(connection: &Connection, conversation: i64, position: i64, text: &str) -> Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT OR IGNORE INTO message_words (conversation_id, word, position) VALUES (:conversation_id, :word, :position)",
    )?;
    for word in keys(text) {
        insert.execute(args! {conversation_id: conversation, word, position})?;
    }
    Ok(())
}

/// Removes the index entries of a message, given its text.
pub fn remove(connection: &Connection, conversation: i64, position: i64, text: &str) -> Result<()> {
    let mut delete = connection.prepare_cached(
        "DELETE FROM message_words WHERE conversation_id = :conversation_id AND word = :word AND position = :position",
    )?;
    for word in keys(text) {
        delete.execute(args! {conversation_id: conversation, word, position})?;
    }
    Ok(())
}
