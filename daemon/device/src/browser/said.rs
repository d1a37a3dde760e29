//! What an accessibility tree says of an element.

use std::collections::HashMap;

use afd_proto::vocabulary::Role;
use serde_json::Value;

/// A node of an accessibility tree.
pub struct Said<'a> {
    /// Role.
    pub role: &'a str,
    /// Name without the white space around it.
    pub name: &'a str,
    /// Name as the page has it.
    pub raw: &'a str,
    /// Value of a field; empty if it has none.
    pub value: String,
    /// States and other properties, by name.
    pub states: HashMap<&'a str, &'a Value>,
    /// Id of the node in the document, with the offset of its frame.
    pub element: i64,
}

impl<'a> Said<'a> {
    /// Reads a node. `offset` is added to its id.
    pub fn of(node: &'a Value, offset: i64) -> Self {
        let properties = node["properties"].as_array().into_iter().flatten();
        let states = properties.filter_map(|state| Some((state["name"].as_str()?, &state["value"]["value"]))).collect();
        let value = match &node["value"]["value"] {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        Self {
            role: node["role"]["value"].as_str().unwrap_or_default(),
            name: node["name"]["value"].as_str().unwrap_or_default().trim(),
            raw: node["name"]["value"].as_str().unwrap_or_default(),
            value,
            states,
            element: node["backendDOMNodeId"].as_i64().unwrap_or_default() + offset,
        }
    }

    /// Returns whether the element is a field for formatted text. Its content was typed.
    pub fn is_editor(&self) -> bool {
        self.states.get("editable").is_some_and(|kind| **kind == "richtext") && self.states.contains_key("focusable")
    }

    /// Returns how the node is shown.
    pub fn shown(&self) -> Shown {
        match shown(self.role) {
            Shown::Other if self.is_editor() => Shown::Input(Role::Field),
            shown => shown,
        }
    }

    /// Returns whether a state holds.
    pub fn has(&self, state: &str) -> bool {
        self.states.get(state).is_some_and(|value| **value == true || **value == "true")
    }

    /// Returns whether the element is on; `None` if it cannot be, or is partly on.
    pub fn checked(&self) -> Option<bool> {
        match self.states.get("checked").and_then(|state| state.as_str()) {
            Some("true") => Some(true),
            Some("false") => Some(false),
            _ => None,
        }
    }

    /// Returns the states of the element, as words.
    pub fn words(&self) -> String {
        let mut words = Vec::new();
        match self.states.get("checked").and_then(|state| state.as_str()) {
            Some("true") => words.push("checked"),
            Some("mixed") => words.push("partly checked"),
            Some(_) => words.push("not checked"),
            None => {}
        }
        match self.states.get("expanded") {
            Some(state) if **state == true => words.push("expanded"),
            Some(_) => words.push("collapsed"),
            None => {}
        }
        for (state, word) in [("selected", "selected"), ("required", "required"), ("pressed", "pressed")] {
            if self.has(state) {
                words.push(word);
            }
        }
        if self.has("invalid") {
            words.push("invalid");
        }
        words.join(", ")
    }
}

/// How a role is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// An element that takes input.
    Input(Role),
    /// A container, whose content is shown as separate elements.
    Structure(Role),
    /// Text or a picture.
    Content(Role),
    /// Only shown if it reacts to clicks or scrolls.
    Other,
}

/// Returns how a role is shown.
pub fn shown(role: &str) -> Shown {
    match role {
        "button" | "link" | "menuitem" | "tab" | "treeitem" | "PopUpButton" | "DisclosureTriangle" => {
            Shown::Input(Role::Button)
        }
        "option" | "MenuListOption" => Shown::Input(Role::Row),
        "textbox" | "searchbox" | "spinbutton" | "combobox" | "slider" | "Date" | "DateTime" | "InputTime"
        | "ColorWell" => Shown::Input(Role::Field),
        "checkbox" | "radio" | "switch" | "menuitemcheckbox" | "menuitemradio" => Shown::Input(Role::Switch),
        "list" | "listbox" | "grid" | "table" | "tree" | "feed" | "rowgroup" => Shown::Structure(Role::List),
        "dialog" | "alertdialog" | "navigation" | "banner" | "main" | "contentinfo" | "search" | "form" | "region"
        | "complementary" | "toolbar" | "menu" | "menubar" | "tablist" | "alert" | "status" => {
            Shown::Structure(Role::View)
        }
        "StaticText" | "heading" | "LabelText" | "caption" => Shown::Content(Role::Text),
        "image" | "img" | "graphics-document" => Shown::Content(Role::Image),
        _ => Shown::Other,
    }
}
