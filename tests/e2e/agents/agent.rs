//! The agent: it decides only by the output that it has read.

use afd_link::agent;
use afd_link::human::{kebab, render_of};
use afd_link::outcome::{Failure, Outcome};
use afd_tests::{CallError, Client};
use serde_json::{Value, json};

use super::task::Step::{self, Back, Check, Do, Fill, Find, Tap};
use super::task::legs;

/// Labels of the buttons that dismiss a pop-up without agreeing.
const REFUSALS: [&str; 6] = ["Don't allow", "Not now", "Later", "Sp\u{e4}ter", "Skip", "Got it"];

/// Number of unknown elements that a walk may try where the known way ends.
const EXPLORE: u32 = 8;

/// Cost of a way of working.
#[derive(Debug, Default, Clone, Copy)]
pub struct Cost {
    pub calls: usize,
    pub tokens: i64,
}

/// An agent with a way of working.
pub struct Agent<'a> {
    pub client: Client,
    pub session: &'a str,
    pub tokens: &'a dyn Fn(&str) -> i64,
    /// Whether it reads outlines, returned by the actions themselves.
    pub outlines: bool,
    /// Whether it queries the memory before it explores.
    pub remembers: bool,
    /// Last output that it read about the current page.
    pub page: String,
    pub cost: Cost,
}

impl<'a> Agent<'a> {
    /// Creates an agent. `(outlines, remembers)` is its way of working.
    pub fn new(
        client: Client,
        session: &'a str,
        tokens: &'a dyn Fn(&str) -> i64,
        (outlines, remembers): (bool, bool),
    ) -> Self {
        Self { client, session, tokens, outlines, remembers, page: String::new(), cost: Cost::default() }
    }

    /// Makes a call and reads the output that the command line prints for it; returns the output and the result.
    fn call(&mut self, command: &str, method: &'static str, params: Value) -> (String, Option<Value>) {
        let (category, op) = method.split_once('.').expect("a method");
        let mut params = params;
        params["session"] = json!(self.session);
        let result = match self.client.connection.call(method, params) {
            Ok(result) => Ok(serde_json::value::to_raw_value(&result).expect("JSON")),
            Err(CallError::Rpc { number, message, data }) => Err(Failure::from_response(number, message, data)),
            Err(CallError::Io(error)) => panic!("{method}: {error}"),
        };
        let outcome =
            Outcome { category: category.into(), op: kebab(op), result, render: render_of(method), only: None };
        let text = if self.outlines { agent::text(&outcome) } else { outcome.json() };
        self.cost.calls += 1;
        self.cost.tokens += (self.tokens)(command) + (self.tokens)(&text);
        (text, outcome.result.ok().and_then(|result| serde_json::from_str(result.get()).ok()))
    }

    fn look(&mut self) {
        self.page = match self.outlines {
            true => self.call("afctl look", "observe.page", json!({"format": "outline"})).0,
            false => self.call("afctl observe page", "observe.page", json!({})).0,
        };
    }

    /// Performs an action and reads the resulting page; returns whether the action succeeded.
    fn act(&mut self, command: &str, method: &'static str, mut params: Value) -> bool {
        if self.outlines {
            params["then"] = json!("outline");
        }
        let (text, result) = self.call(command, method, params);
        if self.outlines && result.is_some() {
            self.page = text;
        } else {
            self.look();
        }
        result.is_some()
    }

    /// Returns the aliases and titles of the rows in the last output.
    fn rows(&self) -> Vec<(String, String)> {
        if self.outlines {
            let lines = self.page.lines().filter_map(|line| {
                let line = line.trim();
                let (alias, rest) = line.strip_prefix('@').and_then(|line| line.split_once(' '))?;
                let label = rest.split('"').nth(1)?;
                Some((format!("@{alias}"), label.split(',').next().unwrap_or(label).to_owned()))
            });
            return lines.collect();
        }
        let page: Value = serde_json::from_str(&self.page).unwrap_or_default();
        let rows = page["data"]["refs"]["rows"].as_array().cloned().unwrap_or_default();
        let row =
            |r: &Value| Some((r["ref"].as_str()?.to_owned(), r["title"].as_str().or(r["label"].as_str())?.to_owned()));
        rows.iter().filter(|r| r["window"].is_null()).filter_map(row).collect()
    }

    fn tap_alias(&mut self, alias: &str) {
        let command = if self.outlines {
            format!("afctl tap {alias}")
        } else {
            format!("afctl act tap --by ref --value {alias}")
        };
        assert!(self.act(&command, "act.tap", json!({"by": "ref", "value": alias})), "{alias}: {}", self.page);
    }

    /// Dismisses pop-ups that have appeared spontaneously.
    fn refuse_pop_ups(&mut self) {
        while let Some((alias, _)) = self.rows().into_iter().find(|(_, own)| REFUSALS.contains(&own.as_str())) {
            self.tap_alias(&alias);
        }
    }

    fn back(&mut self) {
        self.refuse_pop_ups();
        self.act("afctl act back", "act.back", json!({}));
    }

    /// Taps the element with this title. Scrolls to it first if it is not on the screen.
    fn tap(&mut self, title: &str) {
        for _ in 0..4 {
            self.refuse_pop_ups();
            if let Some((alias, _)) = self.rows().into_iter().find(|(_, own)| own == title) {
                self.tap_alias(&alias);
                return;
            }
            self.act(&format!("afctl act scroll-to --text \"{title}\""), "act.scrollTo", json!({"text": title}));
        }
        panic!("{title:?} is nowhere: {}", self.page);
    }

    fn fill(&mut self, title: &str, text: &str) {
        if self.outlines {
            let command = format!("afctl fill \"{title}\" \"{text}\"");
            assert!(self.act(&command, "act.fill", json!({"value": title, "text": text})), "{}", self.page);
            return;
        }
        self.tap(title);
        self.act(&format!("afctl act text --text \"{text}\""), "act.text", json!({"text": text}));
    }

    /// Returns the titles of the elements behind which something may be found: in an outline, of the rows.
    fn openable(&self) -> Vec<String> {
        let is_row = |alias: &str| self.page.lines().any(|line| line.trim().starts_with(&format!("{alias} row ")));
        self.rows().into_iter().filter(|(alias, _)| !self.outlines || is_row(alias)).map(|(_, title)| title).collect()
    }

    /// Finds the page that shows a text.
    fn find(&mut self, text: &str) {
        let mut tried = Vec::new();
        for _ in 0..40 {
            let next = self.openable().into_iter().find(|title| !title.is_empty() && !tried.contains(title));
            let Some(title) = next else {
                let before = self.page.clone();
                self.act("afctl act scroll --direction down", "act.scroll", json!({"direction": "down"}));
                assert_ne!(before, self.page, "{text:?} is nowhere");
                continue;
            };
            tried.push(title.clone());
            let (from, before) = (self.rows(), self.page.clone());
            self.tap(&title);
            if self.page.contains(text) {
                return;
            }
            if self.rows() != from && self.page != before {
                self.back();
            }
        }
        panic!("{text:?} was not found");
    }

    /// Goes to a page or an element by what the memory knows; returns whether it arrived.
    fn go(&mut self, goal: &str, app: &str) -> bool {
        let command = format!("afctl go \"{goal}\" --app {app} --explore {EXPLORE}");
        let mut params = json!({"goal": goal, "app": app, "explore": EXPLORE});
        if self.outlines {
            params["then"] = json!("outline");
        }
        let (text, result) = self.call(&command, "act.goTo", params);
        let arrived = result.is_some_and(|walk| walk["arrived"] == true);
        if !arrived {
            println!("not arrived at {goal:?}: {}", text.lines().take(4).collect::<Vec<_>>().join(" / "));
        }
        // A walk that stops elsewhere prints the page there.
        match self.outlines && text.contains("\npage ") {
            true => self.page = text,
            false => self.look(),
        }
        arrived
    }

    fn check(&mut self, text: &str) {
        let command = format!("afctl verify text-contains --text \"{text}\"");
        let (printed, passed) = self.call(&command, "verify.textContains", json!({"text": text}));
        assert!(passed.is_some(), "{text:?}: {printed}\n{}", self.page);
    }

    fn launch(&mut self, app: &str) {
        self.act(&format!("afctl launch {app}"), "act.launch", json!({"package": app}));
        // The app may be in front already, so that nothing has changed.
        if self.rows().is_empty() {
            self.look();
        }
    }

    /// Does a task by reading each page.
    pub fn explore(&mut self, app: &str, steps: &[Step]) {
        self.launch(app);
        for step in steps {
            match step {
                Tap(title) | Do(title) => self.tap(title),
                Fill { fill, text } => self.fill(fill, text),
                Find(text) => self.find(text),
                Back(_) => self.back(),
                Check(text) => self.check(text),
            }
        }
    }

    /// Does a task with what is known of the app: it names the last page or element of each way instead of walking it.
    /// `names` are what the agent calls these, in order.
    pub fn remember(&mut self, app: &str, steps: &[Step], names: &[String]) {
        let mut names = names.iter();
        for (at, leg) in legs(steps).into_iter().enumerate() {
            let arrived = leg.goal.is_some() && names.next().is_some_and(|name| self.go(name, app));
            if !arrived && (at == 0 || !leg.way.is_empty()) && !self.sees(leg.end) {
                self.walk(app, leg.way, at > 0);
            }
            match leg.end {
                Do(title) => self.tap(title),
                Fill { fill, text } => self.fill(fill, text),
                Check(text) => self.check(text),
                Tap(_) | Back(_) | Find(_) => {}
            }
        }
    }

    /// Returns whether the element on which a step acts, or the text that it checks, is in sight.
    fn sees(&self, step: &Step) -> bool {
        match step {
            Tap(title) | Do(title) | Fill { fill: title, .. } => self.rows().iter().any(|(_, own)| own == title),
            Check(text) | Find(text) => self.page.contains(text.as_str()),
            Back(_) => false,
        }
    }

    /// Goes back until the way begins on the page, because launching an app that is in front does not leave its page.
    fn back_to(&mut self, way: &[Step]) {
        let Some(Tap(first)) = way.first() else { return };
        for _ in 0..4 {
            if self.rows().iter().any(|(_, own)| own == first) {
                return;
            }
            self.back();
        }
    }

    /// Walks a way step by step, because the memory does not know it. It goes on from the page in front if that is on the way.
    fn walk(&mut self, app: &str, way: &[Step], opened: bool) {
        let rows = self.rows();
        let in_sight = |step: &Step| matches!(step, Tap(title) if rows.iter().any(|(_, own)| own == title));
        let done = way.iter().rposition(in_sight);
        if !opened && done.is_none() {
            self.launch(app);
            self.back_to(way);
        }
        for step in &way[done.unwrap_or_default()..] {
            match step {
                Tap(title) | Do(title) => self.tap(title),
                Find(text) => self.find(text),
                Back(_) => self.back(),
                Fill { .. } | Check(_) => {}
            }
        }
    }
}
