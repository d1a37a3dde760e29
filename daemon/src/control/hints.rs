//! Hints returned with an observation: what memory knows about the observed page.

use afd_proto::memory::{Recovery, Scope, Transition};
use afd_proto::vocabulary::{Hint, HintKind, Role};

use super::Call;
use crate::memory::Place;
use crate::memory::experience::{self, Query};

/// Maximum number of hints of each kind.
const LIMIT: usize = 5;

impl Call {
    /// Returns hints for a page; empty if nothing is known or the database cannot be read.
    pub(super) async fn hints(&self, place: &Place) -> Vec<Hint> {
        if place.page_key.is_none() {
            return Vec::new();
        }
        // Only the page itself: knowledge about related pages would be noise in every response.
        let query = Query { place: Place { page_key: place.page_key.clone(), ..Place::default() }, failure_cause: None, limit: LIMIT };
        let found = self.core.store.read(move |c| experience::find(c, &query)).await;
        match found {
            Ok(known) => known
                .transitions
                .iter()
                .filter(|t| t.match_scope == Scope::Page && is_specific(t))
                .map(action_hint)
                .chain(known.recoveries.iter().map(recovery_hint))
                .collect(),
            Err(error) => {
                tracing::debug!(%error, "cannot read hints");
                Vec::new()
            }
        }
    }
}

/// Returns whether a transition is useful as a hint. A target that was only looked for and never found (role `Any`) is not.
fn is_specific(t: &Transition) -> bool {
    t.success_count > 0 || t.action.target.as_ref().is_none_or(|target| target.role != Role::Any)
}

/// Returns the success rate with add-one smoothing, which pulls it towards 0.5 while there are few observations.
fn confidence(good: i64, bad: i64) -> f64 {
    let mean = (good as f64 + 1.0) / ((good + bad) as f64 + 2.0);
    (mean * 100.0).round() / 100.0
}

fn action_hint(t: &Transition) -> Hint {
    let fails = t.success_count == 0;
    let cause = t.failure_cause.as_deref().filter(|_| t.failure_count > 0).map(|c| format!("; last failure: {c}")).unwrap_or_default();
    Hint {
        kind: if fails { HintKind::Failure } else { HintKind::Action },
        text: format!("{}{cause}", t.text),
        target: t.action.target.clone(),
        confidence: confidence(t.success_count, t.failure_count),
        evidence: vec![t.uid.clone()],
    }
}

fn recovery_hint(r: &Recovery) -> Hint {
    Hint {
        kind: HintKind::Recovery,
        text: r.text.clone(),
        target: None,
        confidence: confidence(r.success_count, r.failure_count),
        evidence: vec![r.uid.clone()],
    }
}
