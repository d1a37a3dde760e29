//! Page structures, by which states are recognised.
//!
//! A structure consists of the app, the place of the page (activity or URL), its title, and a set of features: the
//! resource ids of the visible nodes, or the class of a node without an id. For a browser, it also has the site, and
//! the place includes the pattern of the address. In web pages, the role and title of an interactive element without an
//! id are a feature too. A page with few ids that is not a website takes its title and further features from
//! [`evidence`]: labels of fixed controls, the selected tab, and the sort of heading.
//!
//! Invariant: a structure leaves out everything that can change while the page stays the same: positions, counts, the
//! text of the content, and digits in the title. Each feature counts once, so the number of rows in a list makes no
//! difference. A dialog has no place, because it may open anywhere in its app. Equal structures have equal keys
//! ([`Structure::key`]).
//!
//! The readable fingerprint ([`super::fingerprint`]) lists at most eight ids. A structure has all of them, so that two
//! pages of one activity differ, and a page with a missing node can still be recognised by similarity. This module has
//! no threshold for similarity: `visual::identity` compares the features. The rules were measured on recordings of real
//! apps with the program `ui-traces` in `tests/`, which also drops nodes, shuffles list rows and changes digits.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use super::evidence::Kind;
use super::snapshot::{Flag, Node, Snapshot, Trait, WindowKind};
use super::{evidence, label, mask, target};

/// Maximum length of a title, in characters.
const MAX_TITLE: usize = 40;

/// The structure of a page, or of a dialog over one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Structure {
    /// Package of the app.
    pub app: String,
    /// Name of the site that a browser shows, as computed by [`super::site`].
    pub site: Option<String>,
    /// Activity or URL; empty for a dialog, which may open anywhere in its app.
    pub place: String,
    /// Title with digits masked, if the page has one.
    pub title: Option<String>,
    /// Hashes of the features, such as the nodes' resource ids or else their classes; sorted, without duplicates.
    pub features: Vec<u64>,
    /// Whether the structure is that of a dialog, a menu or a pop-up over a page.
    pub dialog: bool,
    /// Hashes of the [`evidence`] of a page with few ids; empty for other pages. The key does not include them.
    pub evidence: Vec<u64>,
    /// Key of a page with few ids in databases that were created before evidence existed; `None` for other pages.
    pub earlier_key: Option<String>,
}

impl Structure {
    /// Returns the key of the structure, as 32 hexadecimal digits. Equal structures have equal keys.
    pub fn key(&self) -> String {
        let mut hash = Sha256::new();
        let site = self.site.as_deref().map(super::site::directory);
        for part in [Some(&self.app), site.as_ref(), Some(&self.place), self.title.as_ref()] {
            hash.update(part.map_or("", String::as_str).as_bytes());
            hash.update([0, u8::from(part.is_some())]);
        }
        hash.update([u8::from(self.dialog)]);
        self.features.iter().for_each(|f| hash.update(f.to_le_bytes()));
        afd_base::hex::encode(&hash.finalize()[..16])
    }
}

/// The structures of a screen: of the foreground window, and of the page under a dialog.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Structures {
    /// Structure of the window that takes input.
    pub front: Structure,
    /// Structure of the page under the foreground window, if that window is a dialog and the device reports the page.
    pub below: Option<Structure>,
}

/// Returns the hash of the text that describes a feature.
pub fn feature(text: &str) -> u64 {
    let digest = Sha256::digest(text.as_bytes());
    u64::from_le_bytes(digest[..8].try_into().unwrap_or_default())
}

/// Returns the indices of the visible nodes of the foreground window, without the page under a dialog.
pub fn front_nodes(snapshot: &Snapshot) -> Vec<usize> {
    let window = snapshot.geometry().front();
    window.map(|window| visible_nodes(snapshot, window)).unwrap_or_default()
}

/// Returns whether the page in front has a password field in sight.
pub fn asks_for_password(snapshot: &Snapshot) -> bool {
    front_nodes(snapshot)
        .into_iter()
        .any(|index| snapshot.nodes[index].password && snapshot.nodes[index].is(Flag::Visible))
}

/// Returns the indices of the visible nodes of a window, without the nodes that an overlay in it hides.
fn visible_nodes(snapshot: &Snapshot, window: usize) -> Vec<usize> {
    let hidden = |i: usize| snapshot.geometry().front() == Some(window) && snapshot.hidden_by(i).is_some();
    (0..snapshot.nodes.len())
        .filter(|i| snapshot.nodes[*i].window == window && snapshot.nodes[*i].is(Flag::Visible) && !hidden(*i))
        .collect()
}

/// Returns the index of the page under the window in front: the topmost lower page that overlaps it. The halves of a
/// split screen lie side by side, so neither is under the other.
fn under(snapshot: &Snapshot, front: usize) -> Option<usize> {
    let geometry = snapshot.geometry();
    let own = geometry.extent(front)?;
    let below = |w: &usize| {
        let window = &snapshot.windows[*w];
        window.kind == WindowKind::Page
            && window.layer < snapshot.windows[front].layer
            && geometry.extent(*w).is_some_and(|e| e.overlaps(&own))
    };
    (0..snapshot.windows.len()).filter(below).max_by_key(|w| snapshot.windows[*w].layer)
}

/// Returns whether a node lies in a list. The rows of a list do not identify the page.
pub fn in_list(snapshot: &Snapshot, index: usize) -> bool {
    snapshot.ancestors(index).any(|a| is_list(&snapshot.nodes[a]))
}

/// Returns whether a node is a list.
pub fn is_list(node: &Node) -> bool {
    node.has(Trait::List)
}

/// Returns whether a node lies in a web page.
pub fn in_web(snapshot: &Snapshot, index: usize) -> bool {
    snapshot.ancestors(index).any(|a| snapshot.nodes[a].has(Trait::Web))
}

/// Returns the place of a screen, or its substitute if the place cannot be known in this mode. Returns `None` while the
/// place is unknown.
fn place(snapshot: &Snapshot) -> Option<String> {
    match (&snapshot.place, snapshot.place_knowable) {
        (Some(place), _) => Some(place.clone()),
        (None, false) => snapshot.stand_in_place(),
        (None, true) => None,
    }
}

/// Returns the structure of a browser's own bars around the page of a website. The bars belong to the browser, not to
/// the site. Returns `None` for other screens and while the place is unknown.
pub fn of_bars(snapshot: &Snapshot) -> Option<Structure> {
    let (place, front) = (place(snapshot)?, snapshot.geometry().front()?);
    let outside = |i: &usize| !in_web(snapshot, *i) && !snapshot.nodes[*i].has(Trait::Web);
    let nodes: Vec<usize> = front_nodes(snapshot).into_iter().filter(outside).collect();
    snapshot.site.as_ref().filter(|_| snapshot.has_web_view())?;
    let names: BTreeSet<u64> = nodes.iter().map(|i| feature(name(&snapshot.nodes[*i]))).collect();
    Some(Structure {
        app: app(snapshot, front),
        site: None,
        place,
        title: None,
        features: names.into_iter().collect(),
        dialog: false,
        ..Structure::default()
    })
}

/// Computes the structures of a screen. Returns `None` while the screen's place is unknown or no page is in front.
pub fn of(snapshot: &Snapshot) -> Option<Structures> {
    let mut place = place(snapshot)?;
    if let Some(path) = &snapshot.path {
        place = format!("{place}#{path}");
    }
    let front = snapshot.geometry().front()?;
    let under = under(snapshot, front);
    let below = under.and_then(|window| {
        let place = place_below(snapshot, window, &place)?;
        let page = of_window(snapshot, window, &place, false);
        (!page.features.is_empty()).then_some(page)
    });
    Some(Structures { front: of_window(snapshot, front, &place, under.is_some()), below })
}

/// Returns the place of the page under a dialog. Returns `None` if the place is unknown, which can happen while another
/// app shows a dialog with its own activity.
fn place_below(snapshot: &Snapshot, window: usize, place: &str) -> Option<String> {
    let own = &snapshot.windows[window].app;
    let is_of = |place: &str| own.is_empty() || place.split('/').next() == Some(own);
    // Under a dialog of the same app, the activity that the device reports is the activity of the page.
    let known = [Some(place), snapshot.activity_below.as_deref(), snapshot.windows[window].place.as_deref()];
    known.into_iter().flatten().find(|place| is_of(place)).map(str::to_owned)
}

fn of_window(snapshot: &Snapshot, window: usize, place: &str, dialog: bool) -> Structure {
    let nodes = visible_nodes(snapshot, window);
    let without_ids = nodes.iter().all(|i| snapshot.nodes[*i].res_id.is_none());
    let names: BTreeSet<u64> = nodes.iter().map(|i| feature(name(&snapshot.nodes[*i]))).collect();
    let told = nodes.iter().filter(|i| without_ids || in_web(snapshot, **i));
    let by_title = told.filter_map(|i| told_by_title(snapshot, *i));
    let plain = Structure {
        app: app(snapshot, window),
        site: snapshot.site.clone(),
        place: if dialog { String::new() } else { place.to_owned() },
        title: title(snapshot, &nodes).or_else(|| window_title(snapshot, window)),
        features: names.iter().copied().chain(by_title).collect::<BTreeSet<_>>().into_iter().collect(),
        dialog,
        ..Structure::default()
    };
    if snapshot.site.is_some() || !evidence::has_few_ids(snapshot, &nodes) {
        return plain;
    }
    let found = evidence::of(snapshot, &nodes, dialog);
    let kinds = [Kind::Chrome, Kind::Selected, Kind::Sort];
    let stable = kinds.into_iter().flat_map(|kind| evidence::of_kind(&found.hashes, kind).to_vec());
    Structure {
        earlier_key: Some(plain.key()),
        title: found.heading.map(|h| target::cut_to(&h, MAX_TITLE)).or_else(|| plain.title.clone()),
        features: names.into_iter().chain(stable).collect::<BTreeSet<_>>().into_iter().collect(),
        evidence: found.hashes,
        ..plain
    }
}

/// Returns the name by which a node is recognised: its resource id, else its class.
fn name(node: &Node) -> &str {
    node.res_id.as_deref().unwrap_or(&node.class)
}

/// Returns the package of a window's app.
fn app(snapshot: &Snapshot, window: usize) -> String {
    let own = &snapshot.windows[window].app;
    let known = (!own.is_empty()).then(|| own.clone());
    match snapshot.geometry().front() == Some(window) {
        true => snapshot.app.clone().or(known).unwrap_or_default(),
        false => known.or_else(|| snapshot.app.clone()).unwrap_or_default(),
    }
}

/// Returns the feature of an interactive element without an id: its role and title. Returns `None` for fields, for
/// elements in lists, and for a title that is empty, contains digits or exceeds [`MAX_TITLE`] characters.
fn told_by_title(snapshot: &Snapshot, index: usize) -> Option<u64> {
    let node = &snapshot.nodes[index];
    if !node.is_ref() || node.res_id.is_some() || node.is(Flag::Editable) || in_list(snapshot, index) {
        return None;
    }
    let title = label::of(snapshot, index).title;
    let plain = !title.is_empty() && title.chars().count() <= MAX_TITLE && !title.chars().any(char::is_numeric);
    plain.then(|| feature(&format!("{}|{title}", node.role)))
}

/// Returns the title of a page, with digits masked: the first static text in the upper third of the window that lies in
/// its toolbar or whose id contains `title`.
fn title(snapshot: &Snapshot, nodes: &[usize]) -> Option<String> {
    let height = nodes.iter().map(|i| snapshot.nodes[*i].bounds.bottom).max()?;
    let top = nodes.iter().map(|i| snapshot.nodes[*i].bounds.top).min()?;
    nodes.iter().find_map(|i| {
        let node = &snapshot.nodes[*i];
        let still = !node.has(Trait::AddressBar)
            && !node.is(Flag::Editable)
            && !node.is(Flag::Clickable)
            && !node.password
            && node.has(Trait::StaticText);
        // The limit is a share of the window's height and not a fixed height, because dialogs can be short.
        let high = (i64::from(node.bounds.top) - i64::from(top)) * 3 < i64::from(height) - i64::from(top);
        if !still
            || !high
            || in_list(snapshot, *i)
            || !(node.has(Trait::Title) || snapshot.ancestors(*i).any(|a| snapshot.nodes[a].has(Trait::Bar)))
        {
            return None;
        }
        let text = mask::digits(node.text.as_deref()?.trim());
        let is_title =
            text.chars().any(char::is_alphabetic) && text.chars().count() <= MAX_TITLE && !text.contains("://");
        is_title.then_some(text)
    })
}

/// Returns the title of a window if the activity cannot be known. The title then distinguishes the pages of the app.
fn window_title(snapshot: &Snapshot, window: usize) -> Option<String> {
    let title = mask::digits(snapshot.windows[window].title.trim());
    let tells = !snapshot.place_knowable && snapshot.place.is_none() && title.chars().any(char::is_alphabetic);
    (tells && title.chars().count() <= MAX_TITLE).then_some(title)
}
