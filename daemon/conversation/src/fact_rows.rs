//! Rows that store statements.

use afd_proto::Word as _;
use afd_proto::conversation::Role;
use rusqlite::{Connection, Row, Statement};

use super::facts::{About, Kind};
use afd_store::{Result, Sql as _, args, word};

/// Returns how often a word occurs in a conversation, given the word's hash.
pub fn seen(connection: &Connection, conversation: i64, hash: i64) -> Result<i64> {
    Ok(connection
        .first(
            "SELECT seen FROM message_terms WHERE conversation_id = :conversation_id AND hash = :hash",
            args! {conversation_id: conversation, hash},
            |row| row.get("seen"),
        )?
        .unwrap_or(0))
}

/// A message whose statements are being stored.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// Row id of the conversation.
    pub conversation: i64,
    /// Position of the message.
    pub position: i64,
    /// Role of the speaker.
    pub role: Role,
    /// Name of the tool, for tool output.
    pub source: Option<&'a str>,
    /// Time when the message was recorded, in Unix milliseconds.
    pub at: i64,
}

/// A stored statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// Row id of the statement.
    pub id: i64,
    /// Position of the last message that contains the statement.
    pub position: i64,
    /// Place of the statement in the order of that message's statements, from 0.
    pub place: i64,
    /// Role of the speaker.
    pub role: Role,
    /// Name of the tool, for tool output.
    pub source: Option<String>,
    /// Kind of the statement.
    pub kind: Kind,
    /// The sentence that makes the statement.
    pub text: String,
    /// The previous sentence, if the statement is meaningless without it.
    pub about: Option<About>,
    /// Shortened text of the statement that it replaces.
    pub was: Option<String>,
    /// The statement's token count.
    pub tokens: i64,
    /// Score, discounted by the number of sentences that currently have the same template.
    pub score: f64,
    /// Time of recording, in Unix milliseconds.
    pub at: i64,
}

pub(super) const COLUMNS: &str =
    "f.id, f.position, f.place, f.role, f.source, f.kind, f.text, f.about, f.about_by, f.was, f.tokens, f.score, f.at";

/// Column indexes in a query for statements. They are looked up once, because a query reads hundreds of rows.
pub(super) struct Places([usize; 13]);

impl Places {
    pub(super) fn of(statement: &Statement<'_>) -> rusqlite::Result<Self> {
        let names = [
            "id", "position", "place", "role", "source", "kind", "text", "about", "about_by", "was", "tokens", "score",
            "at",
        ];
        let mut places = [0; 13];
        for (place, name) in places.iter_mut().zip(names) {
            *place = statement.column_index(name)?;
        }
        Ok(Self(places))
    }

    pub(super) fn read(&self, row: &Row<'_>) -> rusqlite::Result<Fact> {
        let [id, position, place, role, source, kind, text, about, about_by, was, tokens, score, at] = self.0;
        Ok(Fact {
            id: row.get(id)?,
            position: row.get(position)?,
            place: row.get(place)?,
            role: word(row, role)?,
            source: row.get(source)?,
            kind: Kind::of(row.get_ref(kind)?.as_str()?),
            text: row.get(text)?,
            about: match row.get::<_, Option<String>>(about)? {
                Some(text) => {
                    Some(About { text, by: row.get::<_, Option<String>>(about_by)?.and_then(|by| Role::of(&by)) })
                }
                None => None,
            },
            was: row.get(was)?,
            tokens: row.get(tokens)?,
            score: row.get(score)?,
            at: row.get(at)?,
        })
    }
}
