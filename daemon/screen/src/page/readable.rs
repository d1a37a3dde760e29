//! The text of a page, to be read: without aliases and roles, one line for each text or element.

use super::outline::{Item, Name, plain};

/// Returns the lines of the text of elements. Headings begin with `# `, and what an element contains follows its name.
/// Characters that change how a line is displayed are escaped.
pub fn lines(items: &[Item]) -> Vec<String> {
    items.iter().filter_map(line).collect()
}

fn line(item: &Item) -> Option<String> {
    let name = match (&item.name, item.label.is_empty()) {
        (_, false) => item.label.as_str(),
        (Some(Name::Caption(caption)), true) => caption,
        (_, true) => "",
    };
    let text = match (&item.value, name) {
        (None, "") => return None,
        (Some(value), "") => value.clone(),
        (None, name) => name.to_owned(),
        (Some(value), name) => format!("{name}: {value}"),
    };
    Some(format!("{}{}", if item.heading { "# " } else { "" }, plain(&text)))
}

#[cfg(test)]
mod tests {
    use afd_proto::vocabulary::Role;

    use super::*;

    #[test]
    fn a_text_is_one_line_that_steers_nothing() {
        let item = |label: &str, value: Option<&str>, heading| Item {
            node: 0,
            depth: 0,
            at: None,
            role: Role::Text,
            label: label.to_owned(),
            id: None,
            name: None,
            value: value.map(str::to_owned),
            disabled: false,
            heading,
            risky: false,
        };
        let items = [
            item("Tea \"green\"", None, true),
            item("Name", Some("Zoë"), false),
            item("", None, false),
            item("a\nb\u{202e}c", None, false),
        ];
        assert_eq!(lines(&items), ["# Tea \"green\"", "Name: Zoë", "a\\nb\\u{202e}c"]);
    }
}
