//! Learned patterns: statements that hold for a page, an app, or everywhere. A pattern's confidence depends on reports
//! of whether it held when it was used.
//!
//! Saving a pattern again raises its prior (its confidence before any use), unless the new source has a lower weight
//! than the current one. An empty `app` or `page` column means that the pattern applies to any app or page.

use std::collections::HashSet;

use afd_proto::pattern::{Pattern, PatternKind, PatternScope};
use rusqlite::{Connection, Row};

use afd_base::belief::{self, Evidence};
use afd_store::exchange::Record;
use afd_store::{Reader, Result, Sql as _, args, elsewhere, new_uid, now_ms, read, said_elsewhere, to_json, word};

/// Prior confidence of a pattern that is saved without one.
const DEFAULT_PRIOR: f64 = 0.5;
/// Fraction of its distance to 1 by which the prior rises when a pattern is saved again.
const RELEARN_STEP: f64 = 0.25;

/// A pattern to save.
#[derive(Debug, Clone, Copy)]
pub struct New<'a> {
    /// Kind of the statement.
    pub kind: PatternKind,
    /// Text of the statement.
    pub text: &'a str,
    /// Package of the app that the pattern applies to; empty for any app.
    pub app: &'a str,
    /// Normalised page that the pattern applies to; empty for any page.
    pub page: &'a str,
    /// Visibility of the pattern.
    pub scope: PatternScope,
    /// Structured details of the statement.
    pub data: Option<&'a serde_json::Map<String, serde_json::Value>>,
    /// Confidence before any use, from 0 to 1; `None` for the default.
    pub prior: Option<f64>,
    /// Row id of the session that learned the pattern.
    pub session: Option<i64>,
    /// Source of the statement, such as `user`; `None` is weighted like `assistant`.
    pub source: Option<&'a str>,
}

/// Columns from which a pattern's confidence is computed.
const EVIDENCE: &str = "prior, held, failed, last_used_at";

fn evidence(row: &Row<'_>) -> rusqlite::Result<Evidence> {
    Ok(read!(row => Evidence {
        prior, held, failed,
        at: row.get("last_used_at")?,
    }))
}

fn evidence_of(connection: &Connection, id: i64) -> Result<Option<Evidence>> {
    let sql = format!("SELECT {EVIDENCE} FROM patterns WHERE id = :id AND deleted_at IS NULL");
    connection.first(&sql, args! {id}, evidence)
}

const SELECT: &str = concat!(
    "SELECT p.id, p.uid, p.kind, p.text, p.scope, p.source, p.app, p.page, p.data, p.confidence, p.usage_count, p.success_count, p.failure_count,
        p.last_used_at, s.name, p.created_at, ",
    elsewhere!("p"),
    " FROM patterns p LEFT JOIN sessions s ON s.id = p.session_id"
);

fn read(row: &Row<'_>) -> rusqlite::Result<Pattern> {
    let some = |name: &str| row.get::<_, String>(name).map(|text| (!text.is_empty()).then_some(text));
    let (origin, source) = (row.get::<_, Option<String>>("elsewhere")?, row.get::<_, Option<String>>("source")?);
    Ok(read!(row => Pattern {
        id, uid, text, confidence, usage_count, success_count, failure_count, last_used_at, created_at,
        source: if origin.is_some() { Some(said_elsewhere(source.as_deref())) } else { source },
        origin: origin,
        kind: word(row, "kind")?,
        scope: word(row, "scope")?,
        app: some("app")?,
        page: some("page")?,
        data: row.get::<_, Option<String>>("data")?.and_then(|text| serde_json::from_str(&text).ok()),
        session: row.get("name")?,
    }))
}

/// Returns a pattern by its row id, or `None` if it is missing or deleted.
pub fn get(connection: &Connection, id: i64) -> Result<Option<Pattern>> {
    let sql = format!("{SELECT} WHERE p.id = :id AND p.deleted_at IS NULL");
    connection.first(&sql, args! {id}, read)
}

/// Returns the weight of a source. A source cannot change a pattern that came from a source with a higher weight, so
/// pages and tools never change statements by the user or the assistant.
fn weight(source: Option<&str>) -> u8 {
    match source {
        Some("user") => 2,
        Some("assistant") | None => 1,
        Some(_) => 0,
    }
}

/// Inserts a pattern and returns it. A pattern that already exists is updated by [`save_again`] instead.
pub fn save(connection: &Connection, origin: &str, new: &New<'_>) -> Result<Pattern> {
    let (now, prior) = (now_ms(), new.prior.unwrap_or(DEFAULT_PRIOR));
    let known = connection.first(
        concat!(
            "SELECT p.id, p.source, ",
            elsewhere!("p"),
            " FROM patterns p WHERE kind = :kind AND app = :app AND page = :page AND text = :text AND scope = :scope
                    AND (scope <> 'session' OR session_id IS :session) AND deleted_at IS NULL"
        ),
        args! {
            kind: new.kind.word(), app: new.app, page: new.page, text: new.text, scope: new.scope.word(),
            session: new.session
        },
        |row| {
            Ok((
                row.get::<_, i64>("id")?,
                row.get::<_, Option<String>>("source")?,
                row.get::<_, Option<String>>("elsewhere")?,
            ))
        },
    )?;
    let id = match known {
        Some((id, source, elsewhere)) => {
            let known = if elsewhere.is_some() { 0 } else { weight(source.as_deref()) };
            if weight(new.source) >= known {
                save_again(connection, id, new, known, now)?;
            }
            id
        }
        None => connection.one(
            "INSERT INTO patterns (uid, origin, session_id, kind, text, scope, source, app, page, data, prior, confidence, created_at,
                    updated_at)
                 VALUES (:uid, :origin, :session_id, :kind, :text, :scope, :source, :app, :page, :data, :prior, :confidence, :now, :now)
                 RETURNING id",
            args! {
                uid: new_uid(), origin, session_id: new.session, kind: new.kind.word(), text: new.text,
                scope: new.scope.word(), source: new.source, app: new.app, page: new.page,
                data: new.data.map(to_json), prior, confidence: Evidence::new(prior).confidence(now), now
            },
            |row| row.get("id"),
        )?,
    };
    Ok(get(connection, id)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?)
}

/// Raises the prior of a pattern that is saved again, and replaces its details if new ones are given. `known` is the
/// weight of the current source. A source with a higher weight takes over the pattern: if it gives a prior, that value
/// is used unchanged, and existing details from a page or tool are dropped.
fn save_again(connection: &Connection, id: i64, new: &New<'_>, known: u8, now: i64) -> Result<()> {
    let takes_over = weight(new.source) > known;
    let before = evidence_of(connection, id)?.unwrap_or(Evidence::new(new.prior.unwrap_or(DEFAULT_PRIOR)));
    let again = before.prior + (1.0 - before.prior) * RELEARN_STEP;
    let prior = if takes_over { new.prior.unwrap_or(again) } else { new.prior.unwrap_or(0.0).max(again) };
    let evidence = Evidence { prior, ..before };
    connection.run(
        "UPDATE patterns SET prior = :prior, confidence = :confidence, updated_at = :now,
                data = CASE WHEN :forget THEN :data ELSE coalesce(:data, data) END,
                source = CASE WHEN :takes_over OR :data IS NOT NULL THEN :source ELSE source END
             WHERE id = :id",
        args! {
            id, prior: evidence.prior, confidence: evidence.confidence(now), takes_over,
            forget: takes_over && known == 0, data: new.data.map(to_json), source: new.source, now
        },
    )?;
    Ok(())
}

/// Fills in `held` and `failed` in a record from an older version of the program. That version did not reduce the
/// weight of reports over time, so the plain counts apply.
pub fn complete(record: &mut Record) {
    for (field, counted) in [("held", "successCount"), ("failed", "failureCount")] {
        if let Some(count) = record.get(counted).cloned().filter(|_| !record.contains_key(field)) {
            record.insert(field.to_owned(), count);
        }
    }
}

/// Conditions that listed patterns must meet.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Normalised page. Matches patterns for this page and patterns for any page; an empty string matches only the
    /// latter.
    pub page: Option<String>,
    /// Package of the app. Matches patterns for this app and patterns for any app.
    pub app: Option<String>,
    /// Kind of the patterns.
    pub kind: Option<PatternKind>,
    /// Row id of the session that learned the patterns.
    pub session: Option<i64>,
    /// Reader of the patterns. Only [`Reader::Keeper`] can see the private patterns of other sessions.
    pub reader: Reader,
    /// Substring of the text, case-insensitive for ASCII.
    pub text: Option<String>,
    /// Minimum confidence, 0 to 1.
    pub least: f64,
    /// Maximum number of patterns to return.
    pub limit: usize,
}

/// Returns matching patterns: those of the page first, then those of the app, then the rest. Each group is sorted by
/// decreasing confidence.
pub fn find(connection: &Connection, filter: &Filter) -> Result<Vec<Pattern>> {
    let text =
        filter.text.as_ref().map(|t| format!("%{}%", t.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")));
    let sql = format!(
        "{SELECT} WHERE p.deleted_at IS NULL AND (:page IS NULL OR p.page = :page OR (p.page = '' AND (:app IS NOT NULL OR p.app = '')))
            AND (:app IS NULL OR p.app = :app OR p.app = '' OR (:page <> '' AND p.page = :page)) AND (:kind IS NULL OR p.kind = :kind)
            AND (:session IS NULL OR p.session_id = :session) AND (:all OR p.scope <> 'session' OR p.session_id = :reader)
            AND (:text IS NULL OR p.text LIKE :text ESCAPE '\\') AND p.confidence >= :least
         ORDER BY (:page IS NOT NULL AND p.page = :page) DESC, (:app IS NOT NULL AND p.app = :app) DESC, p.confidence DESC, p.id DESC LIMIT :limit"
    );
    connection.all(
        &sql,
        args! {
            page: filter.page, app: filter.app, kind: filter.kind.map(PatternKind::word), session: filter.session,
            all: filter.reader == Reader::Keeper,
            reader: match filter.reader { Reader::Session(id) => Some(id), Reader::Nobody | Reader::Keeper => None, },
            text, least: filter.least, limit: i64::try_from(filter.limit).unwrap_or(i64::MAX)
        },
        read,
    )
}

/// Returns the first field, other than the text, in which two patterns differ, or `None` if there is no such field.
/// Patterns with such a difference are not about the same thing.
pub fn difference(one: &Pattern, other: &Pattern) -> Option<&'static str> {
    let fields = [
        ("kind", one.kind != other.kind),
        ("scope", one.scope != other.scope),
        ("app", one.app != other.app),
        ("page", one.page != other.page),
        ("session", one.scope == PatternScope::Session && one.session != other.session),
        ("data", one.data != other.data),
        ("source", one.source != other.source),
    ];
    fields.into_iter().find_map(|(field, differs)| differs.then_some(field))
}

/// Merges the pattern `other` into the equivalent pattern `keep`: adds the uses of `other` to those of `keep`, and
/// deletes `other`. Returns the merged pattern, or `None` if either is missing.
pub fn merge(connection: &Connection, keep: i64, other: i64) -> Result<Option<Pattern>> {
    let (Some(kept), Some(gone)) = (evidence_of(connection, keep)?, evidence_of(connection, other)?) else {
        return Ok(None);
    };
    let now = now_ms();
    let both = kept.with(gone);
    connection.run(
        "UPDATE patterns SET prior = :prior, held = :held, failed = :failed, confidence = :confidence, updated_at = :now,
                success_count = patterns.success_count + o.success_count, failure_count = patterns.failure_count + o.failure_count,
                usage_count = patterns.usage_count + o.usage_count, last_used_at = :used_at
             FROM (SELECT * FROM patterns WHERE id = :other) o WHERE patterns.id = :keep",
        args! {
            keep, other, prior: both.prior, held: both.held, failed: both.failed, confidence: both.confidence(now),
            used_at: both.at, now
        },
    )?;
    delete(connection, other)?;
    get(connection, keep)
}

/// Recalculates confidences, because the weight of reports decreases over time. Changes up to `limit` patterns and
/// returns their uids. Their modification times are left unchanged, because nothing new was reported.
pub fn refresh(connection: &Connection, now: i64, limit: usize) -> Result<Vec<String>> {
    let sql =
        format!("SELECT id, uid, confidence, {EVIDENCE} FROM patterns WHERE held + failed > 0 AND deleted_at IS NULL");
    let rows: Vec<(i64, String, f64, f64)> = connection.all(&sql, [], |row| {
        Ok((
            row.get::<_, i64>("id")?,
            row.get::<_, String>("uid")?,
            row.get::<_, f64>("confidence")?,
            evidence(row)?.confidence(now),
        ))
    })?;
    let mut update = connection.prepare_cached("UPDATE patterns SET confidence = :confidence WHERE id = :id")?;
    let mut refreshed = Vec::new();
    for (id, uid, _, confidence) in rows.into_iter().filter(|(_, _, old, new)| belief::differ(*old, *new)).take(limit) {
        update.execute(args! {id, confidence})?;
        refreshed.push(uid);
    }
    Ok(refreshed)
}

/// Returns up to `limit` validation rules, flaky elements and visual baselines that a session can see. Only patterns
/// for exactly these normalised pages of an app are returned. Within a page, the pattern of each kind with the highest
/// confidence comes first.
pub fn of_pages(
    connection: &Connection,
    pages: &[String],
    app: &str,
    session: i64,
    least: f64,
    limit: usize,
) -> Result<Vec<Pattern>> {
    // The best pattern of each kind comes before the second best of any kind.
    let sql = format!(
        "{SELECT} WHERE p.page = :page AND p.deleted_at IS NULL AND p.kind IN ('validationRule', 'flakyElement', 'visualBaseline')
            AND p.app IN (:app, '') AND (p.scope <> 'session' OR p.session_id = :session) AND p.confidence >= :least
         ORDER BY row_number() OVER (PARTITION BY p.kind ORDER BY p.confidence DESC, p.id DESC), p.confidence DESC, p.id DESC LIMIT :limit"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found: Vec<Pattern> = Vec::new();
    for page in pages.iter().filter(|page| !page.is_empty()) {
        let most = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = args! {page, app, session, least, limit: most};
        found.extend(statement.query_map(values, read)?.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    let mut seen = HashSet::new();
    found.retain(|p| seen.insert(p.id));
    found.truncate(limit);
    Ok(found)
}

/// Returns up to `limit` patterns of a session, app and scope, newest first. The result includes private patterns, so
/// this function is only for maintenance.
pub fn list(
    connection: &Connection,
    session: Option<i64>,
    app: Option<&str>,
    scope: Option<PatternScope>,
    limit: usize,
) -> Result<Vec<Pattern>> {
    let sql = format!(
        "{SELECT} WHERE p.deleted_at IS NULL AND (:session IS NULL OR p.session_id = :session) AND (:scope IS NULL OR p.scope = :scope)
            AND (:app IS NULL OR p.app = :app) ORDER BY p.id DESC LIMIT :limit"
    );
    connection.all(
        &sql,
        args! {
            session, scope: scope.map(PatternScope::word), app, limit: i64::try_from(limit).unwrap_or(i64::MAX)
        },
        read,
    )
}

/// Records that a pattern was used and whether it held (`None`: unknown). Returns the pattern, or `None` if there is no
/// such pattern.
pub fn used(connection: &Connection, id: i64, held: Option<bool>) -> Result<Option<Pattern>> {
    let Some(before) = evidence_of(connection, id)? else { return Ok(None) };
    let now = now_ms();
    let after = before.used(held, now);
    connection.run(
        "UPDATE patterns SET success_count = success_count + :success, failure_count = failure_count + :failure,
                usage_count = usage_count + 1, held = :held, failed = :failed, confidence = :confidence, last_used_at = :now,
                updated_at = :now WHERE id = :id",
        args! {
            id, success: held == Some(true), failure: held == Some(false), held: after.held, failed: after.failed,
            confidence: after.confidence(now), now
        },
    )?;
    get(connection, id)
}

/// Result of changing the scope of a pattern.
#[derive(Debug, Clone, PartialEq)]
pub enum Promoted {
    /// The pattern, with its new scope.
    Done(Box<Pattern>),
    /// There is no such pattern.
    Unknown,
    /// The pattern has no app, so it cannot be shared with the users of an app.
    NoApp,
    /// An identical pattern with the new scope already exists. The variant holds the row id of that pattern.
    Known(i64),
}

/// Changes the scope of a pattern.
pub fn promote(connection: &Connection, id: i64, scope: PatternScope) -> Result<Promoted> {
    let Some(pattern) = get(connection, id)? else { return Ok(Promoted::Unknown) };
    if scope == PatternScope::App && pattern.app.is_none() {
        return Ok(Promoted::NoApp);
    }
    let same = connection.first(
        "SELECT other.id FROM patterns p JOIN patterns other ON other.kind = p.kind AND other.app = p.app AND other.page = p.page
                AND other.text = p.text AND other.id <> p.id AND other.deleted_at IS NULL AND other.scope = :scope
                AND (:scope <> 'session' OR other.session_id IS p.session_id) WHERE p.id = :id",
        args! {id, scope: scope.word()},
        |row| row.get("id"),
    )?;
    if let Some(other) = same {
        return Ok(Promoted::Known(other));
    }
    connection.run(
        "UPDATE patterns SET scope = :scope, updated_at = :now WHERE id = :id",
        args! {id, scope: scope.word(), now: now_ms()},
    )?;
    Ok(get(connection, id)?.map_or(Promoted::Unknown, |pattern| Promoted::Done(Box::new(pattern))))
}

/// Deletes a pattern, erases its content and returns its uid, or `None` if there is no such pattern.
pub fn delete(connection: &Connection, id: i64) -> Result<Option<String>> {
    connection.first(
        "UPDATE patterns SET text = '', data = NULL, deleted_at = :now, updated_at = :now WHERE id = :id AND deleted_at IS NULL RETURNING uid",
        args! {id, now: now_ms()},
        |row| row.get("uid"),
    )
}
