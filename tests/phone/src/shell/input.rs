//! `input`: touches, keys and text.

use super::{Call, Output};
use crate::server::lock;

/// Sources of input, which may be named before the command.
const SOURCES: [&str; 11] = [
    "touchscreen",
    "keyboard",
    "mouse",
    "dpad",
    "gamepad",
    "joystick",
    "stylus",
    "touchpad",
    "touchnavigation",
    "trackball",
    "rotaryencoder",
];

/// Names of keys that clients use, with their codes.
const KEYS: [(&str, i64); 26] = [
    ("HOME", 3),
    ("BACK", 4),
    ("CALL", 5),
    ("ENDCALL", 6),
    ("DPAD_UP", 19),
    ("DPAD_DOWN", 20),
    ("DPAD_LEFT", 21),
    ("DPAD_RIGHT", 22),
    ("DPAD_CENTER", 23),
    ("VOLUME_UP", 24),
    ("VOLUME_DOWN", 25),
    ("POWER", 26),
    ("CAMERA", 27),
    ("TAB", 61),
    ("SPACE", 62),
    ("ENTER", 66),
    ("DEL", 67),
    ("MENU", 82),
    ("SEARCH", 84),
    ("ESCAPE", 111),
    ("FORWARD_DEL", 112),
    ("MOVE_HOME", 122),
    ("MOVE_END", 123),
    ("APP_SWITCH", 187),
    ("WAKEUP", 224),
    ("PASTE", 279),
];

/// Runs `input [SOURCE] [-d DISPLAY] COMMAND ...`.
pub(super) fn input(call: &Call<'_>) -> Output {
    let mut args = call.rest();
    if args.first().is_some_and(|source| SOURCES.contains(source)) {
        args.remove(0);
    }
    if args.first() == Some(&"-d") {
        args.drain(..args.len().min(2));
    }
    let numbers = |from: usize| -> Vec<f32> { args[from..].iter().filter_map(|arg| arg.parse().ok()).collect() };
    let mut phone = lock(call.phone);
    match args.first().copied() {
        Some("tap") => match numbers(1).as_slice() {
            [x, y, ..] => phone.touch("tap", *x, *y),
            _ => return wrong("tap"),
        },
        Some("swipe" | "draganddrop") => match numbers(1).as_slice() {
            // A swipe that stays is a long press.
            [x1, y1, x2, y2, ..] if x1 == x2 && y1 == y2 => phone.touch("longPress", *x1, *y1),
            [x1, y1, x2, y2, ..] => phone.swipe((*x1, *y1), (*x2, *y2)),
            _ => return wrong("swipe"),
        },
        Some("motionevent") => match (args.get(1).copied(), numbers(2).as_slice()) {
            (Some("UP"), [x, y]) => phone.touch("tap", *x, *y),
            (Some("DOWN" | "MOVE"), [_, _]) => {}
            _ => return wrong("motionevent"),
        },
        Some("keyevent" | "keycombination") => {
            let codes: Option<Vec<i64>> =
                args[1..].iter().filter(|arg| !arg.starts_with("--")).map(|arg| code(arg)).collect();
            let Some(codes) = codes.filter(|codes| !codes.is_empty()) else { return wrong("keyevent") };
            codes.into_iter().for_each(|code| press(&mut phone, code));
        }
        Some("text") => {
            let Some(text) = args.get(1) else { return wrong("text") };
            if !text.is_ascii() {
                let message = "Exception occurred while executing 'text':\njava.lang.NullPointerException: Attempt to get length of null array\n";
                return Output::failed(message, 255);
            }
            // A line break is the key Enter.
            for (index, line) in text.split('\n').enumerate() {
                if index > 0 {
                    phone.key(66);
                }
                if !line.is_empty() {
                    phone.type_text(line);
                }
            }
        }
        Some("roll" | "press") => {}
        _ => return Output::failed("Usage: input [<source>] [-d DISPLAY_ID] <command> [<arg>...]\n", 1),
    }
    Output::default()
}

fn press(phone: &mut crate::Phone, code: i64) {
    match code {
        4 => phone.back(),
        3 => phone.home(),
        code => phone.key(code),
    }
}

/// Returns the code of a key: a number, or a name with or without `KEYCODE_`.
fn code(key: &str) -> Option<i64> {
    let name = key.strip_prefix("KEYCODE_").unwrap_or(key);
    key.parse().ok().or_else(|| KEYS.iter().find(|(known, _)| *known == name).map(|(_, code)| *code))
}

fn wrong(command: &str) -> Output {
    Output::failed(format!("Error: Invalid arguments for command: {command}\n"), 255)
}
