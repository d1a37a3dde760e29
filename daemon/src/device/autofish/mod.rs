//! The Autofish service on an Android phone, over HTTP, in both of its dialects.
//!
//! Everything about a screen comes from one source, `/api/screen`: it alone knows windows and the hierarchy. What it
//! lacks is filled in: texts that it cut (from `/api/observe`, where there is one) and the activity (from `/api/app/top`,
//! in dialect 1). Refs, their labels and where to tap are our own, so the service's alias map, which all its clients
//! share, is never used.

mod http;
mod screen;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use afd_proto::Secret;
use afd_proto::picture::Overlay;
use base64::Engine;
use serde_json::{Value, json};

use super::{Driven, Driver, DriverError, Input, Intent, OverlaySetting, SetupError, Shot, Top};
use crate::config::DeviceSettings;
use crate::page::Snapshot;
use crate::task::run_blocking;
use http::Http;
pub use screen::Unreadable;

/// Reads the service's text of a screen, as `/api/screen` answers it.
///
/// # Errors
/// What is wrong with it.
pub fn parse_screen(text: &str) -> Result<Snapshot, Unreadable> {
    screen::parse(text).map(|s| s.snapshot)
}

/// The driver of one phone.
pub struct Autofish {
    http: Http,
    /// Whether the screen of this service has no line for the activity, so that it must be asked for.
    asks_for_top: AtomicBool,
}

impl Autofish {
    /// A driver for the service that the settings name.
    ///
    /// # Errors
    /// What is wrong with the URL.
    pub fn new(settings: &DeviceSettings) -> Result<Self, SetupError> {
        Ok(Self { http: Http::new(settings)?, asks_for_top: AtomicBool::new(false) })
    }

    async fn top_activity(&self, token: Option<&Secret>) -> Result<Option<String>, DriverError> {
        match self.http.get("/api/app/top", &[], token).await {
            Ok(top) => Ok(Some(top.trim().to_owned()).filter(|t| t.contains('/'))),
            Err(DriverError::Refused { .. }) => Ok(None),
            Err(other) => Err(other),
        }
    }

    async fn read(&self, token: Option<&Secret>) -> Result<Snapshot, DriverError> {
        let mut screen = self.read_screen(token).await?;
        if !screen.has_top_line && !self.asks_for_top.swap(true, Ordering::Relaxed) {
            screen = self.read_screen(token).await?;
        }
        if screen.snapshot.nodes.iter().any(|n| n.truncated) {
            self.fill_texts(&mut screen.snapshot, token).await;
        }
        Ok(screen.snapshot)
    }

    async fn read_screen(&self, token: Option<&Secret>) -> Result<screen::Screen, DriverError> {
        let asks = self.asks_for_top.load(Ordering::Relaxed);
        let before = if asks { self.top_activity(token).await? } else { None };
        let text = self.http.get("/api/screen", &[], token).await?;
        let mut screen = screen::parse(&text).map_err(|e| DriverError::Nonsense(e.to_string()))?;
        if asks && !screen.has_top_line && screen.snapshot.place_knowable {
            // Dialect 1: the activity counts only when it was the same before and after.
            let after = self.top_activity(token).await?;
            screen::set_place(&mut screen.snapshot, before.filter(|b| Some(b) == after.as_ref()));
        }
        Ok(screen)
    }

    /// Replaces texts that were cut. Without them the screen is still good, so a failure changes nothing.
    async fn fill_texts(&self, snapshot: &mut Snapshot, token: Option<&Secret>) {
        let Ok(text) = self.http.get("/api/observe", &[("include", "screen"), ("max_rows", "100000")], token).await else { return };
        if let Err(error) = screen::fill_texts(snapshot, &text) {
            tracing::debug!(%error, "cannot read the whole texts");
        }
    }
}

impl Driver for Autofish {
    fn kind(&self) -> &'static str {
        "autofish"
    }

    fn capabilities(&self) -> &'static [&'static str] {
        &["observe", "screenshot", "overlay", "touch", "keys", "text", "apps", "packages", "shell", "intent"]
    }

    fn url(&self) -> String {
        self.http.url()
    }

    fn health(&self) -> Driven<'_, String> {
        Box::pin(self.http.health())
    }

    fn top<'a>(&'a self, token: Option<&'a Secret>) -> Driven<'a, Top> {
        Box::pin(async move {
            match self.top_activity(token).await? {
                Some(place) => Ok(Top { app: place.split('/').next().map(str::to_owned), place: Some(place) }),
                // Without Shizuku the service cannot know; the screen tells at least the app.
                None => self.read(token).await.map(|s| Top { app: s.app.clone(), place: s.place }),
            }
        })
    }

    fn snapshot<'a>(&'a self, token: Option<&'a Secret>) -> Driven<'a, Snapshot> {
        Box::pin(self.read(token))
    }

    fn screenshot<'a>(&'a self, token: Option<&'a Secret>, shot: Shot) -> Driven<'a, Vec<u8>> {
        Box::pin(async move {
            let (dim, quality, hide) = (shot.max_dim.to_string(), shot.quality.to_string(), shot.hide_overlay.to_string());
            let query = [("max_dim", dim.as_str()), ("quality", &quality), ("annotate", "false"), ("hide_overlay", &hide)];
            let data = self.http.get("/api/screenshot", &query, token).await?;
            let decoded = run_blocking(move || base64::engine::general_purpose::STANDARD.decode(data.trim())).await;
            let picture = decoded
                .map_err(|panicked| DriverError::Failed(panicked.to_string()))?
                .map_err(|e| DriverError::Nonsense(format!("the screenshot is no base64: {e}")))?;
            if picture.starts_with(&[0xFF, 0xD8]) { Ok(picture) } else { Err(DriverError::Nonsense("the screenshot is no JPEG".into())) }
        })
    }

    fn overlay<'a>(&'a self, token: Option<&'a Secret>) -> Driven<'a, Overlay> {
        Box::pin(async move {
            let data = self.http.get("/api/overlay", &[], token).await?;
            serde_json::from_str(&data).map_err(|e| DriverError::Nonsense(format!("the overlay's state: {e}")))
        })
    }

    fn packages<'a>(&'a self, token: Option<&'a Secret>, filter: Option<&'a str>, system: bool) -> Driven<'a, Vec<String>> {
        Box::pin(async move {
            let system = system.to_string();
            let mut query = vec![("include_system", system.as_str())];
            query.extend(filter.map(|f| ("filter", f)));
            let data = self.http.get("/api/packages", &query, token).await?;
            Ok(data.lines().map(str::trim).filter(|l| !l.is_empty()).map(str::to_owned).collect())
        })
    }

    fn perform<'a>(&'a self, token: Option<&'a Secret>, input: &'a Input) -> Driven<'a, String> {
        let (path, body, extra_ms) = match input {
            Input::Tap(x, y) => ("/api/tap", json!({"x": x, "y": y}), 0),
            Input::LongPress(x, y, ms) => ("/api/long-press", json!({"x": x, "y": y, "duration": ms}), *ms),
            Input::DoubleTap(x, y) => ("/api/double-tap", json!({"x": x, "y": y}), 0),
            Input::Swipe([x1, y1, x2, y2], ms) => ("/api/swipe", json!({"x1": x1, "y1": y1, "x2": x2, "y2": y2, "duration": ms}), *ms),
            Input::Scroll(direction, amount) => ("/api/scroll", json!({"direction": direction.word(), "amount": amount.word()}), 0),
            Input::Back => ("/api/press/back", json!({}), 0),
            Input::Home => ("/api/press/home", json!({}), 0),
            Input::Key(code) => ("/api/press/key", json!({"key_code": code}), 0),
            Input::Text(text) => ("/api/text", json!({"text": text.expose()}), 0),
            Input::Launch(package) => ("/api/app/launch", json!({"package_name": package}), 0),
            Input::Stop(package) => ("/api/app/stop", json!({"package_name": package}), 0),
            Input::Overlay(setting) => ("/api/overlay", overlay_body(setting), 0),
            Input::Shell(command, ms) => ("/api/shell", json!({"command": command.expose()}), *ms),
            Input::Intent(intent) => ("/api/intent", intent_body(intent), 0),
        };
        Box::pin(async move {
            let result = self.http.post(path, &body, Duration::from_millis(u64::from(extra_ms)), token).await;
            match input {
                Input::Text(_) => result.map(|_| "Typed text".to_owned()).map_err(|error| wordless(error, "it could not type the text")),
                Input::Shell(command, _) => result.map_err(|error| without(error, command)),
                // The service quotes the whole intent, extras included, and nobody knows in what form.
                Input::Intent(intent) if !intent.extras.is_empty() => {
                    result.map(|_| "Intent sent".to_owned()).map_err(|error| wordless(error, "it could not send the intent"))
                }
                _ => result,
            }
        })
    }
}

/// What a failed command says of itself: its exit code and what it complained about. The service quotes the command, perhaps
/// cut and in whatever form, and a complaint repeats words of it: those are blotted out.
fn without(error: DriverError, command: &Secret) -> DriverError {
    let DriverError::Refused { status, message } = error else { return error };
    let exit: String = message.split("exit=").nth(1).unwrap_or_default().chars().take_while(char::is_ascii_digit).collect();
    let (complaint, cut) = match message.split_once("; stderr=") {
        Some((_, complaint)) => (complaint.trim_end_matches(" ..."), complaint.ends_with(" ...")),
        None => ("", false),
    };
    let mut words: Vec<String> = complaint.split_whitespace().map(str::to_owned).collect();
    if cut {
        words.pop();
    }
    let mut complaint = words.join(" ");
    let mut secrets: Vec<&str> =
        command.expose().split(|c: char| c.is_whitespace() || "'\"=;|&$()".contains(c)).filter(|w| w.len() > 2).collect();
    secrets.sort_by_key(|w| std::cmp::Reverse(w.len()));
    for secret in secrets {
        complaint = complaint.replace(secret, "<...>");
    }
    let exit = if exit.is_empty() { String::new() } else { format!(" with exit code {exit}") };
    let complaint = if complaint.is_empty() { String::new() } else { format!(": {complaint}") };
    DriverError::Refused { status, message: format!("the command failed{exit}{complaint}") }
}

/// What is not said is left out, so that the service keeps it.
fn overlay_body(setting: &OverlaySetting) -> Value {
    if !setting.enabled {
        return json!({"enabled": false});
    }
    let mut body = json!({
        "enabled": true,
        "max_marks": setting.max_marks,
        "interactive_only": setting.interactive_only,
        "auto_refresh": setting.auto_refresh,
        "refresh_interval_ms": setting.refresh_interval_ms,
    });
    for (name, offset) in [("offset_x", setting.offset_x), ("offset_y", setting.offset_y)] {
        if let Some(offset) = offset {
            body[name] = json!(offset);
        }
    }
    body
}

fn intent_body(intent: &Intent) -> Value {
    let parts = [("action", &intent.action), ("data", &intent.data), ("package_name", &intent.package), ("component", &intent.component)];
    let mut body: serde_json::Map<String, Value> =
        parts.into_iter().filter_map(|(name, part)| part.as_ref().map(|p| (name.to_owned(), json!(p)))).collect();
    if !intent.extras.is_empty() {
        body.insert("extras".to_owned(), json!(intent.extras));
    }
    Value::Object(body)
}

/// The error without the device's own words, which might quote a secret in whatever form.
fn wordless(error: DriverError, instead: &str) -> DriverError {
    match error {
        DriverError::Refused { status, .. } => DriverError::Refused { status, message: instead.to_owned() },
        DriverError::Nonsense(_) => DriverError::Nonsense(format!("{instead}, or so it seems")),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_tells_its_exit_code_and_no_word_of_it() {
        let of = |message: &str| match without(
            DriverError::Refused { status: Some(500), message: message.into() },
            &Secret::new("login --pin hunter2"),
        ) {
            DriverError::Refused { message, .. } => message,
            other => panic!("{other:?}"),
        };
        let said = of("Shizuku command failed (exit=127): login --pin hunter2; stderr=sh: login: not found, hunter2 neither");
        assert_eq!(said, "the command failed with exit code 127: sh: <...>: not found, <...> neither");
        // Cut by the service or on its way, within the command or within the complaint.
        assert_eq!(of("Shizuku command failed (exit=1): login --pin hun ..."), "the command failed with exit code 1");
        assert_eq!(of("Shizuku command failed (exit=1): x; stderr=no hun ..."), "the command failed with exit code 1: no");
        assert_eq!(of("login --pin hunter2: boom"), "the command failed");
    }
}
