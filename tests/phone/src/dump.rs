//! Reads a dump of a screen, of `uiautomator` or Appium, as a scene that the phone shows.

use roxmltree::{Document, Node as Element};

use crate::scene::{Node, Rect, Scene, Window};

/// Name of the activity of a dump, which does not tell it.
const ACTIVITY: &str = ".Dump";
/// Maximum depth of a dump.
const MAX_DEPTH: usize = 300;

/// Reads a dump. Text around the document is ignored. Returns the scene and the activity that it is shown as.
///
/// # Errors
/// A description of the fault, if the text is no dump.
pub fn parse(text: &str) -> Result<(Scene, String), String> {
    let start = text.find("<hierarchy").ok_or("there is no <hierarchy> in it")?;
    let end = text.rfind("</hierarchy>").map(|at| at + "</hierarchy>".len()).filter(|end| *end > start);
    let document = Document::parse(&text[start..end.unwrap_or(text.len())]).map_err(|error| error.to_string())?;
    let hierarchy = document.root_element();
    let roots: Vec<Element<'_, '_>> = hierarchy.children().filter(Element::is_element).collect();
    let mut windows: Vec<Window> = roots.iter().enumerate().map(|(index, root)| window(index, *root)).collect();
    let covered =
        windows.iter().map(|window| extent(&window.root)).fold((0, 0), |all, one| (all.0.max(one.0), all.1.max(one.1)));
    let said = |name: &str| hierarchy.attribute(name).and_then(|text| text.parse::<i32>().ok());
    let (width, height) = (said("width").unwrap_or(covered.0), said("height").unwrap_or(covered.1));
    // The largest one of an app is in front.
    let area = |window: &Window| (window.kind == "APPLICATION", window.root.bounds.area());
    let front = (0..windows.len()).max_by_key(|index| area(&windows[*index])).ok_or("it has no nodes")?;
    windows[front].focused = true;
    let activity = format!("{}/{ACTIVITY}", windows[front].pkg);
    windows.sort_by_key(|window| -window.layer);
    Ok((Scene { width, height, density: crate::layout::DENSITY, windows }, activity))
}

fn window(index: usize, root: Element<'_, '_>) -> Window {
    let pkg = root.attribute("package").unwrap_or("unknown.app").to_owned();
    let kind = if pkg == "com.android.systemui" { "SYSTEM" } else { "APPLICATION" };
    let number = i64::try_from(index).unwrap_or_default() + 1;
    let layer = if kind == "SYSTEM" { 100 } else { 1 };
    Window { id: number, kind, pkg, title: None, layer, focused: false, root: node(root, 0) }
}

fn node(element: Element<'_, '_>, depth: usize) -> Node {
    let text = |name: &str| element.attribute(name).filter(|text| !text.is_empty()).map(str::to_owned);
    let is = |name: &str| element.attribute(name) == Some("true");
    let isnt = |name: &str| element.attribute(name) == Some("false");
    let class = element.attribute("class").unwrap_or_else(|| element.tag_name().name()).to_owned();
    let children = element.children().filter(|child| child.is_element() && depth < MAX_DEPTH);
    Node {
        res_id: text("resource-id"),
        text: text("text"),
        desc: text("content-desc"),
        bounds: element.attribute("bounds").and_then(bounds).unwrap_or_default(),
        clickable: is("clickable"),
        long_clickable: is("long-clickable"),
        focusable: is("focusable"),
        scrollable: is("scrollable"),
        editable: class.contains("EditText"),
        disabled: isnt("enabled"),
        hidden: isnt("displayed") || isnt("visible-to-user"),
        children: children.map(|child| node(child, depth + 1)).collect(),
        class,
        ..Node::default()
    }
}

/// Returns how far a node and those in it reach to the right and down.
fn extent(node: &Node) -> (i32, i32) {
    let own = (node.bounds.r, node.bounds.b);
    node.children.iter().map(extent).fold(own, |all, one| (all.0.max(one.0), all.1.max(one.1)))
}

fn bounds(text: &str) -> Option<Rect> {
    let numbers: Vec<i32> =
        text.split(['[', ']', ',']).filter(|part| !part.is_empty()).map_while(|part| part.parse().ok()).collect();
    match numbers.as_slice() {
        [l, t, r, b] => Some(Rect::new(*l, *t, *r, *b)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_becomes_a_scene() {
        let text = r#"junk<hierarchy rotation="0"><node package="com.a" class="android.widget.FrameLayout" bounds="[0,0][720,1280]"><node package="com.a" class="android.widget.Button" text="Go &amp; see" clickable="true" bounds="[0,10][100,60]"/></node></hierarchy>UI hierchary dumped"#;
        let (scene, activity) = parse(text).expect("reads");
        assert_eq!((scene.width, scene.height, activity.as_str()), (720, 1280, "com.a/.Dump"));
        let hit = scene.hit(50.0, 30.0).map(|(_, node)| node.text.clone());
        assert_eq!(hit, Some(Some("Go & see".to_owned())));
        assert!(parse("<html/>").is_err());
    }
}
