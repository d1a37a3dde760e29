//! Apps as data: the format of the files under `apps/`.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A simulated app.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct App {
    /// Package name.
    pub package: String,
    /// Name shown under the launcher icon.
    pub label: String,
    /// Name of the page that it opens with.
    pub start: String,
    /// Variables with their initial values.
    #[serde(default)]
    pub vars: BTreeMap<String, String>,
    /// Pages by name.
    pub pages: BTreeMap<String, Page>,
    /// Dialogs by name.
    #[serde(default)]
    pub dialogs: BTreeMap<String, Dialog>,
    /// Dialogs that appear spontaneously.
    #[serde(default)]
    pub popups: Vec<Popup>,
}

/// A page.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Page {
    /// Activity name; a leading dot makes it relative to the package.
    pub activity: String,
    /// Title in the toolbar.
    pub title: String,
    /// Widgets, from top to bottom.
    #[serde(default)]
    pub body: Vec<Widget>,
    /// Tabs at the bottom.
    #[serde(default)]
    pub tabs: Vec<Tab>,
    /// Duration of the animation after the page is shown, in milliseconds; a negative value means forever.
    #[serde(default)]
    pub animate_ms: i64,
}

/// A tab, button or link: a label with an action.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tab {
    /// Label.
    pub text: String,
    /// What a tap does.
    #[serde(rename = "do")]
    pub run: Action,
}

/// A widget on a page.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Widget {
    /// A scrolling list of equally tall rows whose texts are in child nodes. Fills the rest of the page.
    List {
        /// Resource id; a bare name is qualified with the app's package.
        id: String,
        /// The rows.
        #[serde(default)]
        rows: Vec<Row>,
        /// Numbered rows, appended after `rows`.
        repeat: Option<Repeat>,
        /// Whether the seed shuffles `rows`.
        #[serde(default)]
        shuffle: bool,
    },
    /// A grid of small cells. Fills the rest of the page.
    Grid {
        /// Resource id; a bare name is qualified with the app's package.
        id: String,
        /// Cells per row.
        columns: i32,
        /// Number, text and action of the cells.
        repeat: Repeat,
    },
    /// A paragraph.
    Text {
        /// Resource id; a bare name is qualified with the app's package.
        id: String,
        /// The text.
        text: String,
    },
    /// A button.
    Button {
        /// Resource id; a bare name is qualified with the app's package.
        id: String,
        /// Label.
        text: String,
        /// What a tap does.
        #[serde(rename = "do")]
        run: Action,
    },
    /// A text field.
    Field {
        /// Resource id; a bare name is qualified with the app's package.
        id: String,
        /// Placeholder shown while it is empty.
        hint: String,
        /// Variable that holds the value.
        var: String,
        /// Whether bullets are shown instead of the value.
        #[serde(default)]
        password: bool,
    },
    /// A tappable image.
    Image {
        /// Resource id; a bare name is qualified with the app's package.
        id: String,
        /// Content description.
        desc: String,
        /// What a tap does.
        #[serde(rename = "do", default)]
        run: Action,
    },
    /// A canvas, as in games: a single node without text, on which lines are painted. Fills the rest of the page.
    Canvas {
        /// Resource id; a bare name is qualified with the app's package.
        id: String,
        /// Painted lines, from top to bottom.
        lines: Vec<String>,
    },
    /// A web view. Fills the rest of the page.
    Web {
        /// Paragraphs.
        lines: Vec<String>,
        /// Links.
        #[serde(default)]
        links: Vec<Tab>,
    },
}

/// A row of a list.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Row {
    /// First line.
    pub title: String,
    /// Second line.
    #[serde(default)]
    pub summary: Option<String>,
    /// Variable shown by the row's switch, `on` or `off`; a tap toggles it by default.
    #[serde(default)]
    pub switch: Option<String>,
    /// What a tap does.
    #[serde(rename = "do", default)]
    pub run: Action,
}

/// Numbered rows or cells. `{n}` in the texts and in the values that a tap sets is replaced with the number, from 1.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Repeat {
    /// Number of rows or cells.
    pub count: i32,
    /// First line.
    pub title: String,
    /// Second line.
    #[serde(default)]
    pub summary: Option<String>,
    /// What a tap does.
    #[serde(rename = "do", default)]
    pub run: Action,
}

/// What a tap does. The fields take effect in the order in which they are declared.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Action {
    /// Required values of variables; if one differs, only `otherwise` runs.
    #[serde(default)]
    pub require: BTreeMap<String, String>,
    /// Action that runs instead if `require` is not met.
    #[serde(default)]
    pub otherwise: Option<Box<Action>>,
    /// Closes the dialog.
    #[serde(default)]
    pub close: bool,
    /// Sets variables.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// Toggles a variable between `on` and `off`.
    #[serde(default)]
    pub toggle: Option<String>,
    /// Goes back, as the Back button does.
    #[serde(default)]
    pub back: bool,
    /// Opens a page of the app.
    #[serde(default)]
    pub goto: Option<String>,
    /// Opens another app.
    #[serde(default)]
    pub launch: Option<String>,
    /// Writes a line into the phone's log.
    #[serde(default)]
    pub log: Option<String>,
    /// Makes the app respond again.
    #[serde(default)]
    pub wake: bool,
    /// Stops the app.
    #[serde(default)]
    pub end: bool,
    /// Makes the app not respond.
    #[serde(default)]
    pub freeze: bool,
    /// Ends the app because of this error, such as `java.lang.IllegalStateException: no cart`.
    #[serde(default)]
    pub crash: Option<String>,
    /// Shows a dialog.
    #[serde(default)]
    pub dialog: Option<String>,
}

/// A dialog: a window over the page.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Dialog {
    /// Title.
    pub title: String,
    /// Message.
    pub text: String,
    /// Buttons, from left to right.
    pub buttons: Vec<Tab>,
    /// Package that shows the dialog, if not the app itself.
    #[serde(default)]
    pub package: Option<String>,
    /// Top activity while the dialog is shown, if not that of the page.
    #[serde(default)]
    pub activity: Option<String>,
}

/// A dialog that appears spontaneously.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Popup {
    /// Name of the dialog.
    pub dialog: String,
    /// Appears at every multiple of this number of page changes in the app; the seed shifts the count.
    pub every: u32,
    /// Maximum number of appearances.
    pub times: u32,
}

/// Returns the built-in apps.
pub fn builtin() -> Vec<App> {
    const FILES: &[&str] = &[
        include_str!("../apps/settings.json"),
        include_str!("../apps/shop.json"),
        include_str!("../apps/bank.json"),
        include_str!("../apps/reader.json"),
        include_str!("../apps/lab.json"),
        include_str!("../apps/browser.json"),
    ];
    FILES.iter().map(|text| parse(text).expect("the built-in apps are valid")).collect()
}

/// Parses an app and checks that every page and dialog it refers to exists, except for those inside `otherwise`.
///
/// # Errors
/// A description of the first problem.
pub fn parse(text: &str) -> Result<App, String> {
    let app: App = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let check = |run: &Action, at: &str| -> Result<(), String> {
        if let Some(page) = run.goto.as_ref().filter(|p| !app.pages.contains_key(*p)) {
            return Err(format!("{}: {at} opens unknown page {page:?}", app.package));
        }
        match run.dialog.as_ref().filter(|d| !app.dialogs.contains_key(*d)) {
            Some(dialog) => Err(format!("{}: {at} shows unknown dialog {dialog:?}", app.package)),
            None => Ok(()),
        }
    };
    check(&Action { goto: Some(app.start.clone()), ..Action::default() }, "start")?;
    for (name, page) in &app.pages {
        for tab in &page.tabs {
            check(&tab.run, name)?;
        }
        for widget in &page.body {
            match widget {
                Widget::List { rows, repeat, .. } => {
                    rows.iter()
                        .map(|r| &r.run)
                        .chain(repeat.iter().map(|r| &r.run))
                        .try_for_each(|run| check(run, name))?;
                }
                Widget::Grid { repeat, .. } => check(&repeat.run, name)?,
                Widget::Button { run, .. } | Widget::Image { run, .. } => check(run, name)?,
                Widget::Web { links, .. } => links.iter().try_for_each(|l| check(&l.run, name))?,
                Widget::Text { .. } | Widget::Field { .. } | Widget::Canvas { .. } => {}
            }
        }
    }
    for (name, dialog) in &app.dialogs {
        dialog.buttons.iter().try_for_each(|b| check(&b.run, name))?;
    }
    app.popups
        .iter()
        .try_for_each(|p| check(&Action { dialog: Some(p.dialog.clone()), ..Action::default() }, "popups"))?;
    Ok(app)
}
