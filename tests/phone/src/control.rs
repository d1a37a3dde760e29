//! The control interface: how a test arranges the world behind the client's back.
//!
//! `GET /state` and `GET /log` look; everything else is a `POST` with a JSON object to a path named after what it does.

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response, StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Phone;
use crate::fault::Fault;
use crate::http::Answer;
use crate::scene::spoken;
use crate::server::{Shared, lock};

/// What a control request may ask for.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Command {
    /// Shows a page of an app.
    Scene {
        /// Package.
        app: String,
        /// Page; the start page by default.
        page: Option<String>,
    },
    /// Scrolls by rows, then by pixels.
    Scroll {
        /// List rows.
        #[serde(default)]
        rows: i32,
        /// Device pixels.
        #[serde(default)]
        pixels: i32,
    },
    /// Shows a dialog of the app in front.
    Popup {
        /// Its name.
        dialog: String,
    },
    /// Turns capabilities on and off.
    Capability {
        /// Shizuku runs.
        shizuku: Option<bool>,
        /// Shizuku reaches the input manager.
        reflection: Option<bool>,
        /// The accessibility service is bound.
        accessibility: Option<bool>,
    },
    /// Replaces the token.
    Token {
        /// The new one.
        token: String,
    },
    /// Switches the dialect.
    Dialect {
        /// 1 or 2.
        dialect: u8,
    },
    /// Adds a fault.
    Fault(Fault),
    /// Takes all faults away.
    ClearFaults,
    /// Lets go the answers that are held back.
    Release,
    /// Fills a variable of an app.
    Set {
        /// Package.
        app: String,
        /// Name.
        name: String,
        /// Value.
        value: String,
    },
    /// Moves a manual clock.
    Clock {
        /// Milliseconds.
        advance_ms: i64,
    },
    /// Restarts the service; the screen stays.
    Restart,
    /// Forgets the inputs that were logged.
    ClearLog,
}

/// Answers one control request.
pub async fn handle(phone: &Shared, request: Request<Incoming>) -> Answer {
    let path = request.uri().path().trim_start_matches('/').to_owned();
    let body = match request.into_body().collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => return answer(StatusCode::BAD_REQUEST, &json!({"error": "the body broke off"})),
    };
    match path.as_str() {
        "state" => answer(StatusCode::OK, &state(&lock(phone))),
        "log" => answer(StatusCode::OK, &json!({"inputs": lock(phone).inputs})),
        name => match parse(name, &body).and_then(|command| run(&mut lock(phone), command)) {
            Ok(()) => answer(StatusCode::OK, &json!({"ok": true})),
            Err(error) => answer(StatusCode::BAD_REQUEST, &json!({"error": error})),
        },
    }
}

fn answer(status: StatusCode, body: &Value) -> Answer {
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    response
}

fn parse(name: &str, body: &[u8]) -> Result<Command, String> {
    let mut object = if body.is_empty() { json!({}) } else { serde_json::from_slice(body).map_err(|e| e.to_string())? };
    let fields = object.as_object_mut().ok_or("expected a JSON object")?;
    fields.insert("do".to_owned(), json!(name));
    serde_json::from_value(object).map_err(|e| e.to_string())
}

fn state(phone: &Phone) -> Value {
    let (app, page) = phone.place();
    let scene = phone.scene();
    let rows: Vec<Value> = scene
        .windows
        .iter()
        .flat_map(|w| crate::scene::Scene::flatten(w, "root"))
        .filter(|f| f.node.clickable)
        .map(|f| json!({"label": spoken(f.node), "bounds": f.node.bounds.text(), "window": f.window.kind}))
        .collect();
    json!({"app": app, "page": page, "topActivity": phone.top_activity(), "mode": phone.mode(), "clickable": rows})
}

/// Carries out a command.
///
/// # Errors
/// A sentence, when what it names is not there.
pub fn run(phone: &mut Phone, command: Command) -> Result<(), String> {
    match command {
        Command::Scene { app, page } => {
            return phone.go(&app, page.as_deref()).then_some(()).ok_or_else(|| format!("no page {page:?} in {app:?}"));
        }
        Command::Scroll { rows, pixels } => {
            phone.scroll_rows(rows);
            phone.scroll_by(pixels);
        }
        Command::Popup { dialog } => {
            return phone.pop_up(&dialog).then_some(()).ok_or_else(|| format!("the app in front has no dialog {dialog:?}"));
        }
        Command::Capability { shizuku, reflection, accessibility } => {
            phone.shizuku = shizuku.unwrap_or(phone.shizuku);
            phone.reflection = reflection.unwrap_or(phone.reflection);
            phone.accessibility = accessibility.unwrap_or(phone.accessibility);
        }
        Command::Token { token } => phone.token = token,
        Command::Dialect { dialect: dialect @ (1 | 2) } => phone.dialect = dialect,
        Command::Dialect { dialect } => return Err(format!("dialect is {dialect}, expected 1 or 2")),
        Command::Fault(fault) => phone.faults.push(fault),
        Command::ClearFaults => phone.faults.clear(),
        Command::Release => {
            phone.released.send_replace(());
        }
        Command::Set { app, name, value } => phone.set(&app, &name, &value),
        Command::Clock { advance_ms } => {
            return phone
                .clock
                .advance(advance_ms)
                .then_some(())
                .ok_or_else(|| "the clock runs by itself; start with --clock manual".to_owned());
        }
        Command::Restart => phone.restart_service(),
        Command::ClearLog => phone.inputs.clear(),
    }
    Ok(())
}
