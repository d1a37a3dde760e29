//! Tokens for the properties that a search can be limited to. The text index contains them beside the words of an entry,
//! so that it filters entries itself.

use afd_proto::recall::EntryType;

use super::Described;
use afd_base::text::{self, tokens};

/// Returns the tokens for the properties of an entry.
pub(super) fn of(d: &Described) -> String {
    let seen = (!d.private).then(seen_by_all);
    let session = d.session.map(of_session);
    let thread = d.turn.map(|turn| of_thread(turn.thread));
    let mut all: Vec<String> = [Some(of_type(d.kind)), seen, session, thread].into_iter().flatten().collect();
    if d.kind == EntryType::Note {
        all.push(about_app(&d.app));
        all.extend(d.title.match_indices('/').map(|(end, _)| below_topic(&d.title[..end])));
    }
    all.join(" ")
}

/// Returns the hash of a text as hexadecimal digits, because the value of a property may have no minus sign.
fn hashed(text: &str) -> String {
    format!("{:x}", text::hash(text))
}

/// Returns the token of the notes about an app; about none if the name is empty.
pub fn about_app(app: &str) -> String {
    tokens::property('a', &hashed(app))
}

/// Returns the token of the notes whose topics are below a path.
pub fn below_topic(path: &str) -> String {
    tokens::property('p', &hashed(path))
}

/// Returns the token of the entries that every session may see.
pub fn seen_by_all() -> String {
    tokens::property('v', "all")
}

/// Returns the token of the entries of a type.
pub fn of_type(kind: EntryType) -> String {
    tokens::property('t', kind.word())
}

/// Returns the token of the entries that a session recorded.
pub fn of_session(session: i64) -> String {
    tokens::property('s', &session.to_string())
}

/// Returns the token of the messages of a conversation.
pub fn of_thread(thread: i64) -> String {
    tokens::property('c', &thread.to_string())
}
