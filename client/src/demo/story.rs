//! The script of the tour: the same task twice, without and with memory; then a failure and its recovery, or an undo;
//! then the content of the memory.

use std::collections::HashSet;
use std::io::Write;
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::graph::{GraphFormat, GraphParams, VisualGraph};
use afd_proto::look::Then;
use afd_proto::memory::{LogParams, MemoryLog, MemoryStats, StatsParams};
use afd_proto::observe::{ObserveRefs, RefsParams};
use afd_proto::recover::RecoverRelaunch;
use afd_proto::verify::ElementState;
use anstyle::{AnsiColor, Style};
use serde_json::json;

use super::agent::{Agent, Cost};
use super::reader;
use super::world::{DemoError, Kind, World};
use afd_link::human::{self, paint};

const SETTINGS: &str = "com.android.settings";
/// Name of the session for the second round.
const TOMORROW: &str = "tomorrow";
const STEP: Style = AnsiColor::Cyan.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const DIM: Style = Style::new().dimmed();
/// Maximum number of lines of a page to print.
const SHOWN: usize = 8;
/// Maximum number of elements that the agent opens in the first round.
const MAX_OPENED: usize = 40;

/// Titles of the switches to flip. The labels on the path to a switch do not contain its title.
const TASKS: [&str; 2] = ["Remove animations", "Stay awake"];
/// Like [`TASKS`], on the practice site.
const SITE_TASKS: [&str; 2] = ["Delivery texts", "Suggestions from my purchases"];

pub(super) struct Story {
    kind: Kind,
    agent: Agent,
    seed: u64,
    pause: Duration,
    setting: &'static str,
    /// Labels that the agent has read on its way, and has no reason to open again.
    known: HashSet<String>,
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
    pub(super) fn new(kind: Kind, world: World, seed: u64, pause: Duration) -> Self {
        let tasks = if kind == Kind::Phone { TASKS } else { SITE_TASKS };
        let setting = tasks[usize::try_from(seed % 2).unwrap_or(0)];
        Self { kind, agent: Agent::new(world), seed, pause, setting, known: HashSet::new() }
    }

    pub(super) fn play(mut self) -> Result<(), DemoError> {
        say(&paint(STEP, "afd, the tour"));
        let (url, setting) = (&self.agent.world.url, self.setting);
        match self.kind {
            Kind::Phone => {
                say(&format!(
                    "Started a practice phone (seed {}) at {url}, and a daemon with an empty memory.",
                    self.seed
                ));
                say(&format!("The task: flip \"{setting}\". The agent has never seen this phone.\n"));
            }
            Kind::Browser => {
                say(&format!("Started a practice site at {url}, a browser, and a daemon with an empty memory."));
                say(&format!("The task: flip \"{setting}\". The agent has never seen this site.\n"));
                self.sign_in()?;
            }
        }
        let first = self.first_round()?;
        let second = self.second_round()?;
        say(&format!(
            "\n{} the same task took {} calls and about {} tokens to read without memory, {} calls and {} tokens with it.\n",
            paint(GOOD, "Compared:"),
            first.calls,
            first.tokens(),
            second.calls,
            second.tokens()
        ));
        match self.kind {
            Kind::Phone => self.stale_alias()?,
            Kind::Browser => self.undo()?,
        }
        self.print_memory()
    }

    fn step(&self, title: &str) {
        std::thread::sleep(self.pause);
        say(&paint(STEP, &format!("> {title}")));
    }

    /// Signs in to the site. This is not part of the task, and both rounds begin after it.
    fn sign_in(&mut self) -> Result<(), DemoError> {
        self.step("Sign in (afctl open, afctl fill, afctl tap)");
        let url = format!("{}account", self.agent.world.url);
        self.agent.open(url)?;
        self.agent.fill("User name", "demo")?;
        self.agent.fill("Password", "practice")?;
        self.agent.tap("Sign in", Then::Outline)?;
        self.agent.become_another(None);
        Ok(())
    }

    /// Plays the first round. The agent reads the labels and opens elements one by one.
    fn first_round(&mut self) -> Result<Cost, DemoError> {
        self.step("Look (afctl look)");
        let page = self.agent.look()?;
        print_page(&page, self.setting);
        // The switches are one page below the first on the phone, and two on the site.
        let depth = if self.kind == Kind::Phone { 1 } else { 2 };
        if !self.search(page, depth)? {
            return Err(format!("\"{}\" was not found", self.setting).into());
        }
        self.flip()?;
        Ok(self.agent.cost)
    }

    /// Opens the elements of a page one by one, and those of the pages below it, up to `depth` pages below. Returns whether
    /// the setting was found; it is then in front.
    fn search(&mut self, mut page: String, depth: usize) -> Result<bool, DemoError> {
        let mut opened = 0;
        while opened < MAX_OPENED {
            if reader::has(&page, self.setting) {
                print_page(&page, self.setting);
                return Ok(true);
            }
            let next = reader::next(&page, self.setting, &self.known);
            let Some(label) = next.filter(|_| depth > 0) else {
                // A browser's outline has the whole page.
                if depth == 0 || self.kind == Kind::Browser {
                    return Ok(false);
                }
                page = self.agent.scroll()?;
                opened += 1;
                continue;
            };
            self.step(&format!("Is it behind \"{label}\"? (afctl tap \"{label}\")"));
            let there = self.agent.tap(&label, Then::Outline)?;
            opened += 1;
            self.known.insert(label);
            if reader::title(&there) == reader::title(&page) {
                page = there;
                continue;
            }
            // What the page above shows, too, leads elsewhere, such as a menu.
            let known = self.known.clone();
            self.known.extend(reader::labels(&page));
            if self.search(there, depth - 1)? {
                return Ok(true);
            }
            self.known = known;
            page = self.agent.back()?;
        }
        Ok(false)
    }

    /// Plays the second round: another agent gets the same task and uses what the first round left in memory.
    fn second_round(&mut self) -> Result<Cost, DemoError> {
        say("");
        self.agent.become_another(Some(TOMORROW));
        match self.kind {
            Kind::Phone => {
                self.step("The next day, another agent, the same phone, the same task");
                self.show_first_page()?;
            }
            Kind::Browser => {
                self.step("The next day, another agent, a new tab, the same task");
                let url = format!("{}account", self.agent.world.url);
                self.agent.open(url)?;
                self.agent.become_another(Some(TOMORROW));
            }
        }
        self.step(&format!("Go there by the way that the memory knows (afctl go \"{}\")", self.setting));
        let (walk, page) = self.agent.go(self.setting)?;
        say(&format!("    {}", walk.text));
        for step in &walk.steps {
            say(&indent(&paint(DIM, &step.action)));
        }
        if !walk.arrived {
            return Err(walk.text.into());
        }
        print_page(&page, self.setting);
        self.flip()?;
        Ok(self.agent.cost)
    }

    /// Shows the first page of the phone's settings, bypassing the daemon.
    fn show_first_page(&self) -> Result<(), DemoError> {
        self.agent.world.control_phone("scene", &json!({"app": SETTINGS}))?;
        self.agent.world.control_phone("scroll", &json!({"pixels": -9999}))?;
        Ok(())
    }

    /// Flips the switch, and verifies that it has the state that the action returned.
    fn flip(&mut self) -> Result<(), DemoError> {
        let setting = self.setting;
        self.step(&format!("Flip it (afctl tap \"{setting}\"), reading only what changed"));
        let changed = self.agent.tap(setting, Then::Diff)?;
        say(&indent(&changed));
        let line = changed.lines().find(|l| l.contains(setting)).ok_or("the switch did not move")?;
        let (state, option) = match reader::state(line).unwrap_or_default().to_lowercase().as_str() {
            "on" => (ElementState::On, "--on"),
            "off" => (ElementState::Off, "--off"),
            other => return Err(format!("the switch shows {other:?}").into()),
        };
        self.step(&format!("Verify its state (afctl check \"{setting}\" {option})"));
        self.agent.verify(setting, state)?;
        say(&format!("    {}", paint(GOOD, "passed")));
        Ok(())
    }

    /// Undoes the last action.
    fn undo(&mut self) -> Result<(), DemoError> {
        self.step("It was the wrong switch: take it back (afctl undo)");
        let undo = self.agent.undo()?;
        say(&format!("    {}\n", undo.text));
        if undo.undone { Ok(()) } else { Err(undo.text.into()) }
    }

    /// Shows that the daemon refuses a stale alias and remembers the recovery.
    fn stale_alias(&mut self) -> Result<(), DemoError> {
        self.agent.become_another(None);
        self.show_first_page()?;
        self.step("What goes wrong: a list moves behind the agent's back");
        let seen = self.agent.must::<ObserveRefs>(&RefsParams::default())?;
        let row = seen.body.refs.rows.iter().find(|row| row.title.is_some()).ok_or("there is no row to tap")?;
        let alias = row.alias.clone();
        self.agent.world.control_phone("scroll", &json!({"pixels": 9999}))?;
        say(&format!(
            "    {alias} was \"{}\". Another row is in its place now; the phone's own service would tap it.",
            row.label
        ));
        self.step(&format!("afctl tap {alias}"));
        match self.agent.tap(&alias, Then::Outline) {
            Err(error) if error.code == ErrorCode::RefAliasStale.name() => {
                say(&format!("    {} {}", paint(BAD, &error.code), error.message));
            }
            other => return Err(format!("expected the tap to be refused, got {other:?}").into()),
        }
        self.step(&format!("Recover (afctl recover relaunch --package {SETTINGS})"));
        let params = afd_proto::act::AppParams { package: SETTINGS.into(), ..Default::default() };
        let done = self.agent.must::<RecoverRelaunch>(&params)?;
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
            session: self.agent.session.clone(),
            format: Some(GraphFormat::Mermaid),
            ..GraphParams::default()
        };
        let drawn = self.agent.must::<VisualGraph>(&params)?;
        say(&indent(drawn.graph.as_deref().unwrap_or_default()));
        say(&paint(STEP, "The last actions and checks (afctl memory log --limit 6)"));
        let log = self.agent.must::<MemoryLog>(&LogParams { limit: Some(6), ..LogParams::default() })?;
        say(&indent(&human::log(&log)));
        let stats = self.agent.must::<MemoryStats>(&StatsParams::default())?;
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
        say(&match self.kind {
            Kind::Phone => {
                format!("Another phone and task: afctl demo --seed {}. Your own phone: afctl init", self.seed + 1)
            }
            Kind::Browser => {
                format!("Another task: afctl demo --browser --seed {}. Any site: afctl init browser URL", self.seed + 1)
            }
        });
        Ok(())
    }
}

/// Prints the title and some lines of a page: those around the setting, else the first ones.
fn print_page(outline: &str, setting: &str) {
    let lines: Vec<&str> = outline.lines().collect();
    let at = lines.iter().position(|line| reader::has_label(line, setting)).unwrap_or_default();
    let first = at.saturating_sub(SHOWN / 2).clamp(1, lines.len().saturating_sub(SHOWN).max(1));
    let shown: Vec<&str> = lines.iter().take(1).chain(lines.iter().skip(first).take(SHOWN - 1)).copied().collect();
    say(&indent(&shown.join("\n")));
    if lines.len() > shown.len() {
        say(&paint(DIM, &format!("    ... {} more lines", lines.len() - shown.len())));
    }
}
