//! Decides whether two captures of pages with few resource ids show the same page.
//!
//! Idea: [`same`] compares headings, selected tabs, labels, controls and element positions, mostly as Jaccard indices
//! of their hashes. Equal headings mean the same page, unless controls and shapes or the selected tab differ. Different
//! headings separate pages, unless the heading is content: the name of a recipe varies while the controls around it
//! stay. A heading that is also the label of a control on the other page is a destination, not content. A page in
//! another language shares no text with the known one, and the texts of two dialogs do not show the same language.
//! [`same_places`] then compares element positions and shapes, and the best match must beat all others by [`MARGIN`].
//!
//! Invariant: an uncertain capture becomes a new page.
//!
//! Thresholds: they were measured on invented screens of twenty-four apps (`tests/screens/tuned`) and checked on four
//! others (`tests/screens/held`). `tests/e2e/traces.rs` allows at most 1 % of the pairs of different pages to be
//! merged, and at most 5.5 % (`tuned`) or 8 % (`held`) of the pairs of equal pages to be split.

use afd_screen::page::evidence::{Kind, MAX_TABS, Sort, hash, of_kind, row_of_tabs, selected_tab};

/// Minimum Jaccard index of the labels of two pages whose headings differ, if a heading is in a bar. Pages that look
/// alike need only [`ALIKE_LABELS`] and [`ALIKE_PLACES`].
const SAME_BAR: f64 = 0.5;
/// Minimum Jaccard indices of the controls, or of the labels, of two pages whose large headings differ.
const SAME_CONTROLS: f64 = 0.5;
const SAME_LABELS: f64 = 0.45;
/// Minimum Jaccard index of labels for two forms with the same heading but different selected tabs to be the same page.
const SAME_DESPITE_TAB: f64 = 0.35;
/// Minimum Jaccard index of controls for two captures to show the same page if at most one of them has a visible
/// heading.
const SAME_HEADLESS: f64 = 0.6;
/// Minimum Jaccard index of labels for two captures to show the same page if their large headings differ and they share
/// at least five labels, as with the pages of two items of which one was scrolled.
const SCROLLED_LABELS: f64 = 0.28;
/// Minimum Jaccard indices of labels and of places for pages that look alike and share some labels, as the pages of two
/// items do.
const ALIKE_LABELS: f64 = 0.2;
const ALIKE_PLACES: f64 = 0.55;
/// Two pages with the same heading are different if each has at least [`OWN_CONTROLS`] controls, if they share at most
/// the fraction [`SHARED_CONTROLS`] of the controls on the page with fewer controls, and if the Jaccard index of their
/// shapes is below [`OTHER_SHAPES`].
const OWN_CONTROLS: usize = 2;
const SHARED_CONTROLS: f64 = 0.5;
const OTHER_SHAPES: f64 = 0.4;
/// Maximum share of common labels, and of common controls, relative to the page that has fewer, for two pages to be in
/// different languages; and maximum number of common labels.
const OTHER_TEXTS: f64 = 0.3;
const MAX_OTHER_TEXTS: usize = 4;
/// Maximum share of common labels for two pages to be in different languages, if their navigation labels or the labels
/// of their back controls differ.
const OTHER_TEXTS_BESIDE: f64 = 0.6;
/// Minimum share of common navigation labels for two pages to be in the same language.
const SAME_NAVIGATION: f64 = 0.5;
/// Minimum result of [`same_places`] for two captures in different languages to show the same page, and the bonus that
/// this result includes if the same tab is selected on both.
pub const SAME_PLACES: f64 = 0.36;
const SAME_TAB: f64 = 0.25;
/// Jaccard index of element positions below which a capture is kept as a further example.
const DIFFERENT_PLACES: f64 = 0.6;
/// Margin by which the best match for a page in another language must beat all others.
pub const MARGIN: f64 = 0.08;

/// A capture of a page, as the sorted hashes of its evidence.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a>(pub &'a [u64]);

/// The relation between the selected tabs of two pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TabRelation {
    Unknown,
    Same,
    Other,
}

impl<'a> Look<'a> {
    fn of(self, kind: Kind) -> &'a [u64] {
        of_kind(self.0, kind)
    }

    fn heading(self) -> Option<u64> {
        self.of(Kind::Heading).first().map(|h| h & BODY)
    }

    fn is_field(self) -> bool {
        self.of(Kind::Sort).contains(&Sort::Field.hash())
    }

    fn is_form(self) -> bool {
        !self.of(Kind::Form).is_empty()
    }

    fn has_bar(self) -> bool {
        self.of(Kind::Sort).contains(&Sort::Bar.hash())
    }

    fn has_tabs_at_bottom(self) -> bool {
        (2..=MAX_TABS).any(|n| self.of(Kind::Tabs).contains(&hash(Kind::Tabs, &row_of_tabs(true, n))))
    }

    /// Returns the index of the selected tab in a row of `count` tabs, if the page has such a row.
    fn selected(self, at_bottom: bool, count: usize) -> Option<usize> {
        (0..count)
            .find(|i| self.of(Kind::Selected).contains(&hash(Kind::Selected, &selected_tab(at_bottom, count, *i))))
    }

    /// Returns whether a heading is the label of a control on the page.
    fn leads_to(self, heading: u64) -> bool {
        let has = |kind: Kind| self.of(kind).iter().any(|h| h & BODY == heading);
        has(Kind::Label) || has(Kind::SelectedLabel) || has(Kind::Navigation)
    }
}

/// Mask that removes the kind from a hash.
const BODY: u64 = (1 << 56) - 1;

fn shared(a: &[u64], b: &[u64]) -> usize {
    a.iter().filter(|h| b.binary_search(h).is_ok()).count()
}

fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    let common = shared(a, b);
    common as f64 / (a.len() + b.len() - common).max(1) as f64
}

fn overlap(a: &[u64], b: &[u64]) -> f64 {
    shared(a, b) as f64 / a.len().min(b.len()).max(1) as f64
}

/// Returns the relation between the selected tabs in the rows at the bottom or, if `at_bottom` is false, in the rows
/// further up.
fn tabs(a: Look<'_>, b: Look<'_>, at_bottom: bool) -> TabRelation {
    let both = |count| Some((a.selected(at_bottom, count)?, b.selected(at_bottom, count)?));
    match (2..=MAX_TABS).find_map(both) {
        None => TabRelation::Unknown,
        Some((x, y)) if x == y => TabRelation::Same,
        Some(_) => TabRelation::Other,
    }
}

/// Returns how certain it is that two captures show the same page in the same language, as a score of up to 2. Returns
/// 0 if they do not.
pub fn same(a: Look<'_>, b: Look<'_>) -> f64 {
    let of = |kind: Kind| (a.of(kind), b.of(kind));
    let labels = jaccard(of(Kind::Label).0, of(Kind::Label).1);
    let controls = jaccard(of(Kind::Chrome).0, of(Kind::Chrome).1);
    let (label_count, control_count) =
        (shared(of(Kind::Label).0, of(Kind::Label).1), shared(of(Kind::Chrome).0, of(Kind::Chrome).1));
    let places = jaccard(of(Kind::Place).0, of(Kind::Place).1);
    let at_least = |value: f64, least: f64| if value >= least { value } else { 0.0 };
    let (tab, bottom_tab) = (tabs(a, b, false), tabs(a, b, true));
    if bottom_tab == TabRelation::Other {
        return 0.0;
    }
    let headings = (a.heading(), b.heading());
    let same_heading = (a.is_field() && b.is_field()) || matches!(headings, (Some(x), Some(y)) if x == y);
    match (same_heading, tab) {
        // The heading of an item may also be the heading of another page about that item.
        (true, _)
            if !a.is_field()
                && shares_no_control(a, b)
                && jaccard(of(Kind::Shape).0, of(Kind::Shape).1) < OTHER_SHAPES =>
        {
            return 0.0;
        }
        // In a form, the selected tab is a choice.
        (true, TabRelation::Other) if a.is_form() && b.is_form() => return at_least(labels, SAME_DESPITE_TAB),
        (true, TabRelation::Other) => return 0.0,
        (true, _) => return 1.0 + labels,
        (false, TabRelation::Other) => return 0.0,
        (false, _) => {}
    }
    if a.is_field() != b.is_field() {
        return 0.0;
    }
    if let (Some(x), Some(y)) = headings {
        if b.leads_to(x) || a.leads_to(y) {
            return 0.0;
        }
        if a.has_bar() || b.has_bar() {
            return if labels >= SAME_BAR { labels } else { at_least_both(labels, places) };
        }
        let same =
            controls >= SAME_CONTROLS || labels >= SAME_LABELS || (labels >= SCROLLED_LABELS && label_count >= 5);
        return if same { controls.max(labels) } else { at_least_both(labels, places) };
    }
    if bottom_tab == TabRelation::Same {
        return 0.5 + controls;
    }
    if labels >= SAME_LABELS && label_count >= 4 {
        return labels;
    }
    // The back control does not count, because many pages have it.
    let lead = usize::from(!a.of(Kind::Lead).is_empty() && a.of(Kind::Lead) == b.of(Kind::Lead));
    let controls_beside = control_count.saturating_sub(lead);
    if controls_beside >= 3 && overlap(of(Kind::Chrome).0, of(Kind::Chrome).1) >= 0.75 {
        return 0.5;
    }
    let by_controls = if controls_beside >= 2 { at_least(controls, SAME_HEADLESS) } else { 0.0 };
    by_controls.max(at_least_both(labels, places))
}

/// Returns whether two captures have several controls each, apart from back controls, and share hardly any of them.
fn shares_no_control(a: Look<'_>, b: Look<'_>) -> bool {
    let leads =
        |control: &u64| a.of(Kind::Lead).iter().chain(b.of(Kind::Lead)).any(|lead| (lead ^ control) & BODY == 0);
    let beside = |look: Look<'_>| look.of(Kind::Chrome).iter().copied().filter(|c| !leads(c)).collect::<Vec<_>>();
    let (own, other) = (beside(a), beside(b));
    own.len().min(other.len()) >= OWN_CONTROLS && overlap(&own, &other) <= SHARED_CONTROLS
}

/// Returns the mean of two Jaccard indices if they reach [`ALIKE_LABELS`] and [`ALIKE_PLACES`], else 0.
fn at_least_both(labels: f64, places: f64) -> f64 {
    if labels >= ALIKE_LABELS && places >= ALIKE_PLACES { f64::midpoint(labels, places) } else { 0.0 }
}

/// Returns whether two captures seem to be in different languages: their controls share hardly any labels.
pub fn differ_in_language(a: Look<'_>, b: Look<'_>) -> bool {
    let of = |kind: Kind| (a.of(kind), b.of(kind));
    let (lead, navigation, texts, controls) = (of(Kind::Lead), of(Kind::Navigation), of(Kind::Label), of(Kind::Chrome));
    let heading = a.heading().is_some() && a.heading() == b.heading();
    // Two dialogs of an app often look alike. If both are in the same language, neither is a translation of the other.
    let languages = of(Kind::Language);
    if !languages.0.is_empty() && languages.0 == languages.1 {
        return false;
    }
    if heading || overlap(navigation.0, navigation.1) >= SAME_NAVIGATION {
        return false;
    }
    let other_controls = overlap(controls.0, controls.1) <= OTHER_TEXTS || shared(controls.0, controls.1) <= 1;
    let leads = !lead.0.is_empty() && !lead.1.is_empty();
    let navigates = !navigation.0.is_empty() && !navigation.1.is_empty();
    if navigates || (leads && lead.0 != lead.1) {
        // Names and numbers are the same in every language.
        return other_controls && overlap(texts.0, texts.1) <= OTHER_TEXTS_BESIDE;
    }
    !leads && other_controls && overlap(texts.0, texts.1) < OTHER_TEXTS && shared(texts.0, texts.1) <= MAX_OTHER_TEXTS
}

/// Returns whether two captures show their elements in different places, for example because the page was scrolled.
pub fn looks_different(a: Look<'_>, b: Look<'_>) -> bool {
    jaccard(a.of(Kind::Place), b.of(Kind::Place)) < DIFFERENT_PLACES
}

/// Returns how well the places and shapes of elements agree between two captures in different languages.
/// [`SAME_PLACES`] is the minimum for the same page. Returns 0 if the captures differ in their selected tabs, in the
/// presence of a heading or of tabs at the bottom, or in the kind of heading. Places alone are not enough, because
/// longer text moves the elements below it.
pub fn same_places(a: Look<'_>, b: Look<'_>) -> f64 {
    let relations = [tabs(a, b, false), tabs(a, b, true)];
    let fits = !relations.contains(&TabRelation::Other)
        && a.is_field() == b.is_field()
        && a.has_tabs_at_bottom() == b.has_tabs_at_bottom()
        && a.heading().is_some() == b.heading().is_some();
    let extra = if relations.contains(&TabRelation::Same) { SAME_TAB } else { 0.0 };
    let of = |kind: Kind| jaccard(a.of(kind), b.of(kind));
    if fits { f64::midpoint(of(Kind::Place), of(Kind::Shape)).max(of(Kind::Place)) + extra } else { 0.0 }
}
