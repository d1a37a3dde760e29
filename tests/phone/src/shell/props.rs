//! Properties and settings: `getprop`, `settings`, `content`, `wm` and `ime`.

use super::{Call, Output};
use crate::layout::DENSITY;
use crate::server::lock;

/// Properties of the phone.
const PROPERTIES: [(&str, &str); 14] = [
    ("ro.boot.qemu.avd_name", ""),
    ("ro.build.characteristics", "default"),
    ("ro.build.version.release", "14"),
    ("ro.build.version.sdk", "34"),
    ("ro.product.brand", "practice"),
    ("ro.product.cpu.abi", "x86_64"),
    ("ro.product.cpu.abilist", "x86_64,arm64-v8a"),
    ("ro.product.device", "practice"),
    ("ro.product.manufacturer", "practice"),
    ("ro.product.model", "Practice Phone"),
    ("ro.product.name", "practice"),
    ("ro.serialno", "PRACTICE0001"),
    ("sys.boot_completed", "1"),
    ("persist.sys.locale", "en-US"),
];

/// Settings as on a new phone, by table and name.
const SETTINGS: [(&str, &str, &str); 5] = [
    ("system", "accelerometer_rotation", "1"),
    ("system", "user_rotation", "0"),
    ("global", "device_name", "Practice Phone"),
    ("secure", "default_input_method", "com.practice.keyboard/.Keyboard"),
    ("global", "airplane_mode_on", "0"),
];

pub(super) fn getprop(call: &Call<'_>) -> Output {
    match call.rest().first() {
        None => {
            Output::text(PROPERTIES.iter().map(|(name, value)| format!("[{name}]: [{value}]\n")).collect::<String>())
        }
        Some(name) => {
            let value = PROPERTIES.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value);
            Output::text(format!("{value}\n"))
        }
    }
}

pub(super) fn settings(call: &Call<'_>) -> Output {
    let mut args = call.rest();
    // The phone has one user.
    if let Some(at) = args.iter().position(|arg| *arg == "--user") {
        args.drain(at..args.len().min(at + 2));
    }
    match args.as_slice() {
        ["get", table, name, ..] => Output::text(format!("{}\n", value(call, table, name))),
        ["put", table, name, text, ..] => {
            lock(call.phone).settings.insert(((*table).to_owned(), (*name).to_owned()), (*text).to_owned());
            Output::default()
        }
        ["delete", table, name, ..] => {
            let gone = lock(call.phone).settings.remove(&((*table).to_owned(), (*name).to_owned())).is_some();
            Output::text(format!("Deleted {} rows\n", u8::from(gone)))
        }
        ["list", table, ..] => {
            let of = SETTINGS.iter().filter(|(known, ..)| known == table);
            Output::text(of.map(|(_, name, _)| format!("{name}={}\n", value(call, table, name))).collect::<String>())
        }
        _ => Output::failed("Settings provider (settings) commands:\n", 255),
    }
}

/// Returns the value of a setting, or `null`.
fn value(call: &Call<'_>, table: &str, name: &str) -> String {
    let set = lock(call.phone).settings.get(&(table.to_owned(), name.to_owned())).cloned();
    let known =
        || SETTINGS.iter().find(|(of, known, _)| *of == table && *known == name).map(|(.., value)| (*value).to_owned());
    set.or_else(known).unwrap_or_else(|| "null".to_owned())
}

/// Runs `content insert --uri content://settings/TABLE --bind name:s:NAME --bind value:TYPE:VALUE`.
pub(super) fn content(call: &Call<'_>) -> Output {
    let args = call.rest();
    let after = |name: &str| {
        args.iter()
            .filter_map(|arg| arg.strip_prefix(name))
            .find_map(|rest| rest.split_once(':').map(|(_, text)| text.to_owned()))
    };
    let table = args.iter().find_map(|arg| arg.strip_prefix("content://settings/"));
    match (args.first(), table, after("name:"), after("value:")) {
        (Some(&"insert"), Some(table), Some(name), Some(text)) => {
            lock(call.phone).settings.insert((table.to_owned(), name), text);
            Output::default()
        }
        (Some(&"query"), ..) => Output::text("No result found.\n"),
        _ => Output::failed("[ERROR] Unsupported operation\n", 1),
    }
}

pub(super) fn wm(call: &Call<'_>) -> Output {
    match call.rest().as_slice() {
        ["size"] => {
            let phone = lock(call.phone);
            let scene = phone.scene();
            let (width, height) = match phone.turn().is_multiple_of(2) || phone.given().is_some() {
                true => (scene.width, scene.height),
                false => (scene.height, scene.width),
            };
            Output::text(format!("Physical size: {width}x{height}\n"))
        }
        ["density"] => Output::text(format!("Physical density: {DENSITY}\n")),
        ["size" | "density", "reset"] => Output::default(),
        _ => Output::failed("Error: the practice phone cannot change its size\n", 1),
    }
}

/// Runs `svc wifi|data|bluetooth enable|disable`.
pub(super) fn svc(call: &Call<'_>) -> Output {
    let name = |radio: &str| match radio {
        "data" => "mobile_data".to_owned(),
        radio => format!("{radio}_on"),
    };
    match call.rest().as_slice() {
        [radio @ ("wifi" | "data" | "bluetooth"), mode @ ("enable" | "disable")] => {
            let on = u8::from(*mode == "enable").to_string();
            lock(call.phone).settings.insert(("global".to_owned(), name(radio)), on);
            Output::default()
        }
        _ => Output::failed("Available commands:\n    help\n    data\n    wifi\n    bluetooth\n", 1),
    }
}

/// Input method of a new phone.
const KEYBOARD: &str = "com.practice.keyboard/.Keyboard";

/// Returns the input methods: the phone's own, and those of installed apps.
fn input_methods(call: &Call<'_>) -> Vec<String> {
    let known = [("com.android.adbkeyboard", ".AdbIME"), ("com.github.uiautomator", ".AdbKeyboard")];
    let phone = lock(call.phone);
    let installed = known.iter().filter(|(package, _)| phone.apps.iter().any(|app| app.package == *package));
    let installed = installed.map(|(package, class)| format!("{package}/{class}"));
    std::iter::once(KEYBOARD.to_owned()).chain(installed).collect()
}

/// Returns the input method that types.
pub(super) fn input_method(call: &Call<'_>) -> String {
    value(call, "secure", "default_input_method")
}

pub(super) fn ime(call: &Call<'_>) -> Output {
    let known = |name: &str| input_methods(call).iter().any(|method| method == name);
    match call.rest().as_slice() {
        ["list", ..] => Output::text(input_methods(call).iter().map(|name| format!("{name}\n")).collect::<String>()),
        ["set", name, ..] if known(name) => {
            let key = ("secure".to_owned(), "default_input_method".to_owned());
            lock(call.phone).settings.insert(key, (*name).to_owned());
            Output::text(format!("Input method {name} selected for user #0\n"))
        }
        ["enable" | "disable", name, ..] if known(name) => {
            Output::text(format!("Input method {name}: now enabled for user #0\n"))
        }
        ["reset", ..] => {
            lock(call.phone).settings.remove(&("secure".to_owned(), "default_input_method".to_owned()));
            Output::text("Reset current and enabled IMEs for user #0\n")
        }
        ["set" | "enable" | "disable", name, ..] => {
            Output::failed(format!("Unknown input method {name} cannot be selected for user #0\n"), 255)
        }
        _ => Output::failed("ime <command>:\n", 255),
    }
}
