//! Queries for experience about a place. Rows about its state come first, then those about its page key, its activity
//! and its app.

use std::collections::{HashMap, HashSet};

use afd_proto::ErrorCode;
use afd_proto::memory::{Experience, Outcome, OutcomeKind, Recovery, Scope, Transition};
use afd_proto::vocabulary::{Action, PageRef};
use rusqlite::{Connection, Row, types::ToSql};

use super::outcomes::{self, Counted};
use super::pages::{self, Page};
use super::{Place, rebuild};
use afd_screen::page::target;
use afd_store::{Result, json, now_ms, read, skip_unreadable};

/// A query for experience.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// Place to look up.
    pub place: Place,
    /// Keys of all structures that belong to the state of the place. If empty, the structure of the place is used.
    pub state: Vec<String>,
    /// Failure cause. If given, only recoveries from failures with this cause are returned.
    pub failure_cause: Option<String>,
    /// Whether the daemon makes the query without a caller's request. Such a query returns only rows about this page,
    /// and rows that are filed under its page key alone.
    pub unasked: bool,
    /// Maximum number of transitions to return. The same limit applies to recoveries.
    pub limit: usize,
}

/// The name of a page, and the row id and code of its state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageName {
    /// Row id of the state, needed because codes are unique only within an app or site; `None` if the page is not a
    /// known state.
    pub id: Option<i64>,
    /// Code of the state, once it is defined.
    pub state: Option<String>,
    /// Human-readable name of the page.
    pub name: String,
}

/// A function that returns the name of a page, and the row id and code of its state.
pub type Naming<'a> = &'a dyn Fn(&Connection, &Page) -> Result<PageName>;

/// Returns the name of a page that is not a known state: its title, else the last part of its activity, else its app.
pub fn plain_name(page: &Page) -> PageName {
    let activity = page.activity.rsplit(['/', '.']).next().filter(|a| !a.is_empty());
    let name = page.title.as_deref().or(activity).unwrap_or(&page.app);
    PageName { id: None, state: None, name: name.to_owned() }
}

/// A tier of the search: its scope, an SQL condition on rows, and the values of the condition's parameters.
type Tier = (Scope, String, Vec<String>);

/// Returns the tiers for which the place's values are known, nearest first.
fn tiers(query: &Query) -> Vec<Tier> {
    let place = &query.place;
    let some = |value: &Option<String>| value.clone().filter(|v| !v.is_empty()).into_iter().collect::<Vec<_>>();
    let state = if query.state.is_empty() { some(&place.structure) } else { query.state.clone() };
    let marks = vec!["?"; state.len()].join(", ");
    if query.unasked {
        let by_key = some(&place.page_key).iter().map(|key| pages::filed_by_key(key)).collect();
        let tiers =
            [(Scope::State, format!("from_key IN ({marks})"), state), (Scope::Page, "from_key = ?".to_owned(), by_key)];
        return tiers.into_iter().filter(|(_, _, values)| !values.is_empty()).collect();
    }
    [
        (Scope::State, format!("from_key IN ({marks})"), state),
        (Scope::Page, "page_id IN (SELECT id FROM pages WHERE page_key = ?)".to_owned(), some(&place.page_key)),
        (Scope::Activity, "activity = ?".to_owned(), some(&place.activity)),
        (Scope::App, "app = ?".to_owned(), some(&place.app)),
    ]
    .into_iter()
    .filter(|(_, _, values)| !values.is_empty())
    .collect()
}

/// Returns transitions and recoveries, nearest tier first, and best first within a tier. If a failure cause is given,
/// it returns only recoveries; if no place is known, they come from all places. It returns nothing during a rebuild of
/// the counters.
pub fn find(connection: &Connection, query: &Query, naming: Naming<'_>) -> Result<Experience> {
    let mut experience = Experience { transitions: Vec::new(), recoveries: Vec::new() };
    if rebuild::is_under_way(connection)? {
        return Ok(experience);
    }
    let tiers = tiers(query);
    if query.failure_cause.is_none() {
        let rows = search(connection, &tiers, TRANSITIONS, None, query.limit, read_transition)?;
        for (scope, group) in grouped(rows, |t| t.action_key.clone()) {
            experience.transitions.push(to_wire(connection, scope, group, naming)?);
        }
    }
    let cause = query.failure_cause.as_deref();
    let everywhere = [(Scope::App, "1 = 1".to_owned(), Vec::new())];
    let places = if tiers.is_empty() && cause.is_some() { everywhere.as_slice() } else { tiers.as_slice() };
    let recoveries = search(connection, places, RECOVERIES, cause, query.limit, read_recovery)?;
    for (scope, group) in grouped(recoveries, |r| format!("{}|{}", r.failure_cause, r.action_key)) {
        experience.recoveries.push(recovery_to_wire(connection, scope, group, naming)?);
    }
    Ok(experience)
}

/// A table and its sort order. For each tier, the table has a database index in this order.
type Table = (&'static str, &'static str);

const TRANSITIONS: Table = ("transitions", "verified_count DESC, success_count DESC, failure_count, last_at DESC");
const RECOVERIES: Table = ("recoveries", "success_count DESC, failure_count, last_at DESC");

/// Returns rows up to the limit, tier by tier; a row appears only in its nearest tier.
fn search<T>(
    connection: &Connection,
    tiers: &[Tier],
    (table, order): Table,
    cause: Option<&str>,
    limit: usize,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<(Scope, T)>> {
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    for (scope, condition, values) in tiers {
        if out.len() >= limit {
            break;
        }
        let filter = if cause.is_some() { "AND failure_cause = ?" } else { "" };
        // The rows of nearer tiers may match again, so the limit is raised by their number.
        let sql = format!("SELECT * FROM {table} WHERE {condition} {filter} ORDER BY {order} LIMIT ?");
        let wanted = i64::try_from(limit + seen.len()).unwrap_or(i64::MAX);
        let mut statement = connection.prepare_cached(&sql)?;
        let mut parameters: Vec<&dyn ToSql> = values.iter().map(|v| v as &dyn ToSql).collect();
        parameters.extend(cause.as_ref().map(|c| c as &dyn ToSql));
        parameters.push(&wanted);
        let mut rows = statement.query(parameters.as_slice())?;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get("id")?;
            let Some(item) = skip_unreadable(read(row))? else { continue };
            if out.len() < limit && seen.insert(id) {
                out.push((*scope, item));
            }
        }
    }
    Ok(out)
}

/// Groups rows of the state tier that have the same key, because a state may have several structures.
fn grouped<T>(rows: Vec<(Scope, T)>, key: impl Fn(&T) -> String) -> Vec<(Scope, Vec<T>)> {
    let mut at: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<(Scope, Vec<T>)> = Vec::new();
    for (scope, row) in rows {
        let known = if scope == Scope::State { at.get(&key(&row)).copied() } else { None };
        match known {
            Some(index) => groups[index].1.push(row),
            None => {
                if scope == Scope::State {
                    at.insert(key(&row), groups.len());
                }
                groups.push((scope, vec![row]));
            }
        }
    }
    groups
}

/// A row of the table `transitions`.
struct TransitionRow {
    id: i64,
    uid: String,
    page: i64,
    action_key: String,
    action: Action,
    success: i64,
    nothing: i64,
    verified: i64,
    failure: i64,
    failure_cause: Option<String>,
    verify_op: Option<String>,
    last_success_at: Option<i64>,
}

fn read_transition(row: &Row<'_>) -> rusqlite::Result<TransitionRow> {
    Ok(read!(row => TransitionRow {
        id, uid, action_key, failure_cause, verify_op, last_success_at,
        page: row.get("page_id")?,
        action: json(row, "action")?,
        success: row.get("success_count")?,
        nothing: row.get("nothing_count")?,
        verified: row.get("verified_count")?,
        failure: row.get("failure_count")?,
    }))
}

fn page_ref(page: &Page, name: Option<&PageName>) -> PageRef {
    PageRef { key: page.key.clone(), fingerprint: page.fingerprint.clone(), state: name.and_then(|n| n.state.clone()) }
}

/// An outcome with the name of its page.
struct Named {
    counted: Counted,
    name: Option<PageName>,
}

/// Returns the page under a dialog if the dialog appeared spontaneously. A dialog counts as spontaneous if it covers a
/// page other than the one on which the action was performed, and the latter is not a dialog itself.
fn under_pop_up(
    connection: &Connection,
    one: &Counted,
    from: (&Page, &PageName),
    naming: Naming<'_>,
) -> Result<Option<Page>> {
    let over = one.below.as_ref().filter(|_| one.page.as_ref().is_some_and(|p| p.dialog) && !from.0.dialog);
    let Some(under) = over.map(|key| pages::of_structure(connection, key)).transpose()?.flatten() else {
        return Ok(None);
    };
    let name = naming(connection, &under)?;
    // Only known states are compared: a page with a different structure may be the same page.
    let other = name.id.is_some() && from.1.id.is_some() && name.id != from.1.id;
    Ok(other.then_some(under))
}

/// Names outcomes, and merges those that lead to the same page. Returns the merged outcomes, most frequent first. An
/// outcome whose page belongs to the state in which the action was performed counts as a change of that page.
fn named(
    connection: &Connection,
    counted: Vec<Counted>,
    (page, from): (&Page, &PageName),
    naming: Naming<'_>,
) -> Result<Vec<Named>> {
    let mut out: Vec<Named> = Vec::new();
    for mut one in counted {
        if let Some(under) = under_pop_up(connection, &one, (page, from), naming)? {
            one.page = Some(under);
        }
        let name = one.page.as_ref().map(|page| naming(connection, page)).transpose()?;
        if name.as_ref().is_some_and(|n| n.id.is_some() && n.id == from.id) {
            (one.kind, one.page) = (OutcomeKind::Same, None);
        }
        let name = name.filter(|_| one.page.is_some());
        let same = |o: &&mut Named| {
            let place = |c: &Counted| c.page.as_ref().map(|p| (p.structure.clone(), p.key.clone()));
            let known = name.as_ref().is_some_and(|n| n.id.is_some()) && o.name == name;
            o.counted.kind == one.kind && o.counted.cause == one.cause && (known || place(&o.counted) == place(&one))
        };
        match out.iter_mut().find(same) {
            Some(other) => {
                let into = &mut other.counted;
                into.mean_ms = mean(into.mean_ms.map(|m| (m, into.count)), one.mean_ms.map(|m| (m, one.count)));
                into.count += one.count;
                into.verified += one.verified;
                into.last_at = into.last_at.max(one.last_at);
            }
            None => out.push(Named { counted: one, name }),
        }
    }
    out.retain(|o| o.counted.count > 0);
    out.sort_by_key(|o| std::cmp::Reverse((o.counted.count, o.counted.last_at)));
    Ok(out)
}

/// Returns the weighted mean of two means, each given with its count.
fn mean(a: Option<(i64, i64)>, b: Option<(i64, i64)>) -> Option<i64> {
    match (a, b) {
        (Some((a, n)), Some((b, m))) => (a * n + b * m).checked_div(n + m),
        (one, other) => one.or(other).map(|(mean, _)| mean),
    }
}

/// Returns the number of attempts. Refuted outcomes do not count, because each of them is an attempt that another
/// outcome already counts.
fn attempts(outcomes: &[Named]) -> i64 {
    outcomes.iter().filter(|o| o.counted.kind != OutcomeKind::Refuted).map(|o| o.counted.count).sum()
}

/// Describes an action and its outcomes in one line, such as `tap button "Export": 3 of 4 a dialog "Sign in", 1 of 4
/// "Files"`.
fn describe(action: &Action, outcomes: &[Named]) -> String {
    let sentence = target::sentence(action);
    let tried = attempts(outcomes);
    let page = |o: &Named| {
        let name = o.name.as_ref().map_or("?", |n| n.name.as_str());
        let dialog = o.counted.page.as_ref().is_some_and(|p| p.dialog);
        format!("{}{name:?}", if dialog { "a dialog " } else { "" })
    };
    let mut parts: Vec<&Named> = outcomes.iter().filter(|o| o.counted.kind != OutcomeKind::Refuted).collect();
    // Other pages come first, then changes of the page, no change, and failures.
    parts.sort_by_key(|o| (o.counted.kind, std::cmp::Reverse(o.counted.count)));
    match parts.as_slice() {
        [] => format!("{sentence} has not succeeded"),
        [one] => match one.counted.kind {
            OutcomeKind::Page => format!("{sentence} leads to {} ({tried} of {tried})", page(one)),
            OutcomeKind::Same => format!("{sentence} stays on the page ({tried} of {tried})"),
            OutcomeKind::Nothing => format!("{sentence} did nothing {tried} of {tried} times"),
            OutcomeKind::Failed | OutcomeKind::Refuted => format!("{sentence} failed {tried} of {tried} times"),
        },
        several => {
            let part = |o: &&Named| {
                let what = match o.counted.kind {
                    OutcomeKind::Page => page(o),
                    OutcomeKind::Same => "stays on the page".to_owned(),
                    OutcomeKind::Nothing => "nothing".to_owned(),
                    OutcomeKind::Failed | OutcomeKind::Refuted => "failed".to_owned(),
                };
                format!("{} of {tried} {what}", o.counted.count)
            };
            format!("{sentence}: {}", several.iter().map(part).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Converts the rows for one action on one page to the wire type.
fn to_wire(connection: &Connection, scope: Scope, rows: Vec<TransitionRow>, naming: Naming<'_>) -> Result<Transition> {
    let now = now_ms();
    let page = rows.first().map(|r| pages::get(connection, r.page)).transpose()?.flatten().unwrap_or_default();
    let pre = naming(connection, &page)?;
    let mut counted: Vec<Counted> = Vec::new();
    for row in &rows {
        counted.extend(outcomes::of_transition(connection, row.id, now)?);
    }
    let outcomes = named(connection, counted, (&page, &pre), naming)?;
    let sum = |of: fn(&TransitionRow) -> i64| rows.iter().map(of).sum::<i64>();
    let (success, nothing, verified, failure) =
        (sum(|r| r.success), sum(|r| r.nothing), sum(|r| r.verified), sum(|r| r.failure));
    let last_success_at = rows.iter().filter_map(|r| r.last_success_at).max();
    let Some(first) = rows.into_iter().next() else { return Err(rusqlite::Error::QueryReturnedNoRows.into()) };
    let mut text = describe(&first.action, &outcomes);
    if verified > 0 {
        text.push_str(&format!("; {verified} verified"));
    }
    let count_of = |kind| outcomes.iter().filter(|o| o.counted.kind == kind).map(|o| o.counted.count).sum::<i64>();
    let (failed, refuted) = (count_of(OutcomeKind::Failed), count_of(OutcomeKind::Refuted));
    // A failed check is not reported as a failure of the action, which may have had its usual effect.
    let of_check = ErrorCode::AssertionFailed.name();
    if let Some(cause) = first.failure_cause.as_deref().filter(|c| failed > 0 && !c.is_empty() && *c != of_check) {
        text.push_str(&format!("; last failure: {cause}"));
    }
    if refuted > 0 {
        text.push_str(&format!(
            "; {refuted} {} not find what was expected",
            if refuted == 1 { "check did" } else { "checks did" }
        ));
    }
    let best = outcomes.iter().find(|o| o.counted.kind == OutcomeKind::Page);
    let stayed = best.is_none() && success > 0;
    let post = best.and_then(|o| o.counted.page.clone());
    let tried = attempts(&outcomes).max(1);
    Ok(Transition {
        uid: first.uid,
        match_scope: scope,
        text,
        pre_app: page.app.clone(),
        pre_activity: page.activity.clone(),
        pre_page: page_ref(&page, Some(&pre)),
        pre_name: Some(pre.name.clone()).filter(|n| !n.is_empty()),
        action: first.action,
        post_activity: post.as_ref().or(stayed.then_some(&page)).map(|p| p.activity.clone()).filter(|a| !a.is_empty()),
        post_page: post
            .as_ref()
            .map(|p| page_ref(p, best.and_then(|o| o.name.as_ref())))
            .or(stayed.then(|| page_ref(&page, Some(&pre)))),
        outcomes: outcomes.iter().map(|o| outcome_to_wire(o, tried)).collect(),
        verify_op: first.verify_op,
        success_count: success,
        nothing_count: nothing,
        verified_count: verified,
        failure_count: failure,
        last_success_at,
        failure_cause: first.failure_cause.filter(|c| failure > 0 && !c.is_empty()),
    })
}

fn outcome_to_wire(outcome: &Named, tried: i64) -> Outcome {
    let Named { counted, name } = outcome;
    Outcome {
        kind: counted.kind,
        page: counted.page.as_ref().map(|p| page_ref(p, name.as_ref())),
        name: name.as_ref().map(|n| n.name.clone()),
        dialog: counted.page.as_ref().is_some_and(|p| p.dialog),
        failure_cause: counted.cause.clone().filter(|c| !c.is_empty()),
        count: counted.count,
        share: (counted.count as f64 / tried as f64 * 1000.0).round() / 1000.0,
        verified_count: counted.verified,
        mean_ms: counted.mean_ms,
    }
}

/// A row of the table `recoveries`.
struct RecoveryRow {
    uid: String,
    page: i64,
    failure_cause: String,
    action_key: String,
    action: Action,
    success: i64,
    failure: i64,
    undecided: i64,
    left: i64,
    last_success_at: Option<i64>,
}

fn read_recovery(row: &Row<'_>) -> rusqlite::Result<RecoveryRow> {
    Ok(read!(row => RecoveryRow {
        uid, failure_cause, action_key, last_success_at,
        page: row.get("page_id")?,
        action: json(row, "action")?,
        success: row.get("success_count")?,
        failure: row.get("failure_count")?,
        undecided: row.get("undecided_count")?,
        left: row.get("left_count")?,
    }))
}

/// Converts the rows for one recovery on one page to the wire type.
fn recovery_to_wire(
    connection: &Connection,
    scope: Scope,
    rows: Vec<RecoveryRow>,
    naming: Naming<'_>,
) -> Result<Recovery> {
    let sum = |of: fn(&RecoveryRow) -> i64| rows.iter().map(of).sum::<i64>();
    let (success, failure, undecided, left) =
        (sum(|r| r.success), sum(|r| r.failure), sum(|r| r.undecided), sum(|r| r.left));
    let last_success_at = rows.iter().filter_map(|r| r.last_success_at).max();
    let Some(first) = rows.into_iter().next() else { return Err(rusqlite::Error::QueryReturnedNoRows.into()) };
    let page = pages::get(connection, first.page)?.unwrap_or_default();
    let pre = naming(connection, &page)?;
    let decided = success + failure;
    let judged = if decided > 0 {
        format!("worked {success} of {decided} times")
    } else {
        "has not been seen to work yet".to_owned()
    };
    let leaves = if left > 0 {
        format!("; it left the app {left} {}", if left == 1 { "time" } else { "times" })
    } else {
        String::new()
    };
    Ok(Recovery {
        uid: first.uid,
        match_scope: scope,
        text: format!("after {}, recover {} {judged}{leaves}", first.failure_cause, target::sentence(&first.action)),
        pre_activity: page.activity.clone(),
        pre_page: page_ref(&page, Some(&pre)),
        pre_name: Some(pre.name.clone()).filter(|n| !n.is_empty()),
        failure_cause: first.failure_cause,
        recovery: first.action,
        success_count: success,
        failure_count: failure,
        undecided_count: undecided,
        left_app_count: left,
        last_success_at,
    })
}
