//! The routes that find, click and tap nodes by text, description, resource id, class or ref.

use serde::Deserialize;

use crate::http::fail;
use crate::refs::RefusedRef;
use crate::routes::{empty_scene, scene_of};
use crate::scene::{Flat, Scene};
use crate::{Phone, wire};

#[derive(Deserialize)]
pub(crate) struct Find {
    by: String,
    value: String,
    #[serde(default)]
    exact_match: bool,
}

#[derive(Deserialize)]
pub(crate) struct Click {
    node_id: String,
}

fn field<'a>(f: &'a Flat<'_>, by: &str) -> Option<&'a str> {
    match by {
        "text" => f.node.text.as_deref(),
        "content_desc" => f.node.desc.as_deref(),
        "resource_id" => f.node.res_id.as_deref(),
        _ => Some(f.node.class.as_str()),
    }
}

fn matches(value: Option<&str>, wanted: &str, exact: bool) -> bool {
    value.is_some_and(|v| if exact { v == wanted } else { v.to_lowercase().contains(&wanted.to_lowercase()) })
}

fn normalise_by(by: &str) -> Option<&'static str> {
    match by.to_lowercase().as_str() {
        "text" => Some("text"),
        "content_desc" | "desc" => Some("content_desc"),
        "resource_id" | "resid" | "res_id" => Some("resource_id"),
        "class_name" | "class" => Some("class_name"),
        _ => None,
    }
}

pub(crate) fn find(phone: &Phone, b: &Find) -> Result<String, (u16, String)> {
    if !phone.accessibility {
        return fail(503, "Accessibility not available");
    }
    let Some(by) = normalise_by(&b.by) else { return fail(400, format!("Invalid by: {}", b.by)) };
    let scene = phone.scene();
    let Some(window) = scene.active() else { return fail(503, "No root node") };
    let found: Vec<String> = Scene::flatten(window, "root")
        .iter()
        .filter(|f| matches(field(f, by), &b.value, b.exact_match))
        .map(wire::found_line)
        .collect();
    if found.is_empty() {
        return Ok(format!("No nodes found matching {}='{}'", b.by, b.value));
    }
    Ok(format!("Found {} node(s):\n{}", found.len(), found.join("\n")))
}

pub(crate) fn click(phone: &mut Phone, b: &Click) -> Result<String, (u16, String)> {
    if !phone.accessibility {
        return fail(503, "Accessibility not available");
    }
    let scene = phone.scene();
    let at = scene
        .active()
        .and_then(|w| Scene::flatten(w, "root").iter().find(|f| f.id == b.node_id).map(|f| f.node.bounds.center()));
    let Some((x, y)) = at else { return fail(404, format!("Node not found: {}", b.node_id)) };
    phone.touch("tap", x, y);
    Ok(format!("Clicked node {}", b.node_id))
}

pub(crate) fn tap(phone: &mut Phone, b: &Find) -> Result<String, (u16, String)> {
    if b.value.trim().is_empty() {
        return fail(400, "value must not be empty");
    }
    if b.by.eq_ignore_ascii_case("ref") {
        return ref_tap(phone, b.value.trim());
    }
    let by = match normalise_by(&b.by) {
        Some(by) if by != "class_name" => by,
        _ => {
            return fail(
                400,
                format!("Invalid by: {}. allowed: text,content_desc,resource_id,ref (aliases: desc,resid)", b.by),
            );
        }
    };
    if !phone.accessibility {
        return fail(503, "Accessibility not available");
    }
    let scene = phone.scene();
    let flat: Vec<Flat<'_>> =
        scene.by_focus().into_iter().flat_map(|w| Scene::flatten(w, &format!("root_w{}", w.id))).collect();
    let matched: Vec<&Flat<'_>> = flat.iter().filter(|f| matches(field(f, by), &b.value, b.exact_match)).collect();
    let usable = |f: &&&Flat<'_>| {
        !f.node.disabled && !f.node.hidden && (f.node.clickable || f.node.long_clickable) && f.node.bounds.area() > 0
    };
    let candidates: Vec<_> = matched.iter().filter(usable).collect();
    let [only] = candidates.as_slice() else {
        let how = if candidates.is_empty() { "no clickable node" } else { "multiple clickable nodes" };
        return fail(
            409,
            format!(
                "ASSERTION_FAILED: {how} matched by={by} value='{}' exact_match={}; matched_count={}, candidate_count={}",
                b.value,
                b.exact_match,
                matched.len(),
                candidates.len()
            ),
        );
    };
    let ((x, y), id) = (only.node.bounds.center(), only.id.clone());
    phone.touch("tap", x, y);
    Ok(format!("Tapped by {by}='{}' at ({}, {}) node={id}", b.value, x as i32, y as i32))
}

fn ref_tap(phone: &mut Phone, alias: &str) -> Result<String, (u16, String)> {
    let digits = alias.strip_prefix("@n").filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
    if digits.is_none() {
        return fail(400, format!("Invalid ref: {alias} (expected format @n<index>)"));
    }
    let (scene, now, seq) = (scene_of(phone).unwrap_or_else(empty_scene), phone.clock.now_ms(), phone.ui_seq());
    let hit = match phone.refs.resolve(alias, &scene, now, seq) {
        Ok(hit) => hit,
        Err(RefusedRef::Unobserved) => return fail(409, format!("REF_ALIAS_UNOBSERVED: ref={alias}")),
        Err(RefusedRef::Stale) => return fail(409, format!("REF_ALIAS_STALE: ref={alias}")),
    };
    let (x, y) = hit.center;
    phone.touch("tap", x, y);
    Ok(format!("Tapped by ref '{alias}' at ({}, {}) node={}", x as i32, y as i32, hit.row.node_id))
}
