//! How the tour's agent reads outlines.

use std::collections::HashSet;

/// Words in the labels of elements that lead to settings. People open these first to change something.
const SETTINGS: [&str; 2] = ["settings", "preferences"];

/// Returns the labels of the rows and buttons of an outline that may be opened, without the values that rows show. Risky
/// elements are left out.
fn openable(outline: &str) -> impl Iterator<Item = &str> {
    outline.lines().filter(|line| !line.ends_with(" risky")).filter_map(|line| {
        let (_, rest) = line.split_once(" row \"").or_else(|| line.split_once(" button \""))?;
        rest.split('"').next()?.split(", ").next()
    })
}

/// Returns the label of the element to open next: of those that are not in `known`, one that shares a word with the
/// setting, else one that leads to settings, else the first.
pub(super) fn next(outline: &str, setting: &str, known: &HashSet<String>) -> Option<String> {
    let words = |text: &str| text.to_lowercase().split(' ').map(str::to_owned).collect::<HashSet<_>>();
    let has = |label: &str, wanted: &HashSet<String>| !words(label).is_disjoint(wanted);
    let open: Vec<&str> = openable(outline).filter(|label| !known.contains(*label)).collect();
    let (named, leading) = (words(setting), SETTINGS.map(str::to_owned).into());
    let best = open.iter().find(|label| has(label, &named)).or_else(|| open.iter().find(|label| has(label, &leading)));
    best.or(open.first()).map(|label| (*label).to_owned())
}

/// Returns the labels of an outline that lead elsewhere.
pub(super) fn labels(outline: &str) -> HashSet<String> {
    openable(outline).map(str::to_owned).collect()
}

/// Returns the title of the page.
pub(super) fn title(outline: &str) -> &str {
    outline.lines().next().and_then(|line| line.split('"').nth(1)).unwrap_or_default()
}

/// Returns whether a line of an outline has an element whose label begins with this title.
pub(super) fn has_label(line: &str, title: &str) -> bool {
    line.split('"').nth(1).is_some_and(|label| label.starts_with(title))
}

/// Returns whether an outline has an element whose label begins with this title.
pub(super) fn has(outline: &str, title: &str) -> bool {
    outline.lines().skip(1).any(|line| has_label(line, title))
}

/// Returns the state that a switch shows, from the line of an outline or a list of changes.
pub(super) fn state(line: &str) -> Option<&str> {
    line.split('"').nth(1)?.rsplit([' ', ',']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "page \"My account - Shop\" chromium\n@n1 button \"Orders\"\n@n2 button \"Sign out\" risky\n\
                        @n3 row \"Data and safety, who sees what\"\n@n4 button \"Settings\"\n@n5 switch \"Texts, off\"";

    #[test]
    fn the_agent_opens_what_fits_then_settings_then_the_rest() {
        let known = |labels: &[&str]| labels.iter().map(|label| (*label).to_owned()).collect();
        assert_eq!(next(PAGE, "Share data", &known(&[])).as_deref(), Some("Data and safety"));
        assert_eq!(next(PAGE, "Texts", &known(&[])).as_deref(), Some("Settings"));
        assert_eq!(next(PAGE, "Texts", &known(&["Settings"])).as_deref(), Some("Orders"));
        assert_eq!(next(PAGE, "Texts", &labels(PAGE)), None);
    }

    #[test]
    fn switches_are_found_by_their_titles_and_show_a_state() {
        assert!(has(PAGE, "Texts") && !has(PAGE, "My account"));
        assert_eq!(title(PAGE), "My account - Shop");
        assert_eq!(state("~ @n5 switch \"Texts, off\""), Some("off"));
        assert_eq!(state("+ @n9 switch \"Delivery texts on\" = \"checked\""), Some("on"));
    }
}
