//! The script of the tour: the same task twice, without and with memory; then a failure and its recovery; then the
//! content of the memory.

use std::collections::HashSet;
use std::io::Write;
use std::time::Duration;

use afd_proto::act::{ActBack, ActScroll, ActTap, Direction, PlainParams, ScrollParams, TapParams};
use afd_proto::go::{ActGoTo, GoToParams};
use afd_proto::graph::{GraphFormat, GraphParams, VisualGraph};
use afd_proto::look::Then;
use afd_proto::memory::{LogParams, MemoryLog, MemoryStats, StatsParams};
use afd_proto::observe::{Format, ObservePage, ObserveRefs, PageParams, RefsParams};
use afd_proto::recover::RecoverRelaunch;
use afd_proto::verify::{NodeExistsParams, VerifyNodeExists};
use afd_proto::vocabulary::By;
use afd_proto::{ErrorCode, Method};
use anstyle::{AnsiColor, Style};
use serde_json::json;

use super::world::{DemoError, World};
use afd_link::human::{self, paint};
use afd_link::outcome::Failure;

const SETTINGS: &str = "com.android.settings";
/// Name of the session for the second round.
const TOMORROW: &str = "tomorrow";
const STEP: Style = AnsiColor::Cyan.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const DIM: Style = Style::new().dimmed();
/// Average length of a token in English text, in characters.
const CHARACTERS_PER_TOKEN: usize = 4;
/// Maximum number of lines of a page to print.
const SHOWN: usize = 8;

/// Titles of the switches to flip. The labels on the path to a switch do not contain its title.
const TASKS: [&str; 2] = ["Remove animations", "Stay awake"];

pub(super) struct Story {
    world: World,
    seed: u64,
    pause: Duration,
    setting: &'static str,
    /// Session for the calls; `None` for the default session.
    session: Option<String>,
    cost: Cost,
}

/// What one round costs an agent.
#[derive(Default, Clone, Copy)]
struct Cost {
    calls: usize,
    /// Number of characters that the agent read.
    read: usize,
}

fn say(text: &str) {
    let mut out = anstream::stdout();
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}

fn indent(text: &str) -> String {
    text.lines().map(|l| format!("    {l}\n")).collect::<String>().trim_end().to_owned()
}

impl Story {
    pub(super) fn new(world: World, seed: u64, pause: Duration) -> Self {
        let setting = TASKS[usize::try_from(seed % TASKS.len() as u64).unwrap_or(0)];
        Self { world, seed, pause, setting, session: None, cost: Cost::default() }
    }

    pub(super) fn play(mut self) -> Result<(), DemoError> {
        say(&paint(STEP, "afd, the tour"));
        say(&format!(
            "Started a practice phone (seed {}) at {}, and a daemon with an empty memory.",
            self.seed, self.world.url
        ));
        say(&format!("The task: flip \"{}\". The agent has never seen this phone.\n", self.setting));
        let first = self.first_round()?;
        let second = self.second_round()?;
        say(&format!(
            "\n{} the same task took {} calls and about {} tokens to read without memory, {} calls and {} tokens with it.\n",
            paint(GOOD, "Compared:"),
            first.calls,
            first.read / CHARACTERS_PER_TOKEN,
            second.calls,
            second.read / CHARACTERS_PER_TOKEN
        ));
        self.stale_alias()?;
        self.print_memory()
    }

    fn step(&self, title: &str) {
        std::thread::sleep(self.pause);
        say(&paint(STEP, &format!("> {title}")));
    }

    /// Makes a call for the agent and adds it to the cost.
    fn call<M: Method>(&mut self, params: &M::Params) -> Result<M::Result, Failure> {
        self.cost.calls += 1;
        self.world.call::<M>(params)
    }

    /// Makes a call for the agent; if the call fails, returns an error that ends the tour.
    fn must<M: Method>(&mut self, params: &M::Params) -> Result<M::Result, DemoError> {
        self.call::<M>(params).map_err(|e| format!("{} failed: {}: {}", M::INFO.name, e.code, e.message).into())
    }

    /// Adds the length of an outline to the cost, and returns the outline.
    fn read(&mut self, outline: Option<String>) -> String {
        let outline = outline.unwrap_or_default();
        self.cost.read += outline.chars().count();
        outline
    }

    fn look(&mut self) -> Result<String, DemoError> {
        let params =
            PageParams { format: Some(Format::Outline), session: self.session.clone(), ..PageParams::default() };
        let outline = self.must::<ObservePage>(&params)?.body.context.outline;
        Ok(self.read(outline))
    }

    /// Taps the element with this label. Depending on `then`, returns the outline of the resulting page or what changed
    /// on it.
    fn tap(&mut self, label: &str, then: Then) -> Result<String, Failure> {
        let params = TapParams {
            value: Some(label.to_owned()),
            then: Some(then),
            session: self.session.clone(),
            ..TapParams::default()
        };
        let look = self.call::<ActTap>(&params)?.body.look;
        Ok(self.read(look.and_then(|look| look.observation).and_then(|page| page.outline)))
    }

    fn back(&mut self) -> Result<String, DemoError> {
        let params = PlainParams { then: Some(Then::Outline), session: self.session.clone(), ..PlainParams::default() };
        let look = self.must::<ActBack>(&params)?.body.look;
        Ok(self.read(look.and_then(|look| look.observation).and_then(|page| page.outline)))
    }

    fn scroll(&mut self) -> Result<String, DemoError> {
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
        Ok(self.read(look.and_then(|look| look.observation).and_then(|page| page.outline)))
    }

    /// Plays the first round. The agent reads the labels and opens rows one by one, starting with those that share a
    /// word with the setting.
    fn first_round(&mut self) -> Result<Cost, DemoError> {
        self.cost = Cost::default();
        self.step("Look (afctl look)");
        let mut page = self.look()?;
        print_page(&page);
        let mut tried: Vec<String> = Vec::new();
        while !has(&page, self.setting) {
            if tried.len() > 40 {
                return Err(format!("\"{}\" was not found", self.setting).into());
            }
            let Some(title) = next_row(&page, self.setting, &tried) else {
                page = self.scroll()?;
                continue;
            };
            self.step(&format!("Is it behind \"{title}\"? (afctl tap \"{title}\")"));
            let there = self.tap(&title, Then::Outline)?;
            if has(&there, self.setting) {
                print_page(&there);
                break;
            }
            let left = page.lines().next() != there.lines().next();
            tried.push(title);
            page = if left { self.back()? } else { there };
        }
        self.flip()?;
        Ok(self.cost)
    }

    /// Plays the second round: another agent gets the same task and uses what the first round left in memory.
    fn second_round(&mut self) -> Result<Cost, DemoError> {
        say("");
        self.step("The next day, another agent, the same phone, the same task");
        self.world.control_phone("scene", &json!({"app": SETTINGS}))?;
        self.world.control_phone("scroll", &json!({"pixels": -9999}))?;
        (self.cost, self.session) = (Cost::default(), Some(TOMORROW.to_owned()));
        self.step(&format!("Go there by the way that the memory knows (afctl go \"{}\")", self.setting));
        let params = GoToParams {
            goal: Some(self.setting.to_owned()),
            then: Some(Then::Outline),
            session: self.session.clone(),
            ..GoToParams::default()
        };
        let walk = self.must::<ActGoTo>(&params)?.body;
        say(&format!("    {}", walk.text));
        for step in &walk.steps {
            say(&indent(&paint(DIM, &step.action)));
        }
        if !walk.arrived {
            return Err(walk.text.into());
        }
        let there = self.read(walk.look.and_then(|look| look.observation).and_then(|page| page.outline));
        self.read(Some(walk.text));
        print_page(&there);
        self.flip()?;
        Ok(self.cost)
    }

    /// Flips the switch, and verifies that it shows the state that the action returned.
    fn flip(&mut self) -> Result<(), DemoError> {
        let setting = self.setting;
        self.step(&format!("Flip it (afctl tap \"{setting}\"), reading only what changed"));
        let changed = self.tap(setting, Then::Diff)?;
        say(&indent(&changed));
        let line = changed.lines().find(|l| l.contains(setting)).ok_or("the switch did not move")?;
        let shown = line.split('"').nth(1).and_then(|label| label.rsplit(", ").next()).unwrap_or_default().to_owned();
        self.step(&format!("Verify that it shows {shown} (afctl verify node-exists)"));
        let session = self.session.clone();
        let params = NodeExistsParams {
            by: By::Text,
            value: shown,
            exact_match: true,
            session,
            device: None,
            url: None,
            token: None,
        };
        self.must::<VerifyNodeExists>(&params)?;
        say(&format!("    {}", paint(GOOD, "passed")));
        Ok(())
    }

    /// Shows that the daemon refuses a stale alias and remembers the recovery.
    fn stale_alias(&mut self) -> Result<(), DemoError> {
        self.session = None;
        self.world.control_phone("scene", &json!({"app": SETTINGS}))?;
        self.world.control_phone("scroll", &json!({"pixels": -9999}))?;
        self.step("What goes wrong: a list moves behind the agent's back");
        let seen = self.must::<ObserveRefs>(&RefsParams::default())?;
        let row = seen.body.refs.rows.iter().find(|row| row.title.is_some()).ok_or("there is no row to tap")?;
        let alias = row.alias.clone();
        self.world.control_phone("scroll", &json!({"pixels": 9999}))?;
        say(&format!(
            "    {alias} was \"{}\". Another row is in its place now; the phone's own service would tap it.",
            row.label
        ));
        self.step(&format!("afctl tap {alias}"));
        match self.tap(&alias, Then::Outline) {
            Err(error) if error.code == ErrorCode::RefAliasStale.name() => {
                say(&format!("    {} {}", paint(BAD, &error.code), error.message));
            }
            other => return Err(format!("expected the tap to be refused, got {other:?}").into()),
        }
        self.step(&format!("Recover (afctl recover relaunch --package {SETTINGS})"));
        let params = afd_proto::act::AppParams { package: SETTINGS.into(), ..Default::default() };
        let done = self.must::<RecoverRelaunch>(&params)?;
        say(&format!(
            "    {} relaunch, after {}\n",
            paint(GOOD, "done"),
            done.body.failure_cause.as_deref().unwrap_or("?")
        ));
        Ok(())
    }

    fn print_memory(&mut self) -> Result<(), DemoError> {
        say(&paint(
            STEP,
            "Memory now: pages, and the actions that lead from one to another (afctl visual graph --format mermaid)",
        ));
        let params = GraphParams {
            app: Some(SETTINGS.to_owned()),
            format: Some(GraphFormat::Mermaid),
            ..GraphParams::default()
        };
        let drawn = self.must::<VisualGraph>(&params)?;
        say(&indent(drawn.graph.as_deref().unwrap_or_default()));
        say(&paint(STEP, "The last actions and checks (afctl memory log --limit 6)"));
        let log = self.must::<MemoryLog>(&LogParams { limit: Some(6), ..LogParams::default() })?;
        say(&indent(&human::log(&log)));
        let stats = self.must::<MemoryStats>(&StatsParams::default())?;
        say(&format!(
            "\nIn memory: {}, {}, {} and {}.",
            human::count(stats.events, "event"),
            human::count(stats.observations, "observation"),
            human::count(stats.transitions, "transition"),
            match stats.recoveries {
                1 => "1 recovery".to_owned(),
                more => format!("{more} recoveries"),
            }
        ));
        say(&format!("Another phone and task: afctl demo --seed {}. Your own phone: afctl init", self.seed + 1));
        Ok(())
    }
}

/// Returns the title of the row to open next: of those that were not opened, the first whose label shares a word with
/// the setting, else the first.
fn next_row<'a>(outline: &'a str, setting: &str, tried: &[String]) -> Option<String> {
    let words = |text: &str| text.to_lowercase().split([' ', ',']).map(str::to_owned).collect::<HashSet<_>>();
    let label = |line: &'a str| line.trim().split_once(" row \"")?.1.split('"').next();
    let title = |label: &'a str| label.split(", ").next().unwrap_or_default();
    let mut open = outline.lines().filter_map(label).filter(|label| !tried.iter().any(|tried| tried == title(label)));
    let first = open.clone().next()?;
    let named = open.find(|label| !words(label).is_disjoint(&words(setting)));
    Some(title(named.unwrap_or(first)).to_owned())
}

/// Returns whether an outline has an element with this title.
fn has(outline: &str, title: &str) -> bool {
    let label = |line: &str| line.split('"').nth(1).map(str::to_owned).unwrap_or_default();
    outline.lines().skip(1).any(|line| label(line).split(", ").next() == Some(title))
}

/// Prints the first lines of a page.
fn print_page(outline: &str) {
    let lines: Vec<&str> = outline.lines().collect();
    say(&indent(&lines.iter().take(SHOWN).copied().collect::<Vec<_>>().join("\n")));
    if lines.len() > SHOWN {
        say(&paint(DIM, &format!("    ... {} more lines", lines.len() - SHOWN)));
    }
}
