//! Apps as data: what the files under `apps/` may say.

use std::collections::BTreeMap;

use serde::Deserialize;

/// An app.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct App {
    /// Package name.
    pub package: String,
    /// Name under its icon.
    pub label: String,
    /// Page that it starts on.
    pub start: String,
    /// Variables and what they hold at first.
    #[serde(default)]
    pub vars: BTreeMap<String, String>,
    /// Pages by name.
    pub pages: BTreeMap<String, Page>,
    /// Dialogs by name.
    #[serde(default)]
    pub dialogs: BTreeMap<String, Dialog>,
    /// Dialogs that come up by themselves.
    #[serde(default)]
    pub popups: Vec<Popup>,
}

/// A page.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Page {
    /// Activity, with a leading dot when it lies in the package.
    pub activity: String,
    /// Title in the toolbar.
    pub title: String,
    /// What stands on it, from the top.
    #[serde(default)]
    pub body: Vec<Widget>,
    /// Tabs at the bottom.
    #[serde(default)]
    pub tabs: Vec<Tab>,
    /// How long it moves after it came up, milliseconds; negative for ever.
    #[serde(default)]
    pub animate_ms: i64,
}

/// A tab.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tab {
    /// Its label.
    pub text: String,
    /// What it does.
    #[serde(rename = "do")]
    pub run: Do,
}

/// Something on a page.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Widget {
    /// A scrolling list of rows of one size that have no text of their own. Fills the page.
    List {
        /// Id name.
        id: String,
        /// The rows.
        #[serde(default)]
        rows: Vec<Row>,
        /// Rows made by counting, after the others.
        repeat: Option<Repeat>,
        /// Let the seed order the rows.
        #[serde(default)]
        shuffle: bool,
    },
    /// A grid of small cells. Fills the page.
    Grid {
        /// Id name.
        id: String,
        /// Cells in a line.
        columns: i32,
        /// How many, what they say and do.
        repeat: Repeat,
    },
    /// A paragraph.
    Text {
        /// Id name.
        id: String,
        /// What it says.
        text: String,
    },
    /// A button.
    Button {
        /// Id name.
        id: String,
        /// What it says.
        text: String,
        /// What it does.
        #[serde(rename = "do")]
        run: Do,
    },
    /// A text field.
    Field {
        /// Id name.
        id: String,
        /// What it says while empty.
        hint: String,
        /// The variable that it fills.
        var: String,
        /// Shows bullets.
        #[serde(default)]
        password: bool,
    },
    /// A picture that can be tapped.
    Image {
        /// Id name.
        id: String,
        /// Content description.
        desc: String,
        /// What it does.
        #[serde(rename = "do", default)]
        run: Do,
    },
    /// A canvas, as games have it: one node without a word, on which texts are painted. Fills the page.
    Canvas {
        /// Id name.
        id: String,
        /// What is painted, one under the other.
        lines: Vec<String>,
    },
    /// A web view. Fills the page.
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
    /// The variable that its switch shows: `on` or `off`.
    #[serde(default)]
    pub switch: Option<String>,
    /// What a tap does.
    #[serde(rename = "do", default)]
    pub run: Do,
}

/// Rows or cells made by counting; `{n}` in the texts is the number.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Repeat {
    /// How many.
    pub count: i32,
    /// First line.
    pub title: String,
    /// Second line.
    #[serde(default)]
    pub summary: Option<String>,
    /// What a tap does.
    #[serde(rename = "do", default)]
    pub run: Do,
}

/// What happens, in this order.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Do {
    /// Goes on only if these variables hold these values; else `otherwise` happens.
    #[serde(default)]
    pub require: BTreeMap<String, String>,
    /// What happens when `require` does not hold.
    #[serde(default)]
    pub otherwise: Option<Box<Do>>,
    /// Takes the dialog away.
    #[serde(default)]
    pub close: bool,
    /// Fills variables.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// Turns a variable from `on` to `off` or back.
    #[serde(default)]
    pub toggle: Option<String>,
    /// Leaves the page.
    #[serde(default)]
    pub back: bool,
    /// Opens a page of the app.
    #[serde(default)]
    pub goto: Option<String>,
    /// Opens another app.
    #[serde(default)]
    pub launch: Option<String>,
    /// Shows a dialog.
    #[serde(default)]
    pub dialog: Option<String>,
}

/// A dialog: a window over the page.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Dialog {
    /// First line.
    pub title: String,
    /// Second line.
    pub text: String,
    /// Buttons from the left.
    pub buttons: Vec<Tab>,
    /// The package that shows it, when it is not the app's own.
    #[serde(default)]
    pub package: Option<String>,
    /// The activity that is on top while it shows, when it is not the page's own.
    #[serde(default)]
    pub activity: Option<String>,
}

/// A dialog that comes up by itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Popup {
    /// Its name.
    pub dialog: String,
    /// After this many page changes in the app; the seed shifts it.
    pub every: u32,
    /// At most this often.
    pub times: u32,
}

/// The apps that are built in.
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

/// Reads an app and checks that everything it names is there.
///
/// # Errors
/// A sentence that names the fault.
pub fn parse(text: &str) -> Result<App, String> {
    let app: App = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let check = |run: &Do, at: &str| -> Result<(), String> {
        if let Some(page) = run.goto.as_ref().filter(|p| !app.pages.contains_key(*p)) {
            return Err(format!("{}: {at} goes to page {page:?}, which is not there", app.package));
        }
        match run.dialog.as_ref().filter(|d| !app.dialogs.contains_key(*d)) {
            Some(dialog) => Err(format!("{}: {at} shows dialog {dialog:?}, which is not there", app.package)),
            None => Ok(()),
        }
    };
    check(&Do { goto: Some(app.start.clone()), ..Do::default() }, "start")?;
    for (name, page) in &app.pages {
        for tab in &page.tabs {
            check(&tab.run, name)?;
        }
        for widget in &page.body {
            match widget {
                Widget::List { rows, repeat, .. } => {
                    rows.iter().map(|r| &r.run).chain(repeat.iter().map(|r| &r.run)).try_for_each(|run| check(run, name))?;
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
    app.popups.iter().try_for_each(|p| check(&Do { dialog: Some(p.dialog.clone()), ..Do::default() }, "popups"))?;
    Ok(app)
}
