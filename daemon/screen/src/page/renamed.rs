//! Finds what an element is called after an update of its app, by the texts around it.
//!
//! The texts of the page as it was and of the page as it is, both in reading order, are aligned at those that they have
//! in common. Between two common texts, as many texts on both sides correspond to each other in order. If their numbers
//! differ, nothing is said.

use std::collections::HashSet;

use super::mask;

/// Maximum number of texts of a page that are compared. As many are known of a page.
const MAX_TEXTS: usize = 50;

/// Returns the text that stands where `name` stood on the page before; `None` if that is not clear, if the page still
/// has `name`, or if the text in its place stood elsewhere on the page before. `before` may lack the texts that change
/// often. `titles` are the texts on the page now that are titles of elements.
pub fn successor(before: &[String], after: &[String], titles: &HashSet<&str>, name: &str) -> Option<String> {
    let old: Vec<String> = before.iter().take(MAX_TEXTS).map(|text| mask::digits(text)).collect();
    let now: Vec<(&String, String)> = after.iter().take(MAX_TEXTS).map(|text| (text, mask::digits(text))).collect();
    // Values may have changed since, and only one of the two lists has them then.
    let steady = now.iter().filter(|(text, masked)| old.contains(masked) || titles.contains(text.as_str())).cloned();
    in_place_of(&old, &now, name).or_else(|| in_place_of(&old, &steady.collect::<Vec<_>>(), name))
}

fn in_place_of(old: &[String], now: &[(&String, String)], name: &str) -> Option<String> {
    let new: Vec<&String> = now.iter().map(|(_, masked)| masked).collect();
    let name = mask::digits(name);
    let at = old.iter().position(|text| *text == name).filter(|_| !new.contains(&&name))?;
    let anchors = common(old, &new);
    let last = anchors.iter().rfind(|(i, _)| *i < at).map_or((0, 0), |(i, j)| (i + 1, j + 1));
    let next = anchors.iter().find(|(i, _)| *i > at).copied().unwrap_or((old.len(), new.len()));
    let is_as_long = next.0 - last.0 == next.1 - last.1;
    let found = is_as_long.then(|| last.1 + (at - last.0))?;
    (!old.contains(new[found])).then(|| now[found].0.clone())
}

/// Returns the indices of a longest common subsequence of two lists.
fn common(a: &[String], b: &[&String]) -> Vec<(usize, usize)> {
    let mut length = vec![vec![0u16; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            length[i][j] = match a[i] == *b[j] {
                true => length[i + 1][j + 1] + 1,
                false => length[i + 1][j].max(length[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut found) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i] == *b[j] {
            found.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if length[i + 1][j] >= length[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(all: &str) -> Vec<String> {
        all.split('/').map(str::to_owned).collect()
    }

    fn now(before: &str, after: &str, name: &str) -> Option<String> {
        successor(&texts(before), &texts(after), &HashSet::new(), name)
    }

    #[test]
    fn a_renamed_text_is_found_between_the_texts_that_stayed() {
        let before = "Settings/Profile/Notifications/Sounds/Data and storage/1.3 GB used/Dark theme/Help";
        let after = "Preferences/Profile/Alerts/Sounds/Network and storage/1.4 GB used/Night colours/Support";
        assert_eq!(now(before, after, "Data and storage").as_deref(), Some("Network and storage"));
        assert_eq!(now(before, after, "Notifications").as_deref(), Some("Alerts"));
        assert_eq!(now(before, after, "Help").as_deref(), Some("Support"));
        assert_eq!(now(before, after, "Sounds"), None, "it is still there");
    }

    #[test]
    fn a_page_in_another_language_corresponds_in_order_if_it_has_as_many_texts() {
        assert_eq!(now("More/Timers/Converter", "Mehr/Wecker/Umrechner", "Converter").as_deref(), Some("Umrechner"));
        assert_eq!(now("More/Timers/Converter", "Mehr/Wecker/Neu/Umrechner", "Converter"), None);
    }

    #[test]
    fn a_text_that_moved_has_not_taken_the_place_of_another() {
        assert_eq!(now("A/Tickets/B/Notifications", "A/Notifications/B", "Tickets"), None);
        assert_eq!(now("A/Tickets/B", "A/B", "Tickets"), None);
        assert_eq!(now("A/Tickets/B", "A/News/Offers/B", "Tickets"), None);
    }

    #[test]
    fn values_that_are_not_known_of_the_page_before_do_not_count() {
        let (before, after) = (texts("Timers/Tea/Egg/Rice"), texts("Wecker/L\u{e4}uft: keiner/Tee/Ei/Reis"));
        let titles = HashSet::from(["Wecker", "Tee", "Ei", "Reis"]);
        assert_eq!(successor(&before, &after, &titles, "Egg").as_deref(), Some("Ei"));
    }
}
