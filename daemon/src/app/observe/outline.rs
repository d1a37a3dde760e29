//! Observations as outlines: the page, a dialog over it, the elements with knowledge from memory, and notes below; or
//! the changes since an earlier observation.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::ops::Range;

use afd_proto::observe::{Context, DEFAULT_ROWS, Element, Format};
use afd_proto::vocabulary::{HintsWanted, ObservationSource};

use super::part::PagePart;
use super::screen_capture::ScreenCapture;
use crate::app::{Call, Result};
use afd_base::task::over_nodes;
use afd_experience::memory::views::ShownRefs;
use afd_screen::page::outline::{self, Item, quoted};
use afd_screen::page::{Ref, WindowKind, mask, refs};

/// Maximum length of the notes below an outline, in characters.
const MAX_NOTES: usize = 600;
/// Value of `since` for the newest observation with refs that the session received.
const LAST: &str = "last";
/// Maximum length of a page's name, in characters.
const MAX_NAME: usize = 60;

/// Requested form of an observation.
#[derive(Debug, Clone, Default)]
pub(in crate::app) struct Shape {
    /// Requested format; `None` if the call does not set one.
    pub format: Option<Format>,
    /// Id of the observation since which changes are requested.
    pub since: Option<String>,
    /// Which hints are requested; `None` if the call does not say.
    pub hints: Option<HintsWanted>,
    /// Maximum number of elements in the outline.
    pub max_rows: Option<u32>,
    /// Which part of the page is requested.
    pub part: PagePart,
    /// Whether the observation belongs to the response of an action, which reports separately whether anything changed.
    pub after_action: bool,
}

impl Shape {
    /// Returns whether a form other than screen rows and refs is requested.
    pub(in crate::app) fn is_outline(&self) -> bool {
        self.format.is_some() || self.since.is_some() || self.part.is_some()
    }
}

impl Call {
    /// Records a capture, and returns it in the given form. If the session asks for changes, or for more of what it
    /// received, elements keep their aliases.
    ///
    /// # Errors
    /// If there is no such part of the page.
    pub(in crate::app) async fn shaped(
        &self,
        capture: &mut ScreenCapture,
        source: ObservationSource,
        shape: &Shape,
    ) -> Result<Context> {
        let before = self.core.experience.views.shown(self.session_id, self.device_id);
        let is_asked = |b: &ShownRefs| match &shape.since {
            Some(since) => since == LAST || *since == b.observation,
            None => shape.part.more,
        };
        // On another page, alias numbering starts again.
        let before = before.filter(|b| is_asked(b) && is_same_page(b, capture));
        let wants_whole = shape.part.whole
            || shape.part.within.is_some() && self.device().knows_elements()
            || before.as_ref().is_some_and(|b| b.whole);
        let whole_page = if wants_whole { capture.whole_page() } else { None };
        let before = before.filter(|b| b.whole == whole_page.is_some());
        let mut shown = whole_page.clone().unwrap_or_else(|| capture.clone());
        if let Some(before) = &before {
            let known: Vec<(u32, &_)> = before.numbered().collect();
            let same =
                if self.device().knows_elements() { same_elements(&known, before, &shown) } else { HashMap::new() };
            shown.numbers = outline::carried_numbers(shown.refs(), &known, &same);
        }
        let items = over_nodes(shown.snapshot().nodes.len(), || items(&shown));
        let items = shape.part.restrict(&shown, items)?;
        let max = shape.max_rows.unwrap_or(DEFAULT_ROWS) as usize;
        let from = before.as_ref().filter(|_| shape.part.more).map_or(0, |b| b.rows).min(items.len());
        let rows = from..items.len().min(from.saturating_add(max));
        // What was returned before keeps its aliases. Changes are not truncated, so all elements keep theirs.
        let is_diff = before.is_some() && !shape.part.more;
        keep_aliases_of(&mut shown, &items[..if is_diff { items.len() } else { rows.end }]);
        capture.take_numbers(&shown);
        self.record_and_learn(capture, source, None).await;
        let seen =
            if shape.part.within.is_some() { 0 } else { before.as_ref().map_or(rows.end, |b| b.rows.max(rows.end)) };
        let received = shown.shown_refs(whole_page.is_some(), seen);
        self.core.experience.views.show(self.session_id, self.device_id, received);
        let mut context = self.with_hints(capture, shape.hints, capture.refs().len()).await;
        if shape.format == Some(Format::Rows) {
            context.elements = Some(elements(&shown, &items[rows]));
            return Ok(context);
        }
        let all_hints = shape.hints.is_some_and(HintsWanted::all);
        let whole = || whole(&shown, &items, &context, (rows.clone(), true), all_hints);
        let changes = before
            .filter(|_| !shape.part.more)
            .map(|b| (changes(&b, &shown, &items, (&context, shape.after_action)), b.observation.clone()));
        // The changes after an action may be longer than the whole page.
        let (outline, since) = match changes {
            Some((changes, _)) if shape.after_action && whole().len() < changes.len() => (whole(), None),
            Some((changes, since)) => (changes, Some(since)),
            None => (whole(), None),
        };
        context.since = since;
        context.outline = Some(outline);
        Ok(context)
    }
}

impl Call {
    /// Returns the outline of a capture that was recorded before. It contains aliases only for the session that may use
    /// them.
    pub(in crate::app) async fn outline_of(&self, capture: &ScreenCapture) -> String {
        let context = self.with_hints(capture, Some(HintsWanted::Chosen(false)), 0).await;
        let shown = self
            .core
            .experience
            .views
            .shown(self.session_id, self.device_id)
            .is_some_and(|s| s.observation == capture.uid);
        let shown = shown && capture.reading.inputs == self.device().inputs();
        let items = items(capture);
        let rows = 0..items.len().min(DEFAULT_ROWS as usize);
        whole(capture, &items, &context, (rows, shown), false)
    }
}

/// Returns the numbers of the refs of a capture that were shown before, on a device whose elements keep their node ids.
fn same_elements(known: &[(u32, &Ref)], before: &ShownRefs, capture: &ScreenCapture) -> HashMap<usize, u32> {
    let id = |r: &Ref| before.snapshot.nodes[r.node].id.as_str();
    let by_id: HashMap<&str, (u32, &Ref)> = known.iter().map(|(number, r)| (id(r), (*number, *r))).collect();
    let same = |r: &Ref| {
        let (number, then) = by_id.get(capture.snapshot().nodes[r.node].id.as_str())?;
        r.label.same_element(&then.label).then_some((r.node, *number))
    };
    capture.refs().iter().filter_map(same).collect()
}

/// Removes the aliases of all refs that are not in `shown`, such as those in system bars, so that a session cannot act
/// on an element that it did not receive.
fn keep_aliases_of(capture: &mut ScreenCapture, shown: &[Item]) {
    let shown: HashSet<usize> = shown.iter().filter_map(|item| item.at).collect();
    for (index, number) in capture.numbers.iter_mut().enumerate() {
        if !shown.contains(&index) {
            *number = 0;
        }
    }
}

/// Returns the title shown in the first line of an outline, which the elements need not repeat.
pub(super) fn title(capture: &ScreenCapture) -> Option<&str> {
    capture.structures().and_then(|s| s.front.title.as_deref()).map(|title| as_shown(capture, title))
}

/// Returns a title as the screen shows it. In the titles by which pages are recognised, digits are masked.
fn as_shown<'a>(capture: &'a ScreenCapture, title: &'a str) -> &'a str {
    let texts = capture.snapshot().content().filter_map(|n| n.text.as_deref()).map(str::trim);
    texts.into_iter().find(|text| mask::digits(text) == title).unwrap_or(title)
}

fn items(capture: &ScreenCapture) -> Vec<Item> {
    outline::items(capture.snapshot(), capture.refs(), title(capture))
}

fn alias(capture: &ScreenCapture, item: &Item) -> Option<String> {
    item.at.map(|at| capture.alias(at))
}

fn elements(capture: &ScreenCapture, items: &[Item]) -> Vec<Element> {
    let element = |item: &Item| Element {
        alias: alias(capture, item),
        role: item.role,
        label: Some(item.label.clone()).filter(|l| !l.is_empty()),
        value: item.value.clone(),
        depth: u32::try_from(item.depth).unwrap_or(u32::MAX),
        disabled: item.disabled,
    };
    items.iter().map(element).collect()
}

/// Returns the first lines of an outline: the page, and the dialog over it.
fn head(capture: &ScreenCapture, context: &Context, with_app: bool) -> String {
    let structures = capture.structures();
    let front = structures.map(|s| &s.front);
    let dialog = front.filter(|f| f.dialog);
    let page = match (dialog, structures) {
        (Some(_), Some(structures)) => structures.below.as_ref(),
        _ => front,
    };
    let activity = context.top_activity.as_deref().map(|a| a.rsplit(['.', '/']).next().unwrap_or(a));
    let name = page.and_then(|p| p.title.as_deref()).map(|t| as_shown(capture, t)).or(activity).unwrap_or("unknown");
    let mut head = format!("page {}", quoted(name, MAX_NAME));
    let page_app = page.map(|p| &p.app).filter(|app| !app.is_empty()).or(context.app.as_ref());
    if let Some(app) = page_app.filter(|_| with_app) {
        let _ = write!(head, " {app}");
    }
    if let Some(reason) = &context.reason {
        let _ = write!(head, "; not reliable: {reason}");
    } else if !context.settled {
        head.push_str("; may still be moving");
    }
    if capture.snapshot().shows(WindowKind::Keyboard) {
        head.push_str("; keyboard open");
    }
    let behind = outline::behind(capture.snapshot());
    if dialog.is_none() && behind > 0 {
        let _ = write!(head, "; {behind} elements behind what is in front");
    }
    if let Some(dialog) = dialog {
        let name =
            dialog.title.as_deref().map(|t| format!(" {}", quoted(as_shown(capture, t), MAX_NAME))).unwrap_or_default();
        let of_app =
            context.app.as_ref().filter(|app| Some(*app) != page_app).map(|app| format!(" {app}")).unwrap_or_default();
        let _ = write!(head, "\ndialog{name}{of_app}");
        if behind > 0 {
            let _ = write!(head, "; {behind} elements behind it");
        }
    }
    head
}

/// Maximum length of the hints in an outline, as a percentage of the outline's length.
const HINTS_PERCENT: usize = 10;
/// Number of characters that the hints may use however short the outline is.
const HINTS_MIN: usize = 48;

/// Returns an outline of the elements in `rows`, with or without aliases. Contains the best hints that fit, or all of
/// them if `all_hints` is set.
fn whole(
    capture: &ScreenCapture,
    all: &[Item],
    context: &Context,
    (rows, aliases): (Range<usize>, bool),
    all_hints: bool,
) -> String {
    let head = head(capture, context, true);
    let left = all.len() - rows.end;
    let lines: Vec<(String, Option<String>)> = all[rows]
        .iter()
        .map(|item| {
            let alias = alias(capture, item).filter(|_| aliases);
            (format!("\n{}{}", " ".repeat(item.depth), item.line(alias.as_deref())), alias)
        })
        .collect();
    let length = head.chars().count() + lines.iter().map(|(line, _)| line.chars().count()).sum::<usize>();
    let mut room = if all_hints { usize::MAX } else { (length * HINTS_PERCENT / 100).max(HINTS_MIN) };
    let mut take = |text: &str| {
        let fits = text.chars().count() <= room;
        room -= if fits { text.chars().count() } else { 0 };
        fits
    };
    // Hints are sorted, best first.
    let (mut at_lines, mut below) = (HashMap::<&str, String>::new(), String::new());
    for hint in &context.hints {
        let at = hint.alias.as_deref().filter(|alias| lines.iter().any(|(_, a)| a.as_deref() == Some(*alias)));
        match (at, &hint.outcome) {
            (Some(alias), Some(outcome)) if take(&format!(" {outcome}")) => {
                at_lines.entry(alias).or_default().push_str(&format!(" {outcome}"))
            }
            (Some(_), Some(_)) => {}
            _ => {
                let line = format!("\nknown: {}", one_line(&hint.text));
                // Knowledge that was saved for the page is always worth its tokens.
                let saved = hint.outcome.is_none();
                if below.chars().count() + line.chars().count() <= MAX_NOTES && (saved || take(&line)) {
                    below.push_str(&line);
                }
            }
        }
    }
    let mut text = head;
    for (line, alias) in &lines {
        text.push_str(line);
        text.push_str(alias.as_deref().and_then(|alias| at_lines.get(alias)).map_or("", String::as_str));
    }
    if left > 0 {
        let _ = write!(text, "\n{left} more elements: raise maxRows, or look again with more");
    }
    text + &below
}

/// Escapes characters that would start a new line, because hints quote text from screens.
fn one_line(text: &str) -> String {
    let quoted = quoted(text, MAX_NOTES).replace("\\\"", "\"").replace("\\\\", "\\");
    quoted[1..quoted.len() - 1].to_owned()
}

/// Returns whether a capture shows the same page as an earlier observation. On another page, the changes would say less
/// than the whole outline.
fn is_same_page(before: &ShownRefs, capture: &ScreenCapture) -> bool {
    let (then, now) = (&before.place, capture.place());
    then.page_key.is_some() && then.activity == now.activity && then.title == now.title && then.dialog == now.dialog
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

/// Returns the changes: added (`+`), removed (`-`) and different (`~`) lines.
fn changes(
    before: &ShownRefs,
    capture: &ScreenCapture,
    items: &[Item],
    (context, after_action): (&Context, bool),
) -> String {
    let old_refs = before.snapshot.refs();
    let numbers: HashMap<usize, u32> = before.numbered().map(|(number, r)| (r.node, number)).collect();
    let old_title = before.place.title.as_deref();
    let old = outline::items(&before.snapshot, old_refs, old_title);
    let old_alias = |item: &Item| item.at.and_then(|at| numbers.get(&old_refs[at].node)).map(|n| refs::alias(*n));
    let mut by_alias: HashMap<String, String> = HashMap::new();
    let mut texts: HashMap<String, usize> = HashMap::new();
    for item in &old {
        match old_alias(item) {
            Some(alias) => drop(by_alias.insert(alias.clone(), item.line(Some(&alias)))),
            None => *texts.entry(item.line(None)).or_default() += 1,
        }
    }
    let (mut came, mut different) = (Vec::new(), Vec::new());
    for item in items {
        let alias = alias(capture, item);
        let line = item.line(alias.as_deref());
        match alias.and_then(|alias| by_alias.remove(&alias)) {
            Some(before) if before == line => {}
            Some(_) => different.push(line),
            // Elements that the session did not receive have no alias in the earlier observation.
            None => match texts.get_mut(&item.line(None)) {
                Some(count) if *count > 0 => *count -= 1,
                _ => came.push(line),
            },
        }
    }
    let (mut gone, mut aliases): (Vec<String>, Vec<String>) = Default::default();
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
                    gone.push(line);
                }
            }
        }
    }
    if !aliases.is_empty() {
        gone.push(ranges(&aliases));
    }
    // The session knows the app of the page, so the first line omits it.
    let mut text = head(capture, context, false);
    if came.is_empty() && different.is_empty() && gone.is_empty() && !after_action {
        text.push_str("\nnothing changed");
    }
    for (sign, lines) in [('~', different), ('+', came), ('-', gone)] {
        for line in lines {
            let _ = write!(text, "\n{sign} {line}");
        }
    }
    text
}
