//! Which page it is: the readable fingerprint, the key that pages are matched by, and a hash of the content.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use super::mask;
use super::snapshot::{Flag, Node, Snapshot, WindowKind};

/// At most this many id names (seed, "Page Fingerprint").
const MAX_IDS: usize = 8;
/// At most this many class names.
const MAX_CLASSES: usize = 6;
/// Ids that every window has.
const COMMON_IDS: &[&str] = &["content", "statusBarBackground", "navigationBarBackground", "action_bar_root"];
/// Classes that tell what kind of page it is.
const ANCHOR_CLASSES: &[&str] =
    &["RecyclerView", "ListView", "ViewPager", "TabLayout", "Toolbar", "EditText", "WebView", "FrameLayout", "DialogTitle"];
/// Classes whose content is the list's, not the page's: it scrolls in and out, and says nothing about which page it is.
const LIST_CLASSES: &[&str] = &["RecyclerView", "ListView", "GridView"];
/// Classes whose content moves by itself.
const VOLATILE_CLASSES: &[&str] = &["ProgressBar", "Chronometer", "TextClock", "DigitalClock", "AnalogClock", "ViewFlipper"];

/// The identity of a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    /// `act=A|mode=M|wv=0|rid=a,b|cls=X,Y`; `rid` only when there are ids.
    pub fingerprint: String,
    /// The same without the mode.
    pub key: String,
}

/// Computes the identity. Ids and classes come from the app's own windows, the content of lists aside; `place` stands where the activity is unknown
/// for good.
pub fn identity(snapshot: &Snapshot) -> Option<Identity> {
    let place = match (&snapshot.place, snapshot.place_knowable) {
        (Some(place), _) => place.clone(),
        (None, false) => snapshot.stand_in_place()?,
        (None, true) => return None,
    };
    let in_list = |i: usize| snapshot.ancestors(i).any(|a| LIST_CLASSES.iter().any(|c| snapshot.nodes[a].class.contains(c)));
    let stable = || (0..snapshot.nodes.len()).filter(|i| !in_list(*i)).map(|i| &snapshot.nodes[i]).filter(|n| snapshot.is_content(n));
    let ids: BTreeSet<&str> = stable().filter_map(Node::id_name).filter(|n| !COMMON_IDS.contains(n)).collect();
    let classes: BTreeSet<&str> = stable().map(|n| n.class.as_str()).filter(|c| ANCHOR_CLASSES.iter().any(|a| c.contains(a))).collect();
    let join = |set: BTreeSet<&str>, max| set.into_iter().take(max).collect::<Vec<_>>().join(",");
    let rid = if ids.is_empty() { String::new() } else { format!("|rid={}", join(ids, MAX_IDS)) };
    let structure = format!("wv={}{rid}|cls={}", u8::from(snapshot.has_web_view()), join(classes, MAX_CLASSES));
    Some(Identity { fingerprint: format!("act={place}|mode={}|{structure}", snapshot.mode), key: format!("act={place}|{structure}") })
}

/// The page key of a fingerprint: without its mode. A page key stays as it is.
pub fn key_of(fingerprint: &str) -> String {
    fingerprint.split('|').filter(|part| !part.starts_with("mode=")).collect::<Vec<_>>().join("|")
}

/// A hash of exactly what the page shows, typed text aside. Two equal hashes mean that nothing at all changed.
pub fn exact_content(snapshot: &Snapshot) -> String {
    let mut hash = Sha256::new();
    for node in snapshot.content() {
        let text = if node.is(Flag::Editable) { None } else { node.text.as_deref() };
        let words = [Some(node.class.as_str()), text, node.desc.as_deref(), node.res_id.as_deref()];
        hash.update(format!("{words:?}{}{}", node.bounds, node.flags.text(true)));
    }
    crate::hex::encode(&hash.finalize()[..16])
}

/// A hash of what the page shows, volatile nodes, digits and typed text aside. Two equal hashes mean that nothing moved.
pub fn content_hash(snapshot: &Snapshot) -> String {
    let mut hash = Sha256::new();
    let mut put = |text: &str| {
        hash.update(text.as_bytes());
        hash.update([0]);
    };
    put(snapshot.place.as_deref().unwrap_or(""));
    for window in snapshot.windows.iter().filter(|w| !matches!(w.kind, WindowKind::System | WindowKind::Overlay)) {
        put(&format!("{}{}{}", window.app, window.layer, window.focused));
    }
    for node in snapshot.content().filter(|n| !VOLATILE_CLASSES.iter().any(|c| n.class.contains(c))) {
        let text = if node.is(Flag::Editable) { "" } else { node.text.as_deref().unwrap_or("") };
        put(&node.class);
        put(&mask::digits(text));
        put(&mask::digits(node.desc.as_deref().unwrap_or("")));
        put(node.res_id.as_deref().unwrap_or(""));
        put(&node.bounds.to_string());
        put(&node.flags.text(true));
    }
    crate::hex::encode(&hash.finalize()[..8])
}
