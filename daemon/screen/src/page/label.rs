//! Labels of refs. A list row without text of its own is labelled with the text of its children, for example "Wi-Fi,
//! Connected".

use afd_proto::vocabulary::Role;

use super::snapshot::{Flag, Node, Rect, Snapshot, Trait};
use super::{folding, mask};

/// The label of a node.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Label {
    /// First piece of text in the label; empty if the label is empty.
    pub title: String,
    /// Remaining pieces of text in the label, such as a subtitle.
    pub rest: Vec<String>,
}

impl Label {
    /// Returns the title and the remaining text, joined by commas.
    pub fn text(&self) -> String {
        std::iter::once(&self.title).chain(&self.rest).filter(|w| !w.is_empty()).cloned().collect::<Vec<_>>().join(", ")
    }

    /// Returns whether two labels belong to the same element: their titles are equal, and so is their remaining text
    /// after digits and times are masked.
    pub fn same_element(&self, other: &Label) -> bool {
        let masked = |l: &Label| l.rest.iter().map(|w| mask::digits(w)).collect::<Vec<_>>();
        self.title == other.title && masked(self) == masked(other)
    }
}

/// Returns a node's own text or description. Text typed into a field does not count, nor does text that consists only
/// of icon characters.
pub(super) fn own_words(node: &Node) -> Option<&str> {
    let text = if node.is(Flag::Editable) { None } else { node.text.as_deref() };
    let words = |text: &&str| !folding::is_icon(text);
    text.filter(words).or(node.desc.as_deref().filter(words))
}

/// Returns whether a node is a container whose rows are separate elements although the rows have no flags that say so:
/// a scroll container, a list, or a node with stacked rows that takes only long presses.
fn has_rows(snapshot: &Snapshot, index: usize) -> bool {
    let node = &snapshot.nodes[index];
    if node.is(Flag::Scrollable) || node.has(Trait::List) {
        return true;
    }
    if node.is(Flag::Clickable) || !node.is(Flag::LongClickable) {
        return false;
    }
    stacks_rows(snapshot, index)
}

/// Returns whether a node contains at least three pieces of text, one below the other and spaced like rows, not like
/// the lines of one card. Each gap must be at least three quarters of the height of the text above it.
pub(super) fn stacks_rows(snapshot: &Snapshot, index: usize) -> bool {
    let texts: Vec<Rect> = snapshot
        .subtree(index)
        .skip(1)
        .filter(|i| own_words(&snapshot.nodes[*i]).is_some())
        .map(|i| snapshot.nodes[i].bounds)
        .collect();
    let apart = |pair: &[Rect]| pair[1].top - pair[0].bottom >= pair[0].height() * 3 / 4;
    texts.len() > 2 && texts.windows(2).all(apart)
}

/// Words that describe the condition of an element, in several languages. After a title, they count as details.
const CONDITIONS: &[&str] = &[
    "on",
    "off",
    "checked",
    "not checked",
    "partly checked",
    "pressed",
    "required",
    "invalid",
    "unchecked",
    "selected",
    "not selected",
    "enabled",
    "disabled",
    "connected",
    "disconnected",
    "not connected",
    "connecting",
    "expanded",
    "collapsed",
    "muted",
    "unmuted",
    "active",
    "inactive",
    "new",
    "unread",
    "ein",
    "aus",
    "an",
    "aktiviert",
    "deaktiviert",
    "verbunden",
    "nicht verbunden",
    "activé",
    "désactivé",
    "connecté",
    "activado",
    "desactivado",
    "conectado",
    "attivo",
    "disattivo",
    "开",
    "关",
    "已开启",
    "已关闭",
    "已连接",
    "オン",
    "オフ",
];

/// Returns whether text states only a condition or a count, such as `ON`, `3 new` or `99+`.
fn is_condition(text: &str) -> bool {
    let text = text.trim().trim_end_matches(['.', '…', '!']).to_lowercase();
    let counted = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '+' | '%' | ' '));
    let after_number = counted.len() < text.len() && (counted.is_empty() || is_counted_thing(counted));
    CONDITIONS.contains(&text.as_str()) || after_number
}

/// Returns whether text lists only conditions, such as `not checked, required`.
pub fn is_state(text: &str) -> bool {
    text.split(", ").all(|part| CONDITIONS.contains(&part.trim().to_lowercase().as_str()))
}

/// Returns whether words can name what a badge counts, such as `new notifications`, `unread` or `items`: at most two
/// words that consist of letters.
fn is_counted_thing(text: &str) -> bool {
    text.split_whitespace().count() <= 2 && text.chars().all(|c| c.is_alphabetic() || c == ' ')
}

/// Splits an element's own text into its title and its details. The parts after the first comma are details if all of
/// them are conditions and the first part is not.
fn split(own: &str) -> Label {
    let mut parts = own.split(", ");
    let first = parts.next().unwrap_or_default();
    let rest: Vec<String> = parts.map(str::to_owned).collect();
    if !rest.is_empty() && rest.iter().all(|part| is_condition(part)) && !is_condition(first) {
        return Label { title: first.to_owned(), rest };
    }
    Label { title: own.to_owned(), rest: Vec::new() }
}

/// Splits the text of a switch whose last word is its state.
fn split_state(own: &str) -> Label {
    let (title, state) = own.trim_end().rsplit_once(char::is_whitespace).unwrap_or((own, ""));
    let title = title.trim_end().trim_end_matches([':', ',', '-']).trim_end();
    let rest = [state].into_iter().filter(|state| !state.is_empty()).map(str::to_owned).collect();
    Label { title: title.to_owned(), rest }
}

/// Returns the label of a node: its own text or description, or else the text of its visible descendants that are not
/// inside another ref. Scroll containers, lists and fields have only their own text or description.
pub fn of(snapshot: &Snapshot, index: usize) -> Label {
    let node = &snapshot.nodes[index];
    if let Some(own) = own_words(node) {
        // The state of a switch without a name is no name.
        if node.role == Role::Switch && node.text.is_none() && is_state(own) {
            return Label { title: String::new(), rest: vec![own.to_owned()] };
        }
        return if node.has(Trait::EndsWithState) { split_state(own) } else { split(own) };
    }
    if node.is(Flag::Editable) || has_rows(snapshot, index) {
        return Label::default();
    }
    let mut words = Vec::new();
    for i in snapshot.subtree(index).skip(1) {
        let below = &snapshot.nodes[i];
        let inside_other =
            below.is_ref() || snapshot.ancestors(i).take_while(|a| *a != index).any(|a| snapshot.nodes[a].is_ref());
        if !inside_other
            && below.is(Flag::Visible)
            && let Some(word) = own_words(below)
        {
            words.push(word.to_owned());
        }
    }
    let mut words = words.into_iter();
    Label { title: words.next().unwrap_or_default(), rest: words.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_in_the_text_of_a_switch_is_no_part_of_its_title() {
        for (text, title, state) in [
            ("Delivery texts off", "Delivery texts", "off"),
            ("Wi-Fi: ON", "Wi-Fi", "ON"),
            ("WLAN - aus", "WLAN", "aus"),
        ] {
            assert_eq!(split_state(text), Label { title: title.to_owned(), rest: vec![state.to_owned()] });
        }
    }

    #[test]
    fn conditions_and_counters_are_no_part_of_a_title() {
        let split = |text| {
            let label = split(text);
            (label.title.clone(), label.rest.join("|"))
        };
        let pair = |title: &str, rest: &str| (title.to_owned(), rest.to_owned());
        assert_eq!(split("Wi-Fi, Connected"), pair("Wi-Fi", "Connected"));
        assert_eq!(split("Do Not Disturb, ON"), pair("Do Not Disturb", "ON"));
        assert_eq!(split("Inbox, 3 new"), pair("Inbox", "3 new"));
        assert_eq!(split("Mail, selected, 99+"), pair("Mail", "selected|99+"));
        // A part that is not a known condition may be the only difference between two elements.
        for whole in ["Hello, Anna", "Paris, France", "ON", "Display", "On, off", "Milk, 3 for 2 euros a piece"] {
            assert_eq!(split(whole), pair(whole, ""), "{whole}");
        }
    }
}
