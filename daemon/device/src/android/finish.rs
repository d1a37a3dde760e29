//! Completes snapshots of Android screens, whatever they were read from.

use afd_screen::page::{Flag, Node, Snapshot, Trait, WindowKind, mask, pattern, site};

use super::{elements, windows};

/// Completes a snapshot whose windows and nodes have been read: roles, kinds of windows, what is in sight, the site, and the
/// place in front. `activity` is the activity that the phone reports as topmost.
pub fn finish(snapshot: &mut Snapshot, activity: Option<String>) {
    elements::describe(&mut snapshot.nodes);
    windows::classify(snapshot);
    snapshot.hide_what_is_off_screen();
    set_site(snapshot);
    windows::set_place(snapshot, activity.filter(|activity| activity.contains('/')));
}

/// Sets the site from a browser's address bar. Leaves the site unset while a keyboard is shown, because the user may be
/// typing in the address bar.
fn set_site(snapshot: &mut Snapshot) {
    let typing = snapshot.windows.iter().any(|w| w.kind == WindowKind::Keyboard);
    let bar = snapshot.nodes.iter().find(|n| n.has(Trait::AddressBar)).and_then(|n| n.text.clone());
    let Some((address, site)) = bar.filter(|_| !typing).and_then(|a| site::parse(&a).map(|s| (a, s))) else { return };
    snapshot.path = pattern::path_hash(&address);
    snapshot.host = Some(site.address);
    snapshot.site = Some(site.name);
}

/// Masks the text of a password field, unless it is the field's hint. Neither the typed text nor its length is kept.
pub fn mask_password(node: &mut Node) {
    let Some(text) = node.text.clone() else { return };
    let named = mask::names_secret(&[node.res_id.as_deref(), node.desc.as_deref()]);
    if node.is(Flag::Editable) && (named || mask::is_bullets(&text)) {
        node.password = true;
        if node.desc.as_deref() != Some(text.as_str()) {
            node.text = Some(mask::HIDDEN.to_owned());
        }
    }
}
