//! Known titles on a page, for labels that match a visible element only in part.
//!
//! On a page that is scrolled down, `Display` may be a word of a visible element while the row "Display" is further up.
//! An action on the visible element would be wrong, and memory would store its outcome for the wrong element.

use afd_proto::ErrorCode;
use afd_proto::vocabulary::By;
use serde_json::json;

use super::screen_capture::ScreenCapture;
use crate::app::act::resolve_target::ResolvedTarget;
use crate::app::act::target_spec::TargetSpec;
use crate::app::memory::experience;
use crate::app::{Call, Error, Result};
use afd_experience::memory::Place;
use afd_experience::memory::experience::Query;
use afd_experience::visual::states;
use afd_screen::page::folding::fold;
use afd_screen::page::outline::quoted;
use afd_screen::page::select::Fit;
use afd_screen::page::target;

/// Maximum number of remembered actions that are searched for a title.
const CANDIDATES: usize = 200;

impl Call {
    /// Returns a resolved target, unless its label matches only in part and the page is known to have an element with
    /// exactly that title.
    ///
    /// # Errors
    /// `TARGET_NOT_FOUND` with the visible candidate.
    pub(in crate::app) async fn unless_known_elsewhere(
        &self,
        spec: &TargetSpec,
        capture: &ScreenCapture,
        place: &Place,
        found: ResolvedTarget,
    ) -> Result<ResolvedTarget> {
        let TargetSpec::Node { by: By::Label | By::Text | By::Desc, value, partial: false, .. } = spec else {
            return Ok(found);
        };
        if found.fit.is_none_or(|fit| fit <= Fit::Whole) || !self.is_known_title(value, capture, place).await {
            return Ok(found);
        }
        let label = |t: &afd_proto::vocabulary::Target| t.label.clone().or(t.name.clone()).unwrap_or_default();
        let candidate = found.target.as_ref().map(label).unwrap_or_default();
        let wanted = quoted(value, target::MAX_TITLE);
        Err(Error::new(ErrorCode::TargetNotFound, format!("{wanted} is on this page, but not in sight"))
            .hint(format!("scroll-to {wanted} first"))
            .details(json!({"matchedCount": 1, "candidateCount": 1, "candidates": [{"label": candidate}]})))
    }

    /// Adds a hint to the error for a label that is not visible, if the page is known to have an element with that
    /// title.
    pub(in crate::app) async fn known_elsewhere(
        &self,
        spec: &TargetSpec,
        capture: &ScreenCapture,
        place: &Place,
        error: Error,
    ) -> Error {
        let TargetSpec::Node { by: By::Label | By::Text | By::Desc, value, .. } = spec else { return error };
        let off_screen = error.details.as_ref().is_some_and(|d| d["offScreen"].is_string());
        if error.code != ErrorCode::TargetNotFound || off_screen || !self.is_known_title(value, capture, place).await {
            return error;
        }
        let wanted = quoted(value, target::MAX_TITLE);
        error.hint(format!("the page is known to have it: scroll-to {wanted} first"))
    }

    /// Returns whether the page is known to have an element with this title. It is known if the session received it, if
    /// an action on it succeeded, or if the page's state contains it.
    pub(in crate::app) async fn is_known_title(&self, title: &str, capture: &ScreenCapture, place: &Place) -> bool {
        let wanted = fold(title);
        let is_wanted = |text: &str| fold(text) == wanted;
        let same_page = |p: &Place| {
            p.page_key.is_some() && p.activity == place.activity && p.title == place.title && p.dialog == place.dialog
        };
        let shown = self.core.experience.views.shown(self.session_id, self.device_id).filter(|s| same_page(&s.place));
        if shown.is_some_and(|s| s.numbered().any(|(_, r)| is_wanted(&r.label.title))) {
            return true;
        }
        let Some(structure) = capture.structures().map(|s| self.structure_key(&s.front)) else { return false };
        let query = Query {
            place: Place { structure: Some(structure.clone()), ..place.clone() },
            unasked: true,
            limit: CANDIDATES,
            ..Query::default()
        };
        let read = self.core.store.read(move |c| {
            let known = experience::find(c, query)?;
            let texts = states::of_structure(c, &structure)?.map(|s| s.texts).unwrap_or_default();
            let acted = known
                .transitions
                .into_iter()
                .filter(|t| t.success_count > 0)
                .filter_map(|t| target::title(t.action.target.as_ref()?).map(str::to_owned));
            Ok(acted.chain(texts).collect::<Vec<_>>())
        });
        match read.await {
            Ok(known) => known.iter().any(|text| is_wanted(text)),
            Err(error) => {
                tracing::debug!(%error, "cannot read what is known of a page");
                false
            }
        }
    }
}
