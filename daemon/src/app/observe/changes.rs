//! What has changed on a page since an earlier observation, as lines of an outline.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::screen_capture::ScreenCapture;
use afd_experience::memory::views::ShownRefs;
use afd_screen::page::outline::{self, Item};
use afd_screen::page::published::PageTool;
use afd_screen::page::risk::RiskRules;
use afd_screen::page::{Ref, refs};

/// Maximum length of the name of a tool that is gone, in characters.
const MAX_TOOL: usize = 60;

/// The changes of a page.
pub(super) struct Changes {
    different: Vec<String>,
    came: Vec<String>,
    gone: Vec<String>,
    /// Indices of the refs in the lines of what came or is different.
    pub at: HashSet<usize>,
}

impl Changes {
    /// Compares the items of a capture, whose refs carry the aliases of an earlier observation, with that observation.
    pub(super) fn since(before: &ShownRefs, capture: &ScreenCapture, items: &[Item], rules: &RiskRules) -> Self {
        let old_refs = before.snapshot.refs();
        let numbers: HashMap<usize, u32> = before.numbered().map(|(number, r)| (r.node, number)).collect();
        let old = outline::items(&before.snapshot, old_refs, before.place.title.as_deref());
        let old = rules.mark(&before.snapshot, old);
        let old_alias = |item: &Item| item.at.and_then(|at| numbers.get(&old_refs[at].node)).map(|n| refs::alias(*n));
        let mut by_alias: HashMap<String, String> = HashMap::new();
        let mut texts: HashMap<String, usize> = HashMap::new();
        for item in &old {
            match old_alias(item) {
                Some(alias) => drop(by_alias.insert(alias.clone(), item.line(Some(&alias)))),
                None => *texts.entry(item.line(None)).or_default() += 1,
            }
        }
        let mut changes = Self { different: Vec::new(), came: Vec::new(), gone: Vec::new(), at: HashSet::new() };
        for item in items {
            let alias = item.at.map(|at| capture.alias(at));
            let line = item.line(alias.as_deref());
            match alias.and_then(|alias| by_alias.remove(&alias)) {
                Some(before) if before == line => continue,
                Some(_) => changes.different.push(line),
                // Elements that the session did not receive have no alias in the earlier observation.
                None => match texts.get_mut(&item.line(None)) {
                    Some(count) if *count > 0 => {
                        *count -= 1;
                        continue;
                    }
                    _ => changes.came.push(line),
                },
            }
            changes.at.extend(item.at);
        }
        let mut aliases = Vec::new();
        for item in &old {
            match old_alias(item) {
                // The session knows the element of the alias, so the alias is enough.
                Some(alias) if by_alias.remove(&alias).is_some() => aliases.push(alias),
                Some(_) => {}
                // The session does not know what it did not receive.
                None if item.at.is_some() => {}
                None => {
                    let line = item.line(None);
                    if let Some(count) = texts.get_mut(&line).filter(|count| **count > 0) {
                        *count -= 1;
                        changes.gone.push(line);
                    }
                }
            }
        }
        if !aliases.is_empty() {
            changes.gone.push(ranges(&aliases));
        }
        let (then, now) = (&before.snapshot.tools, &capture.snapshot().tools);
        changes.came.extend(now.iter().filter(|tool| !then.contains(tool)).map(PageTool::line));
        let is_gone = |tool: &&PageTool| now.iter().all(|one| one.name != tool.name);
        changes
            .gone
            .extend(then.iter().filter(is_gone).map(|tool| format!("tool {}", outline::quoted(&tool.name, MAX_TOOL))));
        changes
    }

    /// Returns the lines: different (`~`), added (`+`) and removed (`-`).
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (sign, lines) in [('~', &self.different), ('+', &self.came), ('-', &self.gone)] {
            for line in lines {
                let _ = write!(text, "\n{sign} {line}");
            }
        }
        text
    }
}

/// Returns whether a capture shows the same page as an earlier observation. On another page, the changes would say less
/// than the whole outline.
pub(super) fn is_same_page(before: &ShownRefs, capture: &ScreenCapture) -> bool {
    let (then, now) = (&before.place, capture.place());
    then.page_key.is_some() && then.activity == now.activity && then.title == now.title && then.dialog == now.dialog
}

/// Returns the numbers of the refs of a capture that were shown before, on a device whose elements keep their node ids.
pub(super) fn same_elements(known: &[(u32, &Ref)], before: &ShownRefs, capture: &ScreenCapture) -> HashMap<usize, u32> {
    let id = |r: &Ref| before.snapshot.nodes[r.node].id.as_str();
    let by_id: HashMap<&str, (u32, &Ref)> = known.iter().map(|(number, r)| (id(r), (*number, *r))).collect();
    let same = |r: &Ref| {
        let (number, then) = by_id.get(capture.snapshot().nodes[r.node].id.as_str())?;
        r.label.same_element(&then.label).then_some((r.node, *number))
    };
    capture.refs().iter().filter_map(same).collect()
}

/// Returns the index of the first item after those that were listed in an earlier observation.
pub(super) fn continued(before: &ShownRefs, capture: &ScreenCapture, items: &[Item]) -> usize {
    let old_refs = before.snapshot.refs();
    let numbers: HashMap<usize, u32> = before.numbered().map(|(number, r)| (r.node, number)).collect();
    let old = outline::items(&before.snapshot, old_refs, before.place.title.as_deref());
    let mut listed = old.iter().take(before.rows).rev();
    let last = listed.find_map(|item| numbers.get(&old_refs[item.at?].node));
    let is_last = |item: &Item| item.at.is_some_and(|at| last == capture.numbers.get(at));
    // What was above may have come or gone since. If the last element has gone, only its position is known.
    items.iter().position(is_last).filter(|_| last.is_some()).map_or(before.rows.min(items.len()), |at| at + 1)
}

/// Joins aliases with spaces. Three or more consecutive aliases become a range: `@n2 @n7-@n11`.
fn ranges(aliases: &[String]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in aliases.iter().filter_map(|alias| refs::number_of(alias)) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let text = |(first, last): (u32, u32)| match last - first {
        0 => refs::alias(first),
        1 => format!("{} {}", refs::alias(first), refs::alias(last)),
        _ => format!("{}-{}", refs::alias(first), refs::alias(last)),
    };
    runs.into_iter().map(text).collect::<Vec<_>>().join(" ")
}
