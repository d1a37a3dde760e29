//! Targets described by memory: an element as it was seen on a page, which is touched only on the same page.

use afd_proto::ErrorCode;
use afd_proto::vocabulary::{Role, Target};
use serde_json::json;

use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::{Error, Result};
use afd_experience::memory::Place;
use afd_screen::page::outline::quoted;
use afd_screen::page::risk::RiskRules;
use afd_screen::page::snapshot::{Flag, Node, Trait};
use afd_screen::page::{element_state, target};

/// An element of a page, described so that it can be found on a later screen of the same page.
#[derive(Debug, Clone)]
pub(in crate::app) struct DescribedTarget {
    /// The element as it is now, including its ordinal number among equal ones.
    pub target: Target,
    /// The page. App, activity and title must be equal when the element is touched.
    pub page: Place,
    /// Rules by which the element must not be risky; `None` if it may be.
    pub unless_risky: Option<RiskRules>,
}

impl DescribedTarget {
    /// Returns the node of the element on a screen.
    ///
    /// # Errors
    /// `REF_ALIAS_STALE` if another page is in front or the element is risky, `TARGET_NOT_FOUND` if the page has no such
    /// element.
    pub(super) fn find(&self, capture: &ScreenCapture) -> Result<usize> {
        let (then, now) = (&self.page, capture.place());
        if then.app != now.app || then.activity != now.activity || then.title != now.title || then.dialog != now.dialog
        {
            return Err(Error::new(ErrorCode::RefAliasStale, "another page is now in the foreground")
                .hint("observe the page, then decide again")
                .details(json!({"then": then.activity, "now": now.activity})));
        }
        let found = target::locate(capture.snapshot(), capture.refs(), &self.target);
        let is_risky = |index: &usize| {
            let rules = self.unless_risky.as_ref();
            rules.is_some_and(|rules| rules.is_risky(capture.snapshot(), &capture.refs()[*index]))
        };
        if found.as_ref().is_some_and(is_risky) {
            return Err(Error::new(ErrorCode::RefAliasStale, "the element is risky now")
                .hint("observe the page, then decide again"));
        }
        found.map(|index| capture.refs()[index].node).ok_or_else(|| {
            let name = target::title(&self.target).unwrap_or_else(|| self.target.role.word());
            Error::new(
                ErrorCode::TargetNotFound,
                format!("{} is no longer on the page", quoted(name, target::MAX_TITLE)),
            )
            .hint("observe the page, then decide again")
        })
    }
}

/// Returns whether touching an element changes what it shows: a switch, or a row with one, or a field.
pub(super) fn changes_setting(capture: &ScreenCapture, index: usize) -> bool {
    let snapshot = capture.snapshot();
    snapshot.nodes[index].is(Flag::Editable)
        || element_state::is_on(snapshot, index).is_some()
        || snapshot
            .subtree(index)
            .any(|i| snapshot.nodes[i].role == Role::Switch || snapshot.nodes[i].checked.is_some())
}

/// Returns whether an element usually leads to another page, whatever its name is: a row or a link.
pub(super) fn leads_on(node: &Node) -> bool {
    node.role == Role::Row || node.has(Trait::Link)
}
