//! Chooses the next action: what is known to have worked, else the general means in their order.

use afd_proto::recover::RecoverBasis;
use afd_proto::vocabulary::{Action, Verb};

use super::known::Known;
use super::{Choice, Cure};
use crate::app::Result;
use crate::app::act::plan::Plan;
use crate::app::act::touching;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::visual::graph::{known_of, scope_in_front};
use afd_device::Input;
use afd_screen::page::Ref;
use afd_screen::page::snapshot::Flag;

/// Maximum number of attempts to dismiss what is in front of a page.
const MAX_DISMISSALS: u32 = 3;

/// Returns whether the page or dialog in front has a field with text, which may be lost when it is left. The hint of an
/// empty field is its label.
fn has_text(capture: &ScreenCapture) -> bool {
    let snapshot = capture.snapshot();
    let is_filled = |element: &Ref| {
        let node = &snapshot.nodes[element.node];
        let text = node.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
        node.is(Flag::Editable)
            && node.is(Flag::Visible)
            && snapshot.is_content(node)
            && snapshot.hidden_by(element.node).is_none()
            && text.is_some_and(|text| text != element.label.title.trim())
    };
    capture.refs().iter().any(is_filled)
}

impl Cure<'_> {
    /// Returns the next action; `None` if nothing is left to try.
    ///
    /// # Errors
    /// If the memory cannot be read.
    pub(super) async fn choose(&mut self, capture: &ScreenCapture) -> Result<Option<Choice>> {
        let is_covered = capture.structures().is_some_and(|s| s.front.dialog) && self.trouble.is_covered(capture);
        let is_away = !self.trouble.is_app_in_front(capture);
        self.unsaved = !self.bounds.allow_risky && has_text(capture);
        if self.unsaved {
            // An app that is put into the background keeps its texts.
            return Ok(self.relaunch(capture).filter(|_| is_away && !is_covered));
        }
        if let Some(choice) = self.known_choice(capture) {
            return Ok(Some(choice));
        }
        if let Some(choice) = self.dismissal(capture, is_covered).await? {
            return Ok(Some(choice));
        }
        Ok(self.back(capture).or_else(|| self.relaunch(capture)).or_else(|| self.home(capture)))
    }

    /// Returns the best action that fixed the failure before and can be done now.
    fn known_choice(&mut self, capture: &ScreenCapture) -> Option<Choice> {
        while !self.known.is_empty() {
            let known = self.known.remove(0);
            if let Some(plan) = self.plan_of(capture, &known) {
                let counts = Some((known.worked, known.tried));
                return Some(Choice { basis: RecoverBasis::Known, plan: plan.recovery(), counts });
            }
        }
        None
    }

    fn plan_of(&self, capture: &ScreenCapture, known: &Known) -> Option<Plan> {
        match known.action.verb {
            Verb::Tap => self.touch(capture, &known.action),
            // The page on which the action failed is not left because of what helped another one.
            _ if !self.bounds.may_leave && self.trouble.is_page_in_front(capture) => None,
            Verb::Back => Some(Plan::backs(known.times())),
            Verb::Home => Some(Plan::single(Verb::Home, Input::Home)),
            Verb::Relaunch => self.relaunch_of(known.package()?),
            _ => None,
        }
    }

    fn relaunch_of(&self, app: &str) -> Option<Plan> {
        self.call.device().check_app(app).ok().map(|_| Plan::relaunch(app))
    }

    fn touch(&self, capture: &ScreenCapture, action: &Action) -> Option<Plan> {
        let unless_risky = (!self.bounds.allow_risky).then_some(&self.rules);
        touching::touch(capture, action.verb, action.target.as_ref()?, unless_risky)
    }

    /// Returns how to dismiss what is in front of the page: as it was dismissed before, else by Back.
    async fn dismissal(&mut self, capture: &ScreenCapture, is_covered: bool) -> Result<Option<Choice>> {
        let Some(front) = scope_in_front(capture).filter(|_| capture.reliable()) else { return Ok(None) };
        let state = self.call.state_in_front(capture).await;
        let known = self.call.core.store.read_all(move |c| known_of(c, Some(&front))).await?;
        let interrupt = known.iter().flat_map(|(_, graph)| &graph.interrupts).find(|one| Some(one.state) == state);
        if (interrupt.is_none() && !is_covered) || self.dismissed >= MAX_DISMISSALS {
            return Ok(None);
        }
        self.dismissed += 1;
        let dismiss = |plan: Plan| Choice { basis: RecoverBasis::Dismiss, plan: plan.recovery(), counts: None };
        let actions = interrupt.iter().flat_map(|one| &one.dismissals).filter_map(|edge| edge.what.as_ref());
        for action in actions.filter(|action| action.verb == Verb::Tap) {
            if let Some(plan) = self.touch(capture, action) {
                return Ok(Some(dismiss(plan)));
            }
        }
        // Back usually closes a dialog without agreeing.
        let is_new = self.tried.insert((RecoverBasis::Dismiss, capture.place().page_key));
        Ok(is_new.then(|| dismiss(Plan::backs(1))))
    }

    /// Returns Back, where another page than the expected one is in front, or where the caller allows leaving the page:
    /// once, and once more to close the keyboard before.
    fn back(&mut self, capture: &ScreenCapture) -> Option<Choice> {
        let page = capture.place();
        let is_tried = |basis| self.tried.iter().any(|(tried, _)| *tried == basis);
        let may = self.bounds.may_leave || !self.trouble.is_page_in_front(capture);
        // Once the app was relaunched, its first page is in front.
        let is_useful =
            capture.reliable() && self.trouble.is_app_in_front(capture) && !is_tried(RecoverBasis::Relaunch);
        let keyboard = page.keyboard.then(|| "keyboard".to_owned());
        let is_new = is_useful && may && self.tried.insert((RecoverBasis::Back, keyboard));
        is_new.then(|| Choice { basis: RecoverBasis::Back, plan: Plan::backs(1).recovery(), counts: None })
    }

    /// Returns the relaunch of the app, once.
    fn relaunch(&mut self, capture: &ScreenCapture) -> Option<Choice> {
        let is_away = !self.trouble.is_app_in_front(capture);
        if !(self.bounds.may_leave || is_away) || !self.tried.insert((RecoverBasis::Relaunch, None)) {
            return None;
        }
        let app = self.trouble.app.clone()?;
        let plan = self.relaunch_of(&app)?;
        Some(Choice { basis: RecoverBasis::Relaunch, plan: plan.recovery(), counts: None })
    }

    /// Returns Home, once, where the app cannot be used.
    fn home(&mut self, capture: &ScreenCapture) -> Option<Choice> {
        let is_usable = self.trouble.is_app_in_front(capture) && !self.trouble.is_covered(capture);
        if !self.bounds.may_leave || is_usable || !self.tried.insert((RecoverBasis::Home, None)) {
            return None;
        }
        let plan = Plan::single(Verb::Home, Input::Home);
        Some(Choice { basis: RecoverBasis::Home, plan: plan.recovery(), counts: None })
    }
}
