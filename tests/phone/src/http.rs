//! The service's HTTP interface.

use std::collections::HashMap;
use std::time::Duration;

use base64::Engine;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response, StatusCode, header};
use serde::{Deserialize, de::DeserializeOwned};

use crate::fault::Kind;
use crate::marks::{self, OverlayRequest};
use crate::refs::RefusedRef;
use crate::scene::{Flat, Scene};
use crate::server::{Cut, Shared, Spoil, lock};
use crate::{Phone, picture, wire};

/// An answer.
pub type Answer = Response<Full<Bytes>>;

const NO_ACCESSIBILITY: &str = "Accessibility service not available";

fn plain(status: StatusCode, content_type: Option<&str>, body: String) -> Answer {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    if let Some(value) = content_type.and_then(|c| c.parse().ok()) {
        response.headers_mut().insert(header::CONTENT_TYPE, value);
    }
    response
}

fn text(status: StatusCode, body: impl Into<String>) -> Answer {
    plain(status, Some("text/plain; charset=UTF-8"), body.into())
}

fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn envelope(result: Result<String, (u16, String)>) -> Answer {
    let (code, body) = match &result {
        Ok(data) => (200, wire::Envelope { ok: true, data: Some(data), error: None }),
        Err((code, error)) => (*code, wire::Envelope { ok: false, data: None, error: Some(error) }),
    };
    plain(status(code), Some("application/json"), serde_json::to_string(&body).unwrap_or_default())
}

/// Answers one request.
pub async fn handle(phone: &Shared, cut: &Cut, request: Request<Incoming>) -> Answer {
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        return text(StatusCode::BAD_REQUEST, "");
    };
    let body = body.to_bytes();
    let target = head.uri.path_and_query().map_or("/", |t| t.as_str()).to_owned();
    let authorization = head.headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok());
    if target != "/health" {
        match authorization.and_then(|a| a.strip_prefix("Bearer ")) {
            None => return text(StatusCode::UNAUTHORIZED, "Missing or invalid Authorization header"),
            Some(token) if token != lock(phone).token => return text(StatusCode::UNAUTHORIZED, "Invalid bearer token"),
            Some(_) => {}
        }
    }
    let fault = lock(phone).faults.take(head.uri.path());
    match &fault {
        Some(Kind::DropBefore) => {
            cut.spoil(Spoil::Drop);
            return text(StatusCode::OK, "");
        }
        Some(Kind::Status { status: code, body, content_type }) => {
            return plain(status(*code), content_type.as_deref(), body.clone());
        }
        _ => {}
    }
    let flap = fault == Some(Kind::Flap);
    let content_type = head.headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).map(str::to_owned);
    let call = Call {
        method: head.method,
        path: head.uri.path().to_owned(),
        query: query(head.uri.query().unwrap_or("")),
        content_type,
        body,
        flap,
    };
    let answer = route(&mut lock(phone), &call);
    match fault {
        Some(Kind::Delay { ms }) => tokio::time::sleep(Duration::from_millis(ms)).await,
        Some(Kind::DropAfter) => cut.spoil(Spoil::Drop),
        Some(Kind::Garbage) => cut.spoil(Spoil::Garbage),
        Some(Kind::Half) => cut.spoil(Spoil::Half),
        _ => {}
    }
    answer
}

struct Call {
    method: Method,
    path: String,
    query: HashMap<String, String>,
    content_type: Option<String>,
    body: Bytes,
    flap: bool,
}

fn query(text: &str) -> HashMap<String, String> {
    text.split('&').filter_map(|pair| pair.split_once('=')).map(|(k, v)| (k.to_owned(), decode(v))).collect()
}

fn decode(text: &str) -> String {
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let hex = (bytes[i] == b'%').then(|| text.get(i + 1..i + 3)).flatten().and_then(|h| u8::from_str_radix(h, 16).ok());
        match (bytes[i], hex) {
            (_, Some(byte)) => {
                out.push(byte);
                i += 3;
                continue;
            }
            (b'+', _) => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        i += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

impl Call {
    fn int(&self, name: &str, default: i32) -> i32 {
        self.query.get(name).and_then(|v| v.parse().ok()).unwrap_or(default)
    }

    fn flag(&self, name: &str, default: bool) -> bool {
        self.query.get(name).and_then(|v| v.parse().ok()).unwrap_or(default)
    }

    fn json<T: DeserializeOwned>(&self, type_name: &str) -> Result<T, Answer> {
        let is_json = self.content_type.as_deref().is_some_and(|c| c.starts_with("application/json"));
        if !is_json {
            return Err(text(StatusCode::UNSUPPORTED_MEDIA_TYPE, format!("Cannot transform this request's content to {type_name}")));
        }
        serde_json::from_slice(&self.body).map_err(|_| {
            text(
                StatusCode::BAD_REQUEST,
                format!("Failed to convert request body to class com.memohai.autofish.service.ServiceServer${type_name}"),
            )
        })
    }
}

/// Wraps a handler that reads a body.
fn with<T: DeserializeOwned>(call: &Call, type_name: &str, run: impl FnOnce(T) -> Result<String, (u16, String)>) -> Answer {
    match call.json(type_name) {
        Ok(body) => envelope(run(body)),
        Err(answer) => answer,
    }
}

fn fail<T>(code: u16, message: impl Into<String>) -> Result<T, (u16, String)> {
    Err((code, message.into()))
}

const ROUTES: &[(&str, &str)] = &[
    ("GET", "/health"),
    ("GET", "/api/observe"),
    ("GET", "/api/screen"),
    ("GET", "/api/screen/refs"),
    ("GET", "/api/mark"),
    ("GET", "/api/screenshot"),
    ("POST", "/api/tap"),
    ("POST", "/api/long-press"),
    ("POST", "/api/double-tap"),
    ("POST", "/api/swipe"),
    ("POST", "/api/scroll"),
    ("POST", "/api/press/back"),
    ("POST", "/api/press/home"),
    ("POST", "/api/press/key"),
    ("POST", "/api/text"),
    ("POST", "/api/nodes/find"),
    ("POST", "/api/nodes/click"),
    ("POST", "/api/nodes/tap"),
    ("GET", "/api/overlay"),
    ("POST", "/api/overlay"),
    ("POST", "/api/app/launch"),
    ("POST", "/api/app/stop"),
    ("GET", "/api/app/top"),
    ("GET", "/api/packages"),
    ("POST", "/api/shell"),
    ("POST", "/api/intent"),
];

fn route(phone: &mut Phone, call: &Call) -> Answer {
    let known = |m: Option<&str>| ROUTES.iter().any(|(method, path)| *path == call.path && m.is_none_or(|m| m == *method));
    if !known(None) || (phone.dialect == 1 && call.path == "/api/observe") {
        return plain(StatusCode::NOT_FOUND, None, String::new());
    }
    if !known(Some(call.method.as_str())) {
        return plain(StatusCode::METHOD_NOT_ALLOWED, None, String::new());
    }
    match call.path.as_str() {
        "/health" => plain(StatusCode::OK, Some("application/json"), r#"{"status":"healthy","type":"service"}"#.to_owned()),
        "/api/observe" => envelope(Ok(observe(phone, call))),
        "/api/screen" => envelope(Ok(screen(phone, call))),
        "/api/screen/refs" => envelope(Ok(screen_refs(phone, call))),
        "/api/mark" => envelope(mark(phone, call)),
        "/api/screenshot" => envelope(screenshot(phone, call)),
        "/api/tap" => touch(phone, call, "TapRequest", "tap", "Tapped"),
        "/api/long-press" => touch(phone, call, "LongPressRequest", "longPress", "Long pressed"),
        "/api/double-tap" => touch(phone, call, "DoubleTapRequest", "doubleTap", "Double tapped"),
        "/api/swipe" => with(call, "SwipeRequest", |b: Swipe| {
            touchable(phone)?;
            phone.swipe((b.x1, b.y1), (b.x2, b.y2));
            Ok("Swiped".to_owned())
        }),
        "/api/scroll" => with(call, "ScrollRequest", |b: Scroll| scroll(phone, &b)),
        "/api/press/back" => envelope(touchable(phone).map(|()| {
            phone.back();
            "Pressed Back".to_owned()
        })),
        "/api/press/home" => envelope(touchable(phone).map(|()| {
            phone.home();
            "Pressed Home".to_owned()
        })),
        "/api/press/key" => with(call, "PressKeyRequest", |b: Key| {
            if !phone.shizuku {
                return fail(500, "Key injection requires Shizuku or Accessibility");
            }
            phone.key(b.key_code);
            Ok(format!("Pressed key {}", b.key_code))
        }),
        "/api/text" => with(call, "TextRequest", |b: Typed| {
            if !phone.shizuku {
                return fail(500, "Text input failed");
            }
            phone.type_text(&b.text);
            Ok("Typed text".to_owned())
        }),
        "/api/nodes/find" => with(call, "FindNodesRequest", |b: Find| find(phone, &b)),
        "/api/nodes/click" => with(call, "ClickNodeRequest", |b: Click| click(phone, &b)),
        "/api/nodes/tap" => with(call, "TapNodeRequest", |b: Find| node_tap(phone, &b)),
        "/api/overlay" if call.method == Method::GET => envelope(Ok(overlay_state(phone))),
        "/api/overlay" => with(call, "OverlayRequest", |b: OverlayRequest| set_overlay(phone, &b)),
        "/api/app/launch" => with(call, "LaunchAppRequest", |b: Package| launch(phone, &b.package_name)),
        "/api/app/stop" => with(call, "StopAppRequest", |b: Package| {
            if !phone.shizuku {
                return fail(500, "Shizuku exec failed: not running");
            }
            phone.stop(&b.package_name);
            Ok(format!("Stopped {}", b.package_name))
        }),
        "/api/app/top" => {
            envelope(if phone.shizuku && !call.flap { Ok(phone.top_activity()) } else { fail(500, "Could not determine top activity") })
        }
        "/api/packages" => envelope(packages(phone, call)),
        "/api/shell" => with(call, "ShellRequest", |b: Shell| shell(phone, &b.command)),
        _ => with(call, "IntentRequest", |b: Intent| intent(phone, &b)),
    }
}

#[derive(Deserialize)]
struct Spot {
    x: f32,
    y: f32,
}

#[derive(Deserialize)]
struct Swipe {
    x1: f32,
    y1: f32,
    x2: f32,
    y2: f32,
}

#[derive(Deserialize)]
struct Scroll {
    direction: String,
    amount: Option<String>,
}

#[derive(Deserialize)]
struct Key {
    key_code: i64,
}

#[derive(Deserialize)]
struct Typed {
    text: String,
}

#[derive(Deserialize)]
struct Find {
    by: String,
    value: String,
    #[serde(default)]
    exact_match: bool,
}

#[derive(Deserialize)]
struct Click {
    node_id: String,
}

#[derive(Deserialize)]
struct Package {
    package_name: String,
}

#[derive(Deserialize)]
struct Shell {
    command: String,
}

#[derive(Deserialize)]
struct Intent {
    action: Option<String>,
    data: Option<String>,
    component: Option<String>,
}

fn touchable(phone: &Phone) -> Result<(), (u16, String)> {
    if phone.can_touch() { Ok(()) } else { fail(500, NO_ACCESSIBILITY) }
}

fn scene_of(phone: &Phone) -> Option<Scene> {
    phone.accessibility.then(|| phone.scene())
}

/// The top activity as the tree routes see it: unknown without Shizuku or while it changes.
fn stable_top(phone: &Phone, call: &Call) -> Option<String> {
    (phone.shizuku && !call.flap).then(|| phone.top_activity())
}

fn screen(phone: &Phone, call: &Call) -> String {
    let top = stable_top(phone, call).unwrap_or_default();
    let size = (crate::layout::WIDTH, crate::layout::HEIGHT, crate::layout::DENSITY);
    wire::screen_text(scene_of(phone).as_ref(), phone.mode(), (phone.dialect == 2).then_some(top.as_str()), size)
}

fn empty_scene() -> Scene {
    Scene { width: 0, height: 0, density: 0, windows: Vec::new() }
}

fn screen_refs(phone: &mut Phone, call: &Call) -> String {
    let scene = scene_of(phone).unwrap_or_else(empty_scene);
    let (now, seq, mode, top) = (phone.clock.now_ms(), phone.ui_seq, phone.mode(), stable_top(phone, call));
    phone.refs.cached(&scene, now, seq);
    phone.refs.publish();
    let state = phone.refs.cached(&scene, now, seq);
    serde_json::to_string(&wire::ref_screen(state, mode, (phone.dialect == 2).then_some(top.as_deref()))).unwrap_or_default()
}

fn observe(phone: &mut Phone, call: &Call) -> String {
    let include = call.query.get("include").cloned().unwrap_or_else(|| "top,screen".to_owned()).to_lowercase();
    let wants = |part: &str| include.split(',').any(|p| p.trim() == part);
    let max_rows = usize::try_from(call.int("max_rows", 120)).unwrap_or(0);
    let (scene, top, mode, now) = (scene_of(phone), stable_top(phone, call), phone.mode(), phone.clock.now_ms());
    let refs = wants("refs").then(|| {
        phone.refs.compute(scene.as_ref().unwrap_or(&empty_scene()), now);
        phone.refs.publish();
        phone.refs.compute(scene.as_ref().unwrap_or(&empty_scene()), now)
    });
    wire::observe(scene.as_ref(), mode, top.as_deref(), wants("screen"), refs, max_rows)
}

fn mark(phone: &mut Phone, call: &Call) -> Result<String, (u16, String)> {
    let (interactive, max) = (call.flag("interactive_only", true), call.int("max_marks", 120));
    let scene = scene_of(phone).unwrap_or_else(empty_scene);
    let found = marks::marks(&scene, interactive, usize::try_from(max.max(1)).unwrap_or(1));
    if call.flag("apply_overlay", false) {
        if !phone.accessibility {
            return fail(503, NO_ACCESSIBILITY);
        }
        phone.overlay.enabled = true;
        phone.overlay.marks = found.clone();
    }
    #[derive(serde::Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Payload<'a> {
        mode: &'a str,
        degraded: bool,
        interactive_only: bool,
        max_marks: i32,
        mark_count: usize,
        overlay: marks::OverlayState,
        marks: &'a [marks::Mark],
    }
    let payload = Payload {
        mode: phone.mode(),
        degraded: !phone.accessibility,
        interactive_only: interactive,
        max_marks: max,
        mark_count: found.len(),
        overlay: phone.overlay.state(phone.accessibility),
        marks: &found,
    };
    Ok(serde_json::to_string(&payload).unwrap_or_default())
}

fn screenshot(phone: &mut Phone, call: &Call) -> Result<String, (u16, String)> {
    if !phone.can_touch() {
        return fail(500, "Accessibility service not enabled");
    }
    let annotate = call.flag("annotate", false);
    if annotate && !phone.accessibility {
        return fail(503, NO_ACCESSIBILITY);
    }
    let scene = phone.scene();
    let max_marks = usize::try_from(call.int("max_marks", 120).max(1)).unwrap_or(1);
    let marks = match (call.flag("hide_overlay", !annotate), annotate) {
        (true, _) => Vec::new(),
        (false, true) => marks::marks(&scene, call.flag("interactive_only", true), max_marks),
        (false, false) if phone.overlay.enabled => phone.overlay.marks.clone(),
        (false, false) => Vec::new(),
    };
    let quality = u8::try_from(call.int("quality", 80).clamp(1, 100)).unwrap_or(80);
    let picture = picture::jpeg(&scene, &marks, call.int("max_dim", 700), quality);
    Ok(base64::engine::general_purpose::STANDARD.encode(picture))
}

/// Kotlin's text of a float.
fn kotlin(v: f32) -> String {
    format!("{v:?}")
}

fn touch(phone: &mut Phone, call: &Call, type_name: &str, kind: &str, done: &str) -> Answer {
    with(call, type_name, |b: Spot| {
        touchable(phone)?;
        phone.touch(kind, b.x, b.y);
        Ok(format!("{done} ({}, {})", kotlin(b.x), kotlin(b.y)))
    })
}

fn scroll(phone: &mut Phone, b: &Scroll) -> Result<String, (u16, String)> {
    let direction = b.direction.to_lowercase();
    if !["up", "down", "left", "right"].contains(&direction.as_str()) {
        return fail(400, format!("Invalid direction: {}", b.direction));
    }
    touchable(phone)?;
    let share = match b.amount.as_deref().map(str::to_lowercase).as_deref() {
        Some("small") => 0.25,
        Some("large") => 0.75,
        _ => 0.5,
    };
    phone.scroll(&direction, share);
    Ok(format!("Scrolled {}", b.direction))
}

fn field<'a>(f: &'a Flat<'_>, by: &str) -> Option<&'a str> {
    match by {
        "text" => f.node.text.as_deref(),
        "content_desc" => f.node.desc.as_deref(),
        "resource_id" => f.node.res_id.as_deref(),
        _ => Some(f.node.class.as_str()),
    }
}

fn matches(value: Option<&str>, wanted: &str, exact: bool) -> bool {
    value.is_some_and(|v| if exact { v == wanted } else { v.to_lowercase().contains(&wanted.to_lowercase()) })
}

fn normalise_by(by: &str) -> Option<&'static str> {
    match by.to_lowercase().as_str() {
        "text" => Some("text"),
        "content_desc" | "desc" => Some("content_desc"),
        "resource_id" | "resid" | "res_id" => Some("resource_id"),
        "class_name" | "class" => Some("class_name"),
        _ => None,
    }
}

fn find(phone: &Phone, b: &Find) -> Result<String, (u16, String)> {
    if !phone.accessibility {
        return fail(503, "Accessibility not available");
    }
    let Some(by) = normalise_by(&b.by) else { return fail(400, format!("Invalid by: {}", b.by)) };
    let scene = phone.scene();
    let Some(window) = scene.active() else { return fail(503, "No root node") };
    let found: Vec<String> =
        Scene::flatten(window, "root").iter().filter(|f| matches(field(f, by), &b.value, b.exact_match)).map(wire::found_line).collect();
    if found.is_empty() {
        return Ok(format!("No nodes found matching {}='{}'", b.by, b.value));
    }
    Ok(format!("Found {} node(s):\n{}", found.len(), found.join("\n")))
}

fn click(phone: &mut Phone, b: &Click) -> Result<String, (u16, String)> {
    if !phone.accessibility {
        return fail(503, "Accessibility not available");
    }
    let scene = phone.scene();
    let at = scene.active().and_then(|w| Scene::flatten(w, "root").iter().find(|f| f.id == b.node_id).map(|f| f.node.bounds.center()));
    let Some((x, y)) = at else { return fail(404, format!("Node not found: {}", b.node_id)) };
    phone.touch("tap", x, y);
    Ok(format!("Clicked node {}", b.node_id))
}

fn node_tap(phone: &mut Phone, b: &Find) -> Result<String, (u16, String)> {
    if b.value.trim().is_empty() {
        return fail(400, "value must not be empty");
    }
    if b.by.eq_ignore_ascii_case("ref") {
        return ref_tap(phone, b.value.trim());
    }
    let by = match normalise_by(&b.by) {
        Some(by) if by != "class_name" => by,
        _ => return fail(400, format!("Invalid by: {}. allowed: text,content_desc,resource_id,ref (aliases: desc,resid)", b.by)),
    };
    if !phone.accessibility {
        return fail(503, "Accessibility not available");
    }
    let scene = phone.scene();
    let flat: Vec<Flat<'_>> = scene.by_focus().into_iter().flat_map(|w| Scene::flatten(w, &format!("root_w{}", w.id))).collect();
    let matched: Vec<&Flat<'_>> = flat.iter().filter(|f| matches(field(f, by), &b.value, b.exact_match)).collect();
    let usable =
        |f: &&&Flat<'_>| !f.node.disabled && !f.node.hidden && (f.node.clickable || f.node.long_clickable) && f.node.bounds.area() > 0;
    let candidates: Vec<_> = matched.iter().filter(usable).collect();
    let [only] = candidates.as_slice() else {
        let how = if candidates.is_empty() { "no clickable node" } else { "multiple clickable nodes" };
        return fail(
            409,
            format!(
                "ASSERTION_FAILED: {how} matched by={by} value='{}' exact_match={}; matched_count={}, candidate_count={}",
                b.value,
                b.exact_match,
                matched.len(),
                candidates.len()
            ),
        );
    };
    let ((x, y), id) = (only.node.bounds.center(), only.id.clone());
    phone.touch("tap", x, y);
    Ok(format!("Tapped by {by}='{}' at ({}, {}) node={id}", b.value, x as i32, y as i32))
}

fn ref_tap(phone: &mut Phone, alias: &str) -> Result<String, (u16, String)> {
    let digits = alias.strip_prefix("@n").filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
    if digits.is_none() {
        return fail(400, format!("Invalid ref: {alias} (expected format @n<index>)"));
    }
    let (scene, now, seq) = (scene_of(phone).unwrap_or_else(empty_scene), phone.clock.now_ms(), phone.ui_seq);
    let hit = match phone.refs.resolve(alias, &scene, now, seq) {
        Ok(hit) => hit,
        Err(RefusedRef::Unobserved) => return fail(409, format!("REF_ALIAS_UNOBSERVED: ref={alias}")),
        Err(RefusedRef::Stale) => return fail(409, format!("REF_ALIAS_STALE: ref={alias}")),
    };
    let (x, y) = hit.center;
    phone.touch("tap", x, y);
    Ok(format!("Tapped by ref '{alias}' at ({}, {}) node={}", x as i32, y as i32, hit.row.node_id))
}

fn overlay_state(phone: &Phone) -> String {
    serde_json::to_string(&phone.overlay.state(phone.accessibility)).unwrap_or_default()
}

fn set_overlay(phone: &mut Phone, b: &OverlayRequest) -> Result<String, (u16, String)> {
    if !phone.accessibility {
        return fail(503, NO_ACCESSIBILITY);
    }
    let scene = phone.scene();
    phone.overlay.apply(b, &scene);
    Ok(overlay_state(phone))
}

fn launch(phone: &mut Phone, package: &str) -> Result<String, (u16, String)> {
    if !phone.shizuku {
        return fail(400, "Shizuku.newProcess not available");
    }
    phone.launch(package).ok_or_else(|| (400, format!("No launchable activity for {package}")))
}

fn packages(phone: &Phone, call: &Call) -> Result<String, (u16, String)> {
    if !phone.shizuku {
        return fail(500, "Shizuku exec failed: not running");
    }
    let system = call.query.get("include_system").is_some_and(|v| v.eq_ignore_ascii_case("true"));
    let filter = call.query.get("filter").map(|f| f.to_lowercase()).unwrap_or_default();
    let mut names: Vec<String> = phone.apps.iter().map(|a| a.package.clone()).collect();
    if system {
        names.extend(["com.android.launcher3", "com.android.systemui", "com.memohai.autofish"].map(str::to_owned));
    }
    names.retain(|n| n.to_lowercase().contains(&filter));
    names.sort();
    Ok(names.join("\n"))
}

fn shell(phone: &mut Phone, command: &str) -> Result<String, (u16, String)> {
    if !phone.shizuku {
        return fail(500, "Shizuku exec failed: not running");
    }
    match command.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["echo", words @ ..] => Ok(format!("{}\n", words.join(" "))),
        ["getprop", "ro.product.model"] => Ok("Practice Phone\n".to_owned()),
        ["true"] => Ok("(no output)".to_owned()),
        ["wm", "size"] => Ok(format!("Physical size: {}x{}\n", crate::layout::WIDTH, crate::layout::HEIGHT)),
        _ => fail(500, format!("Shizuku command failed (exit=127): {command}; stderr=not found")),
    }
}

fn intent(phone: &mut Phone, b: &Intent) -> Result<String, (u16, String)> {
    if b.action.is_none() && b.data.is_none() && b.component.is_none() {
        return fail(400, "At least one of action, data, or component required");
    }
    if !phone.shizuku {
        return fail(400, "Shizuku.newProcess not available");
    }
    let part = |name: &str, v: &Option<String>| v.as_ref().map(|v| format!(" {name}={v}")).unwrap_or_default();
    if let Some(package) = b.component.as_deref().and_then(|c| c.split_once('/')).map(|(p, _)| p.to_owned())
        && !phone.open(&package)
    {
        return fail(400, "Error: Activity class does not exist.");
    }
    Ok(format!("Starting: Intent {{{}{}{} }}", part("act", &b.action), part("dat", &b.data), part("cmp", &b.component)))
}
