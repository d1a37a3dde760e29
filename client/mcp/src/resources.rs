//! Resources: the daemon's data, by URI. Text from screens and users is quoted in all of them.

use afd_proto::artifact::ArtifactGet;
use afd_proto::events::Message;
use afd_proto::graph::VisualGraph;
use afd_proto::memory::MemorySearch;
use afd_proto::observe::ObserveLast;
use afd_proto::session::{SessionList, SessionShow};
use afd_proto::{Method, MethodInfo};
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::{Map, Value, json};

/// URI of the page observed last; with `/DEVICE` appended, the page observed last on that device.
const SCREEN: &str = "afd://screen";
/// URI of all notes; with `/APP` appended, the notes about an app.
const NOTES: &str = "afd://notes";
/// URI of the client's own session.
pub const SESSION: &str = "afd://session";
/// URI of all sessions; with `/NAME` appended, a single session.
const SESSIONS: &str = "afd://sessions";
/// URI prefix of state graphs; with `/APP` appended, the states of an app and the transitions between them.
const GRAPH: &str = "afd://graph";
/// URI of all artifacts; with `/ID` appended, the content of a single artifact.
const ARTIFACTS: &str = "afd://artifacts";

/// Returns the URI of a session.
pub fn of_session(name: &str) -> String {
    format!("{SESSIONS}/{}", percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC))
}

/// Maximum length of a URI in bytes.
const MAX_URI: usize = 1000;

/// The call that reads a resource.
pub struct Source {
    /// Method that is called.
    pub info: MethodInfo,
    /// Parameters of the call.
    pub params: Map<String, Value>,
    /// MIME type of the text.
    pub mime_type: &'static str,
}

/// Returns the resources whose URIs contain no variable.
pub fn list() -> Vec<Resource> {
    let resource = |uri: &str, name: &str, about: &str| {
        Resource::new(uri, name).with_description(about).with_mime_type("text/plain")
    };
    vec![
        resource(
            SCREEN,
            "screen",
            "The page that was observed last on the phone, as an outline; reading it does not read the phone",
        ),
        resource(NOTES, "notes", "The notes about all apps"),
        resource(SESSION, "session", "The record of this session: goal, tasks, findings, last actions"),
        resource(SESSIONS, "sessions", "All sessions"),
        resource(ARTIFACTS, "artifacts", "The stored files: screenshots, reports, large results"),
    ]
}

/// Returns the templates of the resources whose URIs contain a variable.
pub fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: String, name: &str, about: &str| ResourceTemplate::new(uri, name).with_description(about);
    vec![
        template(
            format!("{SCREEN}/{{device}}"),
            "screen of a device",
            "The page that was observed last on a device, by its name",
        ),
        template(format!("{NOTES}/{{app}}"), "notes of an app", "The notes about an app, by its package name"),
        template(format!("{SESSIONS}/{{session}}"), "a session", "The record of a session, by its name"),
        template(
            format!("{GRAPH}/{{app}}"),
            "state graph",
            "The pages of an app and what leads from one to another, as a Mermaid graph",
        ),
        template(format!("{ARTIFACTS}/{{id}}"), "an artifact", "The content of a stored file, by its id"),
    ]
}

/// Returns the call that reads a resource; `None` if there is no such resource.
pub fn source(uri: &str) -> Option<Source> {
    let of = |info: MethodInfo, params: Value| {
        let params = params.as_object().cloned().unwrap_or_default();
        Some(Source { info, params, mime_type: "text/plain" })
    };
    match uri {
        SCREEN => return of(ObserveLast::INFO, json!({})),
        NOTES => return of(MemorySearch::INFO, json!({"limit": 200})),
        SESSION => return of(SessionShow::INFO, json!({})),
        SESSIONS => return of(SessionList::INFO, json!({"limit": 100})),
        ARTIFACTS => return of(afd_proto::artifact::ArtifactList::INFO, json!({"limit": 100})),
        _ => {}
    }
    if uri.len() > MAX_URI {
        return None;
    }
    let part = |base: &str| {
        let rest = uri.strip_prefix(base)?.strip_prefix('/').filter(|rest| !rest.is_empty())?;
        percent_encoding::percent_decode_str(rest).decode_utf8().ok().filter(|name| !name.chars().any(char::is_control))
    };
    let is_app = |name: &str| {
        name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_')) && !name.contains("..")
    };
    if let Some(device) = part(SCREEN) {
        return of(ObserveLast::INFO, json!({"device": device}));
    }
    if let Some(app) = part(NOTES).filter(|app| is_app(app)) {
        return of(MemorySearch::INFO, json!({"app": app, "limit": 200}));
    }
    if let Some(session) = part(SESSIONS) {
        return of(SessionShow::INFO, json!({"session": session}));
    }
    if let Some(app) = part(GRAPH).filter(|app| is_app(app)) {
        return of(VisualGraph::INFO, json!({"app": app, "format": "mermaid"}));
    }
    let id: i64 =
        part(ARTIFACTS).filter(|id| id.bytes().all(|b| b.is_ascii_digit()) && !id.starts_with('0'))?.parse().ok()?;
    of(ArtifactGet::INFO, json!({"id": id, "content": true}))
}

/// Returns whether a message from the daemon means that a resource has changed. `device` is the device given on the
/// command line; `session` is the client's own session.
pub fn is_affected(uri: &str, message: &Message, device: Option<&str>, session: &str) -> bool {
    let is = |base: &str| uri == base || uri.strip_prefix(base).is_some_and(|rest| rest.starts_with('/'));
    let of_session =
        |name: &str| uri == SESSIONS || (uri == SESSION && name == session) || uri == format!("{SESSIONS}/{name}");
    match message {
        Message::Observation(seen) => {
            is(ARTIFACTS)
                || (uri == SCREEN && device.is_none_or(|d| d == seen.device))
                || uri == format!("{SCREEN}/{}", seen.device)
        }
        Message::Event(event) => is(GRAPH) || of_session(&event.session),
        Message::Visual(_) => is(GRAPH),
        Message::Changed { method, session: own } => match method.split('.').next().unwrap_or_default() {
            "memory" => is(NOTES),
            "session" => of_session(own.as_deref().unwrap_or_default()),
            "visual" => is(GRAPH),
            "artifact" => is(ARTIFACTS),
            _ => false,
        },
        Message::Device { .. } | Message::Surprise(_) => false,
        Message::Lagged { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_method() {
        let read = |uri: &str| source(uri).map(|s| (s.info.name, Value::Object(s.params)));
        assert_eq!(read("afd://screen"), Some(("observe.last", json!({}))));
        assert_eq!(
            read("afd://notes/org.example.shop"),
            Some(("memory.search", json!({"app": "org.example.shop", "limit": 200})))
        );
        assert_eq!(read("afd://artifacts/7"), Some(("artifact.get", json!({"id": 7, "content": true}))));
        for none in [
            "afd://",
            "afd://zork",
            "afd://artifacts/seven",
            "afd://notes/",
            "afd://notes/../x",
            "afd://artifacts/+1",
            "afd://graph/a b",
            "file:///etc/passwd",
            "",
        ] {
            assert_eq!(read(none), None, "{none}");
        }
        assert_eq!(read("afd://sessions/team%20a"), Some(("session.show", json!({"session": "team a"}))));
        for resource in list() {
            assert!(source(&resource.uri).is_some(), "{}", resource.uri);
        }
    }

    #[test]
    fn messages_concern_their_resources_only() {
        let changed = |method: &str, session: Option<&str>| Message::Changed {
            method: method.into(),
            session: session.map(Into::into),
        };
        let affected = |uri: &str, message: &Message| is_affected(uri, message, None, "mine");
        assert!(affected("afd://notes/a", &changed("memory.save", Some("other"))));
        assert!(!affected("afd://screen", &changed("memory.save", None)));
        let task = changed("session.task.add", Some("other"));
        assert!(affected("afd://sessions", &task) && affected("afd://sessions/other", &task));
        assert!(!affected("afd://session", &task) && !affected("afd://sessions/mine", &task));
        assert!(affected("afd://screen", &Message::Lagged { missed: 3 }));
    }
}
