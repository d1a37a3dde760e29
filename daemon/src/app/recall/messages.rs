//! Search over the messages of conversations, for `conversation.search` and for contexts.

use afd_proto::conversation::{FoundMessage, Role};
use afd_proto::recall::{EntryType, SearchMode};

use super::Recall;
use afd_base::text::tokens::{self, Wanted};
use afd_base::text::{cut, snippet};
use afd_conversation::{messages, prepared};
use afd_recall::entries;
use afd_recall::search::{self, Ask, Scope};
use afd_recall::text_index::{self, Effort};
use afd_store::{Connection, Reader, Result, now_ms};

/// Length of the excerpt from a found message, in characters.
const EXCERPT: usize = 160;
/// Age at which half of the reduction for age applies, in days. What was said long ago is searched like the rest.
const HALF_LIFE_DAYS: f64 = 36_500.0;

/// Messages to search.
#[derive(Debug, Clone, Default)]
pub struct Said {
    /// Row id of the session; `None` for the messages of all sessions.
    pub session: Option<i64>,
    /// Row id of the conversation; `None` for all conversations.
    pub thread: Option<i64>,
    /// Only messages by this author.
    pub role: Option<Role>,
    /// Earliest recording time, in Unix milliseconds.
    pub since: Option<i64>,
    /// Latest recording time, in Unix milliseconds.
    pub until: Option<i64>,
}

impl Said {
    fn ask(&self, text: &str, limit: usize) -> Ask {
        Ask {
            text: text.to_owned(),
            vectors: Vec::new(),
            fluency: 0.0,
            knows_script: false,
            mode: SearchMode::Text,
            scope: Scope {
                reader: self.session.map_or(Reader::Keeper, Reader::Session),
                of_session: self.session,
                types: vec![EntryType::Message],
                thread: self.thread,
                role: self.role,
                since: self.since,
                until: self.until,
                now: now_ms(),
                ..Scope::default()
            },
            effort: Effort::SEARCH,
            half_life_days: HALF_LIFE_DAYS,
            limit,
            fold: false,
        }
    }
}

/// Returns the messages that match a query best, best first, with an excerpt as their text. The flag says whether each
/// of them contains all words of the query.
///
/// # Errors
/// If the database cannot be read.
pub fn find(
    recall: &Recall,
    c: &Connection,
    query: &str,
    said: &Said,
    limit: usize,
) -> Result<(Vec<FoundMessage>, bool)> {
    let ask = said.ask(query, limit);
    let ranked = recall.with_index(c, None, |index, _, _| search::run(c, index, index.corpus(), &ask))?;
    let words = tokens::of_query(query);
    let (mut found, mut all) = (Vec::with_capacity(ranked.len()), true);
    for hit in ranked {
        let Some(source) = entries::source_of(c, hit.entry)?.filter(|source| !source.gone) else { continue };
        let Some(kept) = messages::one(c, source.row)? else { continue };
        let message = kept.recorded.message;
        let text = prepared::searched_text(&message);
        let own = text_index::tokens_of(c, hit.entry)?.unwrap_or_default();
        all &= words.iter().all(|word| word.is_in(&own));
        found.push(FoundMessage {
            uid: kept.recorded.uid,
            session: kept.session_name,
            conversation: kept.conversation_name,
            position: kept.recorded.position,
            role: message.role,
            name: message.name,
            text: snippet::marked(&text, &words, EXCERPT).unwrap_or_else(|| cut::brief(&text, EXCERPT)),
            score: (hit.score * 1_000.0).round() / 1_000.0,
            at: kept.recorded.at,
        });
    }
    all &= !found.is_empty();
    Ok((found, all))
}

/// Messages about a question, and its words.
#[derive(Debug, Default)]
pub struct About {
    /// Positions of the messages, best first.
    pub positions: Vec<i64>,
    /// Words of the question, each with its rarity.
    pub words: Vec<(f64, Wanted)>,
    /// Largest share of the question that one of the messages contains, weighted by rarity, 0 to 1.
    pub share: f64,
}

/// Returns up to `limit` messages of a conversation that are about a question, from the positions in `among`.
///
/// # Errors
/// If the database cannot be read.
pub fn about(
    recall: &Recall,
    c: &Connection,
    question: &str,
    (session, thread): (i64, i64),
    among: std::ops::Range<i64>,
    limit: usize,
) -> Result<About> {
    let said = Said { session: Some(session), thread: Some(thread), ..Said::default() };
    // The question itself, and what is not part of the context any more, may be among the best.
    let ask = said.ask(question, limit * 2);
    recall.with_index(c, None, |index, _, _| {
        let mut about = About { words: text_index::words(c, question, index.corpus())?, ..About::default() };
        for hit in search::run(c, index, index.corpus(), &ask)? {
            let position = index.get(hit.entry).and_then(|found| found.turn).map(|turn| turn.position);
            if let Some(position) = position.filter(|position| among.contains(position)) {
                about.positions.push(position);
                about.share = hit.places.iter().map(|place| place.share).fold(about.share, f64::max);
            }
        }
        about.positions.truncate(limit);
        Ok(about)
    })
}
