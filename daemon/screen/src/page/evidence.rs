//! Evidence that identifies a page with few resource ids, as in Compose and Flutter apps: its heading, selected tab,
//! control labels and element positions.
//!
//! Evidence is stored as hashes with the kind in the upper byte, so that pages can be compared without storing their
//! text. Digits and punctuation are removed before hashing. `visual::likeness` compares the evidence of two pages.

use std::collections::{BTreeSet, HashMap};

use super::snapshot::{Flag, Node, Rect, Snapshot, Trait};
use super::{label, mask};
use afd_base::text::language::Language;

/// Maximum number of distinct resource ids with which a page counts as having few ids. System-defined ids are ignored.
const MAX_IDS: usize = 2;
/// Maximum length of a label, or of a heading below the bar, that is used as evidence, in characters.
const MAX_LABEL: usize = 40;
/// Maximum number of hashes that are kept as evidence of a page.
const MAX_HASHES: usize = 600;
/// Maximum number of elements whose places are kept as evidence of a page.
const MAX_PLACES: usize = 150;
/// Maximum number of texts that are used to detect the language of a dialog.
const MAX_TEXTS: usize = 40;
/// Maximum height of text that counts as a single line, in grid cells.
const ONE_LINE: i64 = 2;
/// Height of the area at the top of a page that contains its bar, per mille of the screen height.
const BAR: i32 = 60;
/// Height of the area at the top of a page that can contain a heading, per mille of the screen height.
const HEADING_AREA: i32 = 450;
/// Minimum height of the bounds of a heading outside a bar, per mille of the screen height.
const MIN_HEADING: i32 = 29;
/// Maximum height of the bounds of a heading outside a bar, per mille of the screen height.
const MAX_HEADING: i32 = 52;
/// Size of the grid cells in which positions are compared, in pixels on a screen that is 1080 pixels wide.
const CELL: i32 = 40;

/// What a hash describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Label of a control, or short text outside any control.
    Label = 1,
    /// Label of a control that does not scroll and is not part of the navigation.
    Chrome = 2,
    /// An element or text with its place.
    Place = 4,
    /// A row of tabs: whether it is at the bottom, and the number of tabs.
    Tabs = 5,
    /// The position of the selected tab in a row of tabs.
    Selected = 6,
    /// The label of the selected tab.
    SelectedLabel = 7,
    /// The label of the control at the start of the bar.
    Lead = 8,
    /// The heading, in lower case.
    Heading = 9,
    /// The sort of heading; see [`Sort`].
    Sort = 10,
    /// Marker for a page that has a field outside its bar.
    Form = 11,
    /// Label of a control in the navigation: a tab at the bottom, or an entry in a rail at the side.
    Navigation = 12,
    /// An element with its left edge and height, regardless of its vertical position.
    Shape = 13,
    /// Language of the texts of a dialog, if they show it.
    Language = 15,
}

/// The sort of heading that a page has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A title in the page's bar.
    Bar,
    /// Large text below the bar.
    Large,
    /// A field in the bar, such as a search field.
    Field,
}

impl Sort {
    fn word(self) -> &'static str {
        match self {
            Sort::Bar => "bar",
            Sort::Large => "large",
            Sort::Field => "field",
        }
    }

    /// Returns the hash that represents the sort of heading.
    pub fn hash(self) -> u64 {
        hash(Kind::Sort, self.word())
    }
}

/// Maximum number of tabs in a row.
pub const MAX_TABS: usize = 9;

/// Returns the text that is hashed with [`Kind::Tabs`] for a row of tabs.
pub fn row_of_tabs(at_bottom: bool, count: usize) -> String {
    format!("{}{count}", if at_bottom { "bottom" } else { "top" })
}

/// Returns the text that is hashed with [`Kind::Selected`] for the selected tab in a row of tabs.
pub fn selected_tab(at_bottom: bool, count: usize, selected: usize) -> String {
    format!("{}.{selected}", row_of_tabs(at_bottom, count))
}

/// Hashes a string; the upper byte of the hash is its kind.
pub fn hash(kind: Kind, text: &str) -> u64 {
    (fnv1a(text) >> 8) | (u64::from(kind as u8) << 56)
}

/// Returns the FNV-1a hash of a string. Hashes are stored, so they must be the same in every version of the program. A
/// large page contains thousands of strings, so the hash must be fast.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Returns the hashes of one kind. `hashes` must be sorted.
pub fn of_kind(hashes: &[u64], kind: Kind) -> &[u64] {
    let from = u64::from(kind as u8) << 56;
    let start = hashes.partition_point(|h| *h < from);
    let end = hashes.partition_point(|h| h >> 56 <= u64::from(kind as u8));
    &hashes[start..end.max(start)]
}

/// The evidence by which a page with few resource ids is identified.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The heading with digits masked; `None` if the page has none.
    pub heading: Option<String>,
    /// Hashes with the kind in the upper byte, sorted.
    pub hashes: Vec<u64>,
}

/// Returns whether a page has at most [`MAX_IDS`] resource ids that its app defines, so that it needs evidence to be
/// identified.
pub(super) fn has_few_ids(snapshot: &Snapshot, nodes: &[usize]) -> bool {
    let own = |n: &Node| n.res_id.clone().filter(|_| !n.has(Trait::SystemId));
    nodes.iter().filter_map(|i| own(&snapshot.nodes[*i])).collect::<BTreeSet<_>>().len() <= MAX_IDS
}

/// Collects the evidence from the visible nodes of a window.
pub(super) fn of(snapshot: &Snapshot, nodes: &[usize], dialog: bool) -> Evidence {
    let Some(page) = Page::of(snapshot, nodes, dialog) else { return Evidence::default() };
    let (sort, heading) = page.heading();
    let mut hashes = BTreeSet::new();
    let mut put = |kind: Kind, text: &str| _ = hashes.insert(hash(kind, text));
    if let Some(sort) = sort {
        put(Kind::Sort, sort.word());
    }
    if let Some(heading) = heading.as_deref().map(plain).filter(|h| !h.is_empty()) {
        put(Kind::Heading, &heading);
    }
    if page.is_form() {
        put(Kind::Form, "form");
    }
    let at_bottom = page.tabs(true).or_else(|| page.tab_of(heading.as_deref()?));
    for tabs in at_bottom.into_iter().chain(page.tabs(false)) {
        put(Kind::Tabs, &row_of_tabs(tabs.at_bottom, tabs.count));
        put(Kind::Selected, &selected_tab(tabs.at_bottom, tabs.count, tabs.selected));
        put(Kind::SelectedLabel, &plain(&tabs.label));
    }
    let navigation = page.navigation();
    for i in page.nodes.iter().copied().filter(|i| snapshot.nodes[*i].is(Flag::Clickable)) {
        let Some(label) = short_label(snapshot, i) else { continue };
        // A scrolling control whose label contains digits is content.
        let numbered = label::of(snapshot, i).text().chars().any(char::is_numeric);
        if navigation.contains(&i) {
            put(Kind::Navigation, &label);
            continue;
        }
        if !(numbered && page.scrolls(i)) {
            put(Kind::Label, &label);
        }
        if !page.scrolls(i) {
            put(Kind::Chrome, &label);
        }
    }
    for i in page.still() {
        let text = plain(page.words(i).unwrap_or_default());
        if !text.is_empty() && text.chars().count() <= MAX_LABEL {
            put(Kind::Label, &format!("~{text}"));
        }
    }
    if let Some(lead) = page.lead() {
        put(Kind::Lead, &lead);
    }
    if let Some(language) = page.language().filter(|_| dialog) {
        put(Kind::Language, &format!("{language:?}"));
    }
    for place in page.places() {
        put(Kind::Place, &place.0);
        put(Kind::Shape, &place.1);
    }
    Evidence { heading, hashes: hashes.into_iter().take(MAX_HASHES).collect() }
}

/// Returns text in lower case, without digits and punctuation.
pub fn plain(text: &str) -> String {
    let kept: String = text.chars().filter(|c| c.is_alphabetic() || c.is_whitespace()).collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn short_label(snapshot: &Snapshot, index: usize) -> Option<String> {
    let label = plain(&label::of(snapshot, index).title);
    (!label.is_empty() && label.chars().count() <= MAX_LABEL).then_some(label)
}

/// A row of tabs and its selected tab.
struct Tabs {
    at_bottom: bool,
    count: usize,
    selected: usize,
    label: String,
}

/// The visible nodes of a window, with the measurements of the window and the screen.
struct Page<'a> {
    snapshot: &'a Snapshot,
    nodes: &'a [usize],
    dialog: bool,
    /// The rectangle that the window covers.
    extent: Rect,
    /// Width and height of the screen, in device pixels.
    size: (i32, i32),
}

impl<'a> Page<'a> {
    fn of(snapshot: &'a Snapshot, nodes: &'a [usize], dialog: bool) -> Option<Self> {
        let extent =
            nodes.iter().map(|i| snapshot.geometry().shown(*i)).filter(|r| r.area() > 0).reduce(|a, b| a.union(&b))?;
        let size = snapshot.geometry().screen().map_or((extent.right, extent.bottom), |s| (s.width(), s.height()));
        Some(Self { snapshot, nodes, dialog, extent, size })
    }

    fn node(&self, index: usize) -> &'a Node {
        &self.snapshot.nodes[index]
    }

    fn words(&self, index: usize) -> Option<&'a str> {
        label::own_words(self.node(index)).map(str::trim)
    }

    /// Returns the language of the page's texts, if they show it.
    fn language(&self) -> Option<Language> {
        let texts: Vec<&str> = self.nodes.iter().filter_map(|i| self.words(*i)).take(MAX_TEXTS).collect();
        Language::of(&texts.join(". "))
    }

    fn acts(&self, index: usize) -> bool {
        [Flag::Clickable, Flag::LongClickable, Flag::Editable].into_iter().any(|f| self.node(index).is(f))
    }

    fn scrolls(&self, index: usize) -> bool {
        self.snapshot.ancestors(index).any(|a| self.node(a).is(Flag::Scrollable))
    }

    fn shown(&self, index: usize) -> Rect {
        self.snapshot.geometry().shown(index)
    }

    /// Converts a share of the screen height, per mille, to pixels.
    fn part(&self, per_mille: i32) -> i32 {
        (i64::from(self.size.1) * i64::from(per_mille) / 1000) as i32
    }

    /// Returns the nodes whose text is not part of a control.
    fn still(&self) -> impl Iterator<Item = usize> + '_ {
        let free = |i: &usize| !self.acts(*i) && !self.snapshot.ancestors(*i).any(|a| self.acts(a));
        let says = |i: &usize| self.words(*i).is_some_and(|w| w.chars().any(char::is_alphabetic));
        self.nodes.iter().copied().filter(free).filter(says).filter(|i| !self.node(*i).password)
    }

    /// Returns the sort of heading and its text with digits masked. A field in the bar counts as a heading without
    /// text.
    fn heading(&self) -> (Option<Sort>, Option<String>) {
        let from_top = |i: usize| self.shown(i).top - self.extent.top;
        if !self.dialog && self.nodes.iter().any(|i| self.node(*i).is(Flag::Editable) && from_top(*i) < self.part(BAR))
        {
            return (Some(Sort::Field), None);
        }
        let bar = if self.dialog { self.extent.height() / 3 } else { self.part(BAR) };
        let height = |i: usize| self.node(i).bounds.height();
        let short = |i: usize, max: usize| self.words(i).is_some_and(|w| w.chars().count() <= max);
        let in_bar =
            |i: &usize| from_top(*i) < bar && !self.scrolls(*i) && height(*i) <= self.part(BAR) && short(*i, 60);
        let large = |i: &usize| {
            from_top(*i) < self.part(HEADING_AREA)
                && (self.part(MIN_HEADING)..=self.part(MAX_HEADING)).contains(&height(*i))
                && short(*i, MAX_LABEL)
        };
        let text = |i: usize| self.words(i).map(mask::digits);
        match (self.still().find(in_bar), self.still().find(large)) {
            (Some(i), _) => (Some(Sort::Bar), text(i)),
            (None, Some(i)) => (Some(Sort::Large), text(i)),
            (None, None) => (None, None),
        }
    }

    /// Groups the clickable nodes into rows with the same top and bottom edges, each sorted from left to right.
    fn rows(&self) -> HashMap<(i32, i32), Vec<usize>> {
        let mut rows: HashMap<(i32, i32), Vec<usize>> = HashMap::new();
        for i in self.nodes.iter().copied().filter(|i| self.node(*i).is(Flag::Clickable)) {
            let b = self.node(i).bounds;
            rows.entry((b.top, b.bottom)).or_default().push(i);
        }
        rows.values_mut().for_each(|row| row.sort_by_key(|i| self.node(*i).bounds.left));
        rows
    }

    /// Returns the navigation controls: those in a row at the bottom and those in a rail at the left.
    fn navigation(&self) -> Vec<usize> {
        let at_bottom = self
            .rows()
            .into_iter()
            .filter(|((top, _), row)| row.len() > 2 && *top > self.part(800))
            .flat_map(|(_, row)| row);
        at_bottom.chain(self.rail()).collect()
    }

    /// Returns the controls in a rail at the left: at least three narrow controls of one size, one below the other.
    fn rail(&self) -> Vec<usize> {
        let mut columns: HashMap<(i32, i32, i32), Vec<usize>> = HashMap::new();
        for i in self.nodes.iter().copied().filter(|i| self.node(*i).is(Flag::Clickable) && !self.scrolls(*i)) {
            let b = self.node(i).bounds;
            if b.left * 20 < self.size.0 && b.right * 6 < self.size.0 {
                columns.entry((b.left, b.right, b.height())).or_default().push(i);
            }
        }
        columns
            .into_values()
            .max_by_key(|column| (column.len(), column[0]))
            .filter(|column| column.len() > 2)
            .unwrap_or_default()
    }

    /// Finds a row of tabs: controls of similar width across the screen, with a gap of about the width of one control.
    /// The text in the gap is the selected tab, which takes no taps.
    fn tabs(&self, at_bottom: bool) -> Option<Tabs> {
        let mut found: Vec<(i32, Tabs)> = Vec::new();
        for ((top, bottom), row) in self.rows() {
            let high = bottom - top;
            let placed = if at_bottom { bottom >= self.part(850) } else { top <= self.part(200) };
            let widths = || row.iter().map(|i| self.node(*i).bounds.width());
            let (Some(least), Some(most)) = (widths().min(), widths().max()) else { continue };
            if !placed || high > self.part(120) || high < CELL || (most - least) * 10 > self.size.0 {
                continue;
            }
            let mean = widths().sum::<i32>() / i32::try_from(row.len()).unwrap_or(1).max(1);
            for i in self.still() {
                let (shown, own) = (self.shown(i), self.node(i).bounds);
                let centre = own.center().0;
                let within = |i: &&usize| (self.node(**i).bounds.left..=self.node(**i).bounds.right).contains(&centre);
                if shown.top < top - 4 || shown.bottom > bottom + 4 || row.iter().any(|i| within(&i)) {
                    continue;
                }
                let left = row.iter().map(|i| self.node(*i).bounds.right).filter(|r| *r <= centre).max().unwrap_or(0);
                let right =
                    row.iter().map(|i| self.node(*i).bounds.left).filter(|l| *l >= centre).min().unwrap_or(self.size.0);
                let gap = right - left;
                let is_tab =
                    gap * 10 >= mean * 7 && gap * 100 <= mean * 135 && ((left + right) / 2 - centre).abs() * 5 <= mean;
                let across = (widths().sum::<i32>() + gap) * 10 >= self.size.0 * 8;
                if is_tab && across {
                    let selected = row.iter().filter(|i| self.node(**i).bounds.right <= centre).count();
                    let label = self.words(i).unwrap_or_default().to_owned();
                    found.push((top, Tabs { at_bottom, count: row.len() + 1, selected, label }));
                }
            }
        }
        found.into_iter().max_by_key(|(top, tabs)| (*top, tabs.selected)).map(|(_, tabs)| tabs)
    }

    /// Finds the selected tab of a row at the bottom in which all tabs take taps: the tab whose label equals the
    /// heading or begins with it.
    fn tab_of(&self, heading: &str) -> Option<Tabs> {
        let heading = plain(heading);
        let rows = self.rows().into_iter().filter(|((top, _), row)| row.len() > 2 && *top > self.part(800));
        let (_, row) = rows.max_by_key(|((top, _), row)| (row.len(), *top))?;
        let is_heading =
            |label: &String| !heading.is_empty() && (*label == heading || label.starts_with(&format!("{heading} ")));
        let labels: Vec<String> = row.iter().map(|i| short_label(self.snapshot, *i).unwrap_or_default()).collect();
        let selected = labels.iter().position(is_heading)?;
        Some(Tabs { at_bottom: true, count: row.len(), selected, label: heading })
    }

    /// Returns whether the page has a field that is not in its bar.
    fn is_form(&self) -> bool {
        self.nodes
            .iter()
            .any(|i| self.node(*i).is(Flag::Editable) && self.shown(*i).top - self.extent.top >= self.part(BAR))
    }

    /// Returns the label of the control at the left of the bar, such as Back or a menu.
    fn lead(&self) -> Option<String> {
        if self.dialog {
            return None;
        }
        let in_bar =
            |i: &usize| self.node(*i).is(Flag::Clickable) && self.shown(*i).top - self.extent.top < self.part(100);
        let at_left = |i: &usize| {
            let b = self.node(*i).bounds;
            b.left * 100 < self.size.0 * 15 && b.width() * 10 < self.size.0 * 3
        };
        let mut leads: Vec<usize> = self.nodes.iter().copied().filter(in_bar).filter(at_left).collect();
        leads.sort_by_key(|i| (self.node(*i).bounds.top, self.node(*i).bounds.left));
        leads.into_iter().find_map(|i| short_label(self.snapshot, i))
    }

    /// Returns the place of each element, in cells, and its shape, which leaves out the vertical position. Equal
    /// descriptions are numbered. The height of a paragraph is not part of its shape, because it depends on the
    /// language.
    fn places(&self) -> Vec<(String, String)> {
        let cell = |v: i32| i64::from(v) * 1080 / i64::from(self.size.0.max(1)) / i64::from(CELL);
        let mut met: HashMap<String, usize> = HashMap::new();
        let mut numbered = |what: String| {
            let nth = met.entry(what.clone()).or_default();
            *nth += 1;
            format!("{what}#{nth}")
        };
        let mut places = Vec::new();
        for i in self.nodes.iter().copied() {
            let node = self.node(i);
            let b = node.bounds;
            let (place, shape) = if self.acts(i) || node.is(Flag::Scrollable) {
                let able = [Flag::Clickable, Flag::LongClickable, Flag::Editable, Flag::Scrollable]
                    .map(|f| u8::from(node.is(f)));
                let what = format!("{}{able:?}", node.role);
                (
                    format!("{what}{},{},{}", cell(b.left), cell(b.top), cell(b.height())),
                    format!("{what}{},{}", cell(b.left), cell(b.height())),
                )
            } else if self.words(i).is_some() {
                let height =
                    if cell(b.height()) > ONE_LINE { "lines".to_owned() } else { cell(b.height()).to_string() };
                let left = if self.is_centred(&b) { "centre".to_owned() } else { cell(b.left).to_string() };
                (format!("text{},{}", cell(b.top), cell(b.height())), format!("text{left},{height}"))
            } else {
                continue;
            };
            places.push((numbered(place), numbered(shape)));
            if places.len() == MAX_PLACES {
                break;
            }
        }
        places
    }

    /// Returns whether a box is horizontally centred on the screen, with space on both sides.
    fn is_centred(&self, bounds: &Rect) -> bool {
        let (left, right) = (bounds.left, self.size.0 - bounds.right);
        (left - right).abs() < CELL / 4 && left * 10 > self.size.0
    }
}
