//! Driver for Android phones and emulators with USB debugging, through the adb server. Nothing is installed on them.
//!
//! The screen comes from `uiautomator dump`, which waits until the screen stands still; activity, keyboard and size come from
//! `dumpsys` in the same round trip. Input goes through the commands that every Android has: `input`, `am`, `pm`.

mod apps;
mod known;
mod remote;
mod screen;
mod shell;
mod tools;
mod typing;

use std::time::Duration;

use afd_proto::Secret;
use afd_proto::act::{Amount, Direction};
use afd_proto::keys::KeyName;
use afd_proto::picture::PictureFormat;
use parking_lot::Mutex;

use super::android;
use super::usb::AdbSettings;
use super::{
    BadParam, Driver, DriverError, DriverFuture, ForegroundApp, Input, Intents, Key, Manages, Packages,
    ScreenshotOptions, Shell,
};
use afd_base::config::DeviceSettings;
use afd_base::task::run_blocking;
use afd_screen::page::Snapshot;
use afd_screen::picture::{self, PictureError};
use known::KnownPhone;
use remote::{Remote, of_read};
use shell::quoted;
use tools::{LAUNCHABLE, PhoneTools};
use typing::Typist;

/// Size of a screen whose size is not known.
const SIZE: (i32, i32) = (1080, 1920);
/// Duration of a swipe that scrolls, in milliseconds. A faster one would fling the content.
const SCROLL_MS: u32 = 400;
/// Command that opens an app.
const START: &str = "am start -a android.intent.action.MAIN -c android.intent.category.LAUNCHER -f 0x10200000";
/// Time that the phone needs for one key, and to start `input`, in milliseconds, at most.
const KEY_MS: u64 = 30;
const START_MS: u64 = 1_500;

/// Driver for one phone.
pub struct AdbPhone {
    remote: Remote,
    tools: PhoneTools,
    dump_timeout: Duration,
    activities: android::windows::Activities,
    /// What is known of the phone.
    known: Mutex<KnownPhone>,
}

impl AdbPhone {
    /// Creates a driver. Nothing is sent until it is used.
    pub fn new(settings: &DeviceSettings, adb: AdbSettings) -> Self {
        let serial = settings.url.trim_start_matches("adb:");
        let remote = Remote::new(adb, serial, Duration::from_millis(settings.timeout_ms));
        Self {
            tools: PhoneTools::beside_dumps(remote.clone()),
            remote,
            dump_timeout: Duration::from_millis(settings.dump_timeout_ms),
            activities: android::windows::Activities::default(),
            known: Mutex::default(),
        }
    }

    /// Returns the size of the screen as it is turned now.
    async fn size(&self) -> Result<(i32, i32), DriverError> {
        let known = self.known.lock().size;
        match known {
            Some(size) => Ok(size),
            None => Ok(screen::turned_size(&self.remote.query(screen::SIZE).await?).unwrap_or(SIZE)),
        }
    }

    async fn read(&self) -> Result<Snapshot, DriverError> {
        let known = self.known.lock().clone();
        let limit = known.dump_limit(self.dump_timeout);
        let request = screen::Request::new(known.needs_file, (!known.lacks_timeout).then_some(limit));
        // A phone without `timeout` ends a dump itself, after at most 11 seconds.
        let within = self.remote.timeout().max(self.dump_timeout + Duration::from_secs(12));
        let output = self.remote.run(&request.command, "", within).await.map_err(of_read)?;
        let answer = request.read(&String::from_utf8_lossy(&output));
        let lacks_timeout = answer.lacks_timeout && !known.lacks_timeout;
        let needs_file = answer.lacks_document && !known.needs_file;
        self.known.lock().needs_file |= needs_file;
        self.known.lock().lacks_timeout |= lacks_timeout;
        if lacks_timeout || needs_file {
            return Box::pin(self.read()).await;
        }
        self.tools.notice(&answer.incidents);
        let typist = answer.input_method.as_deref().and_then(Typist::named);
        let in_password = answer.in_password;
        let mut snapshot = answer.snapshot()?;
        self.known.lock().remember(&snapshot, typist, in_password);
        self.activities.apply(&mut snapshot);
        Ok(snapshot)
    }

    /// Types a text through the phone's input method, which must not see passwords.
    async fn type_through(&self, typist: Typist, text: &str) -> Result<String, DriverError> {
        let seen = self.known.lock().in_password;
        let in_password = match seen {
            Some(seen) => seen,
            None => {
                self.read().await?;
                self.known.lock().in_password.unwrap_or(true)
            }
        };
        match in_password {
            false => Ok(typist.command(text)),
            true => Err(DriverError::Refused {
                status: None,
                message: "characters beyond ASCII are typed through the phone's input method, which gets no passwords; the field with the focus holds one, or is not known".into(),
            }),
        }
    }

    /// Returns the component that an app starts with: the one that the system would open, else the first one.
    async fn main_activity(&self, app: &str) -> Result<String, DriverError> {
        const LAUNCHER: &str = "-a android.intent.action.MAIN -c android.intent.category.LAUNCHER";
        let command = format!("cmd package resolve-activity --brief {LAUNCHER} {app}; {LAUNCHABLE}");
        let output = self.remote.query(&command).await?;
        let component = output.lines().map(str::trim).find(|line| line.starts_with(&format!("{app}/")));
        component.map(str::to_owned).ok_or_else(|| DriverError::Refused {
            status: None,
            message: format!("there is no app {app} on the phone that can be opened").into(),
        })
    }

    /// Returns the command line of an input.
    async fn command(&self, input: &Input) -> Result<String, DriverError> {
        let pixel = |value: f64| value.round() as i64;
        let swipe = |kind: &str, [x1, y1, x2, y2]: [f64; 4], ms: u32| {
            format!("input {kind} {} {} {} {} {ms}", pixel(x1), pixel(y1), pixel(x2), pixel(y2))
        };
        Ok(match input {
            Input::Tap(x, y) => format!("input tap {} {}", pixel(*x), pixel(*y)),
            Input::DoubleTap(x, y) => {
                let tap = format!("input tap {} {}", pixel(*x), pixel(*y));
                format!("{tap} && {tap}")
            }
            Input::LongPress(x, y, ms) => swipe("swipe", [*x, *y, *x, *y], *ms),
            Input::Swipe(points, ms) => swipe("swipe", *points, *ms),
            Input::Drag(points, ms) => swipe("draganddrop", *points, *ms),
            Input::Scroll(direction, amount) => {
                swipe("swipe", scroll(self.size().await?, *direction, *amount), SCROLL_MS)
            }
            Input::Back => "input keyevent 4".to_owned(),
            Input::Home => "input keyevent 3".to_owned(),
            Input::Keys(keys) => format!("input keyevent {}", codes(keys)),
            Input::Text(text) => {
                let typist = self.known.lock().typist;
                match typist.filter(|_| !typing::cannot_type(text.expose()).is_empty()) {
                    Some(typist) => self.type_through(typist, text.expose()).await?,
                    None => typing::command(text.expose()),
                }
            }
            // As the launcher does it, so that an app that runs comes to the front as it is.
            Input::Launch(app) => format!("{START} -n {}", quoted(&self.main_activity(app).await?)),
            Input::Stop(app) => format!("am force-stop {app}"),
            Input::Hover(..) | Input::On(..) | Input::Upload(..) | Input::Tab(_) | Input::CloseTab(_) => {
                return Err(DriverError::Unsupported {
                    kind: "adb",
                    what: "has no mouse, no tabs and no uploads",
                    instead: "use a browser",
                });
            }
        })
    }
}

/// Returns the tools of a phone that another driver operates.
pub(super) fn tools_of(serial: &str, settings: &DeviceSettings, adb: &AdbSettings) -> PhoneTools {
    PhoneTools::new(Remote::new(adb.clone(), serial, Duration::from_millis(settings.timeout_ms)))
}

/// Returns a picture in the requested size and format.
fn scaled(png: &[u8], shot: ScreenshotOptions) -> Result<Vec<u8>, DriverError> {
    let wrong = |error: PictureError| DriverError::Protocol(format!("the picture of the screen: {error}").into());
    let pixels = picture::at_most(picture::decode_any(png).map_err(wrong)?, shot.max_dim);
    let format = if shot.lossless { PictureFormat::Png } else { PictureFormat::Jpeg };
    picture::encode(&pixels, format, u8::try_from(shot.quality).unwrap_or(100)).map_err(wrong)
}

/// Returns the key codes of keys, separated by blanks.
fn codes(keys: &[Key]) -> String {
    let code = |key: &Key| match key {
        Key::Named(name) => android::code(*name).to_string(),
        Key::Code(code) => code.to_string(),
    };
    keys.iter().map(code).collect::<Vec<_>>().join(" ")
}

/// Returns the ends of a swipe that scrolls a screen of a size. It stays away from the edges, where swipes are gestures of
/// the system.
fn scroll((width, height): (i32, i32), direction: Direction, amount: Amount) -> [f64; 4] {
    let share = match amount {
        Amount::Small => 0.25,
        Amount::Medium => 0.5,
        Amount::Large => 0.7,
    };
    let (x, y) = (f64::from(width) / 2.0, f64::from(height) / 2.0);
    let (dx, dy) = (f64::from(width) * share / 2.0, f64::from(height) * share / 2.0);
    match direction {
        Direction::Down => [x, y + dy, x, y - dy],
        Direction::Up => [x, y - dy, x, y + dy],
        Direction::Right => [x + dx, y, x - dx, y],
        Direction::Left => [x - dx, y, x + dx, y],
    }
}

/// Replaces the phone's message about a text, because it may quote the text.
fn without_text(error: DriverError) -> DriverError {
    match error {
        DriverError::Refused { .. } => {
            DriverError::Refused { status: None, message: "the phone did not type the text".into() }
        }
        DriverError::Lost(_) => DriverError::Lost("a part of the text may have been typed".to_owned()),
        other => other,
    }
}

/// Returns the time that an input takes, beside that of a command, and the number of its parts.
fn duration(input: &Input, command: &str) -> (Duration, usize) {
    let ms = match input {
        Input::LongPress(_, _, ms) | Input::Swipe(_, ms) | Input::Drag(_, ms) => u64::from(*ms),
        Input::Keys(keys) => KEY_MS * keys.len() as u64,
        Input::Text(text) => KEY_MS * text.expose().chars().count() as u64,
        _ => 0,
    };
    let parts = command.matches(" && ").count() + 1;
    (
        Duration::from_millis(ms + START_MS * parts as u64),
        if matches!(input, Input::Keys(keys) if keys.len() > 1) { 2 } else { parts },
    )
}

impl Driver for AdbPhone {
    fn kind(&self) -> &'static str {
        "adb"
    }

    fn capabilities(&self) -> &'static [&'static str] {
        &["observe", "screenshot", "touch", "keys", "text", "apps"]
    }

    fn url(&self) -> String {
        format!("adb:{}", self.remote.serial())
    }

    fn cannot_type(&self, text: &str) -> Vec<usize> {
        match self.known.lock().typist {
            Some(_) => Vec::new(),
            None => typing::cannot_type(text),
        }
    }

    fn typing(&self) -> Option<&'static str> {
        Some(match self.known.lock().typist {
            Some(typist) => typist.remark(),
            None => "it types ASCII only; with ADBKeyBoard as its keyboard, it types any text but passwords",
        })
    }

    fn key_code(&self, key: KeyName) -> Option<i32> {
        Some(android::code(key))
    }

    fn check_app(&self, name: &str) -> Result<(), BadParam> {
        android::check_package(name)
    }

    fn advice(&self, error: &DriverError) -> Option<&'static str> {
        match error {
            DriverError::Unreachable(why) if why.contains("unauthorized") => {
                Some("confirm on the phone that this computer may debug it")
            }
            DriverError::Unreachable(_) => Some(
                "check `adb devices`: the phone must be listed as `device`; `adb connect HOST:PORT` connects over the network",
            ),
            DriverError::Refused { .. } => Some("observe again; `afctl screenshot` shows the screen"),
            _ => None,
        }
    }

    fn health(&self) -> DriverFuture<'_, String> {
        Box::pin(async move {
            let output = self.remote.query("getprop ro.product.model; getprop ro.build.version.release").await?;
            let mut lines = output.lines().map(str::trim);
            let (model, release) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
            Ok(format!("{model}, Android {release}"))
        })
    }

    /// USB debugging knows no token.
    fn check_token<'a>(&'a self, _: Option<&'a Secret>) -> DriverFuture<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn top<'a>(&'a self, _: Option<&'a Secret>) -> DriverFuture<'a, ForegroundApp> {
        Box::pin(async move {
            let place = screen::activity(&self.remote.query(screen::FOCUS).await?);
            Ok(ForegroundApp { app: place.as_deref().and_then(android::app_of).map(str::to_owned), place })
        })
    }

    fn snapshot<'a>(&'a self, _: Option<&'a Secret>) -> DriverFuture<'a, Snapshot> {
        Box::pin(self.read())
    }

    fn waits_until_still(&self) -> bool {
        true
    }

    fn screenshot<'a>(&'a self, _: Option<&'a Secret>, shot: ScreenshotOptions) -> DriverFuture<'a, Vec<u8>> {
        Box::pin(async move {
            let output = self.remote.run("screencap -p", "", self.remote.timeout()).await.map_err(of_read)?;
            // Phones that fold print a warning before the picture.
            let start = output.windows(4).position(|bytes| bytes == b"\x89PNG");
            let start = start.ok_or_else(|| DriverError::Protocol("the phone gave no picture".into()))?;
            let scaled = run_blocking(move || scaled(&output[start..], shot)).await;
            scaled.map_err(|panicked| DriverError::Failed(panicked.to_string()))?
        })
    }

    fn perform<'a>(&'a self, _: Option<&'a Secret>, input: &'a Input) -> DriverFuture<'a, String> {
        Box::pin(async move {
            let command = self.command(input).await?;
            let (takes, parts) = duration(input, &command);
            self.known.lock().in_password = None;
            let done = self.remote.act(&command, takes, parts).await.map(|_| "done".to_owned());
            if matches!(input, Input::Text(_)) { done.map_err(without_text) } else { done }
        })
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

    fn manages(&self) -> Option<&dyn Manages> {
        Some(&self.tools)
    }
}

#[cfg(test)]
mod tests {
    use super::remote::refused;
    use super::*;

    #[test]
    fn scrolling_down_moves_the_finger_up_and_stays_off_the_edges() {
        let [x1, y1, x2, y2] = scroll((1000, 2000), Direction::Down, Amount::Large);
        assert_eq!((x1, x2), (500.0, 500.0));
        assert!(y1 > y2 && y1 < 1900.0 && y2 > 100.0);
        let [x1, _, x2, _] = scroll((1000, 2000), Direction::Right, Amount::Small);
        assert!(x1 > x2);
    }

    #[test]
    fn errors_about_a_text_do_not_quote_it() {
        let failed = refused("java.lang.IllegalArgumentException: hunter2\n", 255);
        assert!(failed.to_string().contains("hunter2") && !without_text(failed).to_string().contains("hunter2"));
        assert!(!without_text(DriverError::Lost("hunter2".to_owned())).to_string().contains("hunter2"));
    }
}
