//! `memory.*`: the event log, and the experience derived from it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::import::{ImportAfParams, ImportReport};
use crate::notes::{DeleteParams, DeletedNote, Notes, SaveParams, SavedNote, SearchParams};
use crate::vocabulary::{Action, PageRef};

words! {
    /// Category of an event.
    Category {
        /// An action.
        Act = "act",
        /// A verification.
        Verify = "verify",
        /// A recovery from a failure.
        Recover = "recover",
    }

    /// Outcome of an event.
    EventStatus {
        /// The action was performed, or the check passed.
        Ok = "ok",
        /// The action was not performed, or the check did not pass.
        Failed = "failed",
        /// The action was sent, but its response was lost.
        Unknown = "unknown",
    }
}

params! {
    /// Parameters of `memory.experience`. Without `app`, `activity`, `pageFp` and `failureCause`, the page that the
    /// session observed last is used.
    #[derive(Default)]
    pub struct ExperienceParams {
        /// Package; by default the package in `activity`.
        pub app: Option<String>,
        /// Activity as `package/activity`.
        pub activity: Option<String>,
        /// Fingerprint or key of a page, as returned by an observation.
        pub page_fp: Option<String>,
        /// Only recoveries from failures with this error code, for example `REF_ALIAS_STALE`. If given, no transitions
        /// are returned.
        pub failure_cause: Option<String>,
        /// Device on which the session observed the page; by default the device that the session used last.
        pub device: Option<String>,
        /// Session whose last observed page is used.
        pub session: Option<String> = crate::vocabulary::DEFAULT_SESSION,
        /// Maximum number of transitions, and maximum number of recoveries.
        pub limit: Option<u32> where 1..=10_000 = 10,
    }

    /// Parameters of `memory.context`.
    #[derive(Default)]
    pub struct ContextParams {
        /// Name of the device; by default the device that the session used last.
        pub device: Option<String>,
        /// Name of the session.
        pub session: Option<String> = crate::vocabulary::DEFAULT_SESSION,
    }

    /// Parameters of `memory.log`.
    #[derive(Default)]
    pub struct LogParams {
        /// Only events of this session.
        pub session: Option<String>,
        /// Only events on this device.
        pub device: Option<String>,
        /// Only events in this package.
        pub app: Option<String>,
        /// Only events with this outcome.
        pub status: Option<EventStatus>,
        /// Maximum number of events.
        pub limit: Option<u32> where 1..=10_000 = 20,
        /// Value of `nextCursor` from the previous page; only events before that position are returned.
        pub cursor: Option<i64>,
    }

    /// Parameters of `memory.stats`.
    #[derive(Default)]
    pub struct StatsParams {
        /// Session whose statistics are returned; by default all sessions.
        pub session: Option<String>,
    }
}

words! {
    /// Kind of outcome of an action.
    OutcomeKind {
        /// The action led to another page.
        Page = "page",
        /// The action changed the content of the same page.
        Same = "same",
        /// The action changed nothing.
        Nothing = "nothing",
        /// The action failed.
        Failed = "failed",
        /// A verification refuted the expected outcome; counted in addition to the actual outcome.
        Refuted = "refuted",
    }

    /// How closely an experience matches the requested place.
    Scope {
        /// The same state, and therefore the same page.
        State = "state",
        /// A page with the same page key, which may be another state.
        Page = "page",
        /// Another page of the same activity.
        Activity = "activity",
        /// Another activity of the same app.
        App = "app",
    }
}

wire! {
    /// A recorded action, verification or recovery.
    pub struct Event {
        /// Unique id, the same in every copy of this memory.
        pub uid: String,
        /// Position of the event in the order of recording, which `events.subscribe` accepts as `since`.
        pub cursor: i64,
        /// Position of the event among all actions and observations of the device.
        pub seq: i64,
        /// Time at which the event ended, in Unix milliseconds.
        pub at: i64,
        /// Name of the session.
        pub session: String,
        /// Name of the device.
        pub device: String,
        /// Trace id of the call that caused the event.
        pub trace_id: String,
        /// Category of the event.
        pub category: Category,
        /// Operation, for example `tap` or `textContains`.
        pub op: String,
        /// Outcome of the event.
        pub status: EventStatus,
        /// Action that was performed; absent for a verification.
        pub action: Option<Action>,
        /// Error code, if the event failed.
        pub failure_cause: Option<String>,
        /// Details: the element at the touched point; the expected and actual values of a check; the length and keyed
        /// hash of typed text.
        pub evidence: Option<Value>,
        /// Duration of the event, in milliseconds.
        pub duration_ms: i64,
        /// Package in the foreground before the event.
        pub app: Option<String>,
        /// Foreground activity before the event, as `package/activity`.
        pub activity: Option<String>,
        /// Page before the event.
        pub page: Option<PageRef>,
        /// Uid of the action that a verification checked, or of the failure that a recovery followed.
        pub parent: Option<String>,
    }

    /// A page of events, newest first.
    pub struct Log {
        /// The events.
        pub events: Vec<Event>,
        /// Cursor for the next page; absent on the last page.
        pub next_cursor: Option<i64>,
    }

    /// An outcome of an action, and how often it occurred.
    pub struct Outcome {
        /// Kind of outcome.
        pub kind: OutcomeKind,
        /// Page that the action led to.
        pub page: Option<PageRef>,
        /// Name of the page that the action led to: the name of its state, else its title, else its activity.
        pub name: Option<String>,
        /// Whether the page is a dialog.
        #[serde(default)]
        pub dialog: bool,
        /// Error code of a failure.
        pub failure_cause: Option<String>,
        /// Number of times this outcome occurred.
        pub count: i64,
        /// Share of all attempts that had this outcome, 0 to 1.
        pub share: f64,
        /// Number of times a verification confirmed this outcome.
        pub verified_count: i64,
        /// Mean time until the page had settled, in milliseconds.
        pub mean_ms: Option<i64>,
    }

    /// Experience with an action on a page.
    pub struct Transition {
        /// Unique id, the same in every copy of this memory.
        pub uid: String,
        /// How closely the transition matches the requested place.
        pub match_scope: Scope,
        /// One-line description of the transition.
        pub text: String,
        /// Package before the action.
        pub pre_app: String,
        /// Activity before the action, as `package/activity`.
        pub pre_activity: String,
        /// Page before the action.
        pub pre_page: PageRef,
        /// Name of the page before the action: the name of its state, else its title, else its activity.
        pub pre_name: Option<String>,
        /// Action that was performed.
        pub action: Action,
        /// Outcomes of the action, most frequent first.
        #[serde(default)]
        pub outcomes: Vec<Outcome>,
        /// Activity that the action led to most often, as `package/activity`; absent if it never led anywhere.
        pub post_activity: Option<String>,
        /// Page that the action led to most often.
        pub post_page: Option<PageRef>,
        /// Operation of the verification that last confirmed the transition.
        pub verify_op: Option<String>,
        /// Number of times the action led to another page, or changed the content of the same page.
        pub success_count: i64,
        /// Number of times the action changed nothing.
        #[serde(default)]
        pub nothing_count: i64,
        /// Number of times a verification confirmed the transition.
        pub verified_count: i64,
        /// Number of times the action, or the verification after it, failed.
        pub failure_count: i64,
        /// Time of the last success, in Unix milliseconds.
        pub last_success_at: Option<i64>,
        /// Error code of the last failure.
        pub failure_cause: Option<String>,
    }

    /// Experience with a recovery from a failure.
    pub struct Recovery {
        /// Unique id, the same in every copy of this memory.
        pub uid: String,
        /// How closely the recovery matches the requested place.
        pub match_scope: Scope,
        /// One-line description of the recovery.
        pub text: String,
        /// Activity in which the failure occurred, as `package/activity`.
        pub pre_activity: String,
        /// Page on which the failure occurred.
        pub pre_page: PageRef,
        /// Name of the page on which the failure occurred: the name of its state, else its title, else its activity.
        pub pre_name: Option<String>,
        /// Error code of the failure.
        pub failure_cause: String,
        /// Action that was taken to recover.
        pub recovery: Action,
        /// Number of times the failed action or check succeeded after the recovery.
        pub success_count: i64,
        /// Number of times the action or check failed again, or the recovery itself failed.
        pub failure_count: i64,
        /// Number of uses of the recovery whose outcome is still open.
        #[serde(default)]
        pub undecided_count: i64,
        /// Number of times the recovery left the app.
        #[serde(default)]
        pub left_app_count: i64,
        /// Time of the last success, in Unix milliseconds.
        pub last_success_at: Option<i64>,
    }

    /// Result of `memory.experience`: the closest matches first; among equally close matches, the best first.
    pub struct Experience {
        /// Actions with their outcomes.
        pub transitions: Vec<Transition>,
        /// Recoveries from failures.
        pub recoveries: Vec<Recovery>,
    }

    /// Result of `memory.context`: the last observation of a session.
    pub struct SessionContext {
        /// Name of the session.
        pub session: String,
        /// Whether the session has observed anything yet; if false, all other fields are absent.
        pub found: bool,
        /// Name of the device.
        pub device: Option<String>,
        /// Package in the foreground.
        pub app: Option<String>,
        /// Foreground activity as `package/activity`.
        pub activity: Option<String>,
        /// Fingerprint of the page.
        pub page_fingerprint: Option<String>,
        /// Key that the page is matched by.
        pub page_key: Option<String>,
        /// Kind of observation that the fingerprint comes from, for example `screen`, `refs` or `page`.
        pub fingerprint_source: Option<String>,
        /// Access mode of the phone's service: `SYSTEM_API`, `SHELL_CMD` or `ACCESSIBILITY`.
        pub mode: Option<String>,
        /// Whether a web view was on the screen.
        pub has_web_view: Option<bool>,
        /// Reliability of the element tree: `high`, or `low` if it may be incomplete.
        pub node_reliability: Option<String>,
        /// Version of the refs that were last returned to the session; absent if none were returned since the daemon
        /// started.
        pub ref_version: Option<u64>,
        /// Id of the observation.
        pub observation_id: Option<String>,
        /// Time of the observation, in Unix milliseconds.
        pub observed_at: Option<i64>,
        /// Whether an action was performed after the observation, so that the page may have changed.
        #[serde(default)]
        pub stale: bool,
    }

    /// Memory statistics. All counts except those of sessions, transitions and recoveries are limited to the requested
    /// session.
    pub struct Stats {
        /// Session that the counts are limited to; absent if all sessions are counted.
        pub session: Option<String>,
        /// Number of events.
        pub events: i64,
        /// Number of events by category and operation, for example `act.tap`.
        pub by_op: BTreeMap<String, i64>,
        /// Number of events by outcome.
        pub by_status: BTreeMap<String, i64>,
        /// Number of failed events by error code.
        pub by_failure_cause: BTreeMap<String, i64>,
        /// Number of observations.
        pub observations: i64,
        /// Number of sessions.
        pub sessions: i64,
        /// Number of transitions in all sessions.
        pub transitions: i64,
        /// Number of recoveries in all sessions.
        pub recoveries: i64,
        /// Number of notes.
        pub notes: i64,
        /// Number of artifacts whose files are present.
        pub artifacts: i64,
        /// Median duration of an event, in milliseconds; absent if there are no events.
        pub median_duration_ms: Option<i64>,
    }
}

methods! {
    /// Saves a note at the end of the chain for its app and topic, and returns similar notes.
    MemorySave = "memory.save" (SaveParams, SESSION) -> SavedNote, Admin, [StoreUnavailable, StoreFull], r#"{"app":"com.android.settings","topic":"nav/home-to-wifi","content":"Settings, then Wi-Fi"}"#, NOTE_SAVE;
    /// Searches notes, best match first; without a query, lists the newest ones.
    MemorySearch = "memory.search" (SearchParams, SESSION) -> Notes, Read, [StoreUnavailable], r#"{"topic":"nav/","query":"wifi"}"#;
    /// Deletes a note; the other notes in its chain keep their positions.
    MemoryDelete = "memory.delete" (DeleteParams) -> DeletedNote, Admin, [NotFound, StoreUnavailable], r#"{"id":1}"#;
    /// Returns the known outcomes of actions and recoveries: first for a page, then for its activity, then for its app.
    MemoryExperience = "memory.experience" (ExperienceParams, SCOPE) -> Experience, Read, [DeviceUnknown, StoreUnavailable], r#"{"app":"com.android.settings"}"#;
    /// Returns the last observation of a session.
    MemoryContext = "memory.context" (ContextParams, SCOPE) -> SessionContext, Read, [StoreUnavailable], "{}";
    /// Lists events, newest first.
    MemoryLog = "memory.log" (LogParams, FILTER) -> Log, Read, [StoreUnavailable], r#"{"limit":20}"#;
    /// Returns statistics about the memory.
    MemoryStats = "memory.stats" (StatsParams) -> Stats, Read, [StoreUnavailable], "{}";
    /// Imports settings, notes, transitions, recoveries and artifacts from `af` 0.5; repeating it adds no duplicates.
    MemoryImportAf = "memory.importAf" (ImportAfParams) -> ImportReport, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"databaseFile":"/home/me/af.db","dryRun":true}"#;
}
