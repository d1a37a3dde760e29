//! Driver for the Autofish service on an Android phone. It uses HTTP and supports both dialects of the service.
//!
//! Screens are read from a single source, `/api/screen`, the only endpoint that reports windows and the hierarchy. Two
//! gaps are filled in: truncated text (from `/api/observe`, if available) and, in dialect 1, the activity (from
//! `/api/app/top`). Refs, labels and tap positions are computed by the daemon, so the service's alias map, which all
//! its clients share, is never used.

mod hint;
mod http;
mod redact;
mod screen;
mod typing;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use afd_proto::Secret;
use afd_proto::keys::KeyName;
use afd_proto::picture::Overlay;
use base64::Engine;
use serde_json::{Value, json};

use super::android::{self, windows};
use super::{
    BadParam, Driver, DriverError, DriverFuture, ForegroundApp, Input, Intent, Intents, Key, OverlaySetting, Overlays,
    Packages, ScreenshotOptions, SetupError, Shell,
};
use afd_base::config::DeviceSettings;
use afd_base::task::over_nodes;
use afd_base::task::run_blocking;
use afd_screen::page::Snapshot;
use http::{Http, SCREENSHOT};
use redact::{redact_body, redact_command};

/// Minimum length of the service's description of a node, in bytes. Used to estimate the number of nodes in a response.
const NODE_BYTES: usize = 60;

pub use hint::{NoHint, connection_hint};
pub use screen::ScreenParseError;

/// Parses the text of a screen as returned by `/api/screen`.
///
/// # Errors
/// If the mode line is missing or a window header is malformed.
pub fn parse_screen(text: &str) -> Result<Snapshot, ScreenParseError> {
    screen::parse(text).map(|s| s.snapshot)
}

/// Driver for one phone with the Autofish service.
pub struct Autofish {
    http: Http,
    /// Whether the service is known to omit the activity from the screen (dialect 1), so that it must be queried
    /// separately.
    queries_top: AtomicBool,
    activities: windows::Activities,
    typing: typing::Typing,
}

impl Autofish {
    /// Creates a driver for the service at the configured URL.
    ///
    /// # Errors
    /// If the URL is invalid or no HTTP client can be created.
    pub fn new(settings: &DeviceSettings) -> Result<Self, SetupError> {
        Ok(Self {
            http: Http::new(settings)?,
            queries_top: AtomicBool::new(false),
            activities: windows::Activities::default(),
            typing: typing::Typing::default(),
        })
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
        if !screen.has_top_line && !self.queries_top.swap(true, Ordering::Relaxed) {
            screen = self.read_screen(token).await?;
        }
        if screen.snapshot.nodes.iter().any(|n| n.truncated) {
            self.fill_texts(&mut screen.snapshot, token).await;
        }
        self.activities.apply(&mut screen.snapshot);
        Ok(screen.snapshot)
    }

    async fn read_screen(&self, token: Option<&Secret>) -> Result<screen::Screen, DriverError> {
        let query_top = self.queries_top.load(Ordering::Relaxed);
        let before = if query_top { self.top_activity(token).await? } else { None };
        let text = self.http.get("/api/screen", &[], token).await?;
        let mut screen = over_nodes(text.len() / NODE_BYTES, || screen::parse(&text))
            .map_err(|e| DriverError::Protocol(e.to_string().into()))?;
        if query_top && !screen.has_top_line && screen.snapshot.place_knowable {
            // Dialect 1: the activity is trusted only if it was the same before and after the screen was read.
            let after = self.top_activity(token).await?;
            windows::set_place(&mut screen.snapshot, before.filter(|b| Some(b) == after.as_ref()));
        }
        Ok(screen)
    }

    /// Replaces truncated text with the full text. The screen is usable without the full text, so a failure is only
    /// logged.
    async fn fill_texts(&self, snapshot: &mut Snapshot, token: Option<&Secret>) {
        let Ok(text) = self.http.get("/api/observe", &[("include", "screen"), ("max_rows", "100000")], token).await
        else {
            return;
        };
        if let Err(error) = screen::fill_texts(snapshot, &text) {
            tracing::debug!(%error, "cannot read the full texts");
        }
    }
}

impl Driver for Autofish {
    fn kind(&self) -> &'static str {
        "autofish"
    }

    fn capabilities(&self) -> &'static [&'static str] {
        &["observe", "screenshot", "touch", "keys", "text", "apps"]
    }

    fn url(&self) -> String {
        self.http.url()
    }

    fn cannot_type(&self, text: &str) -> Vec<usize> {
        typing::cannot_type(text)
    }

    fn key_code(&self, key: KeyName) -> Option<i32> {
        Some(android::code(key))
    }

    fn check_app(&self, name: &str) -> Result<(), BadParam> {
        android::check_package(name)
    }

    fn advice(&self, error: &DriverError) -> Option<&'static str> {
        Some(match error {
            DriverError::Unreachable(why) if why.starts_with("http://127.0.0.1:") => {
                "nothing responds at this local address; if it is the practice phone, `afctl init practice` starts it again"
            }
            DriverError::Unreachable(_) => {
                "check that the phone is on, its service is running and the URL is correct: `afctl health`"
            }
            DriverError::Auth(_) => {
                "use the token shown in the phone's app: `afctl config set device.NAME.token TOKEN`, or --token together with --url"
            }
            DriverError::Protocol(_) => "check that the URL points to the phone's service: `afctl health`",
            DriverError::Refused { .. } => {
                "observe again; some actions need Shizuku or the accessibility service on the phone"
            }
            _ => return None,
        })
    }

    fn health(&self) -> DriverFuture<'_, String> {
        Box::pin(self.http.health())
    }

    /// Checks the token by reading the overlay, which is the cheapest request that requires a token. The health
    /// endpoint does not require one.
    fn check_token<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, ()> {
        Box::pin(async move { self.overlay(token).await.map(|_| ()) })
    }

    fn top<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, ForegroundApp> {
        Box::pin(async move {
            match self.top_activity(token).await? {
                Some(place) => {
                    Ok(ForegroundApp { app: android::app_of(&place).map(str::to_owned), place: Some(place) })
                }
                // Without Shizuku the service does not know the activity; the screen at least reports the app.
                None => self.read(token).await.map(|s| ForegroundApp { app: s.app.clone(), place: s.place }),
            }
        })
    }

    fn snapshot<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, Snapshot> {
        Box::pin(self.read(token))
    }

    fn screenshot<'a>(&'a self, token: Option<&'a Secret>, shot: ScreenshotOptions) -> DriverFuture<'a, Vec<u8>> {
        Box::pin(async move {
            let (dim, quality, hide) =
                (shot.max_dim.to_string(), shot.quality.to_string(), shot.hide_overlay.to_string());
            let query =
                [("max_dim", dim.as_str()), ("quality", &quality), ("annotate", "false"), ("hide_overlay", &hide)];
            let data = self.http.get(SCREENSHOT, &query, token).await?;
            let decoded = run_blocking(move || base64::engine::general_purpose::STANDARD.decode(data.trim())).await;
            let picture = decoded
                .map_err(|panicked| DriverError::Failed(panicked.to_string()))?
                .map_err(|e| DriverError::Protocol(format!("the screenshot is not valid base64: {e}").into()))?;
            if picture.starts_with(&[0xFF, 0xD8]) {
                Ok(picture)
            } else {
                Err(DriverError::Protocol("the screenshot is not a JPEG".into()))
            }
        })
    }

    fn perform<'a>(&'a self, token: Option<&'a Secret>, input: &'a Input) -> DriverFuture<'a, String> {
        let (path, body, extra_ms) = match input {
            Input::On(_, _, touch) => return self.perform(token, touch),
            Input::Keys(keys) => return Box::pin(self.press(keys, token)),
            Input::Text(text) => return Box::pin(self.typing.text(&self.http, text, token)),
            Input::Tap(x, y) => ("/api/tap", json!({"x": x, "y": y}), 0),
            Input::LongPress(x, y, ms) => ("/api/long-press", json!({"x": x, "y": y, "duration": ms}), *ms),
            Input::DoubleTap(x, y) => ("/api/double-tap", json!({"x": x, "y": y}), 0),
            Input::Swipe([x1, y1, x2, y2], ms) | Input::Drag([x1, y1, x2, y2], ms) => {
                ("/api/swipe", json!({"x1": x1, "y1": y1, "x2": x2, "y2": y2, "duration": ms}), *ms)
            }
            Input::Hover(..) | Input::Upload(..) | Input::Tab(_) | Input::CloseTab(_) => {
                let what = "has neither a mouse nor tabs, and takes no files";
                let error = DriverError::Unsupported { kind: "autofish", what, instead: "tap an element" };
                return Box::pin(async { Err(error) });
            }
            Input::Scroll(direction, amount) => {
                ("/api/scroll", json!({"direction": direction.word(), "amount": amount.word()}), 0)
            }
            Input::Back => ("/api/press/back", json!({}), 0),
            Input::Home => ("/api/press/home", json!({}), 0),
            Input::Launch(package) => ("/api/app/launch", json!({"package_name": package}), 0),
            Input::Stop(package) => ("/api/app/stop", json!({"package_name": package}), 0),
        };
        Box::pin(async move { self.http.post(path, &body, Duration::from_millis(u64::from(extra_ms)), token).await })
    }

    fn overlays(&self) -> Option<&dyn Overlays> {
        Some(self)
    }

    fn packages(&self) -> Option<&dyn Packages> {
        Some(self)
    }

    fn shell(&self) -> Option<&dyn Shell> {
        Some(self)
    }

    fn intents(&self) -> Option<&dyn Intents> {
        Some(self)
    }
}

impl Autofish {
    /// Presses keys. A single key takes one request to the key endpoint; several keys are pressed in batches if the
    /// shell allows it.
    async fn press(&self, keys: &[Key], token: Option<&Secret>) -> Result<String, DriverError> {
        let code = |key: &Key| match *key {
            Key::Named(name) => android::code(name),
            Key::Code(code) => code,
        };
        match keys {
            [key] => self.http.post("/api/press/key", &json!({"key_code": code(key)}), Duration::ZERO, token).await,
            keys => self.typing.press(&self.http, &keys.iter().map(code).collect::<Vec<_>>(), token).await,
        }
    }
}

impl Overlays for Autofish {
    fn overlay<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, Overlay> {
        Box::pin(async move {
            let data = self.http.get("/api/overlay", &[], token).await?;
            serde_json::from_str(&data)
                .map_err(|e| DriverError::Protocol(format!("cannot parse the overlay state: {e}").into()))
        })
    }

    fn set_overlay<'a>(&'a self, token: Option<&'a Secret>, setting: &'a OverlaySetting) -> DriverFuture<'a, Overlay> {
        Box::pin(async move {
            let state = self.http.post("/api/overlay", &overlay_body(setting), Duration::ZERO, token).await?;
            serde_json::from_str(&state)
                .map_err(|e| DriverError::Lost(format!("cannot parse the state of the overlay: {e}")))
        })
    }
}

impl Packages for Autofish {
    fn packages<'a>(
        &'a self,
        token: Option<&'a Secret>,
        filter: Option<&'a str>,
        system: bool,
    ) -> DriverFuture<'a, Vec<String>> {
        Box::pin(async move {
            let system = system.to_string();
            let mut query = vec![("include_system", system.as_str())];
            query.extend(filter.map(|f| ("filter", f)));
            let data = self.http.get("/api/packages", &query, token).await?;
            Ok(data.lines().map(str::trim).filter(|l| !l.is_empty()).map(str::to_owned).collect())
        })
    }
}

impl Shell for Autofish {
    fn run<'a>(&'a self, token: Option<&'a Secret>, command: &'a Secret, ms: u32) -> DriverFuture<'a, String> {
        Box::pin(async move {
            let body = json!({"command": command.expose()});
            let result = self.http.post("/api/shell", &body, Duration::from_millis(u64::from(ms)), token).await;
            result.map_err(|error| redact_command(error, command))
        })
    }
}

impl Intents for Autofish {
    fn check(&self, intent: &Intent) -> Result<(), BadParam> {
        android::check_intent(intent)
    }

    fn send<'a>(&'a self, token: Option<&'a Secret>, intent: &'a Intent) -> DriverFuture<'a, String> {
        Box::pin(async move {
            let sent = self.http.post("/api/intent", &intent_body(intent), Duration::ZERO, token).await;
            // The service quotes the whole intent in its messages, extras included, in an unspecified form.
            match intent.extras.is_empty() {
                true => sent,
                false => {
                    sent.map(|_| "Intent sent".to_owned()).map_err(|error| redact_body(error, "cannot send the intent"))
                }
            }
        })
    }
}

/// Builds the body of a request that changes the overlay. Absent offsets are left out, so that the service keeps its
/// current offsets.
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
    let parts = [
        ("action", &intent.action),
        ("data", &intent.data),
        ("package_name", &intent.package),
        ("component", &intent.component),
    ];
    let mut body: serde_json::Map<String, Value> =
        parts.into_iter().filter_map(|(name, part)| part.as_ref().map(|p| (name.to_owned(), json!(p)))).collect();
    if !intent.extras.is_empty() {
        body.insert("extras".to_owned(), json!(intent.extras));
    }
    Value::Object(body)
}
