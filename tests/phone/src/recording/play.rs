//! Plays a recording: an input leads where it led in the recording.
//!
//! An input is looked up among the steps from the exact screen in front, then among those from screens of the same
//! structure: first on the same element (id, class and texts), then on one with the same id and class at the same place,
//! which are rows whose text has changed. If it was recorded several times, its outcomes come in their recorded order, again
//! and again. An input that was not recorded changes nothing. Launching an app is looked up on all screens, because it does not
//! depend on the one in front.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use super::{Recording, Screen, Step};
use crate::scene::{Node, Rect, Scene};

/// Least time until a page comes that the recording shows only at the step after, in milliseconds.
const LATE_MS: i64 = 500;

/// An input as it is looked up.
#[derive(Debug, Clone, Copy)]
pub enum Played<'a> {
    /// A touch: whether it is a long one, the element that it reaches, and the point.
    Touch(bool, Option<&'a Node>, (f32, f32)),
    /// Scrolling up, down, left or right.
    Scroll(&'a str),
    /// Typing.
    Text,
    /// The Back key.
    Back,
    /// Launching an app.
    Launch(&'a str),
    /// Stopping an app.
    Stop,
}

/// A screen in front: its id, what it shows, and its activity.
type Shown = (String, Scene, String);

/// A recording that is played.
pub struct Player {
    recording: Arc<Recording>,
    /// The steps that are played.
    steps: Range<usize>,
    /// Time after which the page comes that an input opens, in milliseconds.
    late_ms: i64,
    front: Shown,
    /// Screens that are still to come, with the times when they do.
    coming: Vec<(i64, Shown)>,
    /// Number of times that each recorded input came, by the first of its steps.
    turns: HashMap<usize, usize>,
    /// Number of screens that came.
    changes: u64,
}

impl Player {
    /// Plays some steps of a recording, from the screen of the first one that is known.
    ///
    /// # Errors
    /// A message that the steps have no known screen.
    pub fn new(recording: Arc<Recording>, steps: Range<usize>, late_ms: u32) -> Result<Self, String> {
        let steps = steps.start..steps.end.min(recording.steps.len());
        let names = recording.steps[steps.clone()].iter().flat_map(|step| [&step.from, &step.to]);
        let first = names.filter_map(|name| shown(&recording, name)).next();
        let front = first.ok_or_else(|| format!("{}: the screens of its steps are missing", recording.name))?;
        let late_ms = i64::from(late_ms);
        Ok(Self { recording, steps, late_ms, front, coming: Vec::new(), turns: HashMap::new(), changes: 0 })
    }

    /// Shows a screen at once; returns false if the recording lacks it.
    pub fn show(&mut self, name: &str) -> bool {
        let Some(shown) = shown(&self.recording, name) else { return false };
        self.coming.clear();
        self.front = shown;
        self.changes += 1;
        true
    }

    fn at(&self, now: i64) -> &Shown {
        self.coming.iter().rev().find(|(due, _)| *due <= now).map_or(&self.front, |(_, shown)| shown)
    }

    /// Returns the id of the screen in front.
    pub fn name(&self, now: i64) -> &str {
        &self.at(now).0
    }

    /// Returns the scene in front.
    pub fn scene(&self, now: i64) -> &Scene {
        &self.at(now).1
    }

    /// Returns the activity in front, as `package/activity`.
    pub fn activity(&self, now: i64) -> &str {
        &self.at(now).2
    }

    /// Returns the number of screens that have come, which grows with each change.
    pub fn changes(&self, now: i64) -> u64 {
        self.changes + self.coming.iter().filter(|(due, _)| *due <= now).count() as u64
    }

    /// Returns whether no screen is still to come.
    pub fn is_still(&self, now: i64) -> bool {
        self.coming.iter().all(|(due, _)| *due <= now)
    }

    /// Returns whether an app is in the recording.
    pub fn has_app(&self, package: &str) -> bool {
        let launched = self.recording.steps.iter().any(|step| step.package() == Some(package));
        launched || self.recording.screens.values().any(|screen| screen.package == package)
    }

    /// Handles an input.
    pub fn play(&mut self, input: Played<'_>, now: i64) {
        self.changes = self.changes(now);
        self.front = self.at(now).clone();
        self.coming.clear();
        let found = self.find(input);
        let Some(first) = found.first() else { return };
        let turn = self.turns.entry(*first).or_default();
        let index = found[*turn % found.len()];
        *turn += 1;
        let recording = self.recording.clone();
        let known = |name: &str| shown(&recording, name);
        let due = now + self.late_ms;
        let came = known(&recording.steps[index].to);
        self.coming.extend(came.filter(|came| came.0 != self.front.0).map(|came| (due, came)));
        // A page that was not there yet when the outcome was recorded is the one before the next step.
        let next = self.steps.contains(&(index + 1)).then(|| &recording.steps[index + 1]);
        if let Some(late) =
            next.filter(|next| next.from != recording.steps[index].to).and_then(|next| known(&next.from))
        {
            self.coming.push((due + LATE_MS.max(self.late_ms), late));
        }
    }

    /// Returns the steps that recorded an input, of the first kind of comparison that finds one.
    fn find(&self, input: Played<'_>) -> Vec<usize> {
        let recorded = |fits: &dyn Fn(&Step) -> bool| -> Vec<usize> {
            self.steps.clone().filter(|index| fits(&self.recording.steps[*index])).collect()
        };
        let alike = |step: &Step| {
            let screen = self.recording.screens.get(&step.from);
            screen.is_some_and(|screen| self.recording.screens[&self.front.0].structure == screen.structure)
        };
        let here = |step: &Step| step.from == self.front.0;
        let tries: [&dyn Fn(&Step) -> bool; 4] = [
            &|step| here(step) && fits(input, &step.action, Closeness::Place),
            &|step| alike(step) && fits(input, &step.action, Closeness::Element),
            &|step| alike(step) && fits(input, &step.action, Closeness::Place),
            &|step| matches!(input, Played::Launch(package) if step.package() == Some(package)),
        ];
        tries.into_iter().map(recorded).find(|found| !found.is_empty()).unwrap_or_default()
    }
}

fn shown(recording: &Recording, name: &str) -> Option<Shown> {
    let screen: &Screen = recording.screens.get(name)?;
    Some((name.to_owned(), recording.scene(screen), screen.activity.clone()))
}

/// How an element is compared with the target of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Closeness {
    /// By id, class and texts.
    Element,
    /// By id, class and place.
    Place,
}

/// Returns whether an input is the action of a step.
fn fits(input: Played<'_>, action: &Value, closeness: Closeness) -> bool {
    let kind = action["type"].as_str().unwrap_or_default();
    match input {
        Played::Touch(long, hit, point) => {
            kind == if long { "long_touch" } else { "touch" } && is_target(hit, point, &action["target"], closeness)
        }
        Played::Scroll(direction) => {
            kind == "scroll" && action["direction"].as_str().is_some_and(|way| way.eq_ignore_ascii_case(direction))
        }
        Played::Text => kind == "set_text",
        Played::Back => kind == "key" && action["name"] == "BACK",
        Played::Launch(package) => {
            kind == "intent" && action["intent"].as_str().is_some_and(|intent| intent.contains(&format!("{package}/")))
        }
        Played::Stop => kind == "kill_app",
    }
}

fn is_target(hit: Option<&Node>, (x, y): (f32, f32), target: &Value, closeness: Closeness) -> bool {
    let edges: Vec<i32> = target["bounds"]
        .as_array()
        .map(|all| all.iter().filter_map(|edge| i32::try_from(edge.as_i64()?).ok()).collect())
        .unwrap_or_default();
    let [l, t, r, b] = edges[..] else { return false };
    let bounds = Rect::new(l, t, r, b);
    // A step may be aimed at an element that takes no touches.
    let Some(hit) = hit else { return closeness == Closeness::Place && bounds.contains(x, y) };
    let same = |name: &str, own: Option<&str>| target[name].as_str() == own;
    let is_kind = same("rid", hit.res_id.as_deref()) && same("cls", Some(&hit.class));
    match closeness {
        Closeness::Element => is_kind && same("text", hit.text.as_deref()) && same("desc", hit.desc.as_deref()),
        Closeness::Place => is_kind && bounds == hit.bounds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns a screen with a row; screens of one letter have one structure.
    fn screen(name: &str, row: &str) -> Value {
        json!({"state_str": name, "structure": name[..1], "activity": "org.example/.Main", "package": "org.example", "nodes": [
            [0, -1, "android.widget.FrameLayout", null, null, null, [0, 0, 100, 200], ""],
            [1, 0, "android.widget.TextView", "org.example:id/row", row, null, [0, 0, 100, 50], "c"]]})
    }

    fn touch(row: &str) -> Value {
        json!({"type": "touch", "target": {"cls": "android.widget.TextView", "rid": "org.example:id/row", "text": row, "desc": null, "bounds": [0, 0, 100, 50]}})
    }

    fn player(steps: &[(Value, &str, &str)], late_ms: u32) -> Player {
        let screens = [screen("a1", "Tea"), screen("a2", "Tea"), screen("b1", "Cups"), screen("c1", "Pots")];
        let screens = screens.map(|screen| serde_json::from_value::<Screen>(screen).expect("a screen"));
        let screens = screens.into_iter().map(|screen| (screen.state_str.clone(), screen)).collect();
        let step = |(action, from, to): &(Value, &str, &str)| Step {
            action: action.clone(),
            from: (*from).to_owned(),
            to: (*to).to_owned(),
            noop: false,
        };
        let steps: Vec<Step> = steps.iter().map(step).collect();
        let all = 0..steps.len();
        let recording = Recording { name: "made".to_owned(), size: (100, 200), screens, steps };
        Player::new(Arc::new(recording), all, late_ms).expect("plays")
    }

    fn tap(player: &mut Player, now: i64) {
        let scene = player.scene(now).clone();
        player.play(Played::Touch(false, scene.hit(10.0, 10.0).map(|(_, node)| node), (10.0, 10.0)), now);
    }

    #[test]
    fn input_leads_where_it_led_also_from_an_alike_screen_and_otherwise_nowhere() {
        let mut player = player(&[(touch("Tea"), "a1", "b1"), (json!({"type": "key", "name": "BACK"}), "b1", "a2")], 0);
        tap(&mut player, 0);
        assert_eq!(player.name(0), "b1");
        tap(&mut player, 0);
        assert_eq!(player.name(0), "b1", "a tap was not recorded here");
        player.play(Played::Back, 0);
        assert_eq!(player.name(0), "a2");
        tap(&mut player, 0);
        assert_eq!(player.name(0), "b1", "the screen has the structure of the one on which it was recorded");
    }

    #[test]
    fn several_outcomes_come_in_turn_and_an_app_is_launched_from_everywhere() {
        let launch = json!({"type": "intent", "intent": "am start org.example/org.example.Main"});
        let mut player = player(&[(touch("Tea"), "a1", "b1"), (launch, "b1", "a1"), (touch("Tea"), "a1", "c1")], 0);
        for outcome in ["b1", "c1", "b1"] {
            tap(&mut player, 0);
            assert_eq!(player.name(0), outcome);
            player.play(Played::Launch("org.example"), 0);
            assert_eq!(player.name(0), "a1");
        }
        assert!(player.has_app("org.example") && !player.has_app("org.other"));
    }

    #[test]
    fn pages_come_late_if_asked_and_where_the_recording_shows_them_a_step_later() {
        let mut slow = player(&[(touch("Tea"), "a1", "b1")], 300);
        tap(&mut slow, 1_000);
        assert_eq!((slow.name(1_299), slow.is_still(1_299)), ("a1", false));
        assert_eq!((slow.name(1_300), slow.is_still(1_300)), ("b1", true));
        assert!(slow.changes(1_300) > slow.changes(1_299));
        let mut recorded = player(&[(touch("Tea"), "a1", "b1"), (touch("Pots"), "c1", "a1")], 0);
        tap(&mut recorded, 1_000);
        assert_eq!((recorded.name(1_000), recorded.name(1_500)), ("b1", "c1"));
    }
}
