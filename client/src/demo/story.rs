//! The task: find a setting, fail on a stale ref, recover, verify, do it again and be told by memory how.

use std::io::Write;
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use super::world::{Interrupted, World};
use crate::human::{self, paint};

const SETTINGS: &str = "com.android.settings";
const STEP: Style = AnsiColor::Cyan.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const DIM: Style = Style::new().dimmed();

/// Where a setting is, and what its row is called there.
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

/// What one round cost.
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

    pub(super) fn play(mut self) -> Result<(), Interrupted> {
        say(&paint(STEP, "afd, the tour"));
        say(&format!("A practice phone (seed {}) runs at {}, and a daemon with an empty memory of its own.", self.seed, self.world.url));
        say(&format!("The task: flip \"{}\" under \"{}\". The agent has never seen this phone.\n", self.setting, self.page));
        let first = self.first_round()?;
        let second = self.second_round()?;
        self.ending(&first, &second)
    }

    fn step(&self, title: &str) {
        std::thread::sleep(self.pause);
        say(&paint(STEP, &format!("> {title}")));
    }

    /// A call that must succeed for the tour to go on.
    fn must(&mut self, method: &str, params: Value) -> Result<Value, Interrupted> {
        self.calls += 1;
        self.world.call(method, params).map_err(|e| format!("{method} failed: {e}").into())
    }

    fn first_round(&mut self) -> Result<Cost, Interrupted> {
        let (begun, calls) = (Instant::now(), self.calls);
        self.step("Look: observe page");
        let mut seen = self.must("observe.page", json!({}))?;
        self.show(&seen);
        say(&format!("    {}", paint(DIM, "Rows of this list have no text of their own: the label is that of their subtree.")));
        let mut alias = find(&seen, self.page);
        while alias.is_none() {
            self.step(&format!("\"{}\" is not in sight: act scroll --direction down", self.page));
            self.must("act.scroll", json!({"direction": "down", "amount": "small"}))?;
            seen = self.must("observe.page", json!({}))?;
            alias = find(&seen, self.page);
        }
        let alias = alias.unwrap_or_default();
        self.step("Behind the agent's back the list is scrolled");
        let back = self.scroll_out_of_sight()?;
        say(&format!("    {alias} was \"{}\". At that place there is another row of the same shape now, and the phone's own", self.page));
        say("    service would tap it and call it a success.");
        self.stale(&alias)?;
        self.recover()?;
        let alias = self.look_for_page(back)?;
        self.step(&format!("Act: tap {alias}"));
        let done = self.must("act.tap", json!({"by": "ref", "value": alias}))?;
        self.done(&done);
        self.flip_and_verify()?;
        Ok(Cost { calls: self.calls - calls, time: begun.elapsed() })
    }

    /// Scrolls to the end of the list where the row is not; returns the way back.
    fn scroll_out_of_sight(&self) -> Result<&'static str, Interrupted> {
        for (pixels, back) in [(9999, "up"), (-9999, "down")] {
            self.world.arrange("scroll", &json!({"pixels": pixels}))?;
            let state = self.world.arrange("state", &json!({}))?;
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

    fn stale(&mut self, alias: &str) -> Result<(), Interrupted> {
        self.step(&format!("Act: tap {alias}"));
        self.calls += 1;
        match self.world.call("act.tap", json!({"by": "ref", "value": alias})) {
            Err(error) if error["code"] == "REF_ALIAS_STALE" => {
                say(&format!("    {} {}", paint(BAD, "REF_ALIAS_STALE"), error["message"].as_str().unwrap_or_default()));
                say(&format!(
                    "    {}",
                    paint(DIM, "Nothing was tapped. The failure is remembered, under the row's name and not under its alias.")
                ));
                Ok(())
            }
            other => Err(format!("expected the tap to be refused, got {other:?}").into()),
        }
    }

    fn recover(&mut self) -> Result<(), Interrupted> {
        self.step("Recover: stop being lost, open the app again");
        let done = self.must("recover.relaunch", json!({"package": SETTINGS}))?;
        say(&format!("    {} relaunch, after {}", paint(GOOD, "done"), done["failureCause"].as_str().unwrap_or("?")));
        Ok(())
    }

    /// Looks, and scrolls back, until the page's row is there.
    fn look_for_page(&mut self, direction: &str) -> Result<String, Interrupted> {
        for _ in 0..8 {
            self.step("Look again: observe page");
            let seen = self.must("observe.page", json!({}))?;
            if let Some(alias) = find(&seen, self.page) {
                say(&format!("    \"{}\" is {alias} now", self.page));
                return Ok(alias);
            }
            self.step(&format!("\"{}\" is not in sight: act scroll --direction {direction}", self.page));
            self.must("act.scroll", json!({"direction": direction, "amount": "small"}))?;
        }
        Err(format!("\"{}\" was not found", self.page).into())
    }

    fn flip_and_verify(&mut self) -> Result<(), Interrupted> {
        self.step(&format!("Verify: text-contains \"{}\"", self.setting));
        self.must("verify.textContains", json!({"text": self.setting}))?;
        say(&format!("    {}", paint(GOOD, "holds: the tap is now known to lead here")));
        self.step(&format!("Act: tap the text \"{}\" (it climbs to the row that takes taps)", self.setting));
        let before = self.switch()?;
        let done = self.must("act.tap", json!({"by": "text", "value": self.setting, "exactMatch": true}))?;
        self.done(&done);
        let after = self.switch()?;
        if before == after {
            return Err("the switch did not move".into());
        }
        let wanted = after.clone();
        self.step(&format!("Verify: a switch shows {wanted}"));
        self.must("verify.nodeExists", json!({"by": "text", "value": wanted, "exactMatch": true}))?;
        say(&format!("    {} {before} -> {after}", paint(GOOD, "holds:")));
        Ok(())
    }

    /// What the switch in the setting's row shows.
    fn switch(&mut self) -> Result<String, Interrupted> {
        let seen = self.must("observe.refs", json!({"hints": false, "settle": true}))?;
        let label = labels(&seen).into_iter().map(|(_, l)| l).find(|l| l.starts_with(self.setting)).unwrap_or_default();
        Ok(label.rsplit(", ").next().unwrap_or_default().to_owned())
    }

    fn second_round(&mut self) -> Result<Cost, Interrupted> {
        say("");
        self.step("The next day, another agent, the same phone");
        self.world.arrange("scene", &json!({"app": SETTINGS}))?;
        self.world.arrange("scroll", &json!({"pixels": -9999}))?;
        let (begun, calls) = (Instant::now(), self.calls);
        let seen = self.must("observe.page", json!({"session": "tomorrow", "include": ["refs"]}))?;
        let hints = seen["hints"].as_array().cloned().unwrap_or_default();
        say("    With the very first look, memory says:");
        for hint in &hints {
            let (kind, text) = (hint["kind"].as_str().unwrap_or_default(), hint["text"].as_str().unwrap_or_default());
            say(&format!("    {} {text}", paint(if kind == "failure" { BAD } else { GOOD }, kind)));
        }
        let label = hints
            .iter()
            .filter(|h| h["kind"] == "action")
            .filter_map(|h| h["target"]["label"].as_str())
            .map(|l| l.split(", ").next().unwrap_or(l).to_owned())
            .find(|l| l == self.page)
            .ok_or("memory has no hint for this task")?;
        let mut tries = 0;
        loop {
            self.step(&format!("Act on the hint: tap the text \"{label}\""));
            self.calls += 1;
            match self.world.call("act.tap", json!({"session": "tomorrow", "by": "text", "value": label, "exactMatch": true})) {
                Ok(done) => {
                    self.done(&done);
                    break;
                }
                Err(error) if error["code"] == "TARGET_NOT_FOUND" && tries < 8 => {
                    tries += 1;
                    say(&format!("    {}", paint(DIM, "not in sight yet: scroll down")));
                    self.must("act.scroll", json!({"session": "tomorrow", "direction": "down", "amount": "small"}))?;
                }
                Err(error) => return Err(format!("the hint did not help: {error}").into()),
            }
        }
        self.step(&format!("Verify: text-contains \"{}\"", self.setting));
        self.must("verify.textContains", json!({"session": "tomorrow", "text": self.setting}))?;
        say(&format!("    {}", paint(GOOD, "holds")));
        Ok(Cost { calls: self.calls - calls, time: begun.elapsed() })
    }

    fn ending(&mut self, first: &Cost, second: &Cost) -> Result<(), Interrupted> {
        say(&format!("\n{}", paint(STEP, "What was learned")));
        let known = self.must("memory.experience", json!({"app": SETTINGS}))?;
        say(&indent(&human::experience(&known)));
        self.graph()?;
        say(&paint(STEP, "What was done (afctl memory log)"));
        let log = self.must("memory.log", json!({"limit": 40}))?;
        say(&indent(&human::log(&log)));
        let stats = self.must("memory.stats", json!({}))?;
        say(&format!(
            "\n{} events, {} observations, {} transitions and {} recoveries in memory; the first round took {} calls, the second {}.",
            stats["events"], stats["observations"], stats["transitions"], stats["recoveries"], first.calls, second.calls
        ));
        say(&paint(DIM, &format!("(with pauses and settling, {:.1} s and {:.1} s)", first.time.as_secs_f64(), second.time.as_secs_f64())));
        say(&format!(
            "Another phone and task: afctl demo --seed {}. Your own phone: afctl device add NAME --url URL --token TOKEN",
            self.seed + 1
        ));
        Ok(())
    }

    /// The pages that were learned on the way, and how to get from one to another.
    fn graph(&mut self) -> Result<(), Interrupted> {
        // One look more, so that the last page is seen for the second time.
        self.must("observe.page", json!({"session": "tomorrow", "include": []}))?;
        say(&paint(STEP, "The pages, and what leads from one to another (afctl visual graph --format mermaid)"));
        let drawn = self.must("visual.graph", json!({"app": SETTINGS, "format": "mermaid"}))?;
        say(&indent(drawn["graph"].as_str().unwrap_or_default()));
        let path = self.must("visual.path", json!({"app": SETTINGS, "from": "Settings", "to": self.page}))?;
        say(&format!("    {} {}\n", paint(GOOD, "the way:"), path["text"].as_str().unwrap_or_default()));
        Ok(())
    }

    fn show(&self, seen: &Value) {
        let settled = if seen["settled"] == true { paint(GOOD, "settled") } else { paint(BAD, "still moving") };
        say(&format!("    {}  {settled}", seen["topActivity"].as_str().unwrap_or("?")));
        let rows: Vec<Value> = seen["refs"]["rows"].as_array().cloned().unwrap_or_default();
        let shown: Vec<Value> = rows.into_iter().filter(|r| r["label"].as_str().is_some_and(|l| !l.is_empty())).take(10).collect();
        say(&indent(&human::table(&shown, &["ref", "label", "class", "bounds"])));
    }

    fn done(&self, done: &Value) {
        let moved = if done["moved"] == true { ", which had moved" } else { "" };
        let label = done["target"]["label"].as_str().unwrap_or("?");
        say(&format!("    {} {} \"{label}\"{moved}", paint(GOOD, "done:"), done["target"]["role"].as_str().unwrap_or("")));
    }
}

/// Alias and label of each ref.
fn labels(seen: &Value) -> Vec<(String, String)> {
    let rows = seen["refs"]["rows"].as_array().or_else(|| seen["rows"].as_array()).cloned().unwrap_or_default();
    rows.iter().map(|r| (r["ref"].as_str().unwrap_or_default().to_owned(), r["label"].as_str().unwrap_or_default().to_owned())).collect()
}

/// The alias of the row with this title.
fn find(seen: &Value, title: &str) -> Option<String> {
    labels(seen).into_iter().find(|(_, label)| label.split(", ").next() == Some(title)).map(|(alias, _)| alias)
}
