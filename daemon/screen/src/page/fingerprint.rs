//! Page identity: a readable fingerprint, the key by which pages are matched, and hashes of the content.
//!
//! The fingerprint names a page's place, its mode, whether it has a web view, its resource ids and its characteristic
//! classes. Ids that every window has and the rows of lists are left out, so that scrolling and new data do not change
//! the fingerprint. The page key is the fingerprint without the mode, because the mode is a property of the service and
//! not of the page.
//!
//! Three hashes answer different questions. [`exact_content`] shows whether anything except typed text changed, and
//! [`screen_hash`] includes typed text. [`content_hash`] ignores content that changes without user input (digits,
//! clocks, progress bars).

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use super::mask;
use super::snapshot::{Flag, Node, Snapshot, Trait, WindowKind};
use super::structure::in_list;

/// Maximum number of resource id names in a fingerprint.
const MAX_IDS: usize = 8;
/// Maximum number of class names in a fingerprint.
const MAX_CLASSES: usize = 6;

/// The fingerprint and the key of a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    /// The fingerprint, in the form `act=A|mode=M|wv=0|rid=a,b|cls=X,Y`; `rid` is present only if there are ids.
    pub fingerprint: String,
    /// The page key: the fingerprint without the mode.
    pub key: String,
}

/// Computes the identity of a page. Returns `None` while the page's activity is unknown. Ids and classes come from the
/// app's own windows, without the content of lists. If the activity cannot be known in this mode, the package is used
/// as a substitute.
pub fn identity(snapshot: &Snapshot) -> Option<Identity> {
    let place = match (&snapshot.place, snapshot.place_knowable) {
        (Some(place), _) => place.clone(),
        (None, false) => snapshot.stand_in_place()?,
        (None, true) => return None,
    };
    let nodes = (0..snapshot.nodes.len()).filter(|i| !in_list(snapshot, *i)).map(|i| &snapshot.nodes[i]);
    let stable: Vec<&Node> = nodes.filter(|n| snapshot.is_content(n)).collect();
    let ids: BTreeSet<&str> = stable.iter().filter(|n| !n.has(Trait::CommonId)).filter_map(|n| n.id_name()).collect();
    let classes: BTreeSet<&str> = stable.iter().filter(|n| n.has(Trait::Landmark)).map(|n| n.class.as_str()).collect();
    let join = |set: BTreeSet<&str>, max| set.into_iter().take(max).collect::<Vec<_>>().join(",");
    let rid = if ids.is_empty() { String::new() } else { format!("|rid={}", join(ids, MAX_IDS)) };
    let structure = format!("wv={}{rid}|cls={}", u8::from(snapshot.has_web_view()), join(classes, MAX_CLASSES));
    Some(Identity {
        fingerprint: format!("act={place}|mode={}|{structure}", snapshot.mode),
        key: format!("act={place}|{structure}"),
    })
}

/// Returns the activity at the start of a page key or fingerprint; any other text is returned unchanged. The rest of a
/// key is meant for programs only.
pub fn activity_of(page: &str) -> &str {
    page.strip_prefix("act=").and_then(|rest| rest.split('|').next()).unwrap_or(page)
}

/// Returns the page key for a fingerprint: the fingerprint without its mode. A page key is returned unchanged.
pub fn key_of(fingerprint: &str) -> String {
    fingerprint.split('|').filter(|part| !part.starts_with("mode=")).collect::<Vec<_>>().join("|")
}

/// Returns the part of a hash that says whether a node is on. It is empty for nodes that cannot be on or off.
fn state(node: &super::Node) -> &'static str {
    match node.checked {
        Some(true) => ",checked",
        Some(false) => ",not checked",
        None => "",
    }
}

/// Hashes the exact content of the page, except typed text. Equal hashes mean that nothing except typed text changed.
pub fn exact_content(snapshot: &Snapshot) -> String {
    let mut hash = Sha256::new();
    for node in snapshot.content() {
        let text = if node.is(Flag::Editable) { None } else { node.text.as_deref() };
        let words = [Some(node.class.as_str()), text, node.desc.as_deref(), node.res_id.as_deref()];
        hash.update(format!("{words:?}{}{}{}", node.bounds, node.flags.text(true), state(node)));
    }
    afd_base::hex::encode(&hash.finalize()[..16])
}

/// Hashes everything that the app shows, including typed text. Equal hashes mean that nothing on the screen changed.
/// The hash is never stored, because short typed text could be guessed from it.
pub fn screen_hash(snapshot: &Snapshot) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hash = std::hash::DefaultHasher::new();
    (&snapshot.place, &snapshot.site, &snapshot.path).hash(&mut hash);
    for window in snapshot.windows.iter().filter(|w| w.kind == WindowKind::Page) {
        (&window.app, window.layer, window.focused).hash(&mut hash);
    }
    for node in snapshot.content() {
        (&node.class, &node.text, &node.desc, &node.res_id, node.bounds.to_string(), node.flags.text(true))
            .hash(&mut hash);
        node.checked.hash(&mut hash);
    }
    hash.finish()
}

/// Hashes the content of the page, except volatile nodes, digits and typed text. Equal hashes mean that nothing except
/// these changed.
pub fn content_hash(snapshot: &Snapshot) -> String {
    let mut hash = Sha256::new();
    let mut put = |text: &str| {
        hash.update(text.as_bytes());
        hash.update([0]);
    };
    put(snapshot.place.as_deref().unwrap_or(""));
    // The text of the address bar does not count, because it is a field. The site that it names does.
    if let Some(site) = &snapshot.site {
        put(&super::site::directory(site));
        put(snapshot.path.as_deref().unwrap_or(""));
    }
    for window in snapshot.windows.iter().filter(|w| matches!(w.kind, WindowKind::Page | WindowKind::Keyboard)) {
        put(&format!("{}{}{}", window.app, window.layer, window.focused));
    }
    for node in snapshot.content().filter(|n| !n.has(Trait::Volatile)) {
        let text = if node.is(Flag::Editable) { "" } else { node.text.as_deref().unwrap_or("") };
        put(&node.class);
        put(&mask::digits(text));
        put(&mask::digits(node.desc.as_deref().unwrap_or("")));
        put(node.res_id.as_deref().unwrap_or(""));
        put(&node.bounds.to_string());
        put(&(node.flags.text(true) + state(node)));
    }
    afd_base::hex::encode(&hash.finalize()[..8])
}
