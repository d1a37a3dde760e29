//! Learning from conversations: when a conversation is compacted, the user's strongest facts become patterns.

use afd_proto::pattern::{PatternKind, PatternScope};
use rusqlite::Connection;

use super::patterns;
use afd_conversation::kept::Fact;
use afd_store::Result;

/// Phrases that mark a user's sentence as a preference.
const PREFERENCE_PHRASES: &[&str] =
    &["prefer", "always", "never", "i want", "i like", "favourite", "favorite", "please use", "don't use"];

/// Saves facts as patterns of `app` with the visibility `scope`. Returns the number of saved facts.
pub fn learn(
    connection: &Connection,
    origin: &str,
    session: i64,
    (app, scope): (Option<&str>, PatternScope),
    facts: &[Fact],
) -> Result<i64> {
    // A pattern without an app cannot be shared with the users of an app.
    let scope = if scope == PatternScope::App && app.is_none() { PatternScope::Session } else { scope };
    for fact in facts {
        let folded = afd_base::text::fold(&fact.text);
        let is_preference = PREFERENCE_PHRASES.iter().any(|w| folded.contains(w));
        let new = patterns::New {
            kind: if is_preference { PatternKind::UserPreference } else { PatternKind::KeyFact },
            text: &fact.text,
            app: app.unwrap_or(""),
            page: "",
            scope,
            data: None,
            prior: None,
            session: Some(session),
            source: Some(fact.role.word()),
        };
        patterns::save(connection, origin, &new)?;
    }
    Ok(i64::try_from(facts.len()).unwrap_or(i64::MAX))
}
