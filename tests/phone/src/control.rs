//! The control interface: a second port through which tests change the phone's state independently of the client under
//! test.
//!
//! `GET /state` and `GET /log` read the state and the input log. Every other request is a `POST` of a JSON object to a
//! path named after a [`Command`].

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response, StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Phone;
use crate::fault::Fault;
use crate::http::HttpResponse;
use crate::scene::visible_text;
use crate::server::{Shared, lock};

/// A command of the control interface.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Command {
    /// Shows a page of an app.
    Scene {
        /// Package.
        app: String,
        /// Page name; the start page by default.
        page: Option<String>,
    },
    /// Scrolls down by rows and by pixels; negative numbers scroll up.
    Scroll {
        /// Number of list rows.
        #[serde(default)]
        rows: i32,
        /// Number of device pixels.
        #[serde(default)]
        pixels: i32,
    },
    /// Shows a dialog of the foreground app.
    Popup {
        /// Name of the dialog.
        dialog: String,
    },
    /// Turns capabilities on or off; those that are absent keep their state.
    Capability {
        /// Whether Shizuku is running.
        shizuku: Option<bool>,
        /// Whether Shizuku can reach the input manager.
        reflection: Option<bool>,
        /// Whether the accessibility service is bound.
        accessibility: Option<bool>,
    },
    /// Replaces the bearer token.
    Token {
        /// New token.
        token: String,
    },
    /// Switches the dialect of the service.
    Dialect {
        /// 1 or 2.
        dialect: u8,
    },
    /// Adds a fault.
    Fault(Fault),
    /// Removes all faults.
    ClearFaults,
    /// Releases the responses that are being held.
    Release,
    /// Sets a variable of an app.
    Set {
        /// Package.
        app: String,
        /// Name.
        name: String,
        /// Value.
        value: String,
    },
    /// Advances a manual clock.
    Clock {
        /// By this many milliseconds.
        advance_ms: i64,
    },
    /// Restarts the service, which loses its ref and overlay state; the screen stays as it is.
    Restart,
    /// Clears the input log.
    ClearLog,
}

/// Handles one control request.
pub async fn handle(phone: &Shared, request: Request<Incoming>) -> HttpResponse {
    let path = request.uri().path().trim_start_matches('/').to_owned();
    let body = match request.into_body().collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => return json_response(StatusCode::BAD_REQUEST, &json!({"error": "cannot read the request body"})),
    };
    match path.as_str() {
        "state" => json_response(StatusCode::OK, &state(&lock(phone))),
        "log" => json_response(StatusCode::OK, &json!({"inputs": lock(phone).inputs})),
        name => match parse(name, &body).and_then(|command| run(&mut lock(phone), command)) {
            Ok(()) => json_response(StatusCode::OK, &json!({"ok": true})),
            Err(error) => json_response(StatusCode::BAD_REQUEST, &json!({"error": error})),
        },
    }
}

fn json_response(status: StatusCode, body: &Value) -> HttpResponse {
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    response
}

fn parse(name: &str, body: &[u8]) -> Result<Command, String> {
    let mut object =
        if body.is_empty() { json!({}) } else { serde_json::from_slice(body).map_err(|e| e.to_string())? };
    let fields = object.as_object_mut().ok_or("expected a JSON object")?;
    fields.insert("do".to_owned(), json!(name));
    serde_json::from_value(object).map_err(|e| e.to_string())
}

fn state(phone: &Phone) -> Value {
    let (app, page) = phone.foreground();
    let scene = phone.scene();
    let rows: Vec<Value> = scene
        .windows
        .iter()
        .flat_map(|w| crate::scene::Scene::flatten(w, "root"))
        .filter(|f| f.node.clickable)
        .map(|f| json!({"label": visible_text(f.node), "bounds": f.node.bounds.text(), "window": f.window.kind}))
        .collect();
    json!({"app": app, "page": page, "topActivity": phone.top_activity(), "mode": phone.mode(), "clickable": rows})
}

/// Executes a command.
///
/// # Errors
/// A message if the page or dialog does not exist, the dialect is not 1 or 2, or the clock is not manual.
pub fn run(phone: &mut Phone, command: Command) -> Result<(), String> {
    match command {
        Command::Scene { app, page } => {
            return phone
                .show_page(&app, page.as_deref())
                .then_some(())
                .ok_or_else(|| format!("no such app or page: app {app:?}, page {page:?}"));
        }
        Command::Scroll { rows, pixels } => {
            phone.scroll_rows(rows);
            phone.scroll_by(pixels);
        }
        Command::Popup { dialog } => {
            return phone
                .show_dialog(&dialog)
                .then_some(())
                .ok_or_else(|| format!("the foreground app has no dialog {dialog:?}"));
        }
        Command::Capability { shizuku, reflection, accessibility } => {
            phone.shizuku = shizuku.unwrap_or(phone.shizuku);
            phone.reflection = reflection.unwrap_or(phone.reflection);
            phone.accessibility = accessibility.unwrap_or(phone.accessibility);
        }
        Command::Token { token } => phone.token = token,
        Command::Dialect { dialect: dialect @ (1 | 2) } => phone.dialect = dialect,
        Command::Dialect { dialect } => return Err(format!("expected dialect 1 or 2, got {dialect}")),
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
                .ok_or_else(|| "the clock is not manual; start with --clock manual".to_owned());
        }
        Command::Restart => phone.restart_service(),
        Command::ClearLog => phone.inputs.clear(),
    }
    Ok(())
}
