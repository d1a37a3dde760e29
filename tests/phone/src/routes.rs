//! Handlers of the service's routes.

use base64::Engine;
use hyper::{Method, StatusCode};
use serde::Deserialize;

use crate::http::{Call, HttpResponse, envelope, fail, plain, with_body};
use crate::marks::{self, OverlayRequest};
use crate::nodes::{Click, Find, click, find, tap as node_tap};
use crate::scene::Scene;
use crate::{Phone, picture, wire};

const NO_ACCESSIBILITY: &str = "Accessibility service not available";

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

pub(crate) fn route(phone: &mut Phone, call: &Call) -> HttpResponse {
    let known =
        |m: Option<&str>| ROUTES.iter().any(|(method, path)| *path == call.path && m.is_none_or(|m| m == *method));
    if !known(None) || (phone.dialect == 1 && call.path == "/api/observe") {
        return plain(StatusCode::NOT_FOUND, None, String::new());
    }
    if !known(Some(call.method.as_str())) {
        return plain(StatusCode::METHOD_NOT_ALLOWED, None, String::new());
    }
    match call.path.as_str() {
        "/health" => {
            plain(StatusCode::OK, Some("application/json"), r#"{"status":"healthy","type":"service"}"#.to_owned())
        }
        "/api/observe" => envelope(Ok(observe(phone, call))),
        "/api/screen" => envelope(Ok(screen(phone, call))),
        "/api/screen/refs" => envelope(Ok(screen_refs(phone, call))),
        "/api/mark" => envelope(mark(phone, call)),
        "/api/screenshot" => envelope(screenshot(phone, call)),
        "/api/tap" => touch(phone, call, "TapRequest", "tap", "Tapped"),
        "/api/long-press" => touch(phone, call, "LongPressRequest", "longPress", "Long pressed"),
        "/api/double-tap" => touch(phone, call, "DoubleTapRequest", "doubleTap", "Double tapped"),
        "/api/swipe" => with_body(call, "SwipeRequest", |b: Swipe| {
            require_touch(phone)?;
            phone.swipe((b.x1, b.y1), (b.x2, b.y2));
            Ok("Swiped".to_owned())
        }),
        "/api/scroll" => with_body(call, "ScrollRequest", |b: Scroll| scroll(phone, &b)),
        "/api/press/back" => envelope(require_touch(phone).map(|()| {
            phone.back();
            "Pressed Back".to_owned()
        })),
        "/api/press/home" => envelope(require_touch(phone).map(|()| {
            phone.home();
            "Pressed Home".to_owned()
        })),
        "/api/press/key" => with_body(call, "PressKeyRequest", |b: Key| {
            if !phone.shizuku {
                return fail(500, "Key injection requires Shizuku or Accessibility");
            }
            phone.key(b.key_code);
            Ok(format!("Pressed key {}", b.key_code))
        }),
        "/api/text" => with_body(call, "TextRequest", |b: TextInput| {
            if !phone.shizuku {
                return fail(500, "Text input failed");
            }
            phone.type_text(&b.text);
            Ok("Typed text".to_owned())
        }),
        "/api/nodes/find" => with_body(call, "FindNodesRequest", |b: Find| find(phone, &b)),
        "/api/nodes/click" => with_body(call, "ClickNodeRequest", |b: Click| click(phone, &b)),
        "/api/nodes/tap" => with_body(call, "TapNodeRequest", |b: Find| node_tap(phone, &b)),
        _ => route_system(phone, call),
    }
}

fn route_system(phone: &mut Phone, call: &Call) -> HttpResponse {
    match call.path.as_str() {
        "/api/overlay" if call.method == Method::GET => envelope(Ok(overlay_state(phone))),
        "/api/overlay" => with_body(call, "OverlayRequest", |b: OverlayRequest| set_overlay(phone, &b)),
        "/api/app/launch" => with_body(call, "LaunchAppRequest", |b: Package| launch(phone, &b.package_name)),
        "/api/app/stop" => with_body(call, "StopAppRequest", |b: Package| {
            if !phone.shizuku {
                return fail(500, "Shizuku exec failed: not running");
            }
            phone.stop(&b.package_name);
            Ok(format!("Stopped {}", b.package_name))
        }),
        "/api/app/top" => envelope(if phone.shizuku && !call.flap {
            Ok(phone.top_activity())
        } else {
            fail(500, "Could not determine top activity")
        }),
        "/api/packages" => envelope(packages(phone, call)),
        "/api/shell" => with_body(call, "ShellRequest", |b: Shell| shell(phone, &b.command)),
        _ => with_body(call, "IntentRequest", |b: Intent| intent(phone, &b)),
    }
}

#[derive(Deserialize)]
struct Point {
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
struct TextInput {
    text: String,
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

fn require_touch(phone: &Phone) -> Result<(), (u16, String)> {
    if phone.can_touch() { Ok(()) } else { fail(500, NO_ACCESSIBILITY) }
}

pub(crate) fn scene_of(phone: &Phone) -> Option<Scene> {
    phone.accessibility.then(|| phone.scene())
}

/// Returns the top activity for the routes that read the tree: `None` without Shizuku or while it is changing.
fn stable_top(phone: &Phone, call: &Call) -> Option<String> {
    (phone.shizuku && !call.flap).then(|| phone.top_activity())
}

fn screen(phone: &Phone, call: &Call) -> String {
    let top = stable_top(phone, call).unwrap_or_default();
    let scene = phone.scene();
    let size = (scene.width, scene.height, scene.density);
    wire::screen_text(scene_of(phone).as_ref(), phone.mode(), (phone.dialect == 2).then_some(top.as_str()), size)
}

pub(crate) fn empty_scene() -> Scene {
    Scene { width: 0, height: 0, density: 0, windows: Vec::new() }
}

fn screen_refs(phone: &mut Phone, call: &Call) -> String {
    let scene = scene_of(phone).unwrap_or_else(empty_scene);
    let (now, seq, mode, top) = (phone.clock.now_ms(), phone.ui_seq(), phone.mode(), stable_top(phone, call));
    phone.refs.cached(&scene, now, seq);
    phone.refs.publish();
    let state = phone.refs.cached(&scene, now, seq);
    serde_json::to_string(&wire::ref_screen(state, mode, (phone.dialect == 2).then_some(top.as_deref())))
        .unwrap_or_default()
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

/// Formats a float as Kotlin does.
fn kotlin_float(v: f32) -> String {
    format!("{v:?}")
}

fn touch(phone: &mut Phone, call: &Call, type_name: &str, kind: &str, verb: &str) -> HttpResponse {
    with_body(call, type_name, |b: Point| {
        require_touch(phone)?;
        phone.touch(kind, b.x, b.y);
        Ok(format!("{verb} ({}, {})", kotlin_float(b.x), kotlin_float(b.y)))
    })
}

fn scroll(phone: &mut Phone, b: &Scroll) -> Result<String, (u16, String)> {
    let direction = b.direction.to_lowercase();
    if !["up", "down", "left", "right"].contains(&direction.as_str()) {
        return fail(400, format!("Invalid direction: {}", b.direction));
    }
    require_touch(phone)?;
    let fraction = match b.amount.as_deref().map(str::to_lowercase).as_deref() {
        Some("small") => 0.25,
        Some("large") => 0.75,
        _ => 0.5,
    };
    phone.scroll(&direction, fraction);
    Ok(format!("Scrolled {}", b.direction))
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
        ["input", "keyevent", codes @ ..] if !codes.is_empty() && codes.iter().all(|c| c.parse::<i64>().is_ok()) => {
            codes.iter().filter_map(|c| c.parse().ok()).for_each(|code| phone.key(code));
            Ok("(no output)".to_owned())
        }
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
