//! The task of the tour: find a setting, fail on a stale ref, recover, verify, then do it again with hints from memory.

use std::io::Write;
use std::time::{Duration, Instant};

use afd_proto::act::{ActResult, ActScroll, ActTap, Amount, Direction, ScrollParams, TapParams};
use afd_proto::graph::{GraphFormat, GraphParams, PathParams, VisualGraph, VisualPath};
use afd_proto::memory::{ExperienceParams, LogParams, MemoryExperience, MemoryLog, MemoryStats, StatsParams};
use afd_proto::observe::{ObservePage, ObserveRefs, Page, PageParams, Part, RefRow, RefsParams};
use afd_proto::recover::RecoverRelaunch;
use afd_proto::verify::{NodeExistsParams, TextContainsParams, VerifyNodeExists, VerifyTextContains};
use afd_proto::vocabulary::{By, Hint, HintKind, Reply};
use afd_proto::{ErrorCode, Method};
use anstyle::{AnsiColor, Style};
use serde_json::json;

use super::world::{DemoError, World};
use crate::human::{self, paint};

const SETTINGS: &str = "com.android.settings";
/// Session of the second round.
const TOMORROW: &str = "tomorrow";
const STEP: Style = AnsiColor::Cyan.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const DIM: Style = Style::new().dimmed();

/// Settings page and title of the row to flip on it.
const TASKS: [(&str, &str); 5] = [
    ("Display", "Dark theme"),
    ("Sound", "Do Not Disturb"),
    ("Bluetooth", "Use Bluetooth"),
    ("Wi-Fi", "Use Wi-Fi"),
    ("Notifications", "Do Not Disturb"),
];

pub(super) struct Story {
    world: World,
    seed: u64,
    pause: Duration,
    page: &'static str,
    setting: &'static str,
    calls: u32,
}

/// Calls and time that one round took.
struct Cost {
    calls: u32,
    time: Duration,
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
        let (page, setting) = TASKS[usize::try_from(seed % TASKS.len() as u64).unwrap_or(0)];
        Self { world, seed, pause, page, setting, calls: 0 }
    }

    pub(super) fn play(mut self) -> Result<(), DemoError> {
        say(&paint(STEP, "afd, the tour"));
        say(&format!("Started a practice phone (seed {}) at {}, and a daemon with an empty memory.", self.seed, self.world.url));
        say(&format!("The task: flip \"{}\" under \"{}\". The agent has never seen this phone.\n", self.setting, self.page));
        let first = self.first_round()?;
        let second = self.second_round()?;
        self.print_summary(&first, &second)
    }

    fn step(&self, title: &str) {
        std::thread::sleep(self.pause);
        say(&paint(STEP, &format!("> {title}")));
    }

    /// Makes a call; an error ends the tour.
    fn must<M: Method>(&mut self, params: &M::Params) -> Result<M::Result, DemoError> {
        self.calls += 1;
        self.world.call::<M>(params).map_err(|e| format!("{} failed: {}: {}", M::INFO.name, e.code, e.message).into())
    }

    fn observe(&mut self) -> Result<Reply<Page>, DemoError> {
        self.must::<ObservePage>(&PageParams::default())
    }

    fn scroll(&mut self, session: Option<&str>, direction: Direction) -> Result<(), DemoError> {
        let session = session.map(str::to_owned);
        let amount = Some(Amount::Small);
        let params = ScrollParams { direction, amount, session, device: None, url: None, token: None, request_key: None, then: None };
        self.must::<ActScroll>(&params).map(|_| ())
    }

    fn first_round(&mut self) -> Result<Cost, DemoError> {
        let (started, calls) = (Instant::now(), self.calls);
        self.step("Look: observe page");
        let mut seen = self.observe()?;
        self.print_page(&seen);
        say(&format!("    {}", paint(DIM, "These rows have no text of their own; labels are taken from their children.")));
        let mut alias = find_alias(&seen, self.page);
        while alias.is_none() {
            self.step(&format!("\"{}\" is not visible: act scroll --direction down", self.page));
            self.scroll(None, Direction::Down)?;
            seen = self.observe()?;
            alias = find_alias(&seen, self.page);
        }
        let alias = alias.unwrap_or_default();
        self.step("The list is scrolled behind the agent's back");
        let back = self.scroll_out_of_sight()?;
        say(&format!("    {alias} was \"{}\". A similar row is in its place now; the phone's own service", self.page));
        say("    would tap it and report success.");
        self.tap_stale_alias(&alias)?;
        self.recover()?;
        let alias = self.find_row(back)?;
        self.step(&format!("Act: tap {alias}"));
        let done = self.must::<ActTap>(&tap(None, By::Ref, &alias))?;
        self.print_done(&done);
        self.flip_and_verify()?;
        Ok(Cost { calls: self.calls - calls, time: started.elapsed() })
    }

    /// Scrolls the list to an end where the row is not visible; returns the direction back to it.
    fn scroll_out_of_sight(&self) -> Result<Direction, DemoError> {
        for (pixels, back) in [(9999, Direction::Up), (-9999, Direction::Down)] {
            self.world.control_phone("scroll", &json!({"pixels": pixels}))?;
            let state = self.world.control_phone("state", &json!({}))?;
            let visible = state["clickable"]
                .as_array()
                .into_iter()
                .flatten()
                .any(|r| r["label"].as_str().is_some_and(|l| l.split(", ").next() == Some(self.page)));
            if !visible {
                return Ok(back);
            }
        }
        Err("the list is too short to scroll a row out of sight".into())
    }

    fn tap_stale_alias(&mut self, alias: &str) -> Result<(), DemoError> {
        self.step(&format!("Act: tap {alias}"));
        self.calls += 1;
        match self.world.call::<ActTap>(&tap(None, By::Ref, alias)) {
            Err(error) if error.code == ErrorCode::RefAliasStale.name() => {
                say(&format!("    {} {}", paint(BAD, &error.code), error.message));
                let note = "Nothing was tapped. The failure is remembered under the row's name, not under its alias.";
                say(&format!("    {}", paint(DIM, note)));
                Ok(())
            }
            other => Err(format!("expected the tap to be refused, got {other:?}").into()),
        }
    }

    fn recover(&mut self) -> Result<(), DemoError> {
        self.step("Recover: relaunch the app");
        let params = afd_proto::act::AppParams { package: SETTINGS.into(), ..Default::default() };
        let done = self.must::<RecoverRelaunch>(&params)?;
        say(&format!("    {} relaunch, after {}", paint(GOOD, "done"), done.body.failure_cause.as_deref().unwrap_or("?")));
        Ok(())
    }

    /// Observes and scrolls back until the row of the page is visible; returns its alias.
    fn find_row(&mut self, direction: Direction) -> Result<String, DemoError> {
        for _ in 0..8 {
            self.step("Look again: observe page");
            let seen = self.observe()?;
            if let Some(alias) = find_alias(&seen, self.page) {
                say(&format!("    \"{}\" is {alias} now", self.page));
                return Ok(alias);
            }
            self.step(&format!("\"{}\" is not visible: act scroll --direction {direction}", self.page));
            self.scroll(None, direction)?;
        }
        Err(format!("\"{}\" was not found", self.page).into())
    }

    fn flip_and_verify(&mut self) -> Result<(), DemoError> {
        self.step(&format!("Verify: text-contains \"{}\"", self.setting));
        self.must::<VerifyTextContains>(&contains(None, self.setting))?;
        say(&format!("    {}", paint(GOOD, "passed: the tap is now known to lead here")));
        self.step(&format!("Act: tap the text \"{}\" (the tap goes to its nearest clickable ancestor)", self.setting));
        let before = self.switch_state()?;
        let done = self.must::<ActTap>(&tap(None, By::Text, self.setting))?;
        self.print_done(&done);
        let after = self.switch_state()?;
        if before == after {
            return Err("the switch did not move".into());
        }
        self.step(&format!("Verify: a switch shows {after}"));
        let (by, value) = (By::Text, after.clone());
        let params = NodeExistsParams { by, value, exact_match: true, device: None, session: None, url: None, token: None };
        self.must::<VerifyNodeExists>(&params)?;
        say(&format!("    {} {before} -> {after}", paint(GOOD, "passed:")));
        Ok(())
    }

    /// Returns what the switch in the setting's row shows.
    fn switch_state(&mut self) -> Result<String, DemoError> {
        let params = RefsParams { hints: Some(false), settle: true, ..RefsParams::default() };
        let seen = self.must::<ObserveRefs>(&params)?;
        let label = seen.body.refs.rows.iter().map(|r| r.label.as_str()).find(|l| l.starts_with(self.setting)).unwrap_or_default();
        Ok(label.rsplit(", ").next().unwrap_or_default().to_owned())
    }

    fn second_round(&mut self) -> Result<Cost, DemoError> {
        say("");
        self.step("The next day, another agent, the same phone");
        self.world.control_phone("scene", &json!({"app": SETTINGS}))?;
        self.world.control_phone("scroll", &json!({"pixels": -9999}))?;
        let (started, calls) = (Instant::now(), self.calls);
        let params = PageParams { include: Some(vec![Part::Refs]), session: Some(TOMORROW.into()), ..PageParams::default() };
        let hints = self.must::<ObservePage>(&params)?.body.context.hints;
        say("    With the first observation, memory says:");
        for hint in &hints {
            let style = if hint.kind == HintKind::Failure { BAD } else { GOOD };
            say(&format!("    {} {}", paint(style, hint.kind.word()), hint.text));
        }
        let title = |hint: &Hint| hint.target.as_ref()?.label.as_ref().map(|l| l.split(", ").next().unwrap_or(l).to_owned());
        let label = hints
            .iter()
            .filter(|h| h.kind == HintKind::Action)
            .filter_map(title)
            .find(|l| l == self.page)
            .ok_or("memory has no hint for this task")?;
        self.act_on_hint(&label)?;
        self.step(&format!("Verify: text-contains \"{}\"", self.setting));
        self.must::<VerifyTextContains>(&contains(Some(TOMORROW), self.setting))?;
        say(&format!("    {}", paint(GOOD, "passed")));
        Ok(Cost { calls: self.calls - calls, time: started.elapsed() })
    }

    /// Taps the target of the hint, scrolling down until it is visible.
    fn act_on_hint(&mut self, label: &str) -> Result<(), DemoError> {
        for _ in 0..8 {
            self.step(&format!("Act on the hint: tap the text \"{label}\""));
            self.calls += 1;
            match self.world.call::<ActTap>(&tap(Some(TOMORROW), By::Text, label)) {
                Ok(done) => {
                    self.print_done(&done);
                    return Ok(());
                }
                Err(error) if error.code == ErrorCode::TargetNotFound.name() => {
                    say(&format!("    {}", paint(DIM, "not visible yet: scroll down")));
                    self.scroll(Some(TOMORROW), Direction::Down)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(format!("the hint did not help: \"{label}\" was not found").into())
    }

    fn print_summary(&mut self, first: &Cost, second: &Cost) -> Result<(), DemoError> {
        say(&format!("\n{}", paint(STEP, "What was learned")));
        let known = self.must::<MemoryExperience>(&ExperienceParams { app: Some(SETTINGS.into()), ..ExperienceParams::default() })?;
        say(&indent(&human::experience(&known)));
        self.print_graph()?;
        say(&paint(STEP, "Event log (afctl memory log)"));
        let log = self.must::<MemoryLog>(&LogParams { limit: Some(40), ..LogParams::default() })?;
        say(&indent(&human::log(&log)));
        let stats = self.must::<MemoryStats>(&StatsParams::default())?;
        say(&format!(
            "\n{} events, {} observations, {} transitions and {} recoveries in memory; the first round took {} calls, the second {}.",
            stats.events, stats.observations, stats.transitions, stats.recoveries, first.calls, second.calls
        ));
        say(&paint(
            DIM,
            &format!(
                "({:.1} s and {:.1} s, including pauses and waiting for pages to settle)",
                first.time.as_secs_f64(),
                second.time.as_secs_f64()
            ),
        ));
        say(&format!(
            "To try another phone and task: afctl demo --seed {}. To add your own phone: afctl device add NAME --url URL --token TOKEN",
            self.seed + 1
        ));
        Ok(())
    }

    /// Prints the graph of the learned pages, and the path to the setting's page.
    fn print_graph(&mut self) -> Result<(), DemoError> {
        // A page becomes a state when it is seen twice, so the last one is observed once more.
        let params = PageParams { include: Some(Vec::new()), session: Some(TOMORROW.into()), ..PageParams::default() };
        self.must::<ObservePage>(&params)?;
        say(&paint(STEP, "Pages and transitions (afctl visual graph --format mermaid)"));
        let app = Some(SETTINGS.to_owned());
        let params = GraphParams { app: app.clone(), format: Some(GraphFormat::Mermaid), ..GraphParams::default() };
        let drawn = self.must::<VisualGraph>(&params)?;
        say(&indent(drawn.graph.as_deref().unwrap_or_default()));
        let params = PathParams { app, from: Some("Settings".into()), to: self.page.into(), ..PathParams::default() };
        let path = self.must::<VisualPath>(&params)?;
        say(&format!("    {} {}\n", paint(GOOD, "path:"), path.text));
        Ok(())
    }

    fn print_page(&self, seen: &Reply<Page>) {
        let context = &seen.body.context;
        let settled = if context.settled { paint(GOOD, "settled") } else { paint(BAD, "still moving") };
        say(&format!("    {}  {settled}", context.top_activity.as_deref().unwrap_or("?")));
        let labelled = refs(seen).filter(|r| !r.label.is_empty()).take(10);
        say(&indent(&human::ref_table(labelled)));
    }

    fn print_done(&self, done: &Reply<ActResult>) {
        let moved = if done.body.moved { ", which had moved" } else { "" };
        let (role, label) = done.body.target.as_ref().map_or(("", "?"), |t| (t.role.word(), t.label.as_deref().unwrap_or("?")));
        say(&format!("    {} {role} \"{label}\"{moved}", paint(GOOD, "done:")));
    }
}

/// Returns the parameters of a tap; a text must match exactly.
fn tap(session: Option<&str>, by: By, value: &str) -> TapParams {
    let exact_match = by == By::Text;
    TapParams { session: session.map(str::to_owned), by: Some(by), value: Some(value.into()), exact_match, ..TapParams::default() }
}

fn contains(session: Option<&str>, text: &str) -> TextContainsParams {
    TextContainsParams { session: session.map(str::to_owned), text: text.into(), ..TextContainsParams::default() }
}

fn refs(seen: &Reply<Page>) -> impl Iterator<Item = &RefRow> {
    seen.body.refs.iter().flat_map(|refs| &refs.rows)
}

/// Returns the alias of the row with this title.
fn find_alias(seen: &Reply<Page>, title: &str) -> Option<String> {
    refs(seen).find(|row| row.label.split(", ").next() == Some(title)).map(|row| row.alias.clone())
}
