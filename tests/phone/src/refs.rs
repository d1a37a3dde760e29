//! The service's ref state: the current refs, their version, and the alias map that all clients share.
//!
//! Each read of the refs, by any client, replaces the alias map (`@n1`, `@n2`, ...), so aliases always refer to the
//! result of the last read. A tap by alias goes to the node with the same exact token, else to the only node with the
//! same identity token. Neither token includes the node id, so a similar node on another page may match.

use std::collections::HashMap;

use serde::Serialize;

use crate::ids;
use crate::scene::{Flat, Scene};

/// Maximum number of refs that the service returns.
pub const MAX_REFS: usize = 120;

/// Time for which a cached ref state is used, in milliseconds.
const CACHE_MS: i64 = 1500;

/// A ref as it is sent to clients.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RefRow {
    /// Alias: `@n` and the number of the ref, from 1.
    #[serde(rename = "ref")]
    pub alias: String,
    /// Node id.
    pub node_id: String,
    /// Full class name.
    pub class_name: String,
    /// Text.
    pub text: Option<String>,
    /// Content description.
    pub desc: Option<String>,
    /// Resource id.
    pub res_id: Option<String>,
    /// Bounds as `l,t,r,b`.
    pub bounds: String,
    /// Names of the flags that are set, joined by commas.
    pub flags: String,
}

/// A ref with the fields that the service does not send.
#[derive(Debug, Clone)]
pub struct Ref {
    /// The fields that are sent.
    pub row: RefRow,
    /// Strict token: includes the position.
    pub exact: String,
    /// Lenient token: includes the size, but not the position.
    pub identity: String,
    /// Point that a tap goes to.
    pub center: (f32, f32),
}

/// The refs as last computed.
#[derive(Debug, Clone, Default)]
pub struct RefState {
    /// Incremented with each change of the digest.
    pub version: i64,
    /// Time of the last change, in Unix milliseconds.
    pub updated_at_ms: i64,
    /// Refs in the order of their aliases.
    pub refs: Vec<Ref>,
    digest: String,
}

/// Ref state, cache and alias map of the service.
#[derive(Debug, Default)]
pub struct Refs {
    state: RefState,
    computed: Option<(i64, u64)>,
    aliases: HashMap<String, (String, String)>,
}

/// Why a tap by ref was refused.
#[derive(Debug, PartialEq, Eq)]
pub enum RefusedRef {
    /// The last read of the refs did not return this alias.
    Unobserved,
    /// The node is gone or no longer unique.
    Stale,
}

impl Refs {
    /// Computes the refs of a scene. If the digest is the same, the old state is kept, including its node ids and
    /// bounds.
    pub fn compute(&mut self, scene: &Scene, now: i64) -> &RefState {
        let candidates = candidates(scene);
        let digest = candidates.iter().map(digest_of).collect::<Vec<_>>().join("|");
        if digest != self.state.digest {
            let refs = candidates.iter().enumerate().map(|(i, f)| to_ref(i, f)).collect();
            self.state = RefState { version: self.state.version + 1, updated_at_ms: now, refs, digest };
        }
        &self.state
    }

    /// Like [`Refs::compute`], but returns the cached state while the screen is unchanged and the cache has not
    /// expired.
    pub fn cached(&mut self, scene: &Scene, now: i64, ui_seq: u64) -> &RefState {
        let fresh = self.computed.is_some_and(|(at, seq)| seq == ui_seq && now - at < CACHE_MS);
        if !fresh {
            self.compute(scene, now);
            self.computed = Some((now, ui_seq));
        }
        &self.state
    }

    /// Replaces the alias map with the current refs.
    pub fn publish(&mut self) {
        self.aliases =
            self.state.refs.iter().map(|r| (r.row.alias.clone(), (r.exact.clone(), r.identity.clone()))).collect();
    }

    /// Returns the ref that the service would tap for an alias.
    pub fn resolve(&mut self, alias: &str, scene: &Scene, now: i64, ui_seq: u64) -> Result<Ref, RefusedRef> {
        let (exact, identity) = self.aliases.get(alias).cloned().ok_or(RefusedRef::Unobserved)?;
        let refs = &self.cached(scene, now, ui_seq).refs;
        if let Some(hit) = refs.iter().find(|r| r.exact == exact) {
            return Ok(hit.clone());
        }
        let mut same = refs.iter().filter(|r| r.identity == identity);
        match (same.next(), same.next()) {
            (Some(hit), None) => Ok(hit.clone()),
            _ => Err(RefusedRef::Stale),
        }
    }

    /// Clears everything, like a restart of the service.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

fn candidates(scene: &Scene) -> Vec<Flat<'_>> {
    let mut found: Vec<Flat<'_>> = scene
        .by_focus()
        .into_iter()
        .filter(|w| w.kind != "ACCESSIBILITY_OVERLAY")
        .flat_map(|w| Scene::flatten(w, &format!("root_w{}", w.id)))
        .filter(|f| f.node.interactive() && !f.node.disabled && !f.node.hidden && f.node.bounds.area() > 0)
        .collect();
    found
        .sort_by_key(|f| (!f.window.focused, -f.window.layer, f.node.bounds.t, f.node.bounds.l, -f.node.bounds.area()));
    found.truncate(MAX_REFS);
    found
}

fn digest_of(f: &Flat<'_>) -> String {
    let n = f.node;
    let text = |t: &Option<String>| t.clone().unwrap_or_default();
    format!(
        "{}#{}#{}#{}#{}#{}#{}#{}#{}",
        n.class,
        text(&n.text),
        text(&n.desc),
        text(&n.res_id),
        ids::coarse_bounds(n),
        n.clickable,
        n.long_clickable,
        n.editable,
        n.scrollable
    )
}

fn to_ref(index: usize, f: &Flat<'_>) -> Ref {
    let n = f.node;
    let flags = [
        ("on", true),
        ("clk", n.clickable),
        ("lclk", n.long_clickable),
        ("scr", n.scrollable),
        ("edt", n.editable),
        ("ena", !n.disabled),
    ];
    Ref {
        row: RefRow {
            alias: format!("@n{}", index + 1),
            node_id: f.id.clone(),
            class_name: n.class.clone(),
            text: n.text.clone(),
            desc: n.desc.clone(),
            res_id: n.res_id.clone(),
            bounds: n.bounds.text(),
            flags: crate::wire::flags(&flags),
        },
        exact: ids::exact_token(n, f.window),
        identity: ids::identity_token(n, f.window),
        center: n.bounds.center(),
    }
}
