//! The service's ref state: the current refs, their version, and the alias map that all clients share.

use std::collections::HashMap;

use serde::Serialize;

use crate::ids;
use crate::scene::{Flat, Scene};

/// How many refs the service returns at most.
pub const MAX_REFS: usize = 120;

/// How long a cached ref state serves, milliseconds.
const CACHE_MS: i64 = 1500;

/// A ref as it goes over the wire.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RefRow {
    /// `@nK`.
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
    /// `l,t,r,b`.
    pub bounds: String,
    /// Flags.
    pub flags: String,
}

/// A ref with what the service keeps to itself.
#[derive(Debug, Clone)]
pub struct Ref {
    /// What is sent.
    pub row: RefRow,
    /// Strict token.
    pub exact: String,
    /// Forgiving token.
    pub identity: String,
    /// Where a tap goes.
    pub center: (f32, f32),
}

/// The refs as they were computed last.
#[derive(Debug, Clone, Default)]
pub struct RefState {
    /// Grows with each change of the digest.
    pub version: i64,
    /// When the refs last changed.
    pub updated_at_ms: i64,
    /// The refs.
    pub refs: Vec<Ref>,
    digest: String,
}

/// The ref machinery of the service.
#[derive(Debug, Default)]
pub struct Refs {
    state: RefState,
    computed: Option<(i64, u64)>,
    aliases: HashMap<String, (String, String)>,
}

/// Why a tap by ref was refused.
#[derive(Debug, PartialEq, Eq)]
pub enum RefusedRef {
    /// No refs read returned this alias.
    Unobserved,
    /// It is gone, or no longer unique.
    Stale,
}

impl Refs {
    /// Computes the refs of a scene. The same digest keeps the old state, old node ids and bounds included.
    pub fn compute(&mut self, scene: &Scene, now: i64) -> &RefState {
        let candidates = candidates(scene);
        let digest = candidates.iter().map(digest_of).collect::<Vec<_>>().join("|");
        if digest != self.state.digest {
            let refs = candidates.iter().enumerate().map(|(i, f)| to_ref(i, f)).collect();
            self.state = RefState { version: self.state.version + 1, updated_at_ms: now, refs, digest };
        }
        &self.state
    }

    /// Like [`Refs::compute`], but serves the cache while nothing moved and it is young.
    pub fn cached(&mut self, scene: &Scene, now: i64, ui_seq: u64) -> &RefState {
        let fresh = self.computed.is_some_and(|(at, seq)| seq == ui_seq && now - at < CACHE_MS);
        if !fresh {
            self.compute(scene, now);
            self.computed = Some((now, ui_seq));
        }
        &self.state
    }

    /// Replaces the alias map by the current refs.
    pub fn publish(&mut self) {
        self.aliases = self.state.refs.iter().map(|r| (r.row.alias.clone(), (r.exact.clone(), r.identity.clone()))).collect();
    }

    /// Where the service would tap for an alias.
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

    /// What a restart of the service does.
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
    found.sort_by_key(|f| (!f.window.focused, -f.window.layer, f.node.bounds.t, f.node.bounds.l, -f.node.bounds.area()));
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
    let flags =
        [("on", true), ("clk", n.clickable), ("lclk", n.long_clickable), ("scr", n.scrollable), ("edt", n.editable), ("ena", !n.disabled)];
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
