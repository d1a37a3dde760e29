//! Derives the roles and traits of Android elements from their classes, resource ids and flags.

use std::collections::HashMap;

use afd_proto::vocabulary::Role;
use afd_screen::page::snapshot::Flags;
use afd_screen::page::{Flag, Node, Trait, Traits};

/// Substrings that identify the class names of lists and grids.
const LISTS: &[&str] = &["RecyclerView", "ListView", "GridView"];
/// Substrings of class names that characterise the kind of page.
const LANDMARKS: &[&str] = &[
    "RecyclerView",
    "ListView",
    "ViewPager",
    "TabLayout",
    "Toolbar",
    "EditText",
    "WebView",
    "FrameLayout",
    "DialogTitle",
];
/// Substrings that identify the class names of elements whose content changes without user input.
const VOLATILE: &[&str] = &["ProgressBar", "Chronometer", "TextClock", "DigitalClock", "AnalogClock", "ViewFlipper"];
/// Substrings that identify the class names of controls whose value is set in steps.
const ADJUSTABLE: &[&str] = &["SeekBar", "Slider", "RatingBar", "Spinner", "NumberPicker"];
/// Names of resource ids that occur in every window.
const COMMON_IDS: &[&str] = &["content", "statusBarBackground", "navigationBarBackground", "action_bar_root"];
/// Names of the resource ids of browser address bars.
const ADDRESS_BARS: &[&str] = &[
    "url_bar",
    "mozac_browser_toolbar_url_view",
    "location_bar_edit_text",
    "url_field",
    "omnibarTextInput",
    "address_bar",
];
/// Prefix of resource ids that the Android system defines.
const SYSTEM: &str = "android:";

/// Sets the roles and traits of nodes from their classes, ids and flags.
pub fn describe(nodes: &mut [Node]) {
    // Results are cached, because a screen repeats the same few kinds of nodes.
    let mut known: HashMap<(&str, Option<&str>, Flags), (Role, Traits)> = HashMap::new();
    let meant: Vec<(Role, Traits)> = nodes
        .iter()
        .map(|node| {
            let kind = (node.class.as_str(), node.res_id.as_deref(), node.flags);
            *known.entry(kind).or_insert_with(|| (role(node), traits(node)))
        })
        .collect();
    for (node, (role, traits)) in nodes.iter_mut().zip(meant) {
        (node.role, node.traits) = (role, traits);
    }
}

fn role(node: &Node) -> Role {
    let any = |words: &[&str]| contains_any(&node.class, words);
    if node.is(Flag::Editable) || any(&["EditText"]) {
        Role::Field
    } else if any(&["Switch", "CheckBox", "RadioButton", "ToggleButton"]) {
        Role::Switch
    } else if node.is(Flag::Scrollable) || any(&["RecyclerView", "ListView", "ScrollView"]) {
        Role::List
    } else if any(&["WebView"]) {
        Role::Web
    } else if any(&["Image"]) {
        Role::Image
    } else if any(&["Button"]) {
        Role::Button
    } else if node.is(Flag::Clickable) && any(&["Layout", "ViewGroup", "CardView"]) {
        Role::Row
    } else if any(&["TextView"]) {
        Role::Text
    } else {
        Role::View
    }
}

fn traits(node: &Node) -> Traits {
    let class = |words: &[&str]| contains_any(&node.class, words);
    let id = node.id_name();
    let id_has = |word: &str| id.is_some_and(|id| id.contains(word));
    Traits::default()
        .with(Trait::List, class(LISTS))
        .with(Trait::Web, node.class.to_lowercase().contains("webview"))
        .with(Trait::Volatile, class(VOLATILE))
        .with(Trait::Landmark, class(LANDMARKS))
        .with(Trait::Bar, class(&["Toolbar"]) || id_has("toolbar") || id_has("action_bar"))
        .with(Trait::StaticText, class(&["TextView"]))
        .with(Trait::Title, id.is_some_and(|id| id.to_lowercase().contains("title")))
        .with(Trait::AddressBar, id.is_some_and(|id| ADDRESS_BARS.contains(&id)))
        .with(Trait::SystemId, node.res_id.as_deref().is_some_and(|id| id.starts_with(SYSTEM)))
        .with(Trait::CommonId, id.is_some_and(|id| COMMON_IDS.contains(&id)))
        .with(Trait::Adjustable, class(ADJUSTABLE))
}

fn contains_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use afd_screen::page::Rect;

    use super::*;

    fn node(class: &str, id: Option<&str>, flags: &[Flag]) -> Node {
        let mut node = Node {
            id: "node_1".into(),
            window: 0,
            parent: None,
            class: class.into(),
            text: None,
            desc: None,
            res_id: id.map(str::to_owned),
            bounds: Rect::default(),
            flags: flags.iter().fold(Flags::default(), |all, flag| all.with(*flag)),
            role: Role::View,
            traits: Traits::default(),
            password: false,
            truncated: false,
            checked: None,
        };
        describe(std::slice::from_mut(&mut node));
        node
    }

    #[test]
    fn roles_follow_flags_before_classes() {
        assert_eq!(node("TextView", None, &[Flag::Editable]).role, Role::Field);
        assert_eq!(node("SwitchCompat", None, &[]).role, Role::Switch);
        assert_eq!(node("View", None, &[Flag::Scrollable]).role, Role::List);
        assert_eq!(node("LinearLayout", None, &[Flag::Clickable]).role, Role::Row);
        assert_eq!(node("LinearLayout", None, &[]).role, Role::View);
    }

    #[test]
    fn traits_come_from_classes_and_ids() {
        let list = node("RecyclerView", Some("a.b:id/list"), &[]);
        assert!(list.has(Trait::List) && list.has(Trait::Landmark) && !list.has(Trait::SystemId));
        let title = node("AppCompatTextView", Some("android:id/title"), &[]);
        assert!(title.has(Trait::StaticText) && title.has(Trait::Title) && title.has(Trait::SystemId));
        assert!(node("EditText", Some("com.android.chrome:id/url_bar"), &[]).has(Trait::AddressBar));
        assert!(node("FrameLayout", Some("android:id/content"), &[]).has(Trait::CommonId));
        assert!(node("CustomWebview", None, &[]).has(Trait::Web));
    }
}
