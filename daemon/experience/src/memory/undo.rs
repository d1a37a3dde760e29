//! The last action of a session that was not undone yet.

use std::collections::HashSet;

use afd_proto::memory::{EventStatus, OutcomeKind};
use afd_proto::vocabulary::{Action, Verb};
use rusqlite::Connection;
use serde_json::Value;

use super::pages::{self, Page};
use super::{Origin, event_rows};
use afd_screen::page::target::has_hidden_effect;
use afd_store::{Result, args};

/// Maximum number of the newest events of a device that are read.
const EVENTS: i64 = 100;
/// Member of an event's evidence with the uid of the action that the event undid.
pub const UNDOES: &str = "undoes";

/// An action that was sent to a device.
#[derive(Debug, Clone)]
pub struct Done {
    /// Uid of its event.
    pub uid: String,
    /// Final status.
    pub status: EventStatus,
    /// The action.
    pub action: Action,
    /// Details, such as whether a switch was on.
    pub evidence: Value,
    /// The page before it; `None` if that is not known for sure.
    pub before: Option<Page>,
    /// The page to which it led; `None` if that is not known.
    pub after: Option<Page>,
    /// What it did; `None` if that is not known.
    pub outcome: Option<OutcomeKind>,
}

/// The newest action on a device.
#[derive(Debug, Clone)]
pub enum Last {
    /// There is none that is not undone.
    Nothing,
    /// It belongs to another session.
    Other,
    /// It belongs to the session.
    Own(Box<Done>),
}

/// Returns the newest action on a device that was sent, changed something, and is neither undone nor an undo.
pub fn last_done(connection: &Connection, origin: &Origin) -> Result<Last> {
    let mut statement = connection.prepare_cached(&event_rows::select(
        "WHERE e.device_id = :device AND e.origin = :store AND e.category <> 'verify' AND e.sent = 1 ORDER BY e.seq DESC LIMIT :most",
    ))?;
    let mut rows = statement.query(args! {device: origin.device, store: origin.store, most: EVENTS})?;
    let mut undone: HashSet<String> = HashSet::new();
    while let Some(row) = rows.next()? {
        let event = event_rows::event_row(row)?;
        let evidence: Value =
            event.evidence.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        if let Some(uid) = evidence.get(UNDOES).and_then(Value::as_str) {
            undone.insert(uid.to_owned());
            continue;
        }
        // A scroll needs no undo, and neither does an act that changed nothing, unless it may have typed or run something.
        let is_idle = event.action.as_ref().is_some_and(|(action, _)| {
            let changed_nothing = event.outcome == Some(OutcomeKind::Nothing) && !has_hidden_effect(action);
            changed_nothing || matches!(action.verb, Verb::Scroll | Verb::ScrollTo)
        });
        if undone.contains(&event.uid) || is_idle {
            continue;
        }
        if event.session != origin.session {
            return Ok(Last::Other);
        }
        let Some((action, _)) = event.action else { return Ok(Last::Nothing) };
        let after = event.after.map(|id| pages::get(connection, id)).transpose()?.flatten();
        return Ok(Last::Own(Box::new(Done {
            uid: event.uid,
            status: event.status,
            action,
            evidence,
            before: event.page.filter(|_| !event.assumed),
            after,
            outcome: event.outcome,
        })));
    }
    Ok(Last::Nothing)
}
