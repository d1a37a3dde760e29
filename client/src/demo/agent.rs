//! The calls of the tour's agent, and what they cost it.

use afd_proto::act::{
    ActBack, ActFill, ActLaunch, ActScroll, ActTap, Direction, FillParams, LaunchParams, PlainParams,
};
use afd_proto::act::{ScrollParams, TapParams};
use afd_proto::go::{ActGoTo, GoToParams, GoToResult};
use afd_proto::look::{Look, Then};
use afd_proto::observe::{Format, ObservePage, PageParams};
use afd_proto::undo::{ActUndo, ActUndoParams, ActUndoResult};
use afd_proto::verify::{ElementParams, ElementState, VerifyElement};
use afd_proto::{Method, Secret};

use super::world::{DemoError, World};
use afd_link::outcome::Failure;

/// Estimated length of a token, in characters.
const CHARACTERS_PER_TOKEN: usize = 4;

/// What one round costs an agent.
#[derive(Default, Clone, Copy)]
pub(super) struct Cost {
    pub calls: usize,
    /// Number of characters that the agent read.
    read: usize,
}

impl Cost {
    /// Returns the estimated number of tokens that the agent read.
    pub(super) fn tokens(self) -> usize {
        self.read / CHARACTERS_PER_TOKEN
    }
}

/// An agent that works in a session of its own.
pub(super) struct Agent {
    pub world: World,
    /// Session for the calls; `None` for the default session.
    pub session: Option<String>,
    pub cost: Cost,
}

impl Agent {
    pub(super) fn new(world: World) -> Self {
        Self { world, session: None, cost: Cost::default() }
    }

    /// Continues as another agent, whose cost starts at zero.
    pub(super) fn become_another(&mut self, session: Option<&str>) {
        (self.session, self.cost) = (session.map(str::to_owned), Cost::default());
    }

    /// Makes a call and adds it to the cost.
    fn call<M: Method>(&mut self, params: &M::Params) -> Result<M::Result, Failure> {
        self.cost.calls += 1;
        self.world.call::<M>(params)
    }

    /// Makes a call; if it fails, returns an error that ends the tour.
    pub(super) fn must<M: Method>(&mut self, params: &M::Params) -> Result<M::Result, DemoError> {
        self.call::<M>(params).map_err(|e| format!("{} failed: {}: {}", M::INFO.name, e.code, e.message).into())
    }

    /// Adds the length of a text to the cost, and returns the text.
    fn read(&mut self, text: Option<String>) -> String {
        let text = text.unwrap_or_default();
        self.cost.read += text.chars().count();
        text
    }

    fn read_look(&mut self, look: Option<Look>) -> String {
        self.read(look.and_then(|look| look.observation).and_then(|page| page.outline))
    }

    pub(super) fn look(&mut self) -> Result<String, DemoError> {
        let params =
            PageParams { format: Some(Format::Outline), session: self.session.clone(), ..PageParams::default() };
        let outline = self.must::<ObservePage>(&params)?.body.context.outline;
        Ok(self.read(outline))
    }

    /// Opens a page of a site, and returns its outline.
    pub(super) fn open(&mut self, url: String) -> Result<String, DemoError> {
        let session = self.session.clone();
        let params = LaunchParams { package: Some(url), session, then: Some(Then::Outline), ..LaunchParams::default() };
        let look = self.must::<ActLaunch>(&params)?.body.look;
        Ok(self.read_look(look))
    }

    pub(super) fn fill(&mut self, label: &str, text: &str) -> Result<(), DemoError> {
        let session = self.session.clone();
        let params = FillParams { value: label.to_owned(), text: Secret::new(text), session, ..FillParams::default() };
        self.must::<ActFill>(&params).map(|_| ())
    }

    /// Taps the element with this label. Depending on `then`, returns the outline of the resulting page or what changed
    /// on it.
    pub(super) fn tap(&mut self, label: &str, then: Then) -> Result<String, Failure> {
        let params = TapParams {
            value: Some(label.to_owned()),
            then: Some(then),
            session: self.session.clone(),
            ..TapParams::default()
        };
        let look = self.call::<ActTap>(&params)?.body.look;
        Ok(self.read_look(look))
    }

    pub(super) fn back(&mut self) -> Result<String, DemoError> {
        let params = PlainParams { then: Some(Then::Outline), session: self.session.clone(), ..PlainParams::default() };
        let look = self.must::<ActBack>(&params)?.body.look;
        Ok(self.read_look(look))
    }

    pub(super) fn scroll(&mut self) -> Result<String, DemoError> {
        let params = ScrollParams {
            direction: Direction::Down,
            amount: None,
            session: self.session.clone(),
            device: None,
            url: None,
            token: None,
            request_key: None,
            strict: false,
            then: Some(Then::Outline),
        };
        let look = self.must::<ActScroll>(&params)?.body.look;
        Ok(self.read_look(look))
    }

    /// Goes to an element by the way that the memory knows. Returns the result and the outline of the page at the end.
    pub(super) fn go(&mut self, goal: &str) -> Result<(GoToResult, String), DemoError> {
        let params = GoToParams {
            goal: Some(goal.to_owned()),
            then: Some(Then::Outline),
            session: self.session.clone(),
            ..GoToParams::default()
        };
        let mut walk = self.must::<ActGoTo>(&params)?.body;
        self.read(Some(walk.text.clone()));
        let look = walk.look.take();
        Ok((walk, self.read_look(look)))
    }

    pub(super) fn verify(&mut self, label: &str, state: ElementState) -> Result<(), DemoError> {
        let session = self.session.clone();
        let params = ElementParams { text: label.to_owned(), state: Some(state), session, ..ElementParams::default() };
        self.must::<VerifyElement>(&params).map(|_| ())
    }

    pub(super) fn undo(&mut self) -> Result<ActUndoResult, DemoError> {
        let params = ActUndoParams { session: self.session.clone(), ..ActUndoParams::default() };
        Ok(self.must::<ActUndo>(&params)?.body)
    }
}
