//! Dialogs of pages, as windows with buttons. The browser draws them outside of the page, so their positions are
//! invented.

use afd_proto::vocabulary::Role;
use afd_screen::page::snapshot::Flags;
use afd_screen::page::{Flag, Node, Rect, Traits};

use super::tab::Dialog;

/// Bounds of the message.
pub const MESSAGE: Rect = Rect { left: 400, top: 20, right: 880, bottom: 60 };
/// Bounds of the field for an answer.
pub const ANSWER: Rect = Rect { left: 400, top: 60, right: 880, bottom: 100 };
/// Bounds of the button that accepts.
pub const ACCEPT: Rect = Rect { left: 640, top: 100, right: 760, bottom: 140 };
/// Bounds of the button that dismisses.
pub const DISMISS: Rect = Rect { left: 760, top: 100, right: 880, bottom: 140 };

/// Returns the elements of a dialog.
pub fn nodes(dialog: &Dialog) -> Vec<Node> {
    let enabled = Flags::default().with(Flag::Visible).with(Flag::Enabled);
    let node = |id: &str, role, text: &str, bounds, flags| Node {
        id: id.to_owned(),
        window: 0,
        parent: None,
        class: "dialog".to_owned(),
        text: Some(text.to_owned()).filter(|text| !text.is_empty()),
        desc: None,
        res_id: Some(id.to_owned()),
        bounds,
        flags,
        role,
        traits: Traits::default(),
        password: false,
        truncated: false,
        checked: None,
    };
    let button = |id, text, bounds| node(id, Role::Button, text, bounds, enabled.with(Flag::Clickable));
    let (yes, no) = match dialog.kind.as_str() {
        "beforeunload" => ("Leave", Some("Stay")),
        "alert" => ("OK", None),
        _ => ("OK", Some("Cancel")),
    };
    let mut nodes = vec![node("message", Role::Text, &dialog.message, MESSAGE, enabled)];
    if dialog.kind == "prompt" {
        let field = enabled.with(Flag::Editable).with(Flag::Clickable);
        nodes.push(node("answer", Role::Field, &dialog.text, ANSWER, field));
    }
    nodes.push(button("accept", yes, ACCEPT));
    nodes.extend(no.map(|no| button("dismiss", no, DISMISS)));
    nodes
}
