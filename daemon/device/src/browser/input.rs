//! Inputs to a page, as events of a mouse and a keyboard.

use std::time::Duration;

use afd_proto::act::{Amount, Direction};
use afd_proto::keys::KeyName;
use serde_json::{Value, json};

use super::cdp::CdpError;
use super::dialog::{ACCEPT, ANSWER, DISMISS};
use super::running::Running;
use super::tab::{Dialog, Tab};
use crate::{DriverError, Input, Key};

/// The key that adds a choice to others, as the bits of modifiers: Command on a Mac, else Control.
const ADDING: u32 = if cfg!(target_os = "macos") { 4 } else { 2 };

/// Time in which a page draws a frame.
pub(super) const FRAME: Duration = Duration::from_millis(17);
/// Number of checks of what is under the mouse after it has moved, and the pause between them. Pictures that are shown
/// only then take a while to load.
const HOVER_CHECKS: u32 = 5;
const HOVER_PAUSE: Duration = Duration::from_millis(30);

/// Performs an input in a tab.
///
/// # Errors
/// If the page refuses the input or does not respond.
pub async fn perform(running: &Running, tab: &Tab, input: &Input) -> Result<(), DriverError> {
    let (input, wanted, text) = match input {
        Input::On(node, text, touch) => (&**touch, node.parse().ok(), text.as_deref()),
        other => (other, None, None),
    };
    let page = Page { running, tab, wanted, text };
    if let Some(dialog) = &tab.dialog {
        return page.answer(dialog, input).await;
    }
    match input {
        Input::Tap(x, y) => page.click(*x, *y, 1, Duration::ZERO).await,
        Input::DoubleTap(x, y) => page.click(*x, *y, 2, Duration::ZERO).await,
        Input::LongPress(x, y, ms) => page.click(*x, *y, 1, Duration::from_millis(u64::from(*ms))).await,
        Input::Upload(x, y, files) => page.upload(*x, *y, files).await,
        Input::Hover(x, y) => page.hover(*x, *y).await,
        Input::Drag(line, ms) => page.drag(*line, *ms).await,
        Input::Swipe([x1, y1, x2, y2], _) => page.wheel((*x1, *y1), (x1 - x2, y1 - y2)).await,
        Input::Scroll(direction, amount) => page.scroll(*direction, *amount).await,
        Input::Back => page.go(-1).await,
        Input::Keys(keys) => {
            if empties_field(keys) && page.empty().await? {
                return Ok(());
            }
            let wrong = keys.iter().find_map(|key| check_key(key).err());
            if let Some(error) = wrong {
                return Err(error);
            }
            for key in keys {
                page.key(key).await?;
            }
            Ok(())
        }
        Input::Text(text) => page.text(text.expose()).await,
        Input::Stop(_) => page.send("Page.close", json!({})).await,
        // The driver handles these.
        Input::Home | Input::Launch(_) | Input::Tab(_) | Input::CloseTab(_) | Input::On(..) => Ok(()),
    }
}

/// Returns whether keys delete all that a field contains, whatever its length: from its end, or on both sides of the
/// cursor.
fn empties_field(keys: &[Key]) -> bool {
    const DELETING: [KeyName; 3] = [KeyName::End, KeyName::Delete, KeyName::ForwardDelete];
    keys.len() > 2 && keys.iter().all(|key| matches!(key, Key::Named(name) if DELETING.contains(name)))
}

/// A tab that takes input.
pub(super) struct Page<'a> {
    pub(super) running: &'a Running,
    pub(super) tab: &'a Tab,
    /// The element that a touch must hit; `None` if it may hit whatever is there.
    pub(super) wanted: Option<i64>,
    /// Text that it had when it was chosen.
    pub(super) text: Option<&'a str>,
}

impl Page<'_> {
    /// Sends a request. A page that shows a dialog has received it.
    pub(super) async fn send(&self, method: &str, params: Value) -> Result<(), DriverError> {
        self.running.ask(self.tab, method, params).await.map(|_| ()).map_err(CdpError::of_input)
    }

    pub(super) async fn mouse(&self, kind: &str, (x, y): (f64, f64), more: Value) -> Result<(), DriverError> {
        let mut params = json!({"type": kind, "x": x, "y": y});
        if let (Some(params), Value::Object(more)) = (params.as_object_mut(), more) {
            params.extend(more);
        }
        self.send("Input.dispatchMouseEvent", params).await
    }

    pub(super) async fn click(&self, x: f64, y: f64, times: u32, held: Duration) -> Result<(), DriverError> {
        let hit = self.check_hit(x, y).await?;
        let guard = self.guard(hit, false).await?;
        let clicked = self.click_guarded((x, y), times, held).await;
        let removed = self.remove(guard).await;
        clicked.and(removed)
    }

    async fn click_guarded(&self, (x, y): (f64, f64), times: u32, held: Duration) -> Result<(), DriverError> {
        let list = self.focus_list(x, y).await?;
        if list == true {
            return Ok(());
        }
        self.hover(x, y).await?;
        // Without this key, a choice would replace the other ones.
        let modifiers = if list == "several" { ADDING } else { 0 };
        for n in 1..=times {
            let button = json!({"button": "left", "buttons": 1, "clickCount": n, "modifiers": modifiers});
            self.mouse("mousePressed", (x, y), button).await?;
            if !held.is_zero() {
                tokio::time::sleep(held).await;
            }
            self.release(x, y, n).await?;
        }
        Ok(())
    }

    /// Releases the mouse button. A button that was pressed is released, whatever the page shows.
    pub(super) async fn release(&self, x: f64, y: f64, clicks: u32) -> Result<(), DriverError> {
        let released =
            json!({"type": "mouseReleased", "x": x, "y": y, "button": "left", "buttons": 0, "clickCount": clicks});
        let released = self.running.ask_session(&self.tab.session, "Input.dispatchMouseEvent", released).await;
        released.map(|_| ()).map_err(CdpError::of_input)
    }

    /// Moves the mouse to a point. A page may change what is there, so that the point is checked again.
    async fn hover(&self, x: f64, y: f64) -> Result<(), DriverError> {
        self.check_hit(x, y).await?;
        self.mouse("mouseMoved", (x, y), json!({})).await?;
        // A page that changes what the mouse is over does so in the next frame.
        tokio::time::sleep(FRAME).await;
        for _ in 0..HOVER_CHECKS {
            match self.check_hit(x, y).await {
                Err(DriverError::Covered(_)) => tokio::time::sleep(HOVER_PAUSE).await,
                other => return other.map(|_| ()),
            }
        }
        self.check_hit(x, y).await.map(|_| ())
    }

    /// Checks that the topmost element at a point is the wanted one, if there is one. Returns its id; `None` if it is not
    /// known.
    pub(super) async fn check_hit(&self, x: f64, y: f64) -> Result<Option<i64>, DriverError> {
        let Some(wanted) = self.wanted else { return Ok(None) };
        let session = self.tab.session.clone();
        let Some(mut hit) = self.node_at(&session, (x, y)).await? else { return Ok(None) };
        let foreign = self.running.seen(&self.tab.session).frame_of(hit);
        if let Some((session, offset, at)) = foreign
            && let Some(inner) = self.node_at(&session, (x - at.0, y - at.1)).await?
        {
            hit = inner + offset;
        }
        let seen = self.running.seen(&self.tab.session);
        match seen.allows(&self.tab.session, hit, wanted) {
            true => Ok(Some(hit)),
            false => Err(DriverError::Covered(seen.describe(hit, wanted))),
        }
    }

    /// Returns the node at a point of the window of a session; `None` if there is none, or if a dialog opened.
    async fn node_at(&self, session: &str, (x, y): (f64, f64)) -> Result<Option<i64>, DriverError> {
        let ask = |method, params| self.running.ask_frame(&self.tab.session, session, method, params);
        // The browser looks for nodes at positions in the document.
        let metrics = ask("Page.getLayoutMetrics", json!({})).await.map_err(CdpError::of_read)?.unwrap_or_default();
        let scrolled = |name: &str| metrics["cssVisualViewport"][name].as_f64().unwrap_or_default();
        let at = json!({"x": (x + scrolled("pageX")).round() as i64, "y": (y + scrolled("pageY")).round() as i64});
        match ask("DOM.getNodeForLocation", at).await {
            Ok(hit) => Ok(hit.and_then(|hit| hit["backendNodeId"].as_i64())),
            Err(CdpError::Refused(_)) => Ok(None),
            Err(error) => Err(error.of_read()),
        }
    }

    async fn wheel(&self, at: (f64, f64), (dx, dy): (f64, f64)) -> Result<(), DriverError> {
        self.mouse("mouseWheel", at, json!({"deltaX": dx, "deltaY": dy})).await
    }

    async fn scroll(&self, direction: Direction, amount: Amount) -> Result<(), DriverError> {
        let metrics =
            self.running.ask(self.tab, "Page.getLayoutMetrics", json!({})).await.map_err(CdpError::of_read)?;
        let metrics = metrics.unwrap_or_default();
        let length = |name: &str| metrics["cssVisualViewport"][name].as_f64().unwrap_or_default();
        let (width, height) = (length("clientWidth"), length("clientHeight"));
        let share = match amount {
            Amount::Small => 0.3,
            Amount::Medium => 0.6,
            Amount::Large => 0.9,
        };
        let by = match direction {
            Direction::Up => (0.0, -height * share),
            Direction::Down => (0.0, height * share),
            Direction::Left => (-width * share, 0.0),
            Direction::Right => (width * share, 0.0),
        };
        self.wheel((width / 2.0, height / 2.0), by).await
    }

    /// Goes to the page before the current one in the history of the tab (-1), or to the one after it (1).
    async fn go(&self, by: i32) -> Result<(), DriverError> {
        let history = self.running.ask(self.tab, "Page.getNavigationHistory", json!({})).await;
        let history = history.map_err(CdpError::of_read)?.unwrap_or_default();
        let at = history["currentIndex"].as_u64().and_then(|at| usize::try_from(at).ok()).unwrap_or_default();
        // A tab begins with an empty page.
        let entry = if by < 0 { at.checked_sub(1) } else { Some(at + 1) }.map(|at| &history["entries"][at]);
        let Some(entry) = entry.filter(|entry| entry["id"].is_number() && entry["url"] != "about:blank") else {
            let message = if by < 0 { "there is no page before this one" } else { "there is no page after this one" };
            return Err(DriverError::Refused { status: None, message: message.into() });
        };
        self.send("Page.navigateToHistoryEntry", json!({"entryId": entry["id"]})).await
    }

    pub(super) async fn key(&self, key: &Key) -> Result<(), DriverError> {
        let Pressed::Key(key, code, text) = check_key(key)? else { return self.browse(key).await };
        let mut down = json!({"type": if text.is_empty() { "rawKeyDown" } else { "keyDown" }, "key": key, "code": key,
            "windowsVirtualKeyCode": code});
        if !text.is_empty() {
            down["text"] = json!(text);
        }
        self.send("Input.dispatchKeyEvent", down).await?;
        self.send(
            "Input.dispatchKeyEvent",
            json!({"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code}),
        )
        .await
    }

    /// Presses a key that the browser itself handles.
    async fn browse(&self, key: &Key) -> Result<(), DriverError> {
        match key {
            Key::Named(KeyName::Forward) => self.go(1).await,
            Key::Named(KeyName::Reload) => self.send("Page.reload", json!({})).await,
            _ => self.go(-1).await,
        }
    }

    /// Answers a dialog: taps on its buttons, text and keys.
    async fn answer(&self, dialog: &Dialog, input: &Input) -> Result<(), DriverError> {
        let change = |change: &dyn Fn(&mut String)| {
            self.running.tabs.send_modify(|tabs| tabs.set_dialog_text(&self.tab.session, change));
            Ok(())
        };
        let accept = match input {
            Input::Tap(x, y) if ACCEPT.contains(*x, *y) => true,
            Input::Tap(x, y) if DISMISS.contains(*x, *y) && dialog.kind != "alert" => false,
            Input::Tap(x, y) if ANSWER.contains(*x, *y) => return Ok(()),
            Input::Text(text) if dialog.kind == "prompt" => return change(&|typed| typed.push_str(text.expose())),
            Input::Keys(keys) => match keys.as_slice() {
                [Key::Named(KeyName::Enter)] => true,
                [Key::Named(KeyName::Escape)] => false,
                keys if keys.iter().all(|key| matches!(key, Key::Named(KeyName::Delete))) => {
                    return change(&|typed| {
                        let left = typed.chars().count().saturating_sub(keys.len());
                        *typed = typed.chars().take(left).collect();
                    });
                }
                _ => return Ok(()),
            },
            Input::Back => false,
            _ => {
                let message = "the page shows a dialog, which must be answered first".into();
                return Err(DriverError::Refused { status: None, message });
            }
        };
        let mut params = json!({"accept": accept});
        if dialog.kind == "prompt" && accept {
            params["promptText"] = json!(dialog.text);
        }
        let answered = self.running.cdp.call(&self.tab.session, "Page.handleJavaScriptDialog", params).await;
        answered.map(|_| ()).map_err(CdpError::of_input)
    }
}

fn unsupported(what: &'static str, instead: &'static str) -> DriverError {
    DriverError::Unsupported { kind: "browser", what, instead }
}

/// What a key does.
enum Pressed {
    /// The page receives it: its name, its virtual key code, and the text that it types.
    Key(&'static str, i32, &'static str),
    /// The browser handles it: Back, Forward or Reload.
    Browse,
}

/// Returns what a key does.
fn check_key(key: &Key) -> Result<Pressed, DriverError> {
    match key {
        Key::Code(_) => Err(unsupported("has no key codes", "name the key")),
        Key::Named(KeyName::Back | KeyName::Forward | KeyName::Reload) => Ok(Pressed::Browse),
        Key::Named(name) => named(*name).ok_or_else(|| unsupported("has no such key", "use another key")),
    }
}

fn named(name: KeyName) -> Option<Pressed> {
    let (key, code, text) = match name {
        KeyName::Up => ("ArrowUp", 38, ""),
        KeyName::Down => ("ArrowDown", 40, ""),
        KeyName::Left => ("ArrowLeft", 37, ""),
        KeyName::Right => ("ArrowRight", 39, ""),
        KeyName::PageUp => ("PageUp", 33, ""),
        KeyName::PageDown => ("PageDown", 34, ""),
        KeyName::Tab => ("Tab", 9, ""),
        KeyName::Space => (" ", 32, " "),
        KeyName::Enter => ("Enter", 13, "\r"),
        KeyName::Delete => ("Backspace", 8, ""),
        KeyName::ForwardDelete => ("Delete", 46, ""),
        KeyName::Home => ("Home", 36, ""),
        KeyName::End => ("End", 35, ""),
        KeyName::Escape => ("Escape", 27, ""),
        KeyName::Menu => ("ContextMenu", 93, ""),
        KeyName::Back
        | KeyName::Forward
        | KeyName::Reload
        | KeyName::VolumeUp
        | KeyName::VolumeDown
        | KeyName::Power
        | KeyName::Search
        | KeyName::Recent => return None,
    };
    Some(Pressed::Key(key, code, text))
}
