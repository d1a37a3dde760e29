//! Navigation: what an app's actions do, when pop-ups appear, and how tests put the phone on a page.

use super::Phone;
use crate::app::Action;
use crate::layout::{self, ROW};
use crate::recording::play::Played;

impl Phone {
    pub(super) fn run(&mut self, run: &Action) {
        if run.require.iter().any(|(name, value)| &self.var(name) != value) {
            if let Some(otherwise) = &run.otherwise {
                self.run(otherwise);
            }
            return;
        }
        let package = self.foreground().0;
        if run.close {
            self.dialog = None;
        }
        for (name, value) in &run.set {
            let value = self.fill(value);
            self.set(&package, name, &value);
        }
        if let Some(name) = &run.toggle {
            let value = if self.var(name) == "on" { "off" } else { "on" };
            self.set(&package, name, value);
        }
        if run.back {
            // An app that leaves its page takes the keyboard with it.
            self.focus = None;
            self.go_back();
        }
        if let Some(page) = &run.goto {
            self.focus = None;
            self.tasks.entry(package).or_default().push(page.clone());
            self.page_opened();
        }
        if let Some(app) = &run.launch {
            self.open(app);
        }
        if let Some(text) = &run.log {
            let (package, text) = (self.foreground().0, self.fill(text));
            let tag = package.rsplit('.').next().unwrap_or_default().to_owned();
            self.log_app(&package, 'I', &tag, text);
        }
        if run.wake {
            self.frozen = None;
        }
        if run.end {
            self.stop(&self.foreground().0);
        }
        if run.freeze {
            self.freeze(&self.foreground().0);
        }
        if let Some(error) = &run.crash {
            let (package, error) = (self.foreground().0, self.fill(error));
            self.crash(&package, &error);
            return;
        }
        if let Some(dialog) = &run.dialog {
            self.dialog = Some(dialog.clone());
        }
    }

    /// Starts the animation of a page that was just opened, and shows a pop-up if one is due.
    fn page_opened(&mut self) {
        self.entered_at = self.clock.now_ms();
        self.ui_seq += 1;
        let Some(app) = self.app().cloned() else { return };
        let page_changes = self
            .page_changes
            .entry(app.package.clone())
            .or_insert_with(|| if self.seed == 0 { 0 } else { self.rng.below(3) as u32 });
        *page_changes += 1;
        let page_changes = *page_changes;
        for popup in &app.popups {
            let count = self.popup_counts.entry((app.package.clone(), popup.dialog.clone())).or_default();
            if popup.every > 0
                && page_changes.is_multiple_of(popup.every)
                && *count < popup.times
                && self.dialog.is_none()
            {
                *count += 1;
                self.dialog = Some(popup.dialog.clone());
            }
        }
    }

    /// Brings an app to the foreground, on the page that was last open; returns false if there is no such app.
    pub fn open(&mut self, package: &str) -> bool {
        let Some(start) = self.apps.iter().find(|a| a.package == package).map(|a| a.start.clone()) else {
            return false;
        };
        let task = self.tasks.entry(package.to_owned()).or_default();
        if task.is_empty() {
            task.push(start);
        }
        self.start_process(package);
        self.front = Some(package.to_owned());
        self.dialog = None;
        self.focus = None;
        self.page_opened();
        true
    }

    pub(super) fn go_back(&mut self) {
        self.play(Played::Back);
        self.ui_seq += 1;
        if self.dialog.take().is_some() || self.focus.take().is_some() {
            return;
        }
        let package = self.foreground().0;
        let Some(task) = self.tasks.get_mut(&package) else { return };
        task.pop();
        if task.is_empty() {
            self.tasks.remove(&package);
            self.go_home();
        } else {
            self.entered_at = self.clock.now_ms();
        }
    }

    pub(super) fn go_home(&mut self) {
        self.front = None;
        self.dialog = None;
        self.focus = None;
        self.ui_seq += 1;
    }

    /// Scrolls the content by pixels; a positive number reveals what is further down.
    pub fn scroll_by(&mut self, pixels: i32) {
        let max = self.page().map_or(0, |p| layout::max_scroll(p, self.seed));
        let at = self.scroll.entry(self.foreground()).or_default();
        *at = (*at + pixels).clamp(0, max);
        self.ui_seq += 1;
    }

    /// Scrolls the content by whole list rows.
    pub fn scroll_rows(&mut self, rows: i32) {
        self.scroll_by(rows * ROW);
    }

    /// Shows a page, by default the start page. Only the start page is on the back stack. Returns false if the app or
    /// the page does not exist.
    pub fn show_page(&mut self, package: &str, page: Option<&str>) -> bool {
        if !self.open(package) {
            return false;
        }
        let Some(app) = self.app() else { return false };
        let start = app.start.clone();
        let page = page.unwrap_or(&start).to_owned();
        if !app.pages.contains_key(&page) {
            return false;
        }
        let task = if page == start { vec![start] } else { vec![start, page] };
        self.tasks.insert(package.to_owned(), task);
        self.dialog = None;
        self.entered_at = self.clock.now_ms();
        self.ui_seq += 1;
        true
    }

    /// Shows a dialog of the foreground app; returns false if it has no such dialog.
    pub fn show_dialog(&mut self, dialog: &str) -> bool {
        let known = self.app().is_some_and(|a| a.dialogs.contains_key(dialog));
        if known {
            self.dialog = Some(dialog.to_owned());
            self.ui_seq += 1;
        }
        known
    }
}
