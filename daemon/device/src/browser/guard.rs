//! Keeps a click from an element that it was not meant for. A page can change at any time: between the last check and
//! the click, another element may have come to the place, or the element may have become another one.
//!
//! Before the click, a listener is added to the windows of the page, in a script world that the page cannot reach. It sees
//! the events of the click before the page's elements do, and stops all of them if the press is not for the element, or if
//! the text of the element is not what it was. Listeners that the page itself added to a window earlier still see the
//! events.

use afd_screen::page::mask;
use serde_json::{Value, json};

use super::cdp::CdpError;
use super::input::Page;
use crate::DriverError;

/// Function of an element that adds the guard. `hit` is the node that was at the point; `digits` is whether the numbers
/// in the text of the element count; `drag` is whether the press is the beginning of a drag, whose release may be anywhere;
/// `name` is the name that the element had when it was read, if its texts should give it.
const ADD: &str = "function(hit, digits, drag, name) {
    const el = this.nodeType === 1 ? this : this.parentElement;
    const view = el?.ownerDocument?.defaultView;
    if (!view) return;
    const text = () => {
        const all = (el.getAttribute('aria-label') || '') + '|' + el.textContent.slice(0, 2000);
        return digits ? all : all.replace(/[0-9]+/g, '#');
    };
    const kinds = ['pointerdown', 'mousedown', 'pointerup', 'mouseup'].concat(drag ? [] : ['click', 'auxclick', 'dblclick', 'contextmenu']);
    const views = [], guard = {stopped: ''}, since = Date.now();
    const isField = el.matches('input,textarea,select,[contenteditable]');
    // A click on a label is followed by one on its field.
    const field = el.closest('label')?.control;
    // A window does not see into a closed shadow root.
    let seen = el;
    for (let root = el.getRootNode(); root.mode === 'closed'; root = seen.getRootNode()) seen = root.host;
    let before = text(), pressed = false;
    // The browser may have read the name a moment after the text changed, so the text itself is compared too. A name from
    // elsewhere shares no word with it for good.
    const wanted = name && name.toLowerCase().match(/\\p{L}{3,}/gu) || [];
    const named = '[aria-label],[aria-labelledby],[alt],[title],input,textarea,select';
    if (wanted.length && !isField && !field && !el.matches(named) && !el.querySelector(named)) {
        const now = el.textContent.toLowerCase();
        if (/\\p{L}{3}/u.test(now) && !wanted.some(word => now.includes(word))) guard.stopped = 'changed';
    }
    const check = (event, inside) => {
        if (!event.isTrusted) return;
        // Whatever should have removed the guard is gone, for example a frame.
        if (view.closed || Date.now() - since > 10000) return guard.remove();
        // What was pressed is released, wherever the mouse is by then.
        if (!guard.stopped && pressed && /up$/.test(event.type)) return;
        const path = event.composedPath();
        const label = path.find(node => node.tagName === 'LABEL');
        // A page may replace the element when it is pressed.
        const is = inside && (el.isConnected || pressed)
            && (path.includes(seen) || path[0] === hit || field && path.includes(field)
                || label && (label.control === el || label.contains(el)));
        const same = isField || text() === before;
        if (!guard.stopped && is && same) {
            pressed = true;
            // The page may change the text when it handles the event.
            setTimeout(after, 0);
            return;
        }
        guard.stopped = guard.stopped || (pressed || !/down$/.test(event.type) ? 'late' : is ? 'changed' : 'covered');
        event.preventDefault();
        event.stopImmediatePropagation();
    };
    const after = () => { before = text() };
    const inner = event => check(event, true), outer = event => check(event, false);
    guard.remove = () => {
        for (const [at, listener] of views) {
            kinds.forEach(kind => at.removeEventListener(kind, listener, true));
            kinds.forEach(kind => at.removeEventListener(kind, after));
            if (at.afdGuard === guard) delete at.afdGuard;
        }
    };
    for (let at = view, listener = inner;; at = at.parent, listener = outer) {
        try {
            at.afdGuard?.remove();
            at.afdGuard = guard;
            kinds.forEach(kind => at.addEventListener(kind, listener, true));
            kinds.forEach(kind => at.addEventListener(kind, after));
        } catch { break }
        views.push([at, listener]);
        if (at === at.parent) break;
    }
}";

/// Function of an element that removes the guard. Returns why it stopped the click; empty if it did not.
const REMOVE: &str = "function() {
    const guard = this.ownerDocument?.defaultView?.afdGuard;
    guard?.remove();
    return guard?.stopped;
}";
/// Name of the script world of the guard.
const WORLD: &str = "afd";

fn changed(how: &str) -> DriverError {
    DriverError::Covered(format!("what came to its place ({how})"))
}

/// A guard that was added.
pub(super) struct Guard {
    /// Session of the element.
    session: String,
    /// The element, as an object of the page.
    object: Value,
}

impl Page<'_> {
    /// Adds guards for a click on the wanted element, if there is one: one in its frame, and one around a frame of another
    /// site. `hit` is the node at the point; `drag` is whether the press begins a drag.
    ///
    /// # Errors
    /// If the element has another name than before.
    pub(super) async fn guard(&self, hit: Option<i64>, drag: bool) -> Result<Vec<Guard>, DriverError> {
        let Some(wanted) = self.wanted else { return Ok(Vec::new()) };
        let mut guards = Vec::new();
        let added = self.add_guards(wanted, hit, drag, &mut guards).await;
        if added.is_err() {
            // The error says more than what the guards saw.
            let _ = self.remove(std::mem::take(&mut guards)).await;
        }
        added.map(|()| guards)
    }

    async fn add_guards(
        &self,
        wanted: i64,
        hit: Option<i64>,
        drag: bool,
        guards: &mut Vec<Guard>,
    ) -> Result<(), DriverError> {
        let (name, owner) = {
            let seen = self.running.seen(&self.tab.session);
            // The page may have been read again since the element was chosen.
            let name = seen.name_of(wanted).map(|(name, is_only)| (self.text.unwrap_or(name).to_owned(), is_only));
            (name, seen.owner_of(wanted))
        };
        let digits = name.as_ref().is_some_and(|(_, is_only)| !is_only);
        let known = name.as_ref().map(|(name, _)| name.as_str());
        guards.push(self.add(wanted, hit, (digits, drag), known).await?);
        if let Some(owner) = owner {
            guards.push(self.add(owner, None, (digits, drag), None).await?);
        }
        let is_other = match &name {
            None => false,
            Some((name, is_only)) => self
                .name_now(wanted)
                .await?
                .is_some_and(|now| now != *name && !(*is_only && mask::digits(&now) == mask::digits(name))),
        };
        if is_other { Err(changed("it has another name now")) } else { Ok(()) }
    }

    async fn add(
        &self,
        node: i64,
        hit: Option<i64>,
        (digits, drag): (bool, bool),
        name: Option<&str>,
    ) -> Result<Guard, DriverError> {
        let gone = || changed("it is gone");
        let (place, hit, frame) = {
            let seen = self.running.seen(&self.tab.session);
            let place = seen.layout.node_of(node);
            let hit = hit
                .and_then(|hit| seen.layout.node_of(hit))
                .filter(|(of, _)| place.as_ref().is_some_and(|(session, _)| session == of));
            (place, hit.map(|(_, hit)| hit), seen.frame_around(node))
        };
        let ((session, node), frame) = place.zip(frame).ok_or_else(gone)?;
        let world = json!({"frameId": frame, "worldName": WORLD});
        let world = self.ask(&session, "Page.createIsolatedWorld", world).await?.unwrap_or_default();
        let context = world["executionContextId"].clone();
        let object = self.object(&session, node, &context).await?.ok_or_else(gone)?;
        let hit = match hit {
            Some(hit) => self.object(&session, hit, &context).await?,
            None => None,
        };
        let hit = hit.map_or(json!({"value": null}), |hit| json!({"objectId": hit}));
        let arguments = json!([hit, {"value": digits}, {"value": drag}, {"value": name}]);
        let add = json!({"objectId": object, "functionDeclaration": ADD, "arguments": arguments, "silent": true});
        self.ask(&session, "Runtime.callFunctionOn", add).await?;
        Ok(Guard { session, object })
    }

    /// Removes guards.
    ///
    /// # Errors
    /// If one of them has stopped the click.
    pub(super) async fn remove(&self, guards: Vec<Guard>) -> Result<(), DriverError> {
        let (mut stopped, mut late) = (Ok(()), false);
        for Guard { session, object } in guards {
            let remove =
                json!({"objectId": object, "functionDeclaration": REMOVE, "returnByValue": true, "silent": true});
            // A page that was left has no guard.
            let done = self.ask(&session, "Runtime.callFunctionOn", remove).await.ok().flatten();
            match done.as_ref().and_then(|done| done["result"]["value"].as_str()) {
                Some("late") => late = true,
                Some("changed") => stopped = Err(changed("it has changed")),
                Some("covered") => stopped = Err(DriverError::Covered("another element".to_owned())),
                _ => {}
            }
        }
        if late {
            // The page got the press.
            let message = "the page changed between the press and the click, which it did not get".into();
            return Err(DriverError::Refused { status: None, message });
        }
        stopped
    }

    async fn ask(&self, session: &str, method: &str, params: Value) -> Result<Option<Value>, DriverError> {
        self.running.ask_frame(&self.tab.session, session, method, params).await.map_err(CdpError::of_read)
    }

    /// Returns a node as an object of a script world of the page; `None` if it is gone.
    async fn object(&self, session: &str, node: i64, context: &Value) -> Result<Option<Value>, DriverError> {
        let params = json!({"backendNodeId": node, "objectGroup": "afd", "executionContextId": context});
        match self.ask(session, "DOM.resolveNode", params).await {
            Ok(found) => Ok(found.map(|mut found| found["object"]["objectId"].take()).filter(Value::is_string)),
            Err(DriverError::Refused { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the name of a node as it is now; `None` if that cannot be known.
    async fn name_now(&self, node: i64) -> Result<Option<String>, DriverError> {
        let Some((session, node)) = self.running.seen(&self.tab.session).layout.node_of(node) else { return Ok(None) };
        let params = json!({"backendNodeId": node, "fetchRelatives": false});
        let found = match self.ask(&session, "Accessibility.getPartialAXTree", params).await {
            Err(DriverError::Refused { .. }) => None,
            found => found?,
        };
        let name = found.as_ref().and_then(|found| found["nodes"][0]["name"]["value"].as_str());
        Ok(name.and_then(super::tree::shortened))
    }
}
