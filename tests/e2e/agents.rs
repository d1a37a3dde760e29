//! A scripted agent does ten tasks, first without memory and then with it, in two ways: it reads the whole page as JSON before each action, or it acts with
//! `then: "outline"`. It decides only by the output that it has read. The test counts its calls and the tokens in its
//! context: the commands and their output.

use afd_base::model::Tokenizers;
use afd_link::agent;
use afd_link::human::{kebab, render_of};
use afd_link::outcome::{Failure, Outcome};
use afd_tests::{CallError, Client, World};
use serde_json::{Value, json};

/// A step of a task.
enum Step {
    /// Tap the element with this title, which leads to another page.
    Tap(&'static str),
    /// Tap the element with this title, which does something.
    Do(&'static str),
    /// Put a text into a field.
    Fill(&'static str, &'static str),
    /// Find the page that shows a text. It is behind one of the rows of the current page.
    Find(&'static str),
    /// Press Back.
    Back,
    /// Check that a text is on the screen.
    Check(&'static str),
}
use Step::{Back, Check, Do, Fill, Find, Tap};

const SETTINGS: &str = "com.android.settings";
const SHOP: &str = "org.example.shop";
const BANK: &str = "org.example.bank";

/// App in which each task begins, and its steps.
const TASKS: [(&str, &[Step]); 10] = [
    (SETTINGS, &[Tap("Display"), Do("Dark theme"), Back, Tap("Sound"), Do("Do Not Disturb"), Check("Vibrate")]),
    (
        SETTINGS,
        &[
            Tap("Wi-Fi"),
            Tap("Network preferences"),
            Check("saved networks"),
            Back,
            Back,
            Tap("Battery"),
            Check("day left"),
        ],
    ),
    (SETTINGS, &[Find("camera today"), Check("camera")]),
    (SETTINGS, &[Find("59 GB"), Check("59 GB")]),
    (SETTINGS, &[Tap("About phone"), Check("Practice Phone")]),
    (BANK, &[Fill("User name", "alice"), Fill("Password", "hunter2"), Do("Log in"), Check("Savings")]),
    (SHOP, &[Tap("Chairs"), Tap("Chair 2"), Do("Add to cart"), Tap("To cart"), Tap("Check out"), Check("Address")]),
    (SHOP, &[Tap("Me"), Tap("Orders"), Check("No orders"), Back, Tap("Help"), Check("help@example.org")]),
    (SHOP, &[Tap("Search"), Back, Tap("Lamps"), Tap("Lamp 3"), Tap("Reviews"), Check("Customer")]),
    ("org.example.browser", &[Tap("Travel info"), Check("Bags"), Tap("Back to booking"), Check("Travel")]),
];

/// Cost of a way of working.
#[derive(Debug, Default, Clone, Copy)]
struct Cost {
    calls: usize,
    tokens: i64,
}

/// An agent with a way of working.
struct Agent<'a> {
    client: Client,
    session: &'a str,
    tokens: &'a dyn Fn(&str) -> i64,
    /// Whether it reads outlines, returned by the actions themselves.
    outlines: bool,
    /// Whether it queries the memory before it explores.
    remembers: bool,
    /// Last output that it read about the current page.
    page: String,
    cost: Cost,
}

impl Agent<'_> {
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
        while let Some((alias, _)) = self.rows().into_iter().find(|(_, own)| own == "Don't allow" || own == "Not now") {
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

    fn fill(&mut self, title: &'static str, text: &'static str) {
        if self.outlines {
            let command = format!("afctl fill \"{title}\" \"{text}\"");
            assert!(self.act(&command, "act.fill", json!({"value": title, "text": text})), "{}", self.page);
            return;
        }
        self.tap(title);
        self.act(&format!("afctl act text --text \"{text}\""), "act.text", json!({"text": text}));
    }

    /// Finds the page that shows a text.
    fn find(&mut self, text: &str) {
        let mut tried = Vec::new();
        for _ in 0..40 {
            let next = self
                .rows()
                .into_iter()
                .map(|(_, title)| title)
                .find(|title| !title.is_empty() && !tried.contains(title));
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
        let command = format!("afctl go \"{goal}\" --app {app}");
        let mut params = json!({"goal": goal, "app": app});
        if self.outlines {
            params["then"] = json!("outline");
        }
        let (text, result) = self.call(&command, "act.goTo", params);
        let arrived = result.is_some_and(|walk| walk["arrived"] == true);
        match self.outlines {
            true if arrived => self.page = text,
            _ => self.look(),
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
    fn explore(&mut self, app: &str, steps: &[Step]) {
        self.launch(app);
        for step in steps {
            match step {
                Tap(title) | Do(title) => self.tap(title),
                Fill(title, text) => self.fill(title, text),
                Find(text) => self.find(text),
                Back => self.back(),
                Check(text) => self.check(text),
            }
        }
    }

    /// Does a task with what is known of the app: it names the last page or element of each way instead of walking it.
    fn remember(&mut self, app: &str, steps: &[Step]) {
        let (mut way, mut opened): (Vec<&Step>, bool) = (Vec::new(), false);
        for step in steps {
            match step {
                Tap(_) | Back | Find(_) => way.push(step),
                Do(title) => {
                    if (!way.is_empty() || !opened) && !self.go(title, app) {
                        self.walk(app, &way, opened);
                    }
                    self.tap(title);
                    (way, opened) = (Vec::new(), true);
                }
                Fill(..) | Check(_) => {
                    match way.last() {
                        Some(Tap(goal) | Find(goal)) if self.go(goal, app) => {}
                        None if opened => {}
                        _ => self.walk(app, &way, opened),
                    }
                    (way, opened) = (Vec::new(), true);
                    match step {
                        Fill(title, text) => self.fill(title, text),
                        Check(text) => self.check(text),
                        _ => {}
                    }
                }
            }
        }
    }

    /// Walks a way step by step, because the memory does not know it.
    fn walk(&mut self, app: &str, way: &[&Step], opened: bool) {
        if !opened {
            self.launch(app);
        }
        for step in way {
            match step {
                Tap(title) | Do(title) => self.tap(title),
                Find(text) => self.find(text),
                Back => self.back(),
                Fill(..) | Check(_) => {}
            }
        }
    }

    fn work(&mut self, world: &World) -> Cost {
        self.cost = Cost::default();
        for (app, steps) in &TASKS {
            world.phone.scene(app, None);
            world.phone.run(json!({"do": "scroll", "pixels": -100_000}));
            for name in ["user", "password"] {
                world.phone.run(json!({"do": "set", "app": BANK, "name": name, "value": ""}));
            }
            match self.remembers {
                true => self.remember(app, steps),
                false => self.explore(app, steps),
            }
        }
        self.cost
    }
}

#[test]
fn outlines_cost_a_sixth_of_the_tokens_and_memory_saves_half_of_the_calls() {
    let counter = Tokenizers::default().counter("gpt-4o");
    let count = |text: &str| counter.count(text);
    let costs = [false, true].map(|outlines| {
        let world = World::new();
        [("first", false), ("second", true)].map(|(session, remembers)| {
            let client = world.client_for(session);
            let mut agent = Agent {
                client,
                session,
                tokens: &count,
                outlines,
                remembers,
                page: String::new(),
                cost: Cost::default(),
            };
            agent.work(&world)
        })
    });
    for (i, memory) in ["without memory", "with memory"].into_iter().enumerate() {
        let (old, new) = (costs[0][i], costs[1][i]);
        let (tokens, calls) = (new.tokens as f64 / old.tokens as f64, new.calls as f64 / old.calls as f64);
        println!("{memory}: {old:?} as JSON, {new:?} as outlines: {tokens:.3} of the tokens, {calls:.3} of the calls");
        assert!(tokens <= 0.16, "{memory}: {tokens:.3} of the tokens");
        // With memory there is less to read, so outlines save fewer calls.
        assert!(calls <= [0.57, 0.65][i], "{memory}: {calls:.3} of the calls");
    }
    let [without, with] = costs[1];
    let (calls, tokens) = (with.calls as f64 / without.calls as f64, with.tokens as f64 / without.tokens as f64);
    println!("with memory {calls:.3} of the calls and {tokens:.3} of the tokens without");
    assert!(
        calls <= 0.6 && tokens <= 0.7,
        "memory saves too little: {calls:.3} of the calls, {tokens:.3} of the tokens"
    );
}
