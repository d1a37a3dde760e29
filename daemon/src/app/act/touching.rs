//! Plans that touch elements described by memory.

use afd_proto::vocabulary::{Target, Verb};

use super::described::{DescribedTarget, changes_setting};
use super::plan::Plan;
use super::target_spec::TargetSpec;
use crate::app::observe::screen_capture::ScreenCapture;
use afd_screen::page::risk::RiskRules;
use afd_screen::page::target;

/// Returns the plan that touches an element described by memory. Returns `None` if it is not in sight, if touching it
/// changes a setting, or if it is risky according to `unless_risky`.
pub(super) fn touch(
    capture: &ScreenCapture,
    verb: Verb,
    wanted: &Target,
    unless_risky: Option<&RiskRules>,
) -> Option<Plan> {
    let (snapshot, refs) = (capture.snapshot(), capture.refs());
    let index = target::locate(snapshot, refs, wanted)?;
    afd_screen::page::touch::touch(snapshot, refs[index].node, None).ok()?;
    let is_risky = unless_risky.is_some_and(|rules| rules.is_risky(snapshot, &refs[index]));
    if is_risky || changes_setting(capture, refs[index].node) {
        return None;
    }
    let target = target::describe(snapshot, refs[index].node);
    let described = DescribedTarget { target, page: capture.place(), unless_risky: unless_risky.cloned() };
    Some(Plan::touch(verb, TargetSpec::Described(Box::new(described)), 500))
}
