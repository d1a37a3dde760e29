//! Inputs to a page, as events of a mouse and a keyboard.

use std::time::Duration;

use afd_proto::act::{Amount, Direction};
use afd_proto::keys::KeyName;
use serde_json::{Value, json};

use super::cdp::CdpError;
use super::dialog::{ACCEPT, ANSWER, DISMISS};
use super::running::Running;
use super::tabs::{Dialog, Tab};
use crate::{DriverError, Input, Key};

/// Function that focuses a list of choices instead of opening it, because the browser draws the open list outside of the
/// page. Returns whether the point is on such a list.
const FOCUS_LIST: &str = "(x, y) => {
    let at = document.elementFromPoint(x, y);
    while (at && at.shadowRoot && at.shadowRoot.elementFromPoint(x, y) !== at) at = at.shadowRoot.elementFromPoint(x, y);
    if (!at || at.tagName !== 'SELECT') return false;
    at.focus();
    return true;
}";
/// Function that sets the value of a focused list of choices, or of a field with a picker. Returns whether it did;
/// `unknown` if the list has no such choice.
const SET_VALUE: &str = "(text) => {
    let at = document.activeElement;
    while (at && at.shadowRoot && at.shadowRoot.activeElement) at = at.shadowRoot.activeElement;
    if (!at) return false;
    const notify = () => ['input', 'change'].forEach(kind => at.dispatchEvent(new Event(kind, {bubbles: true})));
    if (at.tagName === 'SELECT') {
        const plain = text => text.trim().replace(/\\s+/g, ' ').toLowerCase();
        const choice = [...at.options].find(one => plain(one.label) === plain(text)) || [...at.options].find(one => one.value === text);
        if (!choice || choice.disabled) {
            const before = at[Symbol.for('afd.before')];
            if (at.selectedIndex < 0 && before !== undefined) at.selectedIndex = before;
            return 'unknown';
        }
        choice.selected = true;
        notify();
        return true;
    }
    if (at.tagName !== 'INPUT' || !['date', 'time', 'month', 'week', 'datetime-local', 'color', 'range'].includes(at.type)) return false;
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(at, text);
    notify();
    return true;
}";

/// Function that empties a focused list of choices, until a choice is typed. Returns whether the focus is on one.
const EMPTY_LIST: &str = "() => {
    let at = document.activeElement;
    while (at && at.shadowRoot && at.shadowRoot.activeElement) at = at.shadowRoot.activeElement;
    if (!at || at.tagName !== 'SELECT') return false;
    const before = Symbol.for('afd.before');
    if (at.selectedIndex >= 0) at[before] = at.selectedIndex;
    at.selectedIndex = -1;
    return true;
}";

/// Performs an input in a tab.
///
/// # Errors
/// If the page refuses the input or does not respond.
pub async fn perform(running: &Running, tab: &Tab, input: &Input) -> Result<(), DriverError> {
    let page = Page { running, tab };
    if let Some(dialog) = &tab.dialog {
        return page.answer(dialog, input).await;
    }
    match input {
        Input::Tap(x, y) => page.click(*x, *y, 1, Duration::ZERO).await,
        Input::DoubleTap(x, y) => page.click(*x, *y, 2, Duration::ZERO).await,
        Input::LongPress(x, y, ms) => page.click(*x, *y, 1, Duration::from_millis(u64::from(*ms))).await,
        Input::Swipe([x1, y1, x2, y2], _) => page.wheel((*x1, *y1), (x1 - x2, y1 - y2)).await,
        Input::Scroll(direction, amount) => page.scroll(*direction, *amount).await,
        Input::Back => page.back().await,
        Input::Keys(keys) => {
            if keys.iter().all(|key| matches!(key, Key::Named(name) if DELETING.contains(name)))
                && page.evaluate(EMPTY_LIST, &[]).await? == true
            {
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
        Input::Home | Input::Launch(_) => Ok(()),
    }
}

/// Keys that delete text or move the cursor before deleting.
const DELETING: [KeyName; 3] = [KeyName::End, KeyName::Delete, KeyName::ForwardDelete];

struct Page<'a> {
    running: &'a Running,
    tab: &'a Tab,
}

impl Page<'_> {
    /// Sends a request. A page that shows a dialog has received it.
    async fn send(&self, method: &str, params: Value) -> Result<(), DriverError> {
        self.running.ask(self.tab, method, params).await.map(|_| ()).map_err(CdpError::of_input)
    }

    /// Calls a function in the page, and returns its value.
    async fn evaluate(&self, function: &str, arguments: &[Value]) -> Result<Value, DriverError> {
        let arguments: Vec<String> = arguments.iter().map(Value::to_string).collect();
        let expression = format!("({function})({})", arguments.join(","));
        let params = json!({"expression": expression, "returnByValue": true, "silent": true});
        let done = self.running.ask(self.tab, "Runtime.evaluate", params).await.map_err(CdpError::of_input)?;
        Ok(done.map(|mut done| done["result"]["value"].take()).unwrap_or_default())
    }

    async fn mouse(&self, kind: &str, (x, y): (f64, f64), more: Value) -> Result<(), DriverError> {
        let mut params = json!({"type": kind, "x": x, "y": y});
        if let (Some(params), Value::Object(more)) = (params.as_object_mut(), more) {
            params.extend(more);
        }
        self.send("Input.dispatchMouseEvent", params).await
    }

    async fn click(&self, x: f64, y: f64, times: u32, held: Duration) -> Result<(), DriverError> {
        self.check_hit(x, y).await?;
        if self.evaluate(FOCUS_LIST, &[json!(x), json!(y)]).await? == true {
            return Ok(());
        }
        self.mouse("mouseMoved", (x, y), json!({})).await?;
        for n in 1..=times {
            let button = json!({"button": "left", "buttons": 1, "clickCount": n});
            self.mouse("mousePressed", (x, y), button).await?;
            if !held.is_zero() {
                tokio::time::sleep(held).await;
            }
            let released =
                json!({"type": "mouseReleased", "x": x, "y": y, "button": "left", "buttons": 0, "clickCount": n});
            // A button that was pressed is released, whatever the page shows.
            let released = self.running.ask_session(&self.tab.session, "Input.dispatchMouseEvent", released).await;
            released.map_err(CdpError::of_input)?;
        }
        Ok(())
    }

    /// Checks that the topmost element at a point is one that the last snapshot had there.
    async fn check_hit(&self, x: f64, y: f64) -> Result<(), DriverError> {
        // The browser looks for nodes at positions in the document.
        let metrics =
            self.running.ask(self.tab, "Page.getLayoutMetrics", json!({})).await.map_err(CdpError::of_read)?;
        let metrics = metrics.unwrap_or_default();
        let scrolled = |name: &str| metrics["cssVisualViewport"][name].as_f64().unwrap_or_default();
        let at = json!({"x": (x + scrolled("pageX")).round() as i64, "y": (y + scrolled("pageY")).round() as i64});
        let hit = match self.running.ask(self.tab, "DOM.getNodeForLocation", at).await {
            Ok(Some(hit)) => hit["backendNodeId"].as_i64(),
            // There is nothing at the point, or a dialog opened.
            Ok(None) | Err(CdpError::Refused(_)) => None,
            Err(error) => return Err(error.of_read()),
        };
        let is_it = hit.is_none_or(|hit| self.running.seen.lock().allows(&self.tab.session, (x, y), hit));
        if is_it {
            return Ok(());
        }
        Err(DriverError::Refused { status: None, message: "another element is in front of the target".into() })
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

    /// Goes back to the previous page.
    async fn back(&self) -> Result<(), DriverError> {
        let history = self.running.ask(self.tab, "Page.getNavigationHistory", json!({})).await;
        let history = history.map_err(CdpError::of_read)?.unwrap_or_default();
        let at = history["currentIndex"].as_u64().and_then(|at| usize::try_from(at).ok()).unwrap_or_default();
        // A tab begins with an empty page.
        let before = at.checked_sub(1).map(|at| &history["entries"][at]);
        let Some(before) = before.filter(|before| before["url"] != "about:blank") else {
            return Err(DriverError::Refused { status: None, message: "there is no page before this one".into() });
        };
        self.send("Page.navigateToHistoryEntry", json!({"entryId": before["id"]})).await
    }

    async fn key(&self, key: &Key) -> Result<(), DriverError> {
        let Some((key, code, text)) = check_key(key)? else { return self.back().await };
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

    async fn text(&self, text: &str) -> Result<(), DriverError> {
        let set = self.evaluate(SET_VALUE, &[json!(text)]).await?;
        if set == "unknown" {
            return Err(DriverError::Refused { status: None, message: "the list has no such choice".into() });
        }
        if set == true {
            return Ok(());
        }
        self.send("Input.insertText", json!({"text": text})).await
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

/// Returns what a browser needs to press a key; `None` for Back.
fn check_key(key: &Key) -> Result<Option<(&'static str, i32, &'static str)>, DriverError> {
    match key {
        Key::Code(_) => Err(unsupported("has no key codes", "name the key")),
        Key::Named(KeyName::Back) => Ok(None),
        Key::Named(name) => named(*name).map(Some).ok_or_else(|| unsupported("has no such key", "use another key")),
    }
}

/// Returns the name of a key in the browser, its virtual key code, and the text that it types.
fn named(name: KeyName) -> Option<(&'static str, i32, &'static str)> {
    Some(match name {
        KeyName::Up => ("ArrowUp", 38, ""),
        KeyName::Down => ("ArrowDown", 40, ""),
        KeyName::Left => ("ArrowLeft", 37, ""),
        KeyName::Right => ("ArrowRight", 39, ""),
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
        | KeyName::VolumeUp
        | KeyName::VolumeDown
        | KeyName::Power
        | KeyName::Search
        | KeyName::Recent => {
            return None;
        }
    })
}
