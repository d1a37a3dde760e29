//! Inputs and their effects: touches, keys, text, launching and stopping apps.

use serde::Serialize;

use super::Phone;
use crate::layout::HEIGHT;
use crate::recording::play::Played;
use crate::scene::{Node, OnTap, visible_text};

/// An input that reached the phone.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Sequence number, from 1.
    pub n: usize,
    /// Kind: `tap`, `swipe`, `text` ...
    pub kind: String,
    /// Page in the foreground, as `package/page`.
    pub page: String,
    /// Visible text of the node that was hit.
    pub hit: Option<String>,
    /// Resource id of the node that was hit.
    pub hit_id: Option<String>,
    /// Resource id of the node that is drawn last at the point, whether it is clickable or not.
    pub drawn_id: Option<String>,
    /// Coordinates, direction, key, package or length of the text.
    pub detail: String,
}

impl Phone {
    fn record(&mut self, kind: &str, hit: Option<String>, detail: String) {
        let (package, page) = self.foreground();
        let n = self.inputs.len() + 1;
        let page = format!("{package}/{page}");
        self.inputs.push(Input { n, kind: kind.to_owned(), page, hit, hit_id: None, drawn_id: None, detail });
    }

    /// Handles a touch of any kind; a long press has no effect.
    pub fn touch(&mut self, kind: &str, x: f32, y: f32) {
        let scene = self.scene();
        let hit = scene.hit(x, y).map(|(_, node)| node.clone());
        self.record(kind, hit.as_ref().map(visible_text), format!("{x},{y}"));
        if let Some(input) = self.inputs.last_mut() {
            input.hit_id = hit.as_ref().and_then(|node| node.res_id.clone());
            input.drawn_id = scene.drawn_at(x, y).and_then(|node| node.res_id.clone());
        }
        self.play(Played::Touch(kind == "longPress", hit.as_ref(), (x, y)));
        if kind != "longPress"
            && let Some(Node { on_tap: Some(on_tap), .. }) = hit
        {
            self.perform(on_tap);
        }
        self.ui_seq += 1;
    }

    /// Passes an input to the recording that is played.
    pub(super) fn play(&mut self, input: Played<'_>) {
        let now = self.clock.now_ms();
        if let Some(player) = &mut self.player {
            player.play(input, now);
        }
    }

    fn perform(&mut self, on_tap: OnTap) {
        match on_tap {
            OnTap::Run(run) => self.run(&run),
            OnTap::Focus(var) => self.focus = Some(var),
            OnTap::Back => self.go_back(),
            OnTap::Home => self.go_home(),
        }
    }

    /// Launches an app; returns the top activity, or `None` if there is no such app.
    pub fn launch(&mut self, package: &str) -> Option<String> {
        self.play(Played::Launch(package));
        // An externally set screen counts as every app.
        let played = self.player.as_ref().map(|player| player.has_app(package));
        let opened = self.shown.is_some() || played.unwrap_or_else(|| self.open(package));
        if opened {
            self.record("launch", None, package.to_owned());
            let top = self.top_activity();
            self.log_system(
                'I',
                "ActivityTaskManager",
                format!("START u0 {{act=android.intent.action.MAIN cmp={top}}}"),
            );
        }
        opened.then(|| self.top_activity())
    }

    /// Stops an app.
    pub fn stop(&mut self, package: &str) {
        self.record("stop", None, package.to_owned());
        self.play(Played::Stop);
        self.tasks.remove(package);
        self.pids.remove(package);
        self.frozen.take_if(|app| app == package);
        if self.front.as_deref() == Some(package) {
            self.go_home();
        }
        self.ui_seq += 1;
    }

    /// Presses the Back button.
    pub fn back(&mut self) {
        self.record("back", None, String::new());
        self.go_back();
    }

    /// Presses the Home button.
    pub fn home(&mut self) {
        self.record("home", None, String::new());
        self.go_home();
    }

    /// Swipes; the vertical distance scrolls.
    pub fn swipe(&mut self, from: (f32, f32), to: (f32, f32)) {
        self.record("swipe", None, format!("{},{} to {},{}", from.0, from.1, to.0, to.1));
        let (across, down) = (from.0 - to.0, from.1 - to.1);
        self.play(Played::Scroll(match (down.abs() >= across.abs(), down > 0.0, across > 0.0) {
            (true, true, _) => "down",
            (true, false, _) => "up",
            (false, _, true) => "right",
            (false, _, false) => "left",
        }));
        let distance = (from.1 - to.1) * HEIGHT as f32 / self.scene().height as f32;
        self.scroll_by(distance as i32);
    }

    /// Scrolls up or down by a fraction of the screen height; other directions are only recorded.
    pub fn scroll(&mut self, direction: &str, fraction: f32) {
        self.record("scroll", None, direction.to_owned());
        self.play(Played::Scroll(direction));
        let distance = (HEIGHT as f32 * fraction) as i32;
        match direction {
            "down" => self.scroll_by(distance),
            "up" => self.scroll_by(-distance),
            _ => self.ui_seq += 1,
        }
    }

    /// Types into the focused field: ASCII characters only, with `%s` for a space.
    pub fn type_text(&mut self, text: &str) {
        let clean: String = text.replace("%s", " ").chars().filter(char::is_ascii).collect();
        self.type_any(&clean);
    }

    /// Types any characters into the focused field, as an input method does.
    pub fn type_any(&mut self, clean: &str) {
        self.record("text", None, format!("{} characters", clean.chars().count()));
        self.play(Played::Text);
        if let Some(name) = self.focus.clone() {
            let (package, value) = (self.foreground().0, self.var(&name) + clean);
            self.set(&package, &name, &value);
        }
    }

    /// Presses a key, given its Android key code.
    pub fn key(&mut self, code: i64) {
        self.record("key", None, code.to_string());
        match code {
            4 => self.go_back(),
            3 => self.go_home(),
            66 => self.focus = None,
            67 => {
                if let Some(name) = self.focus.clone() {
                    let (package, mut value) = (self.foreground().0, self.var(&name));
                    value.pop();
                    self.set(&package, &name, &value);
                }
            }
            _ => {}
        }
        self.ui_seq += 1;
    }
}
