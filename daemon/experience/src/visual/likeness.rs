//! Decides whether two captures of pages with few resource ids show the same page.
//!
//! Different headings separate pages, unless the heading is content: the name of a recipe varies while the controls
//! around it stay. A heading that is also the label of a control is a destination, not content. A page in another
//! language shares no texts with the known one; its element positions are compared instead, and the best match must
//! beat all others by [`MARGIN`]. An uncertain capture becomes a new page. The thresholds were measured on invented
//! screens of twenty-four apps and checked on four others, see `tests/screens`.

use afd_screen::page::evidence::{Kind, MAX_TABS, Sort, hash, of_kind, row_of_tabs, selected_tab};

/// Minimum Jaccard index of the labels of pages whose headings differ and stand in a bar, unless they look alike.
const SAME_BAR: f64 = 0.5;
/// Minimum Jaccard index of the controls of pages whose large headings differ, and of their labels.
const SAME_CONTROLS: f64 = 0.5;
const SAME_LABELS: f64 = 0.45;
/// The same for two pages of one heading of which another tab is selected.
const SAME_DESPITE_TAB: f64 = 0.35;
/// Minimum Jaccard index of the controls where only one page has a heading in sight.
const SAME_HEADLESS: f64 = 0.6;
/// Minimum Jaccard index of labels, of which at least five are shared, where large headings differ: items of which one
/// was scrolled.
const SCROLLED_LABELS: f64 = 0.28;
/// Minimum Jaccard indices of labels and places of pages that look alike and say partly the same, as two items do.
const ALIKE_LABELS: f64 = 0.2;
const ALIKE_PLACES: f64 = 0.55;
/// Number of controls from which two pages of one heading are different if they share hardly any of them, the share of
/// controls in the page that has fewer, and the Jaccard index of their shapes, up to which they are.
const OWN_CONTROLS: usize = 2;
const SHARED_CONTROLS: f64 = 0.5;
const OTHER_SHAPES: f64 = 0.4;
/// Share of texts and of controls, in the page that has fewer, up to which two pages are in different languages.
const OTHER_TEXTS: f64 = 0.3;
const MAX_OTHER_TEXTS: usize = 4;
/// The same where tabs or the control that leads back are labelled differently.
const OTHER_TEXTS_BESIDE: f64 = 0.6;
/// Share of labels of the navigation from which two pages are in one language.
const SAME_NAVIGATION: f64 = 0.5;
/// Minimum mean of the Jaccard indices of places and shapes on pages in different languages; a tab that is selected on
/// both counts extra.
pub const SAME_PLACES: f64 = 0.36;
const SAME_TAB: f64 = 0.25;
/// Jaccard index of the places of elements below which a look at a page is worth keeping as a further example.
const DIFFERENT_PLACES: f64 = 0.6;
/// By how much a page in another language must fit better than all others.
pub const MARGIN: f64 = 0.08;

/// A look at a page.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a>(pub &'a [u64]);

/// How the selected tabs of two pages relate.
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

    /// Returns the selected tab of a row, if the page has such a row.
    fn selected(self, at_bottom: bool, count: usize) -> Option<usize> {
        (0..count)
            .find(|i| self.of(Kind::Selected).contains(&hash(Kind::Selected, &selected_tab(at_bottom, count, *i))))
    }

    /// Returns whether a heading is the label of a control of the page.
    fn leads_to(self, heading: u64) -> bool {
        let has = |kind: Kind| self.of(kind).iter().any(|h| h & BODY == heading);
        has(Kind::Label) || has(Kind::SelectedLabel) || has(Kind::Navigation)
    }
}

/// The part of a hash without its kind.
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

/// Returns how the selected tabs at the bottom, or of a row further up, relate.
fn tabs(a: Look<'_>, b: Look<'_>, at_bottom: bool) -> TabRelation {
    let both = |count| Some((a.selected(at_bottom, count)?, b.selected(at_bottom, count)?));
    match (2..=MAX_TABS).find_map(both) {
        None => TabRelation::Unknown,
        Some((x, y)) if x == y => TabRelation::Same,
        Some(_) => TabRelation::Other,
    }
}

/// Returns how surely two looks show the same page in the same language; 0 if they do not.
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
        // A name that is the heading of an item may also be that of a page about it.
        (true, _)
            if !a.is_field()
                && shares_no_control(a, b)
                && jaccard(of(Kind::Shape).0, of(Kind::Shape).1) < OTHER_SHAPES =>
        {
            return 0.0;
        }
        // In a form it is a choice.
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
    // The control that leads back is on many pages.
    let lead = usize::from(!a.of(Kind::Lead).is_empty() && a.of(Kind::Lead) == b.of(Kind::Lead));
    let controls_beside = control_count.saturating_sub(lead);
    if controls_beside >= 3 && overlap(of(Kind::Chrome).0, of(Kind::Chrome).1) >= 0.75 {
        return 0.5;
    }
    let by_controls = if controls_beside >= 2 { at_least(controls, SAME_HEADLESS) } else { 0.0 };
    by_controls.max(at_least_both(labels, places))
}

/// Returns whether two looks have several controls each, besides those that lead back, and share hardly any.
fn shares_no_control(a: Look<'_>, b: Look<'_>) -> bool {
    let leads =
        |control: &u64| a.of(Kind::Lead).iter().chain(b.of(Kind::Lead)).any(|lead| (lead ^ control) & BODY == 0);
    let beside = |look: Look<'_>| look.of(Kind::Chrome).iter().copied().filter(|c| !leads(c)).collect::<Vec<_>>();
    let (own, other) = (beside(a), beside(b));
    own.len().min(other.len()) >= OWN_CONTROLS && overlap(&own, &other) <= SHARED_CONTROLS
}

/// Returns the mean of two indices if both are high enough for pages that look alike and say partly the same.
fn at_least_both(labels: f64, places: f64) -> f64 {
    if labels >= ALIKE_LABELS && places >= ALIKE_PLACES { f64::midpoint(labels, places) } else { 0.0 }
}

/// Returns whether two looks are in different languages, as far as that can be told: they share hardly any label of a
/// control.
pub fn differ_in_language(a: Look<'_>, b: Look<'_>) -> bool {
    let of = |kind: Kind| (a.of(kind), b.of(kind));
    let (lead, navigation, texts, controls) = (of(Kind::Lead), of(Kind::Navigation), of(Kind::Label), of(Kind::Chrome));
    let heading = a.heading().is_some() && a.heading() == b.heading();
    if heading || overlap(navigation.0, navigation.1) >= SAME_NAVIGATION {
        return false;
    }
    let other_controls = overlap(controls.0, controls.1) <= OTHER_TEXTS || shared(controls.0, controls.1) <= 1;
    let leads = !lead.0.is_empty() && !lead.1.is_empty();
    let navigates = !navigation.0.is_empty() && !navigation.1.is_empty();
    if navigates || (leads && lead.0 != lead.1) {
        // Names and numbers stay in every language.
        return other_controls && overlap(texts.0, texts.1) <= OTHER_TEXTS_BESIDE;
    }
    !leads && other_controls && overlap(texts.0, texts.1) < OTHER_TEXTS && shared(texts.0, texts.1) <= MAX_OTHER_TEXTS
}

/// Returns whether a look shows its elements at other places than another one, as a page that was scrolled.
pub fn looks_different(a: Look<'_>, b: Look<'_>) -> bool {
    jaccard(a.of(Kind::Place), b.of(Kind::Place)) < DIFFERENT_PLACES
}

/// Returns how well the places and shapes of the elements of two looks in different languages agree, see
/// [`SAME_PLACES`]; 0 if something else speaks against one page. A text of another length moves what is below it, so
/// places alone are not enough.
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
