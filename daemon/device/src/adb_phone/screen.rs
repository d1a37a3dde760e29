//! Reads the screen of a phone in one round trip: a dump, and what `dumpsys` says of activity, keyboard and size.

use std::time::Duration;

use super::shell::mark;
use super::tools::LAST_CRASH;
use crate::DriverError;
use crate::android::dump::{self, DumpError, Known};
use afd_screen::page::{Rect, Snapshot};

/// Prints the window with the input focus and the app in front.
pub const FOCUS: &str = "dumpsys window | grep -E 'mCurrentFocus|mFocusedApp'";
/// Prints, in addition, the area of the keyboard.
const WINDOWS: &str = "dumpsys window | grep -E 'mCurrentFocus|mFocusedApp|ITYPE_IME|type=ime'";
/// Prints whether a keyboard is shown, the input method, and the size of the screen.
const DISPLAY: &str = "dumpsys input_method | grep -E 'mInputShown|mCurMethodId'; wm size";
/// Prints the size of the screen, and how it is turned.
pub const SIZE: &str = "wm size; dumpsys window | grep -E 'mRotation=|mCurrentRotation='";
/// File to which phones write dumps that they do not print.
const FILE: &str = "/data/local/tmp/afd-window-dump.xml";
/// Share of the height that keyboards usually cover, in percent.
const KEYBOARD_PERCENT: i32 = 40;
/// Name of this source of screens.
const MODE: &str = "UIAUTOMATOR";
/// Reasons why there is no tree, for callers.
const RESTLESS: &str = "the screen never stands still, so the phone gives no tree of it: use a screenshot";
pub const LATE: &str =
    "the phone gave no tree within dump_timeout_ms, perhaps because its screen never stands still: use a screenshot";
const TAKEN: &str = "another program reads the phone's screen, so there is no tree: stop it, or use a screenshot";
const NO_TREE: &str = "the phone gave no tree of its screen: use a screenshot";
const NO_WINDOW: &str = "the phone has no window to read at the moment: observe again";

/// A request for the screen.
pub struct Request {
    /// Command line.
    pub command: String,
    mark: String,
}

/// What a phone answers to a [`Request`].
pub struct Answer {
    document: String,
    /// Activity on top, if it was the same before and after the dump.
    activity: Option<String>,
    keyboard: Option<Rect>,
    /// Width and height of the screen in its natural orientation, in pixels.
    size: Option<(i32, i32)>,
    /// Whether the phone lacks the command `timeout`.
    pub lacks_timeout: bool,
    /// Whether the phone says that it made a dump, but did not print it.
    pub lacks_document: bool,
    /// Name of the input method that types, as `package/class`.
    pub input_method: Option<String>,
    /// What [`LAST_CRASH`] printed, followed by the window in front.
    pub incidents: String,
    /// Whether the element with the focus holds a password; `None` if none has the focus.
    pub in_password: Option<bool>,
}

impl Request {
    /// Creates a request. A dump is stopped after `within`; without it, the phone ends it after 11 seconds at the latest.
    pub fn new(to_file: bool, within: Option<Duration>) -> Self {
        let mark = mark();
        let limit = within.map(|within| format!("timeout -s KILL {} ", within.as_secs_f32())).unwrap_or_default();
        let dump = match to_file {
            true => format!("rm -f {FILE}; {limit}uiautomator dump {FILE} 2>&1; cat {FILE}; rm -f {FILE}"),
            false => format!("{limit}uiautomator dump /dev/tty 2>&1"),
        };
        let command =
            format!("{FOCUS}\necho {mark}\n{dump}\necho {mark}\n{WINDOWS}; {DISPLAY}\necho {mark}\n{LAST_CRASH}");
        Self { command, mark }
    }

    /// Reads what the phone printed.
    pub fn read(&self, output: &str) -> Answer {
        // What follows a dump on its line belongs to it.
        let mut parts = output.splitn(4, &self.mark);
        let (before, document) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let after = parts.next().unwrap_or_default();
        let incidents = format!("{}\n{after}", parts.next().unwrap_or_default().trim_start());
        let size = size(after);
        let has_tree = document.contains("<hierarchy") || document.contains("<displays");
        Answer {
            document: document.to_owned(),
            activity: activity(before).filter(|before| Some(before) == activity(after).as_ref()),
            keyboard: keyboard(after, size),
            size,
            lacks_timeout: !has_tree && document.lines().any(|line| line.contains("timeout") && is_missing(line)),
            lacks_document: !has_tree && document.contains("dumped to"),
            input_method: input_method(after),
            incidents,
            in_password: in_password(document),
        }
    }
}

impl Answer {
    /// Returns the screen.
    ///
    /// # Errors
    /// If the phone cannot make dumps, or made one that cannot be read.
    pub fn snapshot(self) -> Result<Snapshot, DriverError> {
        let Self { document, activity, keyboard, size, .. } = self;
        let known =
            Known { activity: activity.clone(), without_activity: false, size, keyboard, mode: MODE.to_owned() };
        match dump::parse(&document, known) {
            Ok(snapshot) => Ok(snapshot),
            Err(error @ (DumpError::Malformed(_) | DumpError::TooLarge)) => {
                Err(DriverError::Protocol(format!("the dump of the screen: {error}").into()))
            }
            Err(DumpError::Missing) if document.lines().any(is_missing) => {
                let message = "the phone has no `uiautomator`, so its screen cannot be read".into();
                Err(DriverError::Refused { status: None, message })
            }
            Err(DumpError::Missing) => {
                let reason = [
                    ("null root node", NO_WINDOW),
                    ("could not get idle state", RESTLESS),
                    ("already registered", TAKEN),
                    ("Killed", LATE),
                ];
                let reason = reason.into_iter().find(|(text, _)| document.contains(text)).map(|(_, reason)| reason);
                let reason = reason.unwrap_or(if document.trim().is_empty() { LATE } else { NO_TREE });
                let mode = MODE.to_owned();
                let mut snapshot =
                    Snapshot { degraded: Some(reason), size, mode, place_knowable: true, ..Snapshot::default() };
                crate::android::finish(&mut snapshot, activity);
                Ok(snapshot)
            }
        }
    }
}

/// Returns whether a reason says that a screen never stands still.
pub fn is_restless(reason: &str) -> bool {
    reason == RESTLESS || reason == LATE
}

/// Returns whether a shell says that there is no such command.
fn is_missing(line: &str) -> bool {
    line.contains("not found") && (line.contains("/sh:") || line.starts_with("sh:"))
}

/// Returns the activity with the input focus as `package/activity`, else that of the app in front. The class is shortened as
/// Android does it if it is in the package.
pub fn activity(output: &str) -> Option<String> {
    let of = |name: &str| {
        let lines = output.lines().filter(|line| line.contains(name) && !line.contains("Application Not Responding"));
        let mut words = lines.flat_map(|line| line.split([' ', '{', '}']));
        words.find_map(component)
    };
    of("mCurrentFocus=").or_else(|| of("mFocusedApp="))
}

fn component(word: &str) -> Option<String> {
    let (package, class) = word.split_once('/')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._$".contains(c);
    // The system's own dialogs belong to the package `android`.
    if !(package.contains('.') || package == "android")
        || class.is_empty()
        || !package.chars().chain(class.chars()).all(is_name)
    {
        return None;
    }
    let short = class.strip_prefix(package).filter(|rest| rest.starts_with('.'));
    Some(format!("{package}/{}", short.unwrap_or(class)))
}

/// Returns the area of the keyboard, if one is shown. Phones before Android 11 do not tell it; then it is the part of the
/// screen that keyboards usually cover, because a touch on a key would type.
fn keyboard(output: &str, size: Option<(i32, i32)>) -> Option<Rect> {
    if !output.lines().any(|line| line.contains("mInputShown=true")) {
        return None;
    }
    let is_shown =
        |line: &&str| line.contains("visible=true") && (line.contains("ITYPE_IME") || line.contains("type=ime"));
    let frame =
        output.lines().find(is_shown).and_then(|line| dump::bounds(line.split("frame=").nth(1)?.split(' ').next()?));
    let (width, height) = size.unwrap_or_default();
    Some(frame.unwrap_or(Rect { left: 0, top: height - height * KEYBOARD_PERCENT / 100, right: width, bottom: height }))
}

/// Returns whether the element with the focus holds a password. A quotation mark in a value is escaped, so no text on the
/// screen looks like an attribute.
fn in_password(document: &str) -> Option<bool> {
    let mut focused = document.split('<').filter(|element| element.contains(" focused=\"true\"")).peekable();
    focused.peek()?;
    // A container and a field in it may both have the focus.
    Some(focused.any(|element| element.contains(" password=\"true\"")))
}

/// Returns the input method that types.
fn input_method(output: &str) -> Option<String> {
    let found = output.split_whitespace().find_map(|word| word.strip_prefix("mCurMethodId="));
    found.filter(|name| name.contains('/')).map(str::to_owned)
}

/// Returns the size of the screen as it is turned, from what [`SIZE`] prints.
pub fn turned_size(output: &str) -> Option<(i32, i32)> {
    let (width, height) = size(output)?;
    let is_turned = |line: &str| {
        ["ROTATION_90", "ROTATION_270", "Rotation=1", "Rotation=3"].iter().any(|turn| line.ends_with(turn))
    };
    Some(if output.lines().any(|line| is_turned(line.trim())) { (height, width) } else { (width, height) })
}

/// Returns the size of the screen: the one that is set, else that of the hardware.
pub fn size(output: &str) -> Option<(i32, i32)> {
    let of = |name: &str| {
        let line = output.lines().find_map(|line| line.trim().strip_prefix(name))?;
        let (width, height) = line.trim().split_once('x')?;
        Some((width.parse().ok()?, height.parse().ok()?))
    };
    of("Override size:").or_else(|| of("Physical size:"))
}

#[cfg(test)]
mod tests {
    use afd_screen::page::{WindowKind, reliability};

    use super::*;

    const TREE: &str = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"1\"><node package=\"com.a\" class=\"F\" bounds=\"[0,0][2400,1080]\"><node package=\"com.a\" class=\"android.widget.Button\" text=\"Go\" clickable=\"true\" bounds=\"[0,0][100,100]\"/><node package=\"com.a\" class=\"android.widget.TextView\" text=\"Text\" bounds=\"[0,100][100,200]\"/></node></hierarchy>";
    const FOCUSED: &str =
        "  mCurrentFocus=Window{5d6 u0 com.a/com.a.Main}\n  mFocusedApp=ActivityRecord{1 u0 com.a/.Main t12}\n";

    fn answer(before: &str, dump: &str, after: &str) -> Answer {
        let request = Request::new(false, Some(Duration::from_millis(2_500)));
        assert!(request.command.contains("timeout -s KILL 2.5 uiautomator dump /dev/tty"), "{}", request.command);
        request.read(&format!("{before}{0}\n{dump}{0}\n{after}", request.mark))
    }

    #[test]
    fn dump_activity_size_and_keyboard_are_read_together() {
        let after = format!(
            "{FOCUSED}  InsetsSource type=ITYPE_IME frame=[0,600][2400,1080] visible=true\n  mInputShown=true\nPhysical size: 1080x2400\n"
        );
        let answer = answer(FOCUSED, &format!("{TREE}UI hierchary dumped to: /dev/tty\n"), &after);
        let snapshot = answer.snapshot().expect("reads");
        assert_eq!(
            (snapshot.place.as_deref(), snapshot.size),
            (Some("com.a/.Main"), Some((2400, 1080))),
            "it is turned"
        );
        let keyboard = snapshot.windows.iter().position(|window| window.kind == WindowKind::Keyboard);
        let keys = snapshot.nodes.iter().find(|node| Some(node.window) == keyboard).map(|node| node.bounds.top);
        assert_eq!(keys, Some(600));
        assert_eq!(reliability::doubt(&snapshot), None);
    }

    #[test]
    fn activity_counts_only_if_it_was_the_same_before_and_after() {
        let other = FOCUSED.replace("Main", "Next");
        let snapshot = answer(FOCUSED, TREE, &other).snapshot().expect("reads");
        assert_eq!(snapshot.place, None);
        assert!(reliability::doubt(&snapshot).is_some_and(|why| why.contains("changed while")));
    }

    #[test]
    fn focus_without_an_activity_belongs_to_the_app_in_front() {
        let shade = FOCUSED.replace("com.a/com.a.Main", "NotificationShade");
        assert_eq!(activity(&shade).as_deref(), Some("com.a/.Main"));
        assert_eq!(activity("  mCurrentFocus=null\n"), None);
        let other = "  mCurrentFocus=Window{5d6 u0 com.google.android.permissioncontroller/com.android.permissioncontroller.Grant}";
        assert_eq!(
            activity(other).as_deref(),
            Some("com.google.android.permissioncontroller/com.android.permissioncontroller.Grant")
        );
    }

    #[test]
    fn screen_without_a_tree_says_why() {
        let doubt = |dump: &str| reliability::doubt(&answer(FOCUSED, dump, FOCUSED).snapshot().expect("reads"));
        assert_eq!(doubt("ERROR: could not get idle state.\n"), Some(RESTLESS));
        assert_eq!(doubt("Killed\n"), Some(LATE));
        assert_eq!(doubt(""), Some(LATE));
        assert_eq!(doubt("java.lang.IllegalStateException: UiAutomationService x already registered!\n"), Some(TAKEN));
        assert_eq!(doubt("ERROR: null root node returned by UiTestAutomationBridge.\n"), Some(NO_WINDOW));
        let missing = answer(FOCUSED, "/system/bin/sh: uiautomator: inaccessible or not found\n", FOCUSED);
        assert!(matches!(missing.snapshot(), Err(DriverError::Refused { .. })));
        assert!(answer("", "/system/bin/sh: timeout: not found\n", "").lacks_timeout);
        assert!(answer("", "UI hierchary dumped to: /dev/tty\n", "").lacks_document);
    }

    #[test]
    fn set_size_counts_more_than_that_of_the_hardware() {
        assert_eq!(size("Physical size: 1080x2400\nOverride size: 720x1600\n"), Some((720, 1600)));
        assert_eq!(size("Physical size: 1080x2400\n"), Some((1080, 2400)));
        assert_eq!(size("wm: not found\n"), None);
        assert_eq!(turned_size("Physical size: 1080x2400\n  mRotation=ROTATION_90\n"), Some((2400, 1080)));
        assert_eq!(turned_size("Physical size: 1080x2400\n  mRotation=ROTATION_0\n"), Some((1080, 2400)));
    }

    #[test]
    fn focus_in_a_password_field_is_noticed() {
        let tree = |text: &str, focused: &str, password: &str| {
            format!(
                "<hierarchy><node text=\"a\" focused=\"false\" password=\"true\" /><node text=\"{text}\" focused=\"{focused}\" password=\"{password}\" /></hierarchy>"
            )
        };
        assert_eq!(in_password(&tree("a", "true", "true")), Some(true));
        assert_eq!(in_password(&tree(" password=&quot;true&quot;", "true", "false")), Some(false));
        assert_eq!(in_password(&tree("a", "false", "false")), None);
    }

    #[test]
    fn text_of_a_page_cannot_end_its_part() {
        let request = Request::new(false, None);
        assert!(!request.mark.is_empty() && Request::new(false, None).mark != request.mark);
    }
}
