//! Overlay and annotation marks.

use serde::Serialize;

use crate::scene::{Flat, Rect, Scene};

/// A mark drawn over a node.
#[derive(Debug, Clone, Serialize)]
pub struct Mark {
    index: usize,
    /// `T` for a text or `C` for a control, followed by the number.
    pub label: String,
    /// Bounds as `l,t,r,b`.
    pub bounds: String,
    node_id: String,
    class_name: String,
    text: Option<String>,
    desc: Option<String>,
    res_id: Option<String>,
    /// Rectangle in which it is drawn.
    #[serde(skip)]
    pub rect: Rect,
}

/// The overlay state that the service keeps.
#[derive(Debug, Clone)]
pub struct Overlay {
    /// Whether it is shown.
    pub enabled: bool,
    /// Marks that were last shown.
    pub marks: Vec<Mark>,
    auto_refresh: bool,
    refresh_interval_ms: i64,
    offset_x: i64,
    offset_y: i64,
}

impl Default for Overlay {
    fn default() -> Self {
        Self {
            enabled: false,
            marks: Vec::new(),
            auto_refresh: true,
            refresh_interval_ms: 800,
            offset_x: 0,
            offset_y: 0,
        }
    }
}

/// The overlay state that the service reports.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OverlayState {
    available: bool,
    enabled: bool,
    mark_count: usize,
    auto_refresh: bool,
    refresh_interval_ms: i64,
    offset_x: i64,
    offset_y: i64,
}

/// Body of `POST /api/overlay`.
#[derive(Debug, serde::Deserialize)]
pub struct OverlayRequest {
    /// Whether to show the overlay.
    pub enabled: bool,
    /// Maximum number of marks.
    pub max_marks: Option<i64>,
    /// Whether to mark controls only.
    pub interactive_only: Option<bool>,
    /// Whether the marks follow the screen.
    pub auto_refresh: Option<bool>,
    /// Refresh interval, in milliseconds.
    pub refresh_interval_ms: Option<i64>,
    /// Horizontal offset of the marks.
    pub offset_x: Option<i64>,
    /// Vertical offset of the marks.
    pub offset_y: Option<i64>,
}

impl Overlay {
    /// Returns the state as the service reports it.
    pub fn state(&self, available: bool) -> OverlayState {
        OverlayState {
            available,
            enabled: self.enabled,
            mark_count: self.marks.len(),
            auto_refresh: self.auto_refresh && self.enabled,
            refresh_interval_ms: self.refresh_interval_ms,
            offset_x: self.offset_x,
            offset_y: self.offset_y,
        }
    }

    /// Applies a request. A request that hides the overlay has no other effect.
    pub fn apply(&mut self, request: &OverlayRequest, scene: &Scene) {
        self.enabled = request.enabled;
        if !request.enabled {
            return;
        }
        self.auto_refresh = request.auto_refresh.unwrap_or(true);
        self.refresh_interval_ms = request.refresh_interval_ms.unwrap_or(800).clamp(200, 5000);
        self.offset_x = request.offset_x.unwrap_or(self.offset_x);
        self.offset_y = request.offset_y.unwrap_or(self.offset_y);
        let max = usize::try_from(request.max_marks.unwrap_or(300).max(1)).unwrap_or(300);
        self.marks = marks(scene, request.interactive_only.unwrap_or(false), max);
    }
}

/// Returns the marks of a scene: texts before controls, each sorted by area from large to small.
pub fn marks(scene: &Scene, interactive_only: bool, max: usize) -> Vec<Mark> {
    let interactive = |f: &Flat<'_>| f.node.interactive() || f.node.focusable;
    let has_text = |f: &Flat<'_>| [&f.node.text, &f.node.desc].into_iter().flatten().any(|t| !t.trim().is_empty());
    let mut found: Vec<Flat<'_>> = scene
        .flat()
        .into_iter()
        .filter(|f| f.window.kind != "ACCESSIBILITY_OVERLAY" && !f.node.hidden && f.node.bounds.area() > 0)
        .filter(|f| interactive(f) || (!interactive_only && has_text(f)))
        .collect();
    found.sort_by_key(|f| (interactive(f), -f.node.bounds.area()));
    found.truncate(max);
    found
        .iter()
        .enumerate()
        .map(|(i, f)| Mark {
            index: i + 1,
            label: format!("{}{}", if interactive(f) { 'C' } else { 'T' }, i + 1),
            bounds: f.node.bounds.text(),
            node_id: f.id.clone(),
            class_name: f.node.class.clone(),
            text: f.node.text.clone(),
            desc: f.node.desc.clone(),
            res_id: f.node.res_id.clone(),
            rect: f.node.bounds,
        })
        .collect()
}
