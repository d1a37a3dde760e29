//! Walks between pages of the practice apps: each page is visited once by tapping rows and going back, then `act.goTo` walks
//! between pairs of pages. The phone says which page is really in front.

use std::collections::BTreeMap;

use afd_tests::{Client, TestPhone, World};
use serde_json::json;

use crate::agents;

/// Number of pages below the first one that are visited.
const DEPTH: usize = 3;
/// Maximum number of rows of a page that are opened.
const ROWS: usize = 6;
/// Labels of the buttons that dismiss a pop-up without agreeing.
const REFUSALS: [&str; 4] = ["Don't allow", "Not now", "Later", "Skip"];

/// An app whose pages are visited.
struct Visit<'a> {
    world: &'a World,
    client: &'a mut Client,
    app: &'a str,
    /// Pages that were opened, by their names on the phone.
    seen: Vec<String>,
}

impl Visit<'_> {
    /// Reads the page, without the pop-up that may be over it, and returns the titles of the rows that open something.
    fn rows(&mut self) -> Vec<String> {
        loop {
            let page = self.client.ok("observe.page", json!({"format": "outline"}));
            let outline = page["outline"].as_str().expect("an outline");
            let label = |line: &str| line.split('"').nth(1).map(str::to_owned);
            if let Some(refusal) = outline.lines().filter_map(label).find(|l| REFUSALS.contains(&l.as_str())) {
                self.client.ok("act.tap", json!({"value": refusal, "then": "outline"}));
                continue;
            }
            let opens = |line: &&str| line.contains(" row \"") && !line.ends_with("risky") && !line.contains(", O");
            let rows = outline.lines().filter(opens).filter_map(label);
            return rows.map(|label| label.split(", ").next().unwrap_or_default().to_owned()).collect();
        }
    }

    /// Opens the rows of the page in front one after another, and those of the new pages behind them.
    fn open_rows(&mut self, depth: usize) {
        let here = self.world.phone.page();
        self.seen.push(here.clone());
        for row in self.rows().into_iter().take(ROWS) {
            let tapped = self.client.call("act.tap", json!({"value": row, "then": "outline"}));
            let there = self.world.phone.page();
            if tapped.is_err() || there == here {
                continue;
            }
            if depth > 0 && !self.seen.contains(&there) {
                self.open_rows(depth - 1);
            }
            self.rows();
            self.client.ok("act.back", json!({"then": "outline"}));
            if self.world.phone.page() != here {
                self.show(&here);
            }
        }
    }

    /// Shows a page, as a person's hand would, long after the last action.
    fn show(&mut self, page: &str) {
        self.world.advance(60_000);
        self.world.phone.scene(self.app, Some(page));
        self.rows();
    }

    /// Returns the ids of the states of the pages that were opened, by their names on the phone.
    fn states(&mut self) -> BTreeMap<String, String> {
        let mut states = BTreeMap::new();
        for page in self.seen.clone() {
            self.show(&page);
            let look = self.client.ok("observe.page", json!({"format": "outline"}));
            if let Some(state) = look["page"]["state"].as_str().filter(|_| self.world.phone.page() == page) {
                states.insert(page, state.to_owned());
            }
        }
        states
    }
}

/// Visits the pages of apps and walks between `count` pairs of them. Returns the numbers of pairs that were reached, and of
/// walks that claimed so falsely.
fn walk(phone: TestPhone, (apps, count): (&[&str], usize)) -> (usize, usize) {
    let world = World::with_clock_on(phone, "");
    let mut client = world.client();
    let (mut reached, mut wrong, mut seed) = (0, 0, 7_usize);
    for app in apps {
        client.ok("act.launch", json!({"package": app, "then": "outline"}));
        let mut visit = Visit { world: &world, client: &mut client, app, seen: Vec::new() };
        visit.open_rows(DEPTH);
        let states: Vec<(String, String)> = visit.states().into_iter().collect();
        let mut next = |below: usize| {
            seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
            seed / 65_536 % below
        };
        for _ in 0..count / apps.len() {
            let from = next(states.len());
            let to = (from + 1 + next(states.len() - 1)) % states.len();
            let ((from, _), (to, state)) = (&states[from], &states[to]);
            visit.show(from);
            let walk = visit.client.call("act.goTo", json!({"state": state}));
            let arrived = walk.as_ref().is_ok_and(|walk| walk["arrived"] == true);
            let is_there = world.phone.page() == *to;
            reached += usize::from(arrived && is_there);
            wrong += usize::from(arrived && !is_there);
            if !(arrived && is_there) {
                println!(
                    "{app}: from {from} to {to} ended on {}: {:?}",
                    world.phone.page(),
                    walk.map(|w| w["text"].clone())
                );
            }
        }
    }
    println!("{reached} of {} pairs were reached, {wrong} walks claimed it falsely", count / apps.len() * apps.len());
    (reached, wrong)
}

#[test]
fn pages_of_the_practice_apps_are_reached_from_each_other() {
    let (reached, wrong) = walk(TestPhone::start(), (&["com.android.settings", "org.example.shop"], 40));
    assert!(reached >= 38 && wrong == 0, "{reached} of 40 pairs, {wrong} false claims");
}

#[test]
fn pages_of_apps_of_other_people_are_reached_from_each_other() {
    let apps = ["citybus", "hearth", "pigeon", "potluck", "stride"].map(|name| format!("org.example.{name}"));
    let apps: Vec<&str> = apps.iter().map(String::as_str).collect();
    let (reached, wrong) = walk(agents::task::OTHERS.phone(0), (&apps, 40));
    assert!(reached >= 38 && wrong == 0, "{reached} of 40 pairs, {wrong} false claims");
}
