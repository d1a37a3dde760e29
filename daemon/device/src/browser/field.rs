//! Text for the focused element of a page, which may be in a frame.

use afd_proto::keys::KeyName;
use afd_screen::page::outline::plain;
use serde_json::{Value, json};

use super::cdp::CdpError;
use super::input::Page;
use crate::{DriverError, Key};

/// Maximum length of a text that is typed key by key, in characters. Longer texts are inserted at once.
const MAX_TYPED: usize = 300;

/// Declares `focused()`: the element with the focus, in shadow roots and frames as well.
const FOCUSED: &str = "const focused = () => {
    for (let at = document.activeElement;;) {
        const inner = at?.shadowRoot?.activeElement || (/^I?FRAME$/.test(at?.tagName) && at.contentDocument?.activeElement);
        if (!inner) return at;
        at = inner;
    }
};";

/// Function that focuses a list of choices instead of opening it, because the browser draws the open list outside of the
/// page. Returns whether the point is on such a list; `several` if it is on a choice of a list that allows several;
/// `frame` if it is in a frame that the page cannot read.
const FOCUS_LIST: &str = "(x, y) => {
    let at = document.elementFromPoint(x, y);
    for (;;) {
        const inside = at?.shadowRoot?.elementFromPoint(x, y);
        if (inside && inside !== at) { at = inside; continue; }
        if (!/^I?FRAME$/.test(at?.tagName)) break;
        if (!at.contentDocument) return 'frame';
        const box = at.getBoundingClientRect();
        [x, y] = [x - box.left - at.clientLeft, y - box.top - at.clientTop];
        at = at.contentDocument.elementFromPoint(x, y);
    }
    if (at?.tagName === 'OPTION') return at.closest('select')?.multiple ? 'several' : false;
    if (at?.tagName !== 'SELECT') return false;
    at.focus();
    return true;
}";

/// Function that sets the value of a focused list of choices, or of a field with a picker. Returns whether it did;
/// the choices, as a text, if the list has no such choice.
const SET_VALUE: &str = "(text) => {
    const at = focused();
    if (/^I?FRAME$/.test(at?.tagName)) return 'frame';
    const notify = () => ['input', 'change'].forEach(kind => at.dispatchEvent(new Event(kind, {bubbles: true})));
    if (at?.tagName === 'SELECT') {
        const plain = text => text.trim().replace(/\\s+/g, ' ').toLowerCase();
        const shown = text => text.trim().replace(/\\s+/g, ' ').slice(0, 60);
        const choice = text => [...at.options].find(one => plain(one.label) === plain(text)) || [...at.options].find(one => one.value === text);
        const several = at.multiple && !choice(text) ? text.split(/[\\n,]/).filter(part => part.trim()) : [text];
        const choices = several.map(choice);
        if (choices.some(one => !one || one.disabled)) {
            const before = at[Symbol.for('afd.before')];
            if (before) [...at.options].forEach((one, index) => { one.selected = before.includes(index) });
            const labels = [...at.options].filter(one => !one.disabled).slice(0, 25).map(one => JSON.stringify(shown(one.label)));
            return 'choices: ' + labels.join(', ') + (at.options.length > 25 ? ', ...' : '');
        }
        if (at.multiple) at.selectedIndex = -1;
        choices.forEach(one => { one.selected = true });
        notify();
        return true;
    }
    if (at?.tagName !== 'INPUT' || !['date', 'time', 'month', 'week', 'datetime-local', 'color', 'range'].includes(at.type)) return false;
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(at, text);
    notify();
    return true;
}";

/// Function that selects all in the focused field, or empties a list of choices until a choice is typed. Returns
/// `selected` if something is selected that a key must delete, and true if there is nothing to delete.
const SELECT_ALL: &str = "() => {
    const at = focused();
    if (/^I?FRAME$/.test(at?.tagName)) return 'frame';
    if (at?.tagName === 'SELECT') {
        const before = Symbol.for('afd.before');
        if (at.selectedIndex >= 0) at[before] = [...at.options].flatMap((one, index) => one.selected ? [index] : []);
        at.selectedIndex = -1;
        return true;
    }
    if (at?.tagName === 'INPUT' || at?.tagName === 'TEXTAREA') {
        if (at.value === '') return true;
        at.select();
        return 'selected';
    }
    if (!at?.isContentEditable) return false;
    if (at.textContent.trim() === '') return true;
    at.ownerDocument.getSelection().selectAllChildren(at);
    return 'selected';
}";

impl Page<'_> {
    /// Calls a function in the page that has the focus, or in the frame of another site in it. Returns its value.
    async fn in_focus(&self, function: &str, argument: Option<&str>) -> Result<Value, DriverError> {
        let argument = argument.map(|text| json!(text).to_string()).unwrap_or_default();
        let expression = format!("(() => {{ {FOCUSED} return ({function})({argument}) }})()");
        let value = self.evaluate(&self.tab.session, &expression).await?;
        if value != "frame" {
            return Ok(value);
        }
        let in_frame = format!("document.hasFocus() ? {expression} : 'frame'");
        let frames = self.running.tabs.borrow().frames(&self.tab.session);
        for frame in frames {
            let value = self.evaluate(&frame.session, &in_frame).await?;
            if value != "frame" {
                return Ok(value);
            }
        }
        Ok(Value::Bool(false))
    }

    /// Evaluates an expression in a session of the tab.
    pub(super) async fn evaluate(&self, session: &str, expression: &str) -> Result<Value, DriverError> {
        let params = json!({"expression": expression, "returnByValue": true, "silent": true});
        let done = self.running.ask_frame(&self.tab.session, session, "Runtime.evaluate", params).await;
        let done = done.map_err(CdpError::of_input)?;
        Ok(done.map(|mut done| done["result"]["value"].take()).unwrap_or_default())
    }

    /// Focuses the list of choices at a point. Returns true if there is one, and `several` if the point is on a choice of
    /// a list that allows several.
    pub(super) async fn focus_list(&self, x: f64, y: f64) -> Result<Value, DriverError> {
        let value = self.evaluate(&self.tab.session, &format!("({FOCUS_LIST})({x}, {y})")).await?;
        if value != "frame" {
            return Ok(value);
        }
        let frames = self.running.seen(&self.tab.session).foreign_at(x, y);
        for (session, left, top) in frames {
            let value = self.evaluate(&session, &format!("({FOCUS_LIST})({}, {})", x - left, y - top)).await?;
            if value != "frame" {
                return Ok(value);
            }
        }
        Ok(Value::Bool(false))
    }

    /// Empties the focused field.
    pub(super) async fn empty(&self) -> Result<bool, DriverError> {
        let selected = self.in_focus(SELECT_ALL, None).await?;
        if selected == "selected" {
            self.key(&Key::Named(KeyName::Delete)).await?;
        }
        Ok(selected == true || selected == "selected")
    }

    /// Types a text into the focused element.
    ///
    /// # Errors
    /// If it is a list of choices without that choice.
    pub(super) async fn text(&self, text: &str) -> Result<(), DriverError> {
        let set = self.in_focus(SET_VALUE, Some(text)).await?;
        if let Some(choices) = set.as_str() {
            let message = format!("the list has no such choice; {}", plain(choices));
            return Err(DriverError::Refused { status: None, message: message.into() });
        }
        if set == true {
            return Ok(());
        }
        // Pages that search or complete while text is typed listen to keys. The keys of other characters, and of the end
        // of a line, depend on the keyboard or do something else.
        if text.chars().count() > MAX_TYPED || !text.chars().all(|c| c.is_ascii_graphic() || c == ' ') {
            return self.send("Input.insertText", json!({"text": text})).await;
        }
        for c in text.chars() {
            self.character(c).await?;
        }
        Ok(())
    }

    async fn character(&self, c: char) -> Result<(), DriverError> {
        let (code, number) = match c {
            'a'..='z' | 'A'..='Z' => (format!("Key{}", c.to_ascii_uppercase()), u32::from(c.to_ascii_uppercase())),
            '0'..='9' => (format!("Digit{c}"), u32::from(c)),
            ' ' => ("Space".to_owned(), 32),
            _ => (String::new(), 0),
        };
        let shift = if c.is_ascii_uppercase() { 8 } else { 0 };
        let key = |kind: &str| json!({"type": kind, "key": c.to_string(), "code": code, "windowsVirtualKeyCode": number, "modifiers": shift});
        let mut down = key("keyDown");
        down["text"] = json!(c.to_string());
        self.send("Input.dispatchKeyEvent", down).await?;
        self.send("Input.dispatchKeyEvent", key("keyUp")).await
    }
}
