//! Reads the intact files in a directory in the source tool's format, without modifying any of them.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{Ordered, Remark, take};
use afd_base::file;

/// Maximum size of a file that is read, in bytes.
const MAX_FILE: u64 = 256 << 20;

/// The files of an app or site.
#[derive(Debug, Default)]
pub struct Directory {
    /// Path relative to the given directory; empty for the given directory itself.
    pub name: String,
    /// Path of the directory.
    pub path: PathBuf,
    /// Name of a site's directory; `None` for an app.
    pub site: Option<String>,
    /// Content of `meta.json`.
    pub meta: Map<String, Value>,
    /// Content of `components.json`.
    pub components: Ordered,
    /// Content of `states.json`.
    pub states: Ordered,
    /// Content of `transitions.json`.
    pub transitions: Ordered,
    /// Pictures of pages: the files in `pages/`.
    pub pages: Vec<PathBuf>,
    /// Parts that could not be used, with the reasons.
    pub remarks: Vec<Remark>,
}

/// An error while reading a directory.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The path does not exist, or is not a directory.
    #[error("{} is not a directory", .0.display())]
    NoDirectory(PathBuf),
    /// The directory contains none of the expected files.
    #[error("no visual memory in {}: expected meta.json, components.json or profile.json", .0.display())]
    NoMemory(PathBuf),
}

/// Reads an app, or a directory of apps, with their sites.
///
/// # Errors
/// Returns an error if `dir` is not a directory or contains no app.
pub fn read(dir: &Path) -> Result<Vec<Directory>, ReadError> {
    if !dir.is_dir() {
        return Err(ReadError::NoDirectory(dir.to_owned()));
    }
    let mut found = Vec::new();
    if is_app(dir) {
        with_sites(dir, "", &mut found);
    } else {
        for app in subdirectories(dir).into_iter().filter(|d| is_app(d)) {
            let name = file_name(&app);
            with_sites(&app, &name, &mut found);
        }
    }
    if found.is_empty() { Err(ReadError::NoMemory(dir.to_owned())) } else { Ok(found) }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

fn subdirectories(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()).filter(|p| p.is_dir()).collect();
    found.sort();
    found
}

fn is_app(dir: &Path) -> bool {
    ["meta.json", "components.json", "states.json", "transitions.json", "profile.json"]
        .iter()
        .any(|f| dir.join(f).is_file())
}

/// Reads an app and its sites.
fn with_sites(dir: &Path, name: &str, found: &mut Vec<Directory>) {
    found.push(directory(dir, name, None));
    for site in subdirectories(&dir.join("sites")).into_iter().filter(|d| is_app(d)) {
        let short = file_name(&site);
        let name = if name.is_empty() { format!("sites/{short}") } else { format!("{name}/sites/{short}") };
        found.push(directory(&site, &name, Some(short)));
    }
}

fn directory(path: &Path, name: &str, site: Option<String>) -> Directory {
    let mut d = Directory { name: name.to_owned(), path: path.to_owned(), site, ..Directory::default() };
    if path.join("profile.json").is_file() && !path.join("meta.json").is_file() {
        d.take_profile();
    } else {
        d.meta = d.object("meta.json").0.into_iter().collect();
        d.components = d.object("components.json");
        d.states = d.object("states.json");
        d.transitions = d.object("transitions.json");
        if path.join("profile.json").is_file() {
            d.remark("profile.json", "", "ignored: meta.json replaces it");
        }
    }
    for unused in ["workflows.json", "summary.json"] {
        if path.join(unused).is_file() {
            d.remark(unused, "", "ignored: goals and summaries are not supported");
        }
    }
    let mut pages: Vec<PathBuf> = std::fs::read_dir(path.join("pages"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.is_file())
        .collect();
    pages.sort();
    d.pages = pages;
    d
}

impl Directory {
    /// Records the reason why a part cannot be used.
    pub fn remark(&mut self, file: &str, key: &str, why: impl Into<String>) {
        let file = if self.name.is_empty() { file.to_owned() } else { format!("{}/{file}", self.name) };
        self.remarks.push(Remark { file, key: key.to_owned(), why: why.into() });
    }

    /// Reads a JSON object from a file, or from the file's backup if the file is damaged and a backup exists.
    fn object(&mut self, file: &str) -> Ordered {
        self.object_and_text(file).0
    }

    /// Like [`Self::object`], but also returns the text of the file.
    fn object_and_text(&mut self, file: &str) -> (Ordered, String) {
        match load(&self.path.join(file)) {
            Ok(Some(object)) => object,
            Ok(None) => Default::default(),
            Err(why) => {
                let backup = load(&self.path.join(format!("{file}.bak"))).ok().flatten();
                match &backup {
                    Some(_) => self.remark(file, "", format!("damaged ({why}); its backup is used")),
                    None => self.remark(file, "", format!("ignored: damaged ({why})")),
                }
                backup.unwrap_or_default()
            }
        }
    }

    /// Converts the single file of the oldest version to the four files of later versions, by the source tool's rules.
    fn take_profile(&mut self) {
        let (whole, text) = self.object_and_text("profile.json");
        let mut profile: Map<String, Value> = whole.0.iter().cloned().collect();
        let truthy = |v: &Value| {
            !matches!(v, Value::Null | Value::Bool(false)) && *v != json!("") && *v != json!([]) && *v != json!({})
        };
        let size =
            [take(&mut profile, "img_size"), take(&mut profile, "retina_img_size")].into_iter().flatten().find(truthy);
        self.meta.insert("app".to_owned(), take(&mut profile, "app").unwrap_or_else(|| json!("")));
        self.meta.insert("domain".to_owned(), take(&mut profile, "domain").unwrap_or_else(|| json!("")));
        self.meta.insert("detect_count".to_owned(), json!(0));
        if let Some(at) = take(&mut profile, "last_updated") {
            self.meta.insert("last_updated".to_owned(), at);
        }
        self.meta.insert("img_size".to_owned(), size.unwrap_or_default());
        self.meta.insert("forget_threshold".to_owned(), json!(15));
        for key in ["window_size", "url", "pages"] {
            if let Some(value) = take(&mut profile, key).filter(truthy) {
                self.meta.insert(key.to_owned(), value);
            }
        }
        let part = |key: &str| whole.0.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone());
        self.components = in_order(&text, "components").unwrap_or_default();
        self.states = in_order(&text, "states").unwrap_or_default();
        for key in ["components", "states"] {
            if part(key).is_some_and(|v| !v.is_object() && !v.is_null()) {
                self.remark("profile.json", key, "ignored: not a JSON object");
            }
        }
        for (_, row) in &mut self.components.0 {
            age(row);
        }
        let rows = profile.get("transitions").and_then(Value::as_array).cloned().unwrap_or_default();
        self.transitions = transitions(rows);
        for (key, _) in whole.0 {
            let used = [
                "app",
                "domain",
                "last_updated",
                "img_size",
                "retina_img_size",
                "window_size",
                "url",
                "pages",
                "components",
                "states",
                "transitions",
            ];
            if !used.contains(&key.as_str()) {
                self.remark("profile.json", &key, "ignored: the source tool drops it, too");
            }
        }
    }
}

/// Returns a member of the JSON object in `text`, with its own members in their original order, which a parsed `Value`
/// does not preserve.
fn in_order(text: &str, key: &str) -> Option<Ordered> {
    let members: std::collections::HashMap<String, Box<serde_json::value::RawValue>> =
        serde_json::from_str(text).ok()?;
    serde_json::from_str(members.get(key)?.get()).ok()
}

/// Adds the usage counts that a component in the oldest version of the format lacks.
fn age(row: &mut Value) {
    let Some(row) = row.as_object_mut() else { return };
    let learned = row.get("learned_at").cloned();
    if let Some(learned) = learned {
        row.entry("last_seen").or_insert(learned);
    }
    row.entry("seen_count").or_insert(json!(1));
    row.entry("consecutive_misses").or_insert(json!(0));
}

/// Counts equal transitions in the oldest version, which lists every use separately. Each resulting transition has the
/// time of its last use and the position of its first use.
fn transitions(rows: Vec<Value>) -> Ordered {
    let mut out = Ordered::default();
    let text = |row: &Value, key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    for row in rows {
        let click = text(&row, "click");
        let action = if click.is_empty() { text(&row, "action") } else { format!("click:{click}") };
        let (from, to) = (text(&row, "from"), text(&row, "to"));
        let key = format!("{from}|{action}|{to}");
        let count = row.get("count").and_then(Value::as_i64).unwrap_or(1);
        let at = row.get("timestamp").cloned().unwrap_or_default();
        match out.0.iter_mut().find(|(k, _)| *k == key) {
            Some((_, known)) => {
                known["count"] = json!(known["count"].as_i64().unwrap_or_default() + count);
                known["last_used"] = at;
            }
            None => {
                let mut new = json!({"from_state": from, "action": action, "to_state": to, "count": count, "last_used": at, "success_rate": 1.0});
                if let Some(pos) = row.get("click_pos") {
                    new["click_pos"] = pos.clone();
                }
                out.0.push((key, new));
            }
        }
    }
    out
}

/// Reads a JSON object from a file. Returns the object and the text of the file, or `None` if the file does not exist.
fn load(path: &Path) -> Result<Option<(Ordered, String)>, String> {
    let bytes = match file::read_capped(path, MAX_FILE) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let text = String::from_utf8(bytes).map_err(|_| "not valid UTF-8".to_owned())?;
    let text = text.trim_start_matches('\u{feff}').to_owned();
    let object = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    Ok(Some((object, text)))
}
