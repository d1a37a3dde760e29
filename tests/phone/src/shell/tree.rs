//! `uiautomator dump`, in the format of AOSP 11 to 14, and `screencap`.

use std::fmt::Write as _;
use std::time::Duration;

use super::{Call, Output};
use crate::picture;
use crate::scene::{Node, Rect, Scene, Window};
use crate::server::lock;

/// Where a dump is written if no file is named.
const DEFAULT: &str = "/sdcard/window_dump.xml";
/// How long `uiautomator` waits for the screen to stand still.
const IDLE_WITHIN: Duration = Duration::from_secs(10);

/// Runs `uiautomator dump [--compressed] [--windows] [FILE]`.
pub(super) fn uiautomator(call: &Call<'_>) -> Output {
    let args = call.rest();
    let Some((&"dump", options)) = args.split_first() else {
        return Output::failed("Usage: uiautomator <subcommand> [options]\n", 1);
    };
    let (windows, file) = (options.contains(&"--windows"), options.iter().find(|arg| !arg.starts_with("--")));
    let file = file.map_or(DEFAULT, |file| file);
    *lock(call.phone).requests.entry("adb:dump".to_owned()).or_default() += 1;
    let takes = Duration::from_millis(lock(call.phone).dump_ms);
    let is_still = || lock(call.phone).is_still();
    let takes = if is_still() { takes } else { IDLE_WITHIN };
    if let Some(limit) = call.limit.filter(|limit| *limit < takes) {
        std::thread::sleep(limit);
        return Output::failed("Killed\n", 137);
    }
    std::thread::sleep(takes);
    if !is_still() {
        return Output { code: 0, ..Output::failed("ERROR: could not get idle state.\n", 0) };
    }
    let (scene, turn, focus) = {
        let phone = lock(call.phone);
        (phone.scene(), phone.turn(), phone.focused().map(str::to_owned))
    };
    let scene = &Shown { scene, turn, focus };
    let document = match windows {
        true => all_windows(scene),
        false => match scene.scene.active() {
            Some(window) => one_window(scene, window),
            None => return Output::failed("ERROR: null root node returned by UiTestAutomationBridge.\n", 0),
        },
    };
    let mut done = Output::text(format!("UI hierchary dumped to: {file}\n"));
    match file {
        // The document goes to the terminal, whatever is redirected.
        "/dev/tty" => done.tty = document.into_bytes(),
        file => drop(lock(call.phone).files.insert(file.to_owned(), document.into_bytes())),
    }
    done
}

const HEAD: &str = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>";

/// What is on the screen.
struct Shown {
    scene: Scene,
    /// By how many quarters the screen is turned.
    turn: u8,
    /// Variable that the field with the focus is bound to.
    focus: Option<String>,
}

fn one_window(shown: &Shown, window: &Window) -> String {
    let mut text = format!("{HEAD}<hierarchy rotation=\"{}\">", shown.turn);
    node(&mut text, shown, window, &window.root, 0);
    text + "</hierarchy>"
}

fn all_windows(shown: &Shown) -> String {
    let mut text = format!("{HEAD}<displays><display id=\"0\">");
    for (index, window) in shown.scene.windows.iter().enumerate() {
        let (title, focused) = (escaped(window.title.as_deref().unwrap_or_default()), window.focused);
        let _ = write!(
            text,
            "<window index=\"{index}\" title=\"{title}\" bounds=\"{}\" active=\"{focused}\" focused=\"{focused}\" accessibility-focused=\"false\" id=\"{}\" layer=\"{}\" type=\"TYPE_{}\"><hierarchy rotation=\"{turn}\">",
            bounds(window.root.bounds),
            window.id,
            window.layer,
            window.kind,
            turn = shown.turn
        );
        node(&mut text, shown, window, &window.root, 0);
        text.push_str("</hierarchy></window>");
    }
    text + "</display></displays>"
}

/// Writes a node and what is visible in it.
fn node(text: &mut String, on: &Shown, window: &Window, of: &Node, index: usize) {
    let screen = Rect::new(0, 0, on.scene.width, on.scene.height);
    let shown = of.bounds.clip(&screen);
    let has = |value: bool| if value { "true" } else { "false" };
    let is_switch = ["Switch", "CheckBox", "RadioButton"].iter().any(|kind| of.class.ends_with(kind));
    let is_on = is_switch && of.text.as_deref() == Some("ON");
    let value = |value: &Option<String>| escaped(value.as_deref().unwrap_or_default());
    let is_secret = of.editable && of.res_id.as_deref().is_some_and(|id| id.contains("password"));
    let _ = write!(
        text,
        "<node index=\"{index}\" text=\"{}\" resource-id=\"{}\" class=\"{}\" package=\"{}\" content-desc=\"{}\" checkable=\"{}\" checked=\"{}\" clickable=\"{}\" enabled=\"{}\" focusable=\"{}\" focused=\"{}\" scrollable=\"{}\" long-clickable=\"{}\" password=\"{}\" selected=\"false\" bounds=\"{}\"",
        value(&of.text),
        value(&of.res_id),
        escaped(&of.class),
        escaped(&window.pkg),
        value(&of.desc),
        has(is_switch),
        has(is_on),
        has(of.clickable),
        has(!of.disabled),
        has(of.focusable),
        has(of.binds(on.focus.as_deref())),
        has(of.scrollable),
        has(of.long_clickable),
        has(is_secret),
        bounds(shown)
    );
    let visible = |child: &&Node| !child.hidden && child.bounds.clip(&screen).area() > 0;
    let children: Vec<&Node> = of.children.iter().filter(visible).collect();
    if children.is_empty() {
        text.push_str(" />");
        return;
    }
    text.push('>');
    children.iter().enumerate().for_each(|(index, child)| node(text, on, window, child, index));
    text.push_str("</node>");
}

fn bounds(rect: Rect) -> String {
    format!("[{},{}][{},{}]", rect.l, rect.t, rect.r, rect.b)
}

/// Escapes text for an attribute. What XML forbids becomes a full stop; characters beyond 16 bits are written in halves.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\r' | '\t' => drop(write!(out, "&#{};", u32::from(c))),
            c if c < ' ' => out.push('.'),
            c if u32::from(c) > 0xffff => {
                let mut halves = [0; 2];
                for half in c.encode_utf16(&mut halves) {
                    let _ = write!(out, "&#{half};");
                }
            }
            c => out.push(c),
        }
    }
    out
}

/// Runs `screencap [-p] [-d DISPLAY] [FILE]`.
pub(super) fn screencap(call: &Call<'_>) -> Output {
    let args = call.rest();
    let names_png = args.iter().any(|arg| arg.ends_with(".png"));
    let scene = lock(call.phone).scene();
    let picture = if args.contains(&"-p") || names_png { picture::png(&scene) } else { picture::raw(&scene) };
    let mut skip = false;
    let file = args.iter().find(|arg| {
        let is_file = !skip && !arg.starts_with('-');
        skip = **arg == "-d";
        is_file
    });
    match file {
        Some(file) => {
            lock(call.phone).files.insert((*file).to_owned(), picture);
            Output::default()
        }
        None => Output { out: picture, ..Output::default() },
    }
}
