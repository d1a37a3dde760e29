//! Keeps a click from an element that it was not meant for. A page can change at any time: between the last check and
//! the click, another element may have come to the place, or the element may have become another one.
//!
//! Before the click, a listener is added to the windows of the page. It sees the events of the click before the page's
//! elements do, and stops all of them if the first one is not for the element, or if the text of the element is not what
//! it was. Listeners that the page itself added to a window earlier are not kept from seeing the events.

use afd_screen::page::mask;
use serde_json::{Value, json};

use super::cdp::CdpError;
use super::input::Page;
use crate::DriverError;

/// Function of an element that adds the guard. `hit` is the node that was at the point; `digits` is whether the numbers
/// in the text of the element count.
const ADD: &str = "function(hit, digits) {
    const key = Symbol.for('afd.guard');
    const el = this.nodeType === 1 ? this : this.parentElement;
    const view = el?.ownerDocument?.defaultView;
    if (!view) return;
    const text = () => {
        const all = (el.getAttribute('aria-label') || '') + '|' + el.textContent.slice(0, 2000);
        return digits ? all : all.replace(/[0-9]+/g, '#');
    };
    let before = text();
    const kinds = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu'];
    const views = [], guard = {stopped: ''}, since = Date.now();
    let pressed = false;
    const check = (event, inside) => {
        if (!event.isTrusted) return;
        // What could not remove the guard is gone, such as a frame.
        if (view.closed || Date.now() - since > 10000) return guard.remove();
        const path = event.composedPath();
        const label = path.find(node => node.tagName === 'LABEL');
        // A page may replace the element when it is pressed.
        const is = inside && (el.isConnected || pressed)
            && (path.includes(el) || path[0] === hit || label && (label.control === el || label.contains(el)));
        const same = el.matches('input,textarea,select,[contenteditable]') || text() === before;
        if (!guard.stopped && is && same) {
            pressed = true;
            return;
        }
        // The release of a press may be anywhere.
        if (!guard.stopped && pressed && same && !/click|menu/.test(event.type)) return;
        guard.stopped = guard.stopped || (pressed ? 'late' : is ? 'changed' : 'covered');
        event.preventDefault();
        event.stopImmediatePropagation();
    };
    // What the page itself changes while it handles an event is no other element.
    const after = () => { before = text() };
    const inner = event => check(event, true), outer = event => check(event, false);
    guard.remove = () => {
        for (const [view, listener] of views) kinds.forEach(kind => { view.removeEventListener(kind, listener, true); view.removeEventListener(kind, after) });
        if (view[key] === guard) delete view[key];
    };
    view[key]?.remove();
    view[key] = guard;
    for (let at = view, listener = inner;; at = at.parent, listener = outer) {
        try {
            kinds.forEach(kind => EventTarget.prototype.addEventListener.call(at, kind, listener, true));
            kinds.forEach(kind => EventTarget.prototype.addEventListener.call(at, kind, after));
        } catch { break }
        views.push([at, listener]);
        if (at === at.parent) break;
    }
}";

/// Function of an element that removes the guard. Returns why it stopped the click; empty if it did not.
const REMOVE: &str = "function() {
    const guard = this.ownerDocument?.defaultView?.[Symbol.for('afd.guard')];
    guard?.remove();
    return guard?.stopped;
}";

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
    /// site. `hit` is the node at the point.
    ///
    /// # Errors
    /// If the element has another name than before.
    pub(super) async fn guard(&self, hit: Option<i64>) -> Result<Vec<Guard>, DriverError> {
        let Some(wanted) = self.wanted else { return Ok(Vec::new()) };
        let (node, hit, name, owner) = {
            let seen = self.running.seen.lock();
            let name = seen.name_of(wanted).map(|(name, is_only)| (name.to_owned(), is_only));
            let hit = hit.and_then(|hit| seen.layout.node_of(hit));
            (seen.layout.node_of(wanted), hit, name, seen.owner_of(wanted).and_then(|owner| seen.layout.node_of(owner)))
        };
        let Some((session, node)) = node else { return Ok(Vec::new()) };
        let digits = name.as_ref().is_some_and(|(_, is_only)| !is_only);
        let hit = hit.filter(|(of, _)| *of == session).map(|(_, hit)| hit);
        let mut guards = vec![self.add(session.clone(), node, hit, digits).await?];
        if let Some((session, owner)) = owner {
            guards.push(self.add(session, owner, None, digits).await?);
        }
        if let Some((name, is_only)) = name
            && let Some(now) = self.name_now(&session, node).await?
            && now != name
            && !(is_only && mask::digits(&now) == mask::digits(&name))
        {
            self.remove(guards).await?;
            return Err(changed("it has another name now"));
        }
        Ok(guards)
    }

    async fn add(&self, session: String, node: i64, hit: Option<i64>, digits: bool) -> Result<Guard, DriverError> {
        let gone = || changed("it is gone");
        let object = self.object(&session, node).await?.ok_or_else(gone)?;
        let hit = match hit {
            Some(hit) => self.object(&session, hit).await?,
            None => None,
        };
        let hit = hit.map_or(json!({"value": null}), |hit| json!({"objectId": hit}));
        let arguments = json!([hit, {"value": digits}]);
        let add = json!({"objectId": object, "functionDeclaration": ADD, "arguments": arguments, "silent": true});
        self.ask(&session, "Runtime.callFunctionOn", add).await?;
        Ok(Guard { session, object })
    }

    /// Removes guards.
    ///
    /// # Errors
    /// If one of them has stopped the click.
    pub(super) async fn remove(&self, guards: Vec<Guard>) -> Result<(), DriverError> {
        let mut stopped = Ok(());
        for Guard { session, object } in guards {
            let remove =
                json!({"objectId": object, "functionDeclaration": REMOVE, "returnByValue": true, "silent": true});
            // A page that was left has no guard.
            let done = self.ask(&session, "Runtime.callFunctionOn", remove).await.ok().flatten();
            match done.as_ref().and_then(|done| done["result"]["value"].as_str()) {
                Some("changed") => {
                    stopped = Err(changed("it has changed"));
                }
                Some("late") => {
                    let message = "the page changed between the press and the click, which it did not get".into();
                    stopped = Err(DriverError::Refused { status: None, message });
                }
                Some("covered") => stopped = Err(DriverError::Covered("another element".to_owned())),
                _ => {}
            }
        }
        stopped
    }

    async fn ask(&self, session: &str, method: &str, params: Value) -> Result<Option<Value>, DriverError> {
        self.running.ask_frame(&self.tab.session, session, method, params).await.map_err(CdpError::of_read)
    }

    /// Returns a node as an object of the page; `None` if it is gone.
    async fn object(&self, session: &str, node: i64) -> Result<Option<Value>, DriverError> {
        let params = json!({"backendNodeId": node, "objectGroup": "afd"});
        match self.ask(session, "DOM.resolveNode", params).await {
            Ok(found) => Ok(found.map(|mut found| found["object"]["objectId"].take()).filter(Value::is_string)),
            Err(DriverError::Refused { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the name of a node as it is now; `None` if that cannot be known.
    async fn name_now(&self, session: &str, node: i64) -> Result<Option<String>, DriverError> {
        let params = json!({"backendNodeId": node, "fetchRelatives": false});
        let found = match self.ask(session, "Accessibility.getPartialAXTree", params).await {
            Err(DriverError::Refused { .. }) => None,
            found => found?,
        };
        let name = found.as_ref().and_then(|found| found["nodes"][0]["name"]["value"].as_str());
        Ok(name.and_then(super::tree::shortened))
    }
}
