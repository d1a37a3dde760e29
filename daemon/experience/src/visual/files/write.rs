//! Exports an app or site in the file format of the source tool.

use std::collections::HashMap;

use afd_proto::visual::StateKind;
use rusqlite::Connection;
use serde_json::{Map, Value, json};

use super::{Content, OURS, Ordered, directory_of, local, picture_of};
use crate::visual::components::{self, Component};
use crate::visual::graph::Graph;
use crate::visual::scope::Known;
use crate::visual::states::{self, State};
use afd_screen::page::site;
use afd_store::{Result, Sql as _, args};

/// A picture to copy to the export.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Uid of the artifact that contains the picture.
    pub artifact: String,
    /// Target path, relative to the directory of the app or site.
    pub file: String,
}

/// The files of an app or site.
#[derive(Debug)]
pub struct Export {
    /// Directory of the app or site, relative to the target directory.
    pub directory: String,
    /// Names and contents of the files.
    pub files: Vec<(&'static str, Content)>,
    /// Pictures to copy.
    pub pictures: Vec<Picture>,
    /// Numbers of components, states and transitions, in this order.
    pub counts: (usize, usize, usize),
}

/// Collects the files of an app or site, with the edges of its graph as transitions.
pub fn collect(connection: &Connection, known: &Known, graph: &Graph) -> Result<Export> {
    let directory = match &known.scope.site {
        None => directory_of(&known.scope.app),
        Some(site) => format!("{}/sites/{}", directory_of(&known.scope.app), site_directory(connection, known, site)?),
    };
    let mut export = Export { directory, files: Vec::new(), pictures: Vec::new(), counts: (0, 0, 0) };
    let components = components::all(connection, known.id)?;
    let rows = components.iter().map(|c| (c.name.clone(), component(c, &mut export.pictures))).collect::<Vec<_>>();
    let states = states(connection, known)?;
    let edges = transitions(graph, known.id);
    export.counts = (rows.len(), states.len(), edges.len());
    export.files = vec![
        ("meta.json", Content::Members(meta(connection, known, &mut export.pictures)?)),
        ("components.json", Content::Rows(rows)),
        ("states.json", Content::Rows(states)),
        ("transitions.json", Content::Rows(edges)),
    ];
    Ok(export)
}

/// Returns the directory name of a site: the name of the directory from which it was imported, if any.
fn site_directory(connection: &Connection, known: &Known, site: &str) -> Result<String> {
    let text: Option<String> =
        connection.query_row("SELECT extra FROM apps WHERE id = :id", args! {id: known.id}, |row| row.get("extra"))?;
    let extra = extra(text.as_deref());
    Ok(directory_of(&extra.get("_dir").and_then(Value::as_str).map_or_else(|| site::directory(site), str::to_owned)))
}

/// Parses the members of an imported row that were preserved unchanged.
fn extra(text: Option<&str>) -> Map<String, Value> {
    match text.and_then(|t| serde_json::from_str(t).ok()) {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// Appends a member, unless it was imported with a value that could not be parsed and is preserved unchanged.
fn put(row: &mut Ordered, extra: &Map<String, Value>, key: &str, value: Value) {
    if !extra.contains_key(key) {
        row.0.push((key.to_owned(), value));
    }
}

/// Like [`put`], for a member that the imported file may lack. The member stays absent until something is learned about
/// it.
fn put_learned(row: &mut Ordered, extra: &Map<String, Value>, key: &str, value: Value, learned: bool) {
    let absent = extra.get("_absent").and_then(Value::as_array).is_some_and(|a| a.iter().any(|k| k == key));
    if learned || !absent {
        put(row, extra, key, value);
    }
}

/// Appends the preserved members, except those for internal use, which begin with `_`.
fn put_rest(row: &mut Ordered, extra: Map<String, Value>) {
    row.0.extend(extra.into_iter().filter(|(key, _)| !key.starts_with('_')));
}

fn meta(connection: &Connection, known: &Known, pictures: &mut Vec<Picture>) -> Result<Ordered> {
    let (text, width, height): (Option<String>, Option<i64>, Option<i64>) = connection.query_row(
        "SELECT extra, image_width, image_height FROM apps WHERE id = :id",
        args! {id: known.id},
        |row| Ok((row.get("extra")?, row.get("image_width")?, row.get("image_height")?)),
    )?;
    let mut extra = extra(text.as_deref());
    for (file, artifact) in extra.remove("_pages").and_then(|p| p.as_object().cloned()).unwrap_or_default() {
        let file = format!("pages/{}", picture_of(&file));
        pictures.extend(artifact.as_str().map(|a| Picture { artifact: a.to_owned(), file }));
    }
    let mut row = Ordered::default();
    put(&mut row, &extra, "app", json!(known.scope.app));
    put(&mut row, &extra, "domain", json!(known.scope.site.clone().unwrap_or_default()));
    put(&mut row, &extra, "detect_count", json!(known.learn_count));
    put(&mut row, &extra, "last_updated", known.learned_at.map_or(Value::Null, |at| json!(local(at))));
    put(&mut row, &extra, "img_size", width.zip(height).map_or(Value::Null, |(w, h)| json!([w, h])));
    put(&mut row, &extra, "forget_threshold", json!(known.forget_threshold));
    put_rest(&mut row, extra);
    Ok(row)
}

fn component(c: &Component, pictures: &mut Vec<Picture>) -> Ordered {
    let extra = extra(c.extra.as_deref());
    let mut row = Ordered::default();
    put_learned(&mut row, &extra, "type", json!(c.kind), false);
    put_learned(&mut row, &extra, "source", json!(c.source), false);
    if let Some(b) = c.bounds {
        let (w, h) = (b.width(), b.height());
        for (key, number) in
            [("rel_x", b.left.saturating_add(w / 2)), ("rel_y", b.top.saturating_add(h / 2)), ("w", w), ("h", h)]
        {
            put(&mut row, &extra, key, json!(number));
        }
    }
    if let Some(crop) = &c.crop {
        let given =
            extra.get("icon_file").and_then(Value::as_str).filter(|f| is_inside(f) && f.starts_with("components/"));
        let file = given.map_or_else(|| format!("components/{}.png", picture_of(&c.name)), str::to_owned);
        pictures.push(Picture { artifact: crop.clone(), file: file.clone() });
        put(&mut row, &extra, "icon_file", json!(file));
    }
    put_learned(&mut row, &extra, "label", json!(c.label), c.label.is_some());
    if c.confidence.is_some() {
        put(&mut row, &extra, "confidence", json!(c.confidence));
    }
    if c.page.is_some() {
        put(&mut row, &extra, "page", json!(c.page));
    }
    put_learned(&mut row, &extra, "learned_at", json!(local(c.learned_at)), false);
    put_learned(&mut row, &extra, "last_seen", json!(local(c.last_seen)), c.last_seen > c.learned_at);
    put_learned(&mut row, &extra, "seen_count", json!(c.seen_count), c.seen_count > 0);
    put_learned(&mut row, &extra, "consecutive_misses", json!(c.consecutive_misses), c.consecutive_misses > 0);
    put_rest(&mut row, extra);
    if c.key != format!("name:{}", c.name) {
        row.0.push((OURS.to_owned(), ours(c)));
    }
    row
}

/// Returns the data of a component for which the format has no member.
fn ours(c: &Component) -> Value {
    json!({"uid": c.uid, "key": c.key, "resId": c.res_id, "class": c.class, "dynamic": c.dynamic, "scrolls": c.scrolls})
}

/// Returns whether a path stays inside its directory.
fn is_inside(file: &str) -> bool {
    let path = std::path::Path::new(file);
    path.components().all(|c| matches!(c, std::path::Component::Normal(_))) && !file.is_empty()
}

fn states(connection: &Connection, known: &Known) -> Result<Vec<(String, Ordered)>> {
    let mut sets: HashMap<i64, Vec<String>> = HashMap::new();
    for (state, name) in states::defining(connection, known.id)? {
        sets.entry(state).or_default().push(name);
    }
    let mut rows = Vec::new();
    for state in states::list(connection, known.id, false)? {
        let extra = extra(state.extra.as_deref());
        if extra.contains_key("_named_only") {
            continue;
        }
        let set = sets.remove(&state.id).unwrap_or_default();
        let row = state_row(connection, &state, extra, set)?;
        rows.push((state.code.clone().unwrap_or_default(), row));
    }
    Ok(rows)
}

fn state_row(
    connection: &Connection,
    state: &State,
    extra: Map<String, Value>,
    mut set: Vec<String>,
) -> Result<Ordered> {
    set.extend(
        extra
            .get("_ghosts")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned),
    );
    set.sort_unstable();
    let mut row = Ordered::default();
    put_learned(&mut row, &extra, "name", json!(state.called()), state.name.is_some());
    put_learned(&mut row, &extra, "description", json!(state.description), state.description.is_some());
    if state.kind != StateKind::Opaque || !set.is_empty() {
        put(&mut row, &extra, "defining_components", json!(set));
    }
    if !state.texts.is_empty() {
        put(&mut row, &extra, "visible_texts", json!(state.texts));
    }
    put_learned(&mut row, &extra, "first_seen", json!(local(state.first_seen)), false);
    put_learned(&mut row, &extra, "last_seen", json!(local(state.last_seen)), state.visit_count > 0);
    put_learned(&mut row, &extra, "visit_count", json!(state.visit_count), state.visit_count > 0);
    put_rest(&mut row, extra);
    if matches!(state.kind, StateKind::Page | StateKind::Dialog) {
        let variants = variants(connection, state.id)?;
        let member = json!({"uid": state.uid, "kind": state.kind, "place": state.place, "title": state.title, "variants": variants});
        row.0.push((OURS.to_owned(), member));
    }
    Ok(row)
}

fn variants(connection: &Connection, state: i64) -> Result<Vec<Value>> {
    connection.all(
        "SELECT key, place, title, dialog, lower(hex(features)) AS features_hex, defines, seen FROM state_variants
            WHERE state_id = :state_id ORDER BY key",
        args! {state_id: state},
        |row| {
            Ok(json!({
                "key": row.get::<_, String>("key")?, "place": row.get::<_, String>("place")?, "title": row.get::<_, Option<String>>("title")?,
                "dialog": row.get::<_, bool>("dialog")?, "features": row.get::<_, String>("features_hex")?, "defines": row.get::<_, bool>("defines")?,
                "seen": row.get::<_, i64>("seen")?,
            }))
        },
    )
}

/// Returns the edges of the graph. A `|` in an action makes the key ambiguous, which the source tool accepts.
fn transitions(graph: &Graph, app: i64) -> Vec<(String, Ordered)> {
    let mut rows = Vec::new();
    let code = |id: &i64| graph.states.get(id).and_then(|s| s.code.clone()).unwrap_or_default();
    for edge in graph.own_edges(app) {
        let (from, to) = (code(&edge.from), code(&edge.to));
        let mut row = Ordered::default();
        let extra = extra(edge.extra.as_deref());
        put(&mut row, &extra, "from_state", json!(from));
        put(&mut row, &extra, "action", json!(edge.action));
        put(&mut row, &extra, "to_state", json!(to));
        put(&mut row, &extra, "count", json!(edge.count));
        put(&mut row, &extra, "last_used", edge.last_used.map_or(Value::Null, |at| json!(local(at))));
        put(&mut row, &extra, "success_rate", json!(edge.success_rate));
        put_rest(&mut row, extra);
        rows.push((format!("{from}|{}|{to}", edge.action), row));
    }
    rows
}
