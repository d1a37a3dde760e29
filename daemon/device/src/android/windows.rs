//! Classifies the windows of an Android phone, and determines the app and activity in front.
//!
//! The window types are those of `android.view.accessibility.AccessibilityWindowInfo`, as the service prints them.
//! Crash dialogs, the notification shade, quick settings, the lock screen, and the volume and power menus are windows
//! of type SYSTEM, like the system bars. A focused window of this type is a page. An unfocused one is a bar if it lies
//! at one edge of the screen, and otherwise a banner.

use std::collections::HashMap;

use parking_lot::Mutex;

use super::names::app_of;
use afd_screen::page::WindowKind;
use afd_screen::page::layers;
use afd_screen::page::snapshot::Snapshot;

/// Type of windows that apps draw.
const APPLICATION: &str = "APPLICATION";

/// Sets the kind of each window.
pub fn classify(snapshot: &mut Snapshot) {
    let kinds: Vec<WindowKind> = (0..snapshot.windows.len()).map(|w| kind(snapshot, w)).collect();
    snapshot.windows.iter_mut().zip(kinds).for_each(|(window, kind)| window.kind = kind);
}

fn kind(snapshot: &Snapshot, index: usize) -> WindowKind {
    let window = &snapshot.windows[index];
    match window.type_name.as_str() {
        _ if window.focused => WindowKind::Page,
        APPLICATION => WindowKind::Page,
        "INPUT_METHOD" => WindowKind::Keyboard,
        "ACCESSIBILITY_OVERLAY" | "MAGNIFICATION_OVERLAY" => WindowKind::Overlay,
        "SPLIT_SCREEN_DIVIDER" => WindowKind::Bar,
        _ => match layers::is_bar(snapshot.scene(), index) {
            Some(false) => WindowKind::Banner,
            Some(true) | None => WindowKind::Bar,
        },
    }
}

/// Sets the app and place of the window in front from the activity that the phone reports as topmost, if it reports
/// one. A system dialog does not belong to that activity.
pub fn set_place(snapshot: &mut Snapshot, activity: Option<String>) {
    snapshot.app = activity.as_deref().and_then(app_of).map(str::to_owned);
    snapshot.place = activity;
    snapshot.of_another_app = false;
    let Some(front) = snapshot.front_window().filter(|w| !w.app.is_empty()).cloned() else { return };
    if snapshot.app.is_none() {
        snapshot.app = Some(front.app);
    } else if front.type_name != APPLICATION && snapshot.app.as_ref() != Some(&front.app) {
        snapshot.activity_below = snapshot.place.take();
        snapshot.place = Some(format!("{}/", front.app));
        snapshot.app = Some(front.app);
    } else {
        snapshot.of_another_app = snapshot.app.as_ref() != Some(&front.app);
    }
}

/// Maximum number of windows whose activities are remembered.
const MAX_WINDOWS: usize = 64;

/// The last known activities of windows that have been in front. The phone reports only one activity. While another
/// app's dialog covers a page, the reported activity is that of the dialog.
#[derive(Default)]
pub struct Activities {
    by_window: Mutex<HashMap<i64, String>>,
}

impl Activities {
    /// Remembers the activity of the window in front, and sets the places of the windows behind it.
    pub fn apply(&self, snapshot: &mut Snapshot) {
        let front = snapshot.front_window().map(|w| (w.id, w.app.clone(), w.type_name == APPLICATION));
        let Some((front, front_app, is_app)) = front else { return };
        let of_app = |place: &String, app: &str| app_of(place) == Some(app);
        let mut known = self.by_window.lock();
        if known.len() >= MAX_WINDOWS {
            known.clear();
        }
        if let Some(place) = snapshot.place.as_ref().filter(|place| is_app && of_app(place, &front_app)) {
            known.insert(front, place.clone());
        }
        for window in snapshot.windows.iter_mut().filter(|w| w.kind == WindowKind::Page && w.id != front) {
            window.place = known.get(&window.id).filter(|place| of_app(place, &window.app)).cloned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autofish::parse_screen;

    /// Returns a screen that shows a page of the app `a.page`. `over` describes a window in front of that page: its
    /// type, its package, and the bounds of its nodes.
    fn screen(activity: &str, over: Option<(&str, &str, &str)>) -> Snapshot {
        let header = "node_id\tclass\ttext\tdesc\tres_id\tbounds\tflags";
        let mut text = format!(
            "[mode: SYSTEM_API]\n[topActivity: {activity}]\nscreen:1080x2400 density:420 orientation:portrait\n"
        );
        let bar = "--- window:3 type:SYSTEM pkg:com.android.systemui title:unknown layer:9 focused:false ---";
        text += &format!("{bar}\n{header}\nnode_1\tTextView\t10:00\t-\t-\t20,5,140,55\ton,ena\nhierarchy:\nnode_1\n");
        if let Some((kind, app, bounds)) = over {
            let focused = kind != "SYSTEM-unfocused";
            let kind = kind.trim_end_matches("-unfocused");
            text += &format!(
                "--- window:20 type:{kind} pkg:{app} title:T layer:4 focused:{focused} ---\n{header}\nnode_2\tTextView\tAllow?\t-\t-\t{bounds}\ton,ena\nnode_3\tButton\tYes\t-\t-\t{bounds}\ton,clk,ena\nhierarchy:\nnode_2\nnode_3\n"
            );
        }
        let focused = over.is_none_or(|(kind, ..)| kind == "SYSTEM-unfocused");
        text += &format!(
            "--- window:12 type:APPLICATION pkg:a.page title:T layer:0 focused:{focused} ---\n{header}\nnode_4\tTextView\tPage\t-\ta.page:id/title\t0,100,1080,300\ton,ena\nnode_5\tButton\tPay\t-\ta.page:id/pay\t0,300,1080,2200\ton,clk,ena\nhierarchy:\nnode_4\nnode_5"
        );
        parse_screen(&text).expect("reads")
    }

    #[test]
    fn focused_system_window_is_a_page_of_its_own() {
        let screen = screen("a.page/.Main", Some(("SYSTEM", "android", "100,1000,900,1400")));
        let kinds: Vec<WindowKind> = screen.windows.iter().map(|w| w.kind).collect();
        assert_eq!(kinds, [WindowKind::Bar, WindowKind::Page, WindowKind::Page]);
        assert_eq!((screen.app.as_deref(), screen.place.as_deref()), (Some("android"), Some("android/")));
        assert_eq!(screen.activity_below.as_deref(), Some("a.page/.Main"));
    }

    #[test]
    fn unfocused_system_window_is_a_bar_only_at_an_edge() {
        let kind =
            |bounds| screen("a.page/.Main", Some(("SYSTEM-unfocused", "com.android.systemui", bounds))).windows[1].kind;
        assert_eq!(kind("0,2300,1080,2400"), WindowKind::Bar);
        assert_eq!(kind("30,80,1050,380"), WindowKind::Banner, "a notification");
        let under = screen("a.page/.Main", Some(("SYSTEM-unfocused", "com.android.systemui", "30,80,1050,380")));
        assert_eq!(under.front_window().map(|w| w.id), Some(12));
    }

    #[test]
    fn page_under_a_dialog_of_another_app_keeps_its_activity() {
        let activities = Activities::default();
        let read = |activity, over| {
            let mut snapshot = screen(activity, over);
            activities.apply(&mut snapshot);
            afd_screen::page::structure::of(&snapshot).expect("structures")
        };
        let dialog = Some(("APPLICATION", "a.permissions", "100,1000,900,1400"));
        assert_eq!(read("a.permissions/.Grant", dialog).below, None, "an unknown activity is not claimed");
        let page = read("a.page/.Main", None).front;
        let asked = read("a.permissions/.Grant", dialog);
        assert_eq!(asked.below, Some(page));
        assert_eq!((asked.front.app.as_str(), asked.front.dialog), ("a.permissions", true));
    }
}
