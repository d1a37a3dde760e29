//! Layout: turns pages, dialogs, the launcher, the keyboard and the system bars into windows with nodes.

use crate::app::{Action, App, Dialog, Page, Repeat, Row, Tab, Widget};
use crate::scene::{Node, OnTap, Rect, Window};

/// Screen width, in device pixels.
pub const WIDTH: i32 = 1080;
/// Screen height, in device pixels.
pub const HEIGHT: i32 = 2400;
/// Pixel density, dots per inch.
pub const DENSITY: i32 = 420;
/// Height of a list row.
pub const ROW: i32 = 210;
/// Top edge of the content.
const TOP: i32 = 300;
/// Top edge of the navigation bar.
const BOTTOM: i32 = 2274;
/// Height of the tab bar.
const TABS: i32 = 170;
/// Top edge of the keyboard.
const KEYBOARD: i32 = 1600;

const TEXT: &str = "android.widget.TextView";
const FRAME: &str = "android.widget.FrameLayout";
const LINEAR: &str = "android.widget.LinearLayout";
const BUTTON: &str = "android.widget.Button";

/// Context that the layout needs in addition to the page.
pub struct View<'a> {
    /// App that the page belongs to.
    pub app: &'a App,
    /// Expands the `{name}` placeholders of a text.
    pub fill: &'a dyn Fn(&str) -> String,
    /// Returns the value of a variable.
    pub var: &'a dyn Fn(&str) -> String,
    /// Scroll offset of the page, in device pixels.
    pub scroll: i32,
    /// Current offset of the rows of an animating page, in device pixels; 0 when it does not animate.
    pub jitter: i32,
    /// Seed for shuffled lists; 0 keeps their order.
    pub seed: u64,
}

impl View<'_> {
    fn id(&self, name: &str) -> String {
        if name.contains(":id/") { name.to_owned() } else { format!("{}:id/{name}", self.app.package) }
    }

    fn run(&self, run: &Action) -> OnTap {
        OnTap::Run(run.clone())
    }
}

/// A small deterministic random number generator (xorshift).
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// Creates a generator; any seed is valid.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns a number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n.max(1)
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

/// Returns the rows of a list, shuffled by the seed if requested, followed by the numbered rows.
pub fn rows(rows: &[Row], repeat: Option<&Repeat>, shuffle: bool, seed: u64) -> Vec<Row> {
    let mut all = rows.to_vec();
    if shuffle && seed != 0 {
        Rng::new(seed).shuffle(&mut all);
    }
    all.extend(repeat.into_iter().flat_map(|r| (1..=r.count).map(|n| numbered_row(r, n))));
    all
}

fn numbered_row(repeat: &Repeat, n: i32) -> Row {
    let substitute = |text: &str| text.replace("{n}", &n.to_string());
    let mut run = repeat.run.clone();
    for value in run.set.values_mut() {
        *value = substitute(value);
    }
    Row { title: substitute(&repeat.title), summary: repeat.summary.as_deref().map(substitute), switch: None, run }
}

/// Returns the system's dialog over an app that does not respond.
pub fn not_responding(label: &str) -> Dialog {
    let button = |text: &str, run: Action| Tab { text: text.to_owned(), run };
    Dialog {
        title: format!("{label} isn't responding"),
        text: String::new(),
        buttons: vec![
            button("Close app", Action { end: true, ..Action::default() }),
            button("Wait", Action { wake: true, ..Action::default() }),
        ],
        package: Some("android".to_owned()),
        activity: None,
    }
}

/// Returns how far a page can be scrolled, in device pixels; 0 for a page without a list.
pub fn max_scroll(page: &Page, seed: u64) -> i32 {
    let bottom = if page.tabs.is_empty() { BOTTOM } else { BOTTOM - TABS };
    let mut top = TOP;
    for widget in &page.body {
        match widget {
            Widget::List { rows: r, repeat, shuffle, .. } => {
                let count = rows(r, repeat.as_ref(), *shuffle, seed).len() as i32;
                return (count * ROW + 20 - (bottom - top)).max(0);
            }
            other => top += height(other),
        }
    }
    0
}

fn height(widget: &Widget) -> i32 {
    match widget {
        Widget::Text { .. } => 110,
        Widget::Button { .. } | Widget::Field { .. } => 160,
        Widget::Image { .. } => 260,
        Widget::List { .. } | Widget::Grid { .. } | Widget::Web { .. } | Widget::Canvas { .. } => 0,
    }
}

/// Returns the application window of a page; `root` leaves out the toolbar's Up button.
pub fn app_window(page: &Page, root: bool, focused: bool, view: &View<'_>) -> Window {
    let mut bar = vec![];
    if !root {
        bar.push(
            Node::new("android.widget.ImageButton", Rect::new(0, 130, 147, 290)).desc("Navigate up").tap(OnTap::Back),
        );
    }
    bar.push(
        Node::new(TEXT, Rect::new(170, 160, 900, 260)).id(view.id("toolbar_title")).text((view.fill)(&page.title)),
    );
    let mut children = vec![
        Node::new("androidx.appcompat.widget.Toolbar", Rect::new(0, 120, WIDTH, TOP)).id(view.id("toolbar")).with(bar),
    ];
    let bottom = if page.tabs.is_empty() { BOTTOM } else { BOTTOM - TABS };
    let mut top = TOP;
    for widget in &page.body {
        children.push(build_widget(widget, top, bottom, view));
        top += height(widget);
    }
    if view.jitter != 0 {
        children.push(Node::new("android.widget.ProgressBar", Rect::new(490, 1150, 590, 1250)).id(view.id("progress")));
    }
    if !page.tabs.is_empty() {
        let width = WIDTH / page.tabs.len() as i32;
        let tabs = page.tabs.iter().enumerate().map(|(i, tab)| {
            let left = i as i32 * width;
            let text = Node::new(TEXT, Rect::new(left + 40, bottom + 100, left + width - 40, bottom + 150))
                .id(view.id("tab_label"))
                .text((view.fill)(&tab.text));
            Node::new(FRAME, Rect::new(left, bottom, left + width, BOTTOM))
                .id(view.id("tab"))
                .tap(view.run(&tab.run))
                .with(vec![text])
        });
        children.push(
            Node::new("com.google.android.material.tabs.TabLayout", Rect::new(0, bottom, WIDTH, BOTTOM))
                .id(view.id("tabs"))
                .with(tabs.collect()),
        );
    }
    let content = Node::new(FRAME, Rect::new(0, 0, WIDTH, HEIGHT)).id("android:id/content").with(children);
    Window {
        id: 12,
        kind: "APPLICATION",
        pkg: view.app.package.clone(),
        title: Some(view.app.label.clone()),
        layer: 0,
        focused,
        root: Node::new(FRAME, Rect::new(0, 0, WIDTH, HEIGHT)).with(vec![content]),
    }
}

fn build_widget(widget: &Widget, top: i32, bottom: i32, view: &View<'_>) -> Node {
    match widget {
        Widget::List { id, rows: r, repeat, shuffle, .. } => {
            list(id, &rows(r, repeat.as_ref(), *shuffle, view.seed), top, bottom, view)
        }
        Widget::Grid { id, columns, repeat } => grid(id, *columns, repeat, top, bottom, view),
        Widget::Text { id, text } => {
            Node::new(TEXT, Rect::new(48, top + 20, 1032, top + 90)).id(view.id(id)).text((view.fill)(text))
        }
        Widget::Button { id, text, run } => Node::new(BUTTON, Rect::new(48, top + 20, 1032, top + 140))
            .id(view.id(id))
            .text((view.fill)(text))
            .tap(view.run(run)),
        Widget::Field { id, hint, var, password } => field(id, hint, var, *password, top, view),
        Widget::Image { id, desc, run } => {
            Node::new("android.widget.ImageView", Rect::new(390, top + 10, 690, top + 250))
                .id(view.id(id))
                .desc((view.fill)(desc))
                .tap(view.run(run))
        }
        Widget::Canvas { id, lines } => canvas(id, lines, top, bottom, view),
        Widget::Web { lines, links } => web(lines, links, top, bottom, view),
    }
}

fn list(id: &str, rows: &[Row], top: i32, bottom: i32, view: &View<'_>) -> Node {
    let frame = Rect::new(0, top, WIDTH, bottom);
    let children = rows.iter().enumerate().filter_map(|(i, row)| {
        let y = top + 10 + i as i32 * ROW - view.scroll + view.jitter;
        let bounds = Rect::new(0, y, WIDTH, y + ROW);
        (bounds.clip(&frame).area() > 0).then(|| list_row(row, bounds, &frame, view))
    });
    let mut node =
        Node::new("androidx.recyclerview.widget.RecyclerView", frame).id(view.id(id)).with(children.collect());
    node.scrollable = true;
    node.focusable = true;
    node
}

fn list_row(row: &Row, bounds: Rect, frame: &Rect, view: &View<'_>) -> Node {
    let title = (view.fill)(&row.title);
    let right_edge = |text: &str| 180 + (text.chars().count() as i32 * 24).min(600);
    let mut children = vec![
        Node::new(TEXT, Rect::new(180, bounds.t + 30, right_edge(&title), bounds.t + 90).clip(frame))
            .id("android:id/title")
            .text(title),
    ];
    if let Some(summary) = &row.summary {
        let summary = (view.fill)(summary);
        children.push(
            Node::new(TEXT, Rect::new(180, bounds.t + 100, right_edge(&summary), bounds.t + 150).clip(frame))
                .id("android:id/summary")
                .text(summary),
        );
    }
    let mut run = row.run.clone();
    if let Some(var) = &row.switch {
        let on = (view.var)(var) == "on";
        children.push(
            Node::new("android.widget.Switch", Rect::new(900, bounds.t + 50, 1040, bounds.t + 160).clip(frame))
                .id("android:id/switch_widget")
                .text(if on { "ON" } else { "OFF" }),
        );
        run.toggle.get_or_insert_with(|| var.clone());
    }
    // Nodes that are completely clipped are not in the tree.
    children.retain(|c| c.bounds.area() > 0);
    Node::new(LINEAR, bounds.clip(frame)).tap(view.run(&run)).with(children)
}

fn grid(id: &str, columns: i32, repeat: &Repeat, top: i32, bottom: i32, view: &View<'_>) -> Node {
    let lines = (repeat.count + columns - 1) / columns;
    let (width, height) = (WIDTH / columns, ((bottom - top) / lines.max(1)).min(200));
    let cells = (0..repeat.count).map(|i| {
        let row = numbered_row(repeat, i + 1);
        let (left, y) = ((i % columns) * width, top + (i / columns) * height);
        Node::new(TEXT, Rect::new(left, y, left + width, y + height))
            .id(view.id("cell"))
            .text((view.fill)(&row.title))
            .tap(view.run(&row.run))
    });
    Node::new("android.widget.GridView", Rect::new(0, top, WIDTH, bottom)).id(view.id(id)).with(cells.collect())
}

fn field(id: &str, hint: &str, var: &str, password: bool, top: i32, view: &View<'_>) -> Node {
    let value = (view.var)(var);
    let shown = match (value.is_empty(), password) {
        (true, _) => hint.to_owned(),
        (false, true) => "\u{2022}".repeat(value.chars().count()),
        (false, false) => value,
    };
    let mut node = Node::new("android.widget.EditText", Rect::new(48, top + 20, 1032, top + 140))
        .id(view.id(id))
        .text(shown)
        .desc(hint)
        .tap(OnTap::Focus(var.to_owned()));
    node.editable = true;
    node.long_clickable = true;
    node
}

/// Builds a node without text of its own, with texts painted on it.
fn canvas(id: &str, lines: &[String], top: i32, bottom: i32, view: &View<'_>) -> Node {
    const LINE: i32 = 190;
    let mut node = Node::new("android.view.SurfaceView", Rect::new(0, top, WIDTH, bottom)).id(view.id(id));
    let painted = lines
        .iter()
        .zip(0..)
        .map(|(line, i)| ((view.fill)(line), Rect::new(120, top + 80 + i * LINE, WIDTH, top + 80 + (i + 1) * LINE)));
    node.painted = painted.collect();
    node
}

fn web(lines: &[String], links: &[crate::app::Tab], top: i32, bottom: i32, view: &View<'_>) -> Node {
    let mut y = top + 20;
    let mut children = Vec::new();
    for line in lines {
        children.push(Node::new("android.view.View", Rect::new(40, y, 1040, y + 70)).text((view.fill)(line)));
        y += 90;
    }
    for link in links {
        children.push(
            Node::new("android.view.View", Rect::new(40, y, 700, y + 80))
                .desc((view.fill)(&link.text))
                .tap(view.run(&link.run)),
        );
        y += 100;
    }
    let mut node =
        Node::new("android.webkit.WebView", Rect::new(0, top, WIDTH, bottom)).text("Web page").with(children);
    node.scrollable = true;
    node.focusable = true;
    node
}

/// Returns the launcher window, with an icon for each app.
pub fn launcher(apps: &[App], focused: bool) -> Window {
    let icons = apps.iter().enumerate().map(|(i, app)| {
        let (left, top) = ((i as i32 % 4) * 270, 400 + (i as i32 / 4) * 300);
        let run = Action { launch: Some(app.package.clone()), ..Action::default() };
        let mut icon = Node::new(TEXT, Rect::new(left, top, left + 270, top + 300))
            .id("com.android.launcher3:id/icon")
            .text(app.label.clone())
            .tap(OnTap::Run(run));
        icon.long_clickable = true;
        icon
    });
    let workspace = Node::new("android.view.ViewGroup", Rect::new(0, 120, WIDTH, BOTTOM))
        .id("com.android.launcher3:id/workspace")
        .with(icons.collect());
    Window {
        id: 7,
        kind: "APPLICATION",
        pkg: "com.android.launcher3".to_owned(),
        title: Some("Home".to_owned()),
        layer: 0,
        focused,
        root: Node::new(FRAME, Rect::new(0, 0, WIDTH, HEIGHT)).with(vec![workspace]),
    }
}

/// Returns the window of a dialog over the page.
pub fn dialog_window(dialog: &Dialog, view: &View<'_>) -> Window {
    let pkg = dialog.package.clone().unwrap_or_else(|| view.app.package.clone());
    let width = 840 / dialog.buttons.len().max(1) as i32;
    let buttons = dialog.buttons.iter().enumerate().map(|(i, b)| {
        let left = 120 + i as i32 * width;
        Node::new(BUTTON, Rect::new(left, 1300, left + width, 1420))
            .id(format!("android:id/button{}", i + 1))
            .text((view.fill)(&b.text))
            .tap(view.run(&b.run))
    });
    let mut children = vec![
        Node::new(TEXT, Rect::new(140, 960, 940, 1040))
            .id(format!("{pkg}:id/alertTitle"))
            .text((view.fill)(&dialog.title)),
        Node::new(TEXT, Rect::new(140, 1060, 940, 1260)).id("android:id/message").text((view.fill)(&dialog.text)),
    ];
    children.extend(buttons);
    let panel = Node::new(FRAME, Rect::new(100, 900, 980, 1450)).id(format!("{pkg}:id/parentPanel")).with(children);
    Window { id: 21, kind: "APPLICATION", pkg, title: Some(dialog.title.clone()), layer: 2, focused: true, root: panel }
}

/// Returns the keyboard window.
pub fn keyboard() -> Window {
    let keys = "qwertyuiop".chars().enumerate().map(|(i, c)| {
        let left = i as i32 * 108;
        Node::new("android.widget.TextView", Rect::new(left, KEYBOARD + 60, left + 108, KEYBOARD + 220))
            .desc(c.to_string())
            .tap(OnTap::Run(Action::default()))
    });
    let area = Node::new(FRAME, Rect::new(0, KEYBOARD, WIDTH, BOTTOM))
        .id("com.android.inputmethod.latin:id/keyboard_view")
        .with(keys.collect());
    Window {
        id: 30,
        kind: "INPUT_METHOD",
        pkg: "com.android.inputmethod.latin".to_owned(),
        title: None,
        layer: 3,
        focused: false,
        root: area,
    }
}

/// Returns the windows of the status bar and the navigation bar.
pub fn system_bars(clock: &str) -> [Window; 2] {
    let button = |left: i32, id: &str, desc: &str, on_tap: OnTap| {
        let mut node = Node::new("android.widget.ImageView", Rect::new(left, BOTTOM, left + 180, HEIGHT))
            .id(format!("com.android.systemui:id/{id}"))
            .desc(desc)
            .tap(on_tap);
        node.long_clickable = true;
        node
    };
    let system = |id, root| Window {
        id,
        kind: "SYSTEM",
        pkg: "com.android.systemui".to_owned(),
        title: None,
        layer: 5,
        focused: false,
        root,
    };
    let time = Node::new(TEXT, Rect::new(40, 30, 200, 90)).id("com.android.systemui:id/clock").text(clock);
    [
        system(2, Node::new(FRAME, Rect::new(0, 0, WIDTH, 120)).with(vec![time])),
        system(
            3,
            Node::new(FRAME, Rect::new(0, BOTTOM, WIDTH, HEIGHT))
                .with(vec![button(120, "back", "Back", OnTap::Back), button(450, "home_button", "Home", OnTap::Home)]),
        ),
    ]
}
