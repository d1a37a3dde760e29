//! Observations as outlines: the page, a dialog over it, the elements with knowledge from memory, and notes below; or
//! the changes since an earlier observation.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::ops::Range;

use afd_proto::observe::{Context, DEFAULT_ROWS, Format, Toward};
use afd_proto::rows::Element;
use afd_proto::vocabulary::{HintsWanted, ObservationSource};

use super::changes::{self, Changes, is_same_page, same_elements};
use super::part::PagePart;
use super::screen_capture::ScreenCapture;
use crate::app::memory::predict::{Named, Predicted};
use crate::app::{Call, Result};
use afd_base::task::over_nodes;
use afd_experience::memory::views::ShownRefs;
use afd_screen::page::outline::{self, Item, quoted};
use afd_screen::page::risk::RiskRules;
use afd_screen::page::{WindowKind, mask};

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
        let items = self.items(&shown);
        let items = shape.part.restrict(&shown, items)?;
        let max = shape.max_rows.unwrap_or(DEFAULT_ROWS) as usize;
        let from = before.as_ref().filter(|_| shape.part.more).map_or(0, |b| changes::continued(b, &shown, &items));
        let rows = from..items.len().min(from.saturating_add(max));
        let changes = before.as_ref().and_then(|b| self.changes(b, shape, &shown, (&items, &rows)));
        let listed = items[if changes.is_some() { 0..0 } else { rows.clone() }].iter().filter_map(|item| item.at);
        let listed: HashSet<usize> =
            listed.chain(changes.iter().flat_map(|changes| changes.at.iter().copied())).collect();
        keep_aliases(&mut shown, &listed, before.as_deref());
        capture.take_numbers(&shown);
        self.record_and_learn(capture, source, None).await;
        let seen = match (&changes, &before) {
            _ if shape.part.within.is_some() => 0,
            (Some(_), Some(before)) => changes::continued(before, &shown, &items),
            _ => rows.end,
        };
        let received = shown.shown_refs(whole_page.is_some(), seen);
        self.core.experience.views.show(self.session_id, self.device_id, received);
        let predicted = self.predicted_if(&shown, shape.hints).await;
        let mut context = self.with_hints(capture, shape.hints, capture.refs().len(), &predicted).await;
        if shape.format == Some(Format::Rows) {
            context.elements = Some(elements(&shown, &items[rows], &predicted));
            return Ok(context);
        }
        let all_hints = shape.hints.is_some_and(HintsWanted::all);
        let outline = match &changes {
            Some(changes) => {
                // The session knows the app of the page, so the first line omits it.
                let (head, changes) = (head(&shown, &context, false), changes.text());
                let nothing = if changes.is_empty() && !shape.after_action { "\nnothing changed" } else { "" };
                head + nothing + &changes + &toward(&context)
            }
            None => whole(&shown, &items, (&context, &predicted), (rows, true), all_hints) + &tools(&shown),
        };
        // The changes list the tools that came or are gone.
        context.tools.retain(|_| changes.is_none());
        context.since = before.filter(|_| changes.is_some()).map(|b| b.observation.clone());
        context.outline = Some(outline);
        Ok(context)
    }
}

impl Call {
    /// Returns the changes since an earlier observation, unless the whole page is requested or is shorter.
    fn changes(
        &self,
        before: &ShownRefs,
        shape: &Shape,
        shown: &ScreenCapture,
        (items, rows): (&[Item], &Range<usize>),
    ) -> Option<Changes> {
        if shape.part.more || shape.format == Some(Format::Rows) {
            return None;
        }
        let changes = Changes::since(before, shown, items, &self.core.risk_rules());
        // The changes after an action may be longer than the whole page.
        let is_longer = shape.after_action && length(shown, &items[rows.clone()]) < changes.text().len();
        (!is_longer).then_some(changes)
    }

    fn items(&self, capture: &ScreenCapture) -> Vec<Item> {
        let rules = self.core.risk_rules();
        over_nodes(capture.snapshot().nodes.len(), || items(capture, &rules))
    }

    /// Returns the outline of a capture that was recorded before. It contains aliases only for the session that may use
    /// them.
    pub(in crate::app) async fn outline_of(&self, capture: &ScreenCapture) -> String {
        let predicted = Predicted::default();
        let context = self.with_hints(capture, Some(HintsWanted::Chosen(false)), 0, &predicted).await;
        let shown = self
            .core
            .experience
            .views
            .shown(self.session_id, self.device_id)
            .is_some_and(|s| s.observation == capture.uid);
        let shown = shown && capture.reading.inputs == self.device().inputs();
        let items = self.items(capture);
        let rows = 0..items.len().min(DEFAULT_ROWS as usize);
        whole(capture, &items, (&context, &predicted), (rows, shown), false)
    }
}

/// Returns the outline of a capture that belongs to no session and no device. Its aliases can be used nowhere.
pub(super) fn of_capture(capture: &ScreenCapture, rows: usize) -> String {
    let items = over_nodes(capture.snapshot().nodes.len(), || items(capture, &RiskRules::default()));
    let nothing = Predicted::default();
    whole(capture, &items, (&capture.context(), &nothing), (0..items.len().min(rows), true), false)
}

/// Removes the aliases of all refs that the session neither receives now nor received before, such as those in system
/// bars, so that a session cannot act on an element that it did not receive. `listed` are the indices of the refs that it
/// receives now.
fn keep_aliases(capture: &mut ScreenCapture, listed: &HashSet<usize>, before: Option<&ShownRefs>) {
    let known: HashSet<u32> = before.into_iter().flat_map(ShownRefs::numbered).map(|(number, _)| number).collect();
    for (index, number) in capture.numbers.iter_mut().enumerate() {
        if !listed.contains(&index) && !known.contains(number) {
            *number = 0;
        }
    }
}

/// Returns the length of the lines of items, in bytes.
fn length(capture: &ScreenCapture, items: &[Item]) -> usize {
    items.iter().map(|item| item.line(alias(capture, item).as_deref()).len() + item.depth + 1).sum()
}

/// Returns the title shown in the first line of an outline, which the elements need not repeat.
pub(in crate::app) fn title(capture: &ScreenCapture) -> Option<&str> {
    capture.structures().and_then(|s| s.front.title.as_deref()).map(|title| as_shown(capture, title))
}

/// Returns a title as the screen shows it. In the titles by which pages are recognised, digits are masked.
fn as_shown<'a>(capture: &'a ScreenCapture, title: &'a str) -> &'a str {
    let texts = capture.snapshot().content().filter_map(|n| n.text.as_deref()).map(str::trim);
    texts.into_iter().find(|text| mask::digits(text) == title).unwrap_or(title)
}

fn items(capture: &ScreenCapture, rules: &RiskRules) -> Vec<Item> {
    rules.mark(capture.snapshot(), outline::items(capture.snapshot(), capture.refs(), title(capture)))
}

fn alias(capture: &ScreenCapture, item: &Item) -> Option<String> {
    item.at.map(|at| capture.alias(at))
}

fn elements(capture: &ScreenCapture, items: &[Item], predicted: &Predicted) -> Vec<Element> {
    let element = |item: &Item| Element {
        alias: alias(capture, item),
        role: item.role,
        label: Some(item.label.clone()).filter(|l| !l.is_empty()),
        value: item.value.clone(),
        depth: u32::try_from(item.depth).unwrap_or(u32::MAX),
        disabled: item.disabled,
        risky: item.risky,
        leads_to: item.at.and_then(|at| predicted.leads_to(at)),
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
    (context, predicted): (&Context, &Predicted),
    (rows, aliases): (Range<usize>, bool),
    all_hints: bool,
) -> String {
    let head = head(capture, context, true);
    let left = all.len() - rows.end;
    let lines: Vec<(String, Option<String>)> = all[rows.clone()]
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
    for (alias, brief) in further(&all[rows], &lines, predicted) {
        if !at_lines.contains_key(alias) && take(&format!(" {brief}")) {
            at_lines.insert(alias, format!(" {brief}"));
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
    text + &below + &toward(context)
}

/// Returns the line about the element that brings the current task nearest.
fn toward(context: &Context) -> String {
    let line = |toward: &Toward| {
        let (alias, goal) = (&toward.alias, quoted(&toward.goal, MAX_NAME));
        match toward.probability {
            Some(chance) => format!("\ntask: {alias} leads towards {goal} {:.2}", chance.min(0.99)),
            None => format!("\ntask: {alias} is {goal}"),
        }
    };
    context.toward.as_ref().map(line).unwrap_or_default()
}

/// Returns further predictions for the elements of an outline, the best first, by their aliases: pages to which elements led
/// from here, then good guesses.
fn further<'a>(items: &[Item], lines: &'a [(String, Option<String>)], predicted: &Predicted) -> Vec<(&'a str, String)> {
    let foreseen = |(item, (_, alias)): (&Item, &'a (String, Option<String>))| {
        let named = predicted.of_tap(item.at?).filter(|named| named.leads_from_here() || named.is_good_guess())?;
        Some((alias.as_deref()?, named))
    };
    let mut found: Vec<(&str, &Named)> = items.iter().zip(lines).filter_map(foreseen).collect();
    found.sort_by(|(_, a), (_, b)| {
        a.prediction.is_guess().cmp(&b.prediction.is_guess()).then(b.probability().total_cmp(&a.probability()))
    });
    found.into_iter().map(|(alias, named)| (alias, named.brief())).collect()
}

/// Returns the lines of the tools that the page publishes.
fn tools(capture: &ScreenCapture) -> String {
    let tools = &capture.snapshot().tools;
    let lines: String = tools.iter().map(|tool| format!("\n{}", tool.line())).collect();
    if tools.is_empty() { lines } else { format!("\ntools of the page, for act.pageTool:{lines}") }
}

/// Escapes characters that would start a new line, because hints quote text from screens.
fn one_line(text: &str) -> String {
    let quoted = quoted(text, MAX_NOTES).replace("\\\"", "\"").replace("\\\\", "\\");
    quoted[1..quoted.len() - 1].to_owned()
}
