//! `memory.*`: what was done and what was learned from it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::import::{ImportAfParams, ImportReport};
use crate::notes::{DeleteParams, Deleted, Notes, SaveParams, Saved, SearchParams};
use crate::vocabulary::{Action, PageRef};

words! {
    /// What kind of event.
    Category {
        /// Something was done.
        Act = "act",
        /// Something was checked.
        Verify = "verify",
        /// Something was done about a failure.
        Recover = "recover",
    }

    /// How an event ended.
    EventStatus {
        /// Done, or held.
        Ok = "ok",
        /// Not done, or did not hold.
        Failed = "failed",
        /// Sent, and the answer was lost.
        Unknown = "unknown",
    }
}

params! {
    /// Parameters of `memory.experience`. With none of the first four, the page that the session saw last is meant.
    #[derive(Default)]
    pub struct ExperienceParams {
        /// Package.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// `package/activity`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub activity: Option<String>,
        /// Fingerprint or page key, as an observation returned it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page_fp: Option<String>,
        /// Only recoveries from this cause, for example `REF_ALIAS_STALE`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub failure_cause: Option<String>,
        /// Device of the session's last page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub device: Option<String>,
        /// Session of the last page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session: Option<String>,
        /// At most this many transitions and this many recoveries, by default 10, at most 10,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limit: Option<u32>,
    }

    /// Parameters of `memory.context`.
    #[derive(Default)]
    pub struct ContextParams {
        /// Name of the device; by default the one that the session used last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub device: Option<String>,
        /// Name of the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session: Option<String>,
    }

    /// Parameters of `memory.log`.
    #[derive(Default)]
    pub struct LogParams {
        /// Only this session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session: Option<String>,
        /// Only this device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub device: Option<String>,
        /// Only this app.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// Only `ok`, `failed` or `unknown`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub status: Option<EventStatus>,
        /// At most this many, by default 20, at most 10,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limit: Option<u32>,
        /// Only events before this one: the `nextCursor` of the previous answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cursor: Option<i64>,
    }

    /// Parameters of `memory.stats`.
    #[derive(Default)]
    pub struct StatsParams {
        /// Only this session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session: Option<String>,
    }
}

words! {
    /// How close the knowledge is to the page that was asked about.
    Scope {
        /// The very page.
        Page = "page",
        /// Another page of the same activity.
        Activity = "activity",
        /// Another activity of the same app.
        App = "app",
    }
}

wire! {
    /// One act, verify or recover.
    pub struct Event {
        /// Names it, here and in every copy of this memory.
        pub uid: String,
        /// Its place in the order in which events were recorded; give it as `since` to `events.subscribe`.
        pub cursor: i64,
        /// Its place in the order of what happened on the devices.
        pub seq: i64,
        /// When it ended, UTC milliseconds.
        pub at: i64,
        /// Session.
        pub session: String,
        /// Device.
        pub device: String,
        /// The call that caused it.
        pub trace_id: String,
        /// What kind of event.
        pub category: Category,
        /// The verb.
        pub op: String,
        /// How it ended.
        pub status: EventStatus,
        /// What was done, for `act` and `recover`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub action: Option<Action>,
        /// Error code, when it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub failure_cause: Option<String>,
        /// What was seen: the node under the point, what was expected and what was there, length of typed text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub evidence: Option<Value>,
        /// How long it took, milliseconds.
        pub duration_ms: i64,
        /// The package before it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// `package/activity` before it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub activity: Option<String>,
        /// The page before it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page: Option<PageRef>,
        /// The act that a verify judged, or the failure that a recovery answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub parent: Option<String>,
    }

    /// Events, newest first.
    pub struct Log {
        /// The events.
        pub events: Vec<Event>,
        /// Give this as `cursor` for the next page; absent on the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next_cursor: Option<i64>,
    }

    /// What an action did on a page, and how often.
    pub struct Transition {
        /// Names the row.
        pub uid: String,
        /// How close it is.
        pub match_scope: Scope,
        /// One line that says it.
        pub text: String,
        /// Package before.
        pub pre_app: String,
        /// `package/activity` before.
        pub pre_activity: String,
        /// Page before.
        pub pre_page: PageRef,
        /// The action.
        pub action: Action,
        /// `package/activity` after the last success.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub post_activity: Option<String>,
        /// Page after the last success.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub post_page: Option<PageRef>,
        /// The check that last confirmed it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub verify_op: Option<String>,
        /// How often it was done and a settled page was seen after it.
        pub success_count: i64,
        /// How often a check confirmed it.
        pub verified_count: i64,
        /// How often it failed, or a check after it did.
        pub failure_count: i64,
        /// When it last succeeded, UTC milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub last_success_at: Option<i64>,
        /// The last cause of failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub failure_cause: Option<String>,
    }

    /// What cured a failure, and how often.
    pub struct Recovery {
        /// Names the row.
        pub uid: String,
        /// How close it is.
        pub match_scope: Scope,
        /// One line that says it.
        pub text: String,
        /// `package/activity` where it failed.
        pub pre_activity: String,
        /// Page where it failed.
        pub pre_page: PageRef,
        /// The failure.
        pub failure_cause: String,
        /// What was done about it.
        pub recovery: Action,
        /// How often a settled page was seen after it.
        pub success_count: i64,
        /// How often it failed itself.
        pub failure_count: i64,
        /// When it last succeeded, UTC milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub last_success_at: Option<i64>,
    }

    /// What is known about a page, nearest and best first.
    pub struct Experience {
        /// What actions do here.
        pub transitions: Vec<Transition>,
        /// What cured failures here.
        pub recoveries: Vec<Recovery>,
    }

    /// What a session saw last.
    pub struct SessionContext {
        /// The session.
        pub session: String,
        /// False when it has seen nothing yet.
        pub found: bool,
        /// The device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub device: Option<String>,
        /// Package.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// `package/activity`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub activity: Option<String>,
        /// Fingerprint of the page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page_fingerprint: Option<String>,
        /// Page key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page_key: Option<String>,
        /// `screen`, `refs` or `page`: what the fingerprint comes from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub fingerprint_source: Option<String>,
        /// How the service worked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub mode: Option<String>,
        /// Whether a web view was there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub has_web_view: Option<bool>,
        /// `high` or `low`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub node_reliability: Option<String>,
        /// The observation that it rests on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub observation_id: Option<String>,
        /// When that was, UTC milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub observed_at: Option<i64>,
        /// True when something was done since, so that the page may be another one.
        #[serde(default)]
        pub stale: bool,
    }

    /// Counts.
    pub struct Stats {
        /// The session that was asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session: Option<String>,
        /// Events.
        pub events: i64,
        /// Events by category and verb, as `act.tap`.
        pub by_op: BTreeMap<String, i64>,
        /// Events by how they ended.
        pub by_status: BTreeMap<String, i64>,
        /// Failures by cause.
        pub by_failure_cause: BTreeMap<String, i64>,
        /// Observations.
        pub observations: i64,
        /// Sessions.
        pub sessions: i64,
        /// Transitions, of all sessions.
        pub transitions: i64,
        /// Recoveries, of all sessions.
        pub recoveries: i64,
        /// Notes.
        pub notes: i64,
        /// Artifacts whose file is there.
        pub artifacts: i64,
        /// Middle duration of an event, milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub median_duration_ms: Option<i64>,
    }
}

methods! {
    /// Saves a note at the end of the chain of its app and topic, and shows similar ones.
    MemorySave = "memory.save" (SaveParams, SESSION) -> Saved, Admin, [StoreUnavailable, StoreFull], r#"{"app":"com.android.settings","topic":"nav/home-to-wifi","content":"Settings, then Wi-Fi"}"#;
    /// Finds notes, best match first, or lists the newest.
    MemorySearch = "memory.search" (SearchParams) -> Notes, Read, [StoreUnavailable], r#"{"topic":"nav/","query":"wifi"}"#;
    /// Deletes a note; the others of its chain keep their places.
    MemoryDelete = "memory.delete" (DeleteParams) -> Deleted, Admin, [NotFound, StoreUnavailable], r#"{"id":1}"#;
    /// Tells what is known about a page: what actions do there, what cured failures; page first, then activity, then app.
    MemoryExperience = "memory.experience" (ExperienceParams, SCOPE) -> Experience, Read, [DeviceUnknown, StoreUnavailable], r#"{"app":"com.android.settings"}"#;
    /// Tells what the session saw last.
    MemoryContext = "memory.context" (ContextParams, SCOPE) -> SessionContext, Read, [StoreUnavailable], "{}";
    /// Lists events, newest first.
    MemoryLog = "memory.log" (LogParams, FILTER) -> Log, Read, [StoreUnavailable], r#"{"limit":20}"#;
    /// Counts what is in memory.
    MemoryStats = "memory.stats" (StatsParams) -> Stats, Read, [StoreUnavailable], "{}";
    /// Takes over settings, notes, transitions, recoveries and artifacts of `af` 0.5; again adds nothing twice.
    MemoryImportAf = "memory.importAf" (ImportAfParams) -> ImportReport, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"databaseFile":"/home/me/af.db","dryRun":true}"#;
}
